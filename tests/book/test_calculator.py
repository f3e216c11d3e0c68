"""The calculator in a page: a real browser answers as Python does, and paper has the table."""

from __future__ import annotations

import copy
import csv
import itertools
import json
import math
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from browser import Browser
from sample_book import MODEL, TOC, make_sample_book, write_sized
from site_check import check_links

from sizebook.book.audit.contents import check_content
from sizebook.book.audit.outputs import read_page
from sizebook.book.audit.targets import PageFile
from sizebook.book.site import build_site
from sizebook.report import calculator
from sizebook.report.calculator_words import OUTSIDE_TITLE, STATISTICS, answer, as_data
from sizebook.report.candidate_words import candidate_rows
from sizebook.report.course_words import course_title
from sizebook.stats.sizing import (
    CoursePoint,
    Demanded,
    Offer,
    Response,
    SizingModel,
    candidates,
    course,
    shown_cpus,
)

CLOSED = replace(MODEL, domain=replace(MODEL.domain, think_s=(1.0, 1.0)), heap=None)
SHARING = replace(MODEL, response=Response(200.0, 0.0, 0.005, 0.005, 1.0, 1.0, 1.0))
BOUNDS = replace(MODEL, response=Response(180.0, 0.006, 0.0, 0.0, 1.0, 0.0, 1.0))
OFFERS = (
    Offer((0.25, 0.5, 1.0, 2.0)),
    Offer((0.1, 0.3, 0.7), (0.25, 0.5), 10.0, 3.0, 1.5, 220.0),
    Offer((1.0, 4.0), (0.1,), price_per_node=2.0, beside_heap_mib=220.0),
)
PAGE = "chapters/sized.html"
BOX = "document.querySelector('.sb-calculator')"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder of a sample book with a calculator, built."""
    root = make_sample_book(tmp_path_factory.mktemp("sized"))
    (root / "book" / "_toc.yml").write_text(TOC + "  - file: chapters/sized\n")
    write_sized(root)
    build_site(root)
    return root


@pytest.fixture
def opened(browser: Browser, root: Path) -> Browser:
    """Give a browser that shows the page."""
    browser.set_media("")
    browser.set_size(1400)
    browser.open((root / "_build" / "html" / PAGE).as_uri())
    return browser


def every_question() -> list[Demanded]:
    """Return some hundreds of questions, many of them outside of the domain."""
    found = [
        Demanded(statistic, limit, users=users, think_s=think, spare_nodes=spare)
        for statistic, limit, users, think, spare in itertools.product(
            ("mean", "p95"),
            (0.003, 0.0217, 0.25, 2.0, 60.0),
            (1.0, 37.0, 150.5, 233.0, 390.0, 5000.0),
            (0.0, 1.0, 12.5),
            (0, 1),
        )
    ]
    reserved = [
        Demanded(
            "mean", 0.2, users=users, think_s=1.0, spare_nodes=spare, growth=growth, years=1.5,
            headroom=headroom, ceiling=ceiling, cpu_worth=worth,
        )
        for users, spare, growth, headroom, ceiling, worth in itertools.product(
            (37.0, 120.0), (0, 1, 2), (0.0, 0.2), (0.0, 0.15), (None, 0.7), (1.0, 0.6)
        )
    ]  # fmt: skip
    return (
        found
        + reserved
        + [
            Demanded(statistic, limit, rate_per_s=rate)
            for statistic, limit, rate in itertools.product(
                ("mean", "p95"), (0.004, 0.1, 1.0), (0.5, 20.0, 99.5, 227.0, 231.0, 4000.0)
            )
        ]
    )


@pytest.mark.parametrize("model", [MODEL, CLOSED, SHARING, BOUNDS], ids=lambda one: one.name)
def test_script_and_python_answer_alike(opened: Browser, model: SizingModel) -> None:
    """Hundreds of questions, in and out of the domain: the same words in each part."""
    asked = every_question()
    opened.run(
        f"{BOX}.querySelector('script.sb-model').textContent = "
        f"{json.dumps(json.dumps(as_data(model)))}"
    )
    opened.run(
        "new Promise(done => { const again = document.createElement('script');"
        "again.src = document.querySelector('script[src*=\"calculator.js\"]').src;"
        "again.onload = done; document.head.append(again); }).then(() => true)"
    )
    pairs = [(one, OFFERS[at % len(OFFERS)]) for at, one in enumerate(asked)]
    sent = json.dumps([[asdict(one), asdict(offer)] for one, offer in pairs])
    said = opened.run(f"{sent}.map(([one, offer]) => {BOX}.sbAnswer(one, offer))")
    assert len(said) == len(asked) > 400
    for (one, offer), found in zip(pairs, said, strict=True):
        expected = answer(model, one)
        assert found["parts"] == dict(expected.parts), one
        assert found["outside"] == list(expected.outside), one
        assert found["rows"] == list(candidate_rows(model, one, offer)), (one, offer)
        cores, nodes = shown_cpus(model, one, candidates(model, one, offer))
        statistic = STATISTICS[one.statistic]
        assert found["title"] == course_title(statistic, cores, nodes, model.level)
        assert_same_course(found["course"], course(model, one, cores, nodes, len(found["course"])))


def assert_same_course(found: list[dict[str, Any]], expected: tuple[CoursePoint, ...]) -> None:
    """Compare the points that are drawn with those of Python; JSON has null for infinite."""
    for drawn, point in zip(found, expected, strict=True):
        assert drawn["measured"] == point.measured
        numbers = [drawn[name] for name in ("amount", "rate", "use", "seconds", "low", "high")]
        seconds = (point.seconds, point.low_s, point.high_s)
        wanted = (point.amount, point.rate_per_s, point.utilization, *seconds)
        assert [math.inf if one is None else one for one in numbers] == pytest.approx(
            list(wanted), rel=1e-7
        )


def test_the_form_asks_and_is_answered(opened: Browser) -> None:
    """What stands in the fields is answered at once, by keys alone; each field has its label."""
    first = answer(MODEL, calculator.first_question(MODEL))
    shown = f"[...{BOX}.querySelectorAll('dd')].map(each => each.textContent)"
    assert opened.run(shown) == list(first.parts.values())
    assert opened.run(
        f"[...{BOX}.querySelectorAll('input, select')].every(each => each.labels.length === 1 && "
        "each.labels[0].textContent.trim().length > 3 && each.tabIndex === 0)"
    )
    opened.run(
        f"{BOX}.querySelector('[name=users]').focus(); {BOX}.querySelector('[name=users]').select()"
    )
    opened.command("Input.insertText", text="3000")
    words = opened.run(f"{BOX}.querySelector('output').textContent")
    asked = replace(calculator.first_question(MODEL), users=3000.0)
    for outside in answer(MODEL, asked).outside:
        assert OUTSIDE_TITLE + outside in words
    assert opened.run(f"{BOX}.querySelector('output').getAttribute('aria-live')") == "polite"


def test_half_a_question_is_not_answered(opened: Browser) -> None:
    """An empty or negative field leaves the answer empty; the kind of load shows its own fields."""
    opened.run(
        f"(() => {{ const field = {BOX}.querySelector('[name=users]'); field.value = '-3';"
        "field.dispatchEvent(new Event('input', {bubbles: true})); })()"
    )
    assert opened.run(f"{BOX}.querySelector('output').textContent") == ""
    opened.run(f"{BOX}.querySelector('[value=rate]').click()")
    fields = (
        "name => getComputedStyle(document.querySelector(`[name=${name}]`).closest('div')).display"
    )
    assert opened.run(f"['users', 'rate'].map({fields})") == ["none", "block"]
    assert "a second" in opened.run(f"{BOX}.querySelector('output').textContent")


def test_light_dark_and_paper(opened: Browser) -> None:
    """Text stands out in both themes; on paper the form is gone and the table there."""
    for theme in ("light", "dark"):
        opened.run(f"void (document.documentElement.dataset.theme = '{theme}')")
        ink, ground = opened.run(
            "[getComputedStyle(document.querySelector('.sb-calculator input[type=number]')).color, "
            "getComputedStyle(document.querySelector('.sb-calculator input[type=number]'))"
            ".backgroundColor]"
        )
        assert contrast(ink, ground) > 4.5, (theme, ink, ground)
    shown = (
        "['form', 'table'].map(each => getComputedStyle("
        f"{BOX}.querySelector(each)).display !== 'none')"
    )
    assert opened.run(shown) == [True, True]
    opened.set_media("print")
    assert opened.run(shown) == [False, True]
    assert opened.complaints == []


def test_without_script_the_table_answers(browser: Browser, root: Path) -> None:
    """No form that does nothing, and the standard answers in words."""
    browser.command("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open((root / "_build" / "html" / PAGE).as_uri())
    finally:
        browser.command("Emulation.setScriptExecutionDisabled", value=False)
    assert browser.run(f"getComputedStyle({BOX}.querySelector('form')).display") == "none"
    text = browser.run(f"{BOX}.querySelector('table').textContent")
    for asked in calculator.questions(MODEL, (0.05, 0.5)):
        assert answer(MODEL, asked).parts["cores"] in text


def test_the_page_asks_nobody_and_leads_somewhere(opened: Browser, root: Path) -> None:
    """No request outside, links that work, script and style on this page alone."""
    assert all(each.startswith(("file:", "data:")) for each in opened.requests)
    assert check_links(root / "_build" / "html") == []
    other = (root / "_build" / "html" / "chapters" / "alpha.html").read_text()
    assert "calculator.js" not in other
    assert "calculator.css" not in other


def test_model_and_answers_are_offered(root: Path) -> None:
    """The model as JSON is the one that was published, and the CSV has a row an answer."""
    folder = root / "_build" / "html" / "downloads" / "sized"
    assert SizingModel.from_record(json.loads((folder / "calculator.json").read_text())) == MODEL
    with (folder / "calculator.csv").open(encoding="utf-8", newline="") as text:
        rows = list(csv.reader(text))
    assert len(rows) >= 1 + len(calculator.questions(MODEL, (0.05, 0.5)))


def wrongs(root: Path, change: Any = None) -> list[str]:
    """Return the rules that the audit finds broken in the calculator, changed or not."""
    file = root / "book" / "chapters" / "sized.ipynb"
    page = read_page(PageFile("sized", file))
    output = next(one for one in page.results if one.kind == "calculator")
    fields, data = copy.deepcopy(dict(output.fields or {})), copy.deepcopy(dict(output.data))
    if change:
        change(fields, data)
    changed = replace(output, fields=fields, data=data)
    return [wrong.rule for wrong in check_content(changed, lambda _: None, str)]


def test_the_audit_recomputes_the_answers(root: Path) -> None:
    """A model, an answer, a question or a caption that was changed is found out."""
    assert wrongs(root) == []

    def faster(fields: Any, _data: Any) -> None:
        fields["model"]["response"]["capacity_per_s"] *= 2

    def answer(_fields: Any, data: Any) -> None:
        data["text/html"] = "".join(data["text/html"]).replace("MiB", "GiB", 1)

    def question(fields: Any, _data: Any) -> None:
        fields["questions"][0]["limit_s"] = 1.0

    def nonsense(fields: Any, _data: Any) -> None:
        fields["questions"][0]["users"] = "many"

    assert wrongs(root, faster) == ["AU204-content", "AU205-words"]
    assert wrongs(root, answer) == ["AU205-words"]
    assert wrongs(root, question) == ["AU205-words"]
    assert wrongs(root, nonsense) == ["AU214-result"]


def contrast(ink: str, ground: str) -> float:
    """Return the contrast of two CSS colours by WCAG 2."""

    def light(colour: str) -> float:
        parts = [float(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return sum(
            weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True)
        )

    low, high = sorted((light(ink), light(ground)))
    return (high + 0.05) / (low + 0.05)
