"""Every parser of foreign input answers, or raises what it documents, whatever it is given.

Some thousand inputs in all, the same ones at each run. ``python -m tests.fuzz`` looks longer.
"""

from __future__ import annotations

import random
import time

import pytest
from tests.fuzz import hunting
from tests.fuzz.hunting import CORPUS, Catch, hunt
from tests.fuzz.mutation import MOST_BYTES, mutate
from tests.fuzz.parsers import PARSERS, Parser, samples

BUDGET = 1500
"""Inputs of a parser that is quick; a slow one gets a part of them, ``LEAST`` in any case."""
LEAST = 25
SMALL_BYTES = 12_000


@pytest.mark.parametrize("parser", PARSERS)
def test_a_parser_takes_what_it_is_given(parser: str) -> None:
    """No other error, no end of the process, within bounds of time and memory."""
    found = hunt(parser, inputs=max(LEAST, BUDGET // PARSERS[parser].cost))
    assert found == []


@pytest.mark.parametrize("parser", PARSERS)
def test_a_corpus_is_small_and_holds_good_samples(parser: str, tmp_path) -> None:
    """An input that is refused at its first byte would lead nowhere."""
    every = sorted((CORPUS / parser).iterdir())
    good = [path for path in every if not path.name.startswith("found-")]
    assert good
    for number, path in enumerate(every):
        assert path.stat().st_size < SMALL_BYTES
        (tmp_path / str(number)).mkdir()
        if path in good:
            PARSERS[parser].run(path.read_bytes(), tmp_path / str(number))


def test_every_corpus_has_a_parser() -> None:
    """And the command line names all of them."""
    assert sorted(path.name for path in CORPUS.iterdir()) == sorted(PARSERS)


def test_the_same_seed_damages_in_the_same_way() -> None:
    """Within the bound, and mostly into something else."""
    corpus = samples("round")
    one, other = random.Random(3), random.Random(3)
    made = [mutate(one, corpus) for _ in range(200)]
    assert made == [mutate(other, corpus) for _ in range(200)]
    assert max(map(len, made)) <= MOST_BYTES
    assert len({*made} - {*corpus}) > 150


def _raise(data: bytes, _) -> None:
    if b"7" in data:
        raise KeyError("7")


def _hang(data: bytes, _) -> None:
    while b"7" in data:
        time.process_time()


def _grow(data: bytes, _) -> None:
    if b"7" in data:
        bytearray(hunting.MEMORY_BYTES + 2**26)


@pytest.mark.parametrize(
    ("bad", "what"), [(_raise, "KeyError"), (_hang, "of CPU"), (_grow, "MemoryError")]
)
def test_a_hunt_finds_faults(monkeypatch, tmp_path, bad, what) -> None:
    """An error that is not documented, a hang, memory without bound: with the input that did it."""
    found = _hunted_in_a_fork(monkeypatch, tmp_path, bad)
    assert len(found) == 1
    assert what in found[0].what
    assert b"7" in found[0].data


def _hunted_in_a_fork(monkeypatch, tmp_path, bad) -> list[Catch]:
    """Hunt with a made-up parser, whose child is a copy of this process instead of a new one."""
    import contextlib
    import os
    import subprocess

    monkeypatch.setattr(hunting, "CPU_S", 1.0)
    monkeypatch.setitem(PARSERS, "made-up", Parser(bad))
    (tmp_path / "corpus" / "made-up").mkdir(parents=True)
    for number in range(9):
        (tmp_path / "corpus" / "made-up" / str(number)).write_text(f"number {number}")
    monkeypatch.setattr("tests.fuzz.parsers.CORPUS", tmp_path / "corpus")

    def run(command, **_):
        out = tmp_path / "out"
        if (pid := os.fork()) == 0:
            with out.open("w") as file, contextlib.redirect_stdout(file):
                hunting._hunt_here("made-up", hunting.Path(command[4]), 0, 0.0, 1)
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        return subprocess.CompletedProcess(command, code, out.read_text(), "")

    monkeypatch.setattr(hunting.subprocess, "run", run)
    return hunt("made-up")
