"""The sampler: one thin thread that asks each probe at its interval."""

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
from sizebook.probes.base import Probe, Reading, Sample

OWN_SOURCE = "probes"
OWN_HOST = "local"
OWN_INTERVAL_NS = 1_000_000_000
NICENESS = 10


class Sampler:
    """Readings of all probes over one trial.

    As a context manager it attaches, takes a snapshot, samples in its thread, stops, takes a second
    snapshot and detaches: sums over the trial are the differences between the two snapshots, taken
    while nothing is in flight, and so exact. Deadlines are absolute: a late reading does not shift
    the next ones, and deadlines that have passed are counted as missed, never filled in. A probe
    that fails leaves a null for each metric that it gave the last time, and its reason.

    The harness shares CPUs with the generator: all probes in one burst take some 5 ms, which once a
    second is a hundredth of the generator's 10 ms ticks, enough to move their 99th percentile. So
    the probes' deadlines are spread over their interval, and the thread runs at a low priority.
    Its cost is recorded.

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
        self._thread: threading.Thread | None = None
        self._readings: list[tuple[int, str, list[Sample]]] = []
        self._missed: Counter[str] = Counter(dict.fromkeys(names, 0))
        self._failed: Counter[str] = Counter(dict.fromkeys(names, 0))
        self._cost_ns: Counter[str] = Counter(dict.fromkeys(names, 0))
        self._due: Counter[str] = Counter(dict.fromkeys(names, 0))
        self._given: dict[str, list[Sample]] = {}
        self._missing: dict[tuple[str, str], MissingReadings] = {}
        self._cpu_ns = 0

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

    def start(self) -> None:
        """Begin to sample at the probes' intervals, in a thread of its own."""
        if self._thread is not None:
            raise RuntimeError("the sampler is running")
        self._stop.clear()
        self._thread = threading.Thread(
            target=self._run_quietly, name="sizebook-probes", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """End the thread; returns when it has ended. A second call does nothing."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def detach(self) -> None:
        """Detach every probe."""
        for probe in self._probes:
            probe.detach()

    def run(self) -> None:
        """Sample until stopped: wait for the nearest deadline, read what is due, go on."""
        intervals_ns = [round(probe.interval_s * 1e9) for probe in self._probes]
        cpu_before_ns, spent_before_ns = self._thread_cpu_ns(), self._cpu_ns
        begin_ns = self._clock_ns()
        shares = range(1, len(intervals_ns) + 1)
        due_ns = [
            begin_ns + interval * share // len(intervals_ns)
            for share, interval in zip(shares, intervals_ns, strict=True)
        ]
        own_due_ns = begin_ns + OWN_INTERVAL_NS
        while due_ns:
            if self._wait(max(0.0, (min(due_ns) - self._clock_ns()) / 1e9)):
                break
            now_ns = self._clock_ns()
            for at, probe in enumerate(self._probes):
                if due_ns[at] > now_ns:
                    continue
                self._read(probe)
                late_ns = max(0, self._clock_ns() - due_ns[at])
                passed = late_ns // intervals_ns[at]
                self._missed[probe.name] += passed
                self._due[probe.name] += passed + 1
                due_ns[at] += (passed + 1) * intervals_ns[at]
            self._cpu_ns = spent_before_ns + self._thread_cpu_ns() - cpu_before_ns
            if self._clock_ns() >= own_due_ns:
                self._own_readings()
                own_due_ns = self._clock_ns() + OWN_INTERVAL_NS

    def snapshot(self) -> int:
        """Read every probe once, now; return the clock time (ns) when all had been read."""
        for probe in self._probes:
            self._read(probe)
        self._own_readings()
        return self._clock_ns()

    def latest(self, source: str, metric: str) -> float | None:
        """Return the sum of a metric's last readings over the sources that begin so; None: none."""
        values = [
            sample.value
            for samples in self._given.values()
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
            if (reasons := probe.lacking())
        )
        notes = ProbeNotes(missing=self.missing(), lacking=lacking)
        if notes.missing or notes.lacking:
            (folder / NOTES).write_text(notes.model_dump_json(indent=1) + "\n", encoding="utf-8")

    def _run_quietly(self) -> None:
        if hasattr(os, "setpriority") and sys.platform == "linux":
            # On Linux the priority is a thread's; elsewhere it would be the whole harness's.
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
        self.run()

    def _read(self, probe: Probe) -> None:
        with self._lock:
            begin_ns, cpu_ns = self._clock_ns(), self._thread_cpu_ns()
            try:
                samples: list[Sample] = list(probe.sample())
                self._given[probe.name] = samples
            except Exception as error:
                # Whatever a probe raises, the other probes and the trial go on.
                self._note(probe, error)
                given = self._given.get(probe.name, [])
                samples = [one._replace(value=None) for one in given]
            finally:
                self._cost_ns[probe.name] += self._thread_cpu_ns() - cpu_ns
            time_ns = (begin_ns + self._clock_ns()) // 2
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

    def _own_readings(self) -> None:
        now_ns = self._clock_ns()
        own = [Sample(OWN_SOURCE, "sampler_cpu_s", self._cpu_ns / 1e9)]
        for metric, counts, unit in (
            ("due_ticks", self._due, 1),
            ("missed_ticks", self._missed, 1),
            ("failed_reads", self._failed, 1),
            ("probe_cpu_s", self._cost_ns, 1e9),
        ):
            own += [Sample(OWN_SOURCE, f"{metric}/{name}", n / unit) for name, n in counts.items()]
        with self._lock:
            self._readings.append((now_ns, OWN_HOST, own))
