"""Several generator processes that carry one load together; one worker is a group of one.

Each worker is one event loop, which can use one CPU. The workers share out the users and the
arrivals, start at the same nanosecond, and what they recorded is put together as rows: percentiles
and histograms are made from all rows, never from percentiles.
"""

from __future__ import annotations

import queue
import statistics
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Self, TypeVar

from sizebook.hosts.base import Host, HostProcess
from sizebook.load.collect import Collected, collect
from sizebook.load.control import LOCUSTFILES, GeneratorClient, OnTick, lead_ns
from sizebook.load.protocol import Prepared, Tick
from sizebook.load.turns import TurnOrder
from sizebook.model.deployment import CpuSet
from sizebook.model.errors import UsageError
from sizebook.model.load import LoadProfile

T = TypeVar("T")


class Workers:
    """A group of generator processes on a host. It serves one trial after the other until ``stop``.

    A load profile says how many workers it wants; the group's size is the most that it can have.
    """

    def __init__(
        self,
        host: Host,
        python: str,
        log_dir: Path,
        cpus: CpuSet = (),
        *,
        workers: int = 1,
        locustfiles: Path = LOCUSTFILES,
        name: str = "generator",
        generators: Sequence[GeneratorClient] = (),
    ) -> None:
        """``generators`` were made elsewhere; without any so many ``workers`` are made here."""
        self._host = host
        self._generators = tuple(generators) or tuple(
            GeneratorClient(
                host,
                python,
                log_dir,
                cpu_share(cpus, worker, workers),
                locustfiles=locustfiles,
                name=f"{name}-{worker + 1}",
            )
            for worker in range(workers)
        )
        self._ordered: tuple[GeneratorClient, ...] = ()
        self._lead_ns = 0

    @property
    def versions(self) -> Mapping[str, str]:
        """Versions of what makes the load, once started."""
        return self._generators[0].versions

    @property
    def read(self) -> dict[str, str]:
        """Name to checksum of the files that the locustfile of the last order has read."""
        return {name: sha for each in self._generators for name, sha in each.read.items()}

    @property
    def processes(self) -> tuple[HostProcess, ...]:
        """The running processes in the order of their workers, for probes."""
        found = (generator.process for generator in self._generators)
        return tuple(process for process in found if process is not None)

    @property
    def hosts(self) -> Mapping[str, Host]:
        """Hosts of the workers that are other machines, by name."""
        return {}

    def on_host(self, host: Host) -> Mapping[str, HostProcess]:  # noqa: ARG002
        """Return by name the workers that run on one of ``hosts``."""
        return {}

    @property
    def alive(self) -> bool:
        """Whether every process of the group runs, so that it can take orders."""
        running = self.processes
        whole = len(running) == len(self._generators)
        return whole and all(process.exit_code is None for process in running)

    def start(self) -> None:
        """Start all processes and wait until they can take orders.

        Raises TrialError if one of them cannot; then none is left running.
        """
        try:
            _together(self._generators, lambda generator, _: generator.start())
        except BaseException:
            self.stop()
            raise

    def prepare(
        self,
        load: LoadProfile,
        targets: Mapping[str, str],
        out: Path,
        *,
        turns: TurnOrder | None = None,
        neighbours: Mapping[str, str] = MappingProxyType({}),
    ) -> Prepared:
        """Have the workers of this load do all that need not be measured, and return their sums.

        Worker k writes to ``out/worker-k``. The scenario's ``set_up`` runs once in every worker.
        With ``turns`` the trial is carried out together with those prepared so before it, by as
        many workers; ``neighbours`` are the targets of them all. Raises what they found wrong with
        locustfile, settings or targets as UserError.
        """
        size = len(self._generators)
        if load.workers > size:
            raise UsageError(
                found=f"a load for {load.workers} workers",
                expected=f"{size} at most: as many as were started",
                next_step="start more workers, or lower the load profile's workers",
            )
        before, self._ordered = self._ordered, ()
        if turns is None or not before:
            before, self._lead_ns = (), 0
            for generator in self._generators:
                generator.read = {}
        chosen = self._generators[: load.workers]
        if before and before != chosen:
            raise UsageError(
                found=f"trials of {len(before)} and {load.workers} workers that take turns",
                expected="as many workers for each of them",
                next_step="give their load profiles the same number of workers",
            )
        prepared = [
            generator.prepare(
                load,
                targets,
                out / f"worker-{worker}",
                worker=worker,
                workers=load.workers,
                turns=turns,
                neighbours=neighbours,
            )
            for worker, generator in enumerate(chosen)
        ]
        self._ordered = chosen
        self._lead_ns += self.lead_ns(load.arrivals.users, load.workers)
        arrivals = [one.arrivals for one in prepared if one.arrivals is not None]
        return Prepared(
            users=sum(one.users for one in prepared), arrivals=sum(arrivals) if arrivals else None
        )

    def run(self, on_tick: OnTick | None = None, *, start_ns: int | None = None) -> Collected:
        """Run the prepared trial and return what all workers recorded; see ``run_all``."""
        (collected,) = self.run_all(on_tick, start_ns=start_ns)
        return collected

    def run_all(
        self, on_tick: OnTick | None = None, *, start_ns: int | None = None
    ) -> list[Collected]:
        """Run what was prepared and return what all workers recorded, as one, for each trial.

        ``on_tick`` is called in this thread about once a second with the sums of what the workers
        told last. If a worker fails, the others are ended and its error is raised; when interrupted
        (by Ctrl-C or an error of ``on_tick``) all are ended before the exception goes on. A group
        of which a worker was ended has to be stopped and started again.
        """
        chosen, self._ordered = self._ordered, ()
        if not chosen:
            raise RuntimeError("prepare() must come before run()")
        begin_ns = start_ns or time.monotonic_ns() + self._lead_ns
        latest: dict[int, Tick] = {}
        told_s = 0.0

        def hear(worker: int, tick: Tick) -> None:
            nonlocal told_s
            latest[worker] = tick
            if on_tick is not None and tick.elapsed_s > told_s + 0.5:
                told_s = tick.elapsed_s
                on_tick(_sum(latest.values()))

        parts = _together(
            chosen, lambda generator, tell: generator.carry_out(tell, start_ns=begin_ns), hear
        )
        return [collect(each, host=self._host.name) for each in zip(*parts, strict=True)]

    @property
    def ordered_lead_ns(self) -> int:
        """How long before their start the trials that are prepared should be told to go."""
        return self._lead_ns

    def lead_ns(self, users: int, workers: int) -> int:
        """Return how long before its start a trial is told to go."""
        return lead_ns(users, workers)

    def stop_trial(self) -> None:
        """Have the running trial end early, from another thread; ``run`` then returns its rows."""
        for generator in self._generators:
            if generator.process is not None:
                generator.stop_trial()

    def stop(self) -> None:
        """End all processes; nothing happens if there are none."""
        for generator in self._generators:
            generator.stop()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


