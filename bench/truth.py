"""Truth: what the generators say of servers whose latency is known, beside what it was.

One server answers after delays drawn from a law, one does so too and stands still for two
seconds. Each percentile that was recorded is compared three times:

- with the *law*: computed from schedule, law and freeze alone. Loopback, system calls, the
  generator's queue and every stall of the machine are real latency that no law knows;
- with *law and way* (``expected_us``): the way there and the way back, measured at the same rate on
  a server without delay, added to the law's delays;
- with the *server's clock* (``answered_us``): when the answer to the same request was sent. It
  knows the stalls; what is left is the way back and how late the generator noticed.

Rates are shares of the open ceiling, the highest rate of a schedule that the generator keeps.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from bench.law import Times, delays_ns, latencies_ns, mean_s, percentiles_us
from bench.openceiling import find_open_ceiling
from bench.pairing import drained_per_s, pair
from bench.peertruth import PeerLoad, ask_peers
from bench.records import (
    OURS,
    PERCENTILES,
    OpenCeiling,
    PercentileRow,
    Repeated,
    TransportRun,
    Truth,
    TruthRun,
)
from bench.rig import BODY_BYTES, NullServer, Rig, Timeline
from sizebook.lab import calibration
from sizebook.load.collect import Collected
from sizebook.load.control import GeneratorClient
from sizebook.model.errors import TrialError
from sizebook.model.load import ClosedLoop, LoadProfile, OpenArrivals, Phases

HARD_LAW = "lognormal:1000,0.5"
"""1 % of it is 10 us: harder than anything that a chapter asks. The one that freezes."""
USUAL_LAW = "lognormal:10000,0.5"
"""Of the size of the chapters' answers."""
LAWS = (HARD_LAW, USUAL_LAW)
NO_DELAY = "constant:0"
SEED = 1
SHARES = (0.1, 0.4, 0.7)
CONNECTIONS = 300
STALL_S = 0.005
"""Arrivals of so long find a free connection besides those that the law keeps busy."""
FREEZE_FOR_S = 2.0
WARMUP_S = 1.0
DRAIN_FREEZE_S, DRAIN_S = 0.5, 1.5
PEER_SHARES = (0.1,)
"""Beyond it the peers are near or over their own ceilings."""
ROUNDS, LAW_S, FREEZE_S, FREEZE_AT_S = 5, 4.0, 12.0, 5.0
SHORT_ROUNDS, SHORT_LAW_S, SHORT_FREEZE_S, SHORT_FREEZE_AT_S = 1, 2.0, 6.0, 2.5
LEAST_REQUESTS = 21_000
"""Of one round with a law: five rounds have a hundred requests beyond the 99.9th percentile."""
PART_PERCENTILES = (50.0, 99.0, 99.9)
WAYS_DRAWN = 1_000_000

NOTHING: list[float | None] = [None] * len(PERCENTILES)

Ways = tuple[Times, Times]
"""Of each request to the server without delay: until it was read, and from then on."""


def run(rig: Rig) -> Truth:
    """Measure at three shares of our open ceiling: law, transport and freeze, then the peers."""
    runs: list[TruthRun] = []
    transport: list[TransportRun] = []
    failures: list[str] = []
    with rig.generator() as generator:
        closed_per_s = _closed_ceiling(rig, generator)
        open_ceiling = _open_ceiling(rig, generator, closed_per_s)
        ceiling_per_s = open_ceiling.per_s.median
        for share in SHARES:
            bench = AtShare(rig, generator, share * ceiling_per_s, share)
            try:
                found, ways = bench.laws()
                transport += ways
                runs += found
                runs += bench.freeze()
            except TrialError as error:
                failures.append(f"at {share:.0%} of the ceiling: {error.found}")
    return Truth(
        law=HARD_LAW,
        arrivals="constant",
        connections=CONNECTIONS,
        ceiling_per_s=ceiling_per_s,
        closed_per_s=closed_per_s,
        open_ceiling=open_ceiling,
        frozen_s=FREEZE_FOR_S,
        measured_s={"law": _law_s(rig), "freeze": _freeze_s(rig)},
        runs=tuple(runs),
        transport=tuple(transport),
        failures=tuple(failures),
    )


def _law_s(rig: Rig, rate_per_s: float = math.inf) -> float:
    if rig.short:
        return SHORT_LAW_S
    return max(LAW_S, math.ceil(10 * LEAST_REQUESTS / rate_per_s) / 10)


def _freeze_s(rig: Rig) -> float:
    return SHORT_FREEZE_S if rig.short else FREEZE_S


