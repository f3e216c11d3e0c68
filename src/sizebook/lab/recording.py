"""From a trial as it went to its bundle on disk."""

from __future__ import annotations

import contextlib
import platform
import re
import secrets
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType

import polars as pl

from sizebook.hosts import ClockReading, Host, LinkEnd
from sizebook.lab.calibration import Ceilings, LoadKind
from sizebook.lab.turn_booking import book, in_own_time
from sizebook.load.collect import Collected
from sizebook.model.bundle import (
    BundleRecord,
    CommandRun,
    Execution,
    Fingerprints,
    HostRun,
    MachineFacts,
    StackEvent,
)
from sizebook.model.errors import TrialError
from sizebook.model.load import ClosedLoop
from sizebook.model.records import Scalar
from sizebook.model.trial import TrialSpec
from sizebook.probes.sampler import Sampler
from sizebook.stack import RunningStack
from sizebook.stack.running import LOG_FOLDERS
from sizebook.stats.histograms import write_interval_log
from sizebook.store import Bundle, BundleWriter, cache_key
from sizebook.store.bundles import COUNTERS, HISTOGRAMS, REQUESTS, SCHEDULE
from sizebook.store.trial_clock import TrialClock

_MAX_LOG_BYTES = {"logs": 256 * 1024, "gc": 4 * 1024 * 1024}
"""By kind of log: collections are counted, so that all of a trial's must be there."""
_SECRET = re.compile(r"(password|token|secret)=\S+", re.IGNORECASE)


@dataclass
class TrialRecord:
    """What is known of a trial while it runs and when it is over."""

    root: Path
    """Of the project; its place on disk stays out of the bundle."""
    spec: TrialSpec
    fingerprints: Fingerprints
    machine: MachineFacts
    session: str
    position: int
    stack: RunningStack
    setup_s: float
    collected: Collected | None = None
    sampler: Sampler | None = None
    failure: str = ""
    facts: dict[str, Scalar] = field(default_factory=dict)
    """Further facts of how it went."""
    events: list[StackEvent] = field(default_factory=list)
    """What was done to the stack on purpose, and nodes that ran out of memory."""
    clocks: dict[str, ClockReading] = field(default_factory=dict)
    """Each host's when the load began."""
    hosts: list[HostRun] = field(default_factory=list)
    callers: list[HostRun] = field(default_factory=list)
    """Other machines from which the load came."""
    wall_ns: int = field(default_factory=time.time_ns)
    monotonic_ns: int = field(default_factory=time.monotonic_ns)

    def begin(self) -> None:
        """Note on all clocks that the load starts."""
        self.clocks = {name: host.clock() for name, host in self.stack.hosts.items()}
        self.wall_ns, self.monotonic_ns = time.time_ns(), time.monotonic_ns()

    def end(
        self, ceilings: Mapping[str, Ceilings], callers: Mapping[str, Host] = MappingProxyType({})
    ) -> None:
        """Note how far the clocks have moved apart, and the ceiling of the client that was used.

        Of its ceilings it is the one for this trial's kind of load. ``callers`` are other machines
        from which the load came.
        """
        self.facts["wall_drift_ns"] = (time.time_ns() - self.wall_ns) - (
            time.monotonic_ns() - self.monotonic_ns
        )
        self.hosts = [
            _host_run(host, self.clocks[name], host.clock())
            for name, host in self.stack.hosts.items()
        ]
        clocks = self.collected.clocks if self.collected is not None else {}
        self.callers = [_host_run(callers[name], *both) for name, both in sorted(clocks.items())]
        client = self.collected.facts.client if self.collected is not None else ""
        kind: LoadKind = "closed" if isinstance(self.spec.load.arrivals, ClosedLoop) else "open"
        if (ceiling := ceilings.get(client, Ceilings()).of(kind)) is not None:
            self.facts |= {
                "ceiling_per_s": ceiling.per_s,
                "ceiling_kind": ceiling.kind,
                "ceiling_from": " ".join(ceiling.bundles),
            }

    def read(self, files: Mapping[str, str]) -> None:
        """Note what its load profile has read beside its own file: name to checksum."""
        self.fingerprints = self.fingerprints.model_copy(update={"data": files})

    def mark_logs(self) -> dict[Path, int]:
        """Return the present size of each log, so that the bundle gets this trial's part only."""
        self.stack.bring()
        return {path: path.stat().st_size for path in _logs(self.stack.folder)}


def _host_run(host: Host, before: ClockReading, after: ClockReading) -> HostRun:
    return HostRun(
        name=host.name,
        mode=host.mode,
        machine=host.facts(),
        boot_s={piece: round(seconds, 3) for piece, seconds in host.boot_s.items()},
        clock_ahead_ns=before.monotonic_ns,
        clock_drift_ns=after.monotonic_ns - before.monotonic_ns,
        clock_uncertainty_ns=max(before.uncertainty_ns, after.uncertainty_ns),
        links={peer: _told(end) for peer, end in host.links.items()},
    )


def _told(end: LinkEnd) -> str:
    return "; ".join(f"{what} {words}" for what, words in end.settings().items())


