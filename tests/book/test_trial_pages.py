"""Every trial behind a result has a page that shows it whole, or says why it cannot."""

from __future__ import annotations

import re
import shutil
from concurrent.futures import ProcessPoolExecutor
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from browser import Browser
from sample_book import HOSTILE
from sample_trials import FAILED
from site_check import check_links, check_site, wait_for_charts
from synthetic_bundles import host_run
from trial_writing import write_trial_pages

from sizebook.book import processes
from sizebook.book.cited import ProjectBundles, find_cited, trial_file
from sizebook.book.directives import evidence as evidence_directive
from sizebook.book.directives import evidence_html
from sizebook.book.records import PublishedResult
from sizebook.book.site import list_pages
from sizebook.book.trial_pages.words import done_words, host_words, network_words, phase_words
from sizebook.model.bundle import Execution, PhaseMark, StackEvent, TurnMark
from sizebook.model.deployment import Deployment, HostSpec, JvmRole
from sizebook.model.load import ClosedLoop, LoadProfile, Phases, Turns
from sizebook.model.network import LinkSpec, NetworkSpec

BUILT_PAGE_BYTES = 250_000
BEGIN_NS = 5_000_000_000
EXECUTION = Execution(
    started_utc="2026-01-01T00:00:00Z",
    wall_ns=0,
    monotonic_ns=0,
    session="s",
    position=0,
    phases=(PhaseMark(name="measured", begin_ns=BEGIN_NS, end_ns=3 * BEGIN_NS),),
    commands=(),
)


@pytest.fixture(scope="module")
def root(trials_root: Path) -> Path:
    """Give the folder of the sample book with trials."""
    return trials_root


@pytest.fixture(scope="module")
def site(root: Path) -> Path:
    """Give the folder of the HTML."""
    return root / "_build" / "html"


def read_trial(site: Path, bundle: str) -> str:
    return (site / "trials" / trial_file(bundle)).read_text()


def words_of(html: str) -> str:
    bare = re.sub(r"<script\b.*?</script>", " ", html, flags=re.DOTALL)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", bare)))


def test_each_cited_bundle_has_its_page(root: Path, site: Path) -> None:
    """One page a bundle, one for all, nothing outside the folder, no page too heavy."""
    cited = find_cited(root / "book", list_pages(root / "book" / "_toc.yml"))
    expected = {trial_file(bundle) for bundle in cited} | {"index.html"}
    assert len(cited) == 10  # the second chapter cites two that are nowhere
    assert expected == {file.name for file in (site / "trials").iterdir()}
    assert not list(root.rglob("escape*"))
    for file in (site / "trials").iterdir():
        assert file.stat().st_size < BUILT_PAGE_BYTES


def test_a_name_that_is_no_file_name_is_hashed() -> None:
    """A bundle's id never leads out of the folder, nor to the list of all trials."""
    assert trial_file("20261120T094049Z-3344761a00a4-e369") == (
        "20261120T094049Z-3344761a00a4-e369.html"
    )
    for name in ("../x", "a/b", "", ".hidden", "index", "a" * 300, "x'onclick='y"):
        assert re.fullmatch(r"trial-[0-9a-f]{20}\.html", trial_file(name))


def test_the_page_tells_the_whole_trial(site: Path) -> None:
    """Verdict, findings with their rules, phases, deployment, commands, files, way back."""
    html = read_trial(site, "whole-1")
    words = words_of(html)
    for part in (
        f"format {HOSTILE}, users 5",
        "experiment formats",
        "block 1",
        "profile smoke",
        "warm-up 2 s (ran 2 s), measured 10 s (ran 10 s), drain 0.1 s",
        "SB101-accounting",
        "SB501-samples",
        "threads 50",
        "kind poisson rate_per_s 200.0",
        "data/runs/alpha/whole-1",
        "sizebook run alpha",
        "requests.parquet",
        "Figure: Total time (synthetic).",
        "CPU by process",
        "Zero all the time: steal.",
        "Failed requests per second",
        "Results count from",
    ):
        assert part in words, part
    assert '<span class="sb-badge sb-is-valid">valid</span>' in html
    assert 'href="../notes.html#sb101-accounting"' in html
    assert 'href="../chapters/alpha.html#result-times"' in html
    assert 'href="../chapters/alpha.html#number-ratio"' in html
    assert html.count('class="sb-spec"') >= 7


