"""What a bundle says twice, or what follows from the rest of it: times, counts, commands, schedule.

``bundles`` looks at files and tables. Here a record is compared with itself, and with its counters,
schedule and requests as far as they are there.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from packaging.version import Version

import sizebook
from sizebook.book.audit.rule import Wrong
from sizebook.book.audit.turns import FACTS, TIMES, known_offsets, turn_vitals, wrong_turns
from sizebook.load.rows import LATE_NS
from sizebook.load.schedule import TimeChange, arrival_offsets, paced_offsets
from sizebook.load.vitals import TICK_NS, TICKS_PER_ROW
from sizebook.model.bundle import CAPTURE_VERSION, BundleRecord, GeneratorFacts
from sizebook.model.load import ClosedLoop, LoadProfile, PacedUsers
from sizebook.store import Bundle
from sizebook.store.readings import TimeSeries
from sizebook.store.tables import REQUESTS, SCHEDULE

COMMANDS = "AU115-commands"
_ID = re.compile(r"(\d{8}T\d{6}Z)(-.*)?")
_SESSION = re.compile(r"(\d{8}T\d{6}Z)-[0-9a-f]+")
_OF_ROUNDING = 1e-9
_FEW = 1000
"""Arrivals of which a Poisson process may have far fewer than are expected."""
_CPU_SLACK_S = 0.05
_LAST_CPUS = 1.5
"""CPUs that a worker can have used after its last second: one event loop and what it waits for."""
_LONGEST_MS = 1e9
"""Longer than any trial; as nanoseconds still a number of 64 bits."""

_VITALS = ("cpu_share", "lag_max_ms", "lag_p99_ms")
"""Counters that the generator keeps of itself."""

_Counts = np.ndarray[Any, np.dtype[np.int64]]
_Lags = np.ndarray[Any, np.dtype[np.float64]]


def contradictions(record: BundleRecord, name: str) -> Iterator[Wrong]:
    """Yield what a record says of times, counts and commands that its rest contradicts."""
    yield from _names(record, name)
    yield from _phases(record)
    if record.outcome != "completed" or record.generator is None:
        return
    yield from _counts(record, record.generator)
    yield from _commands(record)
    yield from _versions(record, record.generator)


def recomputed(bundle: Bundle) -> Iterator[Wrong]:
    """Yield what counters, schedule and requests say otherwise than the record.

    Raises BundleError for tables that cannot be read.
    """
    record, facts = bundle.record, bundle.record.generator
    if record.outcome != "completed" or facts is None:
        return
    if bundle.has_counters:
        yield from (turn_vitals if record.execution.turns else _vitals)(bundle, facts)
    if SCHEDULE in record.files:
        yield from _schedule(bundle)
    if REQUESTS in record.files:
        rows = bundle.columns
        late = int(np.count_nonzero(rows["start_ns"] - rows["intended_ns"] > LATE_NS))
        if facts.late_starts != late:
            yield FACTS, "late starts", str(facts.late_starts), str(late)


def _names(record: BundleRecord, name: str) -> Iterator[Wrong]:
    started = record.execution.started_utc.translate({ord(sign): None for sign in "-:"})
    if dated := _ID.fullmatch(name):
        expected = f"{started}-{record.key[:12]}"
        if not name.startswith(expected):
            yield TIMES, "the bundle's name", name[:80], f"{expected}-…"
    session = _SESSION.fullmatch(record.execution.session)
    if session and session[1] > started:
        yield TIMES, "the session's begin", session[1], f"before {started}"
    if dated and record.execution.started and not session:
        yield TIMES, "the session", record.execution.session[:80], "its begin and a number"


def _phases(record: BundleRecord) -> Iterator[Wrong]:
    marks, planned = record.execution.phases, record.trial.load.phases
    if not marks or record.outcome != "completed":
        return
    lengths = {"ramp": planned.ramp_s, "warm-up": planned.warmup_s, "measured": planned.measured_s}
    names = [name for name, length_s in lengths.items() if round(length_s * 1e9)] + ["drain"]
    if planned.turns is not None:
        yield from wrong_turns(record)
        lengths = {"measured": planned.measured_s}
        names.insert(-2, "between")
    early = record.trial.purpose == "conditioning"  # ends as soon as the stack has settled
    found = [mark.name for mark in marks]
    if found != names and not early:
        yield TIMES, "the phases", ", ".join(found), ", ".join(names)
    if marks[0].begin_ns < record.execution.monotonic_ns:
        yield TIMES, "the load's begin", f"{marks[0].begin_ns} ns", "after the trial's start"
    for before, after in pairwise(marks):
        if before.end_ns != after.begin_ns:
            yield TIMES, f"begin of {after.name}", f"{after.begin_ns} ns", f"{before.end_ns} ns"
    for mark in marks:
        length, due = mark.end_ns - mark.begin_ns, lengths.get(mark.name)
        most = None if due is None else round(due * 1e9)
        if most is not None and (length > most or (length != most and not early)):
            yield TIMES, f"length of {mark.name}", f"{length} ns", f"{most} ns"
    if record.generator is not None:
        wall_s = (marks[-1].end_ns - marks[0].begin_ns) * 1e-9
        if planned.turns is not None:
            wall_s = planned.planned_s
        if not _is_close(record.generator.wall_s, wall_s):
            yield TIMES, "the generator's seconds", repr(record.generator.wall_s), repr(wall_s)


def _counts(record: BundleRecord, facts: GeneratorFacts) -> Iterator[Wrong]:
    workers = record.trial.load.workers
    if facts.worker_cpu_s:
        if len(facts.worker_cpu_s) != workers:
            yield FACTS, "workers with CPU time", str(len(facts.worker_cpu_s)), str(workers)
        if not _is_close(facts.cpu_s, sum(facts.worker_cpu_s)):
            yield FACTS, "CPU seconds", repr(facts.cpu_s), repr(sum(facts.worker_cpu_s))
    if facts.lag_p99_ms > facts.lag_max_ms:
        yield FACTS, "99th percentile of the lag", repr(facts.lag_p99_ms), f"{facts.lag_max_ms} ms"
    said = record.execution.facts
    pairs = {"locust_requests": facts.completed + facts.failed, "locust_failures": facts.failed}
    if not said.get("users_killed") and not said.get("script_errors"):
        for name, count in pairs.items():
            if name in said and said[name] != count:
                yield FACTS, name, str(said[name]), str(count)


def _commands(record: BundleRecord) -> Iterator[Wrong]:
    deployment, may_end = record.trial.deployment, record.trial.exhaustible()
    given = deployment.given
    roles = [role for role in deployment.roles if role.kind != "given" and role.role not in given]
    nodes = {f"{role.role}-{n}" for role in roles for n in range(1, getattr(role, "nodes", 1) + 1)}
    commands = {run.name: run.command for run in record.execution.commands}
    if set(commands) != nodes:
        yield COMMANDS, "commands", _list(commands), _list(nodes)
        return
    for role in deployment.jvm_roles():
        for number in range(1, role.nodes + 1):
            name = f"{role.role}-{number}"
            wanted = [f"-Xmx{role.heap_mib}m", *role.flags]
            lacking = [word for word in wanted if word not in commands.get(name, ())]
            if name in commands and lacking and name not in may_end:
                sizes = [word for word in commands[name] if word.startswith("-Xmx")]
                yield COMMANDS, f"command of {name}", " ".join(sizes) or "no heap", lacking[0]


def _versions(record: BundleRecord, facts: GeneratorFacts) -> Iterator[Wrong]:
    for name, version in facts.versions.items():
        if record.versions.get(name) != version:
            yield COMMANDS, f"version of {name}", str(record.versions.get(name)), version
    said = record.versions.get("sizebook")
    if said is not None and not _is_known(said):
        yield COMMANDS, "version of sizebook", said[:40], f"at most {sizebook.__version__}"
    capture = record.fingerprints.capture_version
    if not 0 < capture <= CAPTURE_VERSION:
        yield COMMANDS, "version of the capture", str(capture), f"at most {CAPTURE_VERSION}"


def _is_known(version: str) -> bool:
    try:
        return Version(version) <= Version(sizebook.__version__)
    except ValueError:  # packaging's InvalidVersion, or digits without end
        return False


def _vitals(bundle: Bundle, facts: GeneratorFacts) -> Iterator[Wrong]:
    """Yield lag and CPU time that the generator's counters of each second contradict.

    A second that reaches over an edge of the phase may have its lag on the other side of it, so it
    bounds the largest lag from above only, and nothing else.
    """
    record = bundle.record
    marks, measured = record.execution.phases, record.execution.phase("measured")
    if not marks or measured is None:
        return
    workers, planned_s = record.trial.load.workers, record.trial.load.phases.measured_s
    series = {one.metric: one for one in bundle.readings if one.source == "generator"}
    # Of a load that was ended early each worker counts to its own end, the record to the first.
    sure = workers == 1 or measured.end_ns - measured.begin_ns == round(planned_s * 1e9)
    least, most, p99_least = 0.0, 0.0, 0.0
    begin_ns, end_ns = marks[0].begin_ns, marks[-1].end_ns
    first, last = ((at_ns - begin_ns) // TICK_NS for at_ns in (measured.begin_ns, measured.end_ns))
    if last <= first:
        sure = False  # the generator took all ticks then
    for worker in range(workers):
        prefix = f"worker{worker}." if worker else ""
        cpu, largest, p99 = (series.get(prefix + name) for name in _VITALS)
        if cpu is None or largest is None or p99 is None or not cpu.values.size:
            return
        if worker < len(facts.worker_cpu_s):
            yield from _cpu(cpu, facts.worker_cpu_s[worker], begin_ns, end_ns)
        begun, ended = _ticks(largest, begin_ns)
        inside = (begun[:, 0] >= first) & (ended[:, 1] <= last)
        over = (ended[:, 1] > first) & (begun[:, 0] < last)
        least = max(least, float(largest.values[inside].max(initial=0.0)))
        most = max(most, float(largest.values[over].max(initial=0.0)))
        sure &= bool(ended[-1, 0] >= last) and bool(over.any())
        fewest = np.maximum(TICKS_PER_ROW, (ended[:, 0] - begun[:, 1])[inside])
        known = _known_lags(largest.values[inside], p99.values[inside], fewest)
        p99_least = max(p99_least, _least_p99(known, max(1, last - first)))
    if facts.lag_max_ms < least * (1 - _OF_ROUNDING):
        yield FACTS, "largest lag", f"{facts.lag_max_ms} ms", f"at least {least} ms"
    if sure and facts.lag_max_ms > most * (1 + _OF_ROUNDING):
        yield FACTS, "largest lag", f"{facts.lag_max_ms} ms", f"at most {most} ms"
    if sure and facts.lag_p99_ms < p99_least * (1 - _OF_ROUNDING):
        expected = f"at least {p99_least} ms"
        yield FACTS, "99th percentile of the lag", f"{facts.lag_p99_ms} ms", expected


def _ticks(largest: TimeSeries, begin_ns: int) -> tuple[_Counts, _Counts]:
    """Return how many ticks came before each second, and by its end: at least and at most.

    A second ends at a tick, by which whole rows of ticks have come. That tick was due when the
    second ended, or earlier by as much as the second's largest lag: after a stall the ticks that
    were missed come at once, and those of a second are due before it begins.
    """
    row_ns = TICK_NS * TICKS_PER_ROW
    since_ns = largest.times_ns - begin_ns
    lag_ns = np.ceil(np.clip(largest.values, 0.0, _LONGEST_MS) * 1e6).astype(np.int64)
    # The next tick's lag tells the same, and holds if the second's end was noted late.
    after_ns = np.append(lag_ns[1:], lag_ns[-1:]) + TICK_NS
    lowest = -((np.maximum(lag_ns, after_ns) - since_ns) // row_ns)
    highest = since_ns // row_ns
    ended = np.maximum(0, np.stack((np.minimum(lowest, highest), highest), axis=1)) * TICKS_PER_ROW
    return np.concatenate((np.zeros((1, 2), np.int64), ended[:-1])), ended


def _known_lags(largest: _Lags, p99: _Lags, ticks: _Counts) -> tuple[_Lags, _Counts]:
    """Return the lags that seconds tell, at their least, and how many ticks have each.

    NumPy's 99th percentile of 100 k ticks lies a hundredth of the way from one tick to the k-th
    largest; so that one is known from below, and the k ticks above it are not less.
    """
    lower = np.maximum(0.0, (p99 - 0.01 * largest) / 0.99)
    counts = np.concatenate((np.ones_like(ticks), ticks // TICKS_PER_ROW))
    return np.concatenate((largest, lower)), counts


def _least_p99(known: tuple[_Lags, _Counts], ticks: int) -> float:
    """Return the least 99th percentile of so many ticks, of which some are known; none is early."""
    order = np.argsort(-known[0], kind="stable")
    lags, counts = np.append(known[0][order], 0.0), np.cumsum(known[1][order])
    below, part = divmod(0.99 * (ticks - 1), 1.0)
    lower, upper = (
        float(lags[np.searchsorted(counts, ticks - 1 - int(below) - above, side="right")])
        for above in (0, 1)
    )
    return lower + part * (upper - lower)


def _cpu(series: TimeSeries, said_s: float, begin_ns: int, end_ns: int) -> Iterator[Wrong]:
    lengths = np.diff(np.concatenate(([begin_ns], series.times_ns))) * 1e-9
    used_s = float(np.dot(series.values, lengths))
    rest_s = max(0, end_ns - int(series.times_ns[-1])) * 1e-9
    if not used_s - _CPU_SLACK_S <= said_s <= used_s + _LAST_CPUS * rest_s + _CPU_SLACK_S:
        yield FACTS, "CPU seconds", f"{said_s} s", f"{used_s:.3f} s, and the last {rest_s:.3f} s"


def _schedule(bundle: Bundle) -> Iterator[Wrong]:
    load = bundle.record.trial.load
    if isinstance(load.arrivals, ClosedLoop):
        yield FACTS, "the schedule", "a schedule", "none: users of a closed loop have none"
        return
    found = bundle.schedule["offset_ns"].to_numpy()
    due = TimeChange(load.arrivals.intensity(load.phases)).total
    if due > 2 * found.size + _FEW:  # not to be made: a rate can be anything
        yield FACTS, "the schedule", f"{found.size} times", f"about {due:.0f} times"
        return
    expected = _offsets(load)
    if bundle.record.execution.turns:
        found, expected = known_offsets(found, expected, bundle.record)
    if np.array_equal(expected, found):
        return
    if expected.size != found.size:
        yield FACTS, "the schedule", f"{found.size} times", f"{expected.size} times"
        return
    at = int(np.flatnonzero(expected != found)[0])
    yield FACTS, f"time {at + 1} of the schedule", f"{found[at]} ns", f"{expected[at]} ns"


def _offsets(load: LoadProfile) -> np.ndarray[Any, np.dtype[np.int64]]:
    assert not isinstance(load.arrivals, ClosedLoop)
    if isinstance(load.arrivals, PacedUsers):
        each = paced_offsets(load.arrivals, load.phases, load.seed)
        return np.sort(np.concatenate(each), kind="stable")
    return arrival_offsets(load.arrivals, load.phases, load.seed)


def _is_close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=_OF_ROUNDING, abs_tol=_OF_ROUNDING)


def _list(names: Mapping[str, Any] | set[str]) -> str:
    return ", ".join(sorted(names)) or "none"
