"""A run exports as a Workflow Run RO-Crate that the public validator accepts."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from crate_validator import (
    BASE,
    PROVENANCE,
    RECOMMENDED,
    REQUIRED,
    WORKFLOW_RUN,
    run_validator,
)
from sample_book import HOSTILE, PROJECT
from sample_run import make_sample_run, write_trial

from sizebook.book.crate.audit import audit_crate
from sizebook.book.crate.export import export_crate
from sizebook.book.crate.gather import gather_run
from sizebook.book.crate.received import is_crate_archive, unpack_crate
from sizebook.book.crate.rules import CRATE_RULES, METADATA, is_crate
from sizebook.lab.measurement_cache import readable_bundles
from sizebook.model.errors import BundleError, UsageError, UserError
from sizebook.store.bundles import open_bundle, verify_bundle
from sizebook.store.received import unpack_bundles

PREVIEW = "ro-crate-preview.html"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the sample project; tests that change it take a copy."""
    return make_sample_run(tmp_path_factory.mktemp("project"))


@pytest.fixture(scope="module")
def exported(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give its crate; tests that change it take a copy."""
    return export_crate(root, tmp_path_factory.mktemp("crates") / "crate").path


@pytest.fixture
def crate(exported: Path, tmp_path: Path) -> Path:
    """Give a copy of the crate, to break."""
    return shutil.copytree(exported, tmp_path / "crate")


@pytest.fixture
def project(root: Path, tmp_path: Path) -> Path:
    """Give a copy of the project, to break."""
    return shutil.copytree(root, tmp_path / "project")


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def read_graph(crate: Path) -> dict[str, dict[str, Any]]:
    metadata = json.loads((crate / METADATA).read_text())
    return {entity["@id"]: entity for entity in metadata["@graph"]}


def edit(crate: Path, change: Callable[[dict[str, dict[str, Any]]], object]) -> None:
    """Change entities of the metadata, which are given by ``@id``."""
    metadata = json.loads((crate / METADATA).read_text())
    graph = {entity["@id"]: entity for entity in metadata["@graph"]}
    change(graph)
    metadata["@graph"] = list(graph.values())
    (crate / METADATA).write_text(json.dumps(metadata, indent=4, sort_keys=True))


GOOD = {"passed": True, "issues": []}


def test_the_validator_accepts_the_crate(exported):
    """RO-Crate and the profiles of runs and workflows: no requirement is violated."""
    profiles = (BASE, WORKFLOW_RUN, PROVENANCE)
    verdicts = run_validator(REQUIRED, *((exported, profile) for profile in profiles))
    assert dict(zip(profiles, verdicts, strict=True)) == dict.fromkeys(profiles, GOOD)


def test_only_what_a_crate_cannot_know_is_missing(exported):
    """Of the recommendations it fails those about who measured, a home page, and times not kept."""
    (verdict,) = run_validator(RECOMMENDED, (exported, PROVENANCE))
    words = {text.split(": ", 1)[1] for text in verdict["issues"]}
    unknown = ("agent", "author", "publisher", "a url", "absolute URI", "endTime")
    assert [text for text in words if not any(word in text for word in unknown)] == []


def break_workflow(graph: dict[str, Any]) -> None:
    del graph["./"]["mainEntity"]


def break_action(graph: dict[str, Any]) -> None:
    for identifier in ("#run", "#organised"):
        del graph[identifier]


def break_licence(graph: dict[str, Any]) -> None:
    del graph["./"]["license"]


def break_parameter(graph: dict[str, Any]) -> None:
    graph["Makefile"]["input"] = {"@id": "pyproject.toml"}


def break_file(crate: Path) -> None:
    (crate / "Makefile").unlink()


def break_context(crate: Path) -> None:
    text = (crate / METADATA).read_text()
    (crate / METADATA).write_text(text.replace("ro/crate/1.1/context", "ro/crate/1.2/context"))


def test_the_validator_refuses_broken_crates(exported, tmp_path):
    """The check can fail: without what a profile requires, a file, or a context at hand."""
    crates = []
    for change in (break_workflow, break_action, break_licence, break_parameter):
        crates.append(shutil.copytree(exported, tmp_path / change.__name__))
        edit(crates[-1], change)
    for damage in (break_file, break_context):
        crates.append(shutil.copytree(exported, tmp_path / damage.__name__))
        damage(crates[-1])
    verdicts = run_validator(REQUIRED, *((crate, WORKFLOW_RUN) for crate in crates))
    assert [c.name for c, each in zip(crates, verdicts, strict=True) if each["passed"]] == []
    assert all(each["issues"] for each in verdicts)
    assert "ro/crate/1.2/context" in "".join(verdicts[-1]["issues"])  # it was not fetched


def test_the_guard_ends_a_validator_that_would_fetch():
    """The first connection, even on this machine, ends the run with an error."""
    code = (
        "import socket, sys, validate_crate; sys.addaudithook(validate_crate.stay_inside); "
        "socket.create_connection(('127.0.0.1', 9))"
    )
    folder = Path(__file__).parent
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "wants to leave the machine" in done.stderr


def test_the_validators_lock_has_hashes_and_no_address():
    """The validator is pinned as the harness is."""
    text = (PROJECT / "env" / "validator.lock").read_text()
    entries = [entry for entry in re.split(r"\n(?=[A-Za-z0-9])", text) if "==" in entry]
    assert all("--hash=sha256:" in entry for entry in entries)
    assert {"roc-validator==0.13.0", "rocrate==0.15.0"} <= {entry.split()[0] for entry in entries}
    assert "://" not in text


def test_the_same_run_gives_the_same_bytes(root, exported, tmp_path):
    """Neither the clock nor the order on disk comes into a crate, be it a folder or an archive."""
    again = export_crate(root, tmp_path / "again").path
    assert contents(again) == contents(exported)
    one, two = (export_crate(root, tmp_path / f"{name}.zip").path for name in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()
    with zipfile.ZipFile(one) as packed:
        files = [each.filename for each in packed.infolist() if not each.is_dir()]
        assert {name: packed.read(name) for name in files} == contents(exported)


def test_a_crate_holds_the_run_and_nothing_else(exported):
    """Cited trials and the conditioning before them; not a trial that no page cites."""
    folders = {path.parent.name for path in exported.rglob("trial.json")}
    assert folders == {"t-0", "t-1", "t-2"}
    for name in folders:
        verify_bundle(open_bundle(exported / "data" / "runs" / "alpha" / name))
    names = set(contents(exported)) - {name for name in contents(exported) if "data/" in name}
    assert names == {
        METADATA,
        PREVIEW,
        "README.md",
        "Makefile",
        "pyproject.toml",
        "env/requirements.lock",
        "locustfiles/synthetic.py",
        "notebooks/01-alpha.ipynb",
        "notebooks/02-beta.ipynb",
        "book/chapters/alpha.ipynb",
        "book/chapters/beta.ipynb",
    }


def test_a_trial_that_was_measured_again_goes_along(project, tmp_path):
    """What shared a start with a cited trial is in the crate, cited or not: no gap."""
    write_trial(project, "t-5", "measured", replicate=0)
    crate = export_crate(project, tmp_path / "crate").path
    assert {path.parent.name for path in crate.rglob("trial.json")} == {"t-0", "t-1", "t-2", "t-5"}
    graph = read_graph(crate)
    assert "verdict: not cited" in graph["data/runs/alpha/t-5/"]["description"]
    assert "not cited" not in graph["data/runs/alpha/t-1/"]["description"]


def test_an_action_says_what_went_in_and_what_came_out(exported):
    """A chapter's action has the parameters of the run, its load profile, page, bundles, times."""
    graph = read_graph(exported)
    action = graph["#run-alpha"]
    assert action["instrument"] == {"@id": "notebooks/01-alpha.ipynb"}
    objects = [each["@id"] for each in action["object"]]
    assert objects == [
        "#value-alpha-levels",
        "#value-alpha-profile",
        "#value-alpha-seed",
        "locustfiles/synthetic.py",
    ]
    assert graph["#value-alpha-levels"]["value"] == "[1, 5, 10]"
    assert graph["#parameter-alpha-levels"]["defaultValue"] == "[1, 5]"
    assert graph["#parameter-alpha-levels"]["description"] == "users"
    assert graph["#parameter-alpha-seed"]["additionalType"] == "Integer"
    assert [each["@id"] for each in action["result"]] == [
        "book/chapters/alpha.ipynb",
        "data/runs/alpha/",
    ]
    assert action["startTime"] == "2026-01-01T00:00:00+00:00"
    assert action["endTime"] == "2026-01-01T00:01:12+00:00"
    assert "startTime" not in graph["#run-beta"]
    assert "it did not start" in graph["data/runs/alpha/t-2/"]["description"]
    assert "verdict: conditioning" in graph["data/runs/alpha/t-0/"]["description"]
    assert graph["./"]["datePublished"] == action["endTime"]


def test_every_file_has_its_checksum(exported):
    """The metadata name every file with SHA-256 and size, and a licence, if only its absence."""
    graph = read_graph(exported)
    described = {name for name, entity in graph.items() if "sha256" in entity}
    assert described == set(contents(exported)) - {METADATA, PREVIEW}
    assert graph["#licence"]["name"] == "No licence stated"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('license = "MIT"', ("https://spdx.org/licenses/MIT", "MIT")),
        ('license = {text = "Ask us"}', ("#licence", "Ask us")),
        ("", ("#licence", "The project's licence")),
    ],
)
def test_the_licence_is_the_projects(project, tmp_path, text, expected):
    """pyproject or a LICENSE file say the licence; the file comes with the crate."""
    (project / "pyproject.toml").write_text(f'[project]\nname = "x"\n{text}\n')
    if not text:
        (project / "LICENSE").write_text("Do as you like.\n")
    done = export_crate(project, tmp_path / "crate")
    graph = read_graph(done.path)
    licence = graph[graph["./"]["license"]["@id"]]
    assert (licence["@id"], licence["name"]) == expected
    assert ("LICENSE" in graph) == (not text)
    assert audit_crate(done.path) == []


