"""Published rounds: a SYNTHETIC chapter published once, then read, audited, spoilt, refused."""

import hashlib
import io
import json
import shutil
import socket
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from audited_book import change_bytes, change_record, make_audited_book
from polars.testing import assert_frame_equal
from typer.testing import CliRunner

from sizebook.book import site
from sizebook.book.audit.auditing import Options, audit_published, run_audit
from sizebook.book.audit.outputs import read_page
from sizebook.book.audit.targets import PageFile, own_target
from sizebook.book.chapters import get_chapter
from sizebook.book.compared.sides import open_side
from sizebook.book.compared.trials import absolute
from sizebook.book.notebooks import SO_FAR, STAMP, run_chapter
from sizebook.book.published import choosing, publishing
from sizebook.book.published.choosing import choose
from sizebook.book.published.loans import lost_loans
from sizebook.book.published.pages import made_with, take_page
from sizebook.book.published.privacy import find_private
from sizebook.book.published.signing import verify
from sizebook.checks import judge
from sizebook.cli.main import app
from sizebook.model.bundle import COUNTER_COLUMNS
from sizebook.model.errors import BundleError, UserError
from sizebook.report import measures
from sizebook.report.trial_frame import find_span
from sizebook.report.trial_windows import show_requests
from sizebook.stats.histograms import read_interval_log
from sizebook.store import Project, find_bundles, open_bundle, rounds
from sizebook.store.counter_file import write_counters
from sizebook.store.digest import decode, encode
from sizebook.store.packs import pack, read_pack, unpack
from sizebook.store.rounds import (
    BORROWED,
    PAGES,
    Published,
    find_rounds,
    list_rounds,
    open_published,
)

NAME = "2026-03-05"
KEYGEN = shutil.which("ssh-keygen")


def copy(root: Path, tmp_path: Path) -> Project:
    """Return a copy that a test may spoil."""
    return Project(Path(shutil.copytree(root, tmp_path / "copy", symlinks=True)))


def tree(folder: Path) -> dict[str, bytes]:
    """Return the files below a folder."""
    return {p.relative_to(folder).as_posix(): p.read_bytes()
            for p in sorted(folder.rglob("*")) if p.is_file()}  # fmt: skip


