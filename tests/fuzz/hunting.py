"""A hunt: a child process gives one parser damaged inputs, within bounds of time and memory.

The child notes each input before the parser gets it, so that one that hangs or ends the process is
known, too. What a parser raises beside what it documents is told with the input that did it.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CORPUS = Path(__file__).parent / "corpus"
"""Small real samples, a folder a parser; damaged ones once broke it."""
CPU_S = 10.0
"""CPU time that one input may take; the kernel ends the child that needs more."""
MEMORY_BYTES = 768 * 2**20
"""Address space that the child may take beyond what it has when it begins."""
_PATHS = (ROOT, ROOT / "tests" / "bundles")
_BEGIN = "current"
"""File with the input that the parser has just been given."""


@dataclass(frozen=True)
class Catch:
    """An input that a parser could not take, and what happened."""

    what: str
    where: str
    """The innermost line of the project that the error came through; equal ones are one fault."""
    data: bytes

    @property
    def name(self) -> str:
        """A name for a file: the same for the same input."""
        return f"found-{hashlib.sha256(self.data).hexdigest()[:12]}"


def hunt(parser: str, *, inputs: int = 0, seconds: float = 0.0, seed: int = 1) -> list[Catch]:
    """Return what a parser could not take, each fault once; so many inputs, or so long.

    The corpus comes first, whole samples, then damaged ones.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "tests.fuzz.hunting", parser, folder]
        command += [f"--inputs={inputs}", f"--seconds={seconds}", f"--seed={seed}"]
        paths = os.pathsep.join(map(str, _PATHS))
        environment = os.environ | {
            "PYTHONPATH": paths,
            "POLARS_MAX_THREADS": "1",
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )
        found = [
            Catch(one["what"], one["where"], base64.b64decode(one["data"]))
            for one in map(json.loads, done.stdout.splitlines())
        ]
        current = Path(folder) / _BEGIN
        if done.returncode and current.exists():
            ending = _ending(done.returncode, done.stderr)
            found.append(Catch(ending, "", current.read_bytes()))
        elif done.returncode:
            raise RuntimeError(f"the hunt did not begin: {done.stderr[-2000:]}")
    return list({(one.what.partition(":")[0], one.where): one for one in found}.values())


def _ending(code: int, stderr: str) -> str:
    if code == -signal.SIGPROF:
        return f"more than {CPU_S:g} s of CPU"
    return f"the process ended with {code}: {stderr[-400:]}"


def _hunt_here(parser: str, folder: Path, inputs: int, seconds: float, seed: int) -> None:
    """Write a line of JSON for each catch; the last input stays in a file if the process ends."""
    from tests.fuzz.mutation import mutate
    from tests.fuzz.parsers import PARSERS, samples

    corpus, one = samples(parser), PARSERS[parser]
    dice = random.Random(f"{parser} {seed}")
    one.takes(corpus[0], _fresh(folder))  # what is imported and made once is not the first input's
    _bound_memory()
    end = time.monotonic() + seconds if seconds else None
    number, told = 0, set()
    while number < inputs + len(corpus) if end is None else time.monotonic() < end:
        data = corpus[number] if number < len(corpus) else mutate(dice, corpus)
        number += 1
        work = _fresh(folder)
        (folder / _BEGIN).write_bytes(data)
        signal.setitimer(signal.ITIMER_PROF, CPU_S)
        try:
            one.takes(data, work)
        except BaseException as error:
            place = _place(error)
            if (type(error), place) not in told:
                told.add((type(error), place))
                catch = {"what": f"{type(error).__name__}: {str(error)[:300]}", "where": place}
                print(json.dumps(catch | {"data": base64.b64encode(data).decode()}), flush=True)
            if isinstance(error, KeyboardInterrupt):
                raise
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    (folder / _BEGIN).unlink(missing_ok=True)
    print(f"{number} inputs", file=sys.stderr)


def _fresh(folder: Path) -> Path:
    work = folder / "work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    return work


def _bound_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _place(error: BaseException) -> str:
    """Return the innermost line of the project that an error came through."""
    own = [frame for frame in traceback.extract_tb(error.__traceback__)
           if f"{os.sep}sizebook{os.sep}" in frame.filename]  # fmt: skip
    return f"{Path(own[-1].filename).name}:{own[-1].lineno}" if own else ""


def _main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("parser")
    options.add_argument("folder", type=Path)
    options.add_argument("--inputs", type=int, required=True)
    options.add_argument("--seconds", type=float, required=True)
    options.add_argument("--seed", type=int, required=True)
    given = options.parse_args()
    _hunt_here(given.parser, given.folder, given.inputs, given.seconds, given.seed)


if __name__ == "__main__":
    _main()
