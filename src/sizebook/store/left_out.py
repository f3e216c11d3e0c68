"""Bundles that come without some of their files, on purpose: ``left-out.json`` names these.

``trial.json`` stays as it was written, so that its checksum is still the one that evidence cites.
A file that is missing and not named here is a damaged bundle.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from pydantic import ValidationError

from sizebook.model.bundle import BundleRecord
from sizebook.model.errors import BundleError
from sizebook.model.records import Record
from sizebook.store.record_file import MOST_RECORD_BYTES, damaged, first_fault
from sizebook.store.tables import REQUESTS

LEFT_OUT = "left-out.json"


class LeftOut(Record):
    """The whole of ``left-out.json``."""

    format: Literal["sizebook-left-out"] = "sizebook-left-out"
    version: Literal[1] = 1
    files: tuple[str, ...]


def can_be_left_out(name: str) -> bool:
    """Return whether a bundle is readable without this file: requests, logs."""
    return name == REQUESTS or name.startswith(("gc/", "logs/"))


def write_left_out(names: Collection[str]) -> bytes:
    """Return the bytes of a ``left-out.json`` with these names."""
    return (LeftOut(files=tuple(sorted(names))).model_dump_json(indent=1) + "\n").encode()


def parse_left_out(data: bytes, bundle: str, record: BundleRecord) -> tuple[str, ...]:
    """Return the names in the bytes of a ``left-out.json``.

    Raises BundleError for another form, and for a name that the record lacks or that no bundle can
    do without.
    """
    try:
        if len(data) > MOST_RECORD_BYTES:
            raise damaged(bundle, f"{LEFT_OUT} of more than {MOST_RECORD_BYTES} bytes")
        names = LeftOut.model_validate_json(data).files
    except ValidationError as error:
        raise damaged(bundle, f"{LEFT_OUT} with {first_fault(error)}") from error
    for name in names:
        if name not in record.files:
            raise damaged(bundle, f"{LEFT_OUT} that names {name[:100]!r}, unknown to trial.json")
        if not can_be_left_out(name):
            raise BundleError(
                found=f"bundle {bundle} without {name}",
                expected=f"at most {REQUESTS} and logs to be left out",
                next_step="get the whole bundle",
            )
    return names