def _shown(bundle):
    """Return what the page of a trial shows of its requests."""
    return show_requests(
        bundle, find_span(bundle), bundle.record.execution.phase("measured").begin_ns
    )


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Give a book with one chapter that counts as measured here."""
    return make_audited_book(tmp_path_factory.mktemp("measured") / "book", measured=True)


@pytest.fixture(scope="module")
def key(tmp_path_factory):
    """Give a key to sign with; None where there is no program for it."""
    if not KEYGEN:
        return None
    path = tmp_path_factory.mktemp("key") / "key"
    made = [KEYGEN, "-q", "-t", "ed25519", "-N", "", "-C", "nobody", "-f", str(path)]
    subprocess.run(made, check=True)
    return path


@pytest.fixture(scope="module")
def published(measured, key, tmp_path_factory):
    """Give the book after its chapter was published, signed where that can be, without its run."""
    project = copy(measured, tmp_path_factory.mktemp("published"))
    done = publishing.publish(project, [get_chapter(project.root, "tiny")], NAME, key=key)
    assert done.packs[0].trials == 6
    assert done.published_bytes == sum(map(len, tree(project.published).values()))
    shutil.rmtree(project.runs)
    shutil.rmtree(project.chapters)
    return project.root


def test_of_threads_that_open_a_round_at_once_one_unpacks(published, tmp_path, monkeypatch):
    """All of them read the same folder."""
    project, unpacked = copy(published, tmp_path), []
    shutil.rmtree(project.state / "published", ignore_errors=True)
    monkeypatch.setattr(
        rounds, "unpack", lambda *each: (unpacked.append(each[0].name), unpack(*each))
    )
    with ThreadPoolExecutor(4) as pool:
        views = set(pool.map(lambda _: open_published(project), range(4)))
    assert len(views) == 1
    assert len(unpacked) == len({*unpacked}) == 2, "trials and page"


def test_a_published_page_is_proved_by_bundles_without_rows(published, measured):
    """Rows are left out; verdicts, measures and every result of the page are the same."""
    project = Project(published)
    view = open_published(project)
    for path in find_bundles(view):
        slim, whole = open_bundle(path), open_bundle(measured / "data/runs/tiny" / path.name)
        assert slim.left_out == ("counters.parquet", "latency.hlog", "requests.parquet")
        assert {*slim.instead} == {"counters.steps", "phases.hlog"}
        assert slim.sha256 == whole.sha256
        assert slim.columns.height == whole.columns.height
        assert_frame_equal(slim.counters, whole.counters, check_row_order=False)
        assert absolute(slim) == absolute(whole) != {}
        assert {one.phase for one in read_interval_log(slim.open_histograms())} == {"measured"}
        seen = [_shown(each) for each in (slim, whole)]
        assert_frame_equal(seen[0].course.windows, seen[1].course.windows)
        assert_frame_equal(seen[0].distribution.points, seen[1].distribution.points)
        assert judge(slim) == judge(whole)
        assert measures.throughput_per_s(slim) == measures.throughput_per_s(whole)
        with pytest.raises(BundleError, match=r"without requests\.parquet"):
            measures.latency_ms(0.123)(slim)
    report = audit_published(project, options=Options(replay=False))  # publish did replay it
    assert [str(each) for each in report.findings if each.severity == "error"] == []
    counts = report.counts()
    assert (counts["bundles"].verified, counts["pages"].verified) == (6, 1)
    assert (counts["numbers"].verified, counts["claims"].verified) == (3, 1)
    [found] = find_rounds(project)
    assert verify(found.folder, found.sha256).state == ("good" if KEYGEN else "unsigned")


def test_a_book_from_rounds_is_audited_as_the_rounds_are(measured, tmp_path):
    """What a later trial replaced stays in its session: no gap, and what both found is said."""
    project = copy(measured, tmp_path)
    runs = project.runs / "tiny"
    first, other = (next(runs.glob(f"*{name}-0*")) for name in ("json", "atom"))
    later = Path(shutil.copytree(first, runs / f"{first.name}-later"))

    def place(position, hours=0):
        def change(record):
            execution = record["execution"]
            execution |= {"session": "one", "position": position}
            execution["wall_ns"] += hours * 3600 * 10**9
            when = time.gmtime(execution["wall_ns"] // 10**9)
            execution["started_utc"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", when)

        return change

    for path, at in ((other, place(0)), (first, place(1)), (later, place(2, hours=1))):
        change_record(path, at)
    tiny = get_chapter(project.root, "tiny")
    given = {"profile": "quick", "source": "measure"}
    assert run_chapter(project.root, tiny, given, force=True).state == "ran"
    publishing.publish(project, [tiny], NAME)
    shutil.rmtree(project.runs)
    shutil.rmtree(project.chapters)
    assert take_page(project, tiny, given | {"source": "published"}).state == "published"
    options = Options(replay=False, site=False)
    reports = audit_published(project, options=options), run_audit(own_target(project), options)
    for report in reports:
        assert [str(each) for each in report.findings if each.severity == "error"] == []
        assert report.counts()["bundles"].verified == 7
        (again,) = [each for each in report.findings if each.rule == "AU110-measured-again"]
        words = again.message.partition(": ")[2].split(", then ")
        assert [first.name in words[0], later.name in words[1]] == [True, True]
        assert ["shown" in each for each in words] == [False, True]
        assert words[0].split()[:3] == words[1].split()[:3]  # the same rows, so the same rate
        assert float(words[0].split()[0].replace(",", "")) > 0


def test_pages_come_from_the_round(published, tmp_path):
    """As they are, once; a template that changed, or another parameter, is executed instead."""
    project = copy(published, tmp_path)
    tiny = get_chapter(project.root, "tiny")
    given = {"profile": "quick", "source": "published"}
    assert take_page(project, tiny, given | {"seed": 7}) is None
    assert made_with(project, tiny) == {"profile": "quick", "replicates": 0}
    assert take_page(project, tiny, given).state == "published"
    assert take_page(project, tiny, given).state == "up to date"
    page = read_page(PageFile("tiny", project.chapters / "tiny.ipynb"))
    assert {out.name for out in page.results} >= {"rates", "json-per-s", "own-json-faster"}
    side = open_side("published", project, tmp_path)
    assert (side.name, len(side.results["tiny"].cited)) == (f"round {NAME}", 6)
    folder = open_side(str(project.published / NAME), None, tmp_path)
    assert folder.results["tiny"].cited == side.results["tiny"].cited
    text = tiny.notebook.read_text()
    tiny.notebook.write_text(text.replace("(synthetic)", "(made up)"))
    assert take_page(project, get_chapter(project.root, "tiny"), given) is None


def test_pages_taken_two_at_a_time_are_told_in_their_order(published, tmp_path, monkeypatch):
    """What no round has is told beside what was taken, each in its place; asked for, it fails."""
    project = copy(published, tmp_path)
    write_borrower(project.root, 0.5)
    monkeypatch.setenv("SIZEBOOK_ROOT", str(project.root))
    whole = CliRunner().invoke(app, ["run", "--source", "published"])
    assert [line.split(":")[0] for line in whole.stdout.splitlines()] == ["tiny", "other"]
    assert "tiny: taken as published" in whole.stdout
    assert whole.exit_code == 0, whole.output
    asked = CliRunner().invoke(app, ["run", "tiny", "other", "--source", "published"])
    assert asked.exit_code == 1
    assert "1 of 2 chapters failed" in asked.output


def test_the_newest_round_is_known_by_its_content(published, tmp_path):
    """A folder called after a later day stays what it was; that somebody called it so is found."""
    project = copy(published, tmp_path)
    (first,) = list_rounds(project)
    older = Path(shutil.copytree(first, project.published / "2026-02-01"))
    told = json.loads((older / "round.json").read_text())
    (older / "round.json").write_text(json.dumps(told | {"name": "2026-02-01"}))
    assert [each.name for each in find_rounds(project)] == [NAME, "2026-02-01"]
    older.rename(project.published / "2027-01-01")
    rounds_found = find_rounds(project)
    assert [each.name for each in rounds_found] == [NAME, "2026-02-01"]
    assert [each.is_renamed for each in rounds_found] == [False, True]
    report = audit_published(project, options=Options(replay=False))
    renamed = [each for each in report.findings if each.rule == "AU706-renamed"]
    assert [(each.severity, each.place) for each in renamed] == [("error", "2027-01-01")]
    assert "2026-02-01" in renamed[0].expected


def test_a_changed_byte_is_found(published, tmp_path):
    """In a pack: neither read nor audited further. In round.json: its signature does not hold."""
    project = copy(published, tmp_path)
    [round_] = find_rounds(project)
    index = round_.folder / "round.json"
    index.write_text(index.read_text().replace('"trials": 6', '"trials": 7'))
    [spoilt] = find_rounds(project)
    assert verify(spoilt.folder, spoilt.sha256).state == "unsigned"
    if KEYGEN:
        for path in round_.folder.glob(f"round-{round_.sha256[:16]}.*"):
            path.rename(path.with_name(path.name.replace(round_.sha256[:16], spoilt.sha256[:16])))
        assert verify(spoilt.folder, spoilt.sha256).state == "bad"
    change_bytes(next(round_.folder.glob("*.tar.xz")))
    with pytest.raises(BundleError, match="not the file that was published"):
        open_published(project)
    report = audit_published(project)
    errors = {each.rule for each in report.findings if each.severity == "error"}
    assert errors == {"AU701-pack"} | ({"AU702-signature"} if KEYGEN else set())


def test_a_page_is_made_again_from_published_trials(published, tmp_path):
    """After its template changed; trials stay as they are, and what nobody asked is refused."""
    project = copy(published, tmp_path)
    before, [old] = tree(open_published(project)), find_rounds(project)
    tiny = get_chapter(project.root, "tiny")
    text = tiny.notebook.read_text()
    tiny.notebook.write_text(text.replace("(synthetic)", "(made up)"))
    errors = {each.rule for each in audit_published(project).findings if each.severity == "error"}
    assert errors == {"AU201-template", "AU301-differs"}
    publishing.renew_pages(project, [get_chapter(project.root, "tiny")], NAME)
    report = audit_published(project)
    assert [str(each) for each in report.findings if each.severity == "error"] == []
    assert report.counts()["pages"].verified == 1
    [new] = find_rounds(project)
    changed = {"page", "commit"}
    one, other = (each.record.packs[0].model_dump(exclude=changed) for each in (old, new))
    assert one == other, "the trials' pack is the very file that it was"
    after = tree(open_published(project))
    assert {name for name in after if after[name] != before[name]} == {"chapters/tiny.ipynb"}
    page = read_page(PageFile("tiny", open_published(project) / "chapters/tiny.ipynb"))
    assert page.run["parameters"]["source"] == "measure"
    assert str(tmp_path) not in after["chapters/tiny.ipynb"].decode()
    assert take_page(project, get_chapter(project.root, "tiny"), {"profile": "quick"}) is not None

    kept = tree(project.published)
    asking = text.replace("measures.throughput_per_s", "measures.latency_ms(0.123)")
    assert asking != text
    tiny.notebook.write_text(asking)
    with pytest.raises(UserError, match="cannot be executed on its published trials"):
        publishing.renew_pages(project, [get_chapter(project.root, "tiny")], NAME)
    assert tree(project.published) == kept
    shutil.rmtree(project.published)
    with pytest.raises(UserError, match="no published tiny"):
        publishing.renew_pages(project, [get_chapter(project.root, "tiny")], NAME)


def test_a_round_with_page_and_trials_in_one_pack_is_read_and_renewed_apart(published, tmp_path):
    """As version 1 had them: read and audited as ever; the next page of a chapter lies apart."""
    project = copy(published, tmp_path)
    [new] = find_rounds(project)
    before = tree(open_published(project))
    shutil.rmtree(new.folder)
    new.folder.mkdir()
    pack(
        new.folder / "tiny-one.tar.xz",
        Published(find_rounds(Project(published))[0], new.record.packs[0]).read(),
    )
    data = (new.folder / "tiny-one.tar.xz").read_bytes()
    record = json.loads(new.record.model_dump_json()) | {"version": 1}
    del record["packs"][0]["page"]
    sum_ = hashlib.sha256(data).hexdigest()
    record["packs"][0] |= {"file": "tiny-one.tar.xz", "sha256": sum_, "bytes": len(data)}
    (new.folder / "round.json").write_text(json.dumps(record))
    assert tree(open_published(project)) == before
    assert audit_published(project).counts()["pages"].verified == 1

    publishing.renew_pages(project, [get_chapter(project.root, "tiny")], NAME)
    [apart] = find_rounds(project)
    assert apart.record.packs[0].file == new.record.packs[0].file
    assert apart.record.packs[0].page is not None
    assert audit_published(project).counts()["pages"].verified == 1
    assert not (new.folder / "tiny-one.tar.xz").exists()


def test_page_and_trials_are_each_guarded(published, tmp_path):
    """Either pack damaged or missing is told by name; a file in both is refused."""
    for number, which in enumerate(("tiny-page-*", "tiny-[!p]*")):
        project = copy(published, tmp_path / str(number))
        (path,) = (project.published / NAME).glob(which)
        change_bytes(path)
        with pytest.raises(BundleError, match=f"{path.name}, which is not the file"):
            open_published(project)
        path.unlink()
        [error] = [each for each in audit_published(project).findings if each.severity == "error"]
        assert (error.rule, path.name in error.found) == ("AU701-pack", True)

    project = copy(published, tmp_path / "twice")
    [round_] = find_rounds(project)
    trials, page = Published(round_, round_.record.packs[0]).paths
    pack(page, {**read_pack(page), next(iter(read_pack(trials))): b""})
    record = json.loads((round_.folder / "round.json").read_text())
    sum_ = hashlib.sha256(page.read_bytes()).hexdigest()
    record["packs"][0]["page"] |= {"sha256": sum_, "bytes": page.stat().st_size}
    (round_.folder / "round.json").write_text(json.dumps(record))
    rules = {each.rule for each in audit_published(project).findings if each.severity == "error"}
    assert "AU701-pack" in rules
    with pytest.raises(BundleError, match="there already"):
        open_published(project)


def test_a_page_is_made_again_from_the_trials_of_its_own_round(published, tmp_path):
    """A newer round that has the chapter, too, is left as it is, and gives nothing to the older."""
    project = copy(published, tmp_path)
    tiny, newer = get_chapter(project.root, "tiny"), f"{NAME}-newer"
    with pytest.raises(UserError, match=f"no tiny in round {newer}.*round that has it.*{NAME}"):
        publishing.renew_pages(project, [tiny], newer)
    folder = Path(shutil.copytree(project.published / NAME, project.published / newer))
    record = json.loads((folder / "round.json").read_text()) | {"name": newer, "replicates": 5}
    record["packs"][0]["replicates"] = 5
    (folder / "round.json").write_text(json.dumps(record))
    before = tree(folder)
    assert [each.record.replicates for each in find_rounds(project)] == [5, 3]

    tiny.notebook.write_text(tiny.notebook.read_text().replace("(synthetic)", "(made up)"))
    publishing.renew_pages(project, [tiny], NAME)
    assert [each.record.packs[0].replicates for each in find_rounds(project)] == [5, 3]
    assert tree(folder) == before
    (packed,) = (project.published / NAME).glob("tiny-page-*")
    assert b"(made up)" in read_pack(packed)[f"{PAGES}/tiny.ipynb"]


BORROWER = """\
from sizebook.lab import ChapterLab
from sizebook.report import Page, measures