def connections_for(law: str, rate_per_s: float) -> int:
    """Return connections enough for every request to find a free one.

    Requests under way are Poisson distributed about rate times mean delay where arrivals are
    random (Little; M/G/inf), and spread less where they are even. Eight standard deviations on
    top, and the arrivals of a stall; full hundreds.
    """
    mean = rate_per_s * mean_s(law)
    wanted = mean + 8 * math.sqrt(mean) + STALL_S * rate_per_s
    return max(CONNECTIONS, 100 * math.ceil(wanted / 100))


def _closed_ceiling(rig: Rig, generator: GeneratorClient) -> float:
    """Return the rate of a closed loop of the calibration's users, without delay."""
    load = LoadProfile(
        locustfile="null.py",
        arrivals=ClosedLoop(users=calibration.USERS),
        phases=Phases(warmup_s=WARMUP_S, measured_s=1.0 if rig.short else 3.0, drain_s=5.0),
        settings={"expect_bytes": BODY_BYTES},
    )
    with rig.null_server(delay_law=NO_DELAY) as server:
        rates = []
        for _ in range(2 if rig.short else 4):
            rig.tell(f"closed ceiling: {OURS}")
            server.begin()
            collected, _ = rig.measure(generator, load, server)
            phase = collected.phases[1]
            rates.append(_measured(collected).size / ((phase.end_ns - phase.begin_ns) * 1e-9))
    return Repeated(values=tuple(rates[1:])).median  # the first warms the server up


def _open_ceiling(rig: Rig, generator: GeneratorClient, closed_per_s: float) -> OpenCeiling:
    with rig.null_server(delay_law=NO_DELAY) as server:
        return find_open_ceiling(rig, generator, server, closed_per_s, CONNECTIONS)


