"""Made-up logs of several runs of a JVM, cut into files that stand in any order."""

import random
from dataclasses import dataclass

from sizebook.gclog import read_gc_log

CLOCKS = ("uptime", "time", "time,uptime")
TOLD = ["id", "kind", "before_bytes", "after_bytes", "pause_ns", "concurrent_ns"]


@dataclass(frozen=True)
class Scrambled:
    """Runs as they were written, and the lines of their files in another order."""

    runs: list[list[str]]
    lines: list[str]
    clock: str


def scramble(seed, most_runs=3):
    """Return some runs whose files were put together in the wrong order."""
    chance = random.Random(seed)
    level, clock = chance.choice(["gc", "gc*", "gc*, start"]), chance.choice(CLOCKS)
    begin_s, runs, files = 0.0, [], []
    for _ in range(chance.randint(1, most_runs)):
        rows, lasted_s = _run(chance, begin_s, level, clock)
        begin_s += lasted_s + chance.uniform(1, 500)
        runs.append(rows)
        files += _rotated(chance, rows)
    order = chance.choice(["any", "turned", "two exchanged"])
    if order == "any":
        chance.shuffle(files)
    elif order == "turned":
        first = chance.randrange(len(files))
        files = files[first:] + files[:first]
    else:
        one, two = chance.randrange(len(files)), chance.randrange(len(files))
        files[one], files[two] = files[two], files[one]
    return Scrambled(runs, [row for rows in files for row in rows], clock)


def collections(rows):
    """Return the collections of each run that a log holds, in an order that says nothing."""
    parts = read_gc_log("\n".join([*rows, ""]).encode()).split()
    return sorted(sorted(part.collections.select(TOLD).rows()) for part in parts)


def _run(chance, begin_s, level, clock):
    """Return the lines of a run of G1, and its seconds: young collections, cycles beside them."""
    rows, t, number, cycle = [], chance.uniform(0.01, 0.05), 0, None
    pace_s = chance.choice([0.3, 1, 3])

    def say(text):
        rows.append(f"{_decoration(clock, t, begin_s)}[info][gc] {text}")

    say("Using G1")
    for text in ("Version: 17.0.9+9 (release)", "CPUs: 4 total, 4 available"):
        if level == "gc*, start":
            t += 0.001
            say(text)
    for _ in range(chance.randrange(3, 60)):
        t += pace_s * chance.uniform(0.3, 1.7)
        pause_ms, size = chance.uniform(1, 20), chance.randrange(20, 500)
        name = f"GC({number}) Pause Young (Normal) (G1 Evacuation Pause)"
        if level != "gc":
            say(name)
        t += pause_ms / 1e3
        say(f"{name} {size}M->{size // 4}M(1024M) {pause_ms:.3f}ms")
        number += 1
        if level != "gc" and cycle is None and chance.random() < 0.15:
            cycle = (number, t, chance.randrange(1, 4))
            number, t = number + 1, t + 0.001
            say(f"GC({cycle[0]}) Concurrent Mark Cycle")
        elif cycle is not None and cycle[2] > 1:
            cycle = (*cycle[:2], cycle[2] - 1)
        elif cycle is not None:
            t += 0.01
            say(f"GC({cycle[0]}) Pause Remark {size}M->{size - 1}M(1024M) 1.000ms")
            t += 0.01
            say(f"GC({cycle[0]}) Concurrent Mark Cycle {(t - cycle[1]) * 1e3:.3f}ms")
            cycle = None
    return rows, t


def _decoration(clock, t, begin_s):
    at = begin_s + t
    day = f"2026-05-01T{int(at // 3600):02}:{int(at // 60) % 60:02}:{at % 60:06.3f}+0000"
    return {"uptime": f"[{t:.3f}s]", "time": f"[{day}]", "time,uptime": f"[{day}][{t:.3f}s]"}[clock]


def _rotated(chance, rows):
    """Return the files of a run: of some lines each, or cut anywhere."""
    if chance.random() < 0.5:
        lines = chance.choice([5, 8, 20])
        return [rows[n : n + lines] for n in range(0, len(rows), lines)]
    cuts = sorted(chance.sample(range(1, len(rows)), min(len(rows) - 1, chance.randrange(5))))
    return [rows[low:high] for low, high in zip([0, *cuts], [*cuts, len(rows)], strict=True)]