lab = ChapterLab("other", profile=profile, source=source, seed=seed, replicates=replicates)
page = Page.of(lab)
lab.run()
lent = lab.borrow("tiny", "formats")
latency = lent.frame(latency_ms=measures.latency_ms(0.5))["latency_ms"].mean()
page.value("latency", latency, "ms", digits=2, trials=lent)"""


def write_borrower(root: Path, quantile: float) -> None:
    """Write a chapter that asks another quantile of the trials of ``tiny``; it has none itself."""
    template = json.loads((root / "notebooks" / "10-tiny.ipynb").read_text())
    title, parameters, code, *_ = template["cells"]
    template["metadata"]["sizebook"] |= {"id": "other", "order": 2, "borrows": ["tiny"]}
    title["source"] = "# Other (synthetic)"
    code["source"] = BORROWER.replace("0.5", str(quantile))
    template["cells"] = [title, parameters, code]
    (root / "notebooks" / "20-other.ipynb").write_text(json.dumps(template))


def test_a_borrower_is_renewed_with_what_its_lender_still_has(measured, tmp_path, monkeypatch):
    """What no page has asked of lent trials is answered by their requests, while these are here.

    Digests of trials that the lender no longer has go; those of another machine's calibration stay.
    """
    project = copy(measured, tmp_path)
    write_borrower(project.root, 0.5)
    given = {"profile": "quick", "source": "measure"}
    assert run_chapter(project.root, get_chapter(project.root, "other"), given).state == "ran"
    both = [get_chapter(project.root, name) for name in ("tiny", "other")]
    assert publishing.publish(project, both, NAME).lost == ()

    write_borrower(project.root, 0.123)
    publishing.renew_pages(project, [get_chapter(project.root, "other")], NAME)
    report = audit_published(project)
    assert [str(each) for each in report.findings if each.severity == "error"] == []
    assert report.counts()["pages"].verified == 2

    floor, gone = (f"{BORROWED}/{name}/20260101T000000Z/a.json" for name in ("calibration", "tiny"))
    with monkeypatch.context() as patched:
        more = {floor: b"{}", gone: b"{}"}
        read = Published.read
        patched.setattr(Published, "read", lambda one: {**read(one), **more})
        publishing.renew_pages(project, [get_chapter(project.root, "other")], NAME)
    (packed,) = (project.published / NAME).glob("other-*")  # a page without trials of its own
    assert {floor, gone} & set(read_pack(packed)) == {floor}

    shutil.rmtree(project.runs)
    write_borrower(project.root, 0.321)
    with pytest.raises(UserError, match=r"without requests\.parquet"):
        publishing.renew_pages(project, [get_chapter(project.root, "other")], NAME)


def test_what_a_lender_no_longer_has_is_counted(published, tmp_path):
    """By the page whose results name it; another record is another trial."""
    [round_] = find_rounds(Project(published))
    files = Published(round_, round_.record.packs[0]).read()
    page = {name: data for name, data in files.items() if name.startswith(f"{PAGES}/")}
    (text,) = page.values()
    records = {name: data for name, data in files.items() if name.endswith("/trial.json")}
    gone, other = sorted(name for name in records if name.split("/")[0].encode() in text)[:2]

    def lost(page, held):
        packs = {}
        for chapter, content in {"tiny": held, "page": page}.items():
            pack(tmp_path / chapter, content)
            packs[chapter] = SimpleNamespace(read=partial(read_pack, tmp_path / chapter))
        return lost_loans(packs)

    assert lost(page, records) == {}
    assert lost(page, {**records, other: b"{}"}) == {"page": 1}
    fewer = {name: data for name, data in records.items() if name != gone}
    assert lost(page, {**fewer, other: b"{}"}) == {"page": 2}
    assert lost(dict.fromkeys(page, b"[]"), {}) == {}


def test_what_must_not_be_published_leaves_the_round_as_it_was(
    published, measured, key, tmp_path, monkeypatch
):
    """Too few replicates, damage, too much, a stop in between: the old round stays, whole."""
    project = copy(published, tmp_path)
    for part in ("data/runs", "book/chapters"):
        shutil.copytree(measured / part, project.root / part, dirs_exist_ok=True)
    before, tiny = tree(project.published), get_chapter(project.root, "tiny")

    def refused(words, **more):
        with pytest.raises(UserError, match=words):
            publishing.publish(project, [tiny], NAME, **more)
        assert tree(project.published) == before

    refused("3 replicates in tiny", replicates=4)
    with pytest.raises(UserError, match="found round 'today'"):
        publishing.publish(project, [tiny], "today")
    monkeypatch.setattr(publishing, "rehearse", lambda *_: {"chapters/tiny.ipynb": b"another"})
    monkeypatch.setattr(publishing, "prove", lambda *_: None)
    with monkeypatch.context() as patched:
        patched.setattr(publishing, "MOST_PUBLISHED_BYTES", 100)
        refused("too many")
    with monkeypatch.context() as patched:
        patched.setattr(publishing, "rehearse", lambda *_: {"x": b"mail@somebody.org"})
        refused("an address of mail in x of tiny")

    def stop(_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(publishing.os, "fsync", stop)
        with pytest.raises(KeyboardInterrupt):
            publishing.publish(project, [tiny], NAME)
        assert {name: before[name] for name in before} == {
            name: data for name, data in tree(project.published).items() if name in before
        }
        assert (
            find_rounds(project)[0].record
            == publishing.open_round(published / "data" / "published" / NAME).record
        )
    publishing.publish(project, [tiny], NAME)
    assert len(tree(project.published)) == 2
    publishing.publish(project, [tiny], NAME, key=key)
    before = tree(project.published)
    size = sum(map(len, before.values()))
    with monkeypatch.context() as patched:
        patched.setattr(publishing, "MOST_PUBLISHED_BYTES", size - 1)
        refused(f"{size:,} bytes in data/published, 1 too many", key=key)
        patched.setattr(publishing, "MOST_PUBLISHED_BYTES", size)
        publishing.publish(project, [tiny], NAME, key=key)
    publishing.publish(project, [tiny], f"{NAME}-b")
    assert [each.name for each in find_rounds(project)] == [f"{NAME}-b", NAME]


def test_damage_and_smoke_are_refused(measured, tmp_path):
    """A trial that is not the cited one, another machine's trial, a page of the smoke profile."""
    project = copy(measured, tmp_path)
    tiny, trial = get_chapter(project.root, "tiny"), project.runs / "tiny" / "json-0"
    change_bytes(trial / "requests.parquet")
    with pytest.raises(BundleError, match="trial json-0"):
        publishing.publish(project, [tiny], NAME)
    record = trial / "trial.json"
    record.write_text(record.read_text().replace('"sizebook-bundle"', '"sizebook-bundle" '))
    with pytest.raises(BundleError, match="1 trials that chapters/tiny cites"):
        choose(project, tiny)
    page = project.chapters / "tiny.ipynb"
    page.write_text(page.read_text().replace('"profile": "quick"', '"profile": "smoke"'))
    with pytest.raises(UserError, match="in the profile smoke"):
        choose(project, tiny)
    assert list_rounds(project) == []


