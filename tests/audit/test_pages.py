"""Whatever is done to a page, the audit finds it and says by which rule."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from audited_book import (
    audit,
    change_page,
    found,
    mend_sum,
    result,
    write_template,
)

from sizebook.book.audit.auditing import Options
from sizebook.report.chart import MIME

Page = dict[str, Any]
REPLAY = Options(replay=True, site=False)


def fields(page: Page, kind: str) -> dict[str, Any]:
    record: dict[str, Any] = result(page, kind)["metadata"]["sizebook"]
    return record


def text(output: dict[str, Any], mime_type: str) -> str:
    return "".join(output["data"][mime_type])


def replace_in(page: Page, kind: str, mime_type: str, old: str, new: str) -> str:
    output = result(page, kind)
    shown = text(output, mime_type)
    assert old in shown
    output["data"][mime_type] = shown.replace(old, new)
    return output["data"][mime_type]


def change_number_in_prose(page: Page) -> None:
    replace_in(page, "prose", "text/markdown", "398", "500")


def change_words_of_number(page: Page) -> None:
    fields(page, "prose")["numbers"][0]["words"] = "500"


def change_value(page: Page) -> None:
    fields(page, "value")["value"] = 500.0


def change_table_cell(page: Page) -> None:
    replace_in(page, "table", "text/html", "json", "JSON")


def change_figure_data(page: Page) -> None:
    rows = next(iter(result(page, "figure")["data"][MIME]["datasets"].values()))
    rows[0]["mean"] = 500.0


def change_svg(page: Page) -> None:
    replace_in(page, "figure", "image/svg+xml", "per second", "per minute")


def change_verdict(page: Page) -> None:
    source = fields(page, "table")["evidence"]["sources"][0]
    source["verdict"] = "valid" if source["verdict"] != "valid" else "noisy"


def change_cited_sum(page: Page) -> None:
    fields(page, "table")["evidence"]["sources"][0]["sha256"] = "a" * 64


def change_cited_bundle(page: Page) -> None:
    fields(page, "table")["evidence"]["sources"][0]["bundle"] = "json-9"


def change_claim_verdict(page: Page) -> None:
    claim = fields(page, "claim")["claim"]
    claim["verdict"] = "contradicted" if claim["verdict"] != "contradicted" else "confirmed"


def change_claim_card(page: Page) -> None:
    shown = text(result(page, "claim"), "text/html")
    result(page, "claim")["data"]["text/html"] = shown.replace(
        "JSON answers", "JSON always answers"
    )


def change_code(page: Page) -> None:
    cell = page["cells"][4]
    cell["source"] = "".join(cell["source"]).replace("Two bars", "Three bars")


def change_text(page: Page) -> None:
    page["cells"][0]["source"] = "# Tiny (measured)\n\n## Results"


def change_tags(page: Page) -> None:
    page["cells"][4]["metadata"]["tags"] = ["remove-output"]


def change_parameters(page: Page) -> None:
    page["metadata"]["sizebook_run"]["parameters"]["seed"] = 7


def add_to_parameters_cell(page: Page) -> None:
    cell = next(c for c in page["cells"] if "injected-parameters" in c["metadata"]["tags"])
    cell["source"] = [*cell["source"], "\nprint('all is well')"]


def repeat_result(page: Page) -> None:
    page["cells"][-1]["outputs"].append(result(page, "table"))


def add_plain_output(page: Page) -> None:
    page["cells"][4]["outputs"].append(
        {"output_type": "display_data", "data": {"text/plain": "1000/s"}, "metadata": {}}
    )


def break_record(page: Page) -> None:
    del fields(page, "figure")["evidence"]["commit"]


def hide_format(page: Page) -> None:
    fields(page, "value")["format"] = ">999999999"


TAMPERED: dict[str, tuple[Callable[[Page], None], set[str], str]] = {
    "a number in prose": (change_number_in_prose, {"AU205"}, "#prose-1"),
    "the words of a number": (change_words_of_number, {"AU204", "AU205"}, "#prose-1"),
    "a value": (change_value, {"AU204", "AU205", "AU801"}, "#json-per-s"),
    "a cell of a table": (change_table_cell, {"AU204"}, "#all-trials"),
    "a figure's data": (change_figure_data, {"AU204", "AU206"}, "#rates"),
    "a figure's picture alone": (change_svg, {"AU206"}, "#rates"),
    "a verdict in the evidence": (change_verdict, {"AU209"}, "#all-trials"),
    "a checksum in the evidence": (change_cited_sum, {"AU208"}, "#all-trials"),
    "a bundle in the evidence": (change_cited_bundle, {"AU207"}, "#all-trials"),
    "a claim's verdict": (change_claim_verdict, {"AU204", "AU205"}, "#own-json-faster"),
    "a claim's card": (change_claim_card, {"AU205"}, "#own-json-faster"),
    "code": (change_code, {"AU202"}, "chapters/tiny"),
    "text": (change_text, {"AU202"}, "chapters/tiny"),
    "what is hidden": (change_tags, {"AU202"}, "chapters/tiny"),
    "recorded parameters": (change_parameters, {"AU203"}, "chapters/tiny"),
    "the cell of parameters": (add_to_parameters_cell, {"AU203"}, "chapters/tiny"),
    "a result kept twice": (repeat_result, {"AU210"}, "#all-trials"),
    "a record without its commit": (break_record, {"AU214"}, "#rates"),
    "a format that would fill the memory": (hide_format, {"AU214"}, "#json-per-s"),
}


@pytest.mark.parametrize("what", TAMPERED)
def test_a_tampered_page_is_found(book: Path, what: str) -> None:
    """Each kind of tampering is an error of the rules that are meant for it, at its place."""
    tamper, rules, place = TAMPERED[what]
    change_page(book, tamper)
    report = audit(book)
    assert found(report) == rules
    errors = [one for one in report.findings if one.severity == "error"]
    assert {one.place.endswith(place) for one in errors} == {True}
    assert report.counts()["pages"].verified == 0


def test_a_template_that_changed_since_is_found(book: Path) -> None:
    """Code of the template that is not the one executed is an error; so the replay's differ."""
    write_template(book, lambda source: source.replace("Two bars", "Three bars"))
    assert found(audit(book)) == {"AU201"}


