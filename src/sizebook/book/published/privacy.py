"""What must not be in anything that is handed on: who made it, and where.

Two kinds of things are looked for: what is known of this machine and its user, word by word, and
what looks private anywhere, such as addresses of mail and of machines.
"""

from __future__ import annotations

import getpass
import io
import ipaddress
import os
import re
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from sizebook.store.counter_file import COUNTER_FILE, told_words

_NOBODY = {"root", "user", "admin", "nobody", "test", "localhost", "build", "docker", "local"} | {
    "bare", "container", "guest", "host", "machine", "node", "server", "client", "database", "book",
}  # fmt: skip
"""Names that tell nothing of whoever has them, and that stand in ordinary texts, as in ours."""
_SECRET = re.compile(r"token|secret|passw|credential|api_?key|private_?key", re.IGNORECASE)
_LEAST_SECRET = 8
# Searches are fast that begin with a sign: what may not stand before it is looked at second.
_PLACE = re.compile(  # below the session's own folder, which every text names so, is nowhere
    rb"/(?<![\w./:~-]/)(?<!<session>/)(?<!&lt;session&gt;/)"
    rb"(?:home|Users|root|(?:var/)?tmp(?!/sizebook-)|mnt|media|work|srv|workspace|scratch)"
    rb"/[\w.-]+[\w./-]*"
)
_MAIL = re.compile(rb"@(?<=[A-Za-z0-9._%+-]@)[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}\b")
_MAIL_OF_NOBODY = re.compile(rb"@(?:[\w-]+\.)*(?:example(?:\.\w+)?|invalid|test|localhost)$")
_ADDRESS = re.compile(rb"[0-9](?<![\w.,-][0-9])[0-9]{0,2}\.(?:[0-9]{1,3}\.){2}[0-9]{1,3}(?![\w.-])")
_KEYS = re.compile(
    rb"-----BEGIN [A-Z ]*PRIVATE KEY-----"
    rb"|g(?<!\wg)h[pousr]_[A-Za-z0-9]{30,}|A(?<!\wA)KIA[0-9A-Z]{16}\b"
)
_DRAWN = re.compile(rb"<svg\b.*?</svg>", re.DOTALL)
"""Drawings are full of numbers; their words stand in the specification beside them."""
_TABLE = b"PAR1"
"""How a Parquet file begins. Some bytes of a million numbers look like an address of mail."""


@dataclass(frozen=True)
class Private:
    """Something private in a file; ``words`` do not repeat what must not be repeated."""

    file: str
    words: str


def known_secrets(environment: Mapping[str, str] = os.environ) -> dict[bytes, str]:
    """Return what is known of this machine and its user, with what it is."""
    known = {f"{Path.home()}/": "the home folder"}
    names = {socket.gethostname(): "the host's name", _user(): "the user's name"}
    known |= {name: what for name, what in names.items() if _tells(name)}
    for name, value in environment.items():
        if _SECRET.search(name) and len(value) >= _LEAST_SECRET:
            known[value] = f"the value of {name}"
    return {text.encode(): what for text, what in known.items() if len(text) > 2}


def find_private(
    files: Mapping[str, bytes], known: Mapping[bytes, str] | None = None
) -> Iterator[Private]:
    """Yield what is private in files, at most once a file and kind.

    ``known`` are the texts of ``known_secrets``; by default those of this machine.
    """
    secrets = known_secrets() if known is None else known
    for name, whole in files.items():
        data = told_words(whole) if Path(name).name == COUNTER_FILE else whole
        for text, what in secrets.items():
            if text in data and _stands_alone(text, data):
                yield Private(name, what)
        plain = _words_of_table(data) if data.startswith(_TABLE) else _DRAWN.sub(b"", data)
        yield from (Private(name, words) for words in _looks_private(plain))


def _looks_private(data: bytes) -> Iterator[str]:
    if found := _PLACE.search(data):
        yield f"a place on a machine ({found[0][:40].decode(errors='replace')})"
    if any(not _MAIL_OF_NOBODY.search(found[0]) for found in _MAIL.finditer(data)):
        yield "an address of mail"
    if any(_is_outside(found[0].decode()) for found in _ADDRESS.finditer(data)):
        yield "an address of a machine in the internet"
    if _KEYS.search(data):
        yield "a key or token"


def _words_of_table(data: bytes) -> bytes:
    """Return the names of a table's columns and the texts in it, a line each.

    What cannot be read as a table is returned as it is.
    """
    try:
        frame = pl.read_parquet(io.BytesIO(data), glob=False, hive_partitioning=False)
    except pl.exceptions.PolarsError:
        return data
    texts = frame.select(pl.col(pl.String, pl.Categorical, pl.Enum).cast(pl.String))
    words = [*frame.columns, *(text for column in texts for text in column.unique() if text)]
    return "\n".join(words).encode()


def _is_outside(text: str) -> bool:
    try:
        return ipaddress.ip_address(text).is_global
    except ValueError:
        return False


def _stands_alone(text: bytes, data: bytes) -> bool:
    before = rb"(?<![A-Za-z0-9_])" if text[:1].isalnum() else b""
    after = rb"(?![A-Za-z0-9_])" if text[-1:].isalnum() else b""
    return re.search(before + re.escape(text) + after, data) is not None


def _tells(name: str) -> bool:
    return len(name) > 2 and name.lower() not in _NOBODY


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user without a name
        return ""
