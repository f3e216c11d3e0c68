"""The ledger says what the chapters found; pages cannot say more."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from browser import Browser
from claims_book import (
    CLAIMS,
    HOSTILE,
    PAGES,
    edit_claim,
    make_claims_book,
    write_gamma,
    write_tables,
)
from sample_book import PROJECT
from site_check import check_site
from typer.testing import CliRunner

from sizebook.book.chapters import find_chapters
from sizebook.book.ledger.rows import count_states, faults, in_question, read_ledger
from sizebook.book.ledger.table_html import render_ledger
from sizebook.book.site import build_site, list_pages
from sizebook.cli.main import app
from sizebook.model.errors import UserError

RUNNER = CliRunner()


@pytest.fixture(scope="module")
def claims_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder of the book of claims, built once."""
    root = make_claims_book(tmp_path_factory.mktemp("claims"))
    build_site(root)
    return root


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """Give a book of claims that a test may change."""
    return make_claims_book(tmp_path)


def states_of(root: Path) -> dict[str, str]:
    return {row.claim.claim_id: row.state for row in read_ledger(root, PAGES)}


def ask(root: Path, *flags: str) -> Any:
    """Return the claims that ``sizebook claims --json`` prints for a project."""
    return ask_all(root, *flags)["claims"]


def ask_all(root: Path, *flags: str) -> Any:
    """Return all that ``sizebook claims --json`` prints for a project."""
    done = RUNNER.invoke(
        app, ["claims", "--json", *flags], env={"SIZEBOOK_ROOT": str(root)}, catch_exceptions=False
    )
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def test_each_claim_has_one_row_with_a_verdict_or_a_reason(book: Path) -> None:
    """Decided, undecided, unwritten, undecidable, not transferable, our own."""
    rows = {row.claim.claim_id: row for row in read_ledger(book, PAGES)}
    assert set(rows) == {*CLAIMS, "own-hostile"}
    expected = {
        "gw-threads-1": "confirmed",
        "gw-size-1": "undetermined",
        "gw-odata-1": "not transferable",
        "mii-connectors-1": "not run",
        "ita-timeout-1": "not run",
        "own-hostile": "contradicted",
    }
    assert states_of(book) == expected
    assert rows["mii-connectors-1"].reason == "its chapter, Not there, is not written yet"
    assert rows["ita-timeout-1"].reason.endswith("no such disk")
    assert rows["gw-odata-1"].reason == "product library versions"
    assert all(row.reason for row in rows.values())
    assert faults(rows.values()) == []
    assert rows["own-hostile"].claim.statement == HOSTILE
    counts = count_states(rows.values())
    assert list(counts) == ["mii-2009", "gateway-2012", "itanium-2010", "sizebook"]
    assert counts["gateway-2012"]["not transferable"] == 1


def test_a_chapter_that_was_not_run_here_is_no_fault(book: Path) -> None:
    """Its claims say what runs it; the command lists them and ends well."""
    (book / "book" / "chapters" / "gamma.ipynb").unlink()
    rows = {row["claim_id"]: row for row in ask(book)}
    assert rows["gw-size-1"]["state"] == "not run"
    assert rows["gw-size-1"]["reason"].endswith("has not been run: 'sizebook run gamma'")


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda root: write_gamma(root, leave_out=["gw-size-1"]),
         "chapter gamma does not decide claim gw-size-1, nor does data/claims/undecidable.csv"),
        (lambda root: replace(root, "chapters", ",gamma", ",delta"),
         "chapter gamma decides claim gw-threads-1, which data/claims/chapters.csv gives to delta"),
        (lambda root: replace(root, "undecidable", "ita-timeout-1,", "gw-size-1,"),
         "chapter gamma decides claim gw-size-1: take it out of undecidable.csv"),
        (lambda root: replace(root, "chapters", "mii-2009", "mii-2010"),
         "data/claims/chapters.csv names no chapter for claim mii-connectors-1"),
        (lambda root: write_tables(root, CLAIMS[1:]),
         "chapter gamma decides claim gw-threads-1, which no report has"),
    ],
)  # fmt: skip
def test_what_is_left_out_or_misplaced_does_not_build(book: Path, change: Any, fault: str) -> None:
    """The fault is named by the ledger, by the command (exit code 1), and by the build."""
    change(book)
    assert any(found.startswith(fault) for found in faults(read_ledger(book, PAGES)))
    done = RUNNER.invoke(app, ["claims", "--json"], env={"SIZEBOOK_ROOT": str(book)})
    assert (done.exit_code, fault in done.stderr) == (1, True)


