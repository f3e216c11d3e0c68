"""Bundles that come without some of their files, on purpose: ``left-out.json`` names these.

``trial.json`` stays as it was written, so that its checksum is still the one that evidence cites.
A file that is missing and not named here is a damaged bundle.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Literal

from pydantic import Field, ValidationError

from sizebook.model.bundle import BundleRecord, FileRecord
from sizebook.model.errors import BundleError
from sizebook.model.records import Record
from sizebook.store.record_file import MOST_RECORD_BYTES, damaged, first_fault
from sizebook.store.tables import COUNTERS, REQUESTS, SCHEDULE

LEFT_OUT = "left-out.json"


class LeftOut(Record):
    """The whole of ``left-out.json``."""

    format: Literal["sizebook-left-out"] = "sizebook-left-out"
    version: Literal[1] = 1
    files: tuple[str, ...]
    record_only: bool = False
    """All are left out: the bundle tells what was specified, run and judged, and no more."""
    changed: dict[str, FileRecord] = Field(default_factory=dict)
    """Files with the content of those that the record names, in another form of the same table."""


def can_be_left_out(name: str) -> bool:
    """Return whether a bundle is readable without this file: requests, due times, logs."""
    return name in (REQUESTS, SCHEDULE) or name.startswith(("gc/", "logs/"))


def write_left_out(
    names: Collection[str],
    changed: Mapping[str, FileRecord] = MappingProxyType({}),
    *,
    record_only: bool = False,
) -> bytes:
    """Return the bytes of a ``left-out.json`` with these names, and files in another form."""
    files = tuple(sorted(names))
    content = LeftOut(files=files, changed=dict(changed), record_only=record_only)
    told = {"format", "version", "files"}
    told |= {"changed"} if changed else set()
    told |= {"record_only"} if record_only else set()
    return (content.model_dump_json(indent=1, include=told) + "\n").encode()


def parse_left_out(data: bytes, bundle: str, record: BundleRecord) -> LeftOut:
    """Return what the bytes of a ``left-out.json`` say.

    Raises BundleError for another form, and for a name that the record lacks, that no bundle can
    do without, or that has one form only.
    """
    try:
        if len(data) > MOST_RECORD_BYTES:
            raise damaged(bundle, f"{LEFT_OUT} of more than {MOST_RECORD_BYTES} bytes")
        said = LeftOut.model_validate_json(data)
    except ValidationError as error:
        raise damaged(bundle, f"{LEFT_OUT} with {first_fault(error)}") from error
    for name in (*said.files, *said.changed):
        if name not in record.files:
            raise damaged(bundle, f"{LEFT_OUT} that names {name[:100]!r}, unknown to trial.json")
    if other := set(said.changed) - {COUNTERS}:
        raise damaged(bundle, f"{LEFT_OUT} with another form of {min(other)[:100]!r}")
    if said.record_only and set(said.files) != set(record.files):
        raise damaged(bundle, f"{LEFT_OUT} that leaves only the record, and names other files")
    for name in () if said.record_only else said.files:
        if not can_be_left_out(name):
            raise BundleError(
                found=f"bundle {bundle} without {name}",
                expected=f"at most {REQUESTS}, {SCHEDULE} and logs to be left out",
                next_step="get the whole bundle",
            )
    return said
