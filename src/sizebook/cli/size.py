"""``sizebook size``: what a load needs, by the model of a page that has a calculator."""

from __future__ import annotations

import math
import shlex
from dataclasses import asdict
from typing import TYPE_CHECKING, NoReturn

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
    limit_s = _positive(limit) / 1e3
    if statistic not in ("mean", "p95") or not limit_s:
        _refuse(
            f"--criterion {criterion}",
            "mean or p95, a colon, and milliseconds above 0, such as mean:500",
        )
    given = {"--users": users, "--rate": rate}
    asked = [f"{name} {one:g}" for name, one in given.items() if one is not None]
    if len(asked) != 1:
        _refuse(" and ".join(asked) or "neither --users nor --rate", "one of --users and --rate")
    if not _positive(users if rate is None else rate):
        _refuse(asked[0], "a number above 0")
    if not 0 <= think < math.inf:
        _refuse(f"--think {think:g}", "seconds, 0 or more")
    return Demanded(
        "mean" if statistic == "mean" else "p95",
        limit_s,
        users=users,
        think_s=think if users is not None else 0.0,
        rate_per_s=rate,
        spare_nodes=int(spare),
    )


def _positive(value: str | float | None) -> float:
    """Return a number above 0 that ends; 0 for anything else."""
    try:
        number = float(value or 0)
    except ValueError:
        return 0.0
    return number if 0 < number < math.inf else 0.0


def _refuse(found: str, expected: str) -> NoReturn:
    raise UsageError(
        found=found,
        expected=expected,
        next_step="for example sizebook size --users 300 --think 1 --criterion p95:500",
    )


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