def test_a_book_that_leaves_a_claim_out_does_not_build(book: Path) -> None:
    """Nor one that decides a claim that is said to be undecidable; all faults are named."""
    write_gamma(book, leave_out=["gw-size-1"])
    replace(book, "undecidable", "ita-timeout-1,", "gw-threads-1,")
    with pytest.raises(UserError, match="gamma does not decide claim gw-size-1, nor") as found:
        build_site(book)
    assert "gamma decides claim gw-threads-1: take it out" in str(found.value)


def replace(root: Path, table: str, old: str, new: str) -> None:
    path = root / "data" / "claims" / f"{table}.csv"
    path.write_text(path.read_text().replace(old, new))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda root: replace(root, "chapters", "scenario", "topic"), "chapters.csv has the col"),
        (lambda root: replace(root, "planned", ",Claims", ""), "planned.csv has a row of another"),
        (lambda root: replace(root, "chapters", "details,,", "details,x,"), "not both"),
        (lambda root: replace(root, "undecidable", "ita-t", "t"), "imeout-1', which no report has"),
        (lambda root: edit_claim(root, "gw-size-1", verdict="sure"), "gw-size-1' is unreadable"),
    ],
)
def test_a_table_or_record_that_is_wrong_is_a_message(book: Path, change: Any, words: str) -> None:
    """No traceback for a table or a notebook that somebody edited."""
    change(book)
    with pytest.raises(UserError, match=re.escape(words)):
        read_ledger(book, PAGES)


def test_a_book_without_claims_has_an_empty_ledger(tmp_path: Path) -> None:
    """No tables, no notebooks, no rows."""
    assert read_ledger(tmp_path, ["index"]) == []
    assert count_states([]) == {}


def test_the_command_prints_one_object_a_claim(claims_root: Path) -> None:
    """With effect, interval and evidence where there are any; filters leave out the others."""
    rows = {row["claim_id"]: row for row in ask(claims_root)}
    assert set(rows) == {*CLAIMS, "own-hostile"} - {"gw-odata-1"}
    found = rows["gw-threads-1"]
    assert (found["verdict"], found["chapter"], found["n"]) == ("confirmed", "gamma", 3)
    low, high = found["interval"]
    assert low < found["effect"] < high
    assert found["effect"] == pytest.approx(0.5, abs=0.01)
    assert found["evidence"]["link"] == "chapters/gamma.html#evidence-gw-threads-1"
    assert (found["reported_ratio"], found["size"]) == (0.2857, "smaller")
    assert len(found["evidence"]["bundles"]) == 6
    assert rows["mii-connectors-1"]["evidence"] is None
    assert len(ask(claims_root, "--all")) == len(rows) + 1
    assert [row["claim_id"] for row in ask(claims_root, "--verdict", "contradicted")] == [
        "own-hostile"
    ]
    assert len(ask(claims_root, "--source", "gateway-2012", "--chapter", "gamma")) == 2
    done = RUNNER.invoke(app, ["claims", "--verdict", "x"], env={"SIZEBOOK_ROOT": str(claims_root)})
    assert isinstance(done.exception, UserError)
    plain = RUNNER.invoke(app, ["claims"], env={"SIZEBOOK_ROOT": str(claims_root)})
    assert "gw-threads-1" in plain.stdout
    assert (found["page_verdict"], 0 < found["p"] < 0.025) == ("confirmed", True)
    whole = ask_all(claims_root)
    assert (whole["tested"], whole["decided"], whole["withdrawn"]) == (2, 2, 0)
    assert whole["expected_wrong"] == pytest.approx(0.075)
    words = " ".join(plain.stdout.split())
    assert "At most 0.1 of the 2 verdicts are expected to be wrong." in words
    one = ask_all(claims_root, "--verdict", "contradicted")
    assert {**one, "claims": whole["claims"]} == whole


def test_a_verdict_that_the_book_does_not_bear_is_undetermined_in_the_ledger(book: Path) -> None:
    """The page keeps its own; counts, reason and words that assert it follow the ledger."""
    edit_claim(book, "gw-threads-1", p=0.06)
    rows = {row["claim_id"]: row for row in ask(book)}
    found = rows["gw-threads-1"]
    assert (found["verdict"], found["page_verdict"], found["size"]) == (
        "undetermined",
        "confirmed",
        None,
    )
    assert found["reason"].startswith("its page says confirmed (p = 0.06), which is not clear")
    ledger = read_ledger(book, PAGES)
    assert count_states(ledger)["gateway-2012"]["undetermined"] == 2
    html = render_ledger(ledger, lambda page: page)
    assert "1 verdict of a page counts as undetermined here" in html
    assert "smaller effect" not in html
    with pytest.raises(UserError, match="gw-threads-1 is confirmed, its data say undetermined"):
        build_site(book)


