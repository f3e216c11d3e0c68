"""Truth: what the generators say of servers whose latency is known, beside what it was.

One server answers after delays drawn from a law, one does so too and stands still for two
seconds. The truth is computed from schedule, law and freeze. Loopback, system calls and the
generator's own queue are real latency that no law knows: they are measured at the same rate on a
server without delay, and the truth is also given with them added (``expected_us``).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bench.law import Times, delays_ns, latencies_ns, percentiles_us
from bench.outputs import Report
from bench.records import (
    PERCENTILES,
    PercentileRow,
    Repeated,
    TransportRun,
    Truth,
    TruthRun,
)
from bench.rig import BODY_BYTES, NullServer, Rig, Timeline
from bench.tools import run_k6, run_locust, run_wrk
from sizebook.lab import calibration
from sizebook.load.collect import Collected
from sizebook.load.control import Generator
from sizebook.model.errors import TrialError
from sizebook.model.load import ClosedLoop, LoadProfile, OpenArrivals, Phases

LAW = "lognormal:1000,0.5"
NO_DELAY = "constant:0"
SEED = 1
SHARES = (0.1, 0.4, 0.7)
CONNECTIONS = 300
PEER_USERS = 100
FREEZE_FOR_S = 2.0
WARMUP_S = 1.0
PEER_SHARES = (0.1,)
"""Beyond it the peers are near or over their own ceilings."""
ROUNDS, LAW_S, FREEZE_S, FREEZE_AT_S = 5, 4.0, 12.0, 5.0
SHORT_ROUNDS, SHORT_LAW_S, SHORT_FREEZE_S, SHORT_FREEZE_AT_S = 1, 2.0, 6.0, 2.5
OURS = "Sizebook"


def run(rig: Rig) -> Truth:
    """Measure at three shares of our ceiling: law, transport and freeze, then the peers."""
    runs: list[TruthRun] = []
    transport: list[TransportRun] = []
    failures: list[str] = []
    with rig.generator() as generator:
        highest = _highest(rig, generator, calibration.USERS)
        drained = _highest(rig, generator, CONNECTIONS)
        for share in SHARES:
            bench = AtShare(rig, generator, share * highest, share, drained)
            try:
                found, ways = bench.law()
                transport += ways
                runs += found
                runs += bench.freeze()
            except TrialError as error:
                failures.append(f"at {share:.0%} of the ceiling: {error.found}")
    return Truth(
        law=LAW,
        arrivals="constant",
        connections=CONNECTIONS,
        ceiling_per_s=highest,
        frozen_s=FREEZE_FOR_S,
        measured_s={"law": _law_s(rig), "freeze": _freeze_s(rig)},
        runs=tuple(runs),
        transport=tuple(transport),
        failures=tuple(failures),
    )


def _law_s(rig: Rig) -> float:
    return SHORT_LAW_S if rig.short else LAW_S


def _freeze_s(rig: Rig) -> float:
    return SHORT_FREEZE_S if rig.short else FREEZE_S


def _highest(rig: Rig, generator: Generator, users: int) -> float:
    """Return the highest rate of generator and delaying server together, without delay.

    With the calibration's users it is the ceiling whose share every trial states; with all
    connections, the rate at which what waited for a frozen server comes through.
    """
    load = LoadProfile(
        locustfile="null.py",
        arrivals=ClosedLoop(users=users),
        phases=Phases(warmup_s=WARMUP_S, measured_s=1.0 if rig.short else 3.0, drain_s=5.0),
        settings={"expect_bytes": BODY_BYTES},
    )
    with rig.null_server(delay_law=NO_DELAY) as server:
        rates = []
        for _ in range(2 if rig.short else 4):
            rig.tell(f"ceiling: {OURS}, {users} connections")
            server.begin()
            collected, _ = rig.measure(generator, load, server)
            phase = collected.phases[1]
            rates.append(_measured(collected).size / ((phase.end_ns - phase.begin_ns) * 1e-9))
    return Repeated(values=tuple(rates[1:])).median  # the first warms the server up


class AtShare:
    """The measurements at one share of the ceiling."""

    def __init__(
        self, rig: Rig, generator: Generator, rate_per_s: float, share: float, drained_per_s: float
    ) -> None:
        self._rig = rig
        self._generator = generator
        self._share = share
        self._rate_per_s = float(round(rate_per_s))
        self._service_ns = 1e9 / drained_per_s
        self._way: Times | None = None

    def law(self) -> tuple[list[TruthRun], list[TransportRun]]:
        """Measure the server with the law between two blocks of the server without delay."""
        rounds = SHORT_ROUNDS if self._rig.short else ROUNDS
        before = self._transport(range(0, rounds, 2))
        with self._rig.null_server(delay_law=LAW, delay_seed=SEED) as server:
            self.trial("warm-up", server, WARMUP_S)
            trials = [self.trial("law", server, _law_s(self._rig)) for _ in range(rounds)]
            peers = self._peers("law", server, _law_s(self._rig))
        ways = before + self._transport(range(1, rounds, 2))
        latencies = np.concatenate([latency for latency, _ in ways])
        self._way = latencies
        runs = [
            self.judge("law", number, collected, offsets, timeline, latencies)
            for number, (collected, offsets, timeline) in enumerate(trials)
        ]
        return runs + peers, [way for _, way in ways]

    def freeze(self) -> list[TruthRun]:
        """Measure the server that also stands still."""
        at_s = SHORT_FREEZE_AT_S if self._rig.short else FREEZE_AT_S
        seconds = _freeze_s(self._rig)
        with self._rig.null_server(
            delay_law=LAW, delay_seed=SEED, freeze_at_s=at_s, freeze_for_s=FREEZE_FOR_S
        ) as server:
            collected, offsets, timeline = self.trial("freeze", server, seconds)
            ours = self.judge("freeze", 0, collected, offsets, timeline, self._way)
            return [ours, *self._peers("freeze", server, seconds)]

    def _transport(self, rounds: range) -> list[tuple[Times, TransportRun]]:
        ways: list[tuple[Times, TransportRun]] = []
        if not rounds:
            return ways
        with self._rig.null_server(delay_law=NO_DELAY) as server:
            self.trial("warm-up", server, WARMUP_S)
            for number in rounds:
                collected, _, _ = self.trial("no delay", server, _law_s(self._rig))
                latency = _measured(collected)
                named = zip(PERCENTILES, percentiles_us(latency, PERCENTILES), strict=True)
                way = TransportRun(
                    share=self._share,
                    rate_per_s=self._rate_per_s,
                    round=number,
                    requests=latency.size,
                    latency_us={f"{p:g}": value for p, value in named},
                )
                ways.append((latency, way))
        return ways

    def trial(
        self, what: str, server: NullServer, seconds: float
    ) -> tuple[Collected, Times, Timeline]:
        """Run our generator once, and tell the server's own record."""
        self._rig.tell(f"{self._rate_per_s:,.0f} req/s, {what}: {OURS}")
        load = LoadProfile(
            locustfile="null.py",
            arrivals=OpenArrivals(kind="constant", rate_per_s=self._rate_per_s, users=CONNECTIONS),
            phases=Phases(warmup_s=WARMUP_S, measured_s=seconds, drain_s=15.0),
            settings={"expect_bytes": BODY_BYTES},
            seed=SEED,
        )
        server.begin()
        collected, offsets = self._rig.measure(self._generator, load, server)
        timeline = server.timeline()
        facts = collected.facts
        if facts.failed or facts.dropped or timeline.read_ns.size != facts.issued:
            raise TrialError(
                found=f"{facts.issued} requests issued, {facts.failed} failed, {facts.dropped} "
                f"dropped, {timeline.read_ns.size} at the server",
                expected="every arrival answered once",
                next_step="run the benchmark on a machine that does nothing else",
            )
        return collected, offsets, timeline

    def judge(
        self,
        server: str,
        number: int,
        collected: Collected,
        offsets: Times,
        timeline: Timeline,
        transport: Times | None,
    ) -> TruthRun:
        """Return recorded beside computed percentiles of the measured phase's arrivals."""
        start_ns = collected.phases[0].begin_ns
        phase = next(mark for mark in collected.phases if mark.name == "measured")
        intended = start_ns + offsets
        inside = (intended >= phase.begin_ns) & (intended < phase.end_ns)
        law = delays_ns(LAW, SEED, intended.size)
        service_ns = self._service_ns if timeline.freeze_ns else 0.0
        computed = latencies_ns(intended, law, timeline.freeze_ns, service_ns)[inside]
        answered = (timeline.answered_ns - intended)[inside]
        recorded = _measured(collected)
        late_us = (timeline.answered_ns - timeline.read_ns - law)[inside]
        expected = None
        if transport is not None:
            random = np.random.default_rng(SEED)
            expected = computed + random.choice(transport, computed.size)
        columns = [
            percentiles_us(each, PERCENTILES) if each is not None else [None] * len(PERCENTILES)
            for each in (recorded, computed, expected, answered)
        ]
        timer = percentiles_us(late_us, (50.0, 99.0))
        return TruthRun(
            server="law" if server == "law" else "freeze",
            tool=OURS,
            share=self._share,
            rate_per_s=self._rate_per_s,
            achieved_per_s=recorded.size / ((phase.end_ns - phase.begin_ns) * 1e-9),
            requests=recorded.size,
            round=number,
            rows=tuple(
                PercentileRow(
                    percentile=percentile,
                    recorded_us=float(row[0] or 0.0),
                    computed_us=float(row[1] or 0.0),
                    expected_us=row[2],
                    answered_us=row[3],
                )
                for percentile, row in zip(PERCENTILES, zip(*columns, strict=True), strict=True)
            ),
            timer_p50_us=timer[0],
            timer_p99_us=timer[1],
        )

    def _peers(self, kind: str, server: NullServer, seconds: float) -> list[TruthRun]:
        """Return what the peers report of the same server at the same rate.

        Their truth is that of a constant schedule of this rate that begins with their first
        request, and of users who are all served at once when the freeze is over.
        """
        rig, rate = self._rig, self._rate_per_s
        args = (server, seconds)
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
                lambda: run_k6(rig, rig.peers["k6"], *args, CONNECTIONS, rate),
            ),
            "wrk2": (
                "wrk2",
                lambda: run_wrk(rig, rig.peers["wrk2"], *args, PEER_USERS, rate),
            ),
        }
        runs = []
        for title, (name, call) in known.items():
            if name in rig.peers and self._share in PEER_SHARES:
                rig.tell(f"{rate:,.0f} req/s, {kind}: {title}")
                server.begin()
                runs.append(self._peer_run(kind, title, call(), server.timeline(), seconds))
        return runs

    def _peer_run(
        self, kind: str, title: str, report: Report, timeline: Timeline, seconds: float
    ) -> TruthRun:
        count = int(seconds * self._rate_per_s)
        begin = int(timeline.read_ns[0])
        intended = begin + np.rint(np.arange(count) * (1e9 / self._rate_per_s)).astype(np.int64)
        law = delays_ns(LAW, SEED, count)
        truth = latencies_ns(intended, law, timeline.freeze_ns)
        return TruthRun(
            server="law" if kind == "law" else "freeze",
            tool=title,
            share=self._share,
            rate_per_s=self._rate_per_s,
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


def _measured(collected: Collected) -> Times:
    """Return the recorded latencies of the measured phase."""
    inside = collected.requests["phase"] == "measured"
    latencies: Times = collected.requests.filter(inside)["latency_ns"].to_numpy()
    return latencies
