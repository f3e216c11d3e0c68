"""``sizebook plan``: the trials of chapters and the time they should take, before a run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from sizebook.cli.inventories import INVENTORY, use_inventory
from sizebook.cli.output import print_json, print_table, say
from sizebook.store import find_project

if TYPE_CHECKING:
    from sizebook.book.planning import PlannedChapter
    from sizebook.book.too_small import TooSmall
    from sizebook.store import Project


def plan(
    chapter: list[str] = typer.Argument(None, help="Ids of chapters; without one, all."),
    profile: str = typer.Option("quick", help="smoke, quick or full."),
    param: list[str] = typer.Option([], "--param", "-p", help="name=value, may be repeated."),
    inventory: Path = INVENTORY,
    budget: str = typer.Option(
        "", help="What 'sizebook book' would measure in this time, such as 60, 8h or none."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print JSON for another program."),
) -> None:
    """Say which trials a run would measure and how long it should take; measures nothing.

    Warns of claims whose least effect that matters is smaller than the planned blocks can show, by
    the spread of the published round.
    """
    from sizebook.book.planning import plan_chapter
    from sizebook.book.too_small import find_too_small
    from sizebook.cli.selection import select

    use_inventory(inventory, shown=not as_json)
    project = find_project()
    root = project.root
    if budget:
        _print_budget(project, budget, profile, chapter or [], as_json=as_json)
        return
    planned = [
        plan_chapter(each, parameters)
        for each, parameters in select(root, chapter or [], profile, "measure", param)
    ]
    small = {each.chapter.id: find_too_small(project, each) for each in planned}
    if as_json:
        print_json([_as_json(each, small[each.chapter.id]) for each in planned])
        return
    print_table([_as_row(each) for each in planned], title=f"profile {profile}")
    total = sum(each.missing_s for each in planned)
    say(f"to measure: {total / 60:.1f} min (set-up and building the book come on top)")
    if assumed := dict.fromkeys(words for each in planned for words in each.assumed):
        say(f"not tried here yet, taken for granted: {', '.join(assumed)}; 'sizebook doctor' tries")
    for words in (words for each in planned for words in each.remarks):
        say(words)
    for claim in (one for each in small.values() for one in each):
        say(f"warning: {claim.sentence}")


def _print_budget(
    project: Project, budget: str, profile: str, chapters: Sequence[str], *, as_json: bool
) -> None:
    """Print what would be measured in a given time, in its order."""
    from sizebook.budget.minutes import parse_budget
    from sizebook.budget.planning import plan_budget

    seconds = parse_budget(budget)
    chosen = plan_budget(project, profile, chapters).within(seconds)
    rows = [
        {
            "chapters": sorted(step.chapters),
            "experiments": list(dict.fromkeys(one.experiment for _, one in step.sessions)),
            "fresh starts": len(step.sessions),
            "minutes": round(step.seconds / 60, 1),
            "decisions": round(step.decisions, 1),
        }
        for step in chosen
    ]
    if as_json:
        print_json(rows)
        return
    words = [
        {name: ", ".join(told) if isinstance(told, list) else str(told)
         for name, told in row.items()}
        for row in rows
    ]  # fmt: skip
    print_table(words, title=f"profile {profile}, in this order")
    minutes = sum(step.seconds for step in chosen) / 60
    say(
        f"{minutes:.1f} min of measuring should decide {sum(s.decisions for s in chosen):.0f} "
        "claims (set-up and building the book come on top)"
    )


def _as_row(each: PlannedChapter) -> dict[str, str]:
    return {
        "chapter": each.chapter.id,
        "trials": str(each.trials),
        "on disk": str(each.trials - each.missing_trials),
        "to measure": str(each.missing_trials),
        "fresh starts": str(len(each.missing)),
        "minutes": f"{each.missing_s / 60:.1f}",
    }


def _as_json(each: PlannedChapter, small: Sequence[TooSmall]) -> dict[str, object]:
    return {
        "chapter": each.chapter.id,
        "trials": each.trials,
        "missing": each.missing_trials,
        "seconds": round(each.missing_s, 1),
        "assumed": list(each.assumed),
        "remarks": list(each.remarks),
        "too_small": [
            {**asdict(claim), "width": claim.width if math.isfinite(claim.width) else None}
            for claim in small
        ],
        "sessions": [
            {
                "experiment": session.experiment,
                "replicate": session.replicate,
                "seconds": session.planned_s(),
                "treatments": [dict(trial.treatment) for trial in session.trials],
            }
            for session in each.missing
        ],
    }
