"""What the peers report of a server whose latency is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bench.law import delays_ns, latencies_ns, percentiles_us
from bench.outputs import Report
from bench.records import PERCENTILES, PercentileRow, TruthRun
from bench.rig import NullServer, Rig, Timeline
from bench.tools import run_k6, run_locust, run_wrk

PEER_USERS = 100


@dataclass(frozen=True)
class PeerLoad:
    """What each peer is asked for."""

    law: str
    seed: int
    share: float
    """Of our ceiling."""
    rate_per_s: float
    connections: int
    """Of k6, whose users are as many as it needs."""


def ask_peers(
    rig: Rig,
    load: PeerLoad,
    kind: Literal["law", "freeze"],
    server: NullServer,
    seconds: float,
) -> list[TruthRun]:
    """Return what the peers that are there report of the same server at the same rate.

    Their truth is that of a constant schedule of this rate that begins with their first request,
    and of users who are all served at once when the freeze is over.
    """
    args, rate = (server, seconds), load.rate_per_s
    known: dict[str, tuple[str, Callable[[], Report]]] = {
        "Locust FastHttpUser": (
            "locust",
            lambda: run_locust(
                rig,
                rig.peers["locust"],
                *args,
                PEER_USERS,
                locustfile="fast.py",
                rate_per_s=rate,
            ),
        ),
        "k6 constant-arrival-rate": (
            "k6",
            lambda: run_k6(rig, rig.peers["k6"], *args, load.connections, rate),
        ),
        "wrk2": (
            "wrk2",
            lambda: run_wrk(rig, rig.peers["wrk2"], *args, PEER_USERS, rate),
        ),
    }
    runs = []
    for title, (name, call) in known.items():
        if name in rig.peers:
            rig.tell(f"{rate:,.0f} req/s, {kind}: {title}")
            server.begin()
            report = call()
            runs.append(_run(load, kind, title, report, server.timeline(), seconds))
    return runs


def _run(
    load: PeerLoad,
    kind: Literal["law", "freeze"],
    title: str,
    report: Report,
    timeline: Timeline,
    seconds: float,
) -> TruthRun:
    count = int(seconds * load.rate_per_s)
    begin = int(timeline.read_ns[0])
    intended = begin + np.rint(np.arange(count) * (1e9 / load.rate_per_s)).astype(np.int64)
    delays = delays_ns(load.law, load.seed, count)
    truth = latencies_ns(intended, delays, timeline.freeze_ns)
    return TruthRun(
        server=kind,
        tool=title,
        law=load.law,
        share=load.share,
        rate_per_s=load.rate_per_s,
        achieved_per_s=report.rate_per_s,
        requests=report.requests,
        dropped=report.dropped,
        rows=tuple(
            PercentileRow(
                percentile=percentile,
                recorded_us=report.latency_us[percentile],
                computed_us=computed_us,
            )
            for percentile, computed_us in zip(
                PERCENTILES, percentiles_us(truth, PERCENTILES), strict=True
            )
            if percentile in report.latency_us
        ),
    )
