"""``sizebook gc``: a GC log of one's own as table, advice and plot."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from sizebook.cli.output import print_json, print_table, say
from sizebook.model.errors import UsageError

if TYPE_CHECKING:
    from sizebook.gclog import Advice, GcLog, GcSummary

_MOST_PLOTS = 20
"""Plots of runs that are written at once."""


def gc(
    file: Path = typer.Argument(help="A log that java -Xlog:gc*:file=gc.log wrote."),
    overhead: float = typer.Option(
        5.0, help="Advise the smallest heap that keeps the time in pauses below so many percent."
    ),
    run: int | None = typer.Option(None, help="Show one run of a log that holds several."),
    svg: Path | None = typer.Option(None, help="Write the plot of the heap and the pauses here."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON for another program."),
) -> None:
    """Read a GC log of HotSpot (Java 9 to 25, any collector): counters, findings, advice.

    Lines may carry a prefix (container runtimes, journals, wrappers, JSON), stand among other
    output, come from rotated files in any order, from a JVM that was restarted, or from several
    JVMs. Each run of a JVM gets its own counters, advice and plot. Lines of Java 8 are
    not read, but named.
    """
    from sizebook.gclog import advise, read_gc_log, summarise
    from sizebook.store.plain_files import need_plain

    if not 0 < overhead < 100:
        raise UsageError(
            found=f"--overhead {overhead:g}",
            expected="percent of the time, above 0 and below 100",
            next_step="leave it out for 5 %",
        )
    need_plain(file, "a GC log")
    log = read_gc_log(file)
    told = [_Told(one, found := summarise(one), advise(found, overhead / 100))
            for one in _chosen(log, run)]  # fmt: skip
    plots = _draw(told, svg) if svg is not None else []
    if as_json:
        print_json(_as_json(log, told, overhead / 100))
        return
    if log.strange_lines:
        say(f"{log.strange_lines:,} of {log.lines:,} lines are not of a GC log and left out.")
    if log.foreign is not None:
        say(f"{log.foreign.lines:,} of them are of {log.foreign}: no collection of theirs is read.")
    if len(told) == 1:
        _print(told[0])
    else:
        _print_runs(log, told)
    for path in plots:
        say(f"plot written to {path}")
    if len(plots) < len(told) and plots:
        say(f"plots of the first {len(plots)} runs only; draw another one with --run")


@dataclasses.dataclass(frozen=True)
class _Told:
    log: GcLog
    summary: GcSummary
    advice: Advice

    @property
    def name(self) -> str:
        [run] = self.log.runs
        return f"run {run.number}" + (f" ({run.jvm})" if run.jvm else "")


def _chosen(log: GcLog, run: int | None) -> Sequence[GcLog]:
    runs = log.split()
    if run is None:
        return runs
    if not 1 <= run <= len(runs):
        raise UsageError(
            found=f"--run {run}",
            expected=f"one of the log's runs, 1 to {len(runs)}",
            next_step="leave it out for all of them",
        )
    return [runs[run - 1]]


def _print(told: _Told) -> None:
    from sizebook.report.gc_charts import summary_rows

    for words in _gaps(told.log):
        say(words)
    print_table([{"": what, "counted": text} for what, text in summary_rows(told.summary)])
    for finding in told.advice.findings:
        say(f"{finding.weight}: {finding.words}")
    say(told.advice.words)
    if told.advice.heap_bytes is not None:
        say(f"advice: -Xmx{told.advice.heap_bytes >> 20}m for this load on this machine")


def _gaps(log: GcLog) -> list[str]:
    """Return what is missing of a run, in words."""
    [run] = log.runs
    cut = [
        word for word, is_cut in (("begin", run.is_cut.begin), ("end", run.is_cut.end)) if is_cut
    ]
    words = []
    if cut:
        words.append(f"The log is cut at its {' and its '.join(cut)}: what lies there is left out.")
    if run.lost:
        words.append(
            f"{run.lost:,} collections are missing within the log: no line of theirs can be read."
        )
    return words


def _print_runs(log: GcLog, every: Sequence[_Told]) -> None:
    """Print a row a run and their sum, then what is remarkable in each."""
    from sizebook.gclog import summarise
    from sizebook.report.gc_charts import run_row

    jvms = len({run.jvm for run in log.runs})
    of = f"of {jvms} JVMs" if jvms > 1 else "of a JVM"
    say(f"The log holds {len(every)} runs {of}. --run N shows one in full.")
    rows = [
        {"run": told.name.removeprefix("run "), "line": f"{told.log.runs[0].line:,}",
         **run_row(told.summary),
         "advice": f"-Xmx{told.advice.heap_bytes >> 20}m" if told.advice.heap_bytes else "–"}
        for told in every
    ]  # fmt: skip
    print_table([*rows, {"run": "all", "line": "", **run_row(summarise(log)), "advice": ""}])
    for told in every:
        for words in _gaps(told.log):
            say(f"{told.name}: {words}")
        for finding in told.advice.findings:
            say(f"{told.name}: {finding.weight}: {finding.words}")
        say(f"{told.name}: {told.advice.words}")


def _draw(every: Sequence[_Told], svg: Path) -> list[Path]:
    """Write a plot a run: to the path itself, or to one with the run's number in it."""
    from sizebook.report.chart import prepare_chart, render_svg
    from sizebook.report.gc_charts import gc_chart
    from sizebook.store.named_paths import writing

    written = []
    for told in every[:_MOST_PLOTS]:
        number = told.log.runs[0].number
        path = svg if len(every) == 1 else svg.with_name(f"{svg.stem}-run{number}{svg.suffix}")
        spec, _ = prepare_chart(gc_chart(told.log))
        with writing(path, "name another file with --svg"):
            path.write_text(render_svg(spec), encoding="utf-8")
        written.append(path)
    return written


def _as_json(log: GcLog, every: Sequence[_Told], overhead: float) -> dict[str, Any]:
    """Return each run, and at the top the log's only run or the sum of all."""
    from sizebook.gclog import advise, summarise

    whole = every[0].log if len(every) == 1 else log
    summary = summarise(whole)
    advice = every[0].advice if len(every) == 1 else advise(summary, overhead)
    return {
        "summary": dataclasses.asdict(summary),
        "advice": dataclasses.asdict(advice),
        "is_cut": dataclasses.asdict(whole.is_cut),
        "lines": log.lines,
        "strange_lines": log.strange_lines,
        "foreign": dataclasses.asdict(log.foreign) if log.foreign is not None else None,
        "collections": whole.collections.to_dicts(),
        "runs": [
            {
                **dataclasses.asdict(told.log.runs[0]),
                "summary": dataclasses.asdict(told.summary),
                "advice": dataclasses.asdict(told.advice),
            }
            for told in every
        ],
    }