def test_code_and_data_may_have_a_licence_each(project, tmp_path):
    """Both are named by their SPDX pages, and both texts come with the crate."""
    text = '[project]\nname = "x"\nlicense = "Apache-2.0 AND CC-BY-4.0"\n'
    (project / "pyproject.toml").write_text(text)
    for name in ("LICENSE", "LICENSE-CC-BY-4.0"):
        (project / name).write_text("The text.\n")
    done = export_crate(project, tmp_path / "crate")
    graph = read_graph(done.path)
    named = [each["@id"] for each in graph["./"]["license"]]
    assert named == [f"https://spdx.org/licenses/{each}" for each in ("Apache-2.0", "CC-BY-4.0")]
    assert {"LICENSE", "LICENSE-CC-BY-4.0"} <= graph.keys()
    assert audit_crate(done.path) == []


def test_a_slim_crate_is_as_good(root, tmp_path):
    """Bundles without requests say so and keep their checksum; the validator takes an archive."""
    whole = export_crate(root, tmp_path / "whole")
    slim = export_crate(root, tmp_path / "slim", slim=True)
    assert slim.bytes < whole.bytes
    assert not list(slim.path.rglob("requests.parquet"))
    bundles = readable_bundles(slim.path / "data" / "runs")
    left_out = {each.id: each.left_out for each in bundles}
    assert left_out == dict.fromkeys(("t-0", "t-1", "t-2"), ("requests.parquet",))
    assert audit_crate(slim.path) == []
    assert "--source" in (whole.path / "README.md").read_text()
    assert "not made again" in (slim.path / "README.md").read_text()
    archive = export_crate(root, tmp_path / "slim.zip", slim=True)
    assert run_validator(REQUIRED, (archive.path, PROVENANCE)) == [GOOD]
    again = export_crate(slim.path, tmp_path / "again", slim=True)
    assert contents(again.path) == contents(slim.path)


