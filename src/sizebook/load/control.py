"""The lab's side of one generator process: start it, order trials, collect what it recorded.

The lab itself uses ``workers.Workers``, a group of one or more of these.

Imports neither Locust nor gevent, which would patch the lab's own standard library.
"""

from __future__ import annotations

import contextlib
import os
import queue
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Self, TypeVar

from pydantic import ValidationError

from sizebook.hosts.base import Host, HostProcess
from sizebook.load.collect import Collected, Part, collect, read_part
from sizebook.load.protocol import (
    Done,
    Failure,
    Go,
    Order,
    Prepared,
    Read,
    Ready,
    Tick,
    decode,
    encode,
)
from sizebook.load.turns import TurnOrder
from sizebook.model.deployment import CpuSet
from sizebook.model.errors import LostError, TrialError, UsageError
from sizebook.model.load import ClosedLoop, LoadProfile
from sizebook.model.records import Record
from sizebook.store.record_file import first_fault

LOCUSTFILES = Path(__file__).resolve().parents[3] / "locustfiles"
"""The project's own locustfiles, as they lie in a checkout."""

START_TIMEOUT_S = 60.0
PREPARE_TIMEOUT_S = 120.0
SILENCE_TIMEOUT_S = 20.0
"""Longest silence of a generator in a trial; it says something every second."""
LEAD_NS = 50_000_000
LEAD_NS_PER_USER = 60_000
"""Time for a prepared generator to get all its users to their marks."""
STOP_GRACE_S = 5.0

OnTick = Callable[[Tick], None]
_Content = TypeVar("_Content", bound=Record)


def lead_ns(users: int, workers: int = 1) -> int:
    """Return how long before its start a trial should be told to go."""
    return LEAD_NS * workers + LEAD_NS_PER_USER * users


