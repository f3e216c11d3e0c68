"""``python -m bench.judging``: twenty planted faults and twenty clean files for ``sizebook judge``.

Each file comes from a queue that is simulated (``bench.queueing``) and is written as a tool writes
it (``bench.foreignfiles``). What is wrong in it is stated here, beside its simulation, and nothing
of the judge is used to make it. Beside the verdict stands what the tool's own report says of the
same requests, computed as the tool computes it.
"""

from __future__ import annotations

import math
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from bench import foreignfiles as files
from bench.queueing import Server, SimulatedRun, closed, open_load
from sizebook.judge import judge_results, read_results

MINUTE_S = 60.0


@dataclass(frozen=True)
class PlantedFile:
    """A file with what is in it."""

    name: str
    tool: str
    make: Callable[[], tuple[SimulatedRun, bytes]]
    fault: str = ""
    """What was planted; empty: nothing."""
    rule: str = ""
    """The rule that should name it."""


@dataclass(frozen=True)
class JudgedFile:
    """What its tool says of a planted file, and what the judge says."""

    planted: PlantedFile
    own: str
    wrong: tuple[tuple[str, str], ...]
    """Rule and words of each finding that something is wrong."""

    @property
    def is_named(self) -> bool:
        """Whether the planted fault is among the findings."""
        return self.planted.rule in {rule for rule, _ in self.wrong}


SERVER = Server()


def _users(server: Server = SERVER, **given: float) -> SimulatedRun:
    settings = {"users": 20, "think_s": 0.02, "length_s": MINUTE_S, "seed": 1} | given
    return closed(server, **settings)  # type: ignore[arg-type]


def _rate(server: Server = SERVER, **given: float) -> SimulatedRun:
    settings = {"rate_per_s": 400.0, "length_s": MINUTE_S, "seed": 2} | given
    return open_load(server, **settings)  # type: ignore[arg-type]


def _two_runs() -> tuple[SimulatedRun, bytes]:
    first, second = _users(seed=31, length_s=30), _users(seed=32, length_s=30)
    later = files.jtl_csv(second, 20, shift_s=930)
    return first, files.jtl_csv(first, 20) + later.partition(b"\n")[2]


def _cut() -> tuple[SimulatedRun, bytes]:
    run = _users(seed=33)
    whole = files.jtl_xml(run, 20)
    return run, whole[: int(0.8 * len(whole))]


def _file(
    run: Callable[[], SimulatedRun], write: Callable[[SimulatedRun], bytes]
) -> Callable[[], tuple[SimulatedRun, bytes]]:
    def make() -> tuple[SimulatedRun, bytes]:
        made = run()
        return made, write(made)

    return make


def _warming(at_s: float) -> float:
    return 1 + 4 * math.exp(-at_s / 4)


