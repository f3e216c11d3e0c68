"""An agent on a machine tells what it measured: one small XML event after the other.

Closed loop or open arrivals as the order says; think time spaces the events of an agent. An event
is accepted (202) when it is safely queued, and stored later. An agent that gets no such answer
tries the same event again, with the same id, after a pause: 100 attempts 10 s apart in the report,
scaled by the settings. An attempt that fails is recorded under the name ``retry``, the accepted one
as ``event``, so that each ``event`` is one row of table ``event``. Shows what the whole chain takes
in, and that nothing is lost or doubled when a part of it ends in the middle.
"""

from __future__ import annotations

import random
import secrets
from datetime import UTC, datetime, timedelta
from typing import ClassVar

import gevent

from sizebook.load.users import Expect, LeanHttpUser, Setting, SetUp

XML = (("Content-Type", "application/xml"),)
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
TAGS = ("pressure", "temperature", "speed", "level")


def event(run: str, agent: int, sequence: int, source: random.Random) -> tuple[str, bytes]:
    """Return id and document of an agent's event; equal sources give equal values."""
    identity = f"{run}-{agent}-{sequence}"
    time = (BEGIN + timedelta(seconds=sequence)).strftime("%Y-%m-%dT%H:%M:%SZ")
    tag = f"line{agent % 10}.{source.choice(TAGS)}"
    value = f"{source.uniform(-100, 1000):.3f}"
    document = (
        f'<event id="{identity}" agent="a{agent}" sequence="{sequence}" time="{time}">'
        f"<tag>{tag}</tag><value>{value}</value></event>"
    )
    return identity, document.encode()


class Agent(LeanHttpUser):
    """Tells one event and tries it again until it is accepted, or gives it up."""

    role = "app"
    settings: ClassVar[dict[str, Setting]] = {
        "attempts": Setting(100),
        "pause_s": Setting(10.0),
    }

    @classmethod
    def set_up(cls, setup: SetUp) -> str:  # noqa: ARG003
        """Return what the ids of this run begin with: the database may hold events of others."""
        return secrets.token_hex(4)

    def on_start(self) -> None:
        """Begin with the first event."""
        self.sequence = 0
        self.source = random.Random(f"{self.course.load.seed} {self.number}")
        self.attempts = int(self.setting("attempts"))
        self.pause_s = float(self.setting("pause_s"))

    def iteration(self) -> None:
        """Tell one event."""
        self.sequence += 1
        identity, document = event(self.shared, self.number, self.sequence, self.source)
        accepted = Expect(status=202, contains=f'"id":"{identity}"'.encode())
        for attempt in range(self.attempts):
            if attempt:
                gevent.sleep(self.pause_s)
            self.post(
                "/events",
                document,
                name="event",
                check=accepted,
                headers=XML,
                failed_name="retry",
            )
            if not self.error:
                return
