"""``sizebook gc``: a GC log of one's own as table, advice and plot."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from sizebook.cli.output import print_json, print_table
from sizebook.model.errors import UsageError

if TYPE_CHECKING:
    from sizebook.gclog import Advice, GcLog, GcSummary


def gc(
    file: Path = typer.Argument(help="A log that java -Xlog:gc*:file=gc.log wrote."),
    overhead: float = typer.Option(
        5.0, help="Advise the smallest heap that keeps the time in pauses below so many percent."
    ),
    svg: Path | None = typer.Option(None, help="Write the plot of the heap and the pauses here."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON for another program."),
) -> None:
    """Read a GC log of HotSpot (Java 9 or later, any collector): counters, findings, advice."""
    from sizebook.gclog import advise, read_gc_log, summarise

    if not 0 < overhead < 100:
        raise UsageError(
            found=f"--overhead {overhead:g}",
            expected="percent of the time, above 0 and below 100",
            next_step="leave it out for 5 %",
        )
    log = read_gc_log(file)
    summary = summarise(log)
    advice = advise(summary, overhead / 100)
    if svg is not None:
        _draw(log, svg)
    if as_json:
        print_json(_as_json(log, summary, advice))
    else:
        _print(log, summary, advice)
        if svg is not None:
            print(f"plot written to {svg}")


def _print(log: GcLog, summary: GcSummary, advice: Advice) -> None:
    from sizebook.report.gc_charts import summary_rows

    cut = [
        word for word, is_cut in (("begin", log.is_cut.begin), ("end", log.is_cut.end)) if is_cut
    ]
    if cut:
        print(f"The log is cut at its {' and its '.join(cut)}: what lies there is left out.")
    if log.strange_lines:
        print(f"{log.strange_lines:,} of {log.lines:,} lines are not of a GC log and left out.")
    print_table([{"": what, "counted": text} for what, text in summary_rows(summary)])
    for finding in advice.findings:
        print(f"{finding.weight}: {finding.words}")
    print(advice.words)
    if advice.heap_bytes is not None:
        print(f"advice: -Xmx{advice.heap_bytes >> 20}m for this load on this machine")


def _draw(log: GcLog, svg: Path) -> None:
    from sizebook.report.chart import prepare_chart, render_svg
    from sizebook.report.gc_charts import gc_chart

    spec, _ = prepare_chart(gc_chart(log))
    try:
        svg.write_text(render_svg(spec), encoding="utf-8")
    except OSError as error:
        raise UsageError(
            found=f"--svg {svg}: {error.strerror}",
            expected="a file that can be written",
            next_step="name another one",
        ) from error


def _as_json(log: GcLog, summary: GcSummary, advice: Advice) -> dict[str, Any]:
    return {
        "summary": dataclasses.asdict(summary),
        "advice": dataclasses.asdict(advice),
        "is_cut": dataclasses.asdict(log.is_cut),
        "lines": log.lines,
        "strange_lines": log.strange_lines,
        "collections": log.collections.to_dicts(),
    }
