"""```{findings}```: the ledger at a glance, a sentence with counts and the chart of verdicts."""

# docutils brings no types
# mypy: disable-error-code="import-untyped, misc, no-any-return"

from __future__ import annotations

from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from sizebook.book.directives.claims import read_rows
from sizebook.book.directives.nodes import make_chart
from sizebook.book.ledger.counts_html import render_counts
from sizebook.book.ledger.findings import find_findings
from sizebook.report.chart import prepare_chart
from sizebook.report.verdict_chart import verdict_chart

_CAPTION = (
    "Claims of the reports by part of the book and verdict, and this book's own. An undetermined "
    "claim needs more or better trials. A claim without a verdict was tested by a stand-in, or "
    "needs another machine."
)
_ALT = "Bar chart: number of claims in each part of the book, by verdict"


class FindingsDirective(SphinxDirective):
    """```{findings}```: counts and chart; with ``:counts:`` the counts alone."""

    option_spec: ClassVar[dict[str, Any]] = {"counts": directives.flag}

    def run(self) -> list[nodes.Node]:
        """Return the nodes; without a claim that was tested, the words that say so alone."""
        found = find_findings(read_rows(self.env, self.get_location()))
        shown: list[nodes.Node] = [nodes.raw("", render_counts(found), format="html")]
        if "counts" not in self.options and found.measured:
            spec, fluid = prepare_chart(verdict_chart(found.parts))
            figure = nodes.figure(classes=["sb-figure"])
            figure += make_chart(spec, _ALT, self.env, fluid=fluid)
            figure += nodes.caption("", _CAPTION)
            shown.append(figure)
        return shown


def add_findings(app: Sphinx) -> None:
    """Make the directive known to Sphinx."""
    app.add_directive("findings", FindingsDirective)
