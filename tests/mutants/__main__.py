"""Sample mutants of a folder and run its tests on each: ``python -m tests.mutants stats gclog``.

Cosmic Ray makes the mutants, in a copy of the project. Each is given first to the tests that import
its module, then to the folder's others, until one fails. What it tells: how many of those sampled
the tests noticed (killed), and each that they did not (survived) as a diff. A survivor is a test
that is missing, or a change that changes nothing. The same seed samples the same mutants.

``--near`` leaves the others out: some minutes instead of an hour, and at most as many are killed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.own_environment import install
from tests.working_copy import copy_project

AREAS = ("checks", "gclog", "load", "stats", "store")
"""Folders of ``src/sizebook`` and of ``tests``."""
NOTICED = ("killed", "hung", "incompetent")
"""Outcomes of a mutant that the tests noticed: one failed, or hung, or the code no longer ran."""
Found = dict[str, Any]


def main() -> int:
    """Tell of each area; 1 if less than ``--least`` of an area's mutants were killed."""
    options = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    options.add_argument("areas", nargs="*", metavar="AREA", help=", ".join(AREAS))
    options.add_argument("--number", type=int, default=40, help="of mutants, for each area")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--near", action="store_true", help="only tests that import the module")
    options.add_argument("--only", nargs="*", default=(), metavar="MODULE.py:LINE",
                         help="all mutants of these lines, not a sample")  # fmt: skip
    options.add_argument("--least", type=float, default=0.85, help="share to be killed")
    options.add_argument("--keep", type=Path, default=Path("_build/mutants"), help="a folder")
    given = options.parse_args()
    if strange := set(given.areas) - set(AREAS):
        options.error(f"no area {', '.join(sorted(strange))}; there are {', '.join(AREAS)}")
    given.keep.mkdir(parents=True, exist_ok=True)
    few = False
    for area in given.areas or AREAS:
        found = []
        for one in try_mutants(area, given.number, given.seed, given.only, near=given.near):
            found.append(one)
            print(f"{area}/{one['module']}:{one['line']} {one['outcome']}", flush=True)
            if one["outcome"] not in NOTICED:
                print(one["diff"], flush=True)
        (given.keep / f"{area}.json").write_text(json.dumps(found, indent=1) + "\n")
        counts = Counter(one["outcome"] for one in found)
        killed = sum(counts[outcome] for outcome in NOTICED)
        hung = f", {counts['hung']} of them hung" if counts["hung"] else ""
        print(f"{area}: {killed} of {len(found)} mutants killed{hung}", flush=True)
        few |= killed < given.least * len(found)
    return int(few)


def try_mutants(
    area: str, number: int, seed: int, only: Sequence[str] = (), *, near: bool = False
) -> Iterator[Found]:
    """Yield each mutant that was tried: ``module``, ``line``, ``outcome``, ``diff``.

    Raises CalledProcessError where the tests fail without any change: all would seem noticed.
    """
    python = install("mutants")
    with tempfile.TemporaryDirectory(prefix="sizebook-mutants-") as folder:
        copy = Path(folder) / "project"
        copy_project(copy)
        paths = os.pathsep.join((str(copy / "src"), str(copy)))
        environment = {
            **os.environ,
            "PYTHONPATH": paths,
            "PYTHONDONTWRITEBYTECODE": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "POLARS_MAX_THREADS": "1",
        }
        modules = copy / "src" / "sizebook" / area
        tests = {path.name: order_tests(copy, area, path.stem, near=near)
                 for path in sorted(modules.glob("*.py"))}  # fmt: skip
        settings = {
            "module_path": str(modules.relative_to(copy)),
            "number": number,
            "seed": seed,
            "only": [*only],
            "python": sys.executable,
            "tests": tests,
        }
        command = [str(python), str(Path(__file__).with_name("session.py")), json.dumps(settings)]
        with subprocess.Popen(
            command, cwd=copy, env=environment, stdout=subprocess.PIPE, text=True
        ) as session:
            assert session.stdout is not None
            yield from map(json.loads, session.stdout)
        if session.returncode:
            raise subprocess.CalledProcessError(session.returncode, command[:2])


def order_tests(root: Path, area: str, module: str, *, near: bool) -> list[str]:
    """Return the modules of tests of an area, those that import a module, or are named so, first.

    ``near``: these alone; a module that none imports by its name gets all of them.
    """
    every = sorted((root / "tests" / area).glob("test_*.py"))
    name = "" if module == "__init__" else rf"[. ]{module}"
    imports = re.compile(
        rf"^(from|import) sizebook\.{area}{name}\b|^from sizebook\.{area} import .*\b{module}\b",
        re.MULTILINE,
    )
    first = [path for path in every
             if path.stem == f"test_{module}" or imports.search(path.read_text())]  # fmt: skip
    first.sort(key=lambda path: path.stem != f"test_{module}")
    others = [path for path in every if path not in first]
    chosen = first if near and first else [*first, *others]
    return [path.relative_to(root).as_posix() for path in chosen]


if __name__ == "__main__":
    sys.exit(main())