def test_what_was_measured_so_far_is_never_published(measured, tmp_path, monkeypatch):
    """It is refused; where somebody publishes it all the same, the audit of the round says so."""
    project = copy(measured, tmp_path)
    tiny, path = get_chapter(project.root, "tiny"), project.chapters / "tiny.ipynb"
    page = json.loads(path.read_text())
    page["metadata"][STAMP][SO_FAR] = True
    path.write_text(json.dumps(page))
    with pytest.raises(UserError, match="measured so far"):
        choose(project, tiny)
    monkeypatch.setattr(choosing, "SO_FAR", "whatever")
    publishing.publish(project, [tiny], NAME)
    report = audit_published(project, options=Options(replay=False, site=False))
    errors = [each for each in report.findings if each.severity == "error"]
    assert [each.rule for each in errors] == ["AU707-index"]
    assert "shows what was measured so far" in errors[0].message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("/home/sam/book", "a place on a machine"),
        ("sam@somewhere.net", "an address of mail"),
        ("at 8.8.8.8:80", "an address of a machine"),
        ("token 0123456789abcdef", "the value of MY_TOKEN"),
        ("-----BEGIN OPENSSH PRIVATE KEY-----", "a key"),
        ("127.0.0.1 10.1.2.3 192.0.2.7 17.0.15 /usr/lib/jvm ./stack a@example.org", ""),
        ("<svg>1.5.5.3 8.8.8.8</svg>", ""),
        ("-Djava.io.tmpdir=<session>/tmp/app-1 &lt;session&gt;/tmp/app-1", ""),
        ("<td>/tmp/app-1</td>", "a place on a machine"),
    ],
)
def test_private_things_are_found(text, words):
    """Places, mail, addresses outside, secrets of the environment; nothing that is anybody's."""
    known = {b"0123456789abcdef": "the value of MY_TOKEN"}
    found = [each.words for each in find_private({"x": text.encode()}, known)]
    assert [each[: len(words)] for each in found] == ([words] if words else [])


