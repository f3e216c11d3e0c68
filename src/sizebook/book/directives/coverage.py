"""```{coverage}```: what the book treats of the five reports, a table a report."""

# docutils brings no types
# mypy: disable-error-code="import-untyped, misc, no-any-return"

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

from sizebook.book.directives.claims import read_rows
from sizebook.book.directives.nodes import find_root
from sizebook.book.ledger.coverage import Subject, count, find_coverage
from sizebook.book.ledger.standing import join_words
from sizebook.model.errors import UserError
from sizebook.model.reported import REPORTS
from sizebook.report.wording import escape_markdown as plain

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_HEADS = ("Subject", "Where", "Numbers", "Settings", "Claims")


class CoverageDirective(SphinxDirective):
    """```{coverage}```: every printed number, setting and claim is in one of the rows."""

    def run(self) -> list[nodes.Node]:
        """Return a rubric and a table a report; what is accounted for nowhere is an error."""
        root = find_root(self.env)
        for path in sorted((root / "data").glob("*/*.csv")):
            self.env.note_dependency(str(path))
        try:
            found = find_coverage(root, read_rows(self.env, self.get_location()))
        except UserError as error:
            raise self.error(str(error)) from error
        words = [line for report in REPORTS for line in _report(report, found)]
        box = nodes.container(classes=["sb-coverage"])
        self.state.nested_parse(StringList([*_sums(found), *words]), self.content_offset, box)
        return [box]


def _sums(found: Sequence[Subject]) -> Iterator[str]:
    numbers, settings, claims = count(found)
    out = [each for each in found if not each.chapters]
    kinds = zip(count(out), ("numbers", "settings", "claims"), strict=True)
    left = join_words([f"{number} {what}" for number, what in kinds if number])
    yield (
        f"The reports print {numbers} numbers and {settings} settings, and make {claims} claims. "
        + (f"Chapters treat all but {left}; their rows say why." if left else "Chapters treat all.")
    )
    yield ""


def _report(report: str, found: Sequence[Subject]) -> Iterator[str]:
    about, own = REPORTS[report], [each for each in found if each.source == report]
    yield f"```{{rubric}} {plain(about.title)} ({plain(about.authors)}, {about.year})"
    yield "```"
    yield ""
    yield "| " + " | ".join(_HEADS) + " |"
    yield "|---|---|--:|--:|---|"
    for each in own:
        chapters = ", ".join(f"{{doc}}`chapters/{name}`" for name in each.chapters)
        where = chapters or f"left out: {plain(each.reason)}"
        claims = ", ".join(f"{number} {kind}" for kind, number in sorted(each.claims.items()))
        numbers = (str(number) if number else "" for number in (each.numbers, each.settings))
        yield f"| {plain(each.words)} | {where} | {' | '.join(numbers)} | {claims} |"
    yield ""


def add_coverage(app: Sphinx) -> None:
    """Make the directive known to Sphinx."""
    app.add_directive("coverage", CoverageDirective)
