"""Which young collection started one of G1's cycles, whatever comes in between."""

from __future__ import annotations

import pytest

from sizebook.gclog import read_gc_log

USING = "[0.010s][1000000ns][info][gc] Using G1\n"


def young(number: int, cause: str) -> str:
    begin = f"[{number}.100s][{number}100000000ns][info][gc,start] GC({number}) "
    end = f"[{number}.110s][{number}110000000ns][info][gc] GC({number}) "
    pause = f"Pause Young (Concurrent Start) ({cause})"
    return f"{begin}{pause}\n{end}{pause} 27M->13M(48M) 9.000ms\n"


def full(number: int) -> str:
    """A full collection that comes before the thread that marks has got a CPU."""
    begin = f"[{number}.200s][{number}200000000ns][info][gc,start] GC({number}) "
    end = f"[{number}.220s][{number}220000000ns][info][gc] GC({number}) "
    pause = "Pause Full (System.gc())"
    return f"{begin}{pause}\n{end}{pause} 27M->13M(48M) 20.000ms\n"


def cycle(number: int) -> str:
    """A cycle that the full collection aborts."""
    lines = ("Concurrent Mark Cycle", "Concurrent Mark", "Concurrent Mark Abort",
             "Concurrent Mark Cycle 25.536ms")  # fmt: skip
    return "".join(
        f"[{number}.3{at}0s][{number}3{at}0000000ns][info][gc] GC({number}) {line}\n"
        for at, line in enumerate(lines)
    )


def causes(*parts: str) -> list[tuple[int, str | None, bool | None]]:
    """Return id, cause, and whether it was asked for, of each cycle."""
    found = read_gc_log((USING + "".join(parts)).encode()).collections
    rows = found.filter(found["kind"] == "concurrent cycle")
    return list(zip(rows["id"], rows["cause"], rows["is_explicit"], strict=True))


HUMONGOUS = "G1 Humongous Allocation"


@pytest.mark.parametrize("fulls", [0, 1, 2])
def test_a_cycle_has_the_cause_of_what_started_it(fulls: int) -> None:
    """The next collection, or one after a full one that came in between."""
    last = 4 + fulls
    parts = [young(3, HUMONGOUS), *(full(4 + at) for at in range(fulls)), cycle(last)]
    assert causes(*parts) == [(last, HUMONGOUS, False)]


def test_no_two_cycles_have_one_cause() -> None:
    """What started the second is not in the log: nobody knows why."""
    parts = [young(3, HUMONGOUS), cycle(4), full(5), cycle(6)]
    assert causes(*parts) == [(4, HUMONGOUS, False), (6, None, None)]
    assert causes(full(5), cycle(6)) == [(6, None, None)]


def test_each_cycle_has_its_own() -> None:
    """Several, each after what started it."""
    parts = [young(3, HUMONGOUS), cycle(4), young(5, "G1 Evacuation Pause"), full(6), cycle(7)]
    assert causes(*parts) == [(4, HUMONGOUS, False), (7, "G1 Evacuation Pause", False)]
