"""Bodies made of fields: URL-encoded, and in parts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import quote_plus

from sizebook.load.placeholders import PLACEHOLDER

FORM = "application/x-www-form-urlencoded"
BOUNDARY = "sizebook-part"
MULTIPART = f"multipart/form-data; boundary={BOUNDARY}"


class FormPart(NamedTuple):
    """A field of a form; one with a file name is a file."""

    name: str
    value: str
    file_name: str = ""
    content_type: str = ""


def encode_form(fields: Iterable[tuple[str, str]]) -> str:
    """Return fields as a URL-encoded form; placeholders stay what they are."""
    return "&".join(f"{quote_kept(name)}={quote_kept(value)}" for name, value in fields)


def quote_kept(text: str) -> str:
    """Return a text URL-encoded, but for its placeholders."""
    parts = PLACEHOLDER.split(text)
    return "".join(
        f"{{{{{part}}}}}" if number % 2 else quote_plus(part) for number, part in enumerate(parts)
    )


def encode_parts(parts: Iterable[FormPart]) -> str:
    """Return fields and files as ``MULTIPART``."""
    lines = []
    for part in parts:
        said = f'form-data; name="{_plain(part.name)}"'
        if part.file_name:
            said += f'; filename="{_plain(part.file_name)}"'
        kind = f"\r\nContent-Type: {_plain(part.content_type)}" if part.content_type else ""
        lines.append(f"--{BOUNDARY}\r\nContent-Disposition: {said}{kind}\r\n\r\n{part.value}\r\n")
    return "".join(lines) + f"--{BOUNDARY}--\r\n"


def _plain(text: str) -> str:
    return text.replace('"', "%22").replace("\r", " ").replace("\n", " ")
