"""Document nodes for charts, tables and evidence, and how HTML shows them."""

# docutils brings no types
# mypy: disable-error-code="import-untyped, misc, no-any-return"

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from sizebook.book.cited import ProjectBundles
from sizebook.book.directives.evidence_html import Place, render_fold
from sizebook.book.records import PublishedResult
from sizebook.model.plain_text import escape_html as escape
from sizebook.report.chart import MIME, render_svg
from sizebook.report.chart_words import describe_chart

_EMPTY_HEADER = re.compile(r"<th((?: (?!scope=)[\w-]+=\"[^\"]*\")*)(?: scope=\"\w+\")?></th>")
_STYLE = re.compile(r"<style>.*?</style>", re.DOTALL)


class sizebook_markup(nodes.General, nodes.Element):  # noqa: N801  (docutils spells nodes so)
    """Finished HTML that the search index leaves out: specifications and checksums."""


class sizebook_table(nodes.figure):  # noqa: N801
    """A table with caption; a class of its own, so that {numref} counts it as a table."""


def find_root(env: BuildEnvironment) -> Path:
    """Give the project's folder: the one with the book's folder in it."""
    return Path(env.srcdir).resolve().parent


def find_place(env: BuildEnvironment) -> Place:
    """Give the page that is being read, as folds need it."""
    return Place(env.docname, open_bundles(find_root(env)))


@functools.lru_cache(maxsize=1)
def open_bundles(root: Path) -> ProjectBundles:
    """Give the bundles of the project; all pages of one build look into the same."""
    return ProjectBundles(root)


def make_figure(record: PublishedResult, env: BuildEnvironment, notebook: str) -> nodes.figure:
    """Give a numbered figure: live chart, static picture, caption, evidence.

    The picture is drawn from the specification, which the checksum covers, and not taken from the
    notebook.
    """
    figure = nodes.figure(classes=["sb-figure"])
    alt = str(record.fields["alt"])
    figure += make_chart(record.bundle[MIME], alt, env, fluid=bool(record.fields["fluid"]))
    figure += nodes.caption("", str(record.fields["caption"]))
    figure += sizebook_markup("", html=render_fold(record, notebook, find_place(env)))
    return figure


def make_table(record: PublishedResult, env: BuildEnvironment, notebook: str) -> sizebook_table:
    """Give a numbered table with its caption above and its evidence below.

    The style sheet that Great Tables puts into each table is taken out; the book has one for all.
    """
    table = sizebook_table(classes=["sb-table"])
    table += nodes.caption("", str(record.fields["caption"]))
    table += nodes.raw("", bare_table(record.text("text/html")), format="html")
    table += sizebook_markup("", html=render_fold(record, notebook, find_place(env)))
    return table


def bare_table(html: str) -> str:
    """Give the HTML of a table without the style sheet that Great Tables puts into it.

    A header without words becomes a cell: it heads nothing.
    """
    return _EMPTY_HEADER.sub(r"<td\1></td>", _STYLE.sub("", html))


def make_chart(
    spec: dict[str, Any], alt: str, env: BuildEnvironment, *, fluid: bool
) -> nodes.container:
    """Give the place where the browser draws a chart, with the SVG for paper and no script.

    The text that stands for it is ``alt`` and what the specification says of axes and data.
    """
    shown = {name: value for name, value in spec.items() if name != "$schema"}  # outside address
    if fluid:
        shown["width"] = "container"
    words = f"{alt.rstrip('.')}. {describe_chart(spec)}".strip()
    chart = nodes.container(classes=["sb-chart"])
    chart += sizebook_markup(
        "",
        html=f'<div class="sb-live" data-words="{escape(words)}"></div>'
        f'<script type="application/json" class="sb-spec">{script_json(shown)}</script>',
    )
    picture = _store_svg(_draw(json.dumps(spec)), env)
    chart += nodes.image(uri=picture, alt=words, classes=["sb-static"])
    return chart


@functools.lru_cache(maxsize=64)
def _draw(spec: str) -> str:
    return render_svg(json.loads(spec))


def _store_svg(svg: str, env: BuildEnvironment) -> str:
    """Write the picture once, named by its content; a rewrite would touch other pages' files."""
    folder = Path(env.doctreedir) / "sizebook-svg"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{hashlib.sha256(svg.encode()).hexdigest()[:20]}.svg"
    if not file.exists():
        file.write_text(svg, encoding="utf-8")
    return "/" + Path(os.path.relpath(file, env.srcdir)).as_posix()


def script_json(data: Any) -> str:
    """Give JSON that cannot end the script element around it."""
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")


def _visit_markup(translator: Any, node: sizebook_markup) -> None:
    translator.body.append(node["html"])
    raise nodes.SkipNode


def _skip(_translator: Any, _node: nodes.Element) -> None:
    raise nodes.SkipNode


def _visit_figure(translator: Any, node: nodes.Element) -> None:
    translator.visit_figure(node)


def _depart_figure(translator: Any, node: nodes.Element) -> None:
    translator.depart_figure(node)


def _visit_entry(translator: Any, node: nodes.entry) -> None:
    """Write a cell as docutils does, and for a header what it heads."""
    type(translator).visit_entry(translator, node)
    scope = "col" if isinstance(node.parent.parent, nodes.thead) else "row"
    translator.body[-1] = translator.body[-1].replace("<th ", f'<th scope="{scope}" ', 1)


def _depart_entry(translator: Any, node: nodes.entry) -> None:
    type(translator).depart_entry(translator, node)


def _visit_citation(translator: Any, node: nodes.citation) -> None:
    """Write an entry of the bibliography with a role that still exists."""
    type(translator).visit_citation(translator, node)
    translator.body[-1] = translator.body[-1].replace("doc-biblioentry", "listitem")


def _depart_citation(translator: Any, node: nodes.citation) -> None:
    type(translator).depart_citation(translator, node)


def add_nodes(app: Sphinx) -> None:
    """Make the nodes known to Sphinx and its writers."""
    shown = (_visit_figure, _depart_figure)
    hidden = (_skip, None)
    app.add_node(sizebook_markup, html=(_visit_markup, None), latex=hidden, text=hidden, man=hidden)
    app.add_node(nodes.entry, override=True, html=(_visit_entry, _depart_entry))
    app.add_node(nodes.citation, override=True, html=(_visit_citation, _depart_citation))
    app.add_enumerable_node(sizebook_table, "table", html=shown, latex=shown, text=shown)
