"""``trial.json``: from bytes that anybody may have sent to a record with checked values."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from sizebook.model.bundle import (
    BUNDLE_FORMAT,
    BUNDLE_VERSION,
    LONGEST_TRIAL_NS,
    PHASES,
    BundleRecord,
    PhaseMark,
)
from sizebook.model.errors import BundleError
from sizebook.store.strict_json import parse_json

RECORD = "trial.json"
MOST_RECORD_BYTES = 4 * 2**20


def parse_record(data: bytes, bundle: str) -> BundleRecord:
    """Return the record that the bytes of a ``trial.json`` hold; ``bundle`` is named in messages.

    Raises BundleError for text that is too long or too deeply nested, JSON that two readers could
    understand differently (a key twice, NaN, numbers beyond 64 bits), another format or version,
    missing, unknown and mistyped fields, and phases that no trial can have run.
    """
    if len(data) > MOST_RECORD_BYTES:
        raise damaged(bundle, f"{RECORD} of more than {MOST_RECORD_BYTES} bytes")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise damaged(bundle, f"{RECORD} that is not UTF-8") from error
    _refuse_other_version(_parse_json(text, bundle), bundle)
    try:
        record = BundleRecord.model_validate_json(text)
    except ValidationError as error:
        raise damaged(bundle, f"{RECORD} with {first_fault(error)}") from error
    if fault := _fault_of_phases(record.execution.phases):
        raise damaged(bundle, f"phases of which {fault}")
    return record


def first_fault(error: ValidationError) -> str:
    """Return what a record's first fault is and where, in a few words."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    message = first["msg"].removeprefix("Value error, ")
    return f"{message[:1].lower()}{message[1:]} at {where[:200]!r}"


def damaged(bundle: str, what: str) -> BundleError:
    """Return the error that says what is wrong with a bundle."""
    return BundleError(
        found=f"bundle {bundle} with {what}",
        expected="a whole bundle as Sizebook writes it",
        next_step="remove the bundle's folder and measure again, or get a fresh copy",
    )


def _parse_json(text: str, bundle: str) -> Any:
    try:
        return parse_json(text)
    except ValueError as error:
        raise damaged(bundle, f"{RECORD} with {error}") from error


def _refuse_other_version(data: Any, bundle: str) -> None:
    """Raise BundleError for a record of another version, whose fields may be others too."""
    said = data if isinstance(data, dict) else {}
    kind, version = said.get("format", BUNDLE_FORMAT), said.get("version", BUNDLE_VERSION)
    if kind == BUNDLE_FORMAT and type(version) is int and version == BUNDLE_VERSION:
        return
    raise BundleError(
        found=f"bundle {bundle} of format {str(kind)[:80]!r}, version {str(version)[:80]}",
        expected=f"{BUNDLE_FORMAT!r} of version {BUNDLE_VERSION}, which this release reads",
        next_step="use the release of Sizebook that wrote it, or measure again",
    )


def _fault_of_phases(phases: Sequence[PhaseMark]) -> str:
    """Return what is impossible about the phases of a trial, nothing if they are fine."""
    places = [PHASES.index(mark.name) for mark in phases]
    if places != sorted(set(places)):
        return "the names do not follow each other"
    for mark in phases:
        if mark.end_ns < mark.begin_ns:
            return f"{mark.name!r} ends before it begins"
        if mark.name == "measured" and mark.end_ns == mark.begin_ns:
            return "the measured one has no length"
    for mark, following in itertools.pairwise(phases):
        if following.begin_ns < mark.end_ns:
            return f"{following.name!r} begins before {mark.name!r} ends"
    if phases and phases[-1].end_ns - phases[0].begin_ns > LONGEST_TRIAL_NS:
        return f"the length is more than {LONGEST_TRIAL_NS // 10**9} s"
    return ""
