"""Users who log in: how many were not through when the measured phase began is told."""

from __future__ import annotations

import time

import pytest

from sizebook.model.bundle import JOINED_LATE
from sizebook.model.load import ClosedLoop, LoadProfile, OpenArrivals, Phases

OURS = """
import gevent
from sizebook.load.users import Expect, LeanHttpUser

class Member(LeanHttpUser):
    def join(self):
        if self.number % 2:
            gevent.sleep(0.5)
        self.get("/", name="login", check=Expect())

    def iteration(self):
        self.get("/", name="page", check=Expect())
"""
PLAIN = """
import gevent
from locust import FastHttpUser, constant, task

class Member(FastHttpUser):
    wait_time = constant(0.05)
    def on_start(self):
        gevent.sleep(0.5)
        self.client.get("/", name="login")
    @task
    def get(self):
        self.client.get("/", name="page")
"""
OPEN = OpenArrivals(kind="constant", rate_per_s=20, users=4)
CLOSED = ClosedLoop(users=4)


@pytest.mark.parametrize(
    ("text", "arrivals", "warmup_s", "late"),
    [
        (OURS, OPEN, 0.2, 2),
        (OURS, CLOSED, 0.2, 2),
        (OURS, CLOSED, 3.0, 0),
        (PLAIN, CLOSED, 0.2, 4),
        (PLAIN.replace("on_start", "other"), CLOSED, 0.2, None),
        (OURS.replace("join", "other"), CLOSED, 0.2, None),
    ],
)
def test_who_joins_late_is_told(
    generator, locustfiles, server, tmp_path, text, arrivals, warmup_s, late
):
    """Our users and plain ones; a load whose users do nothing when they join says nothing."""
    name = f"joins_{time.monotonic_ns()}.py"
    (locustfiles / name).write_text(text)
    phases = Phases(warmup_s=warmup_s, measured_s=0.4, drain_s=2.0)
    profile = LoadProfile(locustfile=name, arrivals=arrivals, phases=phases)
    generator.prepare(profile, {"app": server.url}, tmp_path)
    assert generator.run().notes.get(JOINED_LATE) == late