FAULTS: tuple[PlantedFile, ...] = (
    PlantedFile(
        "jmeter-stall", "JMeter",
        _file(lambda: _users(Server(freezes=((40, 3),)), think_s=0.0, seed=11),
              lambda run: files.jtl_csv(run, 20)),
        "the server stands still for 3 s, 20 users wait", "FR202-omission"),
    PlantedFile(
        "jmeter-warm-up", "JMeter",
        _file(lambda: _users(Server(slower=_warming), seed=12), lambda run: files.jtl_csv(run, 20)),
        "five times as slow at first, within 4 s times e", "FR302-warm-up"),
    PlantedFile(
        "jmeter-drift", "JMeter",
        _file(lambda: _users(Server(slower=lambda at: 1 + 0.5 * at / MINUTE_S), seed=13),
              lambda run: files.jtl_csv(run, 20)),
        "service time grows by half over the run", "FR303-steady"),
    PlantedFile(
        "jmeter-rounding", "JMeter",
        _file(lambda: _users(Server(service_s=0.0007), users=4, think_s=0.005, seed=14),
              lambda run: files.jtl_csv(run, 4)),
        "answers in 0.7 ms, recorded in whole ms", "FR503-resolution"),
    PlantedFile("jmeter-two-runs", "JMeter", _two_runs,
                "two runs of 30 s in one file, 15 minutes apart", "FR102-clock"),
    PlantedFile("jmeter-cut", "JMeter", _cut, "the last fifth of the XML is missing",
                "FR101-whole"),
    PlantedFile(
        "gatling-errors", "Gatling",
        _file(lambda: _rate(Server(failing=0.06), seed=15),
              lambda run: files.gatling_log(run, users=False)),
        "6 % of the requests fail within a millisecond", "FR401-errors"),
    PlantedFile(
        "gatling-overload", "Gatling",
        _file(lambda: _rate(rate_per_s=860.0, length_s=40.0, seed=16),
              lambda run: files.gatling_log(run, users=False)),
        "860 requests a second for a server that answers 800", "FR203-offered"),
    PlantedFile(
        "k6-dropped", "k6",
        _file(lambda: _rate(rate_per_s=700.0, poisson=False, workers=6, drops=True, length_s=30,
                            seed=17), lambda run: files.k6_lines(run, 6)),
        "6 VUs for a rate that needs more", "FR203-offered"),
    PlantedFile(
        "k6-clock", "k6",
        _file(lambda: _users(seed=18, length_s=40),
              lambda run: files.k6_lines(run, 20, back_s=7.0, back_at_s=22.0)),
        "the clock is set back by 7 s", "FR102-clock"),
    PlantedFile(
        "k6-shift", "k6",
        _file(lambda: _users(Server(slower=lambda at: 1.4 if at > 75 else 1.0), length_s=120,
                             seed=19), lambda run: files.k6_csv(run, 20)),
        "40 % slower from 75 s of 120 s on", "FR303-steady"),
    PlantedFile(
        "k6-few", "k6",
        _file(lambda: _users(users=2, think_s=1.0, seed=20), lambda run: files.k6_summary(run, 2)),
        "some 120 requests, p95 printed", "FR501-percentiles"),
    PlantedFile(
        "locust-averaged", "Locust",
        _file(lambda: _mixed(seed=21), lambda run: files.locust_stats(run, averaged=True)),
        "percentiles of all are means of the rows'", "FR502-averaged"),
    PlantedFile(
        "locust-ceiling", "Locust",
        _file(lambda: _users(users=200, think_s=0.2, ramp_s=100, length_s=120, generator_s=0.0025,
                             seed=22), files.locust_history),
        "the generator needs 2.5 ms for each request", "FR204-generator"),
    PlantedFile(
        "locust-users", "Locust",
        _file(lambda: _users(Server(servers=40, service_s=0.05), users=40, seed=23),
              lambda run: files.locust_history(run, count_share=0.25)),
        "requests of four workers, users of one", "FR205-little"),
    PlantedFile(
        "hgrm-timeouts", "HdrHistogram",
        _file(lambda: _rate(Server(freezes=((20, 3), (45, 3))), timeout_s=2.0, seed=24),
              lambda run: files.hgrm(run.latency_s)),
        "the client gives up after 2 s", "FR402-timeouts"),
    PlantedFile(
        "hlog-stall", "HdrHistogram",
        _file(lambda: _users(Server(freezes=((30, 4),)), think_s=0.0, seed=25), files.hlog),
        "the server stands still for 4 s, 20 users wait", "FR202-omission"),
    PlantedFile(
        "oha-stall", "oha",
        _file(lambda: _users(Server(freezes=((30, 4),)), think_s=0.0, seed=26), files.oha),
        "the server stands still for 4 s, 20 connections wait", "FR202-omission"),
    PlantedFile(
        "vegeta-behind", "vegeta",
        _file(lambda: _rate(Server(slower=lambda at: 2.6 if 20 < at < 40 else 1.0), workers=8,
                            poisson=False, seed=27), files.vegeta_lines),
        "8 workers, and 20 s in which these are too few", "FR204-generator"),
    PlantedFile(
        "vegeta-short", "vegeta",
        _file(lambda: _rate(length_s=5.0, poisson=False, seed=28), files.vegeta_report),
        "a run of 5 s", "FR301-length"),
)  # fmt: skip
"""Twenty, over all tools and most rules."""


