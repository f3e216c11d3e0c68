"""Workers on other machines that carry one load together, connected by Locust's own runners.

Locust's master, a process here (``load.relay``), carries the lab's orders to its workers there
(``load.worker``) and what they say back. Rows stay where they were recorded until the load is over;
the host then brings them. All workers start at the same moment: each machine's clock is read just
before, and the start is told in its own time. So is what was recorded, moved back; how far the
clocks were apart before and after, and how well that is known, is kept with the trial. Latencies
are differences of times of one clock, and no offset is in them.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import secrets
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO

from sizebook.hosts.base import HostProcess
from sizebook.hosts.image import python_program
from sizebook.hosts.local import LocalHost
from sizebook.hosts.ssh import Machine
from sizebook.load.collect import Part, on_this_clock
from sizebook.load.control import (
    LOCUSTFILES,
    START_TIMEOUT_S,
    STOP_GRACE_S,
    GeneratorClient,
    OnTick,
)
from sizebook.load.data_files import is_inside
from sizebook.load.packages import PACKAGE, own_metadata, site_folder
from sizebook.load.workers import Workers
from sizebook.model.errors import TrialError

FAR_LEAD_NS = 250_000_000
"""What an order takes longer to get to another machine, its clock being read included."""
_LOOK_S = 1.0


class RelayClient:
    """The lab's side of Locust's master: lines to and from workers by their numbers."""

    def __init__(self, local: LocalHost, python: str, log_dir: Path) -> None:
        self._local = local
        self._python = python
        self._log = log_dir / "relay.log"
        self._queues: dict[int, queue.Queue[str | None]] = {}
        self._process: HostProcess | None = None
        self._sending = threading.Lock()
        self._up = threading.Event()
        self.port = 0
        self.token = secrets.token_hex(16)

    def start(self) -> None:
        """Start it, listening on the loopback address. Raises TrialError if it does not."""
        self.port = LocalHost(self._local.guard).free_port()
        process = self._local.start(
            "relay",
            [self._python, "-m", "sizebook.load.relay", str(self.port)],
            log=self._log,
            env={**os.environ, "SIZEBOOK_TOKEN": self.token},
            talk=True,
        )
        self._process = process
        assert process.stdout is not None
        threading.Thread(target=self._pump, args=(process.stdout,), daemon=True).start()
        if not self._up.wait(START_TIMEOUT_S) or process.exit_code is not None:
            said = process.log_tail(1)
            self.stop()
            raise TrialError(
                found=f"no master for workers on other machines: {said or 'it says nothing'}",
                expected="Locust's master, listening",
                next_step=f"read {self._log.name}",
            )

    def listen(self, worker: int, lines: queue.Queue[str | None]) -> None:
        """Have what a worker says from now on put there, None when there is no master any more."""
        self._queues[worker] = lines

    def send(self, worker: int, line: str) -> None:
        """Send a line to a worker. Raises OSError or ValueError if the master is gone."""
        process = self._process
        if process is None or process.stdin is None:
            raise ValueError("no master")
        with self._sending:
            process.stdin.write(json.dumps({"to": worker, "line": line}) + "\n")
            process.stdin.flush()

    def stop(self) -> None:
        """End it; nothing happens if there is none."""
        process, self._process = self._process, None
        if process is not None:
            self._local.stop(process, STOP_GRACE_S)

    def _pump(self, source: IO[str]) -> None:
        with contextlib.suppress(OSError, ValueError):
            for text in source:
                said = json.loads(text)
                if said["from"] in self._queues:
                    self._queues[said["from"]].put(said["line"])
                self._up.set()
        self._up.set()
        for lines in tuple(self._queues.values()):
            lines.put(None)


class FarGenerator(GeneratorClient):
    """A generator process on another machine. Its times are told in this machine's."""

    def __init__(
        self,
        machine: Machine,
        relay: RelayClient,
        number: int,
        log_dir: Path,
        *,
        locustfiles: Path,
        name: str,
    ) -> None:
        super().__init__(
            machine, str(python_program()), log_dir, locustfiles=locustfiles, name=name
        )
        self.machine = machine
        self._relay = relay
        self._number = number
        self._code = log_dir / "code"

    def bring_code(self) -> None:
        """Have harness and locustfiles on the machine, as they are now."""
        for source in (PACKAGE, own_metadata(), self._locustfiles):
            self.machine.put(source, self._code / source.name)

    def carry_out(
        self, on_tick: OnTick | None = None, *, start_ns: int | None = None
    ) -> list[Part]:
        """See ``GeneratorClient``; the start must be told, in this machine's time."""
        assert start_ns is not None
        before = self.machine.clock()
        parts = super().carry_out(on_tick, start_ns=start_ns + before.monotonic_ns)
        clocks = before, self.machine.clock()
        here = (on_this_clock(part, before.monotonic_ns) for part in parts)
        return [replace(part, host=self.machine.name, clocks=clocks) for part in here]

    def _launch(self) -> HostProcess:
        self._relay.listen(self._number, self._lines)
        port = self.machine.lead_back(self._relay.port)
        return self.machine.start(
            self.name,
            [self._python, "-m", "sizebook.load.worker", str(port), str(self._number)],
            log=self._log,
            env={
                "PATH": os.defpath,
                "LC_ALL": "C.UTF-8",
                "PYTHONPATH": f"{self._code}:{site_folder()}",
                "GEVENT_RESOLVER": "block",
                "SIZEBOOK_TOKEN": self._relay.token,
            },
            cwd=self._code,
        )

    def _there(self, locustfile: Path) -> Path:
        return self._code / self._locustfiles.name / locustfile.name

    def _note_read(self, files: Mapping[str, str]) -> None:
        """Leave out what lies on that machine alone: nobody here can say whether it changes."""
        super()._note_read({name: files[name] for name in files if is_inside(name)})

    def _fetch(self, out: Path) -> None:
        self.machine.bring(out)

    def _send(self, process: HostProcess, line: str) -> None:  # noqa: ARG002
        self._relay.send(self._number, line)

    def _next(self, timeout_s: float) -> str | None:
        """Return the next line; None as soon as the process has ended and nothing is left."""
        while True:
            try:
                return self._lines.get(timeout=min(_LOOK_S, timeout_s))
            except queue.Empty:
                timeout_s -= _LOOK_S
                process = self._process
                if process is None or process.exit_code is not None:
                    return None
                if timeout_s <= 0:
                    raise


