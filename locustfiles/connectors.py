"""A production order's confirmation is sent to the back-end system, one message a request.

The user is a machine on the shop floor: it posts a small XML message and waits until the back end
has stored it. Closed loop or open arrivals as the order says. The app node makes one synchronous
call of each message, in the way that the setting names (``all``: in each in turn): what a way costs
shows in messages per second, and in the connections, logins and log records that it takes.
"""

from __future__ import annotations

import itertools
import random
import secrets
from dataclasses import dataclass
from typing import ClassVar

from sizebook.load.users import Expect, LeanHttpUser, Setting, SetUp
from sizebook.model.errors import UsageError

XML = (("Content-Type", "application/xml"),)
LEAST_BYTES = 128
WAYS = ("soap", "rpc", "logged")
_LINE = '<component number="{number:05}" batch="{batch:08x}" quantity="{quantity}"/>'


@dataclass(frozen=True)
class Shop:
    """What all users share."""

    run: str
    """Begins the ids of this run: the same database may have taken others before."""
    body: bytes


def confirmation(seed: int, size: int) -> bytes:
    """Return a message of exactly ``size`` bytes, the same for the same seed.

    Raises UsageError for a size that is too small for the elements around its content.
    """
    if size < LEAST_BYTES:
        raise UsageError(
            found=f"setting bytes={size} for connectors.py",
            expected=f"{LEAST_BYTES} or more",
            next_step="correct the load profile's settings",
        )
    source = random.Random(seed)
    head = f'<confirmation order="{source.randrange(10**9):09}" plant="0100"><components>'
    tail = "</components><text>{}</text></confirmation>"
    lines = ""
    while True:
        line = _LINE.format(
            number=source.randrange(10**5),
            batch=source.getrandbits(32),
            quantity=source.randrange(1, 10),
        )
        if len(head) + len(lines) + len(line) + len(tail) - 2 > size:
            break
        lines += line
    filler = "." * (size - len(head) - len(lines) - len(tail) + 2)
    return (head + lines + tail.format(filler)).encode()


class Machine(LeanHttpUser):
    """Sends messages and checks that the back end took this one, whole, for the first time."""

    role = "app"
    settings: ClassVar[dict[str, Setting]] = {
        "way": Setting("rpc", (*WAYS, "all")),
        "bytes": Setting(2048),
    }

    @classmethod
    def set_up(cls, setup: SetUp) -> Shop:
        """Make the message."""
        return Shop(secrets.token_hex(4), confirmation(setup.seed, int(setup.settings["bytes"])))

    def on_start(self) -> None:
        """Begin with the first message."""
        way = str(self.setting("way"))
        self.ways = itertools.cycle(WAYS if way == "all" else (way,))
        self.messages = 0

    def iteration(self) -> None:
        """Send one message."""
        shop = self.shared
        self.messages += 1
        way = next(self.ways)
        message = f"{shop.run}-{self.number}-{self.messages}"
        told = f'"id":"{message}","bytes":{len(shop.body)},"stored":true,"way":"{way}"'
        self.post(
            f"/connectors/{way}/messages?id={message}",
            shop.body,
            name="message",
            check=Expect(contains=told.encode()),
            headers=XML,
        )
