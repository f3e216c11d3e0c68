"""The site shows what the notebooks publish, or does not build."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from sample_book import HOSTILE, make_sample_book, write_alpha
from site_check import check_links

from sizebook.book.site import build_site, check_pages, list_pages
from sizebook.model.errors import UserError

PLAIN = Path(__file__).parent / "plain_sphinx"


def read_page(root: Path, page: str) -> str:
    return (root / "_build" / "html" / f"{page}.html").read_text()


def strip_tags(html: str) -> str:
    return re.sub(r"[ \n]+", " ", re.sub(r"<[^>]+>", "", html))


def test_numbers_are_quoted_with_unit_and_link(sample_root: Path) -> None:
    """A page shows a chapter's number in the chapter's format or its own, linked to evidence."""
    page = read_page(sample_root, "index")
    text = strip_tags(page)
    assert "Atom took 12.35\u202fs or, rounded, 12\u202fs; the prose" in text
    assert "says 3.14." in text
    assert 'href="chapters/alpha.html#number-total-time"' in page
    assert "id='number-total-time'" in read_page(sample_root, "chapters/alpha")


def test_figures_and_tables_are_numbered_where_they_stand(sample_root: Path) -> None:
    """The chapter and the page that quotes it each number the figure; references find both."""
    assert "See Fig. 1, Table 1 and, in the chapter itself, Fig. 1.1." in strip_tags(
        read_page(sample_root, "index")
    )
    chapter = strip_tags(read_page(sample_root, "chapters/alpha"))
    assert "Fig. 1.1 Total time (synthetic). \u26a0 2 of 12 trials noisy." in chapter
    assert "Table 1.1 Bytes per answer (synthetic)." in chapter
    assert "Fig. 1.2 Bytes (synthetic)." in chapter


def read_all(site: Path) -> dict[str, bytes]:
    files = (path for path in site.rglob("*") if path.is_file())
    return {path.relative_to(site).as_posix(): path.read_bytes() for path in files}


def test_the_same_book_is_the_same_site(sample_root: Path, tmp_path: Path) -> None:
    """Built in another folder, then built again: every file is the same, byte for byte.

    Pages of trials that nothing has changed for are not made again.
    """
    root, sample_site = tmp_path / "again", sample_root / "_build" / "html"
    shutil.copytree(sample_root, root, ignore=shutil.ignore_patterns("_build"))
    made_ns = []
    for _ in ("from nothing", "with nothing changed"):
        trials = build_site(root).parent / "trials"
        made_ns.append({path.name: path.stat().st_mtime_ns for path in trials.iterdir()})
        built = read_all(root / "_build" / "html")
        first = read_all(sample_site)
        assert sorted(built) == sorted(first)
        assert [name for name in first if built[name] != first[name]] == []
    assert made_ns[0] == made_ns[1] != {}


def test_evidence_stands_under_each_result(sample_root: Path) -> None:
    """The fold holds key, notebook, parameters, trials, command; the chapter's last the bundles."""
    page = read_page(sample_root, "index")
    assert page.count("<details class='sb-evidence'") == 2
    fold = strip_tags(page.split("<details class='sb-evidence'")[1])
    for part in (
        "times",
        "chapters/alpha.ipynb",
        "code cell 3",
        "levels = [1, 5]",
        "noisy",
        "sizebook run alpha",
    ):
        assert part in fold
    assert "href='chapters/alpha.html#sb-bundles'" in page
    last = strip_tags(read_page(sample_root, "chapters/alpha").split("id='sb-bundles'")[1])
    assert "synthetic-0002 noisy sha256 " + "b" * 64 in last


def test_prose_shows_its_numbers_in_bold_or_not(sample_root: Path) -> None:
    """The author's Markdown is parsed, the numbers are put in and linked."""
    chapter = read_page(sample_root, "chapters/alpha")
    assert "<strong>Atom</strong>" in chapter
    assert "detail is 3.1 times the JSON detail, in 4,010 requests." in strip_tags(chapter)


def test_text_from_data_stays_text(sample_root: Path) -> None:
    """Tags, roles, links and formulas in data show as they are, and none of them works."""
    for page in ("chapters/beta", "chapters/alpha", "notes"):
        html = read_page(sample_root, page)
        assert "<script>window.stolen" not in html
        assert 'href="javascript:' not in html
    shown = HOSTILE.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    beta = read_page(sample_root, "chapters/beta").replace("&quot;", '"').replace("&#x27;", "'")
    assert f"It said {shown} and 2." in strip_tags(beta)


