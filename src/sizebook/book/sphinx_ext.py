"""The book's Sphinx extension: numbers, figures and tables of any chapter on any page.

In a page of text::

    It took {val}`chapters/odata-rest#total-time:.1f`.

    ```{sbfigure} chapters/odata-rest#times
    :name: fig-times
    ```

A key or notebook that is not there, and a format that does not fit, are warnings; the book is
built with warnings as errors. A page is rebuilt when a notebook it quotes changes.
"""

# docutils brings no types
# mypy: disable-error-code="import-untyped, misc, no-any-return"

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole

import sizebook
from sizebook.book.cited import number_anchor
from sizebook.book.directives.beside import add_beside
from sizebook.book.directives.calculator import CLASS as CALCULATOR
from sizebook.book.directives.calculator import SCRIPTS, STYLE
from sizebook.book.directives.claims import add_claims
from sizebook.book.directives.coverage import add_coverage
from sizebook.book.directives.evidence import add_evidence
from sizebook.book.directives.findings import add_findings
from sizebook.book.directives.nodes import (
    add_nodes,
    find_root,
    make_figure,
    make_table,
    sizebook_table,
)
from sizebook.book.directives.outputs import VegaLiteMime, add_folds, is_notebook
from sizebook.book.directives.registries import RegistryDirective
from sizebook.book.directives.reproductions import ReproductionsDirective
from sizebook.book.directives.rounds import RoundsDirective, name_round
from sizebook.book.directives.time_spent import add_time_spent
from sizebook.book.notebooks import is_so_far
from sizebook.book.records import PublishedResult, read_records
from sizebook.book.site import is_unmeasured
from sizebook.book.vega import SCRIPT as VEGA
from sizebook.book.vega import vega_script
from sizebook.model.errors import UserError
from sizebook.report.wording import format_scalar

__all__ = ["VegaLiteMime", "setup"]

LOG = logging.getLogger(__name__)

_STATIC = Path(__file__).parent / "static"
_THEME = Path(__file__).parent / "theme"


def find_record(
    env: BuildEnvironment, target: str, kind: str, location: Any
) -> PublishedResult | None:
    """Give the record that ``<page>#<key>`` names, or None: after a warning, or not measured."""
    docname, _, key = target.partition("#")
    notebook = Path(env.srcdir) / f"{docname}.ipynb"
    if not notebook.exists():
        if is_unmeasured(Path(env.srcdir), docname):
            return None
        _warn(env, "missing", f"no executed notebook {docname}.ipynb for {target!r}", location)
        return None
    env.note_dependency(str(notebook))
    try:
        record = read_records(notebook).get(key)
    except UserError as error:
        _warn(env, "record", str(error), location)
        return None
    if record is None and is_so_far(notebook):
        return None
    if record is None or record.kind != kind:
        _warn(env, "missing", f"no {kind} {key!r} in {docname}.ipynb", location)
        return None
    return record


def _absent(env: BuildEnvironment, target: str, kind: str) -> str:
    """Give the words for a result that is not there."""
    docname = target.partition("#")[0]
    if is_unmeasured(Path(env.srcdir), docname) or is_so_far(Path(env.srcdir) / f"{docname}.ipynb"):
        return "(not measured)"
    return f"[missing {kind}{target}]"


class ValueRole(SphinxRole):
    """{val}`chapters/odata-rest#ratio:.1f`: a number of a chapter, linked to its evidence."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Give the number with its unit."""
        target, _, spec = self.text.partition(":")
        target = target.strip()
        record = find_record(self.env, target, "value", self.get_location())
        if record is None:
            return [nodes.strong("", _absent(self.env, target, ""))], []
        fields = record.fields
        try:
            words = format_scalar(fields["value"], spec or fields["format"], fields["unit"])
        except ValueError as error:
            _warn(self.env, "format", f"cannot format {self.text!r}: {error}", self.get_location())
            return [nodes.strong("", f"[bad format {self.text}]")], []
        reference = addnodes.pending_xref(
            "",
            nodes.inline("", words),
            refdomain="std",
            reftype="ref",
            reftarget=_number_label(target.partition("#")[0], record.key),
            refexplicit=True,
            refwarn=True,
            refdoc=self.env.docname,
        )
        return [nodes.inline("", "", reference, classes=["sb-number"])], []


class _ResultDirective(SphinxDirective):
    """Shows a figure or table of a chapter; content replaces its caption."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {"name": directives.unchanged}
    kind: ClassVar[str]

    def make(self, record: PublishedResult, notebook: str) -> nodes.Element:
        raise NotImplementedError

    def run(self) -> list[nodes.Node]:
        target = self.arguments[0]
        record = find_record(self.env, target, self.kind, self.get_location())
        if record is None:
            return [nodes.paragraph("", _absent(self.env, target, f"{self.kind} "))]
        node = self.make(record, target.partition("#")[0])
        if self.content:
            words = nodes.Element()
            self.state.nested_parse(self.content, self.content_offset, words)
            caption = next(node.findall(nodes.caption))
            caption.children = []
            caption += words.children[0].children
        self.set_source_info(node)
        self.add_name(node)
        return [node]


class FigureDirective(_ResultDirective):
    """```{sbfigure} chapters/odata-rest#times```: a figure of a chapter on this page."""

    kind = "figure"

    def make(self, record: PublishedResult, notebook: str) -> nodes.Element:
        """Give the figure's node."""
        return make_figure(record, self.env, notebook)


