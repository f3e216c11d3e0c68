"""Contradictions planted into a page, checksums mended, and the rule that names each."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from audited_book import QUICK, audit, change_page, mend_sum, result

from sizebook.book.audit.auditing import Options
from sizebook.book.audit.findings import AuditFinding
from sizebook.model.claim import ClaimOutcome
from sizebook.model.measurand import FIELD
from sizebook.report import claim_card
from sizebook.report.tables import plain_table
from sizebook.report.wording import escape_markdown

Page = dict[str, Any]
CLAIM = "own-json-faster"
RULES = ("AU801", "AU802", "AU803")


def planted(book: Path, change: Callable[[Page], None]) -> list[AuditFinding]:
    """Change the page; return what the rules on contradictions find without executing anything."""
    change_page(book, change)
    report = audit(book, QUICK)
    return [one for one in report.findings if one.rule.startswith(RULES)]


def record_of(output: dict[str, Any]) -> dict[str, Any]:
    record: dict[str, Any] = output["metadata"]["sizebook"]
    return record


def cell_of(page: Page, kind: str) -> dict[str, Any]:
    """Return the cell whose outputs hold the first result of a kind."""
    found = result(page, kind)
    return next(cell for cell in page["cells"] if found in cell.get("outputs", []))


def mean_rates(page: Page, **changed: float) -> None:
    """Put a table of the two treatments' rates in the place of the page's table."""
    rates = {one["key"]: one["value"] for one in record_of(result(page, "prose"))["numbers"]}
    rates = {name: changed.get(name, rate) for name, rate in rates.items()}
    frame = pl.DataFrame({"format": list(rates), "throughput_per_s": list(rates.values())})
    table = plain_table(frame, digits={"throughput_per_s": 1}).with_id("gt-all-trials")
    show_table(page, table.as_raw_html())


def show_table(page: Page, html: str) -> None:
    output = result(page, "table")
    output["data"]["text/html"] = html
    mend_sum(output, html)


def say(page: Page, texts: list[str], *numbers: dict[str, Any], **fields: Any) -> None:
    """Add a paragraph to the page, as ``page.prose`` and ``page.says`` would."""
    output = copy.deepcopy(result(page, "prose"))
    record_of(output).update(texts=texts, numbers=list(numbers), **fields)
    words = [one["words"] for one in numbers]
    plain = "".join(text + word for text, word in zip(texts, [*words, ""], strict=True))
    output["data"] = {
        "text/markdown": "".join(
            text + escape_markdown(word) for text, word in zip(texts, [*words, ""], strict=True)
        ),
        "text/plain": plain,
    }
    mend_sum(output, plain)
    cell_of(page, "prose")["outputs"].append(output)


def number(key: str, value: Any, spec: str = "") -> dict[str, Any]:
    return {"key": key, "value": value, "words": format(value, spec), "format": spec}


def decide_anew(page: Page, **fields: Any) -> None:
    """Change a claim and its only comparison, its card and its text with it."""
    output = result(page, "claim")
    claim = record_of(output)["claim"]
    known = {name: each for name, each in fields.items() if name in claim["comparisons"][0]}
    claim.update(fields)
    claim["comparisons"][0].update(known)
    outcome = ClaimOutcome.from_record(claim)
    output["data"] = {
        "text/html": claim_card.render_card(outcome, outcome.as_claim()),
        "text/plain": claim_card.render_text(outcome),
    }
    mend_sum(output, claim)


def effect_of(page: Page) -> ClaimOutcome:
    return ClaimOutcome.from_record(record_of(result(page, "claim"))["claim"])


def reversed_claim(page: Page) -> dict[str, Any]:
    """Return the effect of the claim upside down."""
    known = effect_of(page)
    assert known.effect and known.low and known.high
    return {"effect": 1 / known.effect, "low": 1 / known.high, "high": 1 / known.low}


def test_a_consistent_page_has_no_contradiction(book: Path) -> None:
    """Table, sentence, value, chart and claim of the same trials agree: nothing is found."""
    assert planted(book, mean_rates) == []


def test_a_changed_number_in_a_sentence_is_found(book: Path) -> None:
    """The value and the sentence are the mean of the same trials, so they are one number."""

    def change(page: Page) -> None:
        output = result(page, "prose")
        first = record_of(output)["numbers"][0]
        assert first[FIELD]["measure"] == "throughput_per_s"
        first["value"] *= 1.2

    found = planted(book, change)
    assert {one.rule for one in found} == {"AU801-numbers-disagree"}
    assert "json-per-s" in " ".join(one.message + one.place for one in found)


def test_a_changed_cell_is_found(book: Path) -> None:
    """A table beyond rounding of the sentence's number contradicts it; within rounding it fits."""
    found = planted(book, lambda page: mean_rates(page, atom=171.0))
    assert {one.rule for one in found} >= {"AU801-numbers-disagree"}
    assert all("all-trials" in one.place + one.message for one in found)


