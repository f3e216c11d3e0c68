"""A new book and its new chapter: written, tried by its own test, built; nothing is overwritten."""

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from sizebook.book.chapters import find_chapters
from sizebook.book.scaffold import NewChapter, add_to_contents, start_book, start_chapter
from sizebook.book.site import build_site
from sizebook.cli.main import app
from sizebook.model.errors import UsageError
from sizebook.store import find_bundles

ROOT = Path(__file__).resolve().parents[2]


def run(*command, folder):
    """Run a command and return it; its output is in the message if it fails."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}: {done.stdout}\n{done.stderr}"
    return done


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """A book as the command writes it."""
    folder = tmp_path_factory.mktemp("books") / "mine"
    command = [sys.executable, "-m", "sizebook.cli", "new", "book", str(folder), "--title", "Mine"]
    assert "make book PROFILE=smoke" in run(*command, folder=folder.parent).stdout
    return folder


def test_its_own_test_measures_it_and_it_builds(book, tmp_path):
    """The written test passes as it is; the page that it leaves, put into the book, builds."""
    pytest_ = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
    run(*pytest_, f"--basetemp={tmp_path / 'base'}", folder=book)
    copy = next((tmp_path / "base").glob("copy*"))
    assert len(list(find_bundles(copy / "data" / "runs" / "first-load"))) >= 3
    shutil.copytree(copy / "book" / "chapters", book / "book" / "chapters")
    shutil.copytree(copy / "data" / "runs", book / "data" / "runs")
    page = build_site(book).parent / "chapters" / "first-load.html"
    assert "Evidence" in page.read_text()


def test_what_is_written_keeps_the_style(book):
    """Of the new book, and of this one."""
    ruff = [sys.executable, "-m", "ruff"]
    ours = ["--config", str(ROOT / "pyproject.toml")]
    first = ["--config", 'lint.isort.known-first-party = ["sizebook"]']
    for options, places in (([], ["."]), ([*ours, *first], ["locustfiles", "tests"])):
        run(*ruff, "check", *options, *places, folder=book)
        run(*ruff, "format", "--check", *options, *places, folder=book)


def test_the_book_is_set_up_like_ours(book):
    """All settings that its pages share with ours are the same."""
    ours = yaml.safe_load((ROOT / "_config.yml").read_text())
    its = yaml.safe_load((book / "_config.yml").read_text())
    config = ours["sphinx"]["config"]
    config["extensions"].remove("sphinxcontrib.bibtex")
    for name in ("bibtex_bibfiles", "bibtex_reference_style"):
        del config[name]
    del config["html_theme_options"]["extra_footer"]  # licences are their author's
    del ours["logo"], ours["html"]["favicon"]
    assert its == ours | {"title": "Mine", "author": "", "copyright": time.strftime("%Y")}


def test_further_chapters_follow_the_last(tmp_path):
    """Order, part and contents; one for a URL elsewhere comes with its inventory."""
    start_book(tmp_path / "b", "Mine", NewChapter("one", "One", url="http://127.0.0.1:8080"))
    elsewhere = NewChapter("two-b", 'Two "b"', url="http://shop.example:80/base")
    written = start_chapter(tmp_path / "b", elsewhere)
    chapters = find_chapters(tmp_path / "b")
    assert [(each.id, each.order, each.part) for each in chapters] == [
        ("one", 10, "Your own system"),
        ("two-b", 11, "Your own system"),
    ]
    toc = yaml.safe_load((tmp_path / "b" / "book" / "_toc.yml").read_text())
    files = [entry["file"] for entry in toc["parts"][-1]["chapters"]]
    assert files == ["chapters/one", "chapters/two-b"]
    inventory = next(path for path in written if path.suffix == ".yaml")
    named = yaml.safe_load(inventory.read_text())["systems"]["system"]["url"]
    assert named == "http://shop.example:80/base"
    for path in (tmp_path / "b" / "notebooks").iterdir():
        cells = json.loads(path.read_text())["cells"]
        text = "".join(line for cell in cells for line in cell["source"])
        assert ("http://127.0.0.1:8080" in text) == ("one" in path.name)
        assert "shop.example" not in text and "given_system(" in text


@pytest.mark.parametrize(
    ("chapter", "said"),
    [
        (NewChapter("first-load", "Again"), "a chapter 'first-load' in this project"),
        (NewChapter("../x", "Out"), "chapter id '../x'"),
        (NewChapter("x", "two\nlines"), "title"),
        (NewChapter("x", "Far", url="ftp://x"), "URL 'ftp://x'"),
        (NewChapter("taken", "Taken"), "a file locustfiles/taken.py"),
    ],
)
def test_nothing_is_overwritten(book, chapter, said):
    """What is refused leaves every file as it was."""
    (book / "locustfiles" / "taken.py").write_text("mine\n")
    before = {path: path.read_bytes() for path in book.rglob("*") if path.is_file()}
    with pytest.raises(UsageError, match=said):
        start_chapter(book, chapter)
    assert {path: path.read_bytes() for path in book.rglob("*") if path.is_file()} == before
    (book / "locustfiles" / "taken.py").unlink()
    with pytest.raises(UsageError, match="there and not empty"):
        start_book(book, "Mine", NewChapter("x", "X"))


def test_the_command_says_what_it_wrote_and_what_comes_next(tmp_path, monkeypatch):
    """The files, and a command with the inventory where one is needed; elsewhere, why not."""
    start_book(tmp_path / "b", "Mine", NewChapter("one", "One"))
    monkeypatch.setenv("SIZEBOOK_ROOT", str(tmp_path / "b"))
    url = "http://shop.example:80"
    words = ["new", "chapter", "two", "--url", url, "--title", "My  shop", "--part", "Shops"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.exception
    assert done.stdout.splitlines() == [
        "wrote notebooks/11-two.ipynb",
        "wrote locustfiles/two.py",
        "wrote tests/smoke/test_two.py",
        "wrote inventories/two.yaml",
        "wrote book/_toc.yml",
        "next: sizebook run two --profile smoke --inventory inventories/two.yaml",
    ]
    made = find_chapters(tmp_path / "b")[-1]
    assert (made.title, made.part) == ("My  shop", "Shops")
    (tmp_path / "b" / "book" / "_toc.yml").rename(tmp_path / "toc.yml")
    refused = CliRunner().invoke(app, ["new", "chapter", "three"]).exception
    assert isinstance(refused, UsageError)
    assert "book/_toc.yml that cannot be read" in refused.found
    assert "sizebook new book FOLDER" in refused.next_step
    assert not list((tmp_path / "b").rglob("*three*"))


def test_a_page_comes_to_the_end_of_its_part():
    """All other lines stay; a new part comes after the last one with chapters."""
    toc = (ROOT / "book" / "_toc.yml").read_text()
    added = add_to_contents(toc, "I Protocols", "chapters/x")
    rest = [line for line in added.splitlines() if line != "  - file: chapters/x"]
    assert rest == toc.splitlines()
    parts = yaml.safe_load(added)["parts"]
    assert parts[1]["chapters"][-1] == {"file": "chapters/x"}
    captions = [
        part["caption"] for part in yaml.safe_load(add_to_contents(toc, "New", "y"))["parts"]
    ]
    assert captions.index("New") == captions.index("Using the book") - 1
