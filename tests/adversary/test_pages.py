"""What a forger does to an executed notebook, checksums mended, and the rule that names it."""

from __future__ import annotations

import copy
import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from audited_book import QUICK, audit, bundle_of, change_page, change_record, found, result

from sizebook.book.audit.auditing import Options
from sizebook.book.audit.findings import AuditReport
from sizebook.book.audit.provenance import History
from sizebook.lab.placement import AS_PLACED
from sizebook.model.bundle import BundleRecord
from sizebook.store import cache_key

Page = dict[str, Any]
REPLAY = Options(replay=True, site=False)


def code_cell(page: Page, number: int = -2) -> dict[str, Any]:
    """Return a code cell with results: the last but one of the book's page."""
    cell: dict[str, Any] = [each for each in page["cells"] if each["cell_type"] == "code"][number]
    return cell


def as_stream(page: Page) -> None:
    result(page, "value").update(output_type="stream", name="stdout", text="500 answers")


def as_error(page: Page) -> None:
    result(page, "value").update(output_type="error", ename="500", evalue="answers", traceback=[])


def as_result(page: Page) -> None:
    result(page, "value").update(output_type="execute_result", execution_count=3)


def another_representation(page: Page) -> None:
    result(page, "value")["data"]["text/html"] = "<b>500 answers</b>"


def size_of_a_picture(page: Page) -> None:
    result(page, "figure")["metadata"]["image/svg+xml"] = {"width": 1}


def cell_metadata(name: str, value: Any) -> Callable[[Page], None]:
    return lambda page: code_cell(page)["metadata"].update({name: value})


def notebook_metadata(name: str, value: Any) -> Callable[[Page], None]:
    return lambda page: page["metadata"].update({name: value})


def attachment(page: Page) -> None:
    page["cells"][0]["attachments"] = {"more.png": {"image/png": "aGVsbG8="}}


def cell_id(page: Page) -> None:
    code_cell(page)["id"] = "another"


def execution_count(page: Page) -> None:
    code_cell(page)["execution_count"] = 40


def other_format(page: Page) -> None:
    page["nbformat_minor"] = 9


def more_of_the_notebook(page: Page) -> None:
    page["widgets"] = {}


def parameters_elsewhere(page: Page) -> None:
    cells = page["cells"]
    [at] = [n for n, one in enumerate(cells) if one["id"] == "injected-parameters"]
    cells.append(cells.pop(at))


def parameters_unhidden(page: Page) -> None:
    [cell] = [one for one in page["cells"] if one["id"] == "injected-parameters"]
    cell["metadata"]["tags"] = ["injected-parameters"]


def language(page: Page) -> None:
    page["metadata"]["language_info"]["pygments_lexer"] = "text"


def stamp_with_more(page: Page) -> None:
    page["metadata"]["sizebook_run"]["certified"] = "yes"


STATIC: dict[str, tuple[Callable[[Page], None], str]] = {
    "a value as a stream": (as_stream, "AU216"),
    "a value as an error": (as_error, "AU216"),
    "a value as an execution's result": (as_result, "AU216"),
    "one more representation": (another_representation, "AU216"),
    "metadata of a representation": (size_of_a_picture, "AU216"),
    "outputs removed by the site": (
        cell_metadata("mystnb", {"remove_code_outputs": True}), "AU215"),
    "a prompt of the site": (cell_metadata("mystnb", {"code_prompt_show": "Certified"}), "AU215"),
    "outputs folded by Jupyter": (cell_metadata("jupyter", {"outputs_hidden": True}), "AU215"),
    "a slide that is skipped": (cell_metadata("slideshow", {"slide_type": "skip"}), "AU215"),
    "outputs removed everywhere": (
        notebook_metadata("mystnb", {"remove_code_outputs": True}), "AU215"),
    "another title": (notebook_metadata("title", "Certified"), "AU215"),
    "another kernel": (notebook_metadata("kernelspec", {"name": "certified"}), "AU215"),
    "another language": (language, "AU215"),
    "an attachment": (attachment, "AU215"),
    "another id of a cell": (cell_id, "AU215"),
    "another count of execution": (execution_count, "AU215"),
    "another format of notebooks": (other_format, "AU215"),
    "a field of the notebook": (more_of_the_notebook, "AU215"),
    "parameters at the end": (parameters_elsewhere, "AU215"),
    "parameters that are shown": (parameters_unhidden, "AU215"),
    "a stamp that says more": (stamp_with_more, "AU215"),
}  # fmt: skip