class GeneratorClient:
    """A generator process on a host. It serves one trial after the other until ``stop``."""

    def __init__(
        self,
        host: Host,
        python: str,
        log_dir: Path,
        cpus: CpuSet = (),
        *,
        locustfiles: Path = LOCUSTFILES,
        name: str = "generator",
    ) -> None:
        self.name = name
        self.versions: Mapping[str, str] = {}
        self.read: dict[str, str] = {}
        """Name to checksum of the files that the locustfile of the last order has read."""
        self._host = host
        self._python = python
        self._log = log_dir / f"{name}.log"
        self._cpus = cpus
        self._locustfiles = locustfiles
        self._process: HostProcess | None = None
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._orders: list[Order] = []
        self._stopping = threading.Lock()

    @property
    def process(self) -> HostProcess | None:
        """The running process, for probes; None before ``start`` and after ``stop``."""
        return self._process

    def start(self) -> None:
        """Start the process and wait until it can take orders. Raises TrialError if it cannot."""
        self._lines = queue.Queue()
        self._process = self._launch()
        self._greet()

    def _greet(self) -> None:
        """Wait until the process can take orders."""
        try:
            ready = self._understand(Ready, self._expect("ready", START_TIMEOUT_S))
        except BaseException:
            self.stop()
            raise
        self.versions = ready.versions

    def _launch(self) -> HostProcess:
        """Start the process, so that what it says comes into ``_lines``."""
        process = self._host.start(
            self.name,
            [self._python, "-m", "sizebook.load.generator"],
            log=self._log,
            cpus=self._cpus,
            # Names are resolved once; gevent's thread pool for each would cost more than it helps.
            env={**os.environ, "GEVENT_RESOLVER": "block"},
            talk=True,
        )
        assert process.stdout is not None
        # A descriptor of its own: the host could not close the pipe while a thread reads from it.
        source = os.dup(process.stdout.fileno())
        threading.Thread(target=_pump, args=(source, self._lines), daemon=True).start()
        return process

    def prepare(
        self,
        load: LoadProfile,
        targets: Mapping[str, str],
        out: Path,
        *,
        worker: int = 0,
        workers: int = 1,
        turns: TurnOrder | None = None,
        neighbours: Mapping[str, str] = MappingProxyType({}),
    ) -> Prepared:
        """Have the generator do all that need not be measured: import, set-up requests, users.

        With ``turns`` the trial is carried out together with those ordered so before it, since the
        last ``run``; ``neighbours`` are the targets of them all. Raises what it found wrong with
        locustfile, settings or targets as UserError.
        """
        earlier, self._orders = self._orders if turns is not None else [], []
        order = Order(
            load=load,
            locustfile=str(self._there(self._find(load.locustfile))),
            targets=dict(targets),
            out=str(out.resolve()),
            worker=worker,
            workers=workers,
            turns=turns,
            beside=bool(earlier),
            neighbours=dict(neighbours),
        )
        self.read = self.read if earlier else {}
        self._say("order", order)
        prepared = self._understand(Prepared, self._expect("prepared", PREPARE_TIMEOUT_S))
        self._orders = [*earlier, order]
        return prepared

    def run(self, on_tick: OnTick | None = None, *, start_ns: int | None = None) -> Collected:
        """Run the prepared trial and return what it recorded; see ``carry_out``."""
        (part,) = self.carry_out(on_tick, start_ns=start_ns)
        return collect([part], host=self._host.name)

    def carry_out(
        self, on_tick: OnTick | None = None, *, start_ns: int | None = None
    ) -> list[Part]:
        """Run what was prepared and return this worker's part of each trial, in their order.

        ``on_tick`` is called every second.

        Several generators start together if they get the same ``start_ns``. When interrupted (by
        Ctrl-C or an error of ``on_tick``) the generator is ended before the exception goes on.
        """
        orders, self._orders = self._orders, []
        if not orders:
            raise RuntimeError("prepare() must come before run()")
        try:
            users = sum(order.load.arrivals.users for order in orders)
            start_ns = start_ns or time.monotonic_ns() + lead_ns(users)
            self._say("go", Go(start_ns=start_ns))
            planned_s = sum(order.load.phases.planned_s for order in orders)
            drain_s = max(order.load.phases.drain_s for order in orders)
            silence_s = SILENCE_TIMEOUT_S
            every: list[Done] = []
            while len(every) < len(orders):
                word, content = self._hear(silence_s)
                if word == "done":
                    every.append(self._understand(Done, content))
                    continue
                tick = self._understand(Tick, content)
                if tick.elapsed_s > planned_s + drain_s + SILENCE_TIMEOUT_S:
                    raise self._broken("a trial that does not end")
                # the last turn of all may end, and with it the ticks, a little before
                if tick.elapsed_s > planned_s - SILENCE_TIMEOUT_S / 4:
                    silence_s = SILENCE_TIMEOUT_S + tick.requests * 1e-5  # rows to be written
                if on_tick is not None:
                    on_tick(tick)
        except TrialError:
            raise
        except BaseException:
            self._end_early()
            raise
        return [self._part(order, done) for order, done in zip(orders, every, strict=True)]

    def _part(self, order: Order, done: Done) -> Part:
        """Return what this worker has left of a trial."""
        out = Path(order.out)
        self._fetch(out)
        scheduled = not isinstance(order.load.arrivals, ClosedLoop)
        return read_part(done, out, worker=order.worker, scheduled=scheduled)

    def stop_trial(self) -> None:
        """Have the running trial end early, from another thread; ``run`` then returns its rows."""
        self._say("stop", None)

    def stop(self) -> None:
        """End the process; nothing happens if there is none. Any thread may call it."""
        with self._stopping:
            process, self._process = self._process, None
        if process is not None:
            self._host.stop(process, STOP_GRACE_S)

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

    def _end_early(self) -> None:
        with contextlib.suppress(TrialError):
            self._say("stop", None)
        self.stop()

    def _find(self, locustfile: str) -> Path:
        path = self._locustfiles / locustfile
        if Path(locustfile).name != locustfile or not path.is_file():
            known = ", ".join(sorted(file.name for file in self._locustfiles.glob("*.py")))
            raise UsageError(
                found=f"no locustfile {locustfile!r}",
                expected=f"one of {known or 'none: the folder of locustfiles is empty'}",
                next_step="correct the load profile, or add the file",
            )
        return path.resolve()

    def _there(self, locustfile: Path) -> Path:
        """Return where the process finds a locustfile."""
        return locustfile

    def _fetch(self, out: Path) -> None:
        """Have the files that the process left in a folder on this machine."""

    def _say(self, word: str, content: Record | None) -> None:
        process = self._process
        if process is None:
            raise self._broken("no generator process")
        try:
            self._send(process, encode(word, content))
        except (OSError, ValueError) as error:
            raise self._broken("a generator that has gone") from error

    def _send(self, process: HostProcess, line: str) -> None:
        """Send a line. Raises OSError or ValueError if the process is gone."""
        if process.stdin is None:
            raise ValueError("a process without a pipe")
        process.stdin.write(line)
        process.stdin.flush()

    def _expect(self, expected: str, timeout_s: float) -> str:
        word, content = self._hear(timeout_s)
        if word != expected:
            raise self._broken(f"the word {word!r} instead of {expected!r} from the generator")
        return content

    def _hear(self, timeout_s: float) -> tuple[str, str]:
        try:
            line = self._next(timeout_s)
        except queue.Empty:
            raise self._broken(f"a generator that said nothing for {timeout_s:.0f} s") from None
        if line is None:
            raise self._broken("a generator that ended by itself")
        try:
            word, content = decode(line)
        except ValueError as error:
            raise self._broken(f"from the generator {error}") from error
        if word == "read":
            self._note_read(self._understand(Read, content).files)
            return self._hear(timeout_s)
        if word == "error":
            raise self._understand(Failure, content).error()
        return word, content

    def _understand(self, kind: type[_Content], content: str) -> _Content:
        """Return what a word carries; TrialError where that is not what the word should carry."""
        try:
            return kind.model_validate_json(content)
        except ValidationError as error:
            word = kind.__name__.lower()
            found = f"a word {word!r} from the generator with {first_fault(error)}"
            raise self._broken(found) from error

    def _note_read(self, files: Mapping[str, str]) -> None:
        self.read |= files

    def _next(self, timeout_s: float) -> str | None:
        """Return the next line, None if none will come. Raises queue.Empty after the time."""
        return self._lines.get(timeout=timeout_s)

    def _broken(self, found: str) -> TrialError:
        process = self._process
        last, kind = "", TrialError
        if process is not None:
            code = process.wait(1.0) if "ended" in found or "gone" in found else process.exit_code
            found += f" (exit code {code})" if code is not None else ""
            kind = LostError if code is not None and code < 0 else TrialError
            last = next(iter(process.log_tail(1).splitlines()), "")
            self.stop()
        return kind(
            found=found + (f"; its log ends with: {last}" if last else "; its log is empty"),
            expected="a generator that answers",
            next_step=f"read {self._log.name} and run the trial again",
        )


def _pump(source: int, lines: queue.Queue[str | None]) -> None:
    """Move what the process says into the queue, None at its end."""
    with os.fdopen(source, encoding="utf-8", errors="replace") as text:
        for line in text:
            lines.put(line)
    lines.put(None)
