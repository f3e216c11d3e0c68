"""What ``sizebook hosts prepare`` brings, and for which chapters."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from sizebook.cli.main import app
from sizebook.hosts import preparing

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("words", "brings"),
    [((), True), (("--chapter", "disk"), True), (("--chapter", "nginx"), False)],
)
def test_hosts_are_prepared_for_chapters_with_modes_alone(monkeypatch, words, brings):
    """A chapter that compares no virtualization modes waits for no build of a kernel."""
    step = preparing.SetupStep("a kernel unpacked", was_done=True)
    monkeypatch.setenv("SIZEBOOK_ROOT", str(ROOT))
    monkeypatch.setattr(preparing, "prepare_hosts", lambda _state, with_gvisor: iter([step]))
    done = CliRunner().invoke(app, ["hosts", "prepare", *words])
    assert done.exit_code == 0, done.output
    assert ("a kernel unpacked" in done.output) == brings


def test_a_chapter_that_there_is_not_is_named(monkeypatch):
    monkeypatch.setenv("SIZEBOOK_ROOT", str(ROOT))
    done = CliRunner().invoke(app, ["hosts", "prepare", "--chapter", "no-such"])
    assert done.exit_code != 0
    assert "no chapter 'no-such'" in str(done.exception)