def test_a_reversed_claim_is_found_by_its_verdict(book: Path) -> None:
    """ "Confirmed: greater" with an effect of 0.4."""
    [found] = planted(book, lambda page: decide_anew(page, **reversed_claim(page)))
    assert found.rule == "AU802-claim-disagrees"
    assert found.place.endswith(f"#{CLAIM}")


def test_a_reversed_claim_is_found_beside_its_table(book: Path) -> None:
    """Also where verdict and effect fit each other: the table shows the opposite."""

    def change(page: Page) -> None:
        mean_rates(page)
        decide_anew(page, **reversed_claim(page), verdict="contradicted")

    [found] = planted(book, change)
    assert found.rule == "AU802-claim-disagrees"
    assert "all-trials shows" in found.message


def test_a_sentence_with_another_effect_than_its_claim_is_found(book: Path) -> None:
    """What is said about a claim has the claim's numbers."""

    def change(page: Page) -> None:
        measured = number(f"{CLAIM}-measured", "1.25 (1.2 to 1.3, n = 3)")
        say(page, ["JSON is faster: ", " times."], measured, claims=[CLAIM])

    [found] = planted(book, change)
    assert found.rule == "AU802-claim-disagrees"
    assert "measured" in found.message


def test_one_comparison_that_stands_for_opposite_ones_is_found(book: Path) -> None:
    """ "Several nodes hold no more memory: 0.84 times", while four hold 1.09 times as much."""

    def change(page: Page) -> None:
        claim = record_of(result(page, "claim"))["claim"]
        other = {**claim["comparisons"][0], **reversed_claim(page), "verdict": "undetermined"}
        claim["comparisons"].append(other)
        known = claim_card.claim_values(effect_of(page))["measured"]
        decide_anew(page)
        say(page, ["JSON answers more: ", " times."], number(f"{CLAIM}-measured", known),
            claims=[CLAIM])  # fmt: skip

    found = planted(book, change)
    assert [one for one in found if "one comparison" in one.message]


def test_a_row_that_names_a_claim_has_its_ratio(book: Path) -> None:
    """A table of claims with ratios has one of the ratios that the claim was decided by."""

    def table(page: Page, factor: float) -> None:
        effect = effect_of(page).effect or 1.0
        cell = f"{factor * effect:.2f} (1.00 to 9.00)"
        frame = pl.DataFrame({"claim": [CLAIM], "here": [cell]})
        show_table(page, plain_table(frame).with_id("gt-all-trials").as_raw_html())

    assert planted(book, lambda page: table(page, 1.0)) == []
    [found] = planted(book, lambda page: table(page, 1.1))
    assert (found.rule, found.place) == ("AU802-claim-disagrees", "chapters/tiny#all-trials")


@pytest.mark.parametrize("said", ["3 of 6 trials noisy", "0 of 7 trials noisy"])
def test_a_caption_counts_the_trials_that_it_cites(book: Path, said: str) -> None:
    """Warnings in a caption are those of the evidence."""

    def change(page: Page) -> None:
        output = result(page, "figure")
        record_of(output)["caption"] += f" \u26a0 {said}."

    [found] = planted(book, change)
    assert (found.rule, found.place) == ("AU801-numbers-disagree", "chapters/tiny#rates")


def test_a_table_of_validity_counts_the_trials_that_it_cites(book: Path) -> None:
    """Sums of its columns are those of the evidence."""

    def table(page: Page, valid: int) -> None:
        row = {"design": "formats", "run": 6, "valid": valid, "doubtful": 6 - valid, "failed": 0}
        html = plain_table(pl.DataFrame([row])).with_id("gt-all-trials").as_raw_html()
        show_table(page, html)

    def sound(page: Page) -> None:
        sources = record_of(result(page, "table"))["evidence"]["sources"]
        valid.append(sum(one["verdict"] == "valid" for one in sources))
        table(page, valid[0])

    valid: list[int] = []
    assert planted(book, sound) == []
    found = planted(book, lambda page: table(page, (valid[0] + 1) % 7))
    assert {one.rule for one in found} == {"AU801-numbers-disagree"}