def test_a_forged_stamp_does_not_hide_a_change(book: Path) -> None:
    """Code changed in the page and its checksum mended: then the template is another one."""

    def forge(page: Page) -> None:
        from sizebook.book.notebooks import hash_cells

        change_code(page)
        page["metadata"]["sizebook_run"]["template_sha256"] = hash_cells(page["cells"])

    change_page(book, forge)
    assert found(audit(book)) == {"AU201"}
    change_page(book, lambda page: page["metadata"]["sizebook_run"].pop("template_sha256"))
    assert found(audit(book)) == {"AU202"}


def test_an_output_without_a_record_is_a_warning(book: Path) -> None:
    """What nobody can trace is pointed at."""
    change_page(book, add_plain_output)
    report = audit(book)
    assert found(report) == set()
    assert [one.place for one in report.findings if one.rule == "AU212-no-record"] == [
        "chapters/tiny cell 5"
    ]


@pytest.mark.parametrize("content", ["", "[]", '{"cells": [{"cell_type": 1}]}', "[" * 100_000])
def test_a_page_that_is_no_notebook_is_found(book: Path, content: str) -> None:
    """Whatever stands in the file, the answer is a finding."""
    (book / "book" / "chapters" / "tiny.ipynb").write_text(content)
    assert found(audit(book)) == {"AU200"}


def test_a_chapter_that_was_not_run_is_found(book: Path) -> None:
    """A chapter of the table of contents without a page is an error."""
    (book / "book" / "chapters" / "tiny.ipynb").unlink()
    report = audit(book)
    assert found(report) == {"AU200"}
    assert report.findings[0].message == "the page was not run"
    assert (report.counts()["pages"].checked, report.counts()["pages"].verified) == (1, 0)


def test_reported_data_that_changed_is_found(book: Path) -> None:
    """A changed, a missing and an added table of the reports are errors."""
    folder = book / "data" / "reported"
    claims = folder / "claims.csv"
    claims.write_text(claims.read_text().replace("yes", "no", 1))
    (folder / "parameters.csv").unlink()
    (folder / "more.csv").write_text("a\n1\n")
    errors = [one for one in audit(book).findings if one.rule == "AU501-reported"]
    assert {one.place.rpartition("/")[2] for one in errors} == {
        "claims.csv", "parameters.csv", "more.csv",
    }  # fmt: skip


