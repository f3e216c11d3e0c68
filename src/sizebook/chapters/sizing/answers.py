"""What the models say: laws of scalability, the check of an answer, users for a CPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from sizebook.lab import Trials
from sizebook.lab.trials import Measure
from sizebook.report import capacity, measures, summaries
from sizebook.report.quantities import Quantity
from sizebook.report.reported import find_reported
from sizebook.stats.curves import Fit, fit
from sizebook.stats.holdout import HeldOut, choose, hold_out
from sizebook.stats.queues import Demand
from sizebook.stats.scaling import SIZE, curves, limit_rate, peak_size
from sizebook.stats.sizing import Demanded, Predicted, SizingModel, most_load

ROLES = ("app", "database")
IBM_2003 = "config=ibm-v3t;date=2003-04"
_SYSTEMS = {
    "config=sun-p3t": "Sun, three tiers, 2003",
    "config=ibm-v3t;date=2001-06": "IBM, two tiers, 2001",
    IBM_2003: "IBM, two tiers, 2003",
    "config=ibm-p3t;date=2003-06": "IBM, three tiers, 2003",
}
REPORTED = (
    Quantity("system", "System"),
    Quantity("concurrent_users", "Users", 0),
    Quantity("users_per_cpu", "Users per CPU", 0),
    Quantity("users_per_jvm", "Users per JVM", 0),
    Quantity("response_time_s", "Response (s)", 2),
)
"""A system of the report; the metrics have the report's own names."""
_INTERVAL = "95 % interval"
DEMAND = (
    Quantity("role", "Role"),
    Quantity("ms", "CPU time (ms)", 2),
    Quantity("low", "from", 2, _INTERVAL),
    Quantity("high", "to", 2, _INTERVAL),
    Quantity("idle", "Idle (CPUs)", 3),
    Quantity("trials", "Trials"),
)
"""What a request takes of a role."""
LAWS = (
    Quantity("law", "Law"),
    Quantity("error", "Hold-out error (%)", 1),
    Quantity("parameters", "Parameters with 95 % intervals"),
    Quantity("best", ""),
)
"""A law of scalability."""
_ERROR = "Median hold-out error (%)"
FORMS = (
    Quantity("form", "Form"),
    Quantity("parameters", "Parameters"),
    Quantity("mean_error", "mean", 1, _ERROR),
    Quantity("p95_error", "95th percentile", 1, _ERROR),
    Quantity("rate_error", "throughput", 1, _ERROR),
    Quantity("band", "Band (times)", 2),
    Quantity("coverage", "Coverage (%)", 0),
    Quantity("chosen", ""),
)
"""A form of the response time."""
PARAMETERS = (
    Quantity("parameter", "Parameter"),
    Quantity("value", "Value"),
    Quantity("low", "from", under=_INTERVAL),
    Quantity("high", "to", under=_INTERVAL),
)
"""A parameter of the chosen form."""
CHECK = (
    Quantity("quantity", "Quantity"),
    Quantity("predicted", "Predicted", 0),
    Quantity("low", "from", 0, "Band"),
    Quantity("high", "to", 0, "Band"),
    Quantity("least", "least", 0, "Measured"),
    Quantity("most", "greatest", 0, "Measured"),
    Quantity("inside", "Within the band"),
)
"""A quantity of the configuration that was checked."""


def printed(metric: str, treatment: str) -> float | None:
    """Return what the report prints of a system; None if it does not."""
    found = find_reported("oneworld-2003", metric, treatment, scenario="web-html-benchmark")
    return float(found["value"][0]) if found.height else None


def reported_systems() -> pl.DataFrame:
    """Return one row a system of the report: ``REPORTED``."""
    metrics = [one.name for one in REPORTED[1:]]
    return pl.DataFrame(
        [
            {"system": name} | {metric: printed(metric, treatment) for metric in metrics}
            for treatment, name in _SYSTEMS.items()
        ]
    )


def asks_once_in_s() -> float | None:
    """Return the seconds between two hits of one of the report's users of 2003."""
    users, hits = printed("concurrent_users", IBM_2003), printed("hits_per_h", IBM_2003)
    return None if users is None or not hits else 3600 * users / hits


def load_frame(trials: Trials, **more: Measure) -> pl.DataFrame:
    """Return one row a trial: rate, mean response, the CPUs each role is busy on, CPU a request."""
    busy = {f"busy_{role}": capacity.busy_cpus(role) for role in ROLES}
    return trials.frame(
        rate_per_s=measures.throughput_per_s, mean_ms=measures.mean_latency_ms, **busy, **more
    ).with_columns(cost_ms=1e3 * pl.sum_horizontal(*busy) / pl.col("rate_per_s"))


def busy_points(judged: pl.DataFrame) -> pl.DataFrame:
    """Return one row a trial and role: the CPUs that it was ``busy`` on at a rate."""
    names = [f"busy_{role}" for role in ROLES]
    long = judged.unpivot(names, index="rate_per_s", variable_name="role", value_name="busy")
    return long.with_columns(role=pl.col("role").str.strip_prefix("busy_")).drop_nulls()


def busy_lines(taken: Mapping[str, Demand], judged: pl.DataFrame) -> pl.DataFrame:
    """Return both ends of each role's line by the utilization law, up to the greatest rate."""
    greatest = judged["rate_per_s"].max() or 1.0
    rows = [
        {"rate_per_s": at, "role": role, "busy": one.idle.value + at * one.per_request.value}
        for role, one in taken.items()
        for at in (0.0, float(greatest))  # type: ignore[arg-type]
    ]
    return pl.DataFrame(
        rows, schema={"rate_per_s": pl.Float64, "role": pl.String, "busy": pl.Float64}
    )


