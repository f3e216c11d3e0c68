"""What every benchmark stands on: this machine held for measuring, null servers, the generator."""

from __future__ import annotations

import contextlib
import http.client
import shutil
import struct
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import psutil
from numpy.typing import NDArray

from bench.peers import Peer
from sizebook.hosts import Host, HostProcess
from sizebook.lab.placement import Placement
from sizebook.load.collect import Collected
from sizebook.load.control import GeneratorClient
from sizebook.load.protocol import SCHEDULE_FILE
from sizebook.model.deployment import Deployment, JvmRole
from sizebook.model.errors import TrialError
from sizebook.model.load import LoadProfile
from sizebook.model.records import Scalar

if TYPE_CHECKING:  # notebooks read results with modules of this package, and may not measure
    from sizebook.lab.bench import Bench

BODY_BYTES = 1024


@dataclass(frozen=True)
class Timeline:
    """What a delaying null server says of itself, in ns of CLOCK_MONOTONIC."""

    freeze_ns: tuple[int, int] | None
    read_ns: NDArray[np.int64]
    answered_ns: NDArray[np.int64]

    @classmethod
    def from_bytes(cls, content: bytes) -> Timeline:
        """Return the timeline in the server's answer. Raises ValueError if it is damaged."""
        begin, end, count = struct.unpack_from("<qqq", content)
        if len(content) != 8 * (3 + 2 * count):
            raise ValueError(f"a timeline of {count} requests in {len(content)} bytes")
        pairs = np.frombuffer(content, dtype="<i8", offset=24).reshape(-1, 2)
        return cls((begin, end) if end else None, pairs[:, 0], pairs[:, 1])


class NullServer:
    """A started null server."""

    def __init__(self, process: HostProcess, url: str) -> None:
        self.url = url
        self.port = int(url.rsplit(":", 1)[1])
        self._process = psutil.Process(process.pid)

    def begin(self) -> None:
        """Have a delaying server count requests from 0 again, with its freeze ahead."""
        self._get("/begin")

    def timeline(self) -> Timeline:
        """Return when a delaying server read and answered each request since ``begin``."""
        return Timeline.from_bytes(self._get("/timeline"))

    def count(self) -> int:
        """Return the requests that the server has answered, by its own count."""
        return int(self._get("/count"))

    def cpu_s(self) -> float:
        """Return the CPU seconds that the server has used."""
        times = self._process.cpu_times()
        return float(times.user + times.system)

    def _get(self, path: str) -> bytes:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request("GET", path)
            return connection.getresponse().read()
        except (OSError, http.client.HTTPException) as error:
            raise TrialError(
                found=f"no answer of the null server to {path}: {error}",
                expected="a null server that runs",
                next_step="run the benchmark again",
            ) from error
        finally:
            connection.close()


class Rig:
    """This machine, held: servers on one set of CPUs, the generator under test on the other."""

    def __init__(
        self,
        bench: Bench,
        folder: Path,
        placement: Placement,
        peers: Mapping[str, Peer],
        *,
        short: bool,
        tell: Callable[[str], None],
    ) -> None:
        self.placement = placement
        self.peers = peers
        self.short = short
        """Seconds instead of minutes: proves that it works."""
        self.tell = tell
        """Takes one line on what is done now."""
        self.bench = bench
        self.host: Host = bench.host
        self.folder = folder
        """For what measurements leave behind until ``clean``."""
        self.versions: dict[str, str] = {}
        self._runner = bench.runner
        self._runs = 0

    def new_folder(self) -> Path:
        """Return a new empty folder for one measurement's files."""
        self._runs += 1
        folder = self.folder / f"run-{self._runs}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def clean(self) -> None:
        """Remove what measurements left on disk."""
        shutil.rmtree(self.folder, ignore_errors=True)

    @contextlib.contextmanager
    def null_server(self, **options: Scalar) -> Iterator[NullServer]:
        """Start a null server with further options (``delay_law=...``) and yield it when ready.

        A delaying one is compiled by the JVM's fast compiler alone: the slow one would still be
        at work on the server's core, and delay it, when measuring has begun.
        """
        settings = {name.replace("_", "-"): value for name, value in options.items()}
        flags = ["-XX:+UseSerialGC"]
        flags += ["-XX:TieredStopAtLevel=1"] if "delay-law" in settings else []
        role = JvmRole(
            role="nullserver",
            heap_mib=384,
            cpus=self.placement.stack[:1],
            flags=tuple(flags),
            settings={"body-bytes": BODY_BYTES, **settings},
        )
        with self._runner.running(Deployment(roles=(role,)), "bench") as stack:
            stack.pin()
            self.versions |= stack.versions
            node = stack.nodes[0]
            yield NullServer(node.process, node.url)

    @contextlib.contextmanager
    def generator(self) -> Iterator[GeneratorClient]:
        """Start our load generator on its CPU, ready for trials."""
        cpus = self.placement.generator[:1]
        with GeneratorClient(
            self.host, sys.executable, self.folder / "generator", cpus
        ) as generator:
            self.versions |= dict(generator.versions)
            yield generator

    def measure(
        self, generator: GeneratorClient, load: LoadProfile, server: NullServer
    ) -> tuple[Collected, NDArray[np.int64]]:
        """Run one trial; return what was recorded, and the schedule's offsets in ns.

        The schedule is empty for a closed loop.
        """
        folder = self.new_folder()
        try:
            generator.prepare(load, {"nullserver": server.url}, folder)
            collected = generator.run()
            schedule = folder / SCHEDULE_FILE
            offsets = np.load(schedule) if schedule.exists() else np.empty(0, dtype=np.int64)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return collected, offsets
