"""The report as one HTML page without scripts and without anything from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from sizebook.judge.findings import Unknowable
from sizebook.judge.judging import Judged, rule_of, shared_warning
from sizebook.judge.results import SECOND_NS
from sizebook.judge.summary import compared_rows, figures
from sizebook.model.plain_text import show_plainly

if TYPE_CHECKING:
    from sizebook.judge.comparing import Compared

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
  color: #1f2933; background: #fff }
table { border-collapse: collapse; margin: 1rem 0; width: 100% }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem;
  border-bottom: 1px solid #ddd }
.wrong { color: #a8241b; font-weight: 600 } .caution { color: #8a5a00; font-weight: 600 }
.unknown { color: #5b6770 } .fine { color: #00684a }
svg { width: 100%; height: auto } svg text { font: 12px system-ui, sans-serif; fill: #1f2933 }
.remedy { color: #5b6770 }
"""
_WIDTH, _HEIGHT, _LEFT, _TOP = 720, 110, 70, 22


def render_page(every: Sequence[Judged], compared: Compared | None = None) -> str:
    """Return the page of some files that were judged, and of their comparison."""
    parts = [_file(judged) for judged in every]
    if warning := shared_warning(every):
        parts.append(f"<p>{_text(warning)}.</p>")
    if compared is not None:
        parts.append(_comparison(compared))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Results judged</title><style>{_STYLE}</style></head><body>"
        f"<h1>Results judged</h1>\n{''.join(parts)}</body></html>\n"
    )


def _file(judged: Judged) -> str:
    results = judged.results
    heads = "".join(
        f"<tr><th scope=row>{_text(name)}</th><td>{_text(value)}</td></tr>"
        for name, value in figures(judged)
    )
    rows = []
    for finding in judged.ranked:
        rule = rule_of(finding)
        remedy = (
            f'<div class="remedy">{_text(rule.remedy)}</div>' if finding.weight == "wrong" else ""
        )
        rows.append(
            f'<tr><td class="{finding.weight}">{finding.weight}</td><td>{_text(rule.title)}<br>'
            f"<small>{finding.rule}</small></td><td>{_text(finding.words)}{remedy}</td></tr>"
        )
    notes = "".join(f"<li>{_text(note)}</li>" for note in results.notes)
    return (
        f"<h2>{_text(results.path.name)}</h2><table>{heads}</table>{_course(judged)}"
        f"<table><thead><tr><th>weight</th><th>rule</th><th>finding</th></tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table>{f'<ul>{notes}</ul>' if notes else ''}\n"
    )


def _course(judged: Judged) -> str:
    """Return throughput and mean latency over time as two panels; empty without a course."""
    try:
        found = judged.case.windows
    except Unknowable:
        return ""
    seconds = np.arange(found.count) * found.width_ns / SECOND_NS
    panels = (
        ("requests per second", found.throughput_per_s),
        ("mean latency (ms)", found.mean_ns / 1e6),
    )
    height = len(panels) * (_HEIGHT + _TOP + 16)
    drawn = [
        _panel(title, seconds, values, at * (_HEIGHT + _TOP + 16))
        for at, (title, values) in enumerate(panels)
    ]
    label = f"Line charts of throughput and mean latency over {seconds[-1]:.0f} seconds"
    return (
        f'<svg viewBox="0 0 {_WIDTH + _LEFT + 10} {height}" role="img" aria-label="{label}">'
        f"{''.join(drawn)}</svg>"
    )


def _panel(title: str, seconds: np.ndarray, values: np.ndarray, top: float) -> str:
    known = np.isfinite(values)
    most = float(values[known].max()) if known.any() else 0.0
    if most <= 0:
        return ""
    x = _LEFT + seconds / max(float(seconds[-1]), 1e-9) * _WIDTH
    y = top + _TOP + _HEIGHT * (1 - np.where(known, values, 0) / most)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b, k in zip(x, y, known, strict=True) if k)
    base = top + _TOP + _HEIGHT
    return (
        f'<text x="{_LEFT}" y="{top + 14}">{title}</text>'
        f'<text x="{_LEFT - 6}" y="{top + _TOP + 8}" text-anchor="end">{most:,.3g}</text>'
        f'<text x="{_LEFT - 6}" y="{base}" text-anchor="end">0</text>'
        f'<text x="{_LEFT + _WIDTH}" y="{base + 14}" text-anchor="end">{seconds[-1]:.0f} s</text>'
        f'<line x1="{_LEFT}" y1="{base}" x2="{_LEFT + _WIDTH}" y2="{base}" stroke="#667380"/>'
        f'<polyline fill="none" stroke="#0072b2" stroke-width="1.5" points="{points}"/>'
    )


def _comparison(compared: Compared) -> str:
    rows = compared_rows(compared)
    if not rows:
        return "<h2>Compared</h2><p>The two files share no figure.</p>"
    heads = "".join(f"<th>{_text(name)}</th>" for name in rows[0])
    body = "".join(
        f"<tr>{''.join(f'<td>{_text(value)}</td>' for value in row.values())}</tr>" for row in rows
    )
    notes = "".join(f"<li>{_text(note)}</li>" for note in compared.notes)
    return (
        f"<h2>Compared</h2><p>Second over first; 95 % intervals by {_text(compared.method)}.</p>"
        f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table><ul>{notes}</ul>"
    )


def _text(words: str) -> str:
    return escape(show_plainly(words))
