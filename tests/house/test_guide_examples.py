"""The examples for authors: each imports what it uses; those that state designs are executed."""

from __future__ import annotations

import ast
import builtins
import importlib
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from sizebook.lab import ChapterLab, PlanComplete, place, planning_only
from sizebook.model.load import ClosedLoop, LoadProfile
from sizebook.store import find_project

ROOT = Path(__file__).resolve().parents[2]
WRITTEN = re.findall(
    r"^```python\n(.*?)^```", (ROOT / "book" / "write.md").read_text(), re.DOTALL | re.MULTILINE
)
OF_LOADS = [each for each in WRITTEN if "from sizebook.load." in each]
"""Locustfiles: they bring Locust, which changes the threads of the process that imports it."""
EXAMPLES = [each for each in WRITTEN if each not in OF_LOADS]
GIVEN = {
    "lab", "here", "trials", "page", "profile", "source", "seed", "replicates", "users", "load",
    "text", "results", "frame", "bundle", "ratio", "atom", "padded", "plain",
}  # fmt: skip
"""What a reader has by then: the notebook's own parameters, lab, page, trials and frames."""
NEEDS_TRIALS = re.compile(r"\btrials\[|\bbundle\b|\bpage\.|\bsweeps\.|lab\.borrow")


@pytest.fixture
def given() -> dict[str, Any]:
    def load(users: int) -> LoadProfile:
        arrivals, phases = ClosedLoop(users=users), lab.profile.phases
        return LoadProfile(locustfile="odata_rest.py", arrivals=arrivals, phases=phases)

    lab = ChapterLab("odata-rest", profile="smoke", source="measure", seed=1,
                     project=find_project(ROOT))  # fmt: skip
    named = {"lab": lab, "here": place(), "seed": 1, "users": [1, 5], "text": "{}", "load": load}
    return {**named, "profile": "smoke", "source": "measure", "replicates": 0}


def names(tree: ast.AST, kind: type[ast.expr_context]) -> set[str]:
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, kind)}


@pytest.mark.parametrize("text", EXAMPLES)
def test_an_example_imports_what_it_uses(text):
    """Every name is imported there, made there, Python's, or one of those that a notebook has.

    What is imported is there, and so is what is asked of a module.
    """
    tree = ast.parse(text)
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    space: dict[str, Any] = {}
    exec(compile(ast.Module(list(imports), []), "imports", "exec"), space)
    made = names(tree, ast.Store) | {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    used = names(tree, ast.Load)
    assert used - made - set(space) - set(dir(builtins)) <= GIVEN
    assert set(space) - {"__builtins__"} <= used
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = space.get(node.value.id)
            if isinstance(module, ModuleType):
                assert hasattr(importlib.import_module(module.__name__), node.attr)


@pytest.mark.parametrize("text", [each for each in EXAMPLES if not NEEDS_TRIALS.search(each)])
def test_an_example_of_a_design_is_executed(text, given, monkeypatch):
    """Up to the point where it would measure; so its records are valid and its names are right."""
    monkeypatch.setenv("SIZEBOOK_ROOT", str(ROOT))
    monkeypatch.setenv("SHOP_PASSWORD", "x" * 12)
    with planning_only():
        for statement in ast.parse(text).body:
            try:
                exec(compile(ast.Module([statement], []), "example", "exec"), given)
            except PlanComplete as plan:
                assert plan.sessions
                return


@pytest.mark.parametrize("text", OF_LOADS)
def test_an_example_of_a_load_is_executed(text):
    """In a process of its own; it imports what it uses, and nothing else."""
    for command in (["-c", text], ["-m", "ruff", "check", "--isolated", "--select=F", "-"]):
        done = subprocess.run(
            [sys.executable, *command], input=text, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
