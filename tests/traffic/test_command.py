"""``sizebook new chapter --from``: what it refuses, and that it then writes nothing."""

from __future__ import annotations

import pytest
from tests.traffic import formats
from typer.testing import CliRunner

from sizebook.book.scaffold import NewChapter, start_book
from sizebook.cli.main import app
from sizebook.model.errors import UsageError


@pytest.fixture
def book(tmp_path, monkeypatch):
    start_book(tmp_path / "b", "Mine", NewChapter("one", "One"))
    monkeypatch.setenv("SIZEBOOK_ROOT", str(tmp_path / "b"))
    for form, name in (("csv", "requests.csv"), ("har", "chrome.har"), ("log", "combined.log")):
        (tmp_path / name).write_bytes(formats.sample(form, name))
    return tmp_path / "b"


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["--from", "requests.csv"], "a load recorded at no named system, without --url"),
        (["--from", "nothing.har"], "nothing.har: No such file"),
        (["--from", "b"], "which is a folder"),
        (["--data", "requests.csv"], "--data without --from"),
        (["--from", "chrome.har", "--data", "nothing.csv"], "nothing.csv: No such file"),
        (["--from", "chrome.har", "--url", "https://shop.test"], "URL 'https://shop.test'"),
    ],
)
def test_what_cannot_be_made_is_refused_before_anything_is_written(book, words, found):
    """Nothing is sent to a system that was recorded elsewhere, unless it is named."""
    before = sorted(book.rglob("*"))
    given = [str(book.parent / w) if ("." in w and ":" not in w) or w == "b" else w for w in words]
    refused = CliRunner().invoke(app, ["new", "chapter", "two", *given]).exception
    assert isinstance(refused, UsageError)
    assert found in refused.found
    assert sorted(book.rglob("*")) == before


def test_what_was_recorded_on_this_machine_needs_no_url(book):
    """What is there already is not overwritten, neither file nor folder."""
    har = ["--from", str(book.parent / "chrome.har")]
    done = CliRunner().invoke(app, ["new", "chapter", "two", *har])
    assert done.exit_code == 0, done.exception
    assert "given_system(" in (book / "notebooks" / "11-two.ipynb").read_text()
    assert "http://127.0.0.1:8080" in (book / "notebooks" / "11-two.ipynb").read_text()
    assert "all of this stands in locustfiles/two/source.md" in done.stdout
    (book / "locustfiles" / "three").mkdir()
    refused = CliRunner().invoke(app, ["new", "chapter", "three", *har]).exception
    assert isinstance(refused, UsageError) and "locustfiles/three" in refused.found


def test_a_slow_log_is_replayed_faster(book):
    """At the recorded speed a short trial would hold next to nothing."""
    log = ["--from", str(book.parent / "combined.log"), "--url", "http://127.0.0.1:1"]
    assert CliRunner().invoke(app, ["new", "chapter", "slow", *log]).exit_code == 0
    assert "speeds = [1.0, 50.0, 100.0]" in (book / "notebooks" / "11-slow.ipynb").read_text()
