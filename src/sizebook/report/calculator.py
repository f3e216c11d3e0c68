"""The calculator's words: a question and its answer as the page, the table and a terminal say it.

The book's script gets these texts with the model and fills them in itself; a test compares what it
says with what :func:`answer` says. So no text and no number of an answer is written twice.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from sizebook.lab import Trials
from sizebook.report.evidence import hash_json
from sizebook.report.page import Page
from sizebook.report.tables import MISSING, plain_table
from sizebook.stats.sizing import Demanded, Outside, Predicted, Size, SizingModel, predict, size

if TYPE_CHECKING:
    from great_tables import GT

KIND = "calculator"
"""Kind of the record that a notebook publishes it with."""
STATISTICS = {"mean": "mean", "p95": "95th percentile"}
LABELS = {
    "cores": "CPUs",
    "nodes": "Nodes",
    "heap": "Heap of each node",
    "rate": "Requests",
    "response": "Expected response",
}
"""Parts of an answer, in order."""
TEXTS = {
    "cores": "{cores} ({low} to {high})",
    "cores-from": "{cores} ({low} or more)",
    "cores-least": "{cores} or fewer",
    "cores-none": "not known: more than the {most} that were measured",
    "nodes": "{nodes}",
    "nodes-spare": "{nodes}, of which one may fail: the CPUs must be there without it",
    "heap": "{heap} MiB ({low} to {high})",
    "heap-none": "not known: the trials do not tell",
    "rate": "{rate} a second",
    "rate-none": "not known",
    "response": "mean {mean} ms, 95th percentile {p95} ms",
    "response-none": "not known",
}
"""What an answer is said with; the names in braces are its numbers."""
OUTSIDE = {
    "nodes": "{found} nodes; measured were {low} to {high}",
    "users": "{found} users; measured were up to {high}. The rate counts, but sessions take memory",
    "think_s": "a think time of {found} s; measured was {low} s{up_to}",
    "open": "requests that come at random; measured were users who think",
    "cores": "more than {high} CPUs; at that number {most} {kind} keep the criterion",
    "cores_high": "the upper end of the interval, which is above {high} CPUs",
    "rate_per_s": "{found} requests a second; measured were up to {high}",
    "response_s": "a criterion that means {found} ms on average; seen were {low} to {high} ms",
}
"""What is said of each bound that a question, or its answer, lies beyond."""
OUTSIDE_TITLE = "Outside what was measured: "
UP_TO = " to {high} s"
KINDS = {"users": "users", "rate": "requests a second"}


@dataclass(frozen=True)
class SizingAnswer:
    """What the calculator says: its parts by key, and what lies outside of the domain."""

    parts: Mapping[str, str]
    outside: tuple[str, ...]


def answer(model: SizingModel, asked: Demanded) -> SizingAnswer:
    """Return the answer to a question in words."""
    found = size(model, asked)
    expected = None if found.cores is None else predict(model, asked, found.cores, found.nodes)
    parts = {
        "cores": _cores(model, found),
        "nodes": _fill("nodes-spare" if asked.spare_nodes else "nodes", nodes=found.nodes),
        "heap": _heap(found),
        "rate": _rate(found),
        "response": _response(expected),
    }
    return SizingAnswer(parts, tuple(_outside(one, asked, found) for one in found.outside))


def shown(value: float) -> str:
    """Return a number with two decimals below 10, one below 100, none above or if it is whole.

    Halves go up. The script does so too: by themselves the two languages round halves differently.
    """
    places = 2 if value < 10 else 1 if value < 100 else 0
    scale = 10**places
    rounded = math.floor(value * scale + 0.5) / scale
    return f"{rounded:.{0 if rounded == math.floor(rounded) else places}f}"


def as_data(model: SizingModel) -> dict[str, Any]:
    """Return the model with all texts, as the script wants it."""
    return {
        "model": model.as_record(),
        "statistics": STATISTICS,
        "labels": LABELS,
        "texts": TEXTS,
        "outside": OUTSIDE,
        "outside_title": OUTSIDE_TITLE,
        "up_to": UP_TO,
        "kinds": KINDS,
    }


def questions(model: SizingModel, limits_s: Sequence[float]) -> tuple[Demanded, ...]:
    """Return standard questions within the domain: three loads, each with these criteria."""
    think_s = model.domain.think_s[0]
    most = model.domain.rate_per_s[1]
    asked = []
    for share in (0.2, 0.4, 0.6):
        users = _round(min(model.domain.users[1], share * most * (think_s or 1.0)))
        asked += [Demanded("mean", limit, users=users, think_s=think_s) for limit in limits_s]
        asked += [Demanded("p95", limits_s[-1], users=users, think_s=think_s)]
    if model.domain.think_s[1] is None:
        rates = (_round(share * most) for share in (0.2, 0.4, 0.6))
        asked += [Demanded("p95", limits_s[-1], rate_per_s=rate) for rate in rates]
    return tuple(asked)


def table(model: SizingModel, asked: Sequence[Demanded]) -> GT:
    """Return the answers to standard questions: what paper and browsers without scripts show."""
    rows = []
    for one in asked:
        said = answer(model, one)
        load = (
            f"{shown(one.rate_per_s)} requests a second"
            if one.rate_per_s is not None
            else f"{shown(one.users or 0.0)} users, thinking {shown(one.think_s)} s"
        )
        rows.append(
            {
                "load": load,
                "criterion": f"{STATISTICS[one.statistic]} {shown(1e3 * one.limit_s)} ms",
                **{key: said.parts[key] for key in ("cores", "nodes", "heap", "rate")},
                "outside": "; ".join(said.outside) or MISSING,
            }
        )
    labels = {"load": "Load", "criterion": "Criterion", **LABELS, "outside": "Outside"}
    names = ("load", "criterion", "cores", "nodes", "heap", "rate", "outside")
    return plain_table(
        pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String)),
        labels=labels,
        note=f"in brackets: within which {100 * model.level:.0f} of 100 such configurations lie, "
        "by how far the model erred on levels that it had not seen",
    )


def render(
    model: SizingModel, asked: Sequence[Demanded], key: str, doubts: Sequence[str] = ()
) -> str:
    """Return the table of standard answers as HTML; ``doubts`` stand below its rows."""
    made = table(model, asked)
    for doubt in doubts:
        made = made.tab_source_note(f"\u26a0 {doubt}")
    return str(made.with_id(f"gt-{key}").as_raw_html())


def publish(
    page: Page,
    model: SizingModel,
    asked: Sequence[Demanded],
    key: str,
    caption: str,
    *,
    trials: Sequence[Trials],
) -> None:
    """Show the calculator of a model on a chapter's page, with its answers to ``asked``."""

    def shown_with(doubts: Sequence[str]) -> dict[str, str]:
        return {"text/html": render(model, asked, key, doubts)}

    record = model.as_record()
    page.publish(
        KIND,
        key,
        caption,
        shown_with,
        hash_json(record),
        trials=trials,
        model=record,
        questions=[asdict(one) for one in asked],
    )


