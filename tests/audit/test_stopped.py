"""Ctrl-C, and a full disk, in the midst of a replay."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import nbformat
import psutil
import pytest
from audited_book import audit
from tests.waiting import still_alive, wait_until

from sizebook.book.audit import replay
from sizebook.book.audit.auditing import Options

HANGING = "import os, pathlib, time\npathlib.Path({!r}).write_text(f'{{os.getpid()}} ')\n"


def tree(folder: Path) -> dict[str, bytes]:
    """Return the files below a folder."""
    return {str(p): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_replay_leaves_nothing(book: Path, tmp_path: Path, number: int) -> None:
    """No process, no file, exit code 130 and one line; the book is as it was."""
    begun, temporary = tmp_path / "begun", tmp_path / "temporary"
    temporary.mkdir()
    [template] = (book / "notebooks").rglob("*tiny*.ipynb")
    notebook = nbformat.read(template, as_version=4)
    cell = nbformat.v4.new_code_cell(HANGING.format(str(begun)) + "time.sleep(600)")
    notebook.cells.append(cell)
    nbformat.write(notebook, template)
    before = tree(book)
    process = subprocess.Popen(
        [sys.executable, "-m", "sizebook.cli", "audit"],
        env={**os.environ, "SIZEBOOK_ROOT": str(book), "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert wait_until(lambda: begun.exists() and begun.read_text().endswith(" "))
    kernel = psutil.Process(int(begun.read_text()))
    process.send_signal(number)
    said, _ = process.communicate(timeout=120)
    assert process.returncode == 130, said
    assert "Traceback" not in said
    assert said.splitlines()[-1].startswith("sizebook: stopped")
    assert still_alive([kernel]) == []
    assert list(temporary.iterdir()) == []
    assert tree(book) == before


def test_a_disk_that_is_full_in_a_replay_is_a_finding(
    book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page could not be executed again, and why; other pages go on."""

    def fill(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(replay, "_stage", fill)
    report = audit(book, Options(site=False))
    [finding] = [each for each in report.findings if each.rule == "AU305-no-replay"]
    assert "No space left on device" in finding.message
