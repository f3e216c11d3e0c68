"""What was found, as HTML: a sentence with the counts. Every text from data is escaped."""

from __future__ import annotations

from collections.abc import Sequence

from sizebook.book.findings import Findings
from sizebook.model.plain_text import escape_html as escape


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


def _join(parts: Sequence[str]) -> str:
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)