@pytest.mark.parametrize("what", STATIC)
def test_what_the_replay_need_not_tell_is_found_at_once(book: Path, what: str) -> None:
    """Type, representations, metadata, ids and counts are looked at without executing anything."""
    tamper, rule = STATIC[what]
    change_page(book, tamper)
    report = audit(book, QUICK)
    assert rule in found(report)
    assert report.counts()["pages"].verified == 0


def test_an_untouched_page_has_no_finding(book: Path) -> None:
    """What a run writes is what the rules allow, with its replay."""
    report = audit(book, REPLAY)
    assert found(report) == set()
    assert report.counts()["pages"].verified == 1


def test_outputs_that_no_replay_makes_are_found(book: Path) -> None:
    """Streams and displays without a record, and results put elsewhere, each have their rule."""

    def change(page: Page) -> None:
        first, second = code_cell(page, -3), code_cell(page, -2)
        said = {"output_type": "stream", "name": "stderr", "text": ["Certified by nobody\n"]}
        first["outputs"].insert(0, said)
        second["outputs"].append(
            {"output_type": "display_data", "metadata": {}, "data": {"text/html": "<b>500</b>"}}
        )
        first["outputs"].append(second["outputs"].pop(0))
        first["outputs"][1:3] = reversed(first["outputs"][1:3])

    change_page(book, change)
    report = audit(book, REPLAY)
    assert {"AU302", "AU307"} <= found(report)
    places = {one.place for one in report.findings if one.rule == "AU302-missing"}
    assert len(places) == 2


def rerun(book: Path) -> AuditReport:
    """Make the page again from the bundles as they are, as a forger with this code would."""
    from sizebook.book.chapters import get_chapter
    from sizebook.book.notebooks import run_chapter

    given = {"profile": "quick", "source": "data/runs"}
    outcome = run_chapter(book, get_chapter(book, "tiny"), given, force=True)
    assert outcome.state == "ran", outcome.error
    return audit(book, REPLAY)


def with_two_loads(book: Path) -> None:
    """Have the design ask Atom by more users than JSON, and its trials be measured so."""
    template = book / "notebooks" / "10-tiny.ipynb"
    notebook = json.loads(template.read_text())
    for cell in notebook["cells"]:
        source = "".join(cell["source"]).replace("lambda t: setup", "lambda t: setups[t['format']]")
        cell["source"] = source.replace(
            "formats = Factor",
            "setups = {name: Setup(setup.deployment, load.model_copy(update={'arrivals': "
            "ClosedLoop(users=users)}), probe_interval_s=60.0)\n"
            "          for name, users in {'json': 4, 'atom': 8}.items()}\nformats = Factor",
        )
    template.write_text(json.dumps(notebook))
    for replicate in range(3):
        change_trial(bundle_of(book, f"atom-{replicate}"), lambda trial: trial["load"]["arrivals"]
                     .update(users=8))  # fmt: skip


def change_trial(
    bundle: Path, change: Callable[[dict[str, Any]], Any], machine: str | None = None
) -> None:
    """Change a specification, and the key to what it makes, as a careful forger would."""

    def mend(record: dict[str, Any]) -> None:
        change(record["trial"])
        if machine is not None:
            record["fingerprints"]["machine"] = machine
        changed = BundleRecord.model_validate(record, strict=False)
        record["key"] = cache_key(changed.trial, changed.fingerprints)

    change_record(bundle, mend)


def test_labels_exchanged_between_bundles_are_found(book: Path) -> None:
    """The template's design says what its treatments are; a label alone does not make one."""
    with_two_loads(book)
    assert "AU308" not in found(rerun(book))
    for replicate in range(3):
        for name, other in (("json", "atom"), ("atom", "json")):
            change_trial(
                bundle_of(book, f"{name}-{replicate}"),
                lambda trial, other=other: trial["treatment"].update(format=other),
            )
    report = rerun(book)
    others = [one for one in report.findings if one.rule == "AU308-other-treatment"]
    assert len(others) == 6
    assert {one.severity for one in others} == {"error"}
    assert {one.message.partition(": ")[2] for one in others} == {
        "load.arrivals.users is 4, the design says 8",
        "load.arrivals.users is 8, the design says 4",
    }


