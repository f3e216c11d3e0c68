"""Paced users: what was offered and achieved by each group, and how long their passes took."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

from sizebook.checks.facts import measured_mark, passes_of
from sizebook.checks.rules import DoesNotApply
from sizebook.checks.steady import steady_of
from sizebook.lab import Trials
from sizebook.lab.trials import Measure
from sizebook.model.load import PacedUsers
from sizebook.stats.quantiles import is_supported
from sizebook.store import Bundle
from sizebook.store.derived import derived

_PASSES = {
    "name": pl.String,
    "period_s": pl.Float64,
    "due_s": pl.Float64,
    "late_s": pl.Float64,
    "time_ms": pl.Float64,
    "ended": pl.Boolean,
    "good": pl.Boolean,
}
_GROUPS = {
    "name": pl.String,
    "period_s": pl.Float64,
    "users_of_group": pl.Int64,
    "offered_per_s": pl.Float64,
    "achieved_per_s": pl.Float64,
    "late_share": pl.Float64,
}


def passes(bundle: Bundle) -> pl.DataFrame:
    """Return one row a pass that paced users had to begin in the measured phase, or ended in it.

    Columns: ``name`` and ``period_s`` of the user's group; ``due_s``, seconds from the begin of the
    phase, below 0 for a pass that was under way then; ``late_s`` from due to begun; ``time_ms``
    from due to the last answer, what the user waited; ``ended`` within the phase; ``good``: every
    answer was as expected. Empty for other kinds of load and a trial that measured nothing.
    """
    arrivals = bundle.record.trial.load.arrivals
    rows = bundle.columns
    try:
        mark = measured_mark(bundle)
    except DoesNotApply:
        return pl.DataFrame(schema=_PASSES)
    if not isinstance(arrivals, PacedUsers) or not rows.height:
        return pl.DataFrame(schema=_PASSES)
    found = passes_of(rows)
    due, start = found.min(rows["intended_ns"]), found.min(rows["start_ns"])
    end = found.max(rows["start_ns"], plus=rows["service_ns"])
    ended = (end >= mark.begin_ns) & (end < mark.end_ns)
    kept = ended | ((due >= mark.begin_ns) & (due < mark.end_ns))
    groups, sizes = arrivals.groups, [group.users for group in arrivals.groups]
    user = found.min(rows["user"])
    columns = {
        "name": np.repeat([group.name for group in groups], sizes)[user],
        "period_s": np.repeat([group.period_s for group in groups], sizes)[user],
        "due_s": (due - mark.begin_ns) / 1e9,
        "late_s": (start - due) / 1e9,
        "time_ms": (end - due) / 1e6,
        "ended": ended,
        "good": found.sum(~rows.has("error", "")) == 0,
    }
    return pl.DataFrame(columns, schema=_PASSES).filter(pl.Series(kept))


@derived("pace.group_rates")
def group_rates(bundle: Bundle) -> pl.DataFrame:
    """Return one row a group of paced users: what was offered, and what came of it.

    ``offered_per_s`` is users over period; ``achieved_per_s`` the passes that ended well in the
    measured phase, a second; ``late_share`` the share of those due that began more than a tenth of
    their period late. Empty as ``passes``.
    """
    arrivals, found = bundle.record.trial.load.arrivals, passes(bundle)
    if not isinstance(arrivals, PacedUsers) or not found.height:
        return pl.DataFrame(schema=_GROUPS)
    mark = measured_mark(bundle)
    length_s = (mark.end_ns - mark.begin_ns) / 1e9
    rows = []
    for group in dict.fromkeys((one.name, one.period_s) for one in arrivals.groups):
        alike = [one for one in arrivals.groups if (one.name, one.period_s) == group]
        own = found.filter((pl.col("name") == group[0]) & (pl.col("period_s") == group[1]))
        due = own.filter(pl.col("due_s") >= 0)
        late = due.filter(pl.col("late_s") > group[1] / 10).height
        rows.append(
            {
                "name": group[0],
                "period_s": group[1],
                "users_of_group": sum(one.users for one in alike),
                "offered_per_s": sum(one.rate_per_s for one in alike),
                "achieved_per_s": own.filter("ended", "good").height / length_s,
                "late_share": late / due.height if due.height else None,
            }
        )
    return pl.DataFrame(rows, schema=_GROUPS)


def rates_by_treatment(trials: Trials) -> pl.DataFrame:
    """Return one row a treatment and group: ``group_rates``, mean over trials that did not fail.

    Columns: the design's factors, then those of ``group_rates`` and ``n``, the number of trials.
    """
    factors = [factor.name for factor in trials.design.factors]
    rows = [
        pl.DataFrame([dict(trial.treatment)]).join(group_rates(trial.bundle), how="cross")
        for trial in trials
        if trial.verdict != "failed"
    ]
    if not rows:
        return pl.DataFrame(schema=dict.fromkeys(factors, pl.String) | _GROUPS | {"n": pl.UInt32})
    return (
        pl.concat(rows)
        .group_by(*factors, "name", "period_s", "users_of_group", maintain_order=True)
        .agg(pl.col("offered_per_s", "achieved_per_s", "late_share").mean(), n=pl.len())
    )


def pass_course(name: str, windows: int = 15) -> Callable[[Bundle], pl.DataFrame]:
    """Return a function that gives the median time of a group's passes over the measured phase.

    Columns ``t_s``, the middle of a window in seconds from the phase's begin, and ``value`` in ms.
    """

    @derived("pace.pass_course", name, windows)
    def course(bundle: Bundle) -> pl.DataFrame:
        found = passes(bundle).filter("good", pl.col("name") == name, pl.col("due_s") >= 0)
        width_s = bundle.record.trial.load.phases.measured_s / windows
        window = (pl.col("due_s") / width_s).floor()
        return (
            found.group_by(t_s=(window + 0.5) * width_s)
            .agg(value=pl.col("time_ms").median())
            .sort("t_s")
        )

    return course


def achieved_share(bundle: Bundle) -> float | None:
    """Return the passes of all groups that ended well a second, over those offered."""
    rates = group_rates(bundle)
    offered = float(rates["offered_per_s"].sum())
    return float(rates["achieved_per_s"].sum()) / offered if offered else None


@derived("pace.late_share")
def late_share(bundle: Bundle) -> float | None:
    """Return the share of the passes due that began more than a tenth of their period late."""
    due = passes(bundle).filter(pl.col("due_s") >= 0)
    late = due.filter(pl.col("late_s") > pl.col("period_s") / 10)
    return late.height / due.height if due.height else None


def pass_ms(quantile: float, name: str) -> Measure:
    """Return a measure: a quantile of what users of a group waited for a pass, in ms.

    From its due time to its last answer, of passes without an error that were due when requests
    counted. None where they are too few for the quantile.
    """

    @derived("pace.pass_ms", quantile, name)
    def measure(bundle: Bundle) -> float | None:
        good = passes(bundle).filter("good", pl.col("name") == name, pl.col("due_s") >= 0)
        if not good.height:
            return None
        cropped_s = (steady_of(bundle).crop_ns - measured_mark(bundle).begin_ns) / 1e9
        times = good.filter(pl.col("due_s") >= cropped_s)["time_ms"]
        if not is_supported(100 * quantile, times.len()):
            return None
        value = times.quantile(quantile, "higher")
        return None if value is None else float(value)

    return measure