def write_bundle(record: TrialRecord, marks: dict[Path, int], folder: Path) -> Bundle:
    """Write the bundle of a trial below ``folder``; raises TrialError if the disk refuses it."""
    key = cache_key(record.spec, record.fingerprints)
    started = time.gmtime(record.wall_ns / 1e9)
    name = f"{time.strftime('%Y%m%dT%H%M%SZ', started)}-{key[:12]}-{secrets.token_hex(2)}"
    with contextlib.suppress(TrialError):  # of a host that is gone, what came before it is kept
        record.stack.bring()
    if earlier := len(list(folder.glob(f"*-{key[:12]}-*"))):
        record.facts["attempt"] = earlier + 1
    clock = TrialClock(record.collected.turns if record.collected is not None else ())
    if record.collected is not None:
        record.collected = in_own_time(record.collected, clock)
    with BundleWriter(folder, name) as writer:
        if record.collected is not None:
            writer.table(REQUESTS, record.collected.requests)
            write_interval_log(
                writer.path / HISTOGRAMS, record.collected.requests, record.monotonic_ns
            )
        if record.collected is not None and record.collected.schedule is not None:
            writer.table(SCHEDULE, pl.DataFrame({"offset_ns": record.collected.schedule}))
        writer.table(COUNTERS, _counters(record, clock))
        if record.sampler is not None:
            record.sampler.store(writer.path)
        for path, begin in {**dict.fromkeys(_logs(record.stack.folder), 0), **marks}.items():
            most = _MAX_LOG_BYTES[path.parent.name]
            target = writer.path / path.relative_to(record.stack.folder)
            _copy_part(path, begin, target, most, record.stack.addresses_elsewhere)
        return writer.commit(_bundle_record(record, key, started))


def _counters(record: TrialRecord, clock: TrialClock) -> pl.DataFrame:
    sampler = record.sampler or Sampler(())
    frames = [book(sampler.frame(), clock)]
    if record.collected is not None:
        frames.append(record.collected.counters)
    return pl.concat(frames).sort("time_ns", maintain_order=True)


def _bundle_record(record: TrialRecord, key: str, started: time.struct_time) -> BundleRecord:
    collected = record.collected
    versions = {
        "sizebook": version("sizebook"),
        "python": platform.python_version(),
        **record.stack.versions,
        **(dict(collected.facts.versions) if collected else {}),
    }
    return BundleRecord(
        key=key,
        trial=record.spec,
        fingerprints=record.fingerprints,
        machine=record.machine,
        versions=versions,
        execution=Execution(
            started_utc=time.strftime("%Y-%m-%dT%H:%M:%SZ", started),
            wall_ns=record.wall_ns,
            monotonic_ns=record.monotonic_ns,
            session=record.session,
            position=record.position,
            phases=collected.phases if collected else (),
            turns=collected.turns if collected else (),
            commands=_commands(record),
            events=tuple(sorted(record.events, key=lambda event: event.begin_ns)),
            hosts=tuple(record.hosts),
            callers=tuple(record.callers),
            facts={
                "setup_s": round(record.setup_s, 3),
                **{f"ready_s/{node.name}": round(node.ready_s, 3) for node in record.stack.nodes},
                **record.facts,
                **(dict(collected.notes) if collected else {}),
            },
        ),
        outcome="failed" if record.failure else "completed",
        failure=without_paths(record.failure, record),
        generator=collected.facts if collected else None,
        files={},
    )


def _commands(record: TrialRecord) -> tuple[CommandRun, ...]:
    return tuple(
        CommandRun(
            name=name,
            command=tuple(
                without_paths(_SECRET.sub(r"\1=***", word), record) for word in process.command
            ),
            exit_code=process.exit_code,
        )
        for name, process in record.stack.processes().items()
    )


def without_paths(text: str, record: TrialRecord) -> str:
    """Return the text without places on disk (checkout, temporary files, home) and hosts."""
    places = (
        (record.stack.folder, "<session>"),
        ((record.root / "stack" / "target").resolve(), "./stack/target"),  # it may be a link
        (record.root, "."),
        (Path(tempfile.gettempdir()), "/tmp"),
        (Path.home(), "~"),
    )
    for path, word in places:
        if len(path.parts) > 1:
            text = text.replace(str(path), word)
    return without_addresses(text.encode(), record.stack.addresses_elsewhere).decode()


def without_addresses(text: bytes, names: Mapping[str, str]) -> bytes:
    """Return the text with ``<name>`` for each of these addresses."""
    for address, name in names.items():
        whole = rb"(?<![\w.:])" + re.escape(address.encode()) + rb"(?![\w]|\.\d)"
        text = re.sub(whole, f"<{name}>".encode(), text)
    return text


def _logs(folder: Path) -> list[Path]:
    return [path for kind in LOG_FOLDERS for path in sorted((folder / kind).glob("*.log"))]


def _copy_part(
    source: Path, begin: int, target: Path, most_bytes: int, names: Mapping[str, str]
) -> None:
    """Copy what was written since ``begin``; of a very long log the end is kept.

    ``names`` stand for addresses of other machines.
    """
    try:
        with source.open("rb") as log:
            size = log.seek(0, 2)
            log.seek(max(begin, size - most_bytes))
            part = log.read()
    except OSError:
        return
    if part:
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(without_addresses(part, names))
