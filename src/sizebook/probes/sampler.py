"""The sampler: thin threads that ask each probe at its interval."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl

from sizebook.model.bundle import COUNTER_COLUMNS
from sizebook.model.notes import NOTES, LackingMetrics, MissingReadings, ProbeNotes
from sizebook.probes.base import CounterSample, Probe, Reading

OWN_SOURCE = "probes"
OWN_HOST = "local"
OWN_INTERVAL_NS = 1_000_000_000
NICENESS = 10
SELDOM_S = 60.0
"""Probes with a longer interval are too dear to be read at given times."""
LATE_NS = 150_000_000
"""A reading that is due at a given time is over no later after it: what comes next is others'."""


class Sampler:
    """Readings of all probes over one trial.

    As a context manager it attaches, takes a snapshot, samples in its threads, stops, takes another
    snapshot and detaches: sums over the trial are the differences between the two snapshots, taken
    while nothing is in flight, and so exact. Deadlines are absolute: a late reading does not shift
    the next ones, and deadlines that have passed are counted as missed, never filled in. A probe
    that fails leaves a null for each metric that it gave the last time, and its reason.

    The harness shares CPUs with the generator: all probes in one burst take some 5 ms, which once a
    second is a hundredth of the generator's 10 ms ticks, enough to move their 99th percentile. So
    the probes' deadlines are spread over their interval, and threads run at a low priority.
    Their cost is recorded.

    A probe that waits for somebody's answer shares a thread with those that ask the same one only:
    a busy node that answers late costs its own readings and nobody else's.

    Clocks and wait are arguments, so that tests need not sleep.
    """

    def __init__(
        self,
        probes: Sequence[Probe],
        *,
        clock_ns: Callable[[], int] = time.monotonic_ns,
        thread_cpu_ns: Callable[[], int] = time.thread_time_ns,
        wait: Callable[[float], bool] | None = None,
    ) -> None:
        names = [probe.name for probe in probes]
        if len(set(names)) != len(names):
            raise ValueError(f"two probes share a name: {names}")
        self._probes = tuple(probes)
        self._clock_ns = clock_ns
        self._thread_cpu_ns = thread_cpu_ns
        self._stop = threading.Event()
        self._wait = wait or self._stop.wait
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._at_ns: tuple[int, ...] = ()
        self._readings: list[tuple[int, str, list[CounterSample]]] = []
        self._missed: Counter[str] = Counter(dict.fromkeys(names, 0))
        self._failed: Counter[str] = Counter(dict.fromkeys(names, 0))
        self._cost_ns: Counter[str] = Counter(dict.fromkeys(names, 0))
        self._due: Counter[str] = Counter(dict.fromkeys(names, 0))
        self._late_ns: Counter[str] = Counter()
        """Of readings at given times alone."""
        self._given: dict[str, list[CounterSample]] = {}
        self._missing: dict[tuple[str, str], MissingReadings] = {}
        self._lacking: dict[str, dict[str, str]] = {}
        self._cpu_ns: Counter[str] = Counter(dict.fromkeys(self.asked, 0))

    def __enter__(self) -> Sampler:
        self.attach()
        self.snapshot()
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self.snapshot()
        self.detach()

    def attach(self) -> None:
        """Attach every probe; one that cannot is recorded as missing and asked again later."""
        for probe in self._probes:
            try:
                probe.attach()
            except Exception as error:
                self._note(probe, error)

    def start(self, at_ns: Sequence[int] = ()) -> None:
        """Begin to sample in threads of its own: at the probes' intervals, or at given times.

        ``at_ns``: ascending times of the clock, at each of which every probe is read that can be
        read each minute; the readings bear these times, and ``late_s`` says how long after them
        they were over. What is read later than ``LATE_NS`` is missing, and counts as missed.
        """
        if self._threads:
            raise RuntimeError("the sampler is running")
        self._stop.clear()
        self._at_ns = tuple(at_ns)
        self._threads = [
            threading.Thread(
                target=self._run_quietly, args=(asked,), name=f"probes {asked}".strip(), daemon=True
            )
            for asked in self.asked
        ]
        for thread in self._threads:
            thread.start()

    @property
    def asked(self) -> tuple[str, ...]:
        """Whom the probes ask, each once, in their order; empty text: nobody but this machine."""
        return tuple(dict.fromkeys(probe.asks for probe in self._probes))

    def stop(self) -> None:
        """End the threads; returns when they have ended. A second call does nothing."""
        self._stop.set()
        for thread in self._threads:
            thread.join()
        self._threads = []

    def detach(self) -> None:
        """Detach every probe, and keep what it lacked: the next trial may attach it at once."""
        for probe in self._probes:
            probe.detach()
            self._lacking[probe.name] = dict(probe.lacking())

    def run(self, asked: str = "") -> None:
        """Sample the probes that ask this one until stopped: wait for the nearest deadline, read.

        The first of all also reads what sampling costs.
        """
        if self._at_ns:
            self._run_at_times(asked)
            return
        begin_ns, cpu_before_ns = self._clock_ns(), self._thread_cpu_ns()
        spent_before_ns = self._cpu_ns[asked]
        mine, due_ns = [], []
        for number, probe in enumerate(self._probes, start=1):
            if probe.asks == asked:
                mine.append(probe)
                due_ns.append(begin_ns + _ns(probe) * number // len(self._probes))
        own_due_ns = begin_ns + OWN_INTERVAL_NS if asked in self.asked[:1] else None
        while due_ns:
            if self._wait(max(0.0, (min(due_ns) - self._clock_ns()) / 1e9)):
                break
            now_ns = self._clock_ns()
            for at, probe in enumerate(mine):
                if due_ns[at] > now_ns:
                    continue
                self._read(probe)
                late_ns = max(0, self._clock_ns() - due_ns[at])
                passed = late_ns // _ns(probe)
                self._missed[probe.name] += passed
                self._due[probe.name] += passed + 1
                due_ns[at] += (passed + 1) * _ns(probe)
            self._cpu_ns[asked] = spent_before_ns + self._thread_cpu_ns() - cpu_before_ns
            if own_due_ns is not None and self._clock_ns() >= own_due_ns:
                self._own_readings()
                own_due_ns = self._clock_ns() + OWN_INTERVAL_NS

    def _run_at_times(self, asked: str) -> None:
        """Read the probes that ask this one at each of the given times, until stopped."""
        cpu_before_ns, spent_before_ns = self._thread_cpu_ns(), self._cpu_ns[asked]
        mine = [p for p in self._probes if p.asks == asked and p.interval_s <= SELDOM_S]
        for at_ns in self._at_ns:
            if self._wait(max(0.0, (at_ns - self._clock_ns()) / 1e9)):
                return
            for probe in mine:
                self._due[probe.name] += 1
                if self._clock_ns() - at_ns > LATE_NS:
                    self._skip(probe, at_ns)
                else:
                    self._read(probe, at_ns)
            self._cpu_ns[asked] = spent_before_ns + self._thread_cpu_ns() - cpu_before_ns
            if asked in self.asked[:1]:
                self._own_readings(at_ns)

    def snapshot(self) -> int:
        """Read every probe once, now; return the clock time (ns) when all had been read."""
        for probe in self._probes:
            self._read(probe)
        self._own_readings()
        return self._clock_ns()

    def latest(self, source: str, metric: str) -> float | None:
        """Return the sum of a metric's last readings over the sources that begin so; None: none."""
        with self._lock:
            given = list(self._given.values())
        values = [
            sample.value
            for samples in given
            for sample in samples
            if sample.metric == metric and sample.source.startswith(source)
        ]
        return sum(value for value in values if value is not None) if values else None

    def frame(self) -> pl.DataFrame:
        """Return all readings so far, columns exactly as in ``model.bundle.COUNTER_COLUMNS``."""
        with self._lock:
            readings = list(self._readings)
        rows = [Reading(time, host, *one) for time, host, samples in readings for one in samples]
        columns: list[list[object]] = [list(column) for column in zip(*rows, strict=True)]
        data = dict(zip(COUNTER_COLUMNS, columns or [[] for _ in COUNTER_COLUMNS], strict=True))
        kinds = {name: getattr(pl, kind) for name, kind in COUNTER_COLUMNS.items()}
        return pl.DataFrame(data, schema=kinds).sort("time_ns", maintain_order=True)

    def missing(self) -> tuple[MissingReadings, ...]:
        """Return every probe that could not be read at some time, with reason and count."""
        with self._lock:
            return tuple(self._missing.values())

    def store(self, folder: Path) -> None:
        """Have each probe store its own files; write what is missing and why, if anything is."""
        for probe in self._probes:
            probe.store(folder)
        lacking = tuple(
            LackingMetrics(probe=probe.name, reasons=dict(reasons))
            for probe in self._probes
            if (reasons := self._lacking.get(probe.name, probe.lacking()))
        )
        notes = ProbeNotes(missing=self.missing(), lacking=lacking)
        if notes.missing or notes.lacking:
            (folder / NOTES).write_text(notes.model_dump_json(indent=1) + "\n", encoding="utf-8")

    def _run_quietly(self, asked: str) -> None:
        if hasattr(os, "setpriority") and sys.platform == "linux" and not self._at_ns:
            # What is read at given times must be in time, in each turn alike.
            # On Linux the priority is a thread's; elsewhere it would be the whole harness's.
            own = threading.get_native_id()
            lower = max(NICENESS, os.getpriority(os.PRIO_PROCESS, own))
            os.setpriority(os.PRIO_PROCESS, own, lower)
        self.run(asked)

    def _read(self, probe: Probe, at_ns: int | None = None) -> None:
        """Read a probe, now or for a given time, for which its answer may come too late."""
        begin_ns, cpu_ns = self._clock_ns(), self._thread_cpu_ns()
        failure: Exception | None = None
        samples: list[CounterSample] = []
        try:
            samples = list(probe.sample())
        except Exception as error:
            # Whatever a probe raises, the other probes and the trial go on.
            failure = error
        end_ns = self._clock_ns()
        with self._lock:
            self._cost_ns[probe.name] += self._thread_cpu_ns() - cpu_ns
            if failure is not None:
                self._note(probe, failure)
        time_ns = (begin_ns + end_ns) // 2 if at_ns is None else at_ns
        if failure is not None:
            self._keep_nulls(probe, time_ns)
        elif at_ns is not None and end_ns - at_ns > LATE_NS:
            self._skip(probe, at_ns)
        else:
            with self._lock:
                self._given[probe.name] = samples
                self._readings.append((time_ns, probe.host, samples))
                self._late_ns[probe.name] += 0 if at_ns is None else end_ns - at_ns

    def _skip(self, probe: Probe, at_ns: int) -> None:
        """Count a reading for a given time as missed."""
        self._missed[probe.name] += 1
        self._keep_nulls(probe, at_ns)

    def _keep_nulls(self, probe: Probe, time_ns: int) -> None:
        """Keep that a probe was to be read: a null for each metric that it gave the last time."""
        with self._lock:
            samples = [one._replace(value=None) for one in self._given.get(probe.name, [])]
            self._readings.append((time_ns, probe.host, samples))

    def _note(self, probe: Probe, error: Exception) -> None:
        now_ns = self._clock_ns()
        self._failed[probe.name] += 1
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        known = self._missing.get((probe.name, reason))
        self._missing[probe.name, reason] = MissingReadings(
            probe=probe.name,
            reason=reason,
            times=known.times + 1 if known else 1,
            first_ns=known.first_ns if known else now_ns,
            last_ns=now_ns,
        )

    def _own_readings(self, at_ns: int | None = None) -> None:
        now_ns = self._clock_ns() if at_ns is None else at_ns
        own = [CounterSample(OWN_SOURCE, "sampler_cpu_s", self._cpu_ns.total() / 1e9)]
        for metric, counts, unit in (
            ("due_ticks", self._due, 1),
            ("missed_ticks", self._missed, 1),
            ("failed_reads", self._failed, 1),
            ("probe_cpu_s", self._cost_ns, 1e9),
            ("late_s", self._late_ns, 1e9),
        ):
            own += [
                CounterSample(OWN_SOURCE, f"{metric}/{name}", n / unit)
                for name, n in counts.items()
            ]
        with self._lock:
            self._readings.append((now_ns, OWN_HOST, own))


def _ns(probe: Probe) -> int:
    return round(probe.interval_s * 1e9)
