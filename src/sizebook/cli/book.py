"""``sizebook book``: a whole book within a given time."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from sizebook.cli.build import bring_lacking
from sizebook.cli.inventories import INVENTORY, use_inventory
from sizebook.cli.output import say
from sizebook.cli.run import Line, summary
from sizebook.store import find_project

if TYPE_CHECKING:
    from sizebook.book.chapters import Chapter
    from sizebook.book.notebooks import RunOutcome
    from sizebook.budget.measuring import Spent
    from sizebook.budget.minutes import Deadline
    from sizebook.budget.planning import BudgetPlan
    from sizebook.store import Project

_PAGES_BESIDE = 2
"""Pages made at a time."""


def book(
    budget: str = typer.Option(
        "60", help="Time until the book is ready: minutes, hours such as 8h, or none."
    ),
    profile: str = typer.Option("quick", help="quick or full; smoke for a trial run."),
    inventory: Path = INVENTORY,
    since: float = typer.Option(
        0.0, help="When the time began, in seconds since 1970; 0: now. For the Makefile."
    ),
) -> None:
    """Measure what decides most in the given time, and build the whole book.

    A book to read is built first, of published pages. Then chapters are measured: what decides most
    claims per minute first, by the published effects and spreads. At the end, and on Ctrl-C, their
    pages are made anew of what was measured so far. Asked again, it goes on where it stopped.
    """
    from sizebook.book.site import build_site
    from sizebook.budget.minutes import Deadline, parse_budget
    from sizebook.budget.planning import plan_budget

    seconds = parse_budget(budget)
    use_inventory(inventory)
    project = find_project()
    deadline = Deadline(time.monotonic() + seconds - (time.time() - since if since else 0.0))
    bring_lacking(project)
    say(f"to read meanwhile: {build_site(project.root, partial=True)}")
    plan = plan_budget(project, profile, tries=True)
    say(f"{max(0.0, deadline.left_s) / 60:.0f} min are left", aside=True)
    spent = _measure(project, plan, deadline)
    failed = _make_pages(project, plan_budget(project, profile).pages())
    say(f"the book: {build_site(project.root, partial=True)}")
    say(spent.words)
    if failed or spent.interrupted:
        raise typer.Exit(1)


def _measure(project: Project, plan: BudgetPlan, deadline: Deadline) -> Spent:
    from sizebook.budget.measuring import measure_steps

    line = Line()

    def tell(words: str) -> None:
        line.close()
        say(words, aside=True)

    show = line.show if sys.stderr.isatty() else _nothing
    return measure_steps(project, plan.profile, plan.steps, plan.notes, deadline, tell, show)


def _nothing(_words: str, _done: int, _total: int) -> None:
    """Show nothing: in a log the steps are enough."""


def _make_pages(project: Project, pages: Sequence[tuple[Chapter, Mapping[str, Any]]]) -> int:
    """Make the pages of what was measured so far; return how many failed."""
    from sizebook.book.notebooks import run_chapter

    def make(page: tuple[Chapter, Mapping[str, Any]]) -> RunOutcome:
        return run_chapter(project.root, *page, so_far=True)

    failed = 0
    with ThreadPoolExecutor(_PAGES_BESIDE) as beside:
        for outcome in beside.map(make, pages):
            say(summary(outcome))
            failed += outcome.state == "failed"
    return failed
