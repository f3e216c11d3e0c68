"""Pages that document themselves: rules, metrics, counters, profiles, settings from the code."""

# docutils brings no types
# mypy: disable-error-code="import-untyped, misc, no-any-return"

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

import sizebook
from sizebook.book.audit.rules import RULES as AUDIT_RULES
from sizebook.book.audit.rules import AuditRule
from sizebook.checks import RULES, SET_RULES, TURN_RULES, Rule, SetRule, TurnRule
from sizebook.lab.profiles import PROFILES
from sizebook.model.metrics import METRICS
from sizebook.probes.registry import COUNTERS
from sizebook.report.limiter import describe_kinds
from sizebook.stack.postgres import SETTINGS as DATABASE_SETTINGS
from sizebook.stack.settings import PROPERTIES


class RegistryDirective(SphinxDirective):
    """```{sbregistry} rules```: what the code declares, as definitions or a table."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the registry's nodes; an unknown name is an error of the page."""
        name = self.arguments[0]
        if name not in REGISTRIES:
            raise self.error(f"no registry {name!r}; there are {', '.join(REGISTRIES)}")
        for source in _SOURCES:
            self.env.note_dependency(source)
        return [REGISTRIES[name]()]


def _rules() -> nodes.Element:
    """Return one definition a rule: what it compares and why, and what to do."""
    items = nodes.definition_list()
    every: tuple[Rule | TurnRule, ...] = (*RULES, *TURN_RULES)
    items += [_rule(rule, _said("Otherwise the trial is: ", rule.verdict)) for rule in every]
    return items


def _set_rules() -> nodes.Element:
    """Return one definition a rule over the trials of a design."""
    items = nodes.definition_list()
    items += [_rule(rule) for rule in SET_RULES]
    return items


def _audit_rules() -> nodes.Element:
    """Return one definition a rule of the audit."""
    items = nodes.definition_list()
    items += [_rule(rule, _said("Severity: ", rule.severity)) for rule in AUDIT_RULES]
    return items


def _said(what: str, words: str) -> nodes.Element:
    return nodes.paragraph("", "", nodes.emphasis("", what), nodes.Text(words))


def _term(name: str, title: str) -> nodes.Element:
    return nodes.term("", "", nodes.literal("", name), nodes.Text(f" {title}"))


def _rule(rule: Rule | SetRule | TurnRule | AuditRule, *more: nodes.Element) -> nodes.Element:
    term = _term(rule.id, rule.title)
    term["ids"].append(rule.id.lower())
    body = nodes.definition()
    body += nodes.paragraph("", rule.meaning)
    advice = nodes.paragraph("", "", nodes.emphasis("", "What to do: "))
    advice += nodes.Text(rule.remedy)
    body += [advice, *more]
    return nodes.definition_list_item("", term, body)


def _metrics() -> nodes.Element:
    """Return one definition a metric: what it is, its unit, and how it is read."""
    items = nodes.definition_list()
    for one in METRICS.values():
        read = [
            *([f"in {one.unit}"] if one.unit else []),
            "neither direction is better" if one.better == "neither" else f"{one.better} is better",
            "transferable" if one.transferable else "not transferable",
            f"rests on {one.basis}",
        ]
        body = nodes.definition()
        body += [nodes.paragraph("", one.definition), nodes.paragraph("", "; ".join(read))]
        if one.by_role:
            body += _said("Of one role: ", f"the column is called as in app_{one.name}")
        items += nodes.definition_list_item("", _term(one.name, one.title), body)
    return items


def _counters() -> nodes.Element:
    rows = [
        (c.name, c.source, c.unit, c.kind, c.meaning + (f", by {c.label}" if c.label else ""))
        for c in COUNTERS.values()
    ]
    return registry_table(("Counter", "Source", "Unit", "Kind", "Meaning"), rows, literal=1)


def _limiters() -> nodes.Element:
    rows = [
        (name, "shown only" if threshold is None else f"{threshold:.0f}", meaning)
        for name, threshold, meaning in describe_kinds().iter_rows()
    ]
    return registry_table(("Limiter", "Named from (%)", "What it is"), rows, literal=1)


def _profiles() -> nodes.Element:
    rows = [
        (
            p.name,
            str(p.replicates),
            "treatment" if p.fresh_starts else "deployment",
            f"{p.conditioning_s:g}",
            f"{p.phases.warmup_s:g}",
            f"{p.phases.measured_s:g}, or {p.rounds} turns of {p.turns.turn_s:g}",
            p.promise,
        )
        for p in PROFILES.values()
    ]
    heads = ("Profile", "Blocks", "Start for each", "Conditioning, at most (s)", "Warm-up (s)")
    return registry_table((*heads, "Measured (s)", "What it is for"), rows, literal=1)


def _settings() -> nodes.Element:
    rows = [("app, backend", name, value) for name, value in PROPERTIES.items()]
    rows += [("database", name, value) for name, value in DATABASE_SETTINGS.items()]
    return registry_table(
        ("Role", "Setting", "Property, or value that differs from the default"), rows
    )


def registry_table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], literal: int = 0
) -> nodes.Element:
    """Return a table; the first ``literal`` columns are set as code."""
    group = nodes.tgroup(cols=len(heads))
    group += [nodes.colspec(colwidth=1) for _ in heads]
    group += nodes.thead("", _row(heads, 0))
    group += nodes.tbody("", *[_row(row, literal) for row in rows])
    return nodes.table("", group, classes=["sb-registry"])


def _row(cells: Sequence[str], literal: int) -> nodes.row:
    row = nodes.row()
    for number, cell in enumerate(cells):
        text = nodes.literal("", cell) if number < literal else nodes.Text(cell)
        row += nodes.entry("", nodes.paragraph("", "", text))
    return row


_PACKAGE = Path(sizebook.__file__).parent
_SOURCES = [
    str(path)
    for pattern in ("checks/*.py", "model/metrics.py", "probes/registry.py", "lab/profiles.py",
                    "report/limiter*.py", "stack/*.py", "book/audit/rules.py")
    for path in sorted(_PACKAGE.glob(pattern))
]  # fmt: skip
"""A page that shows a registry is built again when one of these changes."""

REGISTRIES: dict[str, Callable[[], nodes.Element]] = {
    "rules": _rules,
    "set-rules": _set_rules,
    "audit-rules": _audit_rules,
    "metrics": _metrics,
    "counters": _counters,
    "limiters": _limiters,
    "profiles": _profiles,
    "settings": _settings,
}
