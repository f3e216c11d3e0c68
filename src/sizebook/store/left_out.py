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
from sizebook.store.counter_file import COUNTER_FILE
from sizebook.store.record_file import MOST_RECORD_BYTES, damaged, first_fault
from sizebook.store.strict_json import parse_json
from sizebook.store.tables import COUNTERS, REQUESTS, SCHEDULE

LEFT_OUT = "left-out.json"
HISTOGRAMS = "latency.hlog"
PHASE_HISTOGRAMS = "phases.hlog"
"""Histograms over the whole measured phase, not by the second."""
STAND_INS: Mapping[str, str] = MappingProxyType(
    {COUNTER_FILE: COUNTERS, PHASE_HISTOGRAMS: HISTOGRAMS}
)
"""Files that a bundle may have instead of others, by name."""


class LeftOut(Record):
    """The whole of ``left-out.json``."""

    format: Literal["sizebook-left-out"] = "sizebook-left-out"
    version: Literal[1] = 1
    files: tuple[str, ...]
    record_only: bool = False
    """All are left out: the bundle tells what was specified, run and judged, and no more."""
    instead: dict[str, FileRecord] = Field(default_factory=dict)
    """Files that are there for some of those, in another form: ``STAND_INS``."""


def can_be_left_out(name: str) -> bool:
    """Return whether a bundle is readable without this file: requests, due times, logs."""
    return name in (REQUESTS, SCHEDULE) or name.startswith(("gc/", "logs/"))


def write_left_out(
    names: Collection[str],
    instead: Mapping[str, FileRecord] = MappingProxyType({}),
    *,
    record_only: bool = False,
) -> bytes:
    """Return the bytes of a ``left-out.json`` with these names, and the files that stand in."""
    files = tuple(sorted(names))
    content = LeftOut(files=files, instead=dict(instead), record_only=record_only)
    told = {"format", "version", "files"}
    told |= {"instead"} if instead else set()
    told |= {"record_only"} if record_only else set()
    return (content.model_dump_json(indent=1, include=told) + "\n").encode()


def parse_left_out(data: bytes, bundle: str, record: BundleRecord) -> LeftOut:
    """Return what the bytes of a ``left-out.json`` say.

    Raises BundleError for another form, for a name that the record lacks or that no bundle can do
    without, and for files that stand in for none of them.
    """
    try:
        if len(data) > MOST_RECORD_BYTES:
            raise damaged(bundle, f"{LEFT_OUT} of more than {MOST_RECORD_BYTES} bytes")
        parse_json(data.decode())
        said = LeftOut.model_validate_json(data)
    except ValidationError as error:
        raise damaged(bundle, f"{LEFT_OUT} with {first_fault(error)}") from error
    except ValueError as error:
        raise damaged(bundle, f"{LEFT_OUT} with {str(error)[:200]}") from error
    for name in said.files:
        if name not in record.files:
            raise damaged(bundle, f"{LEFT_OUT} that names {name[:100]!r}, unknown to trial.json")
    for name in said.instead:
        if STAND_INS.get(name) not in said.files:
            raise damaged(bundle, f"{LEFT_OUT} with {name[:100]!r}, which stands for no other file")
    replaced = {STAND_INS[name] for name in said.instead}
    if said.record_only and set(said.files) != set(record.files):
        raise damaged(bundle, f"{LEFT_OUT} that leaves only the record, and names other files")
    for name in () if said.record_only else said.files:
        if not can_be_left_out(name) and name not in replaced:
            raise BundleError(
                found=f"bundle {bundle} without {name}",
                expected=f"at most {REQUESTS}, {SCHEDULE} and logs to be left out",
                next_step="get the whole bundle",
            )
    return said