class Tags(HTMLParser):
    """Collects the elements of a page and what they would load."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("href", "src")]


def test_the_page_for_people_is_offline_and_escaped(exported):
    """Hostile text in titles, treatments and versions shows as text; every link is in the crate."""
    text = (exported / PREVIEW).read_text()
    tags = Tags()
    tags.feed(text)
    assert "&lt;script&gt;window.stolen" in text
    assert not tags.names & {"script", "img", "iframe", "link", "object"}
    assert [each for each in tags.addresses if not (exported / each).is_file()] == []


def test_nothing_tells_whose_machine_it_was(exported, root):
    """No folder of this machine, no user, no host stands in a crate."""
    import getpass
    import socket

    private = [str(root), str(Path.home()), str(Path(__file__).parents[2])]
    for name in (socket.gethostname(), getpass.getuser()):
        if len(name) > 5:  # shorter ones are words and parts of words
            private.append(name)
    for name, data in contents(exported).items():
        assert [word for word in private if word.encode() in data] == [], name


@pytest.mark.parametrize("file", ["book/chapters/alpha.ipynb", "locustfiles/synthetic.py"])
def test_a_path_of_this_machine_is_refused(project, tmp_path, file):
    """A notebook that was run with a source in somebody's home folder is not passed on."""
    text = (project / file).read_text()
    spoilt = text.replace("sizebook run alpha", f"sizebook run alpha --source {Path.home()}/x")
    (project / file).write_text(spoilt if spoilt != text else f"{text}# {project.resolve()}/y\n")
    if "locustfiles" in file:
        shutil.rmtree(project / "data" / "runs" / "alpha")
        for number, purpose in enumerate(("conditioning", "measured", "measured")):
            write_trial(project, f"t-{number}", purpose, replicate=max(0, number - 1))
        refresh(project)
    with pytest.raises(UsageError, match="with a path of this machine"):
        export_crate(project, tmp_path / "crate")
    assert not (tmp_path / "crate").exists()


