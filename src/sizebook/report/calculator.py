"""The calculator on a chapter's page: the model as a record, with answers to standard questions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import polars as pl

from sizebook.lab import Trials
from sizebook.report.calculator_words import LABELS, STATISTICS, answer
from sizebook.report.evidence import hash_json
from sizebook.report.page import Page
from sizebook.report.shown_number import shown
from sizebook.report.tables import MISSING, plain_table
from sizebook.stats.sizing import Demanded, SizingModel

if TYPE_CHECKING:
    from great_tables import GT

KIND = "calculator"
"""Kind of the record that a notebook publishes it with."""


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


def _round(value: float) -> float:
    """Return a number with its first two digits."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return float(round(math.floor(value / unit) * unit, 9))
