"""Claims on pages: cards in chapters, the ledger, and words that hold only with a verdict.

In a page of text::

    ```{claims-ledger}
    ```

    What the report says is {claim}`gw-threads-1`: {confirmed}`more threads help <gw-threads-1>`,
    by {effect}`gw-threads-1`.

``{claim}`` shows the verdict, whatever it is, ``{effect}`` the ratio. ``{confirmed}`` and
``{contradicted}`` show their words, and warn when the data do not bear them; the book is built with
warnings as errors.
"""

# docutils brings no types
# mypy: disable-error-code="import-untyped, misc, no-any-return"

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole

from sizebook.book.cited import ProjectBundles
from sizebook.book.directives.evidence_html import render_fold
from sizebook.book.directives.nodes import find_place, find_root, sizebook_markup
from sizebook.book.ledger.discoveries import DECIDED
from sizebook.book.ledger.rows import LedgerRow, faults, in_question, read_ledger, stand_of
from sizebook.book.ledger.standing import Standing, card_rows
from sizebook.book.ledger.table_html import ledger_anchor, render_ledger
from sizebook.book.ledger.tables import ClaimTables, read_tables
from sizebook.book.records import PublishedResult, read_records
from sizebook.book.site import is_unmeasured, list_pages
from sizebook.model.claim import OWN, ClaimOutcome
from sizebook.model.errors import UserError
from sizebook.report.claim_card import effect_words, render_card
from sizebook.report.claims import find_claim
from sizebook.store import Project

LOG = logging.getLogger(__name__)

_TARGET = re.compile(r"(?P<words>.+?)\s*<(?P<claim>[a-z0-9-]+)>", re.DOTALL)


class sizebook_ledger(nodes.General, nodes.Element):  # noqa: N801  (docutils spells nodes so)
    """The ledger's rows; its addresses are known only when the page is written."""


def make_claim(record: PublishedResult, env: BuildEnvironment) -> nodes.container:
    """Return a decided claim as it stands in its chapter: the card, and its evidence below.

    The card is drawn from the record, whose checksum the evidence holds, not from the notebook's.
    """
    outcome = ClaimOutcome.from_record(record.fields["claim"])
    if outcome.source == OWN:
        claim = outcome.as_claim()
    else:
        claim = find_claim(outcome.claim_id, Project(find_root(env)))
    standing = _stand(record, outcome, env)
    box = nodes.container(classes=["sb-claim-box"])
    card = render_card(outcome, claim, standing.instead or "", card_rows(outcome, standing))
    box += nodes.raw("", card, format="html")
    box += sizebook_markup("", html=render_fold(record, env.docname, find_place(env)))
    return box


def inverse(
    effect: float, low: float | None, high: float | None
) -> tuple[float, float | None, float | None]:
    """Return a ratio and its interval the other way round; no end where that would be infinite."""
    return 1 / effect, 1 / high if high else None, 1 / low if low else None


@dataclass(frozen=True)
class Caveat:
    """Why no verdict is behind the prose about a claim."""

    standing: Standing
    outcome: ClaimOutcome

    def before(self, said: nodes.Element) -> list[nodes.Node]:
        """Return what a reader sees: the reason first, then the prose if it states a result."""
        line = nodes.paragraph(classes=["sb-caveat"])
        line += nodes.strong("", f"No verdict ({self.standing.instead}): ")
        line += nodes.Text(f"{self.standing.why}.")
        if self.outcome.verdict not in DECIDED:
            return [line]
        line += nodes.Text(" The result of the test:")
        return [line, said]


def make_caveat(claim_id: str, env: BuildEnvironment) -> Caveat | None:
    """Return what prose about a claim of its page is read with; None where it has a verdict."""
    decided = read_records(Path(env.doc2path(env.docname))).get(claim_id)
    if decided is None:
        return None
    outcome = ClaimOutcome.from_record(decided.fields["claim"])
    standing = _stand(decided, outcome, env)
    return Caveat(standing, outcome) if standing.instead is not None else None


