"""Bytes of a log as text: encodings, line ends, colours, and lines that a container runtime cut.

UTF-8, UTF-16 and UTF-32 are decoded, with or without byte-order marks. NUL bytes are dropped: where
``logrotate`` copies and truncates a file that the JVM still writes, it begins with a hole of them.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import BinaryIO

import polars as pl

from sizebook.gclog.errors import GcLogError, refused

MAX_BYTES = 2 << 30
_CHUNK_BYTES = 16 << 20
_PACKED = {
    b"\x1f\x8b": "gunzip",
    b"BZh": "bunzip2",
    b"\xfd7zXZ": "unxz",
    b"\x28\xb5\x2f\xfd": "unzstd",
    b"PK\x03\x04": "unzip",
}
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# A terminal's colours, also as rsyslog (#033), JSON (\u001b) and cat -v (^[) write the escape.
_COLOUR = re.compile(r"(?:\x1b|#033|\\u001[bB]|\\x1b|\^\[)\[[0-9;?]*[@-~]")
_COLOUR_MARKS = ("\x1b[", "#033[", "\\u001b[", "\\u001B[", "\\x1b[", "^[[")
_ENDS = re.compile(r"\r+\n")
_DOCKER_BYTES = 16 << 10
"""The piece of a line that Docker puts into one record."""
# {"log":"text\n","stream":"stdout","time":"..."}: Docker's json-file driver; a line of more than
# 16 KiB comes in pieces, of which only the last has the \n.
_DOCKER = re.compile(r'^(\{\s*"log":\s*")((?:[^"\\]|\\.)*)(".*"stream":\s*"(\w+)".*)$')
# 2024-05-01T10:00:00.000000000Z stdout P text: containerd and CRI-O; F is the last piece.
_CRI = re.compile(r"^(\S+ (stdout|stderr) )([PF])( )(.*)$")


def text_parts(file: BinaryIO) -> Iterator[str]:
    """Give the text in parts of whole lines; the last may be without its end.

    Raises GcLogError for what is no text, too long, or a line without an end.
    """
    decoder: codecs.IncrementalDecoder | None = None
    rest, size = "", 0
    while data := file.read(_CHUNK_BYTES):
        size += len(data)
        if size > MAX_BYTES:
            raise GcLogError(
                found=f"more than {MAX_BYTES >> 30} GiB",
                expected="a log of at most so much",
                next_step="cut it: tail -c 500M gc.log > part.log",
            )
        if decoder is None:
            decoder = codecs.getincrementaldecoder(_encoding(data))(errors="replace")
        text = rest + decoder.decode(data)
        cut = text.rfind("\n") + 1
        if not cut and len(text) >= _CHUNK_BYTES:
            raise refused(f"a line of more than {_CHUNK_BYTES >> 20} MiB")
        rest = text[cut:]
        if cut:
            yield _clean(text[:cut])
    if rest := _clean(rest):
        yield rest


def _encoding(data: bytes) -> str:
    for magic, unpack in _PACKED.items():
        if data.startswith(magic):
            raise refused("a compressed file", f"unpack it first: {unpack}")
    for mark, name in _MARKS:
        if data.startswith(mark):
            return name
    head = data[:4096]
    odd, even = head[1::2].count(0), head[::2].count(0)
    if odd > 0.4 * len(head) and even < 0.05 * len(head):
        return "utf-16-le"
    if even > 0.4 * len(head) and odd < 0.05 * len(head):
        return "utf-16-be"
    if b"\0" in data.lstrip(b"\0")[:4096]:
        raise refused("a binary file")
    return "utf-8"


def _clean(text: str) -> str:
    if "\0" in text:
        text = text.replace("\0", "")
    if "\ufeff" in text:
        text = text.replace("\ufeff", "")
    if "\r" in text:
        text = _ENDS.sub("\n", text)
    return _COLOUR.sub("", text) if "[" in text and _has_colour(text) else text


def _has_colour(text: str) -> bool:
    # a rare character first: Python looks slowly for words that end in a frequent one
    return any(mark[0] in text and _any_has(pl.Series([text]), mark) for mark in _COLOUR_MARKS)


def line_parts(file: BinaryIO) -> Iterator[tuple[str, pl.Series]]:
    """Give each part of the text with its lines that are not empty.

    Pieces of a line that a container runtime cut are joined, also where a part ends between them;
    such pieces of which the rest is missing come last, with no text of their own.
    """
    joiner = _Joiner()
    for text in text_parts(file):
        yield text, joiner.lines(text)
    if len(left := joiner.left()):
        yield "", left


def _any_has(lines: pl.Series, words: str) -> bool:
    return bool(lines.str.contains(words, literal=True).any())


@dataclass(frozen=True)
class _Piece:
    stream: str
    before: str
    text: str
    after: str
    is_last: bool


_Take = Callable[[str], _Piece | None]


def _docker_piece(line: str) -> _Piece | None:
    found = _DOCKER.match(line)
    if found is None:
        return None
    return _Piece(found[4], found[1], found[2], found[3], found[2].endswith(r"\n"))


def _cri_piece(line: str) -> _Piece | None:
    found = _CRI.match(line)
    if found is None:
        return None
    return _Piece(found[2], f"{found[1]}F ", found[5], "", found[3] == "F")


class _Joiner:
    """Puts pieces of lines together; remembers those whose rest is still to come."""

    def __init__(self) -> None:
        self._held: dict[str, _Piece] = {}
        self._take: _Take = _docker_piece

    def lines(self, text: str) -> pl.Series:
        """Return the whole lines of the next part of a text."""
        lines = pl.Series("line", [text]).str.split("\n").explode()
        lines = lines.filter(lines != "")
        is_piece = self._are_pieces(text, lines)
        return lines if is_piece is None else self._joined(lines, is_piece)

    def left(self) -> pl.Series:
        """Return the lines of which the rest never came."""
        left = [one.before + one.text + one.after for one in self._held.values()]
        return pl.Series("line", left, dtype=pl.String)

    def _are_pieces(self, text: str, lines: pl.Series) -> pl.Series | None:
        """Return which lines want the next one of their stream; None if there is nothing to do."""
        if "{" in text and '"log":' in text and '"stream":' in text:
            is_piece = ~lines.str.contains(r'\n"', literal=True) & lines.str.contains(
                _DOCKER.pattern
            )
            # other writers of such objects leave every line's end out, also of short ones
            short = is_piece & (lines.str.len_bytes() < _DOCKER_BYTES)
            if is_piece.any() and (self._held or 2 * int(short.sum()) < len(lines)):
                self._take = _docker_piece
                return is_piece
        elif _any_has(lines, " stdout P ") or _any_has(lines, " stderr P "):
            is_piece = lines.str.contains(r"^\S+ (?:stdout|stderr) P ")
            if is_piece.any():
                self._take = _cri_piece
                return is_piece
        return pl.repeat(False, len(lines), eager=True) if self._held else None

    def _joined(self, lines: pl.Series, is_piece: pl.Series) -> pl.Series:
        """Return the lines with each piece put in front of the next one of its stream."""
        whole: list[str] = []
        for line, piece in zip(lines.to_list(), is_piece.to_list(), strict=True):
            found = self._take(line) if piece or self._held else None
            if found is None:
                whole.append(line)
                continue
            held = self._held.pop(found.stream, None)
            if held is not None:
                found = replace(found, text=held.text + found.text)
            if found.is_last or len(found.text) > _CHUNK_BYTES:
                whole.append(found.before + found.text + found.after)
            else:
                self._held[found.stream] = found
        return pl.Series("line", whole, dtype=pl.String)
