"""``sizebook size``: what a load needs, by the model of a page that has a calculator."""

from __future__ import annotations

import math
import shlex
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from sizebook.cli.output import print_json, say
from sizebook.model.errors import UsageError, UserError
from sizebook.store import find_project

if TYPE_CHECKING:
    from sizebook.stats.sizing import Demanded, SizingModel
    from sizebook.store import Project


def size(
    users: float | None = typer.Option(None, help="Users who think between two requests."),
    think: float = typer.Option(1.0, help="Mean think time of a user, in seconds."),
    rate: float | None = typer.Option(
        None, help="Requests or messages a second that come at random; instead of users."
    ),
    criterion: str = typer.Option(
        "mean:500", help="Statistic and limit in ms: mean:500, or p95:2000."
    ),
    spare: bool = typer.Option(False, "--spare", help="One node may fail."),
    chapter: str | None = typer.Option(
        None, help="Chapter whose calculator answers; needed where several have one."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print JSON for another program."),
) -> None:
    """Say how many CPUs, nodes and how much heap a load needs to keep a response criterion.

    By the model that a chapter fitted when it was run last; what lies outside of what was measured
    is said.
    """
    from sizebook.report import calculator
    from sizebook.stats import sizing

    asked = _question(users, think, rate, criterion, spare)
    model = _model(find_project(), chapter)
    said = calculator.answer(model, asked)
    if as_json:
        found = asdict(sizing.size(model, asked))
        print_json({"asked": asdict(asked), "answer": found, "outside": list(said.outside)})
        return
    width = max(map(len, calculator.LABELS.values()))
    for key, words in said.parts.items():
        say(f"{calculator.LABELS[key]:{width}}  {words}")
    for words in said.outside:
        say(f"{calculator.OUTSIDE_TITLE}{words}")


def _question(
    users: float | None, think: float, rate: float | None, criterion: str, spare: bool
) -> Demanded:
    from sizebook.stats.sizing import Demanded

    statistic, _, limit = criterion.partition(":")
    try:
        limit_s = float(limit) / 1e3
        if statistic not in ("mean", "p95"):
            raise ValueError(f"statistic {statistic!r}")
        if not all(math.isfinite(one or 0) for one in (limit_s, users, think, rate)):
            raise ValueError("a number without end, or none")
        if think < 0:
            raise ValueError(f"--think {think}")
        return Demanded(
            "mean" if statistic == "mean" else "p95",
            limit_s,
            users=users,
            think_s=think if users is not None else 0.0,
            rate_per_s=rate,
            spare_nodes=int(spare),
        )
    except ValueError as error:
        raise UsageError(
            found=f"--criterion {criterion}, --users {users}, --rate {rate}: {error}",
            expected="either --users or --rate, above 0, and a criterion such as mean:500",
            next_step="for example sizebook size --users 300 --think 1 --criterion p95:500",
        ) from error


def _model(project: Project, chapter: str | None) -> SizingModel:
    """Return the model behind a page's calculator: that of ``chapter``, else the only one."""
    from sizebook.book.records import read_records
    from sizebook.report.calculator import KIND
    from sizebook.stats.sizing import SizingModel

    found = {
        page.stem: record
        for page in sorted(project.chapters.glob("*.ipynb"))
        if KIND in page.read_text(encoding="utf-8")
        for record in read_records(page).values()
        if record.kind == KIND and chapter in (None, page.stem)
    }
    if len(found) != 1:
        first = f"the calculators of {', '.join(found)}" if found else "no calculator"
        raise UserError(
            found=first + (f" in {chapter}" if chapter else ""),
            expected="one page with a model of this machine",
            next_step="sizebook size --chapter ID" if found else _how_to_get_one(project),
        )
    [(name, record)] = found.items()
    try:
        return SizingModel.from_record(record.fields["model"])
    except (KeyError, ValueError) as error:
        raise UserError(
            found=f"{name}, which holds no model that can be read: {error}",
            expected="the calculator of this version",
            next_step=f"sizebook run {shlex.quote(name)}",
        ) from error


def _how_to_get_one(project: Project) -> str:
    from sizebook.book.chapters import find_chapters

    able = [
        each.id
        for each in find_chapters(project.root)
        if "calculator.publish" in each.notebook.read_text(encoding="utf-8")
    ]
    run = f"sizebook run {shlex.quote(able[0])}" if able else "run a chapter that has one"
    return f"{run}; with too few valid trials it has none"