def test_numbers_that_look_like_mail_are_numbers():
    """Texts in a table are looked at, bytes of its numbers are not; a broken one is, as it is."""
    looks = np.frombuffer(b"for sam@somewhere.net, a", dtype=np.int64)
    stream = io.BytesIO()
    pl.DataFrame({"value": looks}).write_parquet(stream, compression="uncompressed")
    assert bytes(looks) in stream.getvalue()
    assert list(find_private({"x": stream.getvalue()}, {})) == []
    assert [each.words for each in find_private({"x": stream.getvalue()[:-9]}, {})] == [
        "an address of mail"
    ]
    pl.DataFrame({"value": ["sam@somewhere.net"]}).write_parquet(stream := io.BytesIO())
    assert [each.words for each in find_private({"x": stream.getvalue()}, {})] == [
        "an address of mail"
    ]


def test_steps_that_look_like_mail_are_numbers():
    """What readings are called is looked at, the bytes of their steps are not."""
    looks = np.frombuffer(b"for sam@somewhere.net, a", dtype=np.uint8).astype(np.int64)
    values = np.cumsum([0, *((looks >> 1) ^ -(looks & 1))]).astype(float)
    schema = {name: getattr(pl, kind) for name, kind in COUNTER_COLUMNS.items()}
    for source, found in (("app-1", []), ("sam@somewhere.net", ["an address of mail"])):
        rows = pl.DataFrame({"time_ns": range(values.size), "host": "local", "source": source,
                             "metric": "bytes", "value": values}).cast(schema)  # fmt: skip
        data = write_counters(rows)
        assert data.endswith(b"for sam@somewhere.net, a")
        assert [each.words for each in find_private({"t/counters.steps": data}, {})] == found


