"""```{timespent}```: where the time went that a book's trials took, and what it decided."""

# docutils brings no types
# mypy: disable-error-code="import-untyped, misc, no-any-return"

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from sizebook.book.chapters import find_chapters
from sizebook.book.directives.claims import read_rows
from sizebook.book.directives.nodes import find_root
from sizebook.book.directives.registries import registry_table
from sizebook.book.site import list_pages
from sizebook.book.time_spent import TimeSpent, find_time_spent

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_HEADS = (
    "Chapter", "Trials", "Starts", "Start min", "Condi\u00adtioning min", "Warm-up min",
    "Meas\u00adured min", "Rest min", "In all min", "Decided", "An hour",
)  # fmt: skip
_NOTHING = "No page of this book rests on trials yet: measure with make book."


class TimeSpentDirective(SphinxDirective):
    """```{timespent}```: a sentence that answers, and a row a chapter."""

    def run(self) -> list[nodes.Node]:
        """Return both; a sentence alone where nothing was measured."""
        root = find_root(self.env)
        pages = list_pages(root / "book" / "_toc.yml")
        rows = read_rows(self.env, self.get_location())
        found, own = find_time_spent(root, pages, rows)
        if not found:
            return [nodes.paragraph("", _NOTHING)]
        total = sum(found.values(), TimeSpent())
        titles = {each.page: each.title for each in find_chapters(root)}
        lines = [
            _cells(titles.get(page, Path(page).name), found[page])
            for page in sorted(found, key=lambda page: -found[page].all_s)
        ]
        table = registry_table(_HEADS, [*lines, _cells("together", total)])
        table["classes"].append("sb-time-spent")
        return [nodes.paragraph("", time_words(found, total, own=own)), table]


def time_words(found: Mapping[str, TimeSpent], total: TimeSpent, *, own: bool) -> str:
    """Return the answer in a few sentences: how long, where it went, and what it decided."""
    where = "on this machine" if own else "for this book, some of it elsewhere"
    parts = {
        "measured": total.measured_s,
        "conditioning": total.conditioning_s,
        "warm-up": total.warm_up_s,
        "starts": total.setup_s,
        "the rest": total.rest_s,
    }
    shares = [f"{100 * seconds / total.all_s:.0f} % {name}" for name, seconds in parts.items()]
    return (
        f"{total.trials} trials of {len(found)} chapters took {total.all_s / 3600:.1f} hours "
        f"{where}: {', '.join(shares)}. They decide {total.decided} claims, "
        f"{total.decided_per_h:.1f} an hour."
    )


def _cells(title: str, spent: TimeSpent) -> Sequence[str]:
    minutes = (
        spent.setup_s, spent.conditioning_s, spent.warm_up_s, spent.measured_s, spent.rest_s,
        spent.all_s,
    )  # fmt: skip
    return (
        title,
        str(spent.trials),
        str(spent.starts),
        *(f"{seconds / 60:.1f}" for seconds in minutes),
        str(spent.decided),
        f"{spent.decided_per_h:.1f}",
    )


def add_time_spent(app: Sphinx) -> None:
    """Make the directive known to Sphinx."""
    app.add_directive("timespent", TimeSpentDirective)
