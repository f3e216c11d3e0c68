"""Users who think: what they did, what they waited for, and what of the machine they took."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import polars as pl

from sizebook.checks.steady import counted
from sizebook.lab.search import Search
from sizebook.lab.trials import Measure, Trial
from sizebook.model.criterion import Criterion
from sizebook.model.deployment import LOCAL
from sizebook.report.measures import throughput_per_s
from sizebook.report.phase_counters import Window, open_window
from sizebook.report.reported import conditions, find_reported
from sizebook.store import Bundle, Project
from sizebook.store.derived import derive, derived

_BUSY = ("core_user_s", "core_system_s", "core_irq_s", "core_steal_s")
_CPU = ("cpu_user_s", "cpu_system_s")
_WEB = ("web", "web-app")
_DATABASE = ("app-db", "db")
COLUMNS = {
    "run": pl.String,
    "users": pl.Float64,
    "cpus": pl.Float64,
    "users_per_cpu": pl.Float64,
    "web_cpu": pl.Float64,
    "database_cpu": pl.Float64,
    "response_s": pl.Float64,
    "users_per_jvm": pl.Float64,
    "requests_per_s": pl.Float64,
}
"""Columns of a table of runs beside each other; what a run does not tell is null."""


def users(bundle: Bundle) -> float:
    """Return the users of the load."""
    return float(bundle.record.trial.load.arrivals.users)


def stack_cpus(bundle: Bundle) -> int:
    """Return how many CPUs the roles of the stack may use together; 0: no role is bound to any."""
    deployment = bundle.record.trial.deployment
    bound = [host.cpus for host in deployment.hosts] + [role.cpus for role in deployment.roles]
    return len({cpu for cpus in bound for cpu in cpus})


@derived("users.mean_ms")
def mean_ms(bundle: Bundle) -> float | None:
    """Return the mean latency of the good requests that count, in ms; None without any."""
    rows = counted(bundle).only("error", "")
    return float(rows["latency_ns"].mean()) / 1e6 if rows.height else None


def users_of_pace(think_s: float) -> Measure:
    """Return a measure: how many users with this think time make the rate that was measured.

    By the response time law, rate x (think + response): exact for the rate and the mean response
    that were measured, whatever the think time of those who made them.
    """

    def measure(bundle: Bundle) -> float | None:
        rate, mean = throughput_per_s(bundle), mean_ms(bundle)
        return None if rate is None or mean is None else rate * (think_s + mean / 1e3)

    return measure


def at_boundary(
    frame: pl.DataFrame, ends: pl.DataFrame, search: Search, criterion: Criterion
) -> pl.DataFrame:
    """Return the rows of a search's frame at the last level that kept a criterion, block by block.

    ``frame`` is that of ``Trials.frame``, ``ends`` what ``lab.search.boundaries`` found. Blocks in
    which no level kept it have no row.
    """
    keys = [*(factor.name for factor in search.factors), "replicate"]
    kind = frame.schema[search.variable]
    last = (
        ends.filter(pl.col("criterion") == criterion.name)
        .drop_nulls("last_pass")
        .select(*keys, pl.col("last_pass").cast(kind).alias(search.variable))
    )
    return frame.join(last, on=[*keys, search.variable], how="inner", maintain_order="left")


def at_limit(
    frame: pl.DataFrame,
    ends: pl.DataFrame,
    search: Search,
    criterion: Criterion,
    statistic: str,
    *metrics: str,
) -> pl.DataFrame:
    """Return the trials next to each block's boundary, with what their metrics are at the limit.

    ``frame`` and ``ends`` as for ``at_boundary``; ``statistic`` is the frame's column in ms that
    the criterion limits. Column ``METRIC_at_limit`` is interpolated between the last level that
    kept the criterion and the first that did not, by how far the limit lies between their
    statistics; all trials of a block have the same. Where no level failed it is the last one's.
    """
    keys = [*(factor.name for factor in search.factors), "replicate"]
    blocks = []
    for end in ends.filter(pl.col("criterion") == criterion.name).iter_rows(named=True):
        own = frame.filter(*(pl.col(key) == end[key] for key in keys))
        below, above = (_level(own, search.variable, end[n]) for n in ("last_pass", "first_fail"))
        if below.is_empty():
            continue
        low, high = (side.select(pl.col(statistic, *metrics).mean()).row(0, named=True)
                     for side in (below, above))  # fmt: skip
        part, over = 0.0, high[statistic]
        if over is not None and over > criterion.limit_ms:  # else it failed for another reason
            part = (criterion.limit_ms - low[statistic]) / (over - low[statistic])
        found = {f"{m}_at_limit": _between(low[m], high[m], part) for m in metrics}
        blocks.append(
            pl.concat([below, above]).with_columns(
                pl.lit(value, pl.Float64).alias(name) for name, value in found.items()
            )
        )
    if blocks:
        return pl.concat(blocks)
    return frame.clear().with_columns(pl.lit(0.0).alias(f"{name}_at_limit") for name in metrics)


def cpu_percent(role: str) -> Measure:
    """Return a measure: CPU time of a role's processes, in percent of the stack's CPUs.

    While requests were measured. Work that the kernel does for them in interrupts is not theirs;
    see ``busy_percent``.
    """

    def measure(bundle: Bundle) -> float | None:
        if (window := open_window(bundle)) is None or not (cpus := stack_cpus(bundle)):
            return None
        rate = _rate(window, f"process/{role}-", _CPU)
        return None if rate is None else 100.0 * rate / cpus

    return measure


def busy_percent(bundle: Bundle) -> float | None:
    """Return how busy the stack's CPUs were while measured, in percent: with whatever it was.

    Processes of the stack, the kernel's work for them (network, disk), and anything else there.
    """
    window, cpus = open_window(bundle), stack_cpus(bundle)
    rate = None if window is None else _stack_cores(window)
    return 100.0 * rate / cpus if rate is not None and cpus else None


def busy_ms_per_request(bundle: Bundle) -> float | None:
    """Return what a request cost the stack's CPUs while measured, in ms.

    The kernel's work is included. Between tiers this is what counts: packets are handled in
    interrupts, which no process is charged for.
    """
    if (window := open_window(bundle)) is None or (rate := _stack_cores(window)) is None:
        return None
    done = _measured_number(bundle)
    return 1e3 * rate * window.length_s / done if done else None


def transactions(trials: Iterable[Trial]) -> pl.DataFrame:
    """Return one row a kind of request, most frequent first, over all of these trials.

    Columns: ``name``, ``number``, ``share`` (percent of all), ``mean_ms``, ``p95_ms`` of the good
    ones, ``failed``; requests of measured phases. Quantiles are of all requests together.
    """
    bundles = [one.bundle for one in trials if one.completed]
    if not bundles:
        return _transactions(())
    together = " ".join(sorted(bundle.id for bundle in bundles))
    question = f"users.transactions {together}"
    return derive(bundles[0], question, lambda: _transactions(bundles))


@derived("users.measured_number")
def _measured_number(bundle: Bundle) -> int:
    """Return how many requests belong to the measured phase."""
    return bundle.columns.only("phase", "measured").height


def _transactions(bundles: Sequence[Bundle]) -> pl.DataFrame:
    frames = [
        bundle.measured.select(pl.col("name", "error").cast(pl.String), "latency_ns")
        for bundle in bundles
    ]
    kinds = {"name": pl.String, "error": pl.String, "latency_ns": pl.Int64}
    rows = pl.concat(frames) if frames else pl.DataFrame(schema=kinds)
    good = pl.col("latency_ns").filter(pl.col("error") == "")
    return (
        rows.group_by("name")
        .agg(
            number=pl.len(),
            mean_ms=good.mean() / 1e6,
            p95_ms=good.quantile(0.95, "higher") / 1e6,
            failed=(pl.col("error") != "").sum(),
        )
        .sort("number", "name", descending=[True, False])
        .select(
            "name", "number", (100 * pl.col("number") / rows.height).alias("share"),
            "mean_ms", "p95_ms", "failed",
        )
    )  # fmt: skip


def reported_runs(project: Project | None = None) -> pl.DataFrame:
    """Return one row a run of the report of 2003, in the order of its table: ``COLUMNS``.

    ``requests_per_s`` are the hits that it counted, of the one run for which it says so.
    """
    rows = []
    for run in _found("concurrent_users", project).iter_rows(named=True):
        of_run = f"config={run['config']};date={run['date']}"

        def value(metric: str, more: str = "", of_run: str = of_run) -> float | None:
            found = find_reported("oneworld-2003", metric, of_run + more, project)
            values = found.filter(pl.col("statistic") != "peak")["value"]
            return float(values[0]) if len(values) else None

        tiers = {tier: value("cpu_percent", f";tier={tier}") for tier in (*_WEB, *_DATABASE)}
        hits = value("hits_per_h")
        rows.append(
            {
                "run": f"{run['config']}, {run['date']}",
                "users": float(run["value"]),
                "cpus": value("cpus"),
                "users_per_cpu": value("users_per_cpu"),
                "web_cpu": next((tiers[tier] for tier in _WEB if tiers[tier]), None),
                "database_cpu": next((tiers[tier] for tier in _DATABASE if tiers[tier]), None),
                "response_s": value("response_time_s"),
                "users_per_jvm": value("users_per_jvm"),
                "requests_per_s": None if hits is None else hits / 3600,
            }
        )
    return pl.DataFrame(rows, schema=COLUMNS)


def hits_per_user_s(project: Project | None = None) -> float:
    """Return how many hits a second the report of 2003 counted for each of its users."""
    known = reported_runs(project).drop_nulls("requests_per_s")
    return float(known["requests_per_s"][0] / known["users"][0])


def _found(metric: str, project: Project | None) -> pl.DataFrame:
    """Return the rows of the report's table of runs with this metric."""
    rows = conditions(find_reported("oneworld-2003", metric, "", project), "config", "date", "tier")
    return rows.filter(pl.col("locator") == "Highlights table", pl.col("tier").is_null())