def refresh(project: Path) -> None:
    """Let the page cite the bundles as they are now."""
    page = project / "book" / "chapters" / "alpha.ipynb"
    notebook = json.loads(page.read_text())
    for source in notebook["cells"][3]["outputs"][0]["metadata"]["sizebook"]["evidence"]["sources"]:
        source["sha256"] = open_bundle(project / "data/runs/alpha" / source["bundle"]).sha256
    page.write_text(json.dumps(notebook))


def test_what_is_there_is_never_overwritten(root, tmp_path):
    """A folder with something in it, a file, a link: refused; an empty folder is used."""
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("mine")
    (tmp_path / "mine.zip").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    (tmp_path / "folder.zip").mkdir()
    for name in ("full", "mine.zip", "link", "folder.zip"):
        with pytest.raises(UsageError):
            export_crate(root, tmp_path / name)
    for place in ("data/runs/crate", "book/crate", "notebooks", "locustfiles/x.zip"):
        with pytest.raises(UsageError):
            export_crate(root, root / place)
    (tmp_path / "empty").mkdir()
    export_crate(root, tmp_path / "empty")
    assert is_crate(tmp_path / "empty")
    assert {path.name for path in tmp_path.iterdir()} == {
        "full", "mine.zip", "link", "folder.zip", "empty",
    }  # fmt: skip


def test_a_failed_export_leaves_nothing(project, tmp_path, monkeypatch):
    """Neither a damaged bundle nor a full disk nor Ctrl-C leaves half a crate."""
    place = tmp_path / "crates"
    requests = project / "data/runs/alpha/t-1/requests.parquet"
    good = requests.read_bytes()
    requests.write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
    with pytest.raises(BundleError, match=r"requests\.parquet of bundle t-1"):
        export_crate(project, place / "one")
    requests.write_bytes(good)
    for error, seen in ((OSError(28, "No space left"), UserError), (KeyboardInterrupt(),) * 2):
        failing = _raising(error)
        monkeypatch.setattr("sizebook.book.crate.export.render_preview", failing)
        with pytest.raises(seen if isinstance(seen, type) else type(seen)):
            export_crate(project, place / "two.zip")
    assert list(place.iterdir()) == []


def _raising(error: BaseException) -> Callable[..., str]:
    def fail(*_: object) -> str:
        raise error

    return fail


def test_what_a_killed_export_left_is_cleared_away(root, tmp_path):
    """The next export to the same place begins anew."""
    (tmp_path / ".crate.partial" / "crate").mkdir(parents=True)
    (tmp_path / ".crate.partial" / "crate" / "half").write_text("half")
    export_crate(root, tmp_path / "crate")
    assert [path.name for path in tmp_path.iterdir()] == ["crate"]
    assert "half" not in contents(tmp_path / "crate")