def test_scripts_come_only_where_charts_are(sample_site: Path) -> None:
    """A page without a chart does not load Vega, and no page asks for an outside file."""
    assert "sizebook-vega" in (sample_site / "index.html").read_text()
    assert "sizebook-vega" not in (sample_site / "notes.html").read_text()
    outside = re.compile(r"<(?:script|img|link|iframe)\b[^>]*?(?:src|href)=[\"']?(?:https?:)?//")
    for page in sample_site.rglob("*.html"):
        assert None is outside.search(page.read_text()), page


@pytest.fixture
def book(sample_root: Path, tmp_path: Path) -> Path:
    """Give a copy of the built sample book that a test may change."""
    return Path(shutil.copytree(sample_root, tmp_path / "book-copy", symlinks=True))


def test_pages_that_quote_a_changed_notebook_are_rebuilt(book: Path) -> None:
    """A new measurement reaches the chapter and every page that quotes it, unasked."""
    write_alpha(book, total_time=99.5)
    build_site(book)
    assert "Atom took 99.50\u202fs or, rounded, 100\u202fs" in strip_tags(read_page(book, "index"))


WRONG = {
    "{val}`chapters/alpha#nothing`": "no value 'nothing' in chapters/alpha.ipynb",
    "{val}`chapters/gamma#x`": "no executed notebook chapters/gamma.ipynb",
    "{val}`chapters/alpha#total-time:.1q`": "cannot format 'chapters/alpha#total-time:.1q'",
    "```{sbfigure} chapters/alpha#sizes\n```": "no figure 'sizes' in chapters/alpha.ipynb",
    "The sum is $a + b$.": "TeX formula 'a + b'",
}


def test_what_cannot_be_right_fails_the_build(book: Path) -> None:
    """Each missing key or notebook, each bad format and formula is told, all in one build."""
    lines = "\n\n".join(WRONG)
    (book / "book" / "notes.md").write_text(f"# Notes\n\n## Here\n\n{lines}\n")
    with pytest.raises(UserError) as error:
        build_site(book)
    assert [words for words in WRONG.values() if words not in str(error.value)] == []


def test_a_warning_is_not_forgotten_by_the_next_build(book: Path) -> None:
    """Building again without a change fails again; mended, it succeeds."""
    notes = book / "book" / "notes.md"
    right = notes.read_text()
    notes.write_text(right + "\n{val}`chapters/alpha#nothing`\n")
    for _ in range(2):
        with pytest.raises(UserError, match="no value 'nothing'"):
            build_site(book)
    notes.write_text(right)
    assert build_site(book).exists()


def test_a_failure_of_the_build_itself_is_named(book: Path) -> None:
    """What breaks the extension is in the message, not the frames of other libraries above it."""
    notebook = book / "book" / "chapters" / "alpha.ipynb"
    text = notebook.read_text()
    assert '"verdict": "noisy"' in text
    notebook.write_text(text.replace('"verdict": "noisy"', '"said": "noisy"'))
    with pytest.raises(UserError, match="KeyError: 'verdict'"):
        build_site(book)


def test_missing_pages_say_what_makes_them(tmp_path: Path) -> None:
    """A chapter without measurements is named with its command, a missing text as such."""
    root = make_sample_book(tmp_path)
    (root / "book" / "chapters" / "beta.ipynb").unlink()
    with pytest.raises(UserError, match=r"1 chapters without .*: beta; .* sizebook run beta"):
        build_site(root)
    (root / "book" / "notes.md").unlink()
    with pytest.raises(UserError, match="no file for notes"):
        check_pages(root)
    pages = ["index", "notes", "chapters/alpha", "chapters/beta"]
    assert pages == list_pages(root / "book" / "_toc.yml")


def test_plain_sphinx_builds_the_same_book(book: Path) -> None:
    """Without jupyter-book the same sources build, without a warning, to the same numbers.

    Pages of trials and downloads are there too: no link leads nowhere.
    """
    output = book / "_build" / "plain"
    flags = ["-n", "-W", "--keep-going", "-q", "-c", str(PLAIN)]
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *flags, str(book / "book"), str(output)],
        env={**os.environ, "SIZEBOOK_ROOT": str(book)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    plain = strip_tags((output / "index.html").read_text())
    assert "Atom took 12.35\u202fs or, rounded, 12\u202fs" in plain
    assert "Fig. 1.1" in plain
    assert check_links(output) == []
    jupyter = book / "_build" / "html"
    for folder in ("trials", "downloads"):
        names = sorted(path.name for path in (output / folder).rglob("*"))
        assert names == sorted(path.name for path in (jupyter / folder).rglob("*"))
    assert (output / "downloads" / "alpha.ipynb").exists()
