"""An answer is a verdict only if its test asks the claim's question, and the claim came first."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from browser import Browser
from claims_book import BEGAN, CLAIMS, PAGES, make_claims_book
from typer.testing import CliRunner

from sizebook.book.ledger.counts_html import render_counts
from sizebook.book.ledger.findings import find_findings
from sizebook.book.ledger.rows import LedgerRow, discoveries, faults, read_ledger
from sizebook.book.ledger.standing import began_utc, needs_words, stand
from sizebook.book.ledger.tables import ClaimTables, OwnKey
from sizebook.book.site import build_site
from sizebook.cli.main import app
from sizebook.model.claim import ClaimOutcome
from sizebook.model.errors import UserError
from sizebook.model.fidelity import Fidelity

RUNNER = CliRunner()
FIDELITY = {
    "gw-threads-1": ("proxy", "a stand-in <i>here</i>", "cpus>=8 hours>=4"),
    "gw-size-1": ("scaled", "two hours there, a minute here", ""),
    "mii-connectors-1": ("same question", "the same calls", ""),
    "ita-timeout-1": ("not testable here", "no storage network", "kvm>=1"),
}


def write_fidelity(root: Path, rows: dict[str, tuple[str, str, str]]) -> None:
    lines = [f'{name},{kind},"{why}",{needs}' for name, (kind, why, needs) in rows.items()]
    table = root / "data" / "claims" / "fidelity.csv"
    table.write_text("\n".join(["claim_id,fidelity,reason,requires", *lines]) + "\n")


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """Give a book of claims that says how faithfully each is tested."""
    root = make_claims_book(tmp_path)
    write_fidelity(root, FIDELITY)
    return root


def rows_of(root: Path) -> dict[str, LedgerRow]:
    return {row.claim.claim_id: row for row in read_ledger(root, PAGES)}


def test_a_stand_in_gives_an_answer_and_no_verdict(book: Path) -> None:
    """Its page's verdict is told as the answer; it takes no part in the book's discoveries."""
    rows = rows_of(book)
    assert faults(rows.values()) == []
    found = rows["gw-threads-1"]
    assert (found.state, found.verdict, found.size) == ("proxy", None, None)
    assert found.reason == (
        "a stand-in <i>here</i>; the same question needs 8 CPUs and 4 hours of load; test result: "
        "confirmed, not a verdict"
    )
    assert (rows["gw-size-1"].state, rows["gw-size-1"].verdict) == ("undetermined", "undetermined")
    assert rows["ita-timeout-1"].state == "not testable here"
    assert rows["ita-timeout-1"].reason.endswith("needs hardware virtualization (KVM)")
    assert rows["mii-connectors-1"].state == "not run"
    assert discoveries(rows.values()).found.tested == 1
    counts = find_findings(rows.values())
    assert (counts.reports["confirmed"], counts.reports["proxy"]) == (0, 1)
    assert counts.parts["I Test"]["no verdict"] == 2
    assert counts.own["contradicted"] == counts.parts["This book's own"]["contradicted"] == 1


def test_the_command_tells_fidelity_and_date(book: Path) -> None:
    """With what the same question needs, as data."""
    done = RUNNER.invoke(app, ["claims", "--json"], env={"SIZEBOOK_ROOT": str(book)})
    rows = {row["claim_id"]: row for row in json.loads(done.stdout)["claims"]}
    found = rows["gw-threads-1"]
    assert (found["fidelity"], found["verdict"], found["page_verdict"]) == (
        "proxy", None, "confirmed",
    )  # fmt: skip
    assert found["requires"] == {"cpus": 8, "hours": 4}
    assert rows["own-hostile"]["written_utc"] == "2026-01-01T10:00:00Z"
    assert rows["own-hostile"]["fidelity"] is None
    listed = RUNNER.invoke(
        app, ["claims", "--json", "--verdict", "proxy"], env={"SIZEBOOK_ROOT": str(book)}
    )
    assert [row["claim_id"] for row in json.loads(listed.stdout)["claims"]] == ["gw-threads-1"]


def test_pages_say_that_there_is_no_verdict(book: Path, browser: Browser) -> None:
    """The card, the prose that rests on it, and the ledger; a page cannot assert it any more."""
    with pytest.raises(UserError, match="gw-threads-1 is confirmed, its data say proxy"):
        build_site(book)
    index = book / "book" / "index.md"
    index.write_text(
        index.read_text().replace("{confirmed}`they help <gw-threads-1>`", "{effect}`gw-threads-1`")
        + "\nThe other way round: {effect}`gw-threads-1:inverse`.\n"
    )
    site = build_site(book).parent
    browser.set_size(1400)
    browser.open((site / "chapters" / "gamma.html").resolve().as_uri())
    card = "document.querySelector('#result-gw-threads-1 .sb-claim')"
    assert browser.run(f"{card}.querySelector('.sb-badge').innerText") == "proxy"
    text = browser.run(f"{card}.innerText")
    assert "a stand-in <i>here</i>" in text and "confirmed, not a verdict" in text
    caveat = browser.run("document.querySelector('.sb-caveat').innerText")
    assert caveat.startswith("No verdict (proxy): a stand-in <i>here</i>")
    assert caveat.endswith("The result of the test:")
    assert browser.run(
        "document.querySelector('.sb-caveat').nextElementSibling.innerText"
    ).startswith("Faster: ")
    assert "Scaled" not in text
    other = browser.run("document.querySelector('#result-gw-size-1 .sb-claim').innerText")
    assert "scaled: two hours there, a minute here" in other
    own = browser.run("document.querySelector('#result-own-hostile .sb-claim').innerText")
    assert "2026-01-01, before its trials" in own
    text = (site / "index.html").read_text()
    assert re.search(r"0\.49\d \(0\.\d+ to 0\.\d+, n = 3\)", text)
    assert re.search(r"2\.0\d \([\d.]+ to [\d.]+, n = 3\)", text)
    browser.open((site / "index.html").resolve().as_uri() + "#claims:fidelity=proxy")
    assert browser.run(
        "[...document.querySelectorAll('.sb-ledger-rows tbody tr')]"
        ".filter(row => row.checkVisibility()).map(row => row.id)"
    ) == ["ledger-gw-threads-1"]
    assert browser.complaints == []


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ({"gw-threads-1": ("close", "why", "")}, "fidelity 'close', not one of same question"),
        ({"gw-threads-1": ("proxy", " ", "")}, "for 'gw-threads-1' no reason"),
        ({"gw-threads-1": ("proxy", "why", "cpus>8")}, "'cpus>8', not such as cpus>=8"),
        ({"gw-threads-1": ("proxy", "why", "gpus>=8")}, "'gpus>=8', not such as cpus>=8"),
        ({"gw-unheard": ("proxy", "why", "")}, "claim_id 'gw-unheard', which no report has"),
    ],
)
def test_a_wrong_row_is_a_message(book: Path, rows: Any, words: str) -> None:
    """Found, expected, next step; no traceback."""
    write_fidelity(book, rows)
    with pytest.raises(UserError, match=re.escape(words)) as found:
        read_ledger(book, PAGES)
    assert found.value.next_step == "correct the table"


def test_a_book_with_a_wrong_table_does_not_build(book: Path) -> None:
    """The message names the table, not what Sphinx was doing."""
    write_fidelity(book, {"gw-threads-1": ("close", "why", "")})
    with pytest.raises(
        UserError, match=r"data/claims/fidelity\.csv has for 'gw-threads-1'"
    ) as found:
        build_site(book)
    assert "Exception" not in str(found.value)


def test_each_claim_in_question_has_a_fidelity(book: Path) -> None:
    """One that is missing is a fault; none is asked of a book without the table."""
    write_fidelity(book, {name: FIDELITY[name] for name in list(FIDELITY)[1:]})
    assert faults(read_ledger(book, PAGES)) == [
        "data/claims/fidelity.csv does not say how faithfully claim gw-threads-1 is tested"
    ]
    (book / "data" / "claims" / "fidelity.csv").unlink()
    assert faults(read_ledger(book, PAGES)) == []
    assert set(CLAIMS) == {"gw-odata-1", *FIDELITY}


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("2026-01-01T10:00:00Z", "2026-01-01T10:00:02Z",
         "its first trial began 2026-01-01T10:00:01Z, it was written down 2026-01-01T10:00:02Z"),
        (",level,", ",gt,", "it was not written down before its trials"),
        ("own-hostile", "own-other", "it was not written down before its trials"),
    ],
)  # fmt: skip
def test_an_own_claim_that_came_after_its_trials_is_a_finding(
    book: Path, old: str, new: str, why: str
) -> None:
    """Another relation is another claim; other words are not."""
    table = book / "data" / "claims" / "own.csv"
    table.write_text(table.read_text().replace(old, new))
    found = rows_of(book)["own-hostile"]
    assert (found.state, found.verdict) == ("late claim", None)
    assert found.reason == f"{why}; test result: contradicted, not a verdict"


def test_the_counts_keep_what_gets_no_verdict_apart(book: Path) -> None:
    """One sentence for the reports' claims and one for the book's own."""
    words = re.sub("<[^>]+>", "", render_counts(find_findings(read_ledger(book, PAGES))))
    assert words.startswith(
        "Of 4 claims of the reports: 0 confirmed, 0 contradicted, 1 undetermined and 1 not run. No "
        "verdict: 1 tested by a stand-in and 1 not testable on this machine. Of 1 claims of this "
        "book's own: 0 confirmed, 1 contradicted and 0 undetermined."
    )


def outcome(claim_id: str, source: str) -> ClaimOutcome:
    return ClaimOutcome(claim_id, source, "s", "c", "m", "gt", "confirmed", "r", 2.0, 1.5, 2.5, 3,
                        1.1, "", None, "", ())  # type: ignore[arg-type]  # fmt: skip


def record(cpus: int, modes: Sequence[str] = (), hours: float = 1.0) -> Any:
    """Return as much of a bundle's record as a need is measured by."""
    return SimpleNamespace(
        machine=SimpleNamespace(logical_cpus=cpus, memory_mib=24 * 1024),
        fingerprints=SimpleNamespace(hosts={}),
        execution=SimpleNamespace(phases_s=lambda: 3600 * hours),
        trial=SimpleNamespace(
            deployment=SimpleNamespace(hosts=[SimpleNamespace(mode=mode) for mode in modes])
        ),
    )