def test_a_run_that_does_not_hang_together_is_refused(project, tmp_path):
    """A page of another template, a bundle that is gone or another one, no trial, no page."""
    target = tmp_path / "crate"
    with pytest.raises(UsageError, match="no trial behind beta"):
        export_crate(project, target, ["beta"])
    with pytest.raises(UsageError, match="no chapter 'gamma'"):
        export_crate(project, target, ["gamma"])
    template = project / "notebooks" / "01-alpha.ipynb"
    text = template.read_text()
    template.write_text(text.replace("'total', 12.5", "'total', 13.5"))
    with pytest.raises(UsageError, match=r"not made from 01-alpha\.ipynb as it is"):
        export_crate(project, target)
    template.write_text(text)
    record = project / "data/runs/alpha/t-1/trial.json"
    record.write_text(record.read_text() + " ")
    with pytest.raises(UsageError, match=r"bundle t-1: .* is not the one"):
        export_crate(project, target)
    shutil.rmtree(record.parent)
    with pytest.raises(UsageError, match=r"bundle t-1: .* not on this machine"):
        export_crate(project, target)
    (project / "book/chapters/alpha.ipynb").unlink()
    with pytest.raises(UsageError, match="no executed notebook of alpha"):
        export_crate(project, target, ["alpha"])
    assert not target.exists()


def test_a_load_profile_that_changed_since_stays_out(project):
    """A crate holds the load profile that ran, or none; the trial's checksum of it stays."""
    (project / "locustfiles" / "synthetic.py").write_text('"""Changed."""\n')
    assert gather_run(project).load_profiles == {}


def test_an_exported_crate_passes_its_audit(exported):
    """Nothing is found in a crate as it was exported."""
    assert audit_crate(exported) == []


def swap_byte(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


TAMPERINGS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "no metadata": ("AU601-crate", lambda crate: (crate / METADATA).unlink()),
    "no JSON": ("AU601-crate", lambda crate: (crate / METADATA).write_text("{")),
    "deep JSON": ("AU601-crate", lambda crate: (crate / METADATA).write_text("[" * 100_000)),
    "no graph": ("AU601-crate", lambda crate: (crate / METADATA).write_text('{"@graph": 1}')),
    "metadata elsewhere": (
        "AU601-crate",
        lambda crate: (
            (crate / METADATA).rename(crate.parent / "m"),
            (crate / METADATA).symlink_to(crate.parent / "m"),
        ),
    ),
    "another version": (
        "AU601-crate",
        lambda c: edit(c, lambda g: g[METADATA].update(version="2")),
    ),
    "file gone": ("AU602-crate-missing", lambda c: (c / "locustfiles/synthetic.py").unlink()),
    "bundle gone": ("AU602-crate-missing", lambda c: shutil.rmtree(c / "data/runs/alpha/t-2")),
    "page gone": ("AU602-crate-missing", lambda crate: (crate / PREVIEW).unlink()),
    "file a link": (
        "AU602-crate-missing",
        lambda crate: (
            (crate / "Makefile").rename(crate.parent / "M"),
            (crate / "Makefile").symlink_to(crate.parent / "M"),
        ),
    ),
    "a way out": (
        "AU602-crate-missing",
        lambda crate: edit(
            crate, lambda graph: graph.update({"x": {"@id": "../../etc/passwd", "@type": "File"}})
        ),
    ),
    "an absolute way out": (
        "AU602-crate-missing",
        lambda crate: edit(
            crate, lambda graph: graph.update({"x": {"@id": "/etc/passwd", "@type": "File"}})
        ),
    ),
    "requests edited": (
        "AU603-crate-checksum",
        lambda crate: swap_byte(crate / "data/runs/alpha/t-1/requests.parquet"),
    ),
    "page edited": (
        "AU603-crate-checksum",
        lambda crate: swap_byte(crate / "book/chapters/alpha.ipynb"),
    ),
    "checksum edited": (
        "AU603-crate-checksum",
        lambda crate: edit(crate, lambda graph: graph["Makefile"].update(sha256="0" * 64)),
    ),
    "file added": ("AU604-crate-added", lambda crate: (crate / "data" / "more").write_text("x")),
    "folder linked": ("AU604-crate-added", lambda c: (c / "data" / "more").symlink_to(c.parent)),
    "start of a trial edited": (
        "AU605-crate-bundle",
        lambda crate: edit(
            crate,
            lambda graph: graph["data/runs/alpha/t-1/"].update(dateCreated="2027-01-01T00:00:00Z"),
        ),
    ),
    "verdict edited": (
        "AU605-crate-bundle",
        lambda crate: edit(
            crate, lambda graph: graph["data/runs/alpha/t-2/"].update(description="verdict: valid.")
        ),
    ),
    "time of the run edited": (
        "AU607-crate-description",
        lambda crate: edit(
            crate, lambda graph: graph["#run"].update(endTime="2027-01-01T00:00:00+00:00")
        ),
    ),
    "parameter edited": (
        "AU607-crate-description",
        lambda crate: edit(crate, lambda graph: graph["#value-alpha-seed"].update(value=2)),
    ),
    "somebody added": (
        "AU607-crate-description",
        lambda crate: edit(
            crate, lambda graph: graph.update({"#me": {"@id": "#me", "@type": "Person"}})
        ),
    ),
    "context edited": (
        "AU607-crate-description",
        lambda crate: (crate / METADATA).write_text(
            (crate / METADATA).read_text().replace("workflow-run#sha256", "workflow-run#md5")
        ),
    ),
    "page for people edited": ("AU607-crate-description", lambda c: swap_byte(c / PREVIEW)),
}


