"""``sizebook judge``: results of other load tools, judged by the rules that apply."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from sizebook.cli.output import print_json, print_table, say
from sizebook.model.errors import UsageError

if TYPE_CHECKING:
    from sizebook.judge import Judged
    from sizebook.judge.comparing import Compared


def judge(
    files: list[Path] = typer.Argument(
        help="Results of JMeter, k6, Gatling, Locust, wrk2, HdrHistogram, oha or vegeta."
    ),
    compare: bool = typer.Option(
        False, "--compare", help="Compare two files: second over first, with intervals."
    ),
    html: Path | None = typer.Option(None, help="Write the report as an HTML page here."),
    check: bool = typer.Option(
        False, "--check", help="End with exit code 1 if a rule finds something wrong."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print JSON for another program."),
) -> None:
    """Judge results of other load tools: what misleads in them, and what cannot be known.

    The tool is found by what is in the file: JMeter's JTL (CSV, XML), k6's samples (JSON, CSV) and
    summaries, Gatling's simulation.log up to 3.11, Locust's _stats.csv and _stats_history.csv,
    .hgrm, .hlog and wrk2's output, JSON of oha and vegeta.
    """
    from sizebook.judge import judge_results, read_results
    from sizebook.judge.page import render_page
    from sizebook.judge.summary import as_data
    from sizebook.store.named_paths import writing

    if compare and len(files) != 2:
        raise UsageError(
            found=f"{len(files)} files with --compare",
            expected="two: the one before and the one after",
            next_step="name two files, or leave --compare out",
        )
    every = [judge_results(read_results(file)) for file in files]
    compared = None
    if compare:
        from sizebook.judge.comparing import compare_results

        compared = compare_results(every[0], every[1])
    if html is not None:
        with writing(html, "name another file with --html"):
            html.write_text(render_page(every, compared), encoding="utf-8")
    if as_json:
        print_json(as_data(every, compared))
    else:
        _print(every, compared)
        if html is not None:
            say(f"report written to {html}")
    if check and any(judged.is_wrong for judged in every):
        raise typer.Exit(1)


def _print(every: Sequence[Judged], compared: Compared | None) -> None:
    from sizebook.judge.judging import rule_of, shared_warning
    from sizebook.judge.summary import compared_rows, figures

    for judged in every:
        say(f"{judged.results.path}: " + ", ".join(
            value if name == "written by" else f"{name} {value}" for name, value in figures(judged)
        ))  # fmt: skip
        for note in judged.results.notes:
            say(f"  assumed: {note}")
        for finding in judged.ranked:
            if finding.weight == "fine":
                continue
            say(f"  {finding.weight}: {finding.rule}: {finding.words}")
            if finding.weight == "wrong":
                say(f"    next: {rule_of(finding).remedy}")
        fine = [finding.rule.partition("-")[2] for finding in judged.of_weight("fine")]
        say(f"  fine: {', '.join(fine) if fine else 'nothing'}")
    if warning := shared_warning(every):
        say(warning)
    if compared is not None:
        say(f"second over first, 95 % intervals by {compared.method}:")
        print_table(compared_rows(compared))
        for note in compared.notes:
            say(note)