def taken_ms(taken: Mapping[str, Demand]) -> float | None:
    """Return what a request takes of all roles in ms of CPU; None if that of none is known."""
    return 1e3 * sum(one.per_request.value for one in taken.values()) if taken else None


@dataclass(frozen=True)
class Laws:
    """Laws of scalability fitted to the throughput of users who do not think."""

    seen: pl.DataFrame
    """The trials: ``users``, ``rate_per_s``."""
    held: Mapping[str, HeldOut]
    fits: Mapping[str, Fit]

    @classmethod
    def of(cls, judged: pl.DataFrame) -> Laws:
        """Fit them to the trials of that kind; none where they are three or fewer."""
        kept = judged.filter(pl.col("kind") == "none").drop_nulls("rate_per_s")
        seen = kept.select("users", "rate_per_s")
        sizes, rates = seen["users"].to_list(), seen["rate_per_s"].to_list()
        laws = curves(sizes, rates) if seen.height > 3 else ()
        columns = {SIZE: sizes}
        return cls(
            seen,
            {law.name: hold_out(law, columns, rates, sizes, relative=True) for law in laws},
            {law.name: fit(law, columns, rates, relative=True) for law in laws},
        )

    @property
    def best(self) -> str | None:
        """The law that predicts left-out numbers of users best."""
        return choose(self.held)

    @property
    def judged(self) -> bool:
        """Whether the universal law predicts each number of users from the others."""
        return "universal" in self.held and self.held["universal"].complete

    @property
    def peak_users(self) -> float | None:
        """Users of the greatest throughput by the universal law; None: agreeing may be free."""
        found = self.fits["universal"].estimates
        if not found["kappa"].low:
            return None
        return peak_size(found["sigma"].value, found["kappa"].value)

    @property
    def limit_per_s(self) -> float | None:
        """Rate that contention allows by the universal law; None: there may be none."""
        found = self.fits["universal"].estimates
        return limit_rate(found["rate"].value, found["sigma"].value) if found["sigma"].low else None

    def frame(self) -> pl.DataFrame:
        """Return one row a law: ``LAWS``."""
        rows = [
            {
                "law": name,
                "error": None if (error := self.held[name].median_error) is None else 100 * error,
                "parameters": _words(one),
                "best": "best" if name == self.best else "",
            }
            for name, one in self.fits.items()
        ]
        kinds = (pl.String, pl.Float64, pl.String, pl.String)
        return pl.DataFrame(rows, schema=dict(zip((q.name for q in LAWS), kinds, strict=True)))

    def curves(self) -> pl.DataFrame:
        """Return what each law says, for one user up to as many as there were."""
        users = range(1, max(self.seen["users"].to_list(), default=1) + 1)
        rows = [
            {"users": at, "law": name, "rate_per_s": float(one.predict({SIZE: [at]})[0])}
            for name, one in self.fits.items()
            for at in users
        ]
        return pl.DataFrame(
            rows, schema={"users": pl.Int64, "law": pl.String, "rate_per_s": pl.Float64}
        )


def check_rows(
    measured: pl.DataFrame, said: Predicted, bands: Mapping[str, float]
) -> list[dict[str, Any]]:
    """Return ``CHECK`` for mean, p95 and rate, and whether the prediction ``holds``.

    It does if all usable trials lie in its band; None where there is none.
    """
    rows = []
    for quantity, column, value, factor in (
        ("Mean response (ms)", "mean_ms", 1e3 * said.mean_s, bands["mean"]),
        ("95th percentile (ms)", "p95_ms", 1e3 * said.p95_s, bands["p95"]),
        ("Requests per second", "rate_per_s", said.rate_per_s, bands["rate"]),
    ):
        known = summaries.usable(measured)[column].drop_nulls()
        inside = known.is_between(value / factor, value * factor)
        rows.append(
            {
                "quantity": quantity,
                "predicted": value,
                "low": value / factor,
                "high": value * factor,
                "least": known.min(),
                "most": known.max(),
                "inside": f"{inside.sum()} of {known.len()}",
                "holds": inside.all() if known.len() else None,
            }
        )
    return rows


def users_per_cpu(
    model: SizingModel | None, thinks_s: Sequence[float], limits_s: Sequence[float], cpus: float
) -> pl.DataFrame:
    """Return one row a think time, one column a criterion: users for each of so many CPUs.

    All are null without a model.
    """

    def users(think_s: float, limit_s: float) -> float | None:
        asked = Demanded("mean", limit_s, users=1e7, think_s=think_s)
        return most_load(model, asked, cpus, 1) / cpus if model else None

    return pl.DataFrame(
        [
            {"think_s": think_s}
            | {
                one.name: users(think_s, s)
                for one, s in zip(_limits(limits_s), limits_s, strict=True)
            }
            for think_s in thinks_s
        ],
        schema_overrides={one.name: pl.Float64 for one in _limits(limits_s)},
    )


def per_cpu_columns(limits_s: Sequence[float]) -> tuple[Quantity, ...]:
    """Return the columns of ``users_per_cpu``."""
    return (Quantity("think_s", "Think time (s)", 0), *_limits(limits_s))


def _limits(limits_s: Sequence[float]) -> list[Quantity]:
    return [
        Quantity(f"limit_{s:g}", f"mean at most {s:g} s", 0, "Users for each CPU") for s in limits_s
    ]


def _words(fitted: Fit) -> str:
    """Return the parameters of a law with their intervals."""
    return "; ".join(
        f"{key} {one.value:.4g}"
        + ("" if one.low is None else f" ({one.low:.3g} to {one.high:.3g})")
        for key, one in fitted.estimates.items()
    )
