"""Whatever is done to a bundle, the audit finds it and says by which rule."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from audited_book import audit, bundle_of, change_bytes, change_record, found, write_trial

from sizebook.book.audit.auditing import run_audit
from sizebook.book.audit.targets import folder_target
from sizebook.store.fingerprints import fingerprint_file

Tamper = Callable[[Path], Any]


def mend_files(bundle: Path) -> None:
    """Write the right checksums of all files into the record, as a careful forger would."""

    def mend(record: dict[str, Any]) -> None:
        for name, file in record["files"].items():
            file["sha256"] = fingerprint_file(bundle / name)
            file["bytes"] = (bundle / name).stat().st_size

    change_record(bundle, mend)


def rewrite_requests(bundle: Path, change: Callable[[pl.DataFrame], pl.DataFrame]) -> None:
    path = bundle / "requests.parquet"
    change(pl.read_parquet(path)).write_parquet(path)
    mend_files(bundle)


def set_model(record: dict[str, Any]) -> None:
    record["machine"]["cpu_model"] = "a faster one"


def set_replicate(record: dict[str, Any]) -> None:
    record["trial"]["replicate"] = 1


def set_version(record: dict[str, Any]) -> None:
    record["versions"] = {"python": "9.9"}


TAMPERED: dict[str, tuple[Tamper, set[str]]] = {
    "a byte of the requests": (
        lambda b: change_bytes(b / "requests.parquet", 5000), {"AU102", "AU208"}),
    "a byte of the counters": (
        lambda b: change_bytes(b / "counters.parquet"), {"AU102", "AU208"}),
    "a byte of the histograms": (
        lambda b: change_bytes(b / "latency.hlog"), {"AU102", "AU208"}),
    "a record that is no JSON": (
        lambda b: change_bytes(b / "trial.json", 0), {"AU101", "AU108", "AU207"}),
    "a machine that was not there": (lambda b: change_record(b, set_model), {"AU105", "AU208"}),
    "a trial of another block": (
        lambda b: change_record(b, set_replicate), {"AU105", "AU108", "AU208"}),
    "a field that nothing else depends on": (
        lambda b: change_record(b, set_version), {"AU208"}),
    "a file put in": (lambda b: (b / "notes.txt").write_text("x"), {"AU103"}),
    "a file taken out": (lambda b: (b / "counters.parquet").unlink(), {"AU101", "AU108", "AU207"}),
    "a record taken out": (lambda b: (b / "trial.json").unlink(), {"AU101", "AU108", "AU207"}),
    "a bundle taken out": (shutil.rmtree, {"AU108", "AU207"}),
    "a bundle under another name": (
        lambda b: shutil.copytree(b, b.with_name("json-3")), {"AU109"}),
    "rows taken out, checksums mended": (
        lambda b: rewrite_requests(b, lambda rows: rows.head(1000)), {"AU106", "AU107", "AU208",
                                                                      "AU209"}),
    "latencies halved, checksums mended": (
        lambda b: rewrite_requests(b, lambda rows: rows.with_columns(
            latency_ns=pl.col("latency_ns") // 2, service_ns=pl.col("service_ns") // 2)),
        {"AU107", "AU208"}),
    "latencies below zero, checksums mended": (
        lambda b: rewrite_requests(b, lambda rows: rows.with_columns(
            latency_ns=-pl.col("latency_ns"), service_ns=-pl.col("service_ns"))),
        {"AU104", "AU208"}),
    "a column too many, checksums mended": (
        lambda b: rewrite_requests(b, lambda rows: rows.with_columns(more=1)),
        {"AU104", "AU208"}),
    "a column of another type, checksums mended": (
        lambda b: rewrite_requests(b, lambda rows: rows.cast({"status": pl.Int64})),
        {"AU104", "AU208"}),
}  # fmt: skip


@pytest.mark.parametrize("what", TAMPERED)
def test_a_tampered_bundle_is_found(book: Path, what: str) -> None:
    """Each kind of tampering is an error of the rules that are meant for it, and of no other."""
    tamper, rules = TAMPERED[what]
    tamper(bundle_of(book))
    report = audit(book)
    assert found(report) - {"AU209"} == rules - {"AU209"}
    assert not report.verified
    places = " ".join(one.place + one.message for one in report.findings)
    assert "json-0" in places or "tiny/formats" in places


def test_only_what_cites_a_bundle_is_spoiled(book: Path) -> None:
    """A damaged bundle takes the results that cite it with it; the clock cites none."""
    change_bytes(bundle_of(book) / "requests.parquet", 5000)
    counts = audit(book).counts()
    assert (counts["bundles"].checked, counts["bundles"].verified) == (6, 5)
    assert (counts["numbers"].checked, counts["numbers"].verified) == (4, 1)
    assert counts["pages"].verified == 0


def test_a_trial_that_is_missing_in_its_session_is_found(book: Path) -> None:
    """A gap in the numbers of a session's trials tells that one was taken out between."""
    for number, name in enumerate(("json-0", "atom-0", "json-1"), start=1):

        def place(record: dict[str, Any], number: int = number) -> None:
            record["execution"]["session"] = "one"
            record["execution"]["position"] = 2 * number

        change_record(bundle_of(book, name), place)
    gaps = [one for one in audit(book).findings if "in session one" in one.message]
    assert [one.rule for one in gaps] == ["AU108-missing-trial"]
    assert gaps[0].message == "2 trials missing in session one"


