"""A client has a sender call a receiver some times in one of seven ways: the load of chapter 7.

The time of a request is that of its calls and of the request itself; the time of the calls alone is
in the counters of the sender (``binding_call_s`` over ``binding_calls_total``), the pool that
served them in those of the receiver (``binding_served_total``). The sender makes the payload, or
is sent it with ``upload``; then the answer must have its CRC-32C as the receiver found it.

``way="all"`` asks for every way and size in turn: the load that conditions JVMs for any of them.
``opening`` begins with the first two runs of 200 calls after a start, in parts and with pauses, so
that counters which are read once a second tell the time of the first 10, 20, 50, 100, 200 calls.
"""

from __future__ import annotations

import random
from time import monotonic_ns
from typing import ClassVar

from sizebook.load.users import Expect, LeanHttpUser, Setting, SetUp
from sizebook.model.errors import UsageError

WAYS = ("direct", "copy", "queue", "jms", "http", "soap", "rpc")
ALL = "all"
SIZES = (1 << 10, 100 << 10, 1 << 20)
"""Bytes of the payloads that ``all`` asks for."""
RUN = 200
OPENING = (10, 10, 30, 50, 100, RUN)
"""Calls of the first requests of ``opening``: a first run in five parts, and a second one."""
PAUSE_NS = 1_150_000_000
"""After each of them: longer than the second between two readings."""
BINARY = (("Content-Type", "application/octet-stream"),)
_POLYNOMIAL = 0x82F63B78


def crc32c(data: bytes) -> int:
    """Return the CRC-32C (Castagnoli; RFC 3720, B.4), reflected polynomial 0x82F63B78."""
    table = []
    for entry in range(256):
        rest = entry
        for _ in range(8):
            rest = rest >> 1 ^ (_POLYNOMIAL if rest & 1 else 0)
        table.append(rest)
    value = 0xFFFFFFFF
    for byte in data:
        value = table[(value ^ byte) & 0xFF] ^ value >> 8
    return value ^ 0xFFFFFFFF


class Caller(LeanHttpUser):
    """Asks for some calls and checks that the payload arrived whole, as often as asked."""

    role = "app"
    settings: ClassVar[dict[str, Setting]] = {
        "way": Setting("direct", (*WAYS, ALL)),
        "bytes": Setting(1024),
        "calls": Setting(1),
        "upload": Setting(False),
        "opening": Setting(False),
    }

    @classmethod
    def set_up(cls, setup: SetUp) -> tuple[bytes, str]:
        """Return the body to be sent, and the checksum that it must have; empty without upload."""
        if not setup.settings["upload"]:
            return b"", ""
        if setup.settings["way"] == ALL:
            raise UsageError(
                found="upload with way=all for bindings.py",
                expected="one way and one size where the client sends the payload",
                next_step="correct the load profile's settings",
            )
        body = random.Random(setup.seed).randbytes(int(setup.settings["bytes"]))
        return body, f'"checksum":"{crc32c(body):08x}",'

    def iteration(self) -> None:
        """Ask once; in the opening, wait afterwards."""
        number = self.iteration_number
        way, size = str(self.setting("way")), int(self.setting("bytes"))
        if way == ALL:
            turn, step = divmod(number, len(WAYS))
            way, size = WAYS[step], SIZES[turn % len(SIZES)]
        opens = bool(self.setting("opening")) and number < len(OPENING)
        self.ask(way, size, OPENING[number] if opens else int(self.setting("calls")))
        if opens:
            self.course.clock.sleep_until(monotonic_ns() + PAUSE_NS)

    def ask(self, way: str, size: int, calls: int) -> None:
        """Send one request for so many calls with a payload of that size."""
        body, checksum = self.shared
        name = f"{self.course.start_ns:x}-{self.iteration_number}"
        begin = f'"id":"{name}","way":"{way}","bytes":{size},'.encode()
        end = f'{checksum}"calls":{calls},' if checksum else f'"calls":{calls},'
        good = Expect(contains=begin)
        self.post(
            f"/bindings/{way}?id={name}&calls={calls}" + ("" if body else f"&bytes={size}"),
            body,
            name=way,
            check=lambda answer: good(answer) or ("" if end.encode() in answer.body else "body"),
            headers=BINARY,
        )
