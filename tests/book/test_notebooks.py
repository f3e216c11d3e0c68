"""A chapter's notebook becomes a page, or a clear failure and no page."""

from __future__ import annotations

import errno
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest

from sizebook.book import kernel, notebooks, stamps
from sizebook.book.chapters import find_chapters
from sizebook.book.notebooks import ProgressLine, RunOutcome, is_up_to_date, run_chapter

TemplateWriter = Callable[..., Path]

SOURCES = '"0" * 64'
PUBLISH = f"""\
from sizebook.report.page import EvidenceSource, Page
sources = [EvidenceSource("s", {SOURCES}, "valid")]
page = Page("tiny", {{"profile": profile}}, sources=sources, command="again")
page.value("answer", 42)
"""
REPORT = """\
import json, os
def report(done):
    line = {"t": 1.0, "chapter": "tiny", "done": done, "total": 2}
    line |= {"label": "trials", "left_s": None}
    with open(os.environ["SIZEBOOK_PROGRESS"], "a") as file:
        file.write(json.dumps(line) + "\\n")
"""


def run(root: Path, **options: Any) -> RunOutcome:
    [chapter] = find_chapters(root)
    return run_chapter(root, chapter, {"profile": "quick"}, **options)


def line(done: int) -> ProgressLine:
    return ProgressLine(t=1.0, chapter="tiny", done=done, total=2, label="trials", left_s=None)


def test_page_is_made_then_up_to_date(write_template: TemplateWriter, tmp_path: Path) -> None:
    """A run makes the page with its parameters and no local path; then nothing is left to do."""
    write_template(f"import sys\nprint(sys.executable == {sys.executable!r})", PUBLISH)
    first = run(tmp_path)
    assert (first.state, first.error) == ("ran", None)
    assert first.page is not None
    text = first.page.read_text()
    assert str(tmp_path) not in text
    notebook = json.loads(text)
    assert notebook["cells"][3]["outputs"][0]["text"] == ["True\n"]
    assert notebook["metadata"]["sizebook_run"]["parameters"] == {"profile": "quick"}
    record = notebook["cells"][4]["outputs"][0]["metadata"]["sizebook"]
    assert record["value"] == 42
    assert record["evidence"]["parameters"] == {"profile": "quick"}
    assert run(tmp_path).state == "up to date"

    [chapter] = find_chapters(tmp_path)
    assert not is_up_to_date(tmp_path, chapter, {"profile": "smoke"})
    bundle = tmp_path / "data" / "runs" / "tiny" / "0001" / "trial.json"
    bundle.parent.mkdir(parents=True)
    bundle.write_text("{}")
    assert not is_up_to_date(tmp_path, chapter, {"profile": "quick"})
    bundle.unlink()
    assert is_up_to_date(tmp_path, chapter, {"profile": "quick"})
    write_template("pass")
    assert not is_up_to_date(tmp_path, chapter, {"profile": "quick"})


