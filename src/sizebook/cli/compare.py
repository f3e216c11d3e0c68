"""``sizebook compare A B``: two runs beside each other, what differs before what was found."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer

from sizebook.cli.output import print_json, print_table, say
from sizebook.model.errors import UsageError, UserError
from sizebook.store import Project, find_project

if TYPE_CHECKING:
    from sizebook.book.compared.comparison import (
        ClaimPair,
        ComparedEstimate,
        MetricKind,
        MetricPair,
        RunComparison,
        SideFacts,
    )

REFUSED = 2
_MOST_SHOWN = 20


def compare(
    a: str = typer.Argument("published", help="own, published, a date, a crate, or a folder."),
    b: str = typer.Argument("own", help="The same; ratios are B / A."),
    chapter: list[str] = typer.Option([], "--chapter", help="Only this chapter; may be repeated."),
    tolerance: float = typer.Option(
        None, help="Share by which runs may differ, such as 0.05; without it by the machines."
    ),
    versions: bool = typer.Option(
        False, "--versions", help="Compare claims across versions of a chapter too."
    ),
    check: bool = typer.Option(
        False, "--check", help="Exit with 1 if a claim differs or a metric is beyond tolerance."
    ),
    every: bool = typer.Option(False, "--all", help="Print every claim and metric."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON for another program."),
    schema: bool = typer.Option(False, "--schema", help="Print the JSON's schema and do nothing."),
) -> None:
    """Compare two runs: claim by claim, then metric by metric, with intervals of the ratios.

    A and B are each: own (this checkout's run), published (the newest round), a round's date or
    folder, a crate, or a folder with executed notebooks. Measures nothing. Exit code 0 if
    something was compared, 1 with --check if it differs, 2 if all was refused.
    """
    from sizebook.book.compared.comparing import compare_runs
    from sizebook.book.compared.comparison import RunComparison
    from sizebook.book.compared.sides import open_side

    if schema:
        print_json(RunComparison.model_json_schema())
        return
    if tolerance is not None and not 0 < tolerance < 1:
        _refuse(
            UsageError(
                found=f"--tolerance {tolerance}",
                expected="a share above 0 and below 1, such as 0.05",
                next_step="leave it out to take that of the machines",
            )
        )
    with tempfile.TemporaryDirectory(prefix="sizebook-compare-") as folder:
        try:
            project = _try_project()
            places = [Path(folder).resolve() / name for name in ("a", "b")]
            for place in places:
                place.mkdir()
            sides = []
            for letter, name, place in zip("AB", (a, b), places, strict=True):
                say(f"compare: reading {letter}, {name}", aside=True)
                sides.append(open_side(name, project, place))
            say("compare: comparing claims and metrics of both", aside=True)
            ratio = 1 + tolerance if tolerance is not None else None
            found = compare_runs(*sides, chapters=chapter, tolerance=ratio, versions=versions)
        except UserError as error:
            _refuse(error)
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        _show(found, every)
    if not found.chapters:
        raise typer.Exit(REFUSED)
    raise typer.Exit(1 if check and found.beyond else 0)


def _refuse(error: UserError) -> NoReturn:
    say(f"sizebook: {error}", aside=True)
    raise typer.Exit(REFUSED)


def _try_project() -> Project | None:
    try:
        return find_project()
    except UsageError:
        return None


def _show(found: RunComparison, every: bool) -> None:

    for letter, side in (("A", found.a), ("B", found.b)):
        say(f"{letter}: {_side_words(side)}")
    _show_closeness(found)
    if found.differences:
        say()
        say("What differs:")
        print_table([{"what": each.what, "A": each.a, "B": each.b, "which means": each.meaning,
                      "in": ", ".join(each.chapters) or "all"}
                     for each in found.differences])  # fmt: skip
    elif found.chapters:
        say()
        say("Nothing differs in machine, JVM, stack, harness or parameters.")
    if found.refused:
        say()
        say("Not compared:")
        print_table([{"chapter": each.chapter, "found": each.found, "expected": each.expected,
                      "next": each.next_step} for each in found.refused])  # fmt: skip
    if not found.chapters:
        say()
        say("Nothing could be compared.")
        return
    _show_claims(found, every)
    _show_metrics(found, every)


def _side_words(side: SideFacts) -> str:
    days = " to ".join(dict.fromkeys(side.dates)) or "no trials at hand"
    words = f"{side.name} ({days}; trials {side.trials}, chapters {len(side.chapters)}"
    words += f", {side.missing} more not at hand" if side.missing else ""
    return f"{words}); {'; '.join(side.machines) or 'machine not known'}"


def _show_closeness(found: RunComparison) -> None:
    groups: dict[tuple[str, float | None], list[str]] = {}
    for pair in found.chapters:
        groups.setdefault((pair.closeness, pair.tolerance), []).append(pair.chapter)
    for (closeness, tolerance), chapters in groups.items():
        allowed = "claims alone are compared"
        if tolerance is not None:
            allowed = f"the same within {100 * (tolerance - 1):.3g} %"
        say(f"{closeness}: {allowed} ({', '.join(chapters)})")
    if same := [pair.chapter for pair in found.chapters if pair.same_trials]:
        say(f"the very same trials on both sides: {', '.join(same)}")


def _show_claims(found: RunComparison, every: bool) -> None:
    counts = found.count_claims()
    words = ", ".join(f"{number} {name}" for name, number in counts.items() if number)
    say()
    say(f"Claims: {words or 'none'}")
    shown = [each for each in found.claims if every or _tells(each)]
    if shown:
        print_table([_claim_row(each) for each in shown])
    if len(shown) < len(found.claims):
        say(f"{len(found.claims) - len(shown)} claims that neither run decides: --all shows them")


def _tells(each: ClaimPair) -> bool:
    """Return whether at least one run decided a claim."""
    decided = ("confirmed", "contradicted")
    return any(side is not None and side.verdict in decided for side in (each.a, each.b))


def _claim_row(each: ClaimPair) -> dict[str, str]:
    sides = {name: f"{side.verdict} {_ratio(side.effect)}".strip() if side else "missing"
             for name, side in (("A", each.a), ("B", each.b))}  # fmt: skip
    return {"claim": each.claim_id, "chapter": each.chapter, **sides,
            "": each.agreement, "why": each.why}  # fmt: skip


def _show_metrics(found: RunComparison, every: bool) -> None:
    for kind, counts in found.count_metrics().items():
        rows = [each for each in found.metrics if each.kind == kind]
        if not rows:
            say()
            say(f"{_TITLES[kind]}: none that both have")
            continue
        words = ", ".join(f"{number} {name}" for name, number in counts.items() if number)
        say()
        say(f"{_TITLES[kind]}, B / A: {words}")
        telling = rows if every else _telling(rows)
        print_table([_metric_row(each) for each in telling])
        if len(telling) < len(rows):
            say(f"{len(rows) - len(telling)} more: --all shows them")


_TITLES: dict[MetricKind, str] = {
    "treatment ratio": "Ratios of treatments",
    "processor time": "Processor time per request",
    "absolute": "Throughput and latency",
}


def _telling(rows: Sequence[MetricPair]) -> list[MetricPair]:
    """Return the rows beyond tolerance first, then the others, as many as are read at a glance."""
    order = ("beyond", "open", "within", "not judged")
    return sorted(rows, key=lambda each: order.index(each.judged))[:_MOST_SHOWN]


def _metric_row(each: MetricPair) -> dict[str, str]:
    unit = f" {each.unit}" if each.unit else ""
    metric = f"{each.metric} ({each.claim_id})" if each.claim_id else each.metric
    return {
        "chapter": each.chapter,
        "metric": metric,
        "treatment": " ".join(_given(each.experiment, each.treatment)),
        "A": f"{_number(each.a.estimate)}{unit} (n = {each.a.n})",
        "B": f"{_number(each.b.estimate)}{unit} (n = {each.b.n})",
        "B / A": _ratio(each.ratio),
        "": each.judged,
    }


def _given(*words: str) -> Iterable[str]:
    return (word for word in words if word)


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:,.4g}"


def _ratio(found: ComparedEstimate) -> str:
    from sizebook.report.claim_card import effect_words

    if found.estimate is None:
        return ""
    return effect_words(found.estimate, found.low, found.high, found.n)
