"""What ``sizebook size`` prints: the answer and its candidates, JSON, or settings."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from sizebook.cli.output import print_json, print_table, say
from sizebook.model.errors import UserError

if TYPE_CHECKING:
    from sizebook.stats.sizing import Demanded, Offer, SizingModel
    from sizebook.usage.rates import BusyHours, ObservedRates

_CURVE_ROWS = 12
_MOST_SHOWN = 8
"""Hours, and endpoints, that are printed."""


class Emitted(StrEnum):
    """Forms in which the answer's settings are printed."""

    JVM = "jvm"
    KUBERNETES = "kubernetes"
    JSON = "json"


@dataclass(frozen=True)
class ReadUsage:
    """What was read of a system's use, and its busiest hours."""

    observed: ObservedRates
    busy: BusyHours


def _print_usage(usage: ReadUsage) -> None:
    from sizebook.report.shown_number import shown

    observed, busy = usage.observed, usage.busy
    say(f"Read of {observed.source}." + _left_out(observed))
    say(
        f"Size for {shown(busy.rate_per_s)} requests a second: {busy.percentile:g} % of "
        f"{busy.hours:,} hours have no higher peak (rates over {observed.resolution_s:g} s)."
    )
    hours = [
        f"{each.begin:%Y-%m-%d %H:%M} UTC {shown(each.peak_per_s)}/s"
        for each in busy.busiest[:_MOST_SHOWN]
    ]
    say(f"Hours that reach it: {', '.join(hours)}{_more(len(busy.busiest))}")
    if observed.mix:
        shares = [f"{name} {share:.1%}" for name, share in list(observed.mix.items())[:_MOST_SHOWN]]
        say(f"Mix: {', '.join(shares)}{_more(len(observed.mix))}. The model's mix is another one.")
    say()


def _left_out(observed: ObservedRates) -> str:
    return f" {observed.left_out:,} without a time or rate were left out." * bool(observed.left_out)


def _more(number: int) -> str:
    return f", and {number - _MOST_SHOWN:,} more" if number > _MOST_SHOWN else ""


def print_answer(
    model: SizingModel, asked: Demanded, offer: Offer, usage: ReadUsage | None, *, curve: bool
) -> None:
    """Print what was read, the answer, what lies outside, candidates, and the curve if wanted."""
    from sizebook.report import candidate_words, course_words
    from sizebook.report.calculator_words import (
        LABELS,
        OUTSIDE_TITLE,
        STATISTICS,
        answer,
        kind_of,
    )
    from sizebook.stats.sizing import candidates, course, shown_cpus

    if usage is not None:
        _print_usage(usage)
    said = answer(model, asked)
    width = max(map(len, LABELS.values()))
    for key, words in said.parts.items():
        say(f"{LABELS[key]:{width}}  {words}")
    for words in said.outside:
        say(f"{OUTSIDE_TITLE}{words}")
    rows = candidate_words.candidate_rows(model, asked, offer)
    names = candidate_words.COLUMNS
    say()
    say(candidate_words.TITLE)
    print_table([{names[key]: words for key, words in row.items()} for row in rows])
    if curve:
        cores, nodes = shown_cpus(model, asked, candidates(model, asked, offer))
        statistic = STATISTICS[asked.statistic]
        points = course(model, asked, cores, nodes, _CURVE_ROWS)
        say()
        say(course_words.course_title(statistic, cores, nodes, model.level))
        print_table(course_words.course_rows(points, kind_of(asked), statistic))


def as_data(
    model: SizingModel, asked: Demanded, offer: Offer, usage: ReadUsage | None
) -> dict[str, Any]:
    """Return all numbers of the answer; what cannot be carried has null for its response."""
    from sizebook.report.calculator_words import answer
    from sizebook.stats import sizing

    offered = sizing.candidates(model, asked, offer)
    cores, nodes = sizing.shown_cpus(model, asked, offered)
    data: dict[str, Any] = {
        "asked": asdict(asked),
        "sized_for": sizing.prepare(model, asked)[1].amount,
        "answer": asdict(sizing.size(model, asked)),
        "outside": list(answer(model, asked).outside),
        "offer": asdict(offer),
        "candidates": [asdict(one) | {"total_cpus": one.total_cpus} for one in offered],
        "curve": {
            "cores": cores,
            "nodes": nodes,
            "points": [asdict(one) for one in sizing.course(model, asked, cores, nodes, 60)],
        },
    }
    if usage is not None:
        data["usage"] = {
            "source": usage.observed.source,
            "left_out": usage.observed.left_out,
            "resolution_s": usage.observed.resolution_s,
            "mix": dict(usage.observed.mix),
            **asdict(usage.busy),
        }
        for hour in data["usage"]["busiest"]:
            hour["begin"] = hour["begin"].isoformat()
    finite: dict[str, Any] = _finite(data)
    return finite


def _finite(value: Any) -> Any:
    """Return data with None for what is infinite: JSON has no word for it."""
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def print_settings(model: SizingModel, asked: Demanded, offer: Offer, form: Emitted) -> None:
    """Print settings of the best candidate; raises UserError if none fits."""
    from sizebook.report import size_settings
    from sizebook.stats.sizing import candidates

    offered = candidates(model, asked, offer)
    if not offered or offered[0].rejected is not None:
        raise UserError(
            found="no candidate that fits",
            expected="nodes that carry the load, within what was measured",
            next_step="the same command without --emit says why; name other --sizes or nodes",
        )
    settings = size_settings.derive_settings(model, asked, offered[0])
    if form is Emitted.JSON:
        print_json(size_settings.as_json(settings))
        return
    is_jvm = form is Emitted.JVM
    text = size_settings.as_arguments(settings) if is_jvm else size_settings.as_patch(settings)
    for line in text.splitlines():
        say(line)