def test_a_page_that_asserts_what_its_data_do_not_show_does_not_build(book: Path) -> None:
    """Another verdict, a claim that is not there, words without a claim: each is named."""
    texts = {
        "{contradicted}`no <gw-threads-1>`": "gw-threads-1 is contradicted, its data say confirmed",
        "{confirmed}`larger <gw-size-1>`": "gw-size-1 is confirmed, its data say undetermined",
        "{confirmed}`more <gw-nothing>`": "no claim 'gw-nothing' in the ledger",
        "{claim}`gw-other`": "no claim 'gw-other' in the ledger",
        "{effect}`gw-another`": "no claim 'gw-another' in the ledger",
        "{effect}`gw-threads-1:upside`": "or another way than 'inverse'",
        "{confirmed}`larger`": "names no claim: write {confirmed}`words <claim-id>`",
    }
    (book / "book" / "notes.md").write_text("# Notes\n\n## Here\n\n" + "\n\n".join(texts) + "\n")
    with pytest.raises(UserError) as found:
        build_site(book)
    assert [message for message in texts.values() if message not in str(found.value)] == []


def test_an_effect_that_is_not_known_yet_stops_no_build(book: Path) -> None:
    """A reader's few trials may show no ratio; words about an event never have one."""
    edit_claim(book, "gw-size-1", effect=None, low=None, high=None)
    notes = book / "book" / "notes.md"
    notes.write_text("# Notes\n\n## Here\n\n{effect}`gw-size-1`, {effect}`mii-connectors-1`\n")
    html = (build_site(book).parent / "notes.html").read_text()
    assert "(not known: gw-size-1)" in html and "(not known: mii-connectors-1)" in html
    edit_claim(book, "gw-size-1", least=None)
    with pytest.raises(UserError, match="'gw-size-1' is about an event"):
        build_site(book)


def test_a_page_stops_the_build_when_the_verdict_changes(book: Path) -> None:
    """The same sentence, other measurements."""
    write_gamma(book, faster=1.0)
    with pytest.raises(UserError, match="says that claim gw-threads-1 is confirmed"):
        build_site(book)
    (book / "book" / "index.md").write_text("# Index\n\n## Here\n\n```{claims-ledger}\n```\n\n"
                                          "{contradicted}`no help <gw-threads-1>`\n")  # fmt: skip
    assert build_site(book).exists()


def test_the_site_is_sound_and_shows_text_as_text(claims_root: Path, browser: Browser) -> None:
    """Links lead somewhere, nothing comes from outside, and data are never markup."""
    site = claims_root / "_build" / "html"
    assert check_site(site, browser) == []
    for page in ("index", "chapters/gamma"):
        html = (site / f"{page}.html").read_text()
        assert "<script>window.stolen" not in html
    chapter = (site / "chapters" / "gamma.html").read_text()
    assert "Faster: 0.4988 (" not in chapter
    assert re.search(r"Faster: .*0\.49", chapter)


def open_ledger(browser: Browser, site: Path, address: str = "") -> None:
    browser.set_media("")
    browser.set_size(1400)
    browser.open((site / "index.html").resolve().as_uri() + address)


def visible(browser: Browser) -> list[str]:
    ids: list[str] = browser.run(
        "[...document.querySelectorAll('.sb-ledger-rows tbody tr')]"
        ".filter(row => row.checkVisibility()).map(row => row.id.slice(7))"
    )
    return ids


def test_counts_and_rows_equal_the_commands(claims_root: Path, browser: Browser) -> None:
    """What the browser shows is what ``sizebook claims --json`` prints."""
    rows = ask(claims_root)
    open_ledger(browser, claims_root / "_build" / "html")
    assert visible(browser) == [row["claim_id"] for row in rows]
    shown = browser.run(
        "[...document.querySelectorAll('.sb-ledger-counts td')].map(cell =>"
        "[cell.dataset.source, cell.dataset.verdict, Number(cell.textContent)])"
    )
    counts = Counter((row["source"], row["verdict"]) for row in rows)
    counts += Counter(("", row["verdict"]) for row in rows)
    counts += Counter((row["source"], "") for row in rows)
    counts["", ""] = len(rows)
    assert {(source, verdict): number for source, verdict, number in shown if number} == counts
    smaller = browser.run(
        "[...document.querySelectorAll('.sb-ledger-rows tbody tr')].filter(row =>"
        "row.cells[3].textContent.includes('smaller effect')).map(row => row.id.slice(7))"
    )
    assert smaller == [row["claim_id"] for row in rows if row["size"] == "smaller"] != []


