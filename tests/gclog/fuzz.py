"""Logs that are damaged by chance: run as a program, with a limit on the time of its CPU.

``python fuzz.py KIND FIRST LAST`` reads the logs of these seeds and prints how many were read and
how many refused. A number that is wrong, or any other error, is a traceback; a hang is a signal.
"""

import json
import random
import resource
import sys

import polars as pl
import witness

from sizebook.gclog import GcLogError, advise, read_gc_log, summarise

MOST_CPU_S = 300
"""Hundred times of what fifteen logs take."""
ROWS = witness.recorded("g1-17").raw.decode().splitlines()
OTHER = [
    "2024-05-01 10:00:00,123 INFO  [main] org.example.App - Pause for thought",
    "[main] INFO org.example.App - request handled",
    "[2024-05-01 10:00:00][warn][http] slow",
    "",
    '{"level":"info","message":"Memory: enough"}',
    "at java.base/java.lang.Thread.run(Thread.java:840)",
]


def docker(line):
    """Return a line as Docker's json-file driver writes it: Go escapes what HTML does."""
    text = json.dumps({"log": line + "\n", "stream": "stdout", "time": "2024-05-01T10:00:00.0Z"})
    return text.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026")


def docker_parts(line):
    """Return a line in two parts, between which comes one of another stream."""
    half = len(line) // 2
    parts = [docker(line[:half]).replace(r"\n", ""), docker("x").replace("stdout", "stderr")]
    return "\n".join([*parts, docker(line[half:])])


CARRIERS = {
    "compose": lambda n, line: f"app-1  | {line}",
    "cri": lambda n, line: f"2024-05-01T10:{n % 60:02}:00.{n:09}Z stdout F {line}",
    "docker": lambda n, line: docker(line),
    "docker, cut": lambda n, line: docker_parts(line) if n == 40 else docker(line),
    "journal": lambda n, line: f"May 01 10:{n % 60:02}:00 host java[4711]: {line}",
    "kubectl": lambda n, line: f"[pod/app-7d9/app] 2024-05-01T10:00:00.{n:09}Z {line}",
    "wrapper": lambda n, line: f"INFO   | jvm 1    | 2015/05/03 16:12:38 | {line}",
    "tab": lambda n, line: "\t" + line,
    "colours": lambda n, line: f"\x1b[1;32m{line}\x1b[0m",
    "rsyslog": lambda n, line: f"May  1 10:00:00 host app: #033[32m{line}#033[0m",
    "other logger": lambda n, line: json.dumps({"seq": n, "message": line, "thread": f"t{n % 7}"}),
    "logfmt": lambda n, line: f"time={n} msg={json.dumps(line)} level=info",
    "pretty": lambda n, line: f'        "MESSAGE" : {json.dumps(line)},',
    "file name": lambda n, line: f"gc.log.{n * 3 // len(ROWS)}:{line}",
}


def damaged(seed):
    """Return bytes and numbers changed at random."""
    chance = random.Random(seed)
    name = chance.choice(["g1-17", "zgc-25", "genshen-25", "serial-25"])
    raw = bytearray(witness.recorded(name).raw[:40_000])
    for _ in range(chance.choice([1, 10, 300])):
        place = chance.randrange(len(raw))
        raw[place : place + chance.randrange(3)] = chance.choice(
            [b"", b"9" * 25, b"\n", b"(", b")", b"-", b"\xff\xfe", b"GC(7) ", b"->", b"M", b"["]
        )
    return bytes(raw)


def shuffled(seed):
    """Return lines in no order, which nobody can put in one where runs or damages are several."""
    rows = damaged(seed).splitlines(keepends=True)
    random.Random(seed).shuffle(rows)
    return b"".join(rows)


def carried(seed):
    """Return lines that are cut, glued, carried, turned, mixed with others or shuffled."""
    chance = random.Random(seed)
    name = chance.choice(["g1-17", "zgc-25", "genshen-25", "serial-25", "parallel-17"])
    rows = witness.recorded(name).raw.decode().splitlines()
    begin = chance.randrange(len(rows) // 2)
    rows = rows[begin : begin + chance.randrange(2, 900)]
    for _ in range(chance.randrange(4)):
        n = chance.randrange(len(rows))
        what = chance.randrange(6)
        if what == 0:
            rows[n] = rows[n][: chance.randrange(len(rows[n]) + 1)] + chance.choice(rows)
        elif what == 1:
            carry = CARRIERS[chance.choice(sorted(CARRIERS))]
            rows = [carry(k, line) for k, line in enumerate(rows)]
        elif what == 2:
            rows = rows[n:] + rows[:n]
        elif what == 3:
            rows[n:n] = OTHER * chance.randrange(1, 30)
        elif what == 4:
            rows = [each for pair in zip(rows, rows[n:] + rows[:n], strict=True) for each in pair]
        else:
            chance.shuffle(rows)
    return "\n".join(rows).encode(chance.choice(["utf-8", "utf-16"]))


KINDS = {"damaged": damaged, "shuffled": shuffled, "carried": carried}


def check(raw):
    """Read a log and ask for all that can be asked: its numbers fit each other."""
    log = read_gc_log(raw)
    sizes = log.collections.select("before_bytes", "after_bytes", "total_bytes", "pause_ns")
    least = sizes.select(pl.min_horizontal(pl.all().min())).item()
    assert least is None or least >= 0
    assert 0 <= log.strange_lines <= log.lines
    parts = log.split()
    for table in ("collections", "pauses", "stalls", "safepoints", "workers"):
        assert sum(getattr(one, table).height for one in parts) == getattr(log, table).height
    found = [summarise(one) for one in parts]
    whole = summarise(log)
    advise(whole)
    assert sum(one.collections for one in found) == whole.collections
    assert all(one.window_s is None or one.window_s >= 0 for one in found)


def main(kind, first, last):
    """Check the logs of these seeds."""
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_CPU_S, MOST_CPU_S))
    read = refused = 0
    for seed in range(int(first), int(last)):
        try:
            check(KINDS[kind](seed))
            read += 1
        except GcLogError:
            refused += 1
    print(read, refused)


if __name__ == "__main__":
    main(*sys.argv[1:])