@pytest.mark.parametrize(
    ("requires", "records", "instead"),
    [
        ("cpus>=8", [record(8), record(16)], None),
        ("cpus>=8", [record(8), record(2)], "proxy"),
        ("cpus>=8 hours>=4", [record(8, hours=1)], "proxy"),
        ("cpus>=8", [], "proxy"),
        ("cpus>=8", [record(8), None], "proxy"),
        ("kvm>=1", [record(2), record(2, ["virtio-vm-kvm"])], None),
        ("kvm>=1", [record(2), record(2)], "proxy"),
        ("kvm>=1", [record(2, ["paravirtual-kernel"]), record(2, ["virtio-vm-kvm"])], "proxy"),
        ("hosts>=2", [record(2)], "proxy"),
        ("disks>=2", [record(99)], "proxy"),
        ("", [record(99)], "proxy"),
    ],
)
def test_a_larger_machine_asks_the_same_question(
    requires: str, records: list[Any], instead: str | None
) -> None:
    """If each trial behind the claim had what it needs; what is not known is not there."""
    tables = ClaimTables({}, {}, {}, {"gw-x-1": Fidelity.read("proxy", "why", requires)}, {})
    known = {f"bundle-{number}": each for number, each in enumerate(records)}
    found = stand(outcome("gw-x-1", "gateway-2012"), list(known), tables, known.__getitem__)
    assert found.instead == instead
    assert found.fidelity is not None
    assert found.fidelity.bears_a_verdict == (instead is None)


def test_what_nobody_can_date_is_no_proof() -> None:
    """A bundle whose id does not say when its trial began, and a claim without trials."""
    assert began_utc(f"{BEGAN}-0a1b") == "2026-01-01T10:00:01Z"
    assert began_utc("trial-7") == ""
    tables = ClaimTables({}, {}, {}, {}, {OwnKey("own-x", "gt"): "2026-01-01T10:00:00Z"})
    own = outcome("own-x", "sizebook")
    assert stand(own, ["trial-7"], tables, lambda _: None).instead == "late claim"
    assert stand(own, [], tables, lambda _: None).instead is None
    assert stand(replace(own, relation="lt"), [], tables, lambda _: None).instead == "late claim"


def test_needs_in_words() -> None:
    """Numbers with their units, as a list."""
    requires = Fidelity.read("scaled", "why", "cpus>=8 memory_gb>=64 kvm>=1").requires
    assert needs_words(requires) == ("8 CPUs, 64 GB of memory and hardware virtualization (KVM)")
    assert needs_words({}) == ""
