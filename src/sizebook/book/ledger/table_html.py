"""The ledger of claims as HTML: counts by report and verdict, filters, and one row a claim.

Every text from data is escaped. Without the script ``claims.js`` the whole table shows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sizebook.book.cited import result_anchor
from sizebook.book.ledger.forest_html import render_forest
from sizebook.book.ledger.rows import STATES, LedgerRow, count_states, discoveries
from sizebook.book.ledger.standing import fidelity_words
from sizebook.model.claim import OWN
from sizebook.model.fidelity import FIDELITIES
from sizebook.model.plain_text import escape_html as escape
from sizebook.report.claim_card import effect_words, render_badge, size_words
from sizebook.stats.decisions import ratio_words

Link = Callable[[str], str]
"""Turns a page's name without ending into its address as seen from the ledger's page."""


def ledger_anchor(claim_id: str) -> str:
    """Return the HTML id of a claim's row."""
    return f"ledger-{claim_id}"


def render_ledger(rows: Sequence[LedgerRow], link: Link) -> str:
    """Return the whole ledger, all rows of a book; ``link`` gives the addresses of chapters."""
    body = "".join(_row(row, link) for row in rows)
    names = ("Claim", "Chapter", "Reported", "Measured", "Outcome")
    heads = "".join(f"<th scope='col'>{name}</th>" for name in names)
    return (
        f"<section class='sb-ledger' id='claims-ledger' data-count='{len(rows)}'>"
        f"{_counts(rows)}{_wrong(rows)}{_controls(rows)}"
        "<div class='sb-ledger-rows' role='region' tabindex='0' aria-label='All claims'>"
        "<table><caption class='sb-aside'>Claims with reported and measured ratio</caption>"
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div></section>"
    )


def _counts(rows: Sequence[LedgerRow]) -> str:
    """Return the table of counts; each cell has what it counts as data, for script and tests."""
    counts = count_states(rows)
    states = [state for state in STATES if any(row.state == state for row in rows)]
    together = {state: sum(found[state] for found in counts.values()) for state in states}
    heads = "".join(f"<th scope='col'>{render_badge(state)}</th>" for state in states)
    lines = "".join(
        _count_line(source_words(source), source, found, states)
        for source, found in [*counts.items(), ("", together)]
    )
    own = sum(row.claim.source == OWN for row in rows)
    words = f"{len(rows) - own} claims of the reports"
    words += f", and {own} of this book's own" if own else ""
    return (
        f"<p>{words}:</p><div class='sb-ledger-sums' role='region' tabindex='0' "
        "aria-label='Claims by report and verdict'><table class='sb-ledger-counts'>"
        "<caption class='sb-aside'>Claims by report and verdict</caption>"
        f"<thead><tr><th scope='col'>Report</th>{heads}<th scope='col'>claims</th></tr></thead>"
        f"<tbody>{lines}</tbody></table></div>"
    )


def _wrong(rows: Sequence[LedgerRow]) -> str:
    """Return how many verdicts are expected to be wrong; empty where none was possible."""
    words = discoveries(rows).sentence
    return f"<p class='sb-ledger-wrong'>{escape(words)}</p>" if words else ""


def _count_line(title: str, source: str, found: dict[str, int], states: Sequence[str]) -> str:
    numbers = [(state, found[state]) for state in states]
    numbers.append(("", sum(found[state] for state in states)))
    cells = "".join(
        f"<td data-source='{escape(source)}' data-verdict='{escape(state)}'>{number}</td>"
        for state, number in numbers
    )
    return f"<tr><th scope='row'>{escape(title)}</th>{cells}</tr>"


