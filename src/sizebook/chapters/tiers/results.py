"""What the trials of the tiers tell: frames, and the quantities of their tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import polars as pl

from sizebook.chapters.tiers import user_loads
from sizebook.lab import Trials
from sizebook.lab.search import Search, boundaries
from sizebook.lab.trials import Measure
from sizebook.model.criterion import Criterion
from sizebook.report import guests, measures, summaries
from sizebook.report.counter_increase import rise_per_request
from sizebook.report.curve_panels import curve_panels
from sizebook.report.quantities import Quantity, frame_of, means_of
from sizebook.store import Bundle

_BUSY = "CPU busy (%)"


def _seconds(measure: Measure) -> Measure:
    """Return a measure in seconds of one in milliseconds; none stays none, and so does zero."""
    return lambda bundle: (value := measure(bundle)) and value / 1e3


RUN = (
    Quantity("run", "Run"),
    Quantity("users", "Users", 0),
    Quantity("cpus", "CPUs", 0),
    Quantity("users_per_cpu", "Users per CPU", 0),
    Quantity("web_cpu", "web, application", 0, _BUSY, user_loads.cpu_percent("app")),
    Quantity("database_cpu", "database", 0, _BUSY, user_loads.cpu_percent("database")),
    Quantity("response_s", "Response (s)", 3, measure=_seconds(user_loads.mean_ms)),
    Quantity("users_per_jvm", "Users per JVM", 0),
    Quantity("requests_per_s", "Requests per s", 0, measure=measures.throughput_per_s),
)
"""A run in the form of the report's table."""
_HEADLINE = (
    *RUN,
    Quantity("p95_s", "95th percentile (s)", measure=_seconds(measures.latency_ms(0.95))),
    Quantity("busy", _BUSY, measure=user_loads.busy_percent),
    Quantity("generator", "Generator's CPU (%)", measure=measures.generator_cpu_share),
    Quantity("failed", "Failed (%)", measure=measures.failed_share),
)
MIX = (
    Quantity("name", "Transaction"),
    Quantity("number", "Number"),
    Quantity("share", "Share (%)", 1),
    Quantity("mean_ms", "Mean (ms)", 1),
    Quantity("p95_ms", "95th percentile (ms)", 1),
    Quantity("failed", "Failed"),
)
"""What users did."""
_TIME, _COST = "Response (ms)", "CPU time a transaction (ms)"
SAME_LOAD = (
    Quantity("tiers", "Tiers"),
    Quantity("response_ms", "mean", 2, _TIME, user_loads.mean_ms),
    Quantity("p95_ms", "95th percentile", 2, _TIME, measures.latency_ms(0.95)),
    Quantity("throughput_per_s", "Transactions per s", 0, measure=measures.throughput_per_s),
    Quantity(
        "access_ms",
        "Connection held (ms)",
        2,
        measure=rise_per_request("server/app-", "pool_usage_s", scale=1e3),
    ),
    Quantity("app_cpu_ms", "application", 2, _COST, measures.cpu_ms_per_request("app")),
    Quantity("database_cpu_ms", "database", 2, _COST, measures.cpu_ms_per_request("database")),
    Quantity("busy_ms", "all", 2, _COST, user_loads.busy_ms_per_request),
    Quantity("busy", _BUSY, 0, measure=user_loads.busy_percent),
)
"""What the same users cost."""
SOUGHT = ("at_pace", "per_cpu", "throughput_per_s", "busy")
"""Columns that are told at the limit."""
REACHED = (
    Quantity("criterion", "Criterion"),
    Quantity("at_pace_at_limit", "Users", 0),
    Quantity("per_cpu_at_limit", "Users per CPU", 0),
    Quantity("throughput_per_s_at_limit", "Transactions per s", 0),
    Quantity("busy_at_limit", _BUSY, 0),
    Quantity("blocks", "Blocks"),
)
"""What a search reached, by criterion; its factor comes first."""


def headline_runs(trials: Trials) -> pl.DataFrame:
    """Return one row a trial of the headline, with what the report's table has, and more."""
    return frame_of(trials, *_HEADLINE)


def headline_means(shown: pl.DataFrame) -> pl.DataFrame:
    """Return the means of ``headline_runs`` by users."""
    return means_of(shown, ["users"], *(one for one in _HEADLINE if one.measure)).sort("users")


def beside_report(printed: pl.DataFrame, by_users: pl.DataFrame, cpus: int) -> pl.DataFrame:
    """Return the report's runs with those of here below them: one node on so many CPUs."""
    users = pl.col("users").cast(pl.Float64)
    own = by_users.select(
        run=pl.format("here, {} users", "users"),
        users=users,
        cpus=pl.lit(float(cpus)),
        users_per_cpu=pl.col("users") / cpus,
        web_cpu="web_cpu",
        database_cpu="database_cpu",
        response_s="response_s",
        users_per_jvm=users,
        requests_per_s="requests_per_s",
    )
    return pl.concat([printed, own], how="vertical_relaxed")


