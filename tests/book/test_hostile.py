"""Text from bundles that try to be more than text: seen on every page, obeyed by none."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from unittest import mock

import pytest
import sample_book
from browser import Browser
from hostile_trials import ATTACKS, STEERING, write_hostile
from sample_book import make_sample_book, write_alpha, write_beta
from site_check import check_links, check_site, wait_for_charts

from sizebook.book.cited import treatment_words, trial_file
from sizebook.book.site import build_site
from sizebook.checks import judge
from sizebook.cli.output import print_json, print_table
from sizebook.model.errors import BundleError
from sizebook.model.plain_text import escape_html, show_plainly
from sizebook.report.page import EvidenceSource
from sizebook.store import Bundle, open_bundle
from sizebook.store.bundles import verify_bundle
from sizebook.store.received import pack_bundle, unpack_bundles

EVERYTHING = " ".join(ATTACKS)[:400]


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> list[Bundle]:
    """Give a hostile bundle for each attack, and one without its requests."""
    folder = tmp_path_factory.mktemp("hostile")
    made = [write_hostile(folder, f"hostile-{n}", attack) for n, attack in enumerate(ATTACKS)]
    return [*made, write_hostile(folder, "hostile-slim", ATTACKS[1], slim=True)]


@pytest.fixture(scope="module")
def site(bundles: list[Bundle], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the site of a book that somebody's hostile bundles stand behind."""
    root = make_sample_book(tmp_path_factory.mktemp("book"))
    runs = root / "data" / "runs" / "alpha"
    pack_bundle(bundles[0], root / "sent.zip")
    unpack_bundles(root / "sent.zip", runs)
    for bundle in bundles[1:]:
        shutil.copytree(bundle.path, runs / bundle.id)
    sources = tuple(EvidenceSource(each.id, each.sha256, "valid") for each in bundles)
    with (
        mock.patch.object(sample_book, "SOURCES", sources),
        mock.patch.object(sample_book, "HOSTILE", show_plainly(EVERYTHING)),
    ):
        write_alpha(root)
        write_beta(root)
    build_site(root)
    return root / "_build" / "html"


def words_of(html: str) -> str:
    bare = re.sub(r"<script\b.*?</script>", " ", html, flags=re.DOTALL)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", bare)))