def with_shares_of_the_machine(book: Path) -> None:
    """Have the design share out CPUs, and its blocks be measured where there are two, and six."""
    template = book / "notebooks" / "10-tiny.ipynb"
    notebook = json.loads(template.read_text())
    for cell in notebook["cells"]:
        cell["source"] = (
            "".join(cell["source"])
            .replace("lab = ChapterLab", "from sizebook.lab import place\n\nlab = ChapterLab")
            .replace("cpus=(0,)", "cpus=place().generator")
            .replace('JvmRole(role="app")', 'JvmRole(role="app", cpus=place().stack)')
        )
    template.write_text(json.dumps(notebook))
    for replicate, last in enumerate((1, 5, 5)):
        for name in ("json", "atom"):

            def shares(trial: dict[str, Any], last: int = last) -> None:
                trial["load"]["cpus"] = [last]
                trial["deployment"]["roles"][0]["cpus"] = [*range(last)]

            change_trial(bundle_of(book, f"{name}-{replicate}"), shares, f"with-{last}")


def test_each_machine_s_trials_are_compared_with_the_design_there(book: Path) -> None:
    """Where machines differ in CPUs no bundle is accused; one changed is found on either."""
    with_shares_of_the_machine(book)
    assert "AU308" not in found(rerun(book))
    for name in ("json-0", "atom-2"):
        change_trial(
            bundle_of(book, name),
            lambda trial: trial["deployment"]["roles"][0].update(heap_mib=1234),
        )
    report = rerun(book)
    others = [one for one in report.findings if one.rule == "AU308-other-treatment"]
    assert {one.message.partition(": ")[2] for one in others} == {
        "deployment.roles[0].heap_mib is 1234, the design says 256"
    }
    assert len(others) == 2


def test_a_design_that_one_machine_cannot_have_is_no_replay(book: Path) -> None:
    """Trials that nothing was compared with are not taken for verified."""
    with_shares_of_the_machine(book)
    report = rerun(book)
    assert "AU305" not in found(report)
    template = book / "notebooks" / "10-tiny.ipynb"
    notebook = json.loads(template.read_text())
    cell = next(each for each in notebook["cells"] if "lab = ChapterLab" in each["source"])
    refuse = f"assert not os.environ.get({AS_PLACED!r}, '').startswith('[[0], [1], '), 'two CPUs'"
    cell["source"] = f"import os\n\n{refuse}\n{cell['source']}"
    template.write_text(json.dumps(notebook))
    report = rerun(book)
    [failed] = [one for one in report.findings if one.rule == "AU305-no-replay"]
    assert "two CPUs" in failed.message


def test_a_treatment_that_vanished_is_found(book: Path) -> None:
    """Its bundles deleted and the page made again, the page's parameters still ask for it."""
    for replicate in range(3):
        shutil.rmtree(bundle_of(book, f"atom-{replicate}"))
    template = book / "notebooks" / "10-tiny.ipynb"
    notebook = json.loads(template.read_text())
    notebook["cells"] = [
        cell for cell in notebook["cells"] if "own_claim(" not in "".join(cell["source"])
        or cell["id"] == "tiny-2"
    ]  # fmt: skip
    template.write_text(json.dumps(notebook))
    report = rerun(book)
    [missing] = [one for one in report.findings if one.rule == "AU309-missing-treatment"]
    assert missing.severity == "error"
    assert missing.message == "no trial of format atom in block 1, 2, 3"


def test_a_block_that_vanished_is_found(book: Path) -> None:
    """A last block taken out everywhere is missing by the page's own parameters."""
    for name in ("json-2", "atom-2"):
        shutil.rmtree(bundle_of(book, name))
    report = rerun(book)
    assert "AU309" in found(report)