def _mixed(seed: int) -> SimulatedRun:
    """Return a run with four kinds of requests of very different speed."""
    parts = [
        _users(Server(service_s=service), users=5, think_s=0.05, seed=seed + number)
        for number, service in enumerate((0.004, 0.012, 0.040, 0.180))
    ]
    joined = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ("start_s", "latency_s", "failed", "user", "users")
    }
    names = np.repeat(np.arange(len(parts)), [part.size for part in parts])
    order = np.argsort(joined["start_s"], kind="stable")
    kept = {name: values[order] for name, values in joined.items()}
    return SimulatedRun(**kept, name=names[order], length_s=MINUTE_S)


CLEAN: tuple[PlantedFile, ...] = (
    PlantedFile("jmeter-users", "JMeter",
                _file(lambda: _users(seed=51), lambda run: files.jtl_csv(run, 20))),
    PlantedFile("jmeter-saturated", "JMeter",
                _file(lambda: _users(think_s=0.0, seed=52), lambda run: files.jtl_csv(run, 20))),
    PlantedFile("jmeter-ends", "JMeter",
                _file(lambda: _users(seed=53), lambda run: files.jtl_csv(run, 20, ends=True))),
    PlantedFile("jmeter-one-user", "JMeter",
                _file(lambda: _users(Server(service_s=0.02), users=1, think_s=0.0, length_s=120,
                                     seed=54), lambda run: files.jtl_csv(run, 1))),
    PlantedFile("jmeter-xml", "JMeter",
                _file(lambda: _users(names=4, seed=55), lambda run: files.jtl_xml(run, 20))),
    PlantedFile("jmeter-rare-errors", "JMeter",
                _file(lambda: _users(Server(failing=0.002), seed=56),
                      lambda run: files.jtl_csv(run, 20))),
    PlantedFile("k6-users", "k6",
                _file(lambda: _users(seed=57), lambda run: files.k6_lines(run, 20))),
    PlantedFile("k6-rate", "k6",
                _file(lambda: _rate(poisson=False, workers=50, drops=True, seed=58),
                      lambda run: files.k6_lines(run, 50))),
    PlantedFile("k6-csv", "k6",
                _file(lambda: _users(length_s=120, seed=59), lambda run: files.k6_csv(run, 20))),
    PlantedFile("k6-export", "k6",
                _file(lambda: _users(seed=60), lambda run: files.k6_summary(run, 20))),
    PlantedFile("k6-handled", "k6",
                _file(lambda: _rate(seed=61), lambda run: files.k6_summary(run, 50, handled=True))),
    PlantedFile("gatling-rate", "Gatling",
                _file(lambda: _rate(seed=62), lambda run: files.gatling_log(run, users=False))),
    PlantedFile("gatling-users", "Gatling",
                _file(lambda: _users(seed=63), lambda run: files.gatling_log(run, users=True))),
    PlantedFile("locust-stats", "Locust", _file(lambda: _mixed(seed=64), files.locust_stats)),
    PlantedFile("locust-history", "Locust",
                _file(lambda: _users(length_s=180, seed=65), files.locust_history)),
    PlantedFile("wrk2", "wrk2",
                _file(lambda: _rate(poisson=False, seed=66),
                      lambda run: files.wrk2(run, 50, 400.0))),
    PlantedFile("hgrm", "HdrHistogram",
                _file(lambda: _rate(seed=67), lambda run: files.hgrm(run.latency_s))),
    PlantedFile("hlog", "HdrHistogram", _file(lambda: _users(seed=68), files.hlog)),
    PlantedFile("oha", "oha", _file(lambda: _users(think_s=0.0, seed=69), files.oha)),
    PlantedFile("vegeta", "vegeta",
                _file(lambda: _rate(poisson=False, seed=70), files.vegeta_lines)),
)  # fmt: skip
"""Twenty in which nothing was planted: closed and open, idle and saturated."""


