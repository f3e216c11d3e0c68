"""The figures that stand above the findings, and a report as data."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sizebook.judge.judging import Judged, rule_of, shared_warning
from sizebook.judge.results import SECOND_NS
from sizebook.judge.wording import say_percentile, say_rate, say_time

if TYPE_CHECKING:
    from sizebook.judge.comparing import Compared

FORMAT, VERSION = "sizebook-judge", 1


def figures(judged: Judged) -> list[tuple[str, str]]:
    """Return name and value of what a file says, before anything is judged."""
    case, results = judged.case, judged.results
    found = [("written by", f"{results.tool}, {results.form}"), ("requests", f"{case.requests:,}")]
    if case.length_s:
        found.append(("length", say_time(case.length_s * SECOND_NS)))
    if case.rate_per_s:
        found.append(("rate", say_rate(case.rate_per_s)))
    if case.failed is not None:
        found.append(("failed", f"{case.failed:,}"))
    if case.mean_ns is not None:
        found.append(("mean", say_time(case.mean_ns)))
    found += [(say_percentile(p), say_time(ns)) for p, ns in judged.percentiles_ns.items()]
    if case.most_ns is not None:
        found.append(("longest", say_time(case.most_ns)))
    return found


def compared_rows(compared: Compared) -> list[dict[str, str]]:
    """Return a row of text for each figure of a comparison."""
    rows = []
    for each in compared.figures:
        low, high = each.ratio.low, each.ratio.high
        ends = f"{low:.3f}–{high:.3f}" if low is not None and high is not None else "–"
        ratio = f"{each.ratio.estimate:.3f}×" if each.ratio.estimate is not None else "–"
        rows.append(
            {
                "figure": f"{each.name} ({each.unit})",
                "first": f"{each.first:,.4g}",
                "second": f"{each.second:,.4g}",
                "ratio": ratio,
                "95 % interval": ends,
                "": each.words,
            }
        )
    return rows


def as_data(every: Sequence[Judged], compared: Compared | None = None) -> dict[str, Any]:
    """Return a report for another program."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "files": [_file(judged) for judged in every],
        "warning": shared_warning(every) or None,
        "compared": dataclasses.asdict(compared) if compared is not None else None,
    }


def _file(judged: Judged) -> dict[str, Any]:
    case, results = judged.case, judged.results
    return {
        "file": results.path.name,
        "tool": results.tool,
        "form": results.form,
        "requests": case.requests,
        "failed": case.failed,
        "length_s": case.length_s,
        "rate_per_s": case.rate_per_s,
        "mean_ns": case.mean_ns,
        "longest_ns": case.most_ns,
        "percentiles_ns": {say_percentile(p): ns for p, ns in judged.percentiles_ns.items()},
        "wrong": judged.is_wrong,
        "notes": list(results.notes),
        "findings": [
            {
                "rule": finding.rule,
                "title": rule_of(finding).title,
                "weight": finding.weight,
                "words": finding.words,
                "numbers": dict(finding.numbers),
                "remedy": rule_of(finding).remedy if finding.weight == "wrong" else None,
            }
            for finding in judged.findings
        ],
    }