def of_app_hosts(
    measure: Callable[[str], Measure], combine: Callable[[Sequence[float]], float]
) -> Measure:
    """Return a measure: that of each application host with a limit, put together."""

    def measured(bundle: Bundle) -> float | None:
        names = [host.name for host in bundle.record.trial.deployment.hosts]
        values = [measure(name)(bundle) for name in names if name.startswith("app-")]
        told = [value for value in values if value is not None]
        return combine(told) if told and len(told) == len(values) else None

    return measured


@dataclass(frozen=True)
class Searched:
    """What a search for the most users found."""

    search: Search
    trials: Trials
    frame: pl.DataFrame
    ends: pl.DataFrame
    """Where each block's users became too many, as ``lab.search.boundaries`` tells."""

    @classmethod
    def of(
        cls, search: Search, measured: Mapping[str, Trials], think_s: float, cpus: int
    ) -> Searched | None:
        """Return it from a run's trials, None if nothing of the search was run.

        ``think_s`` is the think time of the users that are told, ``cpus`` those of the stack.
        """
        trials = measured.get(search.experiment)
        if not trials:
            return None
        frame = trials.frame(
            **{one.name: one.measure for one in SAME_LOAD if one.measure},
            web_cpu=user_loads.cpu_percent("app"),
            database_cpu=user_loads.cpu_percent("database"),
            at_pace=user_loads.users_of_pace(think_s),
            used=of_app_hosts(guests.cpus_used, sum),
            stopped=of_app_hosts(guests.stopped_share, max),
        ).with_columns(per_cpu=pl.col("at_pace") / max(1, cpus))
        return cls(search, trials, frame, boundaries(search, trials))

    @property
    def factor(self) -> str:
        """Name of the factor whose levels were searched."""
        return self.search.factors[0].name

    def at_boundary(self, criterion: Criterion) -> pl.DataFrame:
        """Return the usable trials at the last level of each block that kept a criterion."""
        found = user_loads.at_boundary(self.frame, self.ends, self.search, criterion)
        return summaries.usable(found)

    def means_at(self, criterion: Criterion, *metrics: str) -> Iterable[dict[str, Any]]:
        """Return means of ``at_boundary``, one row a level of the factor, in order."""
        found = self.at_boundary(criterion).group_by(self.factor).agg(pl.col(metrics).mean())
        return found.sort(self.factor).iter_rows(named=True)

    def at_limit(self, criterion: Criterion) -> pl.DataFrame:
        """Return the trials around each block's boundary, with ``SOUGHT`` at the limit."""
        statistic = "p95_ms" if criterion.statistic == "p95" else "response_ms"
        return user_loads.at_limit(
            self.frame, self.ends, self.search, criterion, statistic, *SOUGHT
        )

    def reached(self) -> pl.DataFrame:
        """Return ``SOUGHT`` at each criterion by level of the factor: means over the blocks."""
        told = [f"{name}_at_limit" for name in SOUGHT]
        rows = [
            summaries.usable(self.at_limit(criterion))
            .group_by(self.factor, "replicate", maintain_order=True)
            .agg(pl.col(told).first())
            .group_by(self.factor, maintain_order=True)
            .agg(pl.col(told).mean(), blocks=pl.len())
            .with_columns(
                criterion=pl.lit(criterion.name), factor=pl.col(self.factor).cast(pl.String)
            )
            for criterion in self.search.criteria
        ]
        return pl.concat(rows).sort("factor", "criterion")

    def placement_charts(self, pace_s: float) -> alt.ConcatChart:
        """Return mean response and CPU time a transaction over users with this think time."""
        return curve_panels(
            self.frame.sort("users"),
            {"response_ms": "mean response (ms)", "busy_ms": _COST},
            x="users",
            series=self.factor,
            x_title=f"users, think time {pace_s:g} s",
            series_title="Tiers",
            log=["response_ms"],
        )

    def cpu_by_tier(self, criterion: Criterion) -> pl.DataFrame:
        """Return one row a number of hosts and tier: ``percent`` of the CPU at the boundary.

        The rest is what the stack's CPUs did for neither application nor database.
        """
        parts = ("application", "database", "rest")
        return (
            self.at_boundary(criterion)
            .group_by("servers", maintain_order=True)
            .agg(
                application=pl.col("web_cpu").mean(),
                database=pl.col("database_cpu").mean(),
                busy=pl.col("busy").mean(),
            )
            .with_columns(
                rest=(pl.col("busy") - pl.col("application") - pl.col("database")).clip(0.0)
            )
            .sort("servers")
            .with_columns(pl.format("{} hosts", "servers").alias("servers"))
            .unpivot(parts, index="servers", variable_name="tier", value_name="percent")
            .drop_nulls()
        )
