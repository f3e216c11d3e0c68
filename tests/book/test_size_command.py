"""``sizebook size`` answers as the page does, and says in one line what it lacks."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from sample_book import PROJECT, executed_notebook, make_sample_book
from test_calculator import MODEL

from sizebook.report import calculator
from sizebook.report.calculator_words import LABELS, answer
from sizebook.stats.sizing import Demanded


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
    ],
)
def test_half_a_question_is_one_line(root: Path, arguments: tuple[str, ...]) -> None:
    """What is found, what is expected, what to type instead."""
    done = ask(root, *arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 1
    assert "sizebook size --users 300" in done.stderr


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