class AtShare:
    """The measurements at one share of the ceiling."""

    def __init__(
        self, rig: Rig, generator: GeneratorClient, rate_per_s: float, share: float
    ) -> None:
        self._rig = rig
        self._generator = generator
        self._share = share
        self._rate_per_s = float(round(rate_per_s))
        self._service_ns = 0.0
        self._ways: Ways | None = None

    def laws(self) -> tuple[list[TruthRun], list[TransportRun]]:
        """Measure the servers with the laws between two blocks of the server without delay."""
        rounds = SHORT_ROUNDS if self._rig.short else ROUNDS
        seconds = _law_s(self._rig, self._rate_per_s)
        before = self._transport(range(0, rounds, 2))
        peers: list[TruthRun] = []
        measured: list[tuple[str, int, tuple[Collected, Times, Timeline]]] = []
        for law in LAWS:
            with self._rig.null_server(delay_law=law, delay_seed=SEED) as server:
                self.trial("warm-up", server, WARMUP_S, law)
                measured += [
                    (law, number, self.trial("law", server, seconds, law))
                    for number in range(rounds)
                ]
                if law == HARD_LAW:
                    peers = self._peers("law", server, seconds)
        ways = before + self._transport(range(1, rounds, 2))
        self._ways = (
            np.concatenate([there for (there, _), _ in ways]),
            np.concatenate([back for (_, back), _ in ways]),
        )
        runs = [
            self.judge("law", number, *trial, self._ways, law) for law, number, trial in measured
        ]
        return runs + peers, [way for _, way in ways]

    def freeze(self) -> list[TruthRun]:
        """Measure the server that also stands still."""
        self._service_ns = 1e9 / self._drained_per_s()
        at_s = SHORT_FREEZE_AT_S if self._rig.short else FREEZE_AT_S
        seconds = _freeze_s(self._rig)
        with self._rig.null_server(
            delay_law=HARD_LAW, delay_seed=SEED, freeze_at_s=at_s, freeze_for_s=FREEZE_FOR_S
        ) as server:
            trial = self.trial("freeze", server, seconds)
            ours = self.judge("freeze", 0, *trial, self._ways)
            return [ours, *self._peers("freeze", server, seconds)]

    def _drained_per_s(self) -> float:
        """Return how fast what waited for a frozen server comes through, by one without delay."""
        with self._rig.null_server(
            delay_law=NO_DELAY, freeze_at_s=WARMUP_S, freeze_for_s=DRAIN_FREEZE_S
        ) as server:
            self.trial("warm-up", server, DRAIN_S)
            collected, offsets, timeline = self.trial("backlog", server, DRAIN_S)
        return drained_per_s(collected.phases[0].begin_ns + offsets, timeline)

    def _peers(
        self, kind: Literal["law", "freeze"], server: NullServer, seconds: float
    ) -> list[TruthRun]:
        if self._share not in PEER_SHARES:
            return []
        asked = PeerLoad(HARD_LAW, SEED, self._share, self._rate_per_s, CONNECTIONS)
        return ask_peers(self._rig, asked, kind, server, seconds)

    def _transport(self, rounds: range) -> list[tuple[Ways, TransportRun]]:
        ways: list[tuple[Ways, TransportRun]] = []
        if not rounds:
            return ways
        seconds = _law_s(self._rig, self._rate_per_s)
        with self._rig.null_server(delay_law=NO_DELAY) as server:
            self.trial("warm-up", server, WARMUP_S)
            for number in rounds:
                collected, _, timeline = self.trial("no delay", server, seconds)
                none = np.zeros(timeline.read_ns.size, dtype=np.int64)
                pairs = pair(collected, timeline, none)
                way = TransportRun(
                    share=self._share,
                    rate_per_s=self._rate_per_s,
                    round=number,
                    requests=pairs.recorded.size,
                    latency_us=_named(pairs.recorded, PERCENTILES),
                )
                ways.append(((pairs.read - pairs.intended, pairs.end - pairs.read), way))
        return ways

    def trial(
        self, what: str, server: NullServer, seconds: float, law: str = HARD_LAW
    ) -> tuple[Collected, Times, Timeline]:
        """Run our generator once, and tell the server's own record."""
        self._rig.tell(f"{self._rate_per_s:,.0f} req/s, {what}: {OURS}")
        users = connections_for(law, self._rate_per_s)
        load = LoadProfile(
            locustfile="null.py",
            arrivals=OpenArrivals(kind="constant", rate_per_s=self._rate_per_s, users=users),
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
        server: Literal["law", "freeze"],
        number: int,
        collected: Collected,
        offsets: Times,
        timeline: Timeline,
        ways: Ways | None,
        law: str = HARD_LAW,
    ) -> TruthRun:
        """Return recorded beside computed percentiles of the measured phase's arrivals."""
        start_ns = collected.phases[0].begin_ns
        phase = next(mark for mark in collected.phases if mark.name == "measured")
        intended = start_ns + offsets
        inside = (intended >= phase.begin_ns) & (intended < phase.end_ns)
        delays = delays_ns(law, SEED, intended.size)
        service_ns = self._service_ns if timeline.freeze_ns else 0.0
        computed = latencies_ns(intended, delays, timeline.freeze_ns, service_ns)[inside]
        pairs = pair(collected, timeline, delays)
        recorded = pairs.recorded
        rows = zip(
            PERCENTILES,
            percentiles_us(recorded, PERCENTILES),
            percentiles_us(computed, PERCENTILES),
            percentiles_us(with_ways(computed, ways), PERCENTILES) if ways else NOTHING,
            percentiles_us(pairs.witnessed, PERCENTILES),
            strict=True,
        )
        return TruthRun(
            server=server,
            tool=OURS,
            law=law,
            connections=connections_for(law, self._rate_per_s),
            share=self._share,
            rate_per_s=self._rate_per_s,
            achieved_per_s=recorded.size / ((phase.end_ns - phase.begin_ns) * 1e-9),
            requests=recorded.size,
            round=number,
            rows=tuple(
                PercentileRow(
                    percentile=percentile,
                    recorded_us=recorded_us,
                    computed_us=computed_us,
                    expected_us=expected_us,
                    answered_us=answered_us,
                )
                for percentile, recorded_us, computed_us, expected_us, answered_us in rows
            ),
            parts_us={part: _named(times, PART_PERCENTILES) for part, times in pairs.parts.items()},
            contradictions=pairs.contradictions,
            peak_in_flight=pairs.peak_in_flight,
        )


def with_ways(computed: Times, ways: Ways) -> Times:
    """Return computed latencies with a way there and a way back added to each, drawn apart.

    Apart, because a stall of the machine meets a request that takes milliseconds on one of its
    ways only, while one without delay has both in the same moment. Each latency is drawn for as
    often as makes a million, so that the draws add nothing to the scatter.
    """
    random = np.random.default_rng(SEED)
    often = max(1, WAYS_DRAWN // max(1, computed.size))
    latencies = np.tile(computed, often)
    for way in ways:
        latencies += random.choice(way, latencies.size)
    return latencies


def _named(times: Times, percentiles: tuple[float, ...]) -> dict[str, float]:
    """Return percentiles in microseconds by name."""
    named = zip(percentiles, percentiles_us(times, percentiles), strict=True)
    return {f"{percentile:g}": value for percentile, value in named}


def _measured(collected: Collected) -> Times:
    """Return the recorded latencies of the measured phase."""
    inside = collected.requests["phase"] == "measured"
    latencies: Times = collected.requests.filter(inside)["latency_ns"].to_numpy()
    return latencies