@pytest.mark.parametrize(
    ("value", "after", "wrong"),
    [
        (0.8, " times faster.", True),
        ("0.84 (0.7 to 0.9, n = 3)", " times more messages.", True),
        (-3.0, " % more.", True),
        (1.3, " times faster.", False),
        (0.8, " times as fast.", False),
        ("1.3 (0.9 to 1.9, n = 3)", " times slower.", False),
    ],
)
def test_words_on_the_other_side_of_a_number_are_found(
    book: Path, value: Any, after: str, wrong: bool
) -> None:
    """What is 0.8 times faster is slower."""
    found = planted(book, lambda page: say(page, ["It is ", after], number("speed", value)))
    assert bool(found) is wrong


TREND = ["The largest significant trend of a trial changes CPU by ", " over the measured phase."]


@pytest.mark.parametrize(
    ("share", "sentence", "wrong"),
    [
        (-0.46, "Memory and CPU stay level to the end of each trial.", True),
        (-0.46, "The CPU is steady.", True),
        (0.02, "Memory and CPU stay level to the end of each trial.", False),
        (-0.46, "Latency stays level.", False),
        (-0.46, "CPU and memory do not stay level in every trial.", False),
        (-0.46, "If CPU use stays level, the load was constant.", False),
    ],
)
def test_a_trend_beside_what_stays_level_is_found(
    book: Path, share: float, sentence: str, wrong: bool
) -> None:
    """A trend of more than 5 % contradicts a sentence about its quantity, and no other."""

    def change(page: Page) -> None:
        say(page, TREND, number("change", share, "+.1%"))
        say(page, [sentence])

    found = planted(book, change)
    assert {one.rule for one in found} == ({"AU803-not-level"} if wrong else set())


@pytest.mark.parametrize(("name", "wrong"), [("json", True), ("atom", False)])
def test_a_trend_counts_for_claims_about_its_treatment(book: Path, name: str, wrong: bool) -> None:
    """A trend that says what it is of contradicts no claim about another treatment."""

    def change(page: Page) -> None:
        of = {"statistic": "trend", "measure": "cpu_change", "levels": {"format": name}}
        say(page, TREND, {**number("change", -0.46, "+.1%"), FIELD: of})
        decide_anew(page, relation="level", statement="CPU stays level.", least=None)

    found = planted(book, change)
    assert ("AU803-not-level" in {one.rule for one in found}) is wrong


def test_a_page_without_the_field_is_compared_by_its_replay(book: Path) -> None:
    """Pages older than the field ``measurand`` are no error, and their numbers are compared."""

    def without(page: Page) -> None:
        for kind in ("prose", "value"):
            record = record_of(result(page, kind))
            for each in (record, *record.get("numbers", [])):
                each.pop(FIELD, None)

    change_page(book, without)
    replay = Options(replay=True, site=False)
    assert not audit(book, replay).number_of("error")
    change_page(book, lambda page: mean_rates(page, atom=171.0))
    assert "AU801-numbers-disagree" not in {one.rule for one in audit(book, QUICK).findings}
    assert "AU801-numbers-disagree" in {one.rule for one in audit(book, replay).findings}


def test_strange_records_are_no_traceback(book: Path) -> None:
    """Records of a forger, of any form, are findings of other rules."""

    def change(page: Page) -> None:
        prose, claim, table = (result(page, kind) for kind in ("prose", "claim", "table"))
        record_of(prose)["numbers"][0].update({FIELD: {"statistic": "mean"}, "key": 7})
        record_of(prose)["claims"] = {"own": 1}
        record_of(claim)["claim"]["comparisons"] = [{"left": 1}]
        record_of(table)["caption"] = ["not", "words"]
        table["data"]["text/html"] = "<table><thead><tr><th id=x></th></tr></thead>"
        result(page, "figure")["data"]["application/vnd.vegalite.v5+json"] = {"encoding": [1]}

    change_page(book, change)
    json.dumps(audit(book, QUICK).as_json())


@pytest.mark.parametrize(
    ("sentence", "wrong"),
    [
        (f"The median answer was {{effect}}`{CLAIM}` times as frequent.", "median"),
        (f"Atom answers {{effect}}`{CLAIM}:inverse` times faster.", "opposite"),
        (f"JSON answers {{effect}}`{CLAIM}` times faster; the median is not known.", ""),
        (f"Atom has {{effect}}`{CLAIM}:inverse` times the answers.", ""),
    ],
)
def test_a_page_of_the_book_says_of_a_claim_what_it_is(
    book: Path, sentence: str, wrong: str
) -> None:
    """The number is the claim's; the words around it are typed, and may be of something else."""
    (book / "book" / "notes.md").write_text(f"# Notes\n\n## Found\n\nFirst. {sentence}\n")
    found = [one for one in audit(book, QUICK).findings if one.rule.startswith(RULES)]
    assert [one.rule for one in found] == ["AU802-claim-disagrees"] * bool(wrong)
    assert all(wrong in one.message and one.place == f"notes.md#{CLAIM}" for one in found)