def test_the_crop_is_drawn(site: Path) -> None:
    """The line from which results count is in the charts over time."""
    html = read_trial(site, "whole-1")
    assert html.count('"strokeDash":[5,3]') >= 6


def test_a_slim_bundle_is_drawn_from_its_histograms(site: Path) -> None:
    """Without requests the course and the percentiles are there all the same."""
    words = words_of(read_trial(site, "slim-1"))
    assert "Requests due per second, by windows of 1 s" in words
    assert "Latency at percentiles, 1,980 good requests" in words


def test_a_failed_trial_says_why(site: Path) -> None:
    """A trial without phases has its failure, its checks and no charts."""
    html = read_trial(site, "failed-1")
    words = words_of(html)
    assert f"The trial failed: {FAILED}" in words
    assert "The trial never came to its first phase." in words
    assert 'class="sb-spec"' not in html


@pytest.mark.parametrize(
    ("bundle", "message"),
    [
        ("absent-1", "The bundle of this trial is not on this machine"),
        ("damaged-1", "The bundle on this machine cannot be read: "),
        ("other-1", "The bundle on this machine is not the one that the results were made from"),
        ("../../escape", "The bundle of this trial is not on this machine"),
    ],
)
def test_what_cannot_be_shown_is_said(site: Path, bundle: str, message: str) -> None:
    """A missing, damaged or exchanged bundle has a page with what is known of it."""
    words = words_of(read_trial(site, bundle))
    assert message in words
    assert f"bundle {bundle}" in words
    assert "sizebook run alpha" in words


def test_another_verdict_today_is_said(site: Path) -> None:
    """The badge is the verdict that the results carry; a note says what the rules say now."""
    html = read_trial(site, "whole-2")
    assert '<span class="sb-badge sb-is-noisy">noisy</span>' in html
    said = re.search(r"Judged anew while this page was made, the trial is ([a-z -]+);", html)
    assert (said is None) or said[1] != "noisy"


def test_text_from_data_is_text(site: Path) -> None:
    """No tag from a level, a failure, a command or a disk's name is in any page."""
    for file in (site / "trials").iterdir():
        html = file.read_text()
        assert "<script>window" not in html
        assert "onclick='" not in html
    data = read_trial(site, "whole-1")
    assert "\\u003cscript\\u003e" in data or "&lt;script&gt;" in data


def test_evidence_leads_to_the_trials(site: Path) -> None:
    """A fold groups the trials by treatment, with verdicts; the page has the checksums."""
    html = (site / "chapters" / "alpha.html").read_text()
    fold = html.split("<details class='sb-evidence'")[1]
    words = words_of(fold)
    assert f"formats: format {HOSTILE}, users 5 1: valid 2: noisy" in words
    assert "8 trials: 1 failed, 1 no steady state, 1 noisy, 1 stale, 4 valid" in words
    assert "bundle not on this machine" in words
    listed = words_of(html.split("id='sb-bundles'")[1])
    assert "absent-1 no steady state sha256 " + "c" * 64 in listed
    for bundle in ("whole-1", "slim-1", "failed-1", "absent-1", "../../escape"):
        assert f"href='../trials/{trial_file(bundle)}'" in fold


def test_links_fit_the_page_that_quotes(site: Path) -> None:
    """A figure quoted on a page at another depth links to the same trials."""
    assert "href='trials/whole-1.html'" in (site / "index.html").read_text()
    assert "href='../trials/" not in (site / "index.html").read_text()


def test_the_list_names_every_trial(site: Path) -> None:
    """One row a trial, natural order, those not on this machine marked."""
    html = (site / "trials" / "index.html").read_text()
    assert html.count("<tr data-chapter=") == 10
    labels = re.findall(r'<a href="[^"]+">users (\d+)</a>', html)
    assert labels == ["1", "10", "20"] == sorted(labels, key=int)
    assert html.count('data-verdict="not on this machine"') == 5


