"""``sizebook book``: a whole book within a given time."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from sizebook.cli.build import bring_pages
from sizebook.cli.inventories import INVENTORY, use_inventory
from sizebook.cli.live import WEB, WEB_PORT, shown_live
from sizebook.cli.output import say
from sizebook.cli.run import ProgressShown, summary
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
    chapter: list[str] = typer.Argument(None, help="Ids of chapters; without one, all."),
    budget: str = typer.Option(
        "60", help="Time until the book is ready: minutes, hours such as 8h, or none."
    ),
    profile: str = typer.Option("quick", help="quick or full; smoke for a trial run."),
    inventory: Path = INVENTORY,
    since: float = typer.Option(
        0.0, help="When the time began, in seconds since 1970; 0: now. For the Makefile."
    ),
    web: bool = WEB,
    web_port: int = WEB_PORT,
) -> None:
    """Measure what decides most in the given time, and build the whole book.

    A book to read is built first, of published pages, unless one is there. Then chapters are
    measured: what decides most claims per minute first, by the published effects and spreads. At
    the end, and on Ctrl-C, their pages are made anew of what was measured so far. Asked again, it
    goes on where it stopped.
    """
    from sizebook.book.ledger.written import write_down
    from sizebook.book.site import build_site, site_index
    from sizebook.budget.minutes import Deadline, parse_budget
    from sizebook.budget.planning import plan_budget
    from sizebook.lab.profiles import get_profile

    seconds = parse_budget(budget)
    get_profile(profile)
    use_inventory(inventory)
    project = find_project()
    deadline = Deadline(time.monotonic() + seconds - (time.time() - since if since else 0.0))
    index = site_index(project.root)
    if not index.is_file():
        bring_pages(project, lambda name: not _is_own(project, name))
        build_site(project.root, partial=True)
    say(f"to read meanwhile: {index}")
    plan = plan_budget(project, profile, chapter or [], tries=True)
    for name, why in plan.left_out.items():
        say(f"{name}: not planned: {why}", aside=True)
    for each in plan.planned if plan.profile.publishable else ():
        write_down(project.root, each.chapter.notebook)
    with shown_live(web, web_port):
        spent = _measure(project, plan, deadline)
    failed = _make_pages(project, plan_budget(project, profile, chapter or []).pages())
    bring_pages(project, lambda name: not _is_own(project, name))
    say(f"the book: {build_site(project.root, partial=True)}")
    say(spent.words)
    if failed or spent.interrupted:
        raise typer.Exit(1)


def _is_own(project: Project, chapter: str) -> bool:
    """Return whether there is a page of a chapter and something of it was measured here."""
    page = project.chapters / f"{chapter}.ipynb"
    return page.exists() and (project.runs / chapter).is_dir()


def _measure(project: Project, plan: BudgetPlan, deadline: Deadline) -> Spent:
    from sizebook.budget.measuring import measure_steps

    line = ProgressShown()

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