def judge_planted(planted: PlantedFile, folder: Path) -> JudgedFile:
    """Write a file under a name that tells nothing, and judge it."""
    run, data = planted.make()
    path = folder / "results"
    path.write_bytes(data)
    judged = judge_results(read_results(path))
    wrong = tuple((finding.rule, finding.words) for finding in judged.of_weight("wrong"))
    return JudgedFile(planted, own_report(planted.tool, run), wrong)


def own_report(tool: str, run: SimulatedRun) -> str:
    """Return the figures of a tool's own report of a run, in its own words for them."""
    ms = run.latency_s * 1e3
    length_s = float((run.start_s + run.latency_s).max() - run.start_s[0])
    p50, p90, p95, p99, p999 = np.quantile(ms, [0.5, 0.9, 0.95, 0.99, 0.999])
    rate, failed = run.size / length_s, int(run.failed.sum())
    words = {
        "JMeter": f"{run.size} in {length_s:.0f} s = {rate:.1f}/s, Avg {ms.mean():.0f}, 99% "
        f"{p99:.0f} ms, Err {failed / run.size:.2%}",
        "k6": f"{run.size} reqs, {rate:.1f}/s, avg={ms.mean():.2f}ms p(95)={p95:.2f}ms, failed "
        f"{failed / run.size:.2%}, dropped_iterations {run.dropped_s.size}",
        "Gatling": f"{run.size} (OK {run.size - failed}, KO {failed}), mean {ms.mean():.0f}, 95th "
        f"{p95:.0f}, 99th {p99:.0f} ms",
        "Locust": f"{run.size} reqs, {failed} fails, Avg {ms.mean():.0f}, Med {p50:.0f}, 99% "
        f"{p99:.0f} ms, {rate:.1f} req/s",
        "wrk2": f"{run.size} requests, {rate:.1f}/s, 50% {p50:.2f}ms, 99% {p99:.2f}ms",
        "HdrHistogram": f"count {run.size}, mean {ms.mean():.2f}, p99 {p99:.2f}, p99.9 {p999:.2f}",
        "oha": f"{rate:.1f}/s, Success 100 %, Average {ms.mean() / 1e3:.4f} s, 99% "
        f"{p99 / 1e3:.4f} s, Slowest {ms.max() / 1e3:.4f} s",
        "vegeta": f"{run.size}, {rate:.1f}/s, mean {ms.mean():.2f}ms, 90 {p90:.2f}ms, 99 "
        f"{p99:.2f}ms, Success {1 - failed / run.size:.2%}",
    }
    return words[tool]


def main() -> int:
    """Judge all forty, print what was found, and return 1 if a fault was missed."""
    with tempfile.TemporaryDirectory() as folder:
        faults = [judge_planted(each, Path(folder)) for each in FAULTS]
        clean = [judge_planted(each, Path(folder)) for each in CLEAN]
    table = Table(title="Planted faults", box=None)
    for head in ("file", "planted", "the tool's own report", "named by", "sizebook judge"):
        table.add_column(head, overflow="fold")
    for each in faults:
        words = dict(each.wrong).get(each.planted.rule, "not named")
        table.add_row(each.planted.name, each.planted.fault, each.own, each.planted.rule, words)
    console = Console(width=200)
    console.print(table)
    named, alarms = sum(each.is_named for each in faults), [each for each in clean if each.wrong]
    console.print(f"named: {named} of {len(faults)} planted faults", highlight=False)
    console.print(f"false alarms: {len(alarms)} of {len(clean)} clean files", highlight=False)
    for each in alarms:
        console.print(f"{each.planted.name}: {each.wrong}", highlight=False)
    return 0 if named == len(faults) else 1


if __name__ == "__main__":
    sys.exit(main())
