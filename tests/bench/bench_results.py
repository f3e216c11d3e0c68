"""Made-up results: every number in them is invented."""

from __future__ import annotations

from math import exp
from typing import Any

from bench.ceiling import OURS
from bench.records import (
    Ceiling,
    GcLogRun,
    GcLogs,
    Inference,
    OpenCeiling,
    PercentileRow,
    Planted,
    PlantedBlock,
    ProbeCost,
    Rate,
    Repeated,
    Results,
    Summary,
    SummaryRun,
    TransportRun,
    Truth,
    TruthRun,
    Turns,
    TurnsBlock,
)

from sizebook.model.bundle import MachineFacts

PARTS = {"50": 3.0, "99": 5.0, "99.9": 9.0}


def make_results(**changed: Any) -> Results:
    """Return results with every benchmark in them."""
    given: dict[str, Any] = {
        "made_utc": "2026-01-02T03:04:05Z",
        "short": False,
        "commit": "0" * 40,
        "machine": MachineFacts(
            system="made up",
            kernel="1",
            architecture="none",
            cpu_model="Abacus",
            logical_cpus=2,
            memory_mib=4096,
            virtualization="none",
        ),
        "machine_sha256": "0123abcd" * 8,
        "generator_cpus": 1,
        "server_cpus": 1,
        "versions": {"sizebook": "0", "wrk": "4.1.0"},
        "missing": {"wrk2": "not on the path"},
        "failures": {},
        "seconds": {"ceiling": 1.0},
        "ceiling": make_ceiling(),
        "truth": make_truth(),
        "summary": make_summary(),
        "statistics": Inference(
            rates=(
                Rate(
                    name="true mean inside, n = 3",
                    method="mean interval",
                    hits=94,
                    trials=100,
                    nominal=0.95,
                    bound="about",
                    seed=1,
                ),
            )
        ),
        "probe_cost": ProbeCost(metrics={"ours_percent": 0.7}, conditions={"nodes": 4}),
        "gc_logs": GcLogs(runs=(make_gc_log_run(),)),
        "turns": make_turns(),
        "planted": make_planted(),
    }
    return Results(**given | changed)


def make_gc_log_run() -> GcLogRun:
    """Return three rounds over one log."""
    return GcLogRun(
        log="g1-17",
        lines=1_000_000,
        size_mib=93.0,
        ours_s=Repeated(values=(2.0, 2.0, 2.1)),
        loop_s=Repeated(values=(4.0, 4.2, 4.0)),
        ours_peak_mib=400.0,
    )


def make_ceiling() -> Ceiling:
    """Return three rounds of two tools."""
    return Ceiling(
        connections=10,
        body_bytes=1024,
        seconds=3.0,
        requests_per_s={
            OURS: Repeated(values=(40_000.0, 41_000.0, 42_000.0)),
            "k6": Repeated(values=(20_000.0, 20_500.0, 20_000.0)),
        },
        server_cpu_share={
            OURS: Repeated(values=(0.3, 0.3, 0.3)),
            "k6": Repeated(values=(0.2, 0.2, 0.2)),
        },
    )


def make_truth() -> Truth:
    """Return one share of the ceiling: two laws and freeze, ours and one peer."""

    def run(
        server: str,
        tool: str,
        number: int,
        recorded_us: float,
        ours: bool,
        law: str = "lognormal:4000,0.5",
        requests: int = 16_000,
    ) -> TruthRun:
        rows = tuple(
            PercentileRow(
                percentile=percentile,
                recorded_us=recorded_us * percentile,
                computed_us=100.0 * percentile,
                expected_us=101.0 * percentile if ours and server == "law" else None,
                answered_us=100.5 * percentile if ours else None,
            )
            for percentile in (50.0, 99.0, 99.9)
        )
        return TruthRun(
            server="law" if server == "law" else "freeze",
            tool=tool,
            share=0.1,
            rate_per_s=4000.0,
            achieved_per_s=4000.0,
            requests=requests,
            round=number,
            rows=rows,
            law=law,
            connections=300 if ours else None,
            parts_us={"late start": PARTS, "way back": PARTS} if ours else {},
            contradictions=1 if ours else None,
            peak_in_flight=40 + number if ours else None,
        )

    return Truth(
        law="lognormal:4000,0.5",
        arrivals="constant",
        connections=300,
        ceiling_per_s=40_000.0,
        closed_per_s=80_000.0,
        open_ceiling=OpenCeiling(
            arrivals="constant",
            connections=300,
            p99_limit_ms=1.0,
            per_s=Repeated(values=(39_000.0, 40_000.0, 42_000.0)),
            grid_ratio=1.04,
            trials=20,
        ),
        frozen_s=2.0,
        measured_s={"law": 4.0, "freeze": 12.0},
        runs=(
            run("law", "Sizebook", 0, 101.0, True),
            run("law", "Sizebook", 1, 101.5, True),
            run("law", "Locust FastHttpUser", 0, 110.0, False),
            run("law", "Sizebook", 0, 99.8, True, "lognormal:9000,0.5", 60_000),
            run("freeze", "Sizebook", 0, 101.0, True),
            run("freeze", "Locust FastHttpUser", 0, 10.0, False),
        ),
        transport=(
            TransportRun(
                share=0.1, rate_per_s=4000.0, round=0, requests=16_000, latency_us={"50": 60.0}
            ),
        ),
        failures=("at 70% of the ceiling: 5 dropped",),
    )


def make_summary() -> Summary:
    """Return two sizes beside JMeter."""

    def spent(requests: int, factor: float) -> SummaryRun:
        return SummaryRun(
            requests=requests,
            wall_s=Repeated(values=(factor, 1.1 * factor)),
            cpu_s=Repeated(values=(factor, factor)),
            peak_rss_mib=Repeated(values=(300.0 * factor, 300.0 * factor)),
        )

    return Summary(
        runs=(spent(1_000_000, 1.0), spent(10_000_000, 3.0)),
        measures=40,
        checks=18,
        beside_requests=10_000_000,
        dashboard_samples=600_000,
        dashboard_wall_s=Repeated(values=(9.0, 9.5)),
        dashboard_cpu_s=Repeated(values=(12.0, 12.0)),
    )


def make_turns() -> Turns:
    """Return two blocks of equal stacks: 1 % apart in turns, up to a fifth one after the other."""

    def block(percent: float, error: float | None = None) -> TurnsBlock:
        return TurnsBlock(per_s=(100.0 * exp(percent / 100), 100.0), error=error, speed_sd=0.1)

    return Turns(
        side_s=60.0,
        users=10,
        turns=(block(1.0, 0.01), block(-1.0, 0.02)),
        apart=(block(20.0), block(-18.2)),
    )


def make_planted() -> Planted:
    """Return five blocks: the slower node loses about 5 %, its equal is now ahead, now not."""
    equal, slower = (1.01, 0.99, 1.01, 0.99, 1.0), (0.95, 0.96, 0.94, 0.95, 0.955)
    blocks = (
        PlantedBlock(one_per_s=100.0, equal_per_s=100 * e, slower_per_s=100 * s)
        for e, s in zip(equal, slower, strict=True)
    )
    return Planted(more=0.05, side_s=20.0, users=4, blocks=tuple(blocks))