class TableDirective(_ResultDirective):
    """```{sbtable} chapters/odata-rest#sizes```: a table of a chapter on this page."""

    kind = "table"

    def make(self, record: PublishedResult, notebook: str) -> nodes.Element:
        """Give the table's node."""
        return make_table(record, self.env, notebook)


def _finish_notebook(app: Sphinx, document: nodes.document) -> None:
    """Add the folds at the end of a notebook's page; make each number a target of links."""
    docname = app.env.docname
    notebook = is_notebook(app.env, docname)
    if notebook is None:
        return
    try:
        records = read_records(notebook)
    except UserError as error:
        _warn(app.env, "record", str(error), docname)
        return
    add_folds(document, records.values(), app.env)
    domain: Any = app.env.get_domain("std")
    for record in records.values():
        if record.kind == "value":
            label, anchor = _number_label(docname, record.key), number_anchor(record.key)
            domain.labels[label] = docname, anchor, record.key
            domain.anonlabels[label] = docname, anchor


def _refuse_maths(app: Sphinx, document: nodes.document) -> None:
    """Warn about a formula in TeX: what draws it would come from the network."""
    for node in document.findall(lambda each: isinstance(each, (nodes.math, nodes.math_block))):
        _warn(
            app.env,
            "maths",
            f"TeX formula {node.astext()!r}: the book carries no script that draws it; write it"
            r" as text or as MathML in a raw HTML block, and a dollar sign as \$",
            node,
        )


def _show_tex(translator: Any, node: nodes.Element) -> None:
    translator.body.append(translator.starttag(node, "code", "", CLASS="math"))
    translator.body.append(translator.encode(node.astext()) + "</code>")
    raise nodes.SkipNode


def _add_templates(_app: Sphinx, config: Config) -> None:
    """Put our own pieces of the theme before the theme's."""
    config.templates_path.insert(0, str(_THEME))


def _add_static(app: Sphinx) -> None:
    """Put style, script and the Vega bundle where Sphinx copies static files from."""
    folder = Path(app.doctreedir) / "sizebook-static"
    folder.mkdir(parents=True, exist_ok=True)
    for file in (vega_script(find_root(app.env)), *_STATIC.iterdir()):
        shutil.copyfile(file, folder / file.name)
    app.config.html_static_path.append(str(folder))


def _add_scripts(
    app: Sphinx, _page: str, _template: str, _context: Any, document: nodes.document | None
) -> None:
    """Load the Vega bundle on pages that have charts, the calculator where one is, no other."""
    if document is None:
        return
    app.add_js_file("sizebook.js", priority=602, loading_method="defer")
    if any("sb-chart" in box.get("classes", ()) for box in document.findall(nodes.container)):
        app.add_js_file(VEGA, priority=600, loading_method="defer")
    if any(CALCULATOR in box.get("classes", ()) for box in document.findall(sizebook_table)):
        for place, script in enumerate(SCRIPTS):
            app.add_js_file(script, priority=603 + place, loading_method="defer")
        app.add_css_file(STYLE, priority=901)


def _number_label(docname: str, key: str) -> str:
    return f"number:{docname}#{key}".lower()


def _warn(env: BuildEnvironment, subtype: str, message: str, location: Any) -> None:
    """Warn now and at every later build: a page with a warning is never taken as up to date."""
    env.note_reread()
    LOG.warning("%s", message, location=location, type="sizebook", subtype=subtype)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register roles, directives, nodes and events with Sphinx."""
    add_nodes(app)
    add_claims(app)
    add_findings(app)
    add_coverage(app)
    add_time_spent(app)
    add_beside(app)
    add_evidence(app)
    app.add_role("val", ValueRole())
    app.add_directive("sbfigure", FigureDirective)
    app.add_directive("sbtable", TableDirective)
    app.add_directive("sbregistry", RegistryDirective)
    app.add_directive("sbreproductions", ReproductionsDirective)
    app.add_directive("sbrounds", RoundsDirective)
    app.add_html_math_renderer("sizebook", (_show_tex, None), (_show_tex, None))
    app.add_css_file("sizebook.css", priority=900)
    app.connect("config-inited", _add_templates, priority=900)  # behind the themes
    app.connect("config-inited", name_round)
    app.connect("builder-inited", _add_static)
    app.connect("doctree-read", _finish_notebook)
    app.connect("doctree-read", _refuse_maths)
    app.connect("html-page-context", _add_scripts)
    return {
        "version": sizebook.__version__,
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
