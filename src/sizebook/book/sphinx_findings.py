"""```{findings}```: what the book found, from its ledger, on the landing page.

A sentence with the counts, the chart of claims by part and verdict, and the claims that stand out.
"""

# docutils brings no types
# mypy: disable-error-code="import-untyped, misc, no-any-return"

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from sizebook.book.findings import TESTED, find_findings
from sizebook.book.findings_html import render_counts, render_outstanding
from sizebook.book.sphinx_claims import read_rows
from sizebook.book.sphinx_nodes import make_chart
from sizebook.report.chart import prepare_chart
from sizebook.report.verdict_chart import verdict_chart

_CAPTION = (
    "Claims by part of the book and verdict. Confirmed and contradicted are shown by valid trials; "
    "undetermined means that they show neither."
)
_ALT = "Bar chart: number of claims in each part of the book, by verdict"


class sizebook_outstanding(nodes.General, nodes.Element):  # noqa: N801  (docutils spells nodes so)
    """The claims that stand out; their addresses are known only when the page is written."""


class FindingsDirective(SphinxDirective):
    """```{findings}```: counts, chart, and what stands out."""

    def run(self) -> list[nodes.Node]:
        """Return the nodes; without a claim that was tested, the words that say so alone."""
        found = find_findings(read_rows(self.env, self.get_location()))
        shown: list[nodes.Node] = [nodes.raw("", render_counts(found), format="html")]
        if any(found.states[state] for state in TESTED):
            spec, fluid = prepare_chart(verdict_chart(found.parts))
            figure = nodes.figure(classes=["sb-figure"])
            figure += make_chart(spec, _ALT, self.env, fluid=fluid)
            figure += nodes.caption("", _CAPTION)
            shown += [figure, sizebook_outstanding("", rows=found.outstanding)]
        return shown


def _visit(translator: Any, node: sizebook_outstanding) -> None:
    builder = translator.builder
    here = builder.current_docname
    html = render_outstanding(node["rows"], lambda page: builder.get_relative_uri(here, page))
    translator.body.append(html)
    raise nodes.SkipNode


def _skip(_translator: Any, _node: nodes.Element) -> None:
    raise nodes.SkipNode


def add_findings(app: Sphinx) -> None:
    """Make directive and node known to Sphinx."""
    hidden = (_skip, None)
    app.add_node(sizebook_outstanding, html=(_visit, None), latex=hidden, text=hidden, man=hidden)
    app.add_directive("findings", FindingsDirective)
