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
from sizebook.report.calculator import STATISTICS, as_data, first_question
from sizebook.stats.sizing import Demanded, SizingModel

CLASS = "sb-calculator"
SCRIPT, STYLE = "calculator.js", "calculator.css"


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
    domain = model.domain
    users = _number("users", "Users", first.users or domain.users[0], 1)
    think = _number("think", "Think time (s)", first.think_s, 0)
    requests = _number("rate", "Requests a second", rate or 1.0, 0)
    limit = _number("limit", "at most (ms)", 1e3 * first.limit_s, 0)
    return f"""<form hidden aria-label="Sizing calculator">
<fieldset><legend>Load</legend>
<label><input type="radio" name="kind" value="users" checked> users who think</label>
<label><input type="radio" name="kind" value="rate"> requests or messages a second</label>
<div data-kind="users">{users}{think}</div>
<div data-kind="rate" hidden>{requests}</div></fieldset>
<fieldset><legend>Response time</legend>
<label>Statistic <select name="statistic">{statistics}</select></label>
{limit}
<label><input type="checkbox" name="spare"> one node may fail</label></fieldset>
<output aria-live="polite"></output>
</form>"""


def _number(name: str, label: str, value: float, least: float) -> str:
    return (
        f'<label>{escape(label)} <input type="number" name="{name}" value="{value:g}" '
        f'min="{least:g}" step="any" required></label>'
    )