def _stand(record: PublishedResult, outcome: ClaimOutcome, env: BuildEnvironment) -> Standing:
    """Return what a claim's answer counts for; its page is read again when the tables change."""
    root = find_root(env)
    tables = sorted((root / "data" / "claims").glob("*.csv"))
    for path in tables:
        env.note_dependency(str(path))
    try:
        known, at_hand = _tables_once(root, tuple(path.stat().st_mtime_ns for path in tables))
    except UserError as error:
        _warn(env, "ledger", str(error), env.docname)
        return Standing()
    return stand_of(outcome, record, known, at_hand)


@functools.lru_cache(maxsize=1)
def _tables_once(root: Path, _made_ns: tuple[int, ...]) -> tuple[ClaimTables, ProjectBundles]:
    """Return what dozens of claims on the pages of a book ask for."""
    return read_tables(root), ProjectBundles(root)


class LedgerDirective(SphinxDirective):
    """```{claims-ledger}```: all claims with their verdicts; ``:all:`` also untransferable ones."""

    option_spec: ClassVar[dict[str, Any]] = {"all": directives.flag}

    def run(self) -> list[nodes.Node]:
        """Return the ledger; a claim that a chapter leaves out is a warning."""
        rows = read_rows(self.env, self.get_location())
        for fault in faults(rows):
            _warn(self.env, "undecided", fault, self.get_location())
        shown = rows if "all" in self.options else in_question(rows)
        domain: Any = self.env.get_domain("std")
        for row in shown:
            anchor = ledger_anchor(row.claim.claim_id)
            domain.labels[_label(row.claim.claim_id)] = self.env.docname, anchor, anchor
            domain.anonlabels[_label(row.claim.claim_id)] = self.env.docname, anchor
        return [sizebook_ledger("", rows=shown)]


class ClaimRole(SphinxRole):
    """{claim}`gw-threads-1`: the verdict of a claim, linked to its row of the ledger."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the badge."""
        row = _find(self.env, self.text.strip(), self.get_location())
        if row is None:
            return [nodes.strong("", f"(not run: {self.text})")], []
        classes = ["sb-badge", f"sb-is-{row.state.replace(' ', '-')}"]
        return [_link(self.env, row.claim.claim_id, row.state, classes)], []


class EffectRole(SphinxRole):
    """{effect}`gw-size-1`: the measured ratio of a claim with its interval, linked to its card.

    {effect}`gw-size-1:inverse` is that of right over left.
    """

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the words; what never has a ratio is a warning, one not yet known is none."""
        claim_id, _, way = self.text.strip().partition(":")
        row = _find(self.env, claim_id, self.get_location())
        found = row.outcome if row is not None else None
        if way not in ("", "inverse") or (found is not None and _is_event(found)):
            message = f"{self.text!r} is about an event, or another way than 'inverse'"
            _warn(self.env, "claim", message, self.get_location())
        if found is None or found.effect is None:
            return [nodes.strong("", f"(not known: {claim_id})")], []
        ends = found.effect, found.low, found.high
        effect, low, high = inverse(*ends) if way else ends
        words = effect_words(effect, low, high, found.n)
        return [_link(self.env, claim_id, words, ["sb-number"])], []


def _is_event(outcome: ClaimOutcome) -> bool:
    return outcome.least is None and outcome.verdict != "not run"


class AssertingRole(SphinxRole):
    """{confirmed}`words <gw-threads-1>`: words that stand only if the claim has that verdict."""

    def __init__(self, verdict: str) -> None:
        super().__init__()
        self.verdict = verdict

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the words, linked to the claim; another verdict is a warning."""
        found = _TARGET.fullmatch(self.text.strip())
        if found is None:
            message = f"{self.text!r} names no claim: write {{{self.verdict}}}`words <claim-id>`"
            _warn(self.env, "claim", message, self.get_location())
            return [nodes.Text(self.text)], []
        words, claim_id = found["words"], found["claim"]
        row = _find(self.env, claim_id, self.get_location())
        if row is None:
            return [nodes.Text(words)], []
        if row.state != self.verdict:
            message = (
                f"the page says that claim {claim_id} is {self.verdict}, its data say "
                f"{row.state}: {row.reason}"
            )
            _warn(self.env, "verdict", message, self.get_location())
        return [_link(self.env, claim_id, words, ["sb-asserted"])], []


