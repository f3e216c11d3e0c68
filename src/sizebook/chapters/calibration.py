"""What a machine measures of one and the same thing: noise, what a design sees, and ceilings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from sizebook.lab import Placement, Setup, Trials, app_stack
from sizebook.lab.profiles import Profile
from sizebook.model.design import Design, Factor, Treatment
from sizebook.model.load import ClosedLoop, LoadProfile
from sizebook.model.metrics import METRICS
from sizebook.report import measures, summaries
from sizebook.report.quantities import Quantity
from sizebook.stats.noise import NoiseFloor, noise_floor
from sizebook.stats.power import detectable
from sizebook.stats.variance import variance_split

COMPARED = ("total_time_s", "throughput_per_s", "latency_p50_ms", "latency_p95_ms", "cpu_ms")
"""Metrics whose noise is told."""
FLOORS = (
    Quantity("metric", "Metric"),
    Quantity("spread", "Spread of one trial (%)", 1),
    Quantity("largest", "Largest ratio of two trials", 3),
    Quantity("ratio", "A again / A (95 % interval)"),
)
"""Noise of a metric."""
DETECTABLE = (
    Quantity("metric", "Metric"),
    Quantity("n", "Fresh JVMs a treatment"),
    Quantity("least", "Least ratio found", 2),
    Quantity("careful", "if the spread is larger", 2),
)
"""What a design of so many starts finds."""
SPLIT = (
    Quantity("level", "Between"),
    Quantity("sd", "Spread (%)", 1),
    Quantity("freedom", "Degrees of freedom"),
    Quantity("note", "Note"),
)
"""Noise of a level."""
OPEN_RATES = (
    Quantity("replicate", "Block"),
    Quantity("criterion", "Criterion"),
    Quantity("last_pass", "Last that passed (req/s)", 0),
    Quantity("first_fail", "First that failed (req/s)", 0),
    Quantity("trials", "Trials"),
    Quantity("fail_verdict", "Verdict of the one that failed"),
)
"""Where the search for the highest rate ended in a block."""


@dataclass(frozen=True)
class SameTwice:
    """One and the same treatment under two names, twice in each JVM."""

    here: Placement
    profile: Profile
    seed: int
    users: int

    def design(self) -> Design:
        """Return the design: names vary between JVMs, passes within one."""
        factors = Factor("name", ("A", "A again")), Factor("pass", (1, 2), "sub")
        return Design("aa", factors, self.profile.replicates, self.seed)

    def setup(self, _: Treatment) -> Setup:
        """Return plain JSON from the reference stack, whatever its name."""
        return Setup(
            app_stack(self.here, settings={"threads": 50}),
            LoadProfile(
                locustfile="odata_rest.py",
                arrivals=ClosedLoop(users=self.users),
                phases=self.profile.phases.model_copy(update={"warmup_s": 0.0}),
                settings={"representation": "rest-json", "flights": 400},
                seed=self.seed,
                cpus=self.here.generator,
            ),
        )


def same_frame(trials: Trials) -> pl.DataFrame:
    """Return one row a trial: ``COMPARED``."""
    return trials.frame(
        total_time_s=measures.total_time_s,
        throughput_per_s=measures.throughput_per_s,
        latency_p50_ms=measures.latency_ms(0.5),
        latency_p95_ms=measures.latency_ms(0.95),
        cpu_ms=measures.cpu_ms_per_request("app"),
    )


def floor_of(aa: pl.DataFrame, metric: str) -> NoiseFloor:
    """Return the noise floor of a metric from trials of the same treatment under two names."""
    groups = summaries.usable(aa).group_by("name")
    return noise_floor([group[metric].drop_nulls().to_list() for _, group in groups])


def floors_frame(aa: pl.DataFrame) -> pl.DataFrame:
    """Return one row a metric: ``FLOORS``."""
    rows = []
    for name in COMPARED:
        floor = floor_of(aa, name)
        ratio = summaries.ratio(aa, name, {"name": "A again"}, {"name": "A"})
        spread = None if floor.relative_sd is None else 100 * floor.relative_sd
        rows.append(
            {"metric": METRICS[name].title, "spread": spread}
            | {"largest": floor.largest_ratio, "ratio": summaries.words(ratio, 3)}
        )
    return pl.DataFrame(rows)


def detectable_frame(
    aa: pl.DataFrame, metrics: Sequence[str], replicates: Sequence[int]
) -> pl.DataFrame:
    """Return one row a metric and number of fresh JVMs: ``DETECTABLE``."""
    rows = []
    for name in metrics:
        for n in replicates:
            found = detectable(floor_of(aa, name), n)
            ratios = {"least": found.ratio, "careful": found.careful_ratio}
            rows.append({"metric": METRICS[name].title, "n": n} | ratios)
    return pl.DataFrame(rows)


def split_frame(every: pl.DataFrame) -> pl.DataFrame:
    """Return one row a level, JVMs and trials in one, with its part of the noise: ``SPLIT``."""
    known = summaries.usable(every).drop_nulls("total_time_s")
    starts = known.select(pl.format("{} {}", "name", "replicate")).to_series().to_list()
    times = known["total_time_s"].to_numpy()
    split = variance_split(times, {"fresh JVM": starts}, within="trial in a JVM")
    return pl.DataFrame(
        [
            {"level": c.level, "sd": c.sd_percent, "freedom": c.freedom, "note": c.reason}
            for c in split.components
        ],
        schema={"level": pl.String, "sd": pl.Float64, "freedom": pl.Int64, "note": pl.String},
    )


def ceiling_frame(trials: Trials) -> pl.DataFrame:
    """Return one row a trial: what a worker completes with a client, and what that takes."""
    return trials.frame(
        throughput_per_s=measures.throughput_per_s,
        latency_p50_ms=measures.latency_ms(0.5),
        latency_p99_ms=measures.latency_ms(0.99),
        generator_cpu_share=measures.generator_cpu_share,
        cpu_ms=measures.cpu_ms_per_request("generator"),
    )
