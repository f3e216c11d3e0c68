"""``sizebook size``: what a load needs, by the model of a page that has a calculator."""

from __future__ import annotations

import datetime
import shlex
from typing import TYPE_CHECKING

import typer

from sizebook.cli import size_options, size_output
from sizebook.cli.output import print_json
from sizebook.cli.size_output import Emitted, ReadUsage
from sizebook.model.errors import UserError
from sizebook.store import find_project

if TYPE_CHECKING:
    from sizebook.stats.sizing import SizingModel
    from sizebook.store import Project


def size(
    users: float | None = typer.Option(None, help="Users who think between two requests."),
    think: float = typer.Option(1.0, help="Mean think time of a user, in seconds."),
    rate: float | None = typer.Option(
        None, help="Requests or messages a second that come at random; instead of users."
    ),
    source: str | None = typer.Option(
        None,
        "--from",
        metavar="FILE|URL",
        help="Take the rate from an access log (Common, Combined, JSON lines), or from "
        "a range query of Prometheus (its answer as JSON, or http://…/api/v1/query_range?…).",
    ),
    percentile: float = typer.Option(
        95.0, help="With --from: percentile of the hours' peaks to size for."
    ),
    criterion: str = typer.Option(
        "mean:500", help="Statistic and limit in ms: mean:500, or p95:2000."
    ),
    mix: str | None = typer.Option(
        None, help="Mix of request kinds; refused, as models know one mix."
    ),
    growth: float = typer.Option(0.0, help="Growth of the load, in percent a year; with --by."),
    by: str | None = typer.Option(
        None, metavar="DATE|MONTHS", help="Until when it grows: 2030-06-30, or 18 (months)."
    ),
    headroom: float = typer.Option(0.0, help="Percent of the load to add to it."),
    utilization: float | None = typer.Option(
        None, help="Ceiling of the CPU utilization, in percent, such as 70."
    ),
    failures: int = typer.Option(0, help="Nodes that may fail while the others carry all."),
    spare: bool = typer.Option(False, "--spare", help="One node may fail: as --failures 1."),
    smt_factor: float = typer.Option(
        1.0,
        help="What a CPU that you buy does, as a share of a measured one. The model counts CPUs as "
        "the measured machine's operating system does: with SMT, hardware threads.",
    ),
    sizes: str | None = typer.Option(
        None, help="CPUs that a node can have, such as 1,2,4. Powers of two if left out."
    ),
    memory: str | None = typer.Option(
        None, help="Memory that a node can have, in GiB, such as 2,4,8. Any if left out."
    ),
    price_cpu: float = typer.Option(0.0, help="Price of a CPU, in any unit."),
    price_gib: float = typer.Option(0.0, help="Price of a GiB of memory, in that unit."),
    price_node: float = typer.Option(0.0, help="Price of a node itself, in that unit."),
    curve: bool = typer.Option(False, "--curve", help="Print the response as the load rises."),
    emit: Emitted | None = typer.Option(
        None,
        help="Print only settings of the best candidate: a file for java @FILE, a patch for "
        "Kubernetes, or JSON.",
    ),
    chapter: str | None = typer.Option(
        None, help="Chapter whose calculator answers; needed where several have one."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print JSON for another program."),
) -> None:
    """Say how many CPUs, nodes and how much heap a load needs to keep a response criterion.

    By the model that a chapter fitted when it was run last; what lies outside of what was measured
    is said. Below the answer stand candidates: nodes that can be bought, with what limits each
    first.
    """
    from sizebook.model.memory import NATIVE_MIB

    size_options.refuse_mix(mix)
    usage = None
    if source is not None:
        if users is not None or rate is not None:
            size_options.refuse("--from and another load", "one of --users, --rate and --from")
        usage = _read_usage(source, percentile)
        rate = usage.busy.rate_per_s
    asked = size_options.read_question(
        users=users,
        think=think,
        rate=rate,
        criterion=criterion,
        failures=max(failures, 1) if spare else failures,
        growth=growth,
        by=by,
        headroom=headroom,
        utilization=utilization,
        smt_factor=smt_factor,
        today=datetime.datetime.now(datetime.UTC).date(),
    )
    model = _model(find_project(), chapter)
    prices = (price_cpu, price_gib, price_node)
    offer = size_options.read_offer(model, sizes, memory, prices, NATIVE_MIB)
    if emit is not None:
        size_output.print_settings(model, asked, offer, emit)
    elif as_json:
        print_json(size_output.as_data(model, asked, offer, usage))
    else:
        size_output.print_answer(model, asked, offer, usage, curve=curve)


def _read_usage(source: str, percentile: float) -> ReadUsage:
    from sizebook.usage.rates import busiest_hours
    from sizebook.usage.reading import read_usage

    observed = read_usage(source)
    try:
        return ReadUsage(observed, busiest_hours(observed, percentile))
    except ValueError as error:
        size_options.refuse(
            f"--from {observed.source}: {error}",
            "requests, and --percentile above 0 and up to 100",
            "name a source with requests, or another --percentile",
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
