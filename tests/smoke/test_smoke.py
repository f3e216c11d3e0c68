"""Every chapter is measured for real in its shortest form, and the site is built from it."""

import json
import re
from pathlib import Path

import polars as pl
import pytest
from site_check import check_site
from tests.waiting import TIME_IS_UP

from sizebook.book.chapters import find_chapters
from sizebook.book.published.privacy import find_private
from sizebook.book.records import read_records
from sizebook.checks import judge
from sizebook.checks.steady import steady_of
from sizebook.lab import MODES
from sizebook.lab.measurement_cache import Archive, read_source
from sizebook.store import Project, find_bundles, open_bundle
from sizebook.store.bundles import verify_bundle
from sizebook.store.notes import read_notes

USERS = [1, 5, 10, 20]
FEW_REQUESTS = 20
REPRESENTATIONS = ["odata-atom-compat", "odata-atom", "odata-json", "rest-json", "rest-xml-padded"]
PLAN = ("plan", "--profile", "smoke", "--json")


def records(whole, chapter):
    """Return what the executed notebook of a chapter publishes."""
    return read_records(whole.page(chapter))


def test_every_chapter_runs_and_says_how_long(whole):
    """One line a chapter on standard output, progress with time left on standard error."""
    ids = [chapter.id for chapter in find_chapters(whole.root)]
    lines = whole.first_run.stdout.splitlines()
    assert [re.match(r"(\S+): ran in ", line)[1] for line in lines] == ids
    assert re.search(r"odata-rest: \d+/35 trials, .* left; ", whole.first_run.stderr)


def unread_in_time(bundle):
    """Return whether a busy machine let a node answer too late for some reading of its counters."""
    notes = read_notes(bundle)
    missing = () if notes is None else notes.missing
    late = [one for one in missing if TIME_IS_UP.search(one.reason)]
    return any(one.probe.startswith("prometheus:server/app-") for one in late)


def test_every_trial_completed_and_its_account_closes(whole):
    """No trial failed; issued = completed + failed + dropped, server count = client count."""
    bundles = [open_bundle(path) for path in find_bundles(whole.root / "data" / "runs")]
    assert len(bundles) > 35
    for bundle in bundles:
        verify_bundle(bundle)
        findings = {finding.rule: finding for finding in judge(bundle).findings}
        assert bundle.record.outcome == "completed", f"{bundle.id}: {bundle.record.failure}"
        for rule in ("SB100-completed", "SB101-accounting", "SB102-clock", "SB103-little"):
            assert findings[rule].passed, f"{bundle.id}: {findings[rule].message}"
        if bundle.record.trial.deployment.find("app"):
            count = findings["SB104-server-count"]
            killed = bool(bundle.record.execution.events)  # its counters began anew
            untold = killed or unread_in_time(bundle)
            assert count.passed or (untold and count.passed is None), count.message
            errors = findings["SB301-errors"]
            within_outage = killed and errors.numbers.get("requests", 0) < FEW_REQUESTS
            unmeasured = "no request in the measured phase" in errors.message
            assert errors.passed or within_outage or unmeasured, f"{bundle.id}: {errors.message}"


def test_bundles_name_no_machine_and_no_secret(whole):
    """No place on disk, host name, or password stands in what could be published."""
    import getpass
    import socket

    for path in find_bundles(whole.root / "data" / "runs"):
        text = (path / "trial.json").read_text()
        assert str(whole.root) not in text
        assert not list(find_private({"trial.json": text.encode()}))
        for mode in MODES:  # "virtio-vm" says nothing of a host named vm
            text = text.replace(f'"lacks/mode/{mode}":', "")
        assert not re.search(rf"\b{re.escape(socket.gethostname())}\b", text)
        assert str(Path.home()) + "/" not in text
        assert "PASSWORD" not in text.upper().replace("PASSWORD=***", "")
        assert f"/{getpass.getuser()}/" not in text


