"""What was found, as HTML: a sentence with the counts, and the claims that stand out.

Every text from data is escaped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sizebook.book.cited import result_anchor
from sizebook.book.claims import LedgerRow
from sizebook.book.findings import Findings
from sizebook.book.ledger_html import render_size, source_words
from sizebook.model.plain_text import escape_html as escape
from sizebook.report.claim_card import effect_words, render_badge
from sizebook.stats.decisions import ratio_words

Link = Callable[[str], str]
"""Turns a page's name without ending into its address as seen from this page."""


def render_counts(found: Findings) -> str:
    """Return how many claims have which verdict, and plainly how much of the book is measured."""
    total = sum(found.states.values())
    counts = [
        f"<strong>{number}</strong> {escape(state)}" for state, number in found.states.items()
    ]
    words = f"Of {total} claims: {_join(counts)}. "
    every = len(found.measured) + len(found.unmeasured)
    if not found.measured:
        words = (
            f"<strong>Nothing is measured yet:</strong> none of {total} claims has been put to the "
            "test. Measure them with <code>make book</code>."
        )
    elif found.unmeasured:
        names = ", ".join(escape(title) for title in found.unmeasured)
        words += (
            f"<strong>Only {len(found.measured)} of {every} chapters are measured.</strong> "
            f"Not yet: {names}. "
        )
    return f"<p class='sb-counts'>{words.strip()}</p>"


def render_outstanding(rows: Sequence[LedgerRow], link: Link) -> str:
    """Return the table of claims that stand out; empty where nothing is decided."""
    if not rows:
        return ""
    heads = "".join(
        f"<th scope='col'>{name}</th>" for name in ("Claim", "Reported", "Measured", "Verdict")
    )
    body = "".join(_row(row, link) for row in rows)
    return (
        "<div class='sb-outstanding' role='region' tabindex='0' aria-label='What stands out'>"
        "<table><caption>What stands out: of each chapter the claim that was decided most clearly, "
        "as ratio with 95 % interval</caption>"
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _row(row: LedgerRow, link: Link) -> str:
    claim, found = row.claim, row.outcome
    statement = escape(claim.statement)
    if row.evidence is not None:
        address = f"{link(row.evidence.page)}#{result_anchor(row.evidence.key)}"
        statement = f"<a href='{escape(address)}'>{statement}</a>"
    measured = "" if found is None else effect_words(found.effect, found.low, found.high, found.n)
    ratio = "" if claim.reported_ratio is None else ratio_words(claim.reported_ratio)
    about = escape(f"{row.title or row.chapter}, {source_words(claim.source)}")
    return (
        f"<tr data-verdict='{escape(row.state)}'>"
        f"<th scope='row'>{statement}<span class='sb-ledger-id'>{about}</span></th>"
        f"<td>{escape(ratio)}</td><td>{escape(measured)}{render_size(row)}</td>"
        f"<td>{render_badge(row.state)}</td></tr>"
    )


def _join(parts: Sequence[str]) -> str:
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)
