"""``sizebook size`` answers as the page does, and says in one line what it lacks."""

from __future__ import annotations

import datetime
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from sample_book import PROJECT, executed_notebook, make_sample_book
from test_calculator import MODEL

from sizebook.model.memory import NATIVE_MIB
from sizebook.report import calculator
from sizebook.report.calculator_words import LABELS, answer
from sizebook.report.candidate_words import candidate_rows, usual_sizes
from sizebook.stats.sizing import Demanded, Offer

OFFER = Offer(usual_sizes(MODEL), beside_heap_mib=NATIVE_MIB)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder of a project whose sizing chapter was run."""
    root = make_sample_book(tmp_path_factory.mktemp("size"))
    (root / "notebooks").mkdir()
    with executed_notebook(root, "sizing", "Sizing (synthetic)") as (page, cell):
        asked = calculator.questions(MODEL, (0.5,))
        cell(lambda: calculator.publish(page, MODEL, asked, "calculator", "It.", trials=[]))
    return root


def ask(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "sizebook.cli", "size", *arguments],
        cwd=root,
        env={**os.environ, "SIZEBOOK_ROOT": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_it_answers_in_words_and_as_json(root: Path) -> None:
    """Each part in a line; as JSON the numbers, the question and what is outside."""
    done = ask(root, "--users", "150", "--think", "1", "--criterion", "mean:50")
    expected = answer(MODEL, Demanded("mean", 0.05, users=150.0, think_s=1.0))
    assert done.returncode == 0, done.stderr
    for key, words in expected.parts.items():
        assert f"{LABELS[key]:17}  {words}" in done.stdout
    rows = candidate_rows(MODEL, Demanded("mean", 0.05, users=150.0, think_s=1.0), OFFER)
    assert all(row["verdict"] in done.stdout for row in rows)
    done = ask(root, "--rate", "4000", "--criterion", "p95:500", "--spare", "--json")
    found = json.loads(done.stdout)
    assert found["answer"]["cores"] is None
    assert found["asked"]["spare_nodes"] == 1
    assert len(found["outside"]) == len(found["answer"]["outside"]) > 0


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--users", "10", "--rate", "10"),
        ("--users", "10", "--criterion", "p99:5"),
        ("--users", "10", "--criterion", "mean"),
        ("--users", "-1"),
        ("--users", "10", "--failures", "-1"),
        ("--users", "10", "--growth", "20"),
        ("--users", "10", "--by", "18"),
        ("--users", "10", "--growth", "20", "--by", "2020-01-01"),
        ("--users", "10", "--headroom", "-1"),
        ("--users", "10", "--utilization", "100"),
        ("--users", "10", "--smt-factor", "0"),
        ("--users", "10", "--sizes", "1,many"),
        ("--users", "10", "--memory", "0"),
        ("--users", "10", "--price-cpu", "-1"),
        ("--users", "10", "--growth", "1e300", "--by", "1e300"),
        ("--rate", "10", "--from", "access.log"),
    ],
)
def test_half_a_question_is_one_line(root: Path, arguments: tuple[str, ...]) -> None:
    """What is found, what is expected, what to type instead."""
    done = ask(root, *arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 1
    assert "sizebook size --users 300" in done.stderr


def test_what_no_model_knows_is_refused_by_name(root: Path) -> None:
    """Other percentiles, errors and kinds of requests: said before anything is answered."""
    for arguments, words in (
        (("--criterion", "p99:500"), "the model knows no other percentile"),
        (("--criterion", "errors:1"), "no share of errors"),
        (("--mix", "browse=3,order=1"), "knows no kinds"),
    ):
        done = ask(root, "--users", "10", *arguments)
        assert (done.returncode, done.stdout) == (1, "")
        assert words in done.stderr


def test_growth_and_reserves_are_printed_and_counted(root: Path) -> None:
    """The load to size for, and the same answer as for that load today."""
    reserves = ("--utilization", "70", "--smt-factor", "0.5", "--failures", "1")
    grown = ask(
        root, "--users", "60", "--growth", "20", "--by", "24", "--headroom", "10", *reserves
    )
    first, *rest = grown.stdout.splitlines()
    assert "95 users: 60 today, growing 20 % a year for 24 months, plus 10 % headroom" in first
    assert rest == ask(root, "--users", "95.04", *reserves).stdout.splitlines()
    assert "ceiling 70 %" in grown.stdout
    assert "0.50 of a CPU of the measured machine" in grown.stdout
    assert "2, of which 1 may fail" in grown.stdout
    date = datetime.datetime.now(datetime.UTC).date() + datetime.timedelta(days=731)
    by_date = ask(root, "--users", "100", "--growth", "20", "--by", date.isoformat(), "--json")
    assert json.loads(by_date.stdout)["sized_for"] == pytest.approx(144, rel=2e-3)


def test_candidates_and_curve_are_printed(root: Path) -> None:
    """Best first by price; the curve as a table; JSON has both, and no word but JSON's own."""
    bought = ("--sizes", "0.25,0.5,1", "--memory", "1", "--price-cpu", "10", "--price-node", "1")
    done = ask(root, "--rate", "90", *bought, "--curve")
    assert done.returncode == 0, done.stderr
    assert "Response over load (mean)" in done.stdout
    assert "cannot be carried" in done.stdout
    found = json.loads(ask(root, "--rate", "90", *bought, "--json").stdout)
    prices = [each["price"] for each in found["candidates"] if each["rejected"] is None]
    assert prices == sorted(prices) == [6.0, 7.0, 11.0]
    assert found["curve"]["points"][-1]["seconds"] is None


