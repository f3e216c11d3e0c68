"""What was found, as HTML: a sentence with the counts. Every text from data is escaped."""

from __future__ import annotations

from collections.abc import Mapping

from sizebook.book.ledger.findings import TESTED, Findings
from sizebook.book.ledger.standing import NoVerdict, join_words
from sizebook.model.claim import CLAIM_VERDICTS
from sizebook.model.plain_text import escape_html as escape


def render_counts(found: Findings) -> str:
    """Return how many claims have which verdict, and plainly how much of the book is measured."""
    total = sum(found.reports.values()) + sum(found.own.values())
    every = len(found.measured) + len(found.unmeasured)
    if not found.measured:
        words = (
            f"<strong>Nothing is measured yet:</strong> none of {total} claims has been put to the "
            "test. Measure them with <code>make book</code>."
        )
    else:
        words = " ".join(
            _sentence(whose, counts)
            for whose, counts in (
                ("{} claims of the reports", found.reports),
                ("{} claims of this book's own", found.own),
            )
            if any(counts.values())
        )
        if found.unmeasured:
            names = ", ".join(escape(title) for title in found.unmeasured)
            words += (
                f" <strong>Only {len(found.measured)} of {every} chapters are measured.</strong> "
                f"Not yet: {names}."
            )
    return f"<p class='sb-counts'>{words}</p>"


def _sentence(whose: str, counts: Mapping[str, int]) -> str:
    """Return how many claims got which verdict, and why the others got none."""
    verdicts = [
        f"<strong>{number}</strong> {escape(state)}"
        for state, number in counts.items()
        if state in TESTED or (number and state in CLAIM_VERDICTS)
    ]
    words = f"Of {whose.format(sum(counts.values()))}: {join_words(verdicts)}."
    without = [
        f"<strong>{counts[state]}</strong> {why}" for state, why in _WHY.items() if counts[state]
    ]
    return words + (f" No verdict: {join_words(without)}." if without else "")


_WHY: Mapping[NoVerdict, str] = {
    "proxy": "tested by a stand-in",
    "not testable here": "not testable on this machine",
    "late claim": "written down after the trials",
}
