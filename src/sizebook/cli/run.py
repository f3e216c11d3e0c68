"""``sizebook run``: measure chapters and execute their notebooks into pages."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from sizebook.cli.inventories import INVENTORY, use_inventory
from sizebook.cli.live import WEB, WEB_PORT, shown_live
from sizebook.cli.output import say
from sizebook.cli.own_locustfile import list_settings, measure_own, refuse_together
from sizebook.model.plain_text import show_plainly
from sizebook.store import find_project

if TYPE_CHECKING:
    from sizebook.book.chapters import Chapter
    from sizebook.book.failures import Failures
    from sizebook.book.notebooks import ProgressLine, RunOutcome


_OWN = "With --locustfile: "
"""How the help of an option begins that chapters do not have."""
_BESIDE = 3
"""Chapters taken as published at a time; two or three in all have to be executed for that."""


def run(
    chapter: list[str] = typer.Argument(None, help="Ids of chapters; without one, all."),
    profile: str = typer.Option("quick", help="smoke, quick or full."),
    source: str = typer.Option("measure", help="measure, published, or a folder of bundles."),
    param: list[str] = typer.Option(
        [],
        "--param",
        "-p",
        help="name=value, may be repeated; a locustfile's arguments, too.",
    ),
    force: bool = typer.Option(
        False, help="Execute notebooks, and try what failed, even if nothing changed."
    ),
    inventory: Path = INVENTORY,
    web: bool = WEB,
    web_port: int = WEB_PORT,
    locustfile: Path | None = typer.Option(
        None, "--locustfile", "-f", help="Measure this locustfile at once, without a chapter."
    ),
    host: str = typer.Option(
        None, "--host", "-H", help=f"{_OWN}base URL of the running system; else the class's host."
    ),
    users: int = typer.Option(None, "--users", "-u", min=1, help=f"{_OWN}users (10)."),
    seconds: float = typer.Option(
        None, "--seconds", "-t", min=1.0, help=f"{_OWN}measured phase in seconds (30)."
    ),
    warmup: float = typer.Option(None, min=0.0, help=f"{_OWN}warm-up in seconds (5)."),
    ramp: float = typer.Option(
        None, min=0.0, help=f"{_OWN}seconds before it, over which users join one by one (0)."
    ),
    think: float = typer.Option(
        None, min=0.0, help=f"{_OWN}mean pause of users without a wait_time, in seconds (0)."
    ),
    tags: str = typer.Option(None, "--tags", "-T", help=f"{_OWN}only tasks with these, by commas."),
    exclude_tags: str = typer.Option(
        None, "--exclude-tags", "-E", help=f"{_OWN}no tasks with these, by commas."
    ),
    user_class: list[str] = typer.Option(
        [], "--user-class", help=f"{_OWN}only this class; may be repeated."
    ),
    failed_share: float = typer.Option(
        None, min=0.0, max=1.0, help=f"{_OWN}share of requests that may fail (0)."
    ),
    workers: int = typer.Option(
        None, min=1, help=f"{_OWN}generator processes that share the users (1)."
    ),
    seed: int = typer.Option(None, help=f"{_OWN}seed of the pauses that --think asks for (1)."),
    out: Path = typer.Option(
        None, help=f"{_OWN}folder for the bundle (data/runs/trial, else ./sizebook-runs)."
    ),
    as_json: bool = typer.Option(False, "--json", help=f"{_OWN}print JSON for another program."),
) -> None:
    """Measure chapters and execute their notebooks into pages of the book.

    What is measured already is not measured again, unless a file that its load reads has changed.
    What failed is tried again, three times in all; --force tries it once more. Exit code 0 if every
    chapter ran, else 1: so it is where every trial of a chapter failed, or where no chapter asked
    for was published.

    With --locustfile, an ordinary Locust file is measured as it is, in one trial: no chapter, no
    project. It prints requests, findings, verdict and bundle. Exit code 0 if the trial completed
    (look at its verdict), 1 if it failed, 130 after Ctrl-C, which keeps what was measured.
    """
    own = {
        "--host": host,
        "--users": users,
        "--seconds": seconds,
        "--warmup": warmup is not None,
        "--ramp": ramp is not None,
        "--think": think is not None,
        "--tags": tags,
        "--exclude-tags": exclude_tags,
        "--user-class": user_class,
        "--failed-share": failed_share is not None,
        "--workers": workers,
        "--seed": seed is not None,
        "--out": out,
        "--json": as_json,
    }
    if locustfile is not None:
        chapters = {
            "chapters": chapter,
            "--profile": profile != "quick",
            "--source": source != "measure",
            "--force": force,
            "--inventory": inventory,
        }
        refuse_together(chapters, without=True)
        from sizebook.lab.own_load import OwnLoad

        settings = list_settings(param, tags, exclude_tags, user_class)
        load = OwnLoad(
            locustfile=locustfile,
            host=host or "",
            users=users,
            seconds=seconds,
            warm_up_s=warmup,
            ramp_s=ramp,
            think_s=think,
            failed_share=failed_share or 0.0,
            workers=workers or 1,
            seed=1 if seed is None else seed,
            settings=settings,
        )
        with shown_live(web, web_port):
            measure_own(load, out, as_json=as_json)
        return
    refuse_together(own, without=False)
    from sizebook.book.notebooks import run_chapter
    from sizebook.book.published.choosing import measures
    from sizebook.book.published.pages import SOURCE, bring_page
    from sizebook.cli.selection import select

    use_inventory(inventory)
    project = find_project()
    selected = select(project.root, chapter or [], profile, source, param)
    if param and source == "measure":
        from sizebook.book.planning import plan_chapter

        for one in selected:  # what makes no sense is said before anything runs
            plan_chapter(*one)
    bring = bring_page if source == SOURCE else run_chapter

    def take(one: tuple[Chapter, Mapping[str, Any]]) -> tuple[RunOutcome, str]:
        shown = ProgressShown()
        outcome = bring(project.root, *one, force=force, on_progress=shown.update)
        shown.close()
        return outcome, shown.pace

    failed = absent = 0
    with (
        shown_live(web, web_port),
        _in_turn(source == SOURCE, first=lambda one: not measures(one[0])) as in_turn,
    ):
        for outcome, pace in in_turn(take, selected):
            failures = _failures(project.root, outcome)
            say(summary(outcome, pace, failures.words))
            absent += outcome.state == "not published"
            missing = bool(chapter) and outcome.state == "not published"
            failed += outcome.state == "failed" or missing or failures.is_total
    if absent == len(selected):
        failed = absent
    if failed:
        say(f"sizebook: {failed} of {len(selected)} chapters failed", aside=True)
        raise typer.Exit(1)


def _failures(root: Path, outcome: RunOutcome) -> Failures:
    """Return which of a chapter's own trials failed; none where it shows no page."""
    from sizebook.book.failures import Failures, find_failures

    if outcome.page is None:
        return Failures()
    return find_failures(root, outcome.chapter, outcome.page)