def first_question(model: SizingModel) -> Demanded:
    """Return what the form asks when a page is opened: half of the load that was measured."""
    think_s = model.domain.think_s[0]
    users = _round(min(model.domain.users[1], 0.4 * model.domain.rate_per_s[1] * (think_s or 1.0)))
    low, high = model.domain.response_s
    return Demanded("mean", _round((low * high) ** 0.5), users=users, think_s=think_s)


def _cores(model: SizingModel, found: Size) -> str:
    if found.cores is None:
        return _fill("cores-none", most=shown(model.domain.cores[1]))
    low, cores = shown(found.cores_low or found.cores), shown(found.cores)
    if found.cores_high is None:
        return _fill("cores-from", cores=cores, low=low)
    if found.cores_high <= model.domain.cores[0]:
        return _fill("cores-least", cores=cores)
    return _fill("cores", cores=cores, low=low, high=shown(found.cores_high))


def _heap(found: Size) -> str:
    if found.heap_mib is None:
        return _fill("heap-none")
    heap, low, high = (f"{one:.0f}" for one in found.heap_mib)
    return _fill("heap", heap=heap, low=low, high=high)


def _rate(found: Size) -> str:
    return (
        _fill("rate-none")
        if found.rate_per_s is None
        else _fill("rate", rate=shown(found.rate_per_s))
    )


def _response(expected: Predicted | None) -> str:
    if expected is None:
        return _fill("response-none")
    return _fill("response", mean=shown(1e3 * expected.mean_s), p95=shown(1e3 * expected.p95_s))


def _outside(one: Outside, asked: Demanded, found: Size) -> str:
    scale = 1e3 if one.key == "response_s" else 1.0
    numbers = {name: shown(scale * getattr(one, name)) for name in ("found", "low", "high")}
    if one.key == "nodes":
        numbers = {name: f"{getattr(one, name):.0f}" for name in numbers}
    return OUTSIDE[one.key].format(
        **numbers,
        up_to="" if one.high <= one.low else UP_TO.format(high=numbers["high"]),
        most=shown(math.floor(found.most)) if found.most is not None else "",
        kind=KINDS["users" if asked.users is not None else "rate"],
    )


def _fill(key: str, **numbers: object) -> str:
    return TEXTS[key].format(**numbers)


def _round(value: float) -> float:
    """Return a number with its first two digits."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return float(round(math.floor(value / unit) * unit, 9))