def _controls(rows: Sequence[LedgerRow]) -> str:
    """Return the filters; they show only where the script is there to work them."""
    sources = {row.claim.source: source_words(row.claim.source) for row in rows}
    parts = sorted({row.part for row in rows if row.part})
    states = [state for state in STATES if any(row.state == state for row in rows)]
    kinds = [kind for kind in FIDELITIES if any(_fidelity(row) == kind for row in rows)]
    return (
        "<form class='sb-ledger-controls' hidden>"
        f"{_select('source', 'Report', sources)}"
        f"{_select('part', 'Part', {part: part for part in parts})}"
        f"{_select('verdict', 'Outcome', {state: state for state in states})}"
        f"{_select('fidelity', 'Fidelity', {kind: kind for kind in kinds})}"
        "<label>Text <input type='search' name='q' autocomplete='off'></label>"
        "<button type='reset'>Show all</button>"
        "<output aria-live='polite'></output></form>"
    )


def _select(name: str, title: str, options: dict[str, str]) -> str:
    listed = "".join(
        f"<option value='{escape(value)}'>{escape(words)}</option>"
        for value, words in options.items()
    )
    return (
        f"<label>{title} <select name='{name}'><option value=''>all</option>{listed}</select>"
        "</label>"
    )


def _row(row: LedgerRow, link: Link) -> str:
    claim, found, evidence = row.claim, row.outcome, row.evidence
    statement = escape(claim.statement)
    chapter = escape(row.title or row.chapter)
    proof = ""
    if evidence is not None:
        page = link(evidence.page)
        anchor = escape(f"{page}#{result_anchor(evidence.key)}")
        statement = f"<a href='{anchor}'>{statement}</a>"
        chapter = f"<a href='{escape(page)}'>{chapter}</a>"
        fold = escape(f"{page}#evidence-{evidence.key}")
        proof = f" <a class='sb-ledger-evidence' href='{fold}'>evidence</a>"
    measured = ""
    if found is not None and (found.effect is not None or found.n):
        picture = render_forest(found.effect, found.low, found.high, claim.reported_ratio)
        measured = f"{escape(effect_words(found.effect, found.low, found.high, found.n))}{picture}"
    size = render_size(row)
    ratio = "" if claim.reported_ratio is None else ratio_words(claim.reported_ratio)
    return (
        f"<tr id='{escape(ledger_anchor(claim.claim_id))}' data-source='{escape(claim.source)}' "
        f"data-part='{escape(row.part)}' data-verdict='{escape(row.state)}' "
        f"data-fidelity='{escape(_fidelity(row))}'>"
        f"<th scope='row'>{statement}<span class='sb-ledger-id'><code>{escape(claim.claim_id)}"
        f"</code> {escape(source_words(claim.source))}</span></th>"
        f"<td>{chapter}</td><td>{escape(ratio)}</td><td>{measured}{size}{proof}</td>"
        f"<td>{render_badge(row.state)}<span class='sb-ledger-why'>{escape(row.reason)}</span>"
        f"{_test(row)}</td></tr>"
    )


def _fidelity(row: LedgerRow) -> str:
    """Return the kind of a claim's fidelity; empty where the ledger has none."""
    return row.standing.fidelity.kind if row.standing.fidelity else ""


def _test(row: LedgerRow) -> str:
    """Return what else there is to say of a test that gives a verdict, as a line of a cell."""
    found = row.standing
    if found.instead is not None:
        return ""
    words = f"Written down {found.written_utc[:10]}, before its trials" if found.written_utc else ""
    if found.fidelity is not None:
        words = f"{found.fidelity.kind.capitalize()}: {fidelity_words(found.fidelity)}"
    return f"<span class='sb-ledger-why'>{escape(words)}</span>" if words else ""


def render_size(row: LedgerRow) -> str:
    """Return how large a confirmed effect is beside the report's, as a line of a cell."""
    words = size_words(row.size)
    return f"<span class='sb-ledger-why'>{escape(words)}</span>" if words else ""


def source_words(source: str) -> str:
    """Return the short name of a report as pages show it; that of our own claims is "this book"."""
    return {OWN: "this book", "": "together"}.get(source, source)