def test_a_claim_that_no_report_makes_is_found(book: Path) -> None:
    """A claim's id must be one of the reports' or the chapter's own."""

    def rename(page: Page) -> None:
        record = fields(page, "claim")
        record["key"] = record["claim"]["claim_id"] = "mii-unheard-of"

    change_page(book, rename)
    assert "AU502" in found(audit(book))


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("2020-", "2099-", "it was written down 2099-01-01T00:00:00Z"),
        (",gt,", ",lt,", "it was not written down before its trials"),
        ("own-json", "own-other", "it was not written down before its trials"),
    ],
)
def test_a_claim_that_was_made_after_its_trials_is_found(
    book: Path, old: str, new: str, why: str
) -> None:
    """By the table of the book's own claims, and when the trials behind them began."""
    assert "AU503" not in found(audit(book))
    table = book / "data" / "claims" / "own.csv"
    table.write_text(table.read_text().replace(old, new))
    (late,) = [one for one in audit(book).findings if one.rule == "AU503-claim-late"]
    assert (late.severity, why in late.message) == ("warning", True)
    assert late.place.endswith("#own-json-faster")


def test_careful_forgeries_are_found_by_the_replay(book: Path) -> None:
    """Results whose checksums, words and pictures were all mended do not follow from bundles."""

    def forge(page: Page) -> None:
        value = fields(page, "value")
        value["value"] = 500.0
        result(page, "value")["data"]["text/plain"] = "json-per-s = 500.0\u202f1/s"
        mend_sum(result(page, "value"), 500.0)
        table = replace_in(page, "table", "text/html", "json", "JSON")
        mend_sum(result(page, "table"), table)
        fields(page, "figure")["caption"] = "Answers per minute (synthetic)."
        prose = fields(page, "prose")
        prose["numbers"][0] |= {"value": 500.0, "words": "500"}
        for mime_type in ("text/markdown", "text/plain"):
            said = replace_in(page, "prose", mime_type, "398", "500")
        mend_sum(result(page, "prose"), said)
        claim = fields(page, "claim")
        claim["claim"]["reason"] = "everybody knows it"
        mend_claim(page)

    change_page(book, forge)
    assert found(audit(book)) == set()
    report = audit(book, REPLAY)
    wrong = {one.place.partition("#")[2] for one in report.findings if one.rule == "AU301-differs"}
    assert wrong == {"json-per-s", "all-trials", "rates", "json", "own-json-faster"}
    assert found(report) == {"AU301"}
    counts = report.counts()
    kinds = ("figures", "tables", "numbers", "prose", "claims")
    assert {kind: counts[kind].checked - counts[kind].verified for kind in kinds} == {
        "figures": 1, "tables": 1, "numbers": 2, "prose": 1, "claims": 1,
    }  # fmt: skip


def mend_claim(page: Page) -> None:
    """Draw a changed claim's card and text again, and mend its checksum."""
    from sizebook.model.claim import ClaimOutcome, own_claim
    from sizebook.report import claim_card

    output = result(page, "claim")
    outcome = ClaimOutcome.from_record(fields(page, "claim")["claim"])
    known = own_claim("json-faster", outcome.statement, outcome.relation)
    output["data"]["text/html"] = claim_card.render_card(outcome, known)
    output["data"]["text/plain"] = claim_card.render_text(outcome)
    mend_sum(output, outcome.as_record())


def test_results_put_in_or_taken_out_are_found_by_the_replay(book: Path) -> None:
    """The page has the results of the template, no fewer and no more."""

    def change(page: Page) -> None:
        outputs = page["cells"][4]["outputs"]
        [table] = [o for o in outputs if o["metadata"]["sizebook"]["kind"] == "table"]
        table["metadata"]["sizebook"]["key"] = "some-trials"
        table["data"]["text/plain"] = "Table some-trials: " + fields(page, "table")["caption"]

    change_page(book, change)
    report = audit(book, REPLAY)
    assert {"AU302", "AU303"} == found(report)
    places = {one.rule[:5]: one.place for one in report.findings if one.severity == "error"}
    assert places == {"AU302": "chapters/tiny#some-trials", "AU303": "chapters/tiny#all-trials"}