def cpu_share(cpus: CpuSet, worker: int, workers: int) -> CpuSet:
    """Return the CPUs of one worker: every ``workers``-th; where they are too few, one for several.

    Workers have no CPU in common as long as there is one for each. Empty stays empty: any CPU.
    """
    if not cpus:
        return ()
    return cpus[worker::workers] or (cpus[worker % len(cpus)],)


def _together(
    generators: Sequence[GeneratorClient],
    do: Callable[[GeneratorClient, OnTick], T],
    hear: Callable[[int, Tick], None] = lambda _worker, _tick: None,
) -> list[T]:
    """Return what ``do`` returns for each generator, called at the same time, a thread each.

    What ``do`` tells is handed to ``hear`` in the calling thread. The first exception, of ``do``,
    of ``hear`` or from outside, ends the generators that are not through, and is raised.
    """
    told: queue.SimpleQueue[tuple[int, Tick | None]] = queue.SimpleQueue()

    def call(worker: int) -> T:
        try:
            return do(generators[worker], lambda tick: told.put((worker, tick)))
        finally:
            told.put((worker, None))

    busy = set(range(len(generators)))
    with ThreadPoolExecutor(len(generators)) as pool:
        futures: list[Future[T]] = [pool.submit(call, worker) for worker in range(len(generators))]
        try:
            while busy:
                worker, tick = told.get()
                if tick is not None:
                    hear(worker, tick)
                    continue
                busy.discard(worker)
                futures[worker].result()
        except BaseException:
            for worker in busy:
                generators[worker].stop()
            raise
    return [future.result() for future in futures]


def _sum(ticks: Collection[Tick]) -> Tick:
    return Tick(
        elapsed_s=max(tick.elapsed_s for tick in ticks),
        requests=sum(tick.requests for tick in ticks),
        failed=sum(tick.failed for tick in ticks),
        users=sum(tick.users for tick in ticks),
        latency_ms=_median(tick.latency_ms for tick in ticks),
    )


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None