def test_an_unchanged_book_keeps_its_pages(root: Path, site: Path, tmp_path: Path) -> None:
    """A second run writes nothing; from nothing, it writes the same bytes."""
    pages = list_pages(root / "book" / "_toc.yml")
    files = sorted((site / "trials").iterdir())
    before = {file.name: file.stat().st_mtime_ns for file in files}
    assert write_trial_pages(root, site, pages, ProjectBundles(root)) == 0
    assert before == {file.name: file.stat().st_mtime_ns for file in files}
    copy = tmp_path / "html"
    copy.mkdir()
    (copy / "_static").symlink_to(site / "_static")
    assert write_trial_pages(root, copy, pages, ProjectBundles(root)) == len(files)
    for file in files:
        assert file.read_bytes() == (copy / "trials" / file.name).read_bytes(), file.name


def test_processes_write_the_same_pages(
    root: Path, site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What processes make beside Sphinx is what one makes alone, byte for byte."""
    monkeypatch.setattr(evidence_directive, "_WORTH_PROCESSES", 1)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})
    pools: list[int | None] = []

    class NotedPool(ProcessPoolExecutor):
        def __init__(self, processes: int, **settings: Any) -> None:
            pools.append(processes)
            super().__init__(processes, **settings)

    monkeypatch.setattr(processes, "ProcessPoolExecutor", NotedPool)
    # Built by Sphinx, the site has the style sheets that its themes were known to bring.
    monkeypatch.setattr(evidence_directive, "_statics", lambda _: [site / "_static"])
    pages = list_pages(root / "book" / "_toc.yml")
    env = SimpleNamespace(srcdir=str(root / "book"), found_docs=set(pages))
    app: Any = SimpleNamespace(
        builder=SimpleNamespace(format="html"), outdir=str(tmp_path), env=env
    )
    evidence = evidence_directive._Evidence()
    evidence.begin(app, app.env, [])
    evidence.go_on()
    evidence.finish(app, None)
    for folder in ("trials", "downloads"):
        files = [file for file in sorted((site / folder).rglob("*")) if file.is_file()]
        assert files
        for file in files:
            made = tmp_path / file.relative_to(site)
            assert file.read_bytes() == made.read_bytes(), file.name
    assert pools == [2]


def test_a_change_reaches_its_page_alone(root: Path, site: Path, tmp_path: Path) -> None:
    """A bundle that comes, goes or changes makes its own page and the list anew."""
    book = Path(shutil.copytree(root, tmp_path / "copy", symlinks=True))
    html, pages = book / "_build" / "html", list_pages(root / "book" / "_toc.yml")

    def write_pages(listed: list[str]) -> int:
        return write_trial_pages(book, html, listed, ProjectBundles(book))

    shutil.rmtree(book / "data" / "runs" / "alpha" / "slim-1")
    assert write_pages(pages) == 2
    assert "is not on this machine" in words_of(read_trial(html, "slim-1"))
    assert write_pages(["chapters/beta"]) > 0
    assert sorted(file.name for file in (html / "trials").iterdir()) == [
        "index.html",
        "synthetic-0001.html",
        "synthetic-0002.html",
    ]
    assert write_pages(["notes"]) == 0
    assert list((html / "trials").iterdir()) == []


def test_a_page_that_somebody_wrote_in_is_made_anew(root: Path, site: Path, tmp_path: Path) -> None:
    """Its stamp is there still; nothing is written through a link that stands in its place."""
    book = Path(shutil.copytree(root, tmp_path / "copy", symlinks=True))
    html, pages = book / "_build" / "html", list_pages(root / "book" / "_toc.yml")

    def write_pages() -> int:
        return write_trial_pages(book, html, pages, ProjectBundles(book))

    write_pages()
    assert write_pages() == 0
    before = {file.name: file.read_bytes() for file in (html / "trials").iterdir()}
    changed, linked = (html / "trials" / name for name in sorted(before)[:2])
    changed.write_bytes(before[changed.name].replace(b"</body>", b"<p>or so</p></body>"))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("precious")
    linked.unlink()
    linked.symlink_to(elsewhere)
    (html / "trials" / "index.html").write_text("other words")
    assert write_pages() >= 2
    assert before == {file.name: file.read_bytes() for file in (html / "trials").iterdir()}
    assert elsewhere.read_text() == "precious"
    assert write_pages() == 0


def test_an_absent_bundle_is_named_all_the_same(tmp_path: Path) -> None:
    """A fold about bundles that are nowhere still says which they are, with their checksums."""
    place = evidence_html.Place("chapters/alpha", ProjectBundles(tmp_path))
    sources = [{"bundle": "b'<x>", "sha256": "e" * 64, "verdict": "valid"}]
    html = evidence_html._sources(sources, "chapters/alpha", place)
    assert "bundle not on this machine" in html
    assert "1 trial: 1 valid" in words_of(html)
    record = PublishedResult("value", "n", {"evidence": {"sources": sources}}, {})
    listed = evidence_html.render_bundles([record, record], place)
    assert words_of(listed).count(f"b'<x> valid sha256 {'e' * 64}") == 1
    assert "<x>" not in html + listed


def test_every_link_leads_somewhere(site: Path) -> None:
    """From evidence to trials, to rules, to results and back."""
    assert check_links(site) == []


def test_the_theme_of_the_book_is_kept(browser: Browser, site: Path) -> None:
    """Dark as chosen in the book: charts in light ink; the button changes it."""
    browser.set_size(1200)
    page = (site / "trials" / "whole-1.html").resolve().as_uri() + "?charts=all"
    browser.open(page)
    browser.run("localStorage.setItem('mode', 'dark')")
    try:
        browser.open(page)
        assert browser.run("document.documentElement.dataset.theme") == "dark"
        assert wait_for_charts(browser, "dark") >= 7
        background = browser.run("getComputedStyle(document.body).backgroundColor")
        assert max(int(each) for each in re.findall(r"\d+", background)[:3]) < 80
        assert browser.run("window.stolen === undefined")
        browser.run("document.querySelector('button.sb-theme').click()")
        assert browser.run("document.documentElement.dataset.mode") == "auto"
        assert browser.run("localStorage.getItem('mode')") == "auto"
    finally:
        browser.run("localStorage.clear()")


def test_one_click_from_a_figure_to_its_trial(browser: Browser, site: Path) -> None:
    """The fold's link opens the page, and the page's link leads back to the figure."""
    browser.set_size(1400)
    browser.open((site / "chapters" / "alpha.html").resolve().as_uri())
    browser.run("document.querySelector('details.sb-evidence').open = true")
    browser.follow("document.querySelector('.sb-grid a.sb-trial').click()")
    assert browser.run("location.pathname").endswith("/trials/whole-1.html")
    browser.follow("document.querySelector('.sb-results a').click()")
    assert browser.run("location.pathname + location.hash").endswith("alpha.html#result-times")


def test_the_list_is_sorted_and_filtered(browser: Browser, site: Path) -> None:
    """By verdict from the address or the form, by words, by a click on a head."""
    browser.set_size(1200)
    index = (site / "trials" / "index.html").resolve().as_uri()
    shown = "[...document.querySelectorAll('tbody tr')].filter(row => !row.hidden).length"
    browser.open(f"{index}?verdict=failed")
    assert browser.run(shown) == 1
    browser.open(index)
    assert browser.run(shown) == 10
    form = "document.querySelector('.sb-filter')"
    browser.run(f"{form}.elements.words.value = 'users 5 formats'")
    browser.run(f"{form}.dispatchEvent(new Event('input'))")
    assert browser.run(shown) == 2
    assert browser.run(f"{form}.querySelector('output').textContent") == "2 of 10"
    cells = "[...document.querySelectorAll('tbody td:nth-child(7)')].map(cell => cell.textContent)"
    browser.run("document.querySelectorAll('thead button')[6].click()")
    up = browser.run(cells)
    browser.run("document.querySelectorAll('thead button')[6].click()")
    assert up != browser.run(cells)
    assert browser.run("document.querySelector('th[aria-sort]').textContent") == "Requests"


def test_the_whole_site_is_sound(browser: Browser, site: Path) -> None:
    """No outside request, no complaint, all charts drawn, nothing wider than the window."""
    assert check_site(site, browser) == []


def test_every_kind_of_role_is_shown(site: Path) -> None:
    """Nodes with their settings, the database with its data, the balancer with what it keeps."""
    names = [file.name for file in (site / "trials").iterdir() if file.name != "index.html"]
    shown = [words_of((site / "trials" / name).read_text()) for name in names]
    whole = [text for text in shown if "Settings" in text]
    assert whole
    for text in whole:
        assert "flights 400" in text and "threads 50" in text
        assert "algorithm leastconn sessions kept on their node" in text


def test_what_was_done_to_the_stack_is_told() -> None:
    """Action, node, when and for how long; times count from the measured phase."""
    restarted = StackEvent(
        action="restart",
        node="app-1",
        begin_ns=BEGIN_NS + 2_000_000_000,
        end_ns=BEGIN_NS + 4_500_000_000,
    )
    (words,) = done_words(EXECUTION.model_copy(update={"events": (restarted,)}))
    assert words == "restart app-1 2 s into the measured phase, over after 2.5 s"


def test_hosts_are_told_with_their_limits_and_what_they_saw() -> None:
    """Of one that never came up only what it should have been."""
    deployment = Deployment(
        roles=(JvmRole(role="app", host="box"),),
        hosts=(
            HostSpec(name="box", mode="virtio-vm", cpus=(0,), cpu_limit=0.5),
            HostSpec(name="late", mode="container", cpu_weight=256),
        ),
    )
    run = host_run(mode="virtio-vm", boot_s={"kernel": 1.5, "all": 8.25})
    words = host_words(deployment, EXECUTION.model_copy(update={"hosts": (run,)}))
    assert words["box"]["CPU limit"] == "0.5"
    assert words["box"]["boot"] == "kernel 1.5 s, all 8.25 s"
    assert words["box"]["clock moved"] == "+0.000 ms, read to 0.050 ms"
    assert words["late"] == {
        "mode": "container",
        "on CPUs": "any",
        "CPU limit": "",
        "CPU weight": "256",
        "memory": "1024 MiB",
    }


def test_a_network_is_told_link_by_link():
    """What was asked for; a deployment that says nothing of it has none to tell."""
    hosts = [HostSpec(name=name, mode="namespace") for name in ("web", "db")]
    tiers = Deployment(roles=(JvmRole(role="app"),)).on(*hosts, app="web")
    assert network_words(tiers) == {}
    link = LinkSpec(ends=("web", "db"), frame_bytes=8996, rate_mbit_per_s=100, delay_ms=0.5)
    network = NetworkSpec(router_mbit_per_s=40, offloads=False, links=(link,))
    assert network_words(tiers.connected(network)) == {
        "shared": "frames of 1500 bytes, one router of 40 Mbit/s for all",
        "web to db": "frames of 8996 bytes, 100 Mbit/s, delayed by 0.5 ms",
        "offloads": "off",
    }


def test_a_trial_that_took_turns_says_so() -> None:
    """How many, how long, and where what lay between them is."""
    phases = Phases(warmup_s=0.4, measured_s=0.6, turns=Turns(turn_s=0.4, settle_s=0.1))
    load = LoadProfile(locustfile="x.py", arrivals=ClosedLoop(users=1), phases=phases)
    turns = [TurnMark(begin_ns=at, from_ns=at + 1, end_ns=at + 4) for at in (0, 8)]
    execution = SimpleNamespace(phase=lambda _: None, turns=turns)
    assert "2 turns of 0.4 s, of which the last 0.3 s count" in phase_words(load, execution)
    alone = load.model_copy(update={"phases": Phases(warmup_s=0.4, measured_s=0.6)})
    assert "turns" not in phase_words(alone, execution)
