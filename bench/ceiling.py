"""Ceiling: requests per second that one core completes and records, ours beside the peers.

Closed loop, ten connections without pause, a body of 1 kB, the null server on another core. Ours
records every request exactly and checks every answer; the peers run in their fastest ordinary
form, without checks.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

from bench.outputs import Report
from bench.pairs import side_by_side
from bench.records import Ceiling, Repeated
from bench.rig import BODY_BYTES, NullServer, Rig
from bench.tools import run_hey, run_jmeter, run_k6, run_locust, run_wrk
from sizebook.load.control import GeneratorClient
from sizebook.model.errors import TrialError
from sizebook.model.load import ClosedLoop, LoadProfile, Phases

CONNECTIONS = 10
ROUNDS, SECONDS = 6, 3.0
SHORT_ROUNDS, SHORT_SECONDS = 1, 1.0
OURS = "Sizebook LeanHttpUser"


@dataclass(frozen=True)
class Measured:
    """One measurement of one tool."""

    rate_per_s: float
    server_cpu_share: float


def run(rig: Rig) -> Ceiling:
    """Measure every tool that is there, in interleaved rounds."""
    rounds = SHORT_ROUNDS if rig.short else ROUNDS
    seconds = SHORT_SECONDS if rig.short else SECONDS
    with rig.null_server() as server, rig.generator() as generator:
        warm_up(rig, generator, server)
        competitors: dict[str, Callable[[], Measured]] = {
            OURS: lambda: measure_ours(rig, generator, server, seconds)
        }
        for name, call in _peers(rig, server, seconds).items():
            competitors[name] = functools.partial(measure, name, call, server)
        found = side_by_side(competitors, rounds, rig.tell)
    return Ceiling(
        connections=CONNECTIONS,
        body_bytes=BODY_BYTES,
        seconds=seconds,
        requests_per_s={
            name: Repeated(values=tuple(each.rate_per_s for each in runs))
            for name, runs in found.items()
        },
        server_cpu_share={
            name: Repeated(values=tuple(each.server_cpu_share for each in runs))
            for name, runs in found.items()
        },
    )


def measure_ours(
    rig: Rig, generator: GeneratorClient, server: NullServer, seconds: float
) -> Measured:
    """Return the rate of good answers of our lean user in the measured phase."""

    def call() -> Report:
        collected, _ = rig.measure(generator, load(seconds), server)
        phase = next(mark for mark in collected.phases if mark.name == "measured")
        answered = collected.requests["start_ns"] + collected.requests["service_ns"]
        count = int(answered.is_between(phase.begin_ns, phase.end_ns).sum())
        rate_per_s = count / ((phase.end_ns - phase.begin_ns) * 1e-9)
        return Report(rate_per_s, count, collected.facts.failed)

    return measure(OURS, call, server)


def load(seconds: float, warmup_s: float = 0.5) -> LoadProfile:
    """Return the closed loop of our lean user."""
    return LoadProfile(
        locustfile="null.py",
        arrivals=ClosedLoop(users=CONNECTIONS),
        phases=Phases(warmup_s=warmup_s, measured_s=seconds, drain_s=2.0),
        settings={"expect_bytes": BODY_BYTES},
    )


def warm_up(rig: Rig, generator: GeneratorClient, server: NullServer) -> None:
    """Let the server's compiler finish before anything is measured."""
    rig.tell("warming the server up")
    rig.measure(generator, load(1.0 if rig.short else 4.0), server)


def _peers(rig: Rig, server: NullServer, seconds: float) -> dict[str, Callable[[], Report]]:
    peers, args = rig.peers, (server, seconds, CONNECTIONS)
    known: dict[str, tuple[str, Callable[[], Report]]] = {
        "wrk": ("wrk", lambda: run_wrk(rig, peers["wrk"], *args)),
        "hey": ("hey", lambda: run_hey(rig, peers["hey"], *args)),
        "JMeter": ("jmeter", lambda: run_jmeter(rig, peers["jmeter"], *args)),
        "k6": ("k6", lambda: run_k6(rig, peers["k6"], *args)),
        "Locust FastHttpUser": (
            "locust",
            lambda: run_locust(rig, peers["locust"], *args, locustfile="fast.py"),
        ),
        "Locust HttpUser": (
            "locust",
            lambda: run_locust(rig, peers["locust"], *args, locustfile="plain.py"),
        ),
    }
    return {title: call for title, (name, call) in known.items() if name in peers}


def measure(name: str, call: Callable[[], Report], server: NullServer) -> Measured:
    """Return the rate that a tool reports, and the server's CPU at that rate.

    Raises TrialError if a request failed.
    """
    cpu_s, count = server.cpu_s(), server.count()
    report = call()
    if report.failed:
        raise _failures(name, report.failed)
    cpu_s_per_request = (server.cpu_s() - cpu_s) / max(1, server.count() - count)
    return Measured(report.rate_per_s, cpu_s_per_request * report.rate_per_s)


def _failures(name: str, count: int) -> TrialError:
    return TrialError(
        found=f"{count} failed requests of {name} against the null server",
        expected="none",
        next_step="see whether ports or open files ran out, and run the benchmark again",
    )