def test_the_chart_holds_every_treatment_and_concurrency(whole):
    """All representations at all numbers of users have a number from this machine.

    A trial so short that its only run began before the warm-up was over has none.
    """
    figure = records(whole, "odata-rest")["total-time-curves"]
    spec = next(v for k, v in figure.bundle.items() if "vegalite" in k)
    rows = next(iter(spec["datasets"].values()))
    found = {(row["representation"], row["users"]) for row in rows if row["mean"] is not None}
    cropped = set()
    for path in find_bundles(whole.root / "data" / "runs" / "odata-rest"):
        trial = (bundle := open_bundle(path)).record.trial
        begin_ns = bundle.record.execution.phase("measured").begin_ns
        measured = trial.experiment == "formats" and trial.purpose == "measured"
        if measured and steady_of(bundle).crop_ns > begin_ns:
            cropped.add((trial.treatment["representation"], trial.treatment["users"]))
    assert found | cropped == {(name, users) for name in REPRESENTATIONS for users in USERS}
    assert len(found) > len(REPRESENTATIONS) * len(USERS) / 2
    assert all(0 < row["mean"] < 60 for row in rows if row["mean"] is not None)


def test_padded_xml_has_the_size_of_atom(whole):
    """The payload question is asked at equal bytes: body for body, as counted from the wire."""
    sizes = {}
    for path in find_bundles(whole.root / "data" / "runs" / "odata-rest"):
        bundle = open_bundle(path)
        if bundle.record.trial.experiment == "formats":
            rows = bundle.requests.filter(pl.col("name").cast(pl.String) == "list")
            sizes[bundle.record.trial.treatment["representation"]] = rows["body_bytes"][0]
    assert sizes["rest-xml-padded"] == sizes["odata-atom"]
    assert sizes["odata-atom"] > sizes["odata-json"] > sizes["rest-json"]


def test_reported_numbers_stand_beside_ours(whole):
    """The report's bytes and seconds are in the tables of this machine's."""
    found = records(whole, "odata-rest")
    assert "2,560" in found["bytes"].text("text/html")
    assert "846" in found["bytes"].text("text/html")
    table = found["total-time"].text("text/html")
    assert all(f">{printed}</td>" in table for printed in ("38", "30; 25; 17", "35; 34", "10"))
    assert found["expected"].fields["value"] == 2.5


def test_smoke_numbers_say_that_they_mean_nothing(whole):
    """Every figure made from smoke trials carries the doubt in itself and in its caption."""
    figures = [r for r in records(whole, "odata-rest").values() if r.kind == "figure"]
    assert len(figures) == 5
    for figure in figures:
        assert "smoke profile" in figure.fields["caption"]
        assert "smoke profile" in json.dumps(dict(figure.bundle))


def test_every_result_names_its_bundles(whole):
    """Evidence lists bundles that exist, with the checksum that they have."""
    results = [
        (chapter, key, record)
        for chapter in ("odata-rest", "calibration")
        for key, record in records(whole, chapter).items()
        if key != "reported-times"
    ]
    for chapter, key, record in results:
        sources = record.evidence["sources"]
        assert sources, key
        for source in sources:
            bundle = open_bundle(whole.runs(chapter) / source["bundle"])
            assert bundle.sha256 == source["sha256"]


def test_nothing_changed_measures_nothing(whole):
    """A second run is up to date and leaves no new bundle."""
    before = {name: whole.bundles(name) for name in ("odata-rest", "calibration")}
    done = whole.sizebook("run", "--profile", "smoke", check=0)
    assert "odata-rest: up to date" in done.stdout
    assert {name: whole.bundles(name) for name in before} == before


@pytest.mark.parametrize("chapter", ["odata-rest", "disk"])
def test_rendering_from_bundles_gives_the_same_results(whole, chapter):
    """``source`` = a folder: no trial is run, and all results, reasons too, are identical."""
    measured = records(whole, chapter)
    before = whole.bundles(chapter)
    page = whole.page(chapter)
    kept = page.read_bytes()
    whole.sizebook("run", chapter, "--profile", "smoke", "--source", "data/runs", check=0)
    replayed = records(whole, chapter)
    page.write_bytes(kept)
    assert whole.bundles(chapter) == before
    assert list(replayed) == list(measured)
    for key, record in measured.items():
        assert replayed[key].evidence["sha256"] == record.evidence["sha256"], key