def git(book: Path, *words: str) -> str:
    who = ["-c", "user.name=Sam", "-c", "user.email=sam@example.org"]
    done = subprocess.run(
        ["git", *who, *words], cwd=book, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def commit_all(book: Path) -> str:
    """Put the book into a repository whose first commit is older than its trials."""
    git(book, "init", "-q")
    git(book, "add", "notebooks", "locustfiles")
    git(book, "commit", "-q", "-m", "One", "--date=2020-01-01T00:00:00Z")
    return git(book, "rev-parse", "HEAD")


def say_commit(commit: str) -> Callable[[Page], None]:
    def change(page: Page) -> None:
        page["metadata"]["sizebook_run"]["commit"] = commit
        for cell in page["cells"]:
            for output in cell.get("outputs", []):
                output["metadata"]["sizebook"]["evidence"]["commit"] = commit

    return change


def test_commits_are_looked_up(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that holds the template is fine; none, or one with another template, is unknown."""
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2020-01-01T00:00:00Z")
    change_page(book, say_commit("a" * 40))
    assert "AU218" in found(audit(book), "note")  # no repository here
    commit = commit_all(book)
    change_page(book, say_commit(commit))
    report = audit(book)
    assert found(report) == set()
    assert "AU218" not in found(report, "note")
    for said in ("b" * 40, "certified", "b" * 40 + "+changes"):
        change_page(book, say_commit(said))
        report = audit(book)
        assert found(report) == {"AU217"}, said
        [one] = [one for one in report.findings if one.rule == "AU217-unknown-source"]
        assert "from an unknown source" in one.message
    template = book / "notebooks" / "10-tiny.ipynb"
    before = template.read_text()
    template.write_text(before.replace("Tiny (synthetic)", "Tiny"))
    git(book, "commit", "-q", "-a", "-m", "Two")
    template.write_text(before)
    change_page(book, say_commit(git(book, "rev-parse", "HEAD")))
    assert found(audit(book)) == {"AU217"}


def test_a_commit_that_stands_for_another_is_not_believed(
    book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``git replace`` lets a commit seem to hold any template; here it holds what it held."""
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2020-01-01T00:00:00Z")
    template = book / "notebooks" / "10-tiny.ipynb"
    before = template.read_text()
    template.write_text(before.replace("Tiny (synthetic)", "Tiny"))
    first = commit_all(book)
    template.write_text(before)
    git(book, "commit", "-q", "-a", "-m", "Two")
    git(book, "replace", first, git(book, "rev-parse", "HEAD"))
    change_page(book, say_commit(first))
    assert found(audit(book)) == {"AU217"}


def test_a_variable_leads_to_no_other_history(
    book: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a hook of another repository, git is asked about the book's own."""
    commit = commit_all(book)
    other = tmp_path / "other"
    other.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=other, check=True)
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    assert History(book).has(commit)


def test_a_history_that_begins_later_tells_nothing(book: Path) -> None:
    """A book put into a repository after it was measured cannot be looked up: a note."""
    commit_all(book)  # of today, by its committer
    change_page(book, say_commit("b" * 40))
    first = int(git(book, "log", "-1", "--format=%ct"))
    report = audit(book)
    later = first > 1_790_000_000 + 300
    assert ("AU218" in found(report, "note"), "AU217" in found(report)) == (later, not later)


def run_of(page: Page) -> dict[str, Any]:
    stamp: dict[str, Any] = page["metadata"]["sizebook_run"]
    return stamp


def other_harness(page: Page) -> None:
    run_of(page)["harness"] = "9.9"


def other_source(page: Page) -> None:
    everywhere(page, "certified laboratory")


def published_source(page: Page) -> None:
    everywhere(page, "published")


def everywhere(page: Page, source: str) -> None:
    run_of(page)["parameters"]["source"] = source
    for cell in page["cells"]:
        cell["source"] = "".join(cell["source"]).replace('"data/runs"', f'"{source}"')
        for output in cell.get("outputs", []):
            output["metadata"]["sizebook"]["evidence"]["parameters"]["source"] = source


def source_of_one_result(page: Page) -> None:
    evidence = result(page, "table")["metadata"]["sizebook"]["evidence"]
    evidence["parameters"] = copy.deepcopy(evidence["parameters"]) | {"source": "measure"}


def other_template(page: Page) -> None:
    run_of(page)["template"] = "11-other.ipynb"


def other_profile(page: Page) -> None:
    run_of(page)["parameters"]["profile"] = "full"
    for cell in page["cells"]:
        if cell["id"] == "injected-parameters":
            cell["source"] = "".join(cell["source"]).replace('"quick"', '"full"')


@pytest.mark.parametrize(
    "tamper",
    [other_harness, other_source, published_source, source_of_one_result, other_template,
     other_profile],
)  # fmt: skip
def test_what_a_page_says_of_its_origin_is_compared(
    book: Path, tamper: Callable[[Page], None]
) -> None:
    """Harness, source, template and profile are what evidence, files and trials say."""
    change_page(book, tamper)
    assert "AU219" in found(audit(book))
