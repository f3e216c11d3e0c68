"""Damaged inputs from good ones: seeded, so that the same seed damages in the same way."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

MOST_BYTES = 64 * 1024
MOST_STEPS = 5
_TOKEN = re.compile(rb"[A-Za-z_]+|[0-9]+|[^A-Za-z0-9_\s]|\s+")
_NUMBER = re.compile(rb"-?[0-9]+(?:\.[0-9]+)?")
_WORDS = (
    b"0", b"-1", b"1", b"255", b"65536", b"2147483648", b"4294967296", b"9223372036854775808",
    b"1e999", b"-1e999", b"1e-999", b"NaN", b"Infinity", b"-0.0", b"99999999999999999999999999",
    b"null", b"true", b"[]", b"{}", b'""', b"[[[[", b"\\ud800", b"\xff\xfe", b"\x00", b"\r\n",
    b"\r\n\r\n", b"\n", b"..", b"/", b"../../x", b"%", b"%s", b"\xc3\xa9", b"\xe2\x80\xa8",
)  # fmt: skip
"""What readers stumble over: ends of ranges, odd numbers, empty things, paths, encodings."""

Step = Callable[[random.Random, bytes, Sequence[bytes]], bytes]


def mutate(dice: random.Random, corpus: Sequence[bytes]) -> bytes:
    """Return one sample of the corpus with one to ``MOST_STEPS`` faults, ``MOST_BYTES`` at most."""
    data = dice.choice(corpus)
    for _ in range(dice.randint(1, MOST_STEPS)):
        if data:
            data = dice.choice(_STEPS)(dice, data, corpus)[:MOST_BYTES]
    return data


def _flip_bit(dice: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    at = dice.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << dice.randrange(8)]) + data[at + 1 :]


def _set_byte(dice: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    at = dice.randrange(len(data))
    value = dice.choice((0, 1, 0x7F, 0x80, 0xFF, dice.randrange(256)))
    return data[:at] + bytes([value]) + data[at + 1 :]


def _cut_out(dice: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    begin, end = _stretch(dice, data)
    return data[:begin] + data[end:]


def _cut_off(dice: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    at = dice.randrange(len(data))
    return data[:at] if dice.random() < 0.7 else data[at:]


def _repeat(dice: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    begin, end = _stretch(dice, data)
    return data[:begin] + data[begin:end] * dice.choice((2, 3, 20, 2000)) + data[end:]


def _splice(dice: random.Random, data: bytes, corpus: Sequence[bytes]) -> bytes:
    other = dice.choice(corpus) or data
    begin, end = _stretch(dice, other)
    at = dice.randrange(len(data) + 1)
    return data[:at] + other[begin:end] + data[at:]


def _swap(dice: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Exchange two tokens that lie near each other or far apart."""
    tokens = _TOKEN.findall(data)
    if len(tokens) < 2:
        return data
    one = dice.randrange(len(tokens))
    other = dice.choice((dice.randrange(len(tokens)), min(one + 2, len(tokens) - 1)))
    tokens[one], tokens[other] = tokens[other], tokens[one]
    return b"".join(tokens)


def _put_word(dice: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    at = dice.randrange(len(data) + 1)
    return data[:at] + dice.choice(_WORDS) + data[at:]


def _change_number(dice: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    found = list(_NUMBER.finditer(data))
    if not found:
        return data
    one = dice.choice(found)
    return data[: one.start()] + dice.choice(_WORDS) + data[one.end() :]


def _change_token(dice: random.Random, data: bytes, corpus: Sequence[bytes]) -> bytes:
    """Put a token of any sample, or an odd word, in the place of another token."""
    found = list(_TOKEN.finditer(data))
    if not found:
        return data
    one = dice.choice(found)
    others = _TOKEN.findall(dice.choice(corpus)) or [b""]
    word = dice.choice((dice.choice(_WORDS), dice.choice(others)))
    return data[: one.start()] + word + data[one.end() :]


def _stretch(dice: random.Random, data: bytes) -> tuple[int, int]:
    begin = dice.randrange(len(data))
    return begin, min(len(data), begin + dice.choice((1, 2, 4, 8, 40, 300, 4000)))


_STEPS: tuple[Step, ...] = (
    _flip_bit, _set_byte, _cut_out, _cut_off, _repeat, _splice, _swap, _put_word, _change_number,
    _change_token,
)  # fmt: skip
