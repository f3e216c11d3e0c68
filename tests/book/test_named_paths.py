"""A place that cannot be written, or what is none of what is asked for, is one message."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from sizebook.book.crate import export
from sizebook.book.scaffold import NewChapter, start_book, start_chapter
from sizebook.cli.main import app
from sizebook.model.errors import UsageError
from sizebook.store.named_paths import make_folder, writing
from sizebook.store.received import is_archive

NEW = NewChapter("first-load", "First load")
PLACES = ["/proc/sizebook/x", "/proc/x", "FILE/x", "FILE/x/y", "/dev/null/x"]
"""None of them can be made, not even by root; FILE is a plain file."""


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    (tmp_path / "file").touch()
    return Path(request.param.replace("FILE", str(tmp_path / "file")))


def test_a_book_is_not_begun_where_nothing_can_be_written(place: Path) -> None:
    with pytest.raises(UsageError, match="which cannot be written: ") as caught:
        start_book(place, "A book", NEW)
    assert str(place) in str(caught.value)


def test_a_folder_for_bundles_is_tried_before_anything_is_measured(
    place: Path, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=f"found {place}, which cannot be written: "):
        make_folder(place)
    make_folder(tmp_path / "new" / "folder")
    make_folder(tmp_path / "new" / "folder")
    assert list((tmp_path / "new" / "folder").iterdir()) == []


def test_a_crate_is_not_exported_there(place: Path) -> None:
    with pytest.raises(UsageError, match="which cannot be written: "), export._draft(place):
        raise AssertionError("there is no draft")


@pytest.mark.parametrize("name", ["/dev/null", "FILE"])
def test_what_is_no_folder_is_not_called_full(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    target = Path(name.replace("FILE", str(tmp_path / "file")))
    with pytest.raises(UsageError, match="which is there and no folder"):
        start_book(target, "A book", NEW)
    with pytest.raises(UsageError, match="which is there already"):
        export.export_crate(tmp_path, target)


def test_a_chapter_names_the_file_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "book").mkdir()
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "book" / "_toc.yml").write_text("parts:\n- caption: One\n  chapters: []\n")
    (tmp_path / "locustfiles").touch()  # where a folder should be
    with pytest.raises(UsageError, match=r"locustfiles/first_load.py, which cannot be written: "):
        start_chapter(tmp_path, NEW)


def test_other_errors_stay_what_they_are(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), writing(tmp_path):
        print(1 / 0)


@pytest.mark.parametrize("command", [["chapter", "z"], ["book", "z"]], ids=" ".join)
@pytest.mark.parametrize(
    ("url", "expected"),
    [("", "nothing behind --url"), ("http://127.0.0.1:022", "without zeros before it")],
)
def test_an_empty_url_is_none_that_was_left_out(
    command: list[str], url: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SIZEBOOK_ROOT", str(tmp_path))
    (tmp_path / "_config.yml").touch()
    (tmp_path / "notebooks").mkdir()
    found = CliRunner().invoke(app, ["new", *command, f"--url={url}"]).exception
    assert isinstance(found, UsageError), found
    assert expected in str(found)
    assert not (tmp_path / "z").exists()


@pytest.mark.parametrize("data", [b"", b"# A page\n", b"\x00" * 30])
def test_a_file_that_is_no_archive_is_no_damaged_one(data: bytes, tmp_path: Path) -> None:
    sent = tmp_path / "sent.zip"
    sent.write_bytes(data)
    assert not is_archive(sent)
    found = CliRunner().invoke(app, ["audit", str(sent)]).exception
    assert isinstance(found, UsageError)
    assert str(found).startswith("found sent.zip, a file that is no archive; expected ")


def test_an_archive_that_was_cut_is_a_damaged_one(tmp_path: Path) -> None:
    sent = tmp_path / "sent.zip"
    sent.write_bytes(b"PK\x03\x04" + b"\x00" * 60)
    done = CliRunner().invoke(app, ["audit", str(sent)])
    assert done.exit_code == 1
    assert "AU101-record" in done.stdout