@contextlib.contextmanager
def _in_turn(
    beside: bool, first: Callable[[tuple[Chapter, Mapping[str, Any]]], bool]
) -> Iterator[Callable[..., Iterable[Any]]]:
    """Give a ``map`` whose results come in order.

    What measures is done one after the other. Published pages are taken ``beside`` each other, and
    those that are executed begin ``first``: they take seconds.
    """
    if not beside:
        yield map
        return
    pool = ThreadPoolExecutor(_BESIDE)

    def in_turn(function: Callable[[Any], Any], ones: Sequence[Any]) -> Iterator[Any]:
        begun = {
            id(one): pool.submit(function, one)
            for one in sorted(ones, key=lambda one: not first(one))
        }
        return (begun[id(one)].result() for one in ones)

    try:
        yield in_turn
    finally:
        pool.shutdown(cancel_futures=True)


class ProgressShown:
    """Progress in one line of a terminal; in a log, a line a quarter of the way."""

    def __init__(self) -> None:
        from rich.console import Console

        self._console = Console(stderr=True, highlight=False, markup=False)
        self._shown = -1
        self._told: set[str] = set()
        self.pace = ""
        """How long measuring took and how much of it was load, once it is over."""

    def update(self, line: ProgressLine) -> None:
        from sizebook.lab.progress import FAILED  # loads the lab, which other commands do without

        if line.done == line.total and " of load" in line.label:
            self.pace = line.label
        label = line.label
        if label.startswith(FAILED):  # each reason once: the trials that follow often share it
            label = FAILED.rstrip(": ") if label in self._told else label
            self._told.add(line.label)
        left = "" if line.left_s is None else f", {_minutes(line.left_s)} left"
        self.show(
            f"{line.chapter}: {line.done}/{line.total} trials{left}; {label}", line.done, line.total
        )

    def show(self, words: str, done: int, total: int) -> None:
        """Show one line, in a log only a quarter of the ``total`` after the last."""
        text = show_plainly(words)
        if self._console.is_terminal:
            width = max(20, self._console.width - 1)
            print(f"\r{text[:width]:<{width}}", end="", file=sys.stderr, flush=True)
            self._shown = done
        elif total and done * 4 // total != self._shown:
            self._shown = done * 4 // total
            say(text, aside=True)

    def close(self) -> None:
        if self._console.is_terminal and self._shown >= 0:
            say(aside=True)


def _minutes(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d} min" if minutes else f"{rest} s"


def summary(outcome: RunOutcome, pace: str = "", failed: str = "") -> str:
    """Return what became of a chapter, in one line."""
    more = f"; {failed}" if failed else ""
    if outcome.state == "failed":
        where = f" in cell {outcome.cell}" if outcome.cell is not None else ""
        return f"{outcome.chapter}: failed{where}: {outcome.error}"
    note = f"; {outcome.note}" if outcome.note else ""
    if outcome.state == "up to date":
        return f"{outcome.chapter}: up to date{more}{note}"
    if outcome.state == "not published":
        return f"{outcome.chapter}: {outcome.error}"
    if outcome.state == "published":
        return f"{outcome.chapter}: taken as published"
    measured = f" (measured in {pace})" if pace else ""
    return f"{outcome.chapter}: ran in {_minutes(outcome.seconds)}{measured}{more}{note}"