@pytest.mark.parametrize(
    ("host", "found"), [("erikas-tower", True), ("container", False), ("vm", False)]
)
def test_a_host_that_is_called_what_books_are_full_of_can_publish(host, found, monkeypatch):
    """A host's name is private, unless it is a word that stands in each chapter anyway."""
    monkeypatch.setattr(socket, "gethostname", lambda: host)
    text = b"lacks/mode/container: measured on erikas-tower, in a vm"
    assert [each.words for each in find_private({"x": text})] == ["the host's name"] * found


def test_answers_come_back_as_they_were():
    """Numbers to the last bit, arrays, frames, mappings; nothing else goes in or comes out."""
    frame = pl.DataFrame(
        {"t": [10**18, 10**18 + 3], "s": ["a", None], "v": [0.1, float("nan")], "n": [1, None]}
    )
    value = (1, 2.5, None, {"a": [True, 1 / 3]}, np.array([5, 7, 6]), np.float64(0.1))
    again = decode(json.loads(json.dumps(encode(value))))
    assert again[:4] == value[:4]
    assert again[4].tolist() == [5, 7, 6]
    assert again[5] == 0.1
    assert_frame_equal(decode(json.loads(json.dumps(encode(frame)))), frame)
    with pytest.raises(TypeError):
        encode(SimpleNamespace())
    for wrong in ({"array": ["O", [1]]}, {"other": 1}):
        with pytest.raises(ValueError, match="an"):
            decode(wrong)