class SpreadWorkers(Workers):
    """A group of generator processes, dealt out to other machines in turn."""

    def __init__(
        self,
        local: LocalHost,
        machines: Sequence[Machine],
        python: str,
        log_dir: Path,
        *,
        workers: int,
        locustfiles: Path = LOCUSTFILES,
        name: str = "generator",
    ) -> None:
        """``log_dir`` is a folder of each machine's writable disk, at the same path as here."""
        self._relay = RelayClient(local, python, log_dir)
        self._machines = tuple(machines)
        self._far = tuple(
            FarGenerator(
                machines[worker % len(machines)],
                self._relay,
                worker,
                log_dir,
                locustfiles=locustfiles,
                name=f"{name}-{worker + 1}",
            )
            for worker in range(workers)
        )
        super().__init__(local, python, log_dir, name=name, generators=self._far)

    @property
    def hosts(self) -> Mapping[str, Machine]:
        return {machine.name: machine for machine in self._machines}

    def on_host(self, host: object) -> Mapping[str, HostProcess]:
        found = ((one.name, one.process) for one in self._far if one.machine is host)
        return {name: process for name, process in found if process is not None}

    def start(self) -> None:
        self._relay.start()
        for one in self._far[: len(self._machines)]:
            one.bring_code()
        super().start()

    def stop(self) -> None:
        super().stop()
        self._relay.stop()

    def lead_ns(self, users: int, workers: int) -> int:
        return super().lead_ns(users, workers) + FAR_LEAD_NS