@pytest.mark.parametrize("name", TAMPERINGS)
def test_the_audit_finds(crate, name):
    """Each kind of tampering is found by the rule that is meant for it."""
    rule, tamper = TAMPERINGS[name]
    tamper(crate)
    assert rule in {finding.rule for finding in audit_crate(crate)}


def test_the_audit_finds_a_trial_that_was_taken_out_with_its_description(crate):
    """Somebody who mends the metadata, too, still lacks what the page cites."""
    shutil.rmtree(crate / "data/runs/alpha/t-2")
    edit(crate, lambda graph: [graph.pop(name) for name in list(graph) if "/t-2/" in name])
    assert {finding.rule for finding in audit_crate(crate)} == {"AU606-crate-run"}


@pytest.mark.parametrize("text", ["{", "[" * 50_000, '{"cells": 3}', '{"cells": [1]}'])
def test_a_hostile_notebook_is_a_finding(crate, text):
    """A page that is none ends in a finding, with its checksum mended, too."""
    import hashlib

    name = "book/chapters/alpha.ipynb"
    (crate / name).write_text(text)
    digest = hashlib.sha256(text.encode()).hexdigest()
    size = str(len(text))
    edit(crate, lambda graph: graph[name].update(sha256=digest, contentSize=size))
    assert {finding.rule for finding in audit_crate(crate)} == {"AU606-crate-run"}


def test_every_rule_is_tried_here():
    """No rule of the crate goes without a tampering that it finds."""
    tried = {rule for rule, _ in TAMPERINGS.values()} | {"AU606-crate-run"}
    assert tried == {rule.id for rule in CRATE_RULES}


def test_hostile_text_stays_text(exported):
    """Text from data reaches the metadata as it is: as a string."""
    graph = read_graph(exported)
    assert HOSTILE in graph["data/runs/alpha/t-1/"]["description"]
    assert HOSTILE in graph["notebooks/01-alpha.ipynb"]["name"]


def test_a_crate_that_was_sent_is_unpacked_and_audited(root, exported, tmp_path):
    """An archive gives the folder that it was packed from."""
    archive = export_crate(root, tmp_path / "run.zip").path
    (tmp_path / "other.zip").write_bytes(b"PK")
    assert is_crate_archive(archive)
    assert not is_crate_archive(tmp_path / "other.zip")
    unpack_crate(archive, tmp_path / "run")
    assert contents(tmp_path / "run") == contents(exported)
    assert audit_crate(tmp_path / "run") == []


def describe_also(name: str, size: int) -> Callable[[dict[str, Any]], object]:
    entity = {"@id": name, "@type": "File", "contentSize": str(size), "sha256": "0" * 64}
    return lambda graph: graph.update({name: entity})


