"""Reading an answer costs work in proportion to its bytes, however they arrive.

A server that sends a byte at a time, or one long line, would otherwise keep the generator's only
CPU busy, and the delay would look like the server's. Work is counted in bytes that are looked at.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from re import _constants as kinds  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]

import pytest

from sizebook.load import answer, wire
from sizebook.load.answer import ClosedByServerError, Exchange, read_answer
from sizebook.load.wire import ProtocolError

MOST_LOOKS = 120
"""Bytes looked at for each one that came: a chunk's size with its blanks is looked at again."""
LONG = 12_000
PATTERNS = {name: value for name, value in vars(wire).items() if isinstance(value, re.Pattern)}
OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
ANSWERS = {
    "a long value": OK + b"A: " + b"b" * LONG + b"\r\nContent-Length: 0\r\n\r\n",
    "many fields": OK + b"A: b\r\n" * (LONG // 6) + b"Content-Length: 0\r\n\r\n",
    "interim answers": b"HTTP/1.1 103 Early Hints\r\n\r\n" * (LONG // 28) + OK + b"\r\n",
    "a body": OK + b"Content-Length: %d\r\n\r\n" % LONG + b"b" * LONG,
    "to the end": OK + b"\r\n" + b"b" * LONG,
    "small chunks": CHUNKED + b"1\r\nb\r\n" * (LONG // 6) + b"0\r\n\r\n",
    "a large chunk": CHUNKED + b"%x\r\n" % LONG + b"b" * LONG + b"\r\n0\r\n\r\n",
    "extensions": CHUNKED + (b"1;" + b"e" * 4000 + b"\r\nb\r\n") * 3 + b"0\r\n\r\n",
    "blanks before an extension": CHUNKED + (b"1" + b" " * 60 + b";e\r\nb\r\n") * 150,
    "a long trailer": CHUNKED + b"0\r\nA: " + b"b" * LONG + b"\r\n\r\n",
    "trailers": CHUNKED + b"0\r\n" + b"A: b\r\n" * (LONG // 6) + b"\r\n",
    "a head without end": OK + b"A: b\r\n" * (LONG // 6),
}  # fmt: skip


class _Looks:
    """How many bytes were looked at; gives counting stand-ins for what looks."""

    def __init__(self) -> None:
        self.count = 0

    def buffer(self) -> type[bytearray]:
        """Return a bytearray whose searches and slices count."""
        looks = self

        class Counting(bytearray):
            def find(self, what, start=0):  # type: ignore[no-untyped-def, override]
                end = super().find(what, start)
                looks.count += (len(self) if end < 0 else end + len(what)) - start
                return end

            def __getitem__(self, place):  # type: ignore[no-untyped-def, override]
                found = super().__getitem__(place)
                looks.count += len(found) if isinstance(place, slice) else 1
                return found

        return Counting

    def pattern(self, pattern):  # type: ignore[no-untyped-def]
        """Return a pattern that counts how far it has looked."""
        looks = self

        class Counting:
            def search(self, text, begin=0):  # type: ignore[no-untyped-def]
                return self._counted(pattern.search(text, begin), text, begin)

            def match(self, text, begin=0):  # type: ignore[no-untyped-def]
                return self._counted(pattern.match(text, begin), text, begin)

            @staticmethod
            def _counted(found, text, begin):  # type: ignore[no-untyped-def]
                looks.count += (len(text) if found is None else found.end()) - begin
                return found

        return Counting()


@pytest.mark.parametrize("data", ANSWERS.values(), ids=ANSWERS)
@pytest.mark.parametrize("piece", [1, 7, 64 * 1024])
def test_bytes_are_looked_at_a_fixed_number_of_times(monkeypatch, data, piece):
    """Not once more for every byte that comes after them."""
    looks = _Looks()
    monkeypatch.setattr(answer, "bytearray", looks.buffer(), raising=False)
    for name, pattern in PATTERNS.items():
        monkeypatch.setattr(wire, name, looks.pattern(pattern))
    left = iter([data[at : at + piece] for at in range(0, len(data), piece)])

    def more() -> bytes:
        for one in left:
            return one
        raise ClosedByServerError

    with contextlib.suppress(ClosedByServerError, ProtocolError):
        read_answer(Exchange(), b"", more, method="GET", known={}, max_body_bytes=1 << 20)
    assert 0 < looks.count < MOST_LOOKS * len(data)


@pytest.mark.parametrize("name", PATTERNS)
def test_patterns_never_try_two_ways_to_share_bytes(name):
    """Two endless repeats side by side that take the same byte are tried in every division."""
    assert list(_ambiguous(parser.parse(PATTERNS[name].pattern))) == []


def test_an_ambiguous_pattern_is_found():
    """Such as the one that needed 13 s for a field of 60,000 blanks."""
    for pattern in (rb"x:([^\r\n]*?)[ \t]*\Z", rb"a+(?:b|[a-c]*)", rb"[^;]*\s{2,}"):
        assert len(list(_ambiguous(parser.parse(pattern)))) == 1


def _ambiguous(sequence) -> Iterator[str]:  # type: ignore[no-untyped-def]
    """Yield pairs of endless repeats, one behind the other, that have a byte in common."""
    before: list[set[int]] = []
    for kind, value in sequence:
        if kind in (kinds.MAX_REPEAT, kinds.MIN_REPEAT) and value[1] > 100:
            taken = _bytes_of(value[2])
            if any(taken & other for other in before):
                yield f"{kind} {value}"
            before = [*before, taken] if value[0] == 0 else [taken]
            continue
        inner = _parts(kind, value)
        for part in inner:
            yield from _ambiguous([*_endless(before), *part])
        if kind not in (kinds.AT, kinds.ASSERT, kinds.ASSERT_NOT):
            must = kind not in (kinds.MAX_REPEAT, kinds.MIN_REPEAT) or value[0] > 0
            ends = [_bytes_of(one[2]) for part in inner for op, one in part[-1:]
                    if op in (kinds.MAX_REPEAT, kinds.MIN_REPEAT) and one[1] > 100]  # fmt: skip
            before = ends if must else before + ends


def _endless(taken: list[set[int]]):  # type: ignore[no-untyped-def]
    """Return repeats that take these bytes, to stand before a part of a pattern."""
    return [(kinds.MAX_REPEAT, (0, 1 << 20, [(kinds.IN, [(kinds.LITERAL, one) for one in each])]))
            for each in taken[-1:]]  # fmt: skip


def _parts(kind, value):  # type: ignore[no-untyped-def]
    if kind is kinds.SUBPATTERN:
        return [value[3]]
    if kind is kinds.BRANCH:
        return value[1]
    if kind in (kinds.MAX_REPEAT, kinds.MIN_REPEAT):
        return [value[2]]
    return []


def _bytes_of(sequence) -> set[int]:  # type: ignore[no-untyped-def]
    """Return which bytes a part of a pattern may take."""
    found: set[int] = set()
    for kind, value in sequence:
        if kind is kinds.LITERAL:
            found.add(value)
        elif kind is kinds.NOT_LITERAL:
            found |= {*range(256)} - {value}
        elif kind is kinds.RANGE:
            found |= {*range(value[0], value[1] + 1)}
        elif kind is kinds.IN:
            inside = _bytes_of(value)
            negated = value[0][0] is kinds.NEGATE
            found |= {*range(256)} - inside if negated else inside
        elif kind is kinds.CATEGORY:
            blank = rb"\s" if value is kinds.CATEGORY_SPACE else rb"\d"
            found |= {one for one in range(256) if re.match(blank, bytes([one]))}
        else:
            for part in _parts(kind, value):
                found |= _bytes_of(part)
    return found
