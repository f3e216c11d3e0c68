"""Two runs are compared as far as they may be: agreements, ratios, differences, refusals."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from compared_runs import ROUND, make_run, publish
from typer.testing import CliRunner

from sizebook.book.compared.comparing import compare_runs
from sizebook.book.compared.comparison import RunComparison
from sizebook.book.compared.pages import read_results, results_of_run
from sizebook.book.compared.sides import open_side
from sizebook.book.crate.export import export_crate
from sizebook.cli.main import app
from sizebook.model.errors import BundleError, UserError
from sizebook.store import Project

RUNNER = CliRunner()
Make = Callable[..., Path]


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a run, which tests do not change."""
    return make_run(tmp_path_factory.mktemp("runs") / "first")


@pytest.fixture(scope="module")
def again(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the same run measured again: other trials, the same truth."""
    return make_run(tmp_path_factory.mktemp("runs") / "again", offset_ns=7_000, day="2026-04-01")


@pytest.fixture(scope="module")
def slower(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a run in which JSON takes three times as long and all work half as much again."""
    return make_run(
        tmp_path_factory.mktemp("runs") / "slower",
        slow={"json": 3.0},
        processor=1.5,
    )


def compared(a: Path, b: Path, tmp_path: Path, **options: Any) -> RunComparison:
    """Compare two projects' folders; the result is also good JSON of its own schema."""
    places = [tmp_path / "unpacked-a", tmp_path / "unpacked-b"]
    sides = [open_side(str(path), None, place) for path, place in zip((a, b), places, strict=True)]
    found = compare_runs(*sides, **options)
    assert RunComparison.model_validate_json(found.model_dump_json()) == found
    return found


def ask(root: Path, *words: str) -> tuple[int, str, str]:
    """Run ``sizebook compare`` in a project; return exit code and what it printed."""
    done = RUNNER.invoke(
        app, ["compare", *words], env={"SIZEBOOK_ROOT": str(root)}, catch_exceptions=False
    )
    return done.exit_code, done.stdout, done.stderr


def change_page(run: Path, target: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """Copy a run and change its page, which is given as JSON."""
    shutil.copytree(run, target)
    page = target / "book" / "chapters" / "tiny.ipynb"
    content = json.loads(page.read_text())
    change(content)
    page.write_text(json.dumps(content))
    return target


def is_claim(output: dict[str, Any]) -> bool:
    return bool(output.get("metadata", {}).get("sizebook", {}).get("kind") == "claim")


def records(page: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    outputs = [out for cell in page["cells"] for out in cell.get("outputs", [])]
    found = [out.get("metadata", {}).get("sizebook") for out in outputs]
    return [one for one in found if one and one["kind"] == kind]


def test_a_run_measured_again_agrees_within_the_tolerance_of_its_host(first, again, tmp_path):
    """One claim agrees; every ratio is within 5 %, its interval holds the ratio of the means."""
    found = compared(first, again, tmp_path)
    (pair,) = found.chapters
    assert (pair.chapter, pair.closeness, pair.tolerance) == ("tiny", "same host", 1.05)
    assert not pair.same_trials
    (claim,) = found.claims
    assert (claim.claim_id, claim.agreement, claim.why) == (
        "own-json-faster", "agree", "both confirmed",
    )  # fmt: skip
    assert {each.kind for each in found.metrics} == {
        "treatment ratio", "processor time", "absolute"
    }  # fmt: skip
    assert {each.judged for each in found.metrics} == {"within"}
    for each in found.metrics:
        assert each.a.n == each.b.n == each.ratio.n == 3
        assert each.ratio.low <= each.ratio.estimate <= each.ratio.high
        assert each.method
    assert (found.refused, found.beyond) == ((), False)
    assert found.a.dates == ("2026-03-04", "2026-03-04")
    assert (found.a.trials, found.a.missing, len(found.a.machines)) == (6, 0, 1)


def test_a_run_beside_itself_has_ratios_of_one(first, tmp_path):
    """Nothing differs, every ratio is 1."""
    found = compared(first, first, tmp_path)
    assert found.differences == ()
    assert [pair.same_trials for pair in found.chapters] == [True]
    assert all(each.ratio.estimate == pytest.approx(1.0) for each in found.metrics)


def test_what_transfers_comes_first_and_ratios_are_b_over_a(first, slower, tmp_path):
    """Three times the service time is a third of the throughput; half as much work again is 1.5."""
    found = compared(first, slower, tmp_path)
    kinds = [each.kind for each in found.metrics]
    order = ("treatment ratio", "processor time", "absolute")
    assert kinds == sorted(kinds, key=order.index)
    ratios = {(each.metric, each.treatment): each for each in found.metrics}
    work = ratios["CPU per request, app", "format json"]
    assert work.ratio.estimate == pytest.approx(1.5, rel=1e-3)
    assert (work.judged, work.unit) == ("beyond", "ms")
    assert work.a.estimate == pytest.approx(1.25 * 1.002, rel=1e-3)
    rate = ratios["Throughput", "format json"]
    assert rate.ratio.estimate == pytest.approx(1 / 3, rel=0.02)
    median = ratios["Latency, median", "format json"]
    assert median.ratio.estimate == pytest.approx(3.0, rel=0.02)
    assert ratios["Throughput", "format atom"].judged == "within"
    (treatments,) = (each for each in found.metrics if each.kind == "treatment ratio")
    assert treatments.claim_id == "own-json-faster"
    assert treatments.ratio.estimate == pytest.approx(1 / 3, rel=0.02)
    assert found.beyond


def test_opposite_verdicts_differ_and_say_why(first, slower, tmp_path):
    """JSON is now the slower one: confirmed there, contradicted here."""
    (claim,) = compared(first, slower, tmp_path).claims
    assert (claim.a.verdict, claim.b.verdict, claim.agreement) == (
        "confirmed", "contradicted", "differ",
    )  # fmt: skip
    assert claim.a.effect.estimate == pytest.approx(2.5, rel=0.02)
    assert claim.why.startswith("A: the interval") and "; B: the interval" in claim.why


def test_differences_are_said_in_words(first, tmp_path):
    """JVM and stack build, each with what it means; what was valid then is still compared."""
    rebuilt = make_run(tmp_path / "rebuilt", prints={"stack": "5" * 64, "jvm": "Other 99"})
    said = compared(first, rebuilt, tmp_path)
    assert {each.kind for each in said.metrics} == {"processor time", "absolute"}
    found = {each.what: each for each in said.differences}
    assert (found["JVM"].b, found["stack build"].b) == ("Other 99", "5" * 12)
    assert all(each.meaning and each.a != each.b for each in found.values())
    assert "processor" not in found


@pytest.mark.parametrize(
    ("machine", "closeness", "tolerance"),
    [
        ({"kernel": "other", "system": "Other"}, "same class", 1.1),
        ({"cpu_model": "Another processor"}, "other class", None),
    ],
)
def test_how_close_machines_are_decides_what_is_judged(
    first, tmp_path, machine, closeness, tolerance
):
    """10 % for hardware of one class; across classes claims alone."""
    other = make_run(tmp_path / "other", offset_ns=9_000, machine=machine)
    found = compared(first, other, tmp_path)
    assert (found.chapters[0].closeness, found.chapters[0].tolerance) == (closeness, tolerance)
    assert found.claims[0].agreement == "agree"
    judged = {each.judged for each in found.metrics}
    assert judged == ({"within"} if tolerance else {"not judged"})
    assert {"kernel", "system", "processor"} & {each.what for each in found.differences} == {
        {"cpu_model": "processor"}.get(name, name) for name in machine
    }
    wished = compared(first, other, tmp_path, tolerance=1.2)
    assert {each.judged for each in wished.metrics} == {"within"}


def test_smoke_is_not_compared(first, tmp_path):
    """It proves that it works; the refusal says what to run instead."""
    smoke = make_run(tmp_path / "smoke", profile="smoke")
    found = compared(first, smoke, tmp_path)
    assert (found.chapters, found.claims, found.metrics) == ((), (), ())
    (refusal,) = found.refused
    assert "smoke has it in the smoke profile" in refusal.found
    assert refusal.next_step == "sizebook run tiny --profile quick"
    code, out, _ = ask(first, str(first), str(smoke))
    assert (code, "Nothing could be compared" in out) == (2, True)


def test_another_version_is_refused_unless_claims_tested_alike_are_asked_for(first, tmp_path):
    """Code counts and prose does not."""

    def other_prose(page: dict[str, Any]) -> None:
        page["cells"][0]["source"] = "# Tiny, in other words"

    def other_code(page: dict[str, Any]) -> None:
        page["cells"][3]["source"] = "pass"

    reworded = change_page(first, tmp_path / "reworded", other_prose)
    assert compared(first, reworded, tmp_path).refused == ()
    recoded = change_page(first, tmp_path / "recoded", other_code)
    found = compared(first, recoded, tmp_path)
    assert [each.found.partition(":")[0] for each in found.refused] == [
        "two versions of the chapter"
    ]
    assert [
        each.agreement for each in compared(first, recoded, tmp_path, versions=True).claims
    ] == ["agree"]


def test_other_treatments_are_refused_with_the_parameters_that_differ(first, tmp_path):
    """Neither a claim nor a trial of the same treatments."""
    other = make_run(tmp_path / "other", change=lambda text: text.replace("seed = 1 ", "seed = 2 "))
    page = other / "book" / "chapters" / "tiny.ipynb"
    page.write_text(page.read_text().replace('\\"json\\"', '\\"xml\\"').replace('"json"', '"xml"'))
    shutil.rmtree(other / "data" / "runs")
    found = compared(first, other, tmp_path, versions=True)
    (refusal,) = found.refused
    assert refusal.found.startswith("other treatment levels in A than in B (seed 1 and 2")


def test_claims_on_one_side_alone_are_listed(first, tmp_path):
    """A claim that one run lacks is in the list, and why it decides nothing."""

    def without(page: dict[str, Any]) -> None:
        for cell in page["cells"]:
            kept = [out for out in cell.get("outputs", []) if not is_claim(out)]
            cell["outputs"] = kept

    less = change_page(first, tmp_path / "less", without)
    (claim,) = compared(first, less, tmp_path).claims
    assert (claim.agreement, claim.b) == ("only in A", None)
    (claim,) = compared(less, first, tmp_path).claims
    assert (claim.agreement, claim.a) == ("only in B", None)
    code, out, _ = ask(first, str(first), str(less))
    assert (code, "1 only in A" in out) == (0, True)


def test_an_undetermined_claim_is_open_and_says_whose(first, tmp_path):
    """Neither agreement nor contradiction."""

    def unsure(page: dict[str, Any]) -> None:
        (claim,) = records(page, "claim")
        claim["claim"] |= {"verdict": "undetermined", "reason": "too few"}

    other = change_page(first, tmp_path / "other", unsure)
    (claim,) = compared(first, other, tmp_path).claims
    assert (claim.agreement, claim.why) == ("open", "B is undetermined: too few")


def test_without_trials_the_pages_alone_are_compared(first, tmp_path):
    """A folder of notebooks: claims with their ratios, no tolerance, and what is missing said."""
    notebooks = Path(shutil.copytree(first / "book" / "chapters", tmp_path / "notebooks"))
    found = compared(first, notebooks, tmp_path)
    assert found.chapters[0].closeness == "unknown"
    assert {each.kind for each in found.metrics} == {"treatment ratio"}
    assert {each.judged for each in found.metrics} == {"not judged"}
    assert "the trials of notebooks are not at hand" in found.refused[0].found
    assert (found.b.trials, found.b.missing) == (0, 6)


def test_samples_of_another_capture_version_are_not_compared(first, tmp_path):
    """Claims are, since each run's ratio was taken in one way."""
    other = make_run(tmp_path / "other", prints={"capture_version": 1})
    found = compared(first, other, tmp_path)
    assert {each.kind for each in found.metrics} <= {"treatment ratio"}
    assert "capture versions 3 and 1" in found.refused[0].found


def test_a_crate_is_compared_as_it_was_sent(first, again, tmp_path):
    """Folder and archive give the same, and so does a slim one."""
    expected = compared(first, again, tmp_path / "x")
    for name, slim in (("run", False), ("run.zip", False), ("slim.zip", True)):
        crate = export_crate(again, tmp_path / name, slim=slim).path
        (tmp_path / f"u-{name}").mkdir()
        side = open_side(str(crate), None, tmp_path / f"u-{name}")
        found = compare_runs(open_side(str(first), None, tmp_path), side)
        assert found.metrics == expected.metrics
        assert found.claims == expected.claims


def test_own_beside_published_by_name_and_by_date(first, again, tmp_path):
    """Without words: the newest round and the own run."""
    project = Path(shutil.copytree(again, tmp_path / "project"))
    publish(first, project, "2025-01-01")
    publish(first, project)
    for words in ((), ("published", "own"), (ROUND, "own"), ("2025-01-01", "own")):
        code, out, _ = ask(project, *words, "--json")
        said = RunComparison.model_validate_json(out)
        assert (code, said.b.name) == (0, "own run")
        assert said.a.name == f"round {words[0] if words and words[0] != 'published' else ROUND}"
        assert said.claims[0].agreement == "agree"


def test_the_command_prints_what_differs_before_what_was_found(first, slower):
    """Tables for people; --check turns a difference into exit code 1."""
    code, out, _ = ask(first, str(first), str(slower))
    assert code == 0
    places = [out.index(words) for words in ("A: first", "same host: the same within 5 %",
                                            "Nothing differs in machine", "Claims: 1 differ",
                                            "Ratios of treatments", "Processor time per request",
                                            "Throughput and latency")]  # fmt: skip
    assert places == sorted(places)
    assert ask(first, str(first), str(slower), "--check")[0] == 1
    assert ask(first, str(first), str(first), "--check")[0] == 0


def test_the_schema_is_that_of_the_json(first):
    """Printed for programs, strict: no other field may stand there."""
    code, out, _ = ask(first, "--schema")
    schema = json.loads(out)
    assert (code, schema["additionalProperties"]) == (0, False)
    assert set(schema["required"]) <= set(schema["properties"])


@pytest.mark.parametrize(
    "words",
    [["own", "nowhere"], ["published", "own"], ["own", "own", "--tolerance", "7"],
     ["own", "own", "--chapter", "other"]],
)  # fmt: skip
def test_what_cannot_be_opened_is_refused_in_one_line(first, words):
    """Exit code 2 and found, expected, next; no traceback."""
    code, out, err = ask(first, *words)
    assert code == 2
    assert "next: " in err or "sizebook chapters" in out


def rename_chapter(page: dict[str, Any]) -> None:
    records(page, "claim")[0]["evidence"]["chapter"] = "other"


def outside_interval(page: dict[str, Any]) -> None:
    records(page, "claim")[0]["claim"]["effect"] = 99.0


def infinite(page: dict[str, Any]) -> None:
    records(page, "claim")[0]["claim"]["comparisons"][0]["high"] = float("inf")


def text_for_number(page: dict[str, Any]) -> None:
    records(page, "claim")[0]["claim"]["effect"] = "much"


def other_field(page: dict[str, Any]) -> None:
    records(page, "claim")[0]["claim"]["__class__"] = "x"


def two_checksums(page: dict[str, Any]) -> None:
    records(page, "claim")[0]["evidence"]["sources"][0]["sha256"] = "f" * 64


def no_parameters(page: dict[str, Any]) -> None:
    page["metadata"]["sizebook_run"]["parameters"] = ["profile"]


@pytest.mark.parametrize(
    "change",
    [rename_chapter, outside_interval, infinite, text_for_number, other_field, two_checksums,
     no_parameters],
)  # fmt: skip
def test_a_page_that_contradicts_itself_is_refused(first, tmp_path, change):
    """Whoever wrote it: one line says what is wrong."""
    broken = change_page(first, tmp_path / "broken", change)
    with pytest.raises(UserError, match=r"tiny\.ipynb with"):
        results_of_run(broken / "book" / "chapters")


def test_what_is_no_notebook_is_refused_and_links_are_not_followed(first, tmp_path):
    """Deep JSON, other JSON, a pipe, a link: refused or not seen, never waited for."""
    import os

    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "link.ipynb").symlink_to(first / "book" / "chapters" / "tiny.ipynb")
    os.mkfifo(pages / "pipe.ipynb")
    assert results_of_run(pages) == {}
    for content in ("[" * 100_000, "{}", '{"cells": [], "metadata": 3}', "\x00"):
        (pages / "bad.ipynb").write_text(content)
        with pytest.raises(UserError, match=r"bad\.ipynb with"):
            read_results(pages / "bad.ipynb")


def test_text_from_pages_steers_no_terminal(first, tmp_path):
    """A verdict's reason may hold anything; what is printed shows it as escapes."""

    def steer(page: dict[str, Any]) -> None:
        records(page, "claim")[0]["claim"] |= {"verdict": "undetermined", "reason": "\x1b[2Jgone"}

    other = change_page(first, tmp_path / "other", steer)
    code, out, _ = ask(first, str(first), str(other))
    assert (code, "\x1b" in out, "\\x1b[2Jgone" in out) == (0, False, True)


def test_a_damaged_trial_and_an_archive_that_is_none_are_refused(first, tmp_path):
    """Checksums hold or nothing is compared."""
    broken = Path(shutil.copytree(first, tmp_path / "broken"))
    table = broken / "data" / "runs" / "tiny" / "json-0" / "counters.parquet"
    table.write_bytes(table.read_bytes()[:-4] + b"PAR2")
    with pytest.raises(BundleError, match="checksum"):
        compared(first, broken, tmp_path)
    archive = tmp_path / "x.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("../out.ipynb", "{}")
    cut, text = tmp_path / "cut.zip", tmp_path / "text.zip"
    cut.write_bytes(archive.read_bytes()[:-9])
    text.write_text("hello")
    for sent, words in (
        (archive, "no item named 'ro-crate-metadata.json'"),
        (cut, "not a zip file"),
        (text, "no archive of a run"),
    ):
        code, _, err = ask(first, "own", str(sent))
        assert code == 2
        assert words in err.lower()
        assert sent.name in err


def test_the_own_run_needs_a_project(tmp_path):
    """Elsewhere 'own' means nothing, and the message says so."""
    with pytest.raises(UserError, match="outside of a project"):
        open_side("own", None, tmp_path)
    with pytest.raises(UserError, match="no executed chapter here"):
        open_side("own", Project(tmp_path), tmp_path)