def _between(low: float | None, high: float | None, part: float) -> float | None:
    """Return what lies so far between two values; the first where there is no way to go."""
    if part == 0 or low is None:
        return low
    return None if high is None else low + part * (high - low)


def _level(frame: pl.DataFrame, variable: str, level: float | None) -> pl.DataFrame:
    """Return the rows at a level, none for no level."""
    return frame.clear() if level is None else frame.filter(pl.col(variable) == level)


def _stack_cores(window: Window) -> float | None:
    """Return the CPUs' worth of time in which the stack's CPUs were not idle; None: not told."""
    bound = [host.cpus for host in window.trial.deployment.hosts]
    bound += [role.cpus for role in window.trial.deployment.roles]
    cpus = {str(cpu) for one in bound for cpu in one}
    keys = [
        key
        for metric in _BUSY
        for key in window.keys("host", metric)
        if key[0] == LOCAL and key[2].partition("/")[2] in cpus
    ]
    found = [window.growth(key) for key in keys]
    told = [one.per_s for one in found if one is not None]
    return sum(told) if told and len(told) == len(found) else None


def _rate(window: Window, source: str, metrics: Iterable[str]) -> float | None:
    """Return how fast counters rose while measured, all together; None where one is not there."""
    found = [window.total_growth(source, metric) for metric in metrics]
    told = [one.per_s for one in found if one is not None]
    return sum(told) if len(told) == len(found) else None
