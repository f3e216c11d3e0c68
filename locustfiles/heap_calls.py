"""Clients have copies of a large payload received, beside messages that lie in the node's memory.

A request makes the sender of a node call its receiver ``calls`` times with a copy of ``bytes``
(name ``copy``): garbage a moment later. ``held`` messages of a mebibyte lie in a queue meanwhile
that nobody works on; they stand for whatever an application keeps, sessions or caches, and every
collection of the whole heap finds them alive. Closed loop or open arrivals as the order says. Shows
what collecting costs at a given heap, live set and rate of garbage.
"""

from __future__ import annotations

import json
import secrets
from typing import ClassVar

from sizebook.load.users import Expect, LeanHttpUser, Setting, SetUp
from sizebook.model.errors import TrialError

MIB = 1 << 20
CHUNK = 10
"""Messages that one request of the set-up puts into the queue: one transaction."""
DEPTH = Expect(contains=b'"depth":')


class Caller(LeanHttpUser):
    """Has copies received."""

    role = "app"
    settings: ClassVar[dict[str, Setting]] = {
        "bytes": Setting(MIB),
        "calls": Setting(1),
        "held": Setting(0),
    }

    @classmethod
    def set_up(cls, setup: SetUp) -> None:
        """Put into the queue what is to be held and is not there yet."""
        held = int(setup.settings["held"])
        depth = int(json.loads(setup.get("/messaging/state", check=DEPTH).body)["depth"])
        while depth < held:
            count = min(CHUNK, held - depth)
            seed = secrets.randbits(40)
            path = f"/messaging/fill?count={count}&bytes={MIB}&seed={seed}"
            answer = setup.client.request("POST", path)
            if answer.status != 200:
                raise TrialError(
                    found=f"{answer.error or answer.status} when the queue was filled",
                    expected="a node that can hold the messages",
                    next_step="look at the node's log; give a larger heap, or let it hold less",
                )
            depth += count

    def iteration(self) -> None:
        """Make one request."""
        size, calls = int(self.setting("bytes")), int(self.setting("calls"))
        name = f"{self.course.start_ns:x}-{self.iteration_number}"
        good = Expect(contains=f'"id":"{name}","way":"copy","bytes":{size},'.encode())
        self.post(
            f"/bindings/copy?id={name}&calls={calls}&bytes={size}", b"", name="copy", check=good
        )
