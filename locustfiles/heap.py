"""Large messages pile up in a queue that nobody works on, until all are sent and delivered.

One sender in a closed loop puts ``messages`` into a durable queue, one after the other, each
acknowledged when it is on disk (name ``message``). What is not acknowledged is tried again with the
same id after ``pause_s`` (failed attempts are called ``retry``), for as long as the load lasts: so
the sending goes on where it was interrupted when a node has ended and come back. When all are sent,
``consumers`` are started (``start``), and the queue is looked at again after each think time
(``state``) until it is empty; then they are stopped (``stop``). That is one run; there are ``runs``
of them, to the end however long it takes; ``runs=0``: as many as begin within the load. Each
acknowledged ``message`` leaves one row in table ``messaging_row``. The nodes'
consumers are off in between (deployment setting ``consumers=0``).
"""

from __future__ import annotations

import json
import secrets
from time import monotonic_ns
from typing import ClassVar

import gevent

from sizebook.load.answer import Exchange
from sizebook.load.users import Expect, LeanHttpUser, Setting, SetUp
from sizebook.model.errors import TrialError
from sizebook.model.load import ClosedLoop

BINARY = (("Content-Type", "application/octet-stream"),)
QUEUED = Expect(contains=b'"queued":true')
DEPTH = Expect(contains=b'"depth":')


class Sender(LeanHttpUser):
    """Sends until all is acknowledged, then has it delivered."""

    role = "app"
    results = "passes"
    settings: ClassVar[dict[str, Setting]] = {
        "messages": Setting(400),
        "bytes": Setting(1 << 20),
        "runs": Setting(1),
        "pause_s": Setting(0.25),
        "consumers": Setting(4),
    }

    @classmethod
    def set_up(cls, setup: SetUp) -> tuple[str, bytes]:
        """Return what the ids of this load begin with, and the body of its messages."""
        return secrets.token_hex(4), secrets.token_bytes(int(setup.settings["bytes"]))

    def on_start(self) -> None:
        """Begin with the first run; raises TrialError if there is another sender."""
        arrivals = self.course.load.arrivals
        if not isinstance(arrivals, ClosedLoop) or arrivals.users != 1:
            raise TrialError(
                found=f"{arrivals.users} users ({arrivals.kind})",
                expected="one sender in a closed loop",
                next_step="set the load profile's arrivals to ClosedLoop(users=1)",
            )
        self.look_ns = round(arrivals.think_s * 1e9)
        self.run_number = 0

    def loop(self, arrivals: ClosedLoop) -> None:
        """Do all runs, or as many as there is time for."""
        runs = int(self.setting("runs"))
        if not runs:
            super().loop(arrivals)
        while self.run_number < runs:
            self.pass_once()

    def iteration(self) -> None:
        """Do one run."""
        self.run_number += 1
        prefix, body = self.shared
        for number in range(int(self.setting("messages"))):
            self.send(f"{prefix}-{self.run_number}-{number}", body)
        self.insist("POST", f"/messaging/consumers?count={self.setting('consumers')}", "start")
        while json.loads(self.insist("GET", "/messaging/state", "state", DEPTH).body)["depth"]:
            self.course.clock.sleep_until(monotonic_ns() + self.look_ns)
        self.insist("POST", "/messaging/consumers?count=0", "stop")

    def send(self, name: str, body: bytes) -> None:
        """Send one message until it is acknowledged."""
        path = f"/messaging/messages?id={name}"
        while True:
            self.post(path, body, name="message", check=QUEUED, headers=BINARY, failed_name="retry")
            if not self.error:
                return
            gevent.sleep(float(self.setting("pause_s")))

    def insist(self, method: str, path: str, name: str, check: Expect = Expect()) -> Exchange:  # noqa: B008 - frozen
        """Send a request until it is answered as expected."""
        while True:
            answer = self.request(method, path, name=name, check=check)
            if not self.error:
                return answer
            gevent.sleep(float(self.setting("pause_s")))