def _link(env: BuildEnvironment, claim_id: str, words: str, classes: list[str]) -> nodes.inline:
    """Return words that lead to the claim's row of the ledger, on whatever page it stands."""
    reference = addnodes.pending_xref(
        "",
        nodes.inline("", words),
        refdomain="std",
        reftype="ref",
        reftarget=_label(claim_id),
        refexplicit=True,
        refwarn=True,
        refdoc=env.docname,
    )
    return nodes.inline("", "", reference, classes=classes)


def _find(env: BuildEnvironment, claim_id: str, location: Any) -> LedgerRow | None:
    """Return a claim's row, or None: after a warning, or of a chapter that a partial book lacks."""
    for row in read_rows(env, location):
        if row.claim.claim_id == claim_id:
            return row
    pages = _pages(env, find_root(env))
    if not claim_id.startswith("own-") or not any(
        is_unmeasured(Path(env.srcdir), p) for p in pages
    ):
        _warn(env, "claim", f"no claim {claim_id!r} in the ledger", location)
    return None


def read_rows(env: BuildEnvironment, location: Any) -> list[LedgerRow]:
    """Return the ledger; the page is read again when something changes that it is made from."""
    root = find_root(env)
    pages = tuple(_pages(env, root))
    sources = _sources(root, pages)
    for path in sources:
        env.note_dependency(str(path))
    try:
        return _read_once(root, pages, tuple(path.stat().st_mtime_ns for path in sources))
    except UserError as error:
        _warn(env, "ledger", str(error), location)
        return []


@functools.lru_cache(maxsize=1)
def _read_once(root: Path, pages: tuple[str, ...], _made_ns: tuple[int, ...]) -> list[LedgerRow]:
    """Return the ledger that dozens of claims in the texts of a book ask for."""
    return read_ledger(root, pages)


def _pages(env: BuildEnvironment, root: Path) -> list[str]:
    toc = root / "book" / "_toc.yml"
    return list_pages(toc) if toc.exists() else sorted(env.found_docs)


def _sources(root: Path, pages: Sequence[str]) -> list[Path]:
    tables = sorted((root / "data" / "claims").glob("*.csv"))
    tables += [root / "data" / "reported" / "claims.csv", root / "book" / "_toc.yml"]
    notebooks = [root / "book" / f"{page}.ipynb" for page in pages]
    return [path for path in [*tables, *notebooks] if path.exists()]


def _label(claim_id: str) -> str:
    return f"claim:{claim_id}"


def _warn(env: BuildEnvironment, subtype: str, message: str, location: Any) -> None:
    env.note_reread()
    LOG.warning("%s", message, location=location, type="sizebook", subtype=subtype)


def _visit_ledger(translator: Any, node: sizebook_ledger) -> None:
    builder = translator.builder
    here = builder.current_docname
    html = render_ledger(node["rows"], lambda page: builder.get_relative_uri(here, page))
    translator.body.append(html)
    raise nodes.SkipNode


def _list_ledger(translator: Any, node: sizebook_ledger) -> None:
    """Show no more than the number of claims where there is no HTML."""
    translator.add_text(f"{len(node['rows'])} claims: see the book in HTML.")
    raise nodes.SkipNode


def _skip(_translator: Any, _node: nodes.Element) -> None:
    raise nodes.SkipNode


def add_claims(app: Sphinx) -> None:
    """Make directive, roles and the node known to Sphinx."""
    hidden = (_skip, None)
    shown = (_visit_ledger, None)
    app.add_node(sizebook_ledger, html=shown, latex=hidden, text=(_list_ledger, None), man=hidden)
    app.add_directive("claims-ledger", LedgerDirective)
    app.add_role("claim", ClaimRole())
    app.add_role("effect", EffectRole())
    for verdict in ("confirmed", "contradicted"):
        app.add_role(verdict, AssertingRole(verdict))
    app.add_css_file("claims.css", priority=901)
    app.connect("html-page-context", _add_script)


def _add_script(
    app: Sphinx, _page: str, _template: str, _context: Any, document: nodes.document | None
) -> None:
    if document is not None and next(iter(document.findall(sizebook_ledger)), None):
        app.add_js_file("claims.js", priority=603, loading_method="defer")
