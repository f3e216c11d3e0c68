"""How the outputs of notebooks look in their own page: figures, tables and prose with evidence."""

# docutils brings no types
# mypy: disable-error-code="import-untyped"

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from sizebook.book.cited import number_anchor, result_anchor
from sizebook.book.directives.calculator import make_calculator
from sizebook.book.directives.claims import make_caveat, make_claim
from sizebook.book.directives.evidence_html import render_bundles, render_numbers
from sizebook.book.directives.nodes import (
    find_place,
    make_chart,
    make_figure,
    make_table,
    sizebook_markup,
)
from sizebook.book.records import PublishedResult, read_records
from sizebook.model.errors import UserError
from sizebook.report.chart import MIME
from sizebook.report.showing import METADATA_KEY

LOG = logging.getLogger(__name__)

_HTML: dict[str, Callable[[PublishedResult, BuildEnvironment], nodes.Element]] = {
    "table": lambda record, env: make_table(record, env, env.docname),
    "calculator": make_calculator,
    "claim": make_claim,
}
"""How the results look that are shown as HTML, by kind."""
_MARK = re.compile("\ue000([0-9]+)\ue001")


class VegaLiteMime:
    """Shows published outputs and plain charts; found by myst-nb through its entry point.

    myst-nb asks for every representation of every output. The one that the book uses becomes the
    figure, table or paragraph while the page is read, so that it gets a number; the others of the
    same output give nothing.
    """

    mime_priority_overrides: ClassVar[list[tuple[str, str, int | None]]] = [
        (builder, MIME, 1) for builder in ("html", "dirhtml", "singlehtml")
    ]

    @staticmethod
    def handle_mime(renderer: Any, data: Any, inline: bool) -> list[nodes.Node] | None:
        """Give the nodes of one representation, or None to leave it to myst-nb."""
        env: BuildEnvironment = renderer.renderer.sphinx_env
        if inline or env is None:
            return None
        fields = dict(data.output_metadata or {}).get(METADATA_KEY)
        if fields is None:
            if data.mime_type != MIME:
                return None
            return [make_chart(dict(data.content), "chart", env, fluid=False)]
        record = PublishedResult(
            fields["kind"], fields["key"], fields, {data.mime_type: data.content}
        )
        return _show(_with_cell(record, env), renderer, data)


def add_folds(
    document: nodes.document, records: Iterable[PublishedResult], env: BuildEnvironment
) -> None:
    """Add what a notebook's results share at the end of its page: all numbers, all bundles."""
    listed, place = list(records), find_place(env)
    numbers = [record for record in listed if record.kind == "value"]
    folds = [render_numbers(numbers, place) if numbers else "", render_bundles(listed, place)]
    sections = [each for each in document.children if isinstance(each, nodes.section)]
    end = sections[-1] if sections else document
    end.extend(sizebook_markup("", html=fold) for fold in folds if fold)


def _with_cell(record: PublishedResult, env: BuildEnvironment) -> PublishedResult:
    """Give the record with the cell that published it; myst-nb tells only the output."""
    try:
        known = read_records(Path(env.doc2path(env.docname))).get(record.key)
    except UserError:  # said when the page is finished
        return record
    if known is None or known.kind != record.kind:
        return record
    cell = (known.cell, known.cell_id, known.cell_source)
    return PublishedResult(record.kind, record.key, record.fields, record.bundle, *cell)


def _show(record: PublishedResult, renderer: Any, data: Any) -> list[nodes.Node]:
    env: BuildEnvironment = renderer.renderer.sphinx_env
    match record.kind, data.mime_type:
        case "figure", mime_type if mime_type == MIME:
            return [_named(make_figure(record, env, env.docname), record, renderer)]
        case kind, "text/html" if kind in _HTML:
            return [_named(_HTML[kind](record, env), record, renderer)]
        case "prose", "text/markdown":
            said = _make_prose(record, renderer, data.line or 0)
            for claim in record.fields.get("claims", ()):
                if caveat := make_caveat(claim, env):
                    return caveat.before(said)
            return [said]
        case "value", "text/plain":
            return [_make_value(record, str(data.content))]
        case _:
            return []


def _named(node: nodes.Element, record: PublishedResult, renderer: Any) -> nodes.Element:
    """Give the figure the label ``<chapter>-<key>``, so that {numref} reaches it from any page."""
    node["names"].append(f"{record.evidence['chapter']}-{record.key}")
    node["ids"].append(result_anchor(record.key))
    renderer.renderer.document.note_explicit_target(node, node)
    return node


def _make_value(record: PublishedResult, text: str) -> nodes.Element:
    line = nodes.paragraph(classes=["sb-value"])
    line += nodes.reference("", text, refid=number_anchor(record.key), internal=True)
    return line


def _make_prose(record: PublishedResult, renderer: Any, line: int) -> nodes.Element:
    """Give the paragraph: the author's Markdown is parsed first, the numbers are put in after.

    So nothing that comes from data passes the parser.
    """
    texts, numbers = record.fields["texts"], record.fields["numbers"]
    marks = [f"\ue000{index}\ue001" for index in range(len(numbers))]
    source = "".join(text + mark for text, mark in zip(texts, [*marks, ""], strict=True))
    box = nodes.container(classes=["sb-prose"])
    with renderer.renderer.current_node_context(box):
        renderer.renderer.nested_render_text(source, line)
    placed = 0
    for text in [each for each in box.findall(nodes.Text) if "\ue000" in each]:
        pieces = _MARK.split(str(text))
        filled: list[nodes.Node] = []
        for index, piece in enumerate(pieces):
            if index % 2:
                filled.append(_make_number(numbers[int(piece)]))
                placed += 1
            elif piece:
                filled.append(nodes.Text(piece))
        text.parent.replace(text, filled)
    if placed != len(numbers):
        LOG.warning(
            "prose shows %d of its %d numbers: a placeholder stands in a link or in HTML",
            placed,
            len(numbers),
            location=(renderer.renderer.sphinx_env.docname, line),
            type=METADATA_KEY,
            subtype="prose",
        )
    return box


def _make_number(number: dict[str, Any]) -> nodes.Element:
    span = nodes.inline(classes=["sb-number"])
    span += nodes.reference("", number["words"], refid=number_anchor(number["key"]), internal=True)
    return span


def is_notebook(env: BuildEnvironment, docname: str) -> Path | None:
    """Give the notebook behind a page, or None for a page of text."""
    path = Path(env.doc2path(docname))
    return path if path.suffix == ".ipynb" else None