def test_a_page_is_stale_by_the_rooms_that_it_enters(
    write_template: TemplateWriter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of packages and of modules, however they are imported; not by a room of another chapter."""
    package = tmp_path / "package"
    for name in ("report/own.py", "chapters/one/deep.py", "chapters/two.py", "chapters/three.py"):
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text("")
    monkeypatch.setattr(stamps, "_PACKAGE", package)
    monkeypatch.setattr(stamps, "_ROOMS", package / "chapters")

    def stamp_changes(name: str) -> bool:
        [chapter] = find_chapters(tmp_path)
        before = stamps.make_stamp(tmp_path, chapter, {})
        (package / name).write_text((package / name).read_text() + "# edited\n")
        return stamps.make_stamp(tmp_path, chapter, {}) != before

    for entering, enters in {
        "from sizebook.chapters.one import deep": ["one/deep"],
        "from sizebook.chapters.one.deep import something": ["one/deep"],
        "from sizebook.chapters import two as other": ["two"],
        "import sizebook.chapters.two, sizebook.chapters.one.deep": ["one/deep", "two"],
        "from sizebook.report import own": [],
        "%not_python from sizebook.chapters": ["one/deep", "three", "two"],
    }.items():
        write_template(entering)
        rooms = ("one/deep", "three", "two")
        assert [room for room in rooms if stamp_changes(f"chapters/{room}.py")] == enters
        assert stamp_changes("report/own.py")


def test_the_same_notebook_run_twice_is_the_same_page(
    write_template: TemplateWriter, tmp_path: Path
) -> None:
    """Nothing in a page comes from the clock or from chance: two runs give the same bytes."""
    write_template(PUBLISH, "answer = 42", "answer")
    pages = []
    for _ in range(2):
        outcome = run(tmp_path, force=True)
        assert outcome.page is not None
        pages.append(outcome.page.read_bytes())
    assert pages[0] == pages[1]


def test_user_error_comes_out_as_its_line(write_template: TemplateWriter, tmp_path: Path) -> None:
    """A UserError in the notebook is the outcome's one line, and the old page is gone."""
    write_template(
        "from sizebook.model.errors import HostLacksError\n"
        "raise HostLacksError(found='no JVM', expected='Java 17', next_step='sizebook doctor')"
    )
    old = tmp_path / "book" / "chapters" / "tiny.ipynb"
    old.parent.mkdir(parents=True)
    old.write_text("{}")
    outcome = run(tmp_path)
    assert outcome.state == "failed"
    assert outcome.error == "found no JVM; expected Java 17; next: sizebook doctor"
    assert not old.exists()
    assert outcome.remains is not None
    assert outcome.remains.exists()


def test_crash_names_cell_and_error(write_template: TemplateWriter, tmp_path: Path) -> None:
    """Any other exception is named with its kind and its cell."""
    write_template("1 + 1", "1 / 0", "raise SystemError('never reached')")
    outcome = run(tmp_path)
    assert (outcome.state, outcome.error) == ("failed", "ZeroDivisionError: division by zero")
    assert outcome.cell == 4  # with the cell that papermill adds for the parameters


def test_dead_kernel_is_a_failure(write_template: TemplateWriter, tmp_path: Path) -> None:
    """A notebook whose process dies is a failed chapter, not a hanging one; what it said stays."""
    write_template("print('the last words')", "import os\nos._exit(3)")
    outcome = run(tmp_path)
    assert outcome.state == "failed"
    assert "ended unexpectedly" in str(outcome.error)
    assert outcome.remains is not None
    assert "the last words" in str(nbformat.read(outcome.remains, as_version=4).cells)


MUTE = """
kernel = get_ipython().kernel
for name in ("_publish_status", "_publish_status_and_flush"):
    setattr(kernel, name, lambda *_, **__: None)
"""


def test_a_kernel_that_falls_silent_is_a_failure(
    write_template: TemplateWriter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cell that ended and never says so, as on a machine without a free CPU: one line."""
    monkeypatch.setattr(kernel, "_SILENT_S", 1)
    write_template(MUTE)
    outcome = run(tmp_path)
    assert outcome.state == "failed"
    assert "told nothing for 1 s" in str(outcome.error)


@pytest.mark.parametrize("place", ["run", "stamp"])
def test_a_full_disk_is_a_failure(
    write_template: TemplateWriter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """While the notebook is written, and while its stamp is; the old page is gone as well."""

    def fill(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    write_template("1 + 1")
    if place == "run":
        monkeypatch.setattr(kernel.papermill, "execute_notebook", fill)
    else:
        monkeypatch.setattr(notebooks, "stamp_page", fill)
    outcome = run(tmp_path)
    assert outcome.state == "failed"
    assert "No space left on device" in str(outcome.error)
    assert not list((tmp_path / "book" / "chapters").glob("*.ipynb"))


def test_a_kernel_that_cannot_start_is_told(
    write_template: TemplateWriter,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """What kept it from starting is in the outcome's line, its traceback nowhere."""
    write_template("pass")
    (tmp_path / "ipykernel_launcher.py").write_text("raise ImportError('broken here')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    outcome = run(tmp_path)
    assert outcome.state == "failed"
    assert "ImportError: broken here" in str(outcome.error)
    assert capfd.readouterr().err == ""


def test_noise_of_a_kernel_that_ends_is_kept_from_the_caller(
    write_template: TemplateWriter, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """What the kernel's process says while it ends, a traceback of its own too, is not shown."""
    noise = "import atexit, sys\natexit.register(sys.__stderr__.write, 'Traceback, too late')"
    write_template(noise, "raise SystemError('told')")
    assert run(tmp_path).error == "SystemError: told"
    assert capfd.readouterr().err == ""


def test_progress_comes_through(write_template: TemplateWriter, tmp_path: Path) -> None:
    """Each line that the notebook reports reaches the caller, in order."""
    write_template(REPORT, "report(1)", "report(2)")
    lines: list[ProgressLine] = []
    outcome = run(tmp_path, on_progress=lines.append)
    assert ("ran", [line(1), line(2)]) == (outcome.state, lines)


def test_two_results_with_one_key_fail(write_template: TemplateWriter, tmp_path: Path) -> None:
    """A notebook that publishes one key twice makes no page."""
    write_template(PUBLISH, 'page.value("answer", 43)')
    outcome = run(tmp_path)
    assert outcome.state == "failed"
    assert "two different results as 'answer'" in str(outcome.error)


def test_ctrl_c_lets_the_notebook_clean_up(write_template: TemplateWriter, tmp_path: Path) -> None:
    """Ctrl-C interrupts the cell, its clean-up runs, no later cell does, and no page is left."""
    marks = tmp_path / "marks"
    marks.mkdir()
    write_template(
        REPORT,
        f"import pathlib, threading\nmarks = pathlib.Path({str(marks)!r})\n"
        "(marks / 'pid').write_text(str(os.getpid()))\n"
        "try:\n    report(1)\n    threading.Event().wait(60)\n"
        "finally:\n    (marks / 'cleaned').touch()",
        "(marks / 'later').touch()",
    )
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, on_progress=lambda _: signal.raise_signal(signal.SIGINT))
    assert {"pid", "cleaned"} == {each.name for each in marks.iterdir()}
    assert not (tmp_path / "book" / "chapters" / "tiny.ipynb").exists()
    with pytest.raises(ProcessLookupError):
        os.kill(int((marks / "pid").read_text()), 0)


def test_deaf_notebook_is_ended(write_template: TemplateWriter, tmp_path: Path) -> None:
    """A notebook that ignores the interrupt is terminated when its time is over."""
    pid = tmp_path / "pid"
    write_template(
        REPORT,
        "import pathlib, signal, threading\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        f"pathlib.Path({str(pid)!r}).write_text(str(os.getpid()))\n"
        "report(1)\nthreading.Event().wait(60)",
    )
    with pytest.raises(KeyboardInterrupt):
        run(
            tmp_path,
            on_progress=lambda _: signal.raise_signal(signal.SIGINT),
            stop_grace_s=0.1,
        )
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)