def test_a_changed_stack_or_profile_makes_old_bundles_stale_not_wrong(whole):
    """Replayed after a change, bundles are shown and marked; measured again, they are not used."""
    bundle = next(iter(find_bundles(whole.root / "data" / "runs" / "odata-rest")))
    spec = open_bundle(bundle).record.trial
    copied = Project(whole.root)
    trials = Archive(copied, "odata-rest").replay(read_source(copied, copied.runs), "smoke")
    assert {trial.stale for trial in trials} == {()}
    profile = whole.root / "locustfiles" / spec.load.locustfile
    text = profile.read_text()
    profile.write_text(text + "\n# changed\n")
    try:
        done = whole.sizebook("plan", "odata-rest", "--profile", "smoke", "--json", check=0)
        assert json.loads(done.stdout)[0]["missing"] == 35
    finally:
        profile.write_text(text)


def test_a_source_without_bundles_of_the_profile_is_a_clear_message(whole):
    """The message names the profiles that are there."""
    done = whole.sizebook("run", "odata-rest", "--profile", "full", "--source", "data/runs")
    assert done.returncode == 1
    assert "profiles there: smoke" in done.stdout
    whole.sizebook("run", "odata-rest", "--profile", "smoke", check=0)


def test_the_site_builds_and_opens_without_complaint(whole, site):
    """Warnings are errors; no request leaves the machine, no console message, all charts drawn.

    Of trials of one experiment, whose pages have the same panels, the first one's page is opened.
    """
    index = Path(site.said.strip().rsplit(" ", 1)[-1])
    assert index == site.root / "index.html"
    kinds = {}
    for path in find_bundles(whole.root / "data" / "runs"):
        trial = open_bundle(path).record.trial
        kind = (trial.chapter, trial.experiment, trial.purpose)
        kinds.setdefault(kind, []).append(f"trials/{path.name}.html")
    unopened = [page for pages in kinds.values() for page in pages[1:]]
    assert any((index.parent / page).exists() for page in unopened)
    assert check_site(index.parent, unopened=unopened) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("chapters", "--json"),
        PLAN,
    ],
)
def test_lists_for_other_programs_are_json(whole, arguments):
    """Every chapter has id, title, part, sources and notebook; every plan its trials."""
    rows = json.loads(whole.sizebook(*arguments, check=0).stdout)
    assert len(rows) == len(find_chapters(whole.root))
    wanted = (
        {"id", "title", "part", "sources", "notebook"} if "chapters" in arguments else {"trials"}
    )
    assert all(wanted <= set(row) for row in rows)


def test_every_chapter_measures_as_many_blocks_as_are_asked_for(whole):
    """Twice the replicates are twice the trials, and the first half is measured already."""
    chapters = [each.id for each in find_chapters(whole.root)
                if "replicates" in {parameter.name for parameter in each.parameters}]  # fmt: skip
    once, twice = (
        {one["chapter"]: one for one in json.loads(whole.sizebook(*asked, check=0).stdout)}
        for asked in (PLAN, (*PLAN, *chapters, "-p", "replicates=2"))
    )
    assert {name for name, plan in once.items() if plan["trials"]} == set(chapters)
    for chapter in chapters:
        assert once[chapter]["missing"] == 0, chapter
        assert twice[chapter]["trials"] == 2 * once[chapter]["trials"] > 0, chapter
        assert {session["replicate"] for session in twice[chapter]["sessions"]} == {1}, chapter


def test_the_notebook_by_hand_gives_the_same_results(whole):
    """Run from top to bottom by a plain kernel, as JupyterLab does: same keys, same results."""
    import nbformat
    from nbclient import NotebookClient

    template = whole.root / "notebooks" / "10-odata-rest.ipynb"
    notebook = nbformat.read(template, as_version=4)
    cell = next(c for c in notebook.cells if "parameters" in c.metadata.get("tags", []))
    cell.source = cell.source.replace('profile = "quick"', 'profile = "smoke"')
    NotebookClient(
        notebook, resources={"metadata": {"path": str(template.parent)}}, kernel_name="python3"
    ).execute()
    by_hand = whole.root / "_build" / "by-hand.ipynb"
    nbformat.write(notebook, by_hand)
    in_book = records(whole, "odata-rest")
    found = read_records(by_hand)
    assert list(found) == list(in_book)
    for key, record in found.items():
        assert record.evidence["sha256"] == in_book[key].evidence["sha256"], key