def test_filters_leave_what_fits_and_the_address_keeps_them(
    claims_root: Path, browser: Browser
) -> None:
    """By report, part, verdict and words; a link with the filter shows the same rows."""
    site = claims_root / "_build" / "html"
    open_ledger(browser, site)
    set_field = """(name, value) => {
        const field = document.querySelector(`.sb-ledger [name=${name}]`);
        field.value = value;
        field.dispatchEvent(new Event("input", {bubbles: true}));
    }"""
    for name, value, expected in (
        ("source", "gateway-2012", ["gw-threads-1", "gw-size-1"]),
        ("verdict", "confirmed", ["gw-threads-1"]),
        ("verdict", "", ["gw-threads-1", "gw-size-1"]),
        ("q", "MARKUP nothing has", []),
        ("q", "atom larger", ["gw-size-1"]),
        ("source", "", ["gw-size-1"]),
    ):
        browser.run(f"({set_field})('{name}', '{value}')")
        assert visible(browser) == expected
        assert browser.run("document.querySelector('.sb-ledger output').textContent") == (
            f"{len(expected)} of 5 claims"
        )
    assert browser.run("location.hash") == "#claims:q=atom+larger"
    open_ledger(browser, site, "#claims:part=II+Later")
    assert visible(browser) == ["mii-connectors-1"]
    assert browser.run("document.querySelector('.sb-ledger [name=part]').value") == "II Later"
    browser.run("document.querySelector('.sb-ledger button[type=reset]').click()")
    browser.wait_for("document.querySelector('.sb-ledger').dataset.shown === '5'")
    browser.run("document.querySelector('td[data-source=sizebook][data-verdict=contradicted]"
                " button').click()")  # fmt: skip
    assert visible(browser) == ["own-hostile"]
    assert browser.complaints == []


def test_each_row_leads_to_its_claim_and_opens_its_evidence(
    claims_root: Path, browser: Browser
) -> None:
    """One click from the ledger: the card in the chapter, or its fold, open."""
    site = claims_root / "_build" / "html"
    open_ledger(browser, site)
    browser.follow("document.querySelector('#ledger-gw-threads-1 th a').click()")
    assert browser.run("location.href").endswith("chapters/gamma.html#result-gw-threads-1")
    assert "confirmed" in browser.run("document.querySelector(location.hash).textContent")
    open_ledger(browser, site)
    browser.follow("document.querySelector('#ledger-gw-threads-1 .sb-ledger-evidence').click()")
    browser.wait_for("document.getElementById('evidence-gw-threads-1').open")
    trial = "document.querySelector('#evidence-gw-threads-1 a[href$=\"synthetic-many-0.html\"]')"
    assert browser.run(f"{trial} !== null")
    open_ledger(browser, site)
    badge = "document.querySelector('p > .sb-badge.sb-is-confirmed a')"
    assert browser.run(f"{badge}.getAttribute('href')") == "#ledger-gw-threads-1"


def test_without_script_the_whole_ledger_shows(claims_root: Path, browser: Browser) -> None:
    """All rows, and no filter that nothing works."""
    browser.command("Emulation.setScriptExecutionDisabled", value=True)
    try:
        open_ledger(browser, claims_root / "_build" / "html", "#claims:verdict=confirmed")
    finally:
        browser.command("Emulation.setScriptExecutionDisabled", value=False)
    hidden = "getComputedStyle(document.querySelector('.sb-ledger-controls')).display"
    assert browser.run(hidden) == "none"
    assert len(visible(browser)) == 5


def test_every_claim_of_the_book_has_a_chapter_and_an_end() -> None:
    """All 204 have a row, the 172 that are transferable a chapter of the plan and a reason."""
    rows = [row for row in read_ledger(PROJECT, []) if row.claim.source != "sizebook"]
    assert len(rows) == 204
    assert len(in_question(rows)) == 172
    assert all(row.reason and row.title and row.part for row in rows)
    assert faults(rows) == []
    planned = {row.chapter: (row.title, row.part) for row in rows}
    for chapter in find_chapters(PROJECT):
        assert planned.get(chapter.id, (chapter.title, chapter.part)) == (
            chapter.title,
            chapter.part,
        )
    assert "index" in list_pages(PROJECT / "book" / "_toc.yml")