def test_packs_are_the_same_for_the_same_files_and_hold_plain_ones_only(tmp_path):
    """Names that lead elsewhere are refused before anything is written there."""
    files = {"b/x": b"1" * 1000, "a/x": b"2", "a/y": b""}
    for name in ("one", "two"):
        pack(tmp_path / name, dict(reversed(files.items())) if name == "two" else files)
    one = (tmp_path / "one").read_bytes()
    assert hashlib.sha256(one).digest() == hashlib.sha256((tmp_path / "two").read_bytes()).digest()
    assert read_pack(tmp_path / "one") == files
    for name in ("../x", "/x", "a/../../x"):
        pack(tmp_path / "bad", {name: b""})
        with pytest.raises(BundleError, match="no plain file"):
            unpack(tmp_path / "bad", tmp_path / "into")
        shutil.rmtree(tmp_path / "into")
    (tmp_path / "cut").write_bytes(one[: len(one) // 2])
    with pytest.raises(BundleError, match="cannot be read"):
        read_pack(tmp_path / "cut")


def test_a_book_from_rounds_says_which_chapters_it_lacks(published, tmp_path, monkeypatch):
    """A page stands in for each, in a partial book alone, and never beside the chapter itself."""
    project = copy(published, tmp_path)
    stand_in = project.chapters / "tiny.md"

    def build(*_, **__):
        (project.site / "index.html").parent.mkdir(parents=True, exist_ok=True)
        (project.site / "index.html").write_text(
            "".join(p.name for p in project.chapters.iterdir())
        )
        return SimpleNamespace(returncode=0, stdout="")

    monkeypatch.setattr(site, "run_group", build)
    assert site.build_site(project.root, partial=True).read_text() == "tiny.md"
    assert "make chapter CHAPTER=tiny" in stand_in.read_text()
    assert site.is_unmeasured(project.book, "chapters/tiny")
    with pytest.raises(UserError, match="1 chapters without measurements: tiny"):
        site.build_site(project.root)
    assert not stand_in.exists()
    stand_in.write_text("# Left over")
    take_page(project, get_chapter(project.root, "tiny"), {})
    assert site.build_site(project.root, partial=True).read_text() == "tiny.ipynb"


def test_a_build_is_filled_with_published_pages(published, tmp_path, monkeypatch):
    """A chapter without a page gets the published one; a page that is there stays as it is."""
    project = copy(published, tmp_path)
    monkeypatch.setenv("SIZEBOOK_ROOT", str(project.root))
    monkeypatch.setattr(site, "build_site", lambda root, partial: root / f"partial-{partial}")
    page = project.chapters / "tiny.ipynb"
    done = CliRunner().invoke(app, ["build", "--fill"])
    assert done.exit_code == 0, done.output
    assert "tiny: published" in done.output
    assert "partial-True" in done.output
    assert page.read_bytes() == (open_published(project) / "chapters/tiny.ipynb").read_bytes()
    page.write_text("own")
    assert "tiny:" not in CliRunner().invoke(app, ["build", "--fill"]).output
    assert page.read_text() == "own"