def test_a_trial_measured_again_is_a_warning(book: Path) -> None:
    """Two completed trials with one key and different starts: somebody may have chosen."""
    write_trial(book, "json", 0, 0, again=1)
    report = audit(book)
    assert found(report) == set()
    assert "AU110" in found(report, "warning")


def test_sent_bundles_are_audited_without_a_project(book: Path, tmp_path: Path) -> None:
    """A folder of bundles that somebody sent is audited by itself; so is a single bundle."""
    sent = tmp_path / "sent"
    shutil.copytree(book / "data" / "runs" / "tiny", sent)
    clean = run_audit(folder_target(sent, None))
    assert clean.findings == []
    assert clean.verified
    assert clean.counts()["bundles"].verified == 6
    one = run_audit(folder_target(sent / "json-0", None))
    assert found(one) == set()
    shutil.rmtree(sent / "atom-1")
    report = run_audit(folder_target(sent, None))
    assert found(report) == {"AU108"}
    [finding] = [each for each in report.findings if each.severity == "error"]
    assert finding.message == "no trial of format atom in block 2"
    assert (finding.found, finding.expected) == ("2 of 3 replicates", "3 replicates")


def test_a_block_that_is_missing_altogether_is_a_warning(book: Path, tmp_path: Path) -> None:
    """A whole last block may be what a design stopped before: a warning, not an error."""
    sent = tmp_path / "sent"
    shutil.copytree(book / "data" / "runs" / "tiny", sent)
    for name in ("json-2", "atom-2"):
        shutil.rmtree(sent / name)
    report = run_audit(folder_target(sent, None))
    assert (found(report), found(report, "warning")) == (set(), {"AU111"})


def test_left_overs_that_no_page_cites_are_warnings(book: Path) -> None:
    """What an interrupted run with other sources left behind does not make the book wrong."""
    left = shutil.copytree(bundle_of(book, "atom-1"), bundle_of(book, "old"))

    def older(record: dict[str, Any]) -> None:
        record["fingerprints"]["stack"] = "e" * 64
        record["execution"]["session"] = "older"

    change_record(Path(left), older)
    report = audit(book)
    assert "AU108" not in found(report)
    assert {"AU108", "AU112"} <= found(report, "warning")


def test_links_in_a_sent_folder_are_not_followed(book: Path, tmp_path: Path) -> None:
    """A link to a folder is no bundle, and a loop of links ends."""
    sent = tmp_path / "sent"
    sent.mkdir()
    shutil.copytree(bundle_of(book), sent / "json-0")
    (sent / "loop").symlink_to(sent)
    (sent / "away").symlink_to(book / "data" / "runs")
    target = folder_target(sent, None)
    assert [path.name for path in target.bundles] == ["json-0"]


def test_a_record_with_a_key_of_its_own_is_found(book: Path, tmp_path: Path) -> None:
    """The cache key is recomputed from specification and fingerprints."""
    sent = shutil.copytree(bundle_of(book), tmp_path / "json-0")
    path = Path(sent) / "trial.json"
    record = json.loads(path.read_text())
    path.write_text(json.dumps(record | {"key": "0" * 64}))
    report = run_audit(folder_target(Path(sent), None))
    assert found(report) == {"AU105"}
    assert report.findings[0].message.startswith("the key is not what")