def test_a_logs_busiest_hours_are_sized_for(root: Path, tmp_path: Path) -> None:
    """The rate, the hours and the mix are said; the answer is that for the rate."""
    log = tmp_path / "access.log"
    stamps = [f"{9 + hour:02}:00:{second:02}" for hour in range(4) for second in range(15 * hour)]
    log.write_text(
        "".join(f'::1 - - [02/Nov/2026:{at} +0000] "GET /a HTTP/1.1" 200 1\n' for at in stamps)
    )
    done = ask(root, "--from", str(log), "--percentile", "50")
    assert done.returncode == 0, done.stderr
    assert "Size for 0.50 requests a second" in done.stdout
    assert "2026-11-02 12:00 UTC 0.75/s, 2026-11-02 11:00 UTC 0.50/s" in done.stdout
    assert "Mix: /a 100.0%" in done.stdout
    assert done.stdout.endswith(ask(root, "--rate", "0.5").stdout)
    usage = json.loads(ask(root, "--from", str(log), "--json").stdout)["usage"]
    assert (usage["rate_per_s"], usage["hours"]) == (0.75, 3)
    assert "a percentile above 0" in ask(root, "--from", str(log), "--percentile", "0").stderr


def test_settings_of_the_best_candidate_are_emitted(root: Path) -> None:
    """Nothing else is printed: a file, a patch, or JSON; without a candidate it says so."""
    asked = ("--users", "150", "--failures", "1", "--sizes", "0.9", "--emit")
    arguments = ask(root, *asked, "jvm").stdout
    patch = yaml.safe_load(ask(root, *asked, "kubernetes").stdout)
    found = json.loads(ask(root, *asked, "json").stdout)
    assert f"-Xmx{found['heap_mib']}m" in arguments.splitlines()
    assert patch["spec"]["replicas"] == found["nodes"] == 2
    refused = ask(root, "--users", "5000", "--emit", "jvm")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "no candidate that fits" in refused.stderr


def test_without_a_model_it_says_what_makes_one(tmp_path: Path) -> None:
    """A project in which the chapter was not run, or published no calculator."""
    root = make_sample_book(tmp_path)
    (root / "notebooks").mkdir()
    done = ask(root, "--users", "10")
    assert done.returncode == 1
    assert "run a chapter that has one" in done.stderr
    shutil.copy(PROJECT / "notebooks" / "45-sizing.ipynb", root / "notebooks")
    assert "sizebook run sizing" in ask(root, "--users", "10").stderr
    with executed_notebook(root, "sizing", "Sizing (synthetic)") as (page, cell):
        cell(lambda: page.value("hold-out-error", 0.1))
    assert "sizebook run sizing" in ask(root, "--users", "10").stderr


def test_of_several_calculators_one_is_named(root: Path, tmp_path: Path) -> None:
    """A book may have a model of each of its systems."""
    both = Path(shutil.copytree(root, tmp_path / "both"))
    page = both / "book" / "chapters" / "sizing.ipynb"
    shutil.copy(page, page.with_name("other.ipynb"))
    done = ask(both, "--users", "10")
    assert (done.returncode, "the calculators of other, sizing" in done.stderr) == (1, True)
    one = ask(both, "--users", "10", "--chapter", "other")
    assert one.stdout == ask(root, "--users", "10").stdout != ""
    assert "no calculator in third" in ask(both, "--users", "10", "--chapter", "third").stderr
