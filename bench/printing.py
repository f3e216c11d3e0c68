"""The results as tables on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from rich.console import Console
from rich.table import Table

from bench.ceiling import OURS
from bench.pairs import paired_ratio
from bench.records import Ceiling, Inference, ProbeCost, Repeated, Results, Summary, Truth


def show(results: Results, console: Console) -> None:
    """Print every benchmark's table, and what is missing."""
    console.print(
        f"{results.machine.cpu_model}, {results.machine.logical_cpus} CPUs; "
        + ", ".join(f"{name} {version}" for name, version in results.versions.items()),
        highlight=False,
    )
    if results.short:
        console.print("short run: proves that it works, its numbers mean nothing", style="yellow")
    tables = [
        results.ceiling and ceiling_table(results.ceiling),
        results.truth and truth_table(results.truth),
        results.summary and summary_table(results.summary),
        results.statistics and inference_table(results.statistics),
        results.probe_cost and probe_table(results.probe_cost),
    ]
    for table in filter(None, tables):
        console.print(table)
    for name, reason in results.missing.items():
        console.print(f"missing: {name}: {reason}", highlight=False)
    for name, reason in results.failures.items():
        console.print(f"failed: {name}: {reason}", style="red", highlight=False)
    for reason in results.truth.failures if results.truth else ():
        console.print(f"not measured: {reason}", highlight=False)


def ceiling_table(found: Ceiling) -> Table:
    """Return requests per second and core by tool, fastest first."""
    table = _table(
        f"Ceiling: recorded requests per second and core ({found.connections} connections, "
        f"{found.body_bytes} B)",
        ("tool", "req/s", "from", "to", "ours / tool", "server CPU"),
    )
    ours = found.requests_per_s[OURS]
    for tool, rate in sorted(found.requests_per_s.items(), key=lambda each: -each[1].median):
        ratio = paired_ratio(ours, rate)
        table.add_row(
            tool,
            *(f"{value:,.0f}" for value in (rate.median, rate.low, rate.high)),
            _times(ratio) if tool != OURS else "",
            f"{found.server_cpu_share[tool].median:.0%}",
        )
    return table


def truth_table(found: Truth) -> Table:
    """Return recorded beside computed percentiles; of several rounds the medians."""
    table = _table(
        f"Truth: latency from intended start in ms (law {found.law}, freeze "
        f"{found.frozen_s:g} s, ceiling {found.ceiling_per_s:,.0f}/s)",
        ("server", "tool", "share", "percentile", "recorded", "truth", "error", "net of the way"),
    )
    runs = sorted(found.runs, key=lambda run: (run.share, run.server != "law", run.tool))
    for (share, server, tool), group in groupby(
        runs, key=lambda run: (run.share, run.server, run.tool)
    ):
        rounds = list(group)
        for place, row in enumerate(rounds[0].rows):
            rows = [run.rows[place] for run in rounds]
            recorded = _median([each.recorded_us for each in rows])
            truth = _median([each.computed_us for each in rows])
            expected = [each.expected_us for each in rows if each.expected_us is not None]
            net = _error(recorded, _median(expected)) if expected else ""
            table.add_row(
                server if place == 0 else "",
                tool if place == 0 else "",
                f"{share:.0%}" if place == 0 else "",
                f"p{row.percentile:g}",
                f"{recorded / 1e3:,.3f}",
                f"{truth / 1e3:,.3f}",
                _error(recorded, truth),
                net,
            )
    return table


def summary_table(found: Summary) -> Table:
    """Return what summarising takes by number of requests."""
    table = _table(
        f"Summary: {found.checks} checks and {found.measures} measures of one bundle",
        ("requests", "wall (s)", "CPU (s)", "peak (MiB)", "requests per s"),
    )
    for run in found.runs:
        table.add_row(
            f"{run.requests:,}",
            f"{run.wall_s.median:.2f}",
            f"{run.cpu_s.median:.2f}",
            f"{run.peak_rss_mib.median:,.0f}",
            f"{run.requests / run.wall_s.median:,.0f}",
        )
    if found.dashboard_wall_s is not None and found.dashboard_samples is not None:
        wall_s = found.dashboard_wall_s.median
        table.add_row(
            f"JMeter's dashboard: {found.dashboard_samples:,}",
            f"{wall_s:.2f}",
            f"{found.dashboard_cpu_s.median:.2f}" if found.dashboard_cpu_s else "",
            "",
            f"{found.dashboard_samples / wall_s:,.0f}",
        )
    return table


def inference_table(found: Inference) -> Table:
    """Return the error rates of the statistics."""
    table = _table("Statistics: by simulation", ("method", "case", "found", "stated", "trials"))
    for rate in found.rates:
        stated = f"{rate.bound} {rate.nominal:.0%}"
        table.add_row(rate.method, rate.name, f"{rate.share:.1%}", stated, f"{rate.trials:,}")
    return table


def probe_table(found: ProbeCost) -> Table:
    """Return what the probes cost."""
    table = _table("Cost of the probes", ("what", "value"))
    for name, value in found.metrics.items():
        table.add_row(name, f"{value:.4g}")
    return table


def _table(title: str, columns: Sequence[str]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold")
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number == 0 else "right")
    return table


def _median(values: Sequence[float]) -> float:
    return Repeated(values=tuple(values)).median


def _error(recorded: float, truth: float) -> str:
    """Return the error in microseconds and percent."""
    return f"{recorded - truth:+,.0f} µs ({(recorded - truth) / truth:+.1%})" if truth else ""


def _times(ratio: Repeated) -> str:
    return f"{ratio.median:.2f} ({ratio.low:.2f} to {ratio.high:.2f})"
