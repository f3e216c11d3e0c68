"""The results as tables on the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

import polars as pl
from rich.console import Console
from rich.table import Table

from bench.ceiling import OURS
from bench.frames import TRUTHS, parts_frame, planted_frame, truth_frame, within_counts
from bench.pairs import paired_ratio
from bench.records import OURS as OURS_OF_TRUTH
from bench.records import (
    Ceiling,
    GcLogs,
    Inference,
    Planted,
    ProbeCost,
    Repeated,
    Results,
    Summary,
    Truth,
    Turns,
)

SHORT = ("law", "way", "server")
"""The ``TRUTHS`` in a column's width: law alone, law and way, the server's clock."""


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
        parts_table(results.truth) if results.truth and has_parts(results.truth) else None,
        results.summary and summary_table(results.summary),
        results.statistics and inference_table(results.statistics),
        results.gc_logs and gc_logs_table(results.gc_logs),
        results.turns and turns_table(results.turns),
        results.planted and planted_table(results.planted),
        results.probe_cost and probe_table(results.probe_cost),
    ]
    for table in filter(None, tables):
        console.print(table)
    for line in within_lines(results.truth) if results.truth and results.truth.runs else ():
        console.print(line, highlight=False)
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
    """Return recorded percentiles less three truths; of several rounds the medians."""
    base = "open" if found.open_ceiling else "closed"
    table = _table(
        f"Truth: latency from intended start in ms ({base} ceiling {found.ceiling_per_s:,.0f}/s"
        f"{_closed(found)}), and in µs what is left of it; ! = more than 1 % and 50 µs, "
        "? = too few requests",
        ("server, tool, rate", "", "recorded", "truth", *(f"less {name}" for name in SHORT)),
    )
    for column in table.columns[1:]:
        column.no_wrap = True
    frame = truth_frame(found)
    keys = ("law", "server", "tool", "share", "rate")
    for key, group in frame.group_by(keys, maintain_order=True) if frame.height else ():
        law, server, tool, share, rate = key
        heads = [str(law), str(tool), f"{share:.0f}% = {rate:,.0f}/s"]
        if server == "freeze":
            heads.insert(1, f"frozen for {found.frozen_s:g} s")
        rows = list(group.iter_rows(named=True))
        for head, row in zip_longest(heads, rows):
            table.add_row(head or "", *(_truth_cells(row) if row else ()))
        table.add_section()
    return table


def _truth_cells(row: Mapping[str, Any]) -> list[str]:
    return [
        f"p{row['percentile']:g}",
        f"{row['recorded']:,.3f}",
        f"{row['truth']:,.3f}",
        *(_error(row, name) for name in TRUTHS),
    ]


def has_parts(found: Truth) -> bool:
    """Return whether the results tell the parts; those of version 1 do not."""
    return any(run.parts_us for run in found.runs)


def parts_table(found: Truth) -> Table:
    """Return where recorded latency less the law's delay comes from."""
    table = _table(
        "Truth: what is in the recorded latency besides the law's delay, in µs",
        ("law", "rate", "part", "p50", "p99", "p99.9"),
    )
    for row in parts_frame(found).iter_rows(named=True):
        table.add_row(
            row["law"],
            f"{row['share']:.0f}% = {row['rate']:,.0f}/s",
            row["part"],
            *(f"{row[name]:,.0f}" for name in ("p50", "p99", "p99.9")),
        )
    return table


def within_lines(found: Truth) -> list[str]:
    """Return how many percentiles of each law, and of the freeze, keep what is allowed."""
    ours = truth_frame(found).filter(pl.col("tool") == OURS_OF_TRUTH)
    return [
        f"{law}{', freeze' if server == 'freeze' else ''}: within 1 % or 50 µs of "
        + ", ".join(f"{TRUTHS[name]} {k} of {n}" for name, (k, n) in within_counts(part).items())
        for (law, server), part in ours.group_by("law", "server", maintain_order=True)
    ]


def _closed(found: Truth) -> str:
    return f", closed {found.closed_per_s:,.0f}/s" if found.closed_per_s else ""


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


def turns_table(found: Turns) -> Table:
    """Return one row a block: how far two equal stacks differ, both ways."""
    table = Table(
        title=f"two equal stacks, {found.side_s:.0f} s a side; in truth they do not differ"
    )
    heads = ("block", "in turns", "error by rounds", "speed wandered", "apart", "speed wandered")
    for head in heads:
        table.add_column(head, justify="right")
    for number, (turns, apart) in enumerate(zip(found.turns, found.apart, strict=True), 1):
        table.add_row(
            str(number),
            f"{turns.log_ratio:+.1%}",
            _share(turns.error),
            _share(turns.speed_sd),
            f"{apart.log_ratio:+.1%}",
            _share(apart.speed_sd),
        )
    sds = (found.sd(found.turns), found.sd(found.apart))
    table.add_row("sd", f"{sds[0]:.1%}", "", "", f"{sds[1]:.1%}", "", style="bold")
    levels = (found.level(found.turns), found.level(found.apart))
    table.add_row("requests/s", f"{levels[0]:,.0f}", "", "", f"{levels[1]:,.0f}", "")
    return table


def planted_table(found: Planted) -> Table:
    """Return what turns say of a stack that does more work, and of one that does not."""
    table = Table(
        title=f"{found.more:.0%} more work planted, {len(found.blocks)} blocks, "
        f"{found.side_s:.0f} s a side"
    )
    for head in ("side", "rate over the first's", "from", "to", "told by four blocks"):
        table.add_column(head, justify="right")
    for row in planted_frame(found).iter_rows(named=True):
        ends = ("–" if row[end] is None else f"{row[end]:.4f}" for end in ("low", "high"))
        words = f"{row['told']} of {row['choices']}" if row["choices"] else "–"
        table.add_row(row["side"], f"{row['ratio']:.4f}", *ends, words)
    return table


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"


def gc_logs_table(found: GcLogs) -> Table:
    """Return what reading GC logs takes beside a loop over their lines."""
    table = _table(
        "GC logs: whole processes, ours beside a loop over lines that finds pauses alone",
        ("log", "lines", "MiB", "ours (s)", "loop (s)", "loop / ours", "peak (MiB)"),
    )
    for run in found.runs:
        table.add_row(
            run.log,
            f"{run.lines:,}",
            f"{run.size_mib:,.0f}",
            f"{run.ours_s.median:.2f}",
            f"{run.loop_s.median:.2f}",
            _times(paired_ratio(run.loop_s, run.ours_s)),
            f"{run.ours_peak_mib:,.0f}",
        )
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


def _error(row: Mapping[str, Any], name: str) -> str:
    """Return the error against one truth in microseconds, marked if it is too large."""
    error = row[f"{name}_error"]
    if error is None:
        return ""
    mark = {True: " ", False: "!", None: "?"}[row[f"within_{name}"]]
    return f"{error:+,.0f} {mark}"


def _times(ratio: Repeated) -> str:
    return f"{ratio.median:.2f} ({ratio.low:.2f} to {ratio.high:.2f})"
