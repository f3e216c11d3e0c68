"""A last section of each chapter that was measured here and is published too: both side by side."""

# docutils brings no types
# mypy: disable-error-code="import-untyped, misc, no-any-return"

from __future__ import annotations

import functools
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

from sizebook.book.compared.beside import compare_with_published
from sizebook.book.compared.comparison import RunComparison
from sizebook.book.directives.beside_html import render_beside
from sizebook.book.directives.nodes import find_root
from sizebook.book.site import CHAPTERS
from sizebook.model.errors import UserError
from sizebook.store import Project

LOG = logging.getLogger(__name__)

TITLE = "Beside the published round"
ANCHOR = "beside-the-published-round"


@functools.lru_cache(maxsize=1)
def _compared(root: Path) -> RunComparison | None:
    """Return the comparison of the whole book, made once a build."""
    return compare_with_published(Project(root))


def _add_section(app: Sphinx, document: nodes.document) -> None:
    """Put the section behind the last one of a chapter, if there is something to compare."""
    page = app.env.docname
    if not page.startswith(CHAPTERS):
        return
    try:
        found = _compared(find_root(app.env))
    except UserError as error:
        app.env.note_reread()
        LOG.warning("%s", error, location=page, type="sizebook", subtype="published")
        return
    html = "" if found is None else render_beside(found, page.removeprefix(CHAPTERS))
    if not html:
        return
    section = nodes.section(ids=[ANCHOR], names=[ANCHOR])
    section += nodes.title("", TITLE)
    section += nodes.raw("", html, format="html")
    top = next(document.findall(nodes.section), document)
    top += section


def add_beside(app: Sphinx) -> None:
    """Have every chapter's page completed."""
    app.connect("doctree-read", _add_section, priority=400)  # before the contents are collected