def squeeze(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def test_hostile_bundles_are_valid(bundles: list[Bundle]) -> None:
    """They are refused by no rule of the format: escaping is what keeps them harmless."""
    for bundle in bundles:
        verify_bundle(open_bundle(bundle.path))
        assert judge(bundle).findings
        assert len(ATTACKS) + 1 == len(bundles)


def test_each_trial_page_shows_the_attack_as_text(site: Path, bundles: list[Bundle]) -> None:
    """Treatment, experiment, versions, machine, commands, failure, file: seen, not parsed."""
    for bundle, attack in zip(bundles, [*ATTACKS, ATTACKS[1]], strict=True):
        html = (site / "trials" / trial_file(bundle.id)).read_text(encoding="utf-8")
        words, shown = words_of(html), squeeze(show_plainly(attack)).strip()
        assert squeeze(show_plainly(treatment_words(bundle.record.trial))).strip() in words
        assert f"The trial failed: no reason{shown}" in words
        assert words.count(shown) >= 20
        assert not set(STEERING) & set(html)


class Elements(HTMLParser):
    """The attributes of all elements of a page, and what its scripts hold."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.attributes: list[tuple[str, str]] = []
        self.scripts: list[str] = []
        self._inside = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(name, value or "") for name, value in attrs]
        self._inside = tag

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            self.scripts.append(data)


def test_no_page_holds_a_tag_or_an_attribute_from_data(site: Path) -> None:
    """No element, event handler or script address of an attack is in any file of the site."""
    for file in site.rglob("*.html"):
        found = Elements(file.read_text(encoding="utf-8"))
        assert found.attributes
        assert not [each for each in found.scripts if each.startswith("window.stolen")], file.name
        handlers = [each for each in found.attributes if each[0].startswith("on")]
        assert not [each for each in handlers if "stolen" in each[1]], file.name
        links = [value for name, value in found.attributes if name in ("href", "src", "action")]
        assert not [each for each in links if "javascript:" in each.lower()], file.name


def test_folds_and_the_list_show_it_as_text(site: Path, bundles: list[Bundle]) -> None:
    """Evidence below a figure names treatments; the list of trials names them, too."""
    fold = words_of((site / "chapters" / "alpha.html").read_text(encoding="utf-8"))
    index = words_of((site / "trials" / "index.html").read_text(encoding="utf-8"))
    for bundle in bundles:
        shown = squeeze(show_plainly(treatment_words(bundle.record.trial))).strip()
        assert shown in squeeze(fold)
        assert shown in squeeze(index)


def test_nothing_runs_in_a_browser(browser: Browser, site: Path) -> None:
    """No script of an attack ran, nothing outside was asked for, all charts are drawn."""
    browser.set_media("")
    browser.set_size(1400)
    pages = [*sorted((site / "trials").glob("*.html")), *sorted((site / "chapters").glob("*.html"))]
    assert len(pages) >= len(ATTACKS) + 4
    for page in [*pages, site / "index.html"]:
        browser.open(page.resolve().as_uri() + "?charts=all")
        wait_for_charts(browser)
        browser.run("document.querySelectorAll('details').forEach(fold => { fold.open = true })")
        hovered = (
            "document.querySelectorAll('main *').forEach(each => {"
            "for (const kind of ['mouseover', 'mouseenter', 'focus', 'click'])"
            " if (kind != 'click' || !each.closest('a, button, summary, input, select, label'))"
            "  each.dispatchEvent(new Event(kind, {bubbles: true})) })"
        )
        browser.run(hovered)
        assert browser.run("window.stolen === undefined"), page.name
        outside = [each for each in browser.requests if not each.startswith(("file:", "data:"))]
        assert outside == []
        made = "document.querySelectorAll('img[src=\"x\"], [onload*=stolen], [onfocus*=stolen]')"
        assert browser.run(f"{made}.length") == 0
        addresses = browser.run("[...document.querySelectorAll('[href]')].map(each => each.href)")
        assert not [each for each in addresses if str(each).startswith("javascript:")]


@pytest.mark.parametrize(("number", "found"), [(0, "tag"), (2, "svg"), (3, "image")])
def test_the_attacks_are_real(browser: Browser, tmp_path: Path, number: int, found: str) -> None:
    """On a page that does not escape them they run, so that silence elsewhere means something."""
    page = f'<!DOCTYPE html><main><p title="{ATTACKS[number]}">{ATTACKS[number]}</p></main>'
    (tmp_path / "open.html").write_text(page, encoding="utf-8")
    browser.open((tmp_path / "open.html").as_uri())
    browser.wait_for("window.stolen !== undefined")
    assert browser.run("window.stolen") == found
    assert [each for each in Elements(page).attributes if "stolen" in each[1]] or number == 0


def test_the_site_is_sound(browser: Browser, site: Path) -> None:
    """No complaint, no dead link, nothing wider than the window, whatever the text."""
    assert check_links(site) == []
    assert check_site(site, browser) == []


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_terminal_is_told_nothing(attack: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Tables, JSON and errors of the commands hold no steering character, and one line each."""
    print_table([{f"head {attack}": f"cell {attack}"}], title="t")
    table = capsys.readouterr().out
    print_json({attack: [attack]})
    told = capsys.readouterr().out
    error = BundleError(found=attack, expected=attack, next_step=attack)
    for text in (table, told, str(error)):
        assert not set(STEERING) & set(text)
    assert json.loads(told) == {attack: [attack]}
    assert "\n" not in str(error)
    assert (
        len(table.splitlines()) == len(json.dumps([1, 2])) // 2 or "verdict" not in table.split()[0]
    )


def test_an_error_reaches_the_terminal_plain(bundles: list[Bundle], tmp_path: Path) -> None:
    """A bundle whose fault is named by its own text is one harmless line on standard error."""
    record = json.loads((bundles[8].path / "trial.json").read_text())
    record[ATTACKS[8]] = 1
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "trial.json").write_text(json.dumps(record))
    code = (
        "import sys, pathlib, sizebook.cli.main\n"
        "from sizebook.store import open_bundle\n"
        "module = sys.modules['sizebook.cli.main']\n"
        "module.app = lambda: open_bundle(pathlib.Path(sys.argv[1]))\n"
        "module.main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "bad")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("sizebook: found bundle bad with trial.json with extra inputs")
    assert len(done.stderr.splitlines()) == 1
    assert not set(STEERING) & set(done.stderr)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("größe 1\u202fms – 5 µs", "größe 1\u202fms – 5 µs"),
        ("a\tb\nc", r"a\tb\nc"),
        ("\x1b[31m", r"\x1b[31m"),
        ("\u202e\u2066\u200b\ufeff\u2028", r"\u202e\u2066\u200b\ufeff\u2028"),
        ("\U000e0041", r"\U000e0041"),
        ("\ud800", r"\ud800"),
    ],
)
def test_what_steers_is_shown_as_an_escape(text: str, shown: str) -> None:
    """Text that people read stays as it is; the rest is ASCII."""
    assert shown == show_plainly(text)
    assert escape_html(f"<{text}>") == f"&lt;{shown}&gt;"
