"""Sample mutants of a folder and run its tests on each: ``python -m tests.mutants stats gclog``.

Cosmic Ray makes the mutants, in a copy of the project. What it tells: how many of those sampled the
tests noticed (killed), and each that they did not (survived) as a diff. A survivor is a test that
is missing, or a change that changes nothing. The same seed samples the same mutants.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.own_environment import install
from tests.working_copy import copy_project

AREAS = ("checks", "gclog", "load", "stats", "store")
"""Folders of ``src/sizebook`` and of ``tests``."""
NOTICED = ("killed", "incompetent")
"""Outcomes of a mutant that the tests noticed: one failed, or the code no longer ran."""
LONGEST_S = 300.0
"""That the tests may take on one mutant; one that hangs them is noticed."""


def main() -> int:
    """Tell of each area; 1 if less than ``--least`` of an area's mutants were killed."""
    options = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    options.add_argument("areas", nargs="*", metavar="AREA", help=", ".join(AREAS))
    options.add_argument("--number", type=int, default=40, help="of mutants, for each area")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--least", type=float, default=0.85, help="share to be killed")
    options.add_argument("--keep", type=Path, default=Path("_build/mutants"), help="a folder")
    given = options.parse_args()
    if strange := set(given.areas) - set(AREAS):
        options.error(f"no area {', '.join(sorted(strange))}; there are {', '.join(AREAS)}")
    given.keep.mkdir(parents=True, exist_ok=True)
    few = False
    for area in given.areas or AREAS:
        found = sample(area, given.number, given.seed)
        (given.keep / f"{area}.json").write_text(json.dumps(found, indent=1) + "\n")
        counts = Counter(one["outcome"] for one in found)
        killed = sum(counts[outcome] for outcome in NOTICED)
        print(f"{area}: {killed} of {len(found)} mutants killed", flush=True)
        for one in found:
            if one["outcome"] not in NOTICED:
                print(f"  {one['outcome']} in {one['module']}:{one['line']}\n{one['diff']}")
        few |= killed < given.least * len(found)
    return int(few)


def sample(area: str, number: int, seed: int) -> list[dict[str, str | int]]:
    """Return the mutants that were tried: ``module``, ``line``, ``outcome``, ``diff``.

    Raises CalledProcessError where the tests fail without any change: all would seem noticed.
    """
    python = install("mutants")
    with tempfile.TemporaryDirectory(prefix="sizebook-mutants-") as folder:
        copy = Path(folder) / "project"
        copy_project(copy)
        paths = os.pathsep.join((str(copy / "src"), str(copy)))
        environment = {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
        tests = [sys.executable, "-m", "pytest", "-x", "-p", "no:cacheprovider", f"tests/{area}"]
        subprocess.run(tests, cwd=copy, env=environment, stdout=subprocess.DEVNULL, check=True)
        settings = {
            "module-path": f"src/sizebook/{area}",
            "timeout": LONGEST_S,
            "excluded-modules": [],
            "test-command": shlex.join(tests),
            "distributor": {"name": "local"},
        }
        script = Path(__file__).with_name("session.py")
        command = [python, script, json.dumps(settings), str(number), str(seed)]
        done = subprocess.run(
            command, cwd=copy, env=environment, stdout=subprocess.PIPE, text=True, check=True
        )
    found: list[dict[str, str | int]] = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    sys.exit(main())
