"""The calculator's words: a question and its answer as the page, the table and a terminal say it.

The book's script gets these texts with the model and fills them in itself; a test compares what it
says with what :func:`answer` says. So no text and no number of an answer is written twice.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sizebook.report import candidate_words, course_words
from sizebook.report.shown_number import shown
from sizebook.stats.sizing import (
    Demanded,
    Outside,
    Predicted,
    Size,
    SizingModel,
    predict,
    prepare,
    size,
)

STATISTICS = {"mean": "mean", "p95": "95th percentile"}
LABELS = {
    "grown": "Load to size for",
    "cores": "CPUs",
    "unit": "One CPU is",
    "nodes": "Nodes",
    "heap": "Heap of each node",
    "rate": "Requests",
    "use": "CPU utilization",
    "response": "Expected response",
}
"""Parts of an answer, in order; the first only where the load grows."""
TEXTS = {
    "grown": "{amount} {kind}: {today} today{growth}{headroom}",
    "grown-rate": ", growing {growth} % a year for {months} months",
    "grown-headroom": ", plus {headroom} % headroom",
    "cores": "{cores} ({low} to {high})",
    "cores-from": "{cores} ({low} or more)",
    "cores-least": "{cores} or fewer",
    "cores-none": "not known: more than the {most} that were measured",
    "unit": "a CPU of the measured machine; with SMT, a hardware thread",
    "unit-worth": "{worth} of a CPU of the measured machine",
    "nodes": "{nodes}",
    "nodes-spare": "{nodes}, of which {spare} may fail; the others have these CPUs",
    "heap": "{heap} MiB ({low} to {high})",
    "heap-none": "not known: the trials do not tell",
    "rate": "{rate} a second",
    "rate-none": "not known",
    "use": "{use} %",
    "use-ceiling": "{use} %; ceiling {ceiling} %",
    "use-none": "not known",
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


def answer(model: SizingModel, question: Demanded) -> SizingAnswer:
    """Return the answer to a question in words."""
    model, asked = prepare(model, question)
    found = size(model, asked)
    expected = None if found.cores is None else predict(model, asked, found.cores, found.nodes)
    grown = {"grown": _grown(question, asked)} if question.growth_factor != 1 else {}
    parts = grown | {
        "cores": _cores(model, found),
        "unit": _unit(question),
        "nodes": _nodes(found, asked),
        "heap": _heap(found),
        "rate": _rate(found),
        "use": _use(model, asked, found),
        "response": _response(expected),
    }
    return SizingAnswer(parts, tuple(_outside(one, asked, found) for one in found.outside))


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
        "candidates": candidate_words.as_data(),
        "course": course_words.as_data(),
    }


def kind_of(asked: Demanded) -> str:
    """Return what the load of a question is counted in."""
    return KINDS["users" if asked.users is not None else "rate"]


def _grown(question: Demanded, asked: Demanded) -> str:
    months = 12 * question.years
    return _fill(
        "grown",
        amount=shown(asked.amount),
        kind=kind_of(asked),
        today=shown(question.amount),
        growth=_fill("grown-rate", growth=shown(100 * question.growth), months=shown(months))
        if question.growth and question.years
        else "",
        headroom=_fill("grown-headroom", headroom=shown(100 * question.headroom))
        if question.headroom
        else "",
    )


def _cores(model: SizingModel, found: Size) -> str:
    if found.cores is None:
        return _fill("cores-none", most=shown(model.domain.cores[1]))
    low, cores = shown(found.cores_low or found.cores), shown(found.cores)
    if found.cores_high is None:
        return _fill("cores-from", cores=cores, low=low)
    if found.cores_high <= model.domain.cores[0]:
        return _fill("cores-least", cores=cores)
    return _fill("cores", cores=cores, low=low, high=shown(found.cores_high))


def _unit(question: Demanded) -> str:
    if question.cpu_worth == 1:
        return _fill("unit")
    return _fill("unit-worth", worth=shown(question.cpu_worth))


def _nodes(found: Size, asked: Demanded) -> str:
    key = "nodes-spare" if asked.spare_nodes else "nodes"
    return _fill(key, nodes=found.nodes, spare=asked.spare_nodes)


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


def _use(model: SizingModel, asked: Demanded, found: Size) -> str:
    if found.cores is None or found.rate_per_s is None:
        return _fill("use-none")
    full = model.response.bearable_per_s(found.cores, found.nodes)
    use = shown(100 * found.rate_per_s / full)
    if asked.ceiling is None:
        return _fill("use", use=use)
    return _fill("use-ceiling", use=use, ceiling=shown(100 * asked.ceiling))


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
        kind=kind_of(asked),
    )


def _fill(key: str, **numbers: object) -> str:
    return TEXTS[key].format(**numbers)
