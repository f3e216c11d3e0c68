"""The calculator in its page: a form that the book's script answers, and a table that stands alone.

Form and model are made from the record, whose checksum the evidence holds; the table of standard
answers is what paper and browsers without scripts show.
"""

# docutils brings no types
# mypy: disable-error-code="import-untyped, no-any-return"

from __future__ import annotations

from docutils import nodes
from sphinx.environment import BuildEnvironment

from sizebook.book.directives.evidence_html import render_fold
from sizebook.book.directives.nodes import (
    bare_table,
    find_place,
    script_json,
    sizebook_markup,
    sizebook_table,
)
from sizebook.book.records import PublishedResult
from sizebook.model.plain_text import escape_html as escape
from sizebook.report.calculator import first_question
from sizebook.report.calculator_words import STATISTICS, as_data
from sizebook.report.candidate_words import usual_sizes
from sizebook.stats.sizing import Demanded, SizingModel

CLASS = "sb-calculator"
SCRIPTS, STYLE = ("sizing.js", "curve.js", "calculator.js"), "calculator.css"
"""The arithmetic, the chart, and the form that needs both."""


def make_calculator(record: PublishedResult, env: BuildEnvironment) -> sizebook_table:
    """Return the numbered calculator: caption, form, standard answers, evidence."""
    model = SizingModel.from_record(record.fields["model"])
    data = script_json(as_data(model))
    box = sizebook_table(classes=["sb-table", CLASS])
    box += nodes.caption("", str(record.fields["caption"]))
    html = _form(model, first_question(model))
    html += f'<script type="application/json" class="sb-model">{data}</script>'
    box += sizebook_markup("", html=html)
    box += nodes.raw("", bare_table(record.text("text/html")), format="html")
    box += sizebook_markup("", html=render_fold(record, env.docname, find_place(env)))
    return box


def _form(model: SizingModel, first: Demanded) -> str:
    """Return the form, hidden until the script is there; each field has its label around it."""
    rate = first.users / max(first.think_s, 1.0) if first.users else first.rate_per_s
    statistics = "".join(
        f'<option value="{key}">{escape(words)}</option>' for key, words in STATISTICS.items()
    )
    users = _number("users", "Users", first.users or model.domain.users[0], 1)
    think = _number("think", "Think time (s)", first.think_s, 0)
    requests = _number("rate", "Requests a second", rate or 1.0, 0)
    limit = _number("limit", "At most (ms)", 1e3 * first.limit_s, 0)
    return f"""<form hidden aria-label="Sizing calculator">
<fieldset><legend>Load</legend>
<label><input type="radio" name="kind" value="users" checked> users who think</label>
<label><input type="radio" name="kind" value="rate"> requests or messages a second</label>
<div data-kind="users">{users}{think}</div>
<div data-kind="rate" hidden>{requests}</div>
{_number("growth", "Growth (% a year)", 0, 0)}
{_number("months", "Months of growth", 12, 0)}
{_number("headroom", "Headroom (%)", 0, 0)}</fieldset>
<fieldset><legend>Criterion</legend>
<label>Response time <select name="statistic">{statistics}</select></label>
{limit}
{_number("ceiling", "CPU use at most (%)", 100, 1, 100)}
{_number("failures", "Nodes that may fail", 0, 0, 9, step="1")}
{_number("worth", "SMT factor", 1, 0.01)}</fieldset>
<fieldset><legend>Purchase</legend>
{_text("cpus", "CPUs per node", ", ".join(f"{one:g}" for one in usual_sizes(model)))}
{_text("memory", "GiB per node", "")}
{_number("price_cpu", "Price per CPU", 0, 0)}
{_number("price_gib", "Price per GiB", 0, 0)}
{_number("price_node", "Price per node", 0, 0)}</fieldset>
<output aria-live="polite"></output>
<div class="sb-more"></div>
</form>"""


def _number(
    name: str,
    label: str,
    value: float,
    least: float,
    most: float | None = None,
    step: str = "any",
) -> str:
    top = "" if most is None else f' max="{most:g}"'
    return (
        f'<label>{escape(label)} <input type="number" name="{name}" value="{value:g}" '
        f'min="{least:g}"{top} step="{step}" required></label>'
    )


def _text(name: str, label: str, value: str) -> str:
    return (
        f'<label>{escape(label)} <input type="text" name="{name}" value="{escape(value)}" '
        'inputmode="decimal" placeholder="any"></label>'
    )