@pytest.mark.parametrize(
    ("name", "size", "data", "mode"),
    [
        ("../outside", 4, b"here", 0o100644),
        ("/tmp/outside", 4, b"here", 0o100644),
        ("data/../../outside", 4, b"here", 0o100644),
        ("data\\outside", 4, b"here", 0o100644),
        ("link", 4, b"/etc", 0o120777),
        ("makefile", 4, b"here", 0o100644),
        ("bomb", 10, bytes(10**7), 0o100644),
        ("unknown", -1, b"here", 0o100644),
    ],
    ids=["up", "absolute", "inner", "backslash", "link", "case", "bomb", "undescribed"],
)
def test_a_hostile_archive_is_refused(crate, tmp_path, name, size, data, mode):
    """Names that lead out, links, floods and strangers end in a message; nothing lands outside."""
    if size >= 0:
        edit(crate, describe_also(name, size))
    archive, place = tmp_path / "hostile.zip", tmp_path / "place" / "inner"
    place.mkdir(parents=True)
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for file, content in contents(crate).items():
            packed.writestr(file, content)
        entry = zipfile.ZipInfo(name)
        entry.filename, entry.external_attr = name, mode << 16
        packed.writestr(entry, data)
    with pytest.raises(UserError, match=r"archive hostile\.zip with"):
        unpack_crate(archive, place)
    assert list(place.iterdir()) == []
    assert [path.name for path in place.parent.iterdir()] == ["inner"]


@pytest.mark.parametrize(
    "name", ["__MACOSX/._ro-crate-metadata.json", "data/.DS_Store", ".DS_Store", "data/._x"]
)
@pytest.mark.parametrize("folder", ["", "crate/"], ids=["its files", "its folder"])
def test_a_crate_that_macos_packed_again_is_told_apart(crate, tmp_path, name, folder):
    """Its notes are no attack: the message says where they come from, and what to do."""
    archive = tmp_path / "again.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for file, content in contents(crate).items():
            packed.writestr(f"{folder}{file}", content)
        packed.writestr(name if name.startswith("__") else f"{folder}{name}", b"\0\5\x16\7")
    assert is_crate_archive(archive) == (folder == "")
    unpack = unpack_crate if is_crate_archive(archive) else unpack_bundles
    with pytest.raises(BundleError, match=r"macOS .* remove every __MACOSX, \.DS_Store"):
        unpack(archive, tmp_path / "into")


def test_what_came_with_the_book_is_not_exported_as_a_run(project, tmp_path, monkeypatch):
    """A page made from published trials: the message says what to run, or to pass on instead."""
    unpacked = project / ".sizebook" / "published"
    unpacked.parent.mkdir(exist_ok=True)
    (project / "data" / "runs").rename(unpacked)
    monkeypatch.setattr("sizebook.book.cited.list_rounds", lambda _: ["2026-01-31"])
    monkeypatch.setattr("sizebook.book.cited.open_published", lambda _: unpacked)
    with pytest.raises(UsageError) as refused:
        export_crate(project, tmp_path / "crate")
    told = str(refused.value)
    assert "found trials of chapter alpha that came with the book" in told
    assert told.endswith("next: sizebook run alpha, then export again; or pass on data/published")
    assert not (tmp_path / "crate").exists()


def test_a_torn_archive_is_refused(root, tmp_path):
    """A byte that flipped on the way, or half an archive."""
    archive = export_crate(root, tmp_path / "run.zip").path
    data = bytearray(archive.read_bytes())
    (tmp_path / "half.zip").write_bytes(data[: len(data) // 2])
    data[len(data) // 2] ^= 1
    (tmp_path / "flipped.zip").write_bytes(data)
    for name in ("half", "flipped"):
        with pytest.raises(UserError, match=f"archive {name}"):
            unpack_crate(tmp_path / f"{name}.zip", tmp_path / name)


def test_the_command_says_what_it_wrote_and_refuses_to_overwrite(root, tmp_path):
    """One line each: on standard output with exit code 0, on standard error with 1."""
    command = [sys.executable, "-m", "sizebook.cli", "export", str(tmp_path / "run.zip"), "--slim"]
    done, again = (
        subprocess.run(
            command,
            cwd=tmp_path,
            env={**os.environ, "SIZEBOOK_ROOT": str(root)},
            capture_output=True,
            text=True,
            check=False,
        )
        for _ in range(2)
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(r"exported 2 chapters, 3 trials \(\d+ files, .* MiB\): .*\n", done.stdout)
    assert (again.returncode, again.stdout) == (1, "")
    assert re.fullmatch(r"sizebook: found .* there already; .*\n", again.stderr)
