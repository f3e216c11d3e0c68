"""What a bundle's ``trial.json`` holds, and the columns of its tables."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from sizebook.model.modes import Mode
from sizebook.model.records import Record, Scalars, Strings
from sizebook.model.trial import TrialSpec

BUNDLE_FORMAT = "sizebook-bundle"
BUNDLE_VERSION = 1
CAPTURE_VERSION = 3
"""Raised whenever load, probes or phases change in a way that makes old samples incomparable."""

Count = Annotated[int, Field(ge=0, le=2**53)]
"""A number of things: whole, and exact as a double too."""

Nanoseconds = Annotated[int, Field(ge=0, le=2**62)]
"""A time of a clock; sums and differences of two fit into 64 bits."""

Amount = Annotated[float, Field(ge=0)]

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]

LONGEST_TRIAL_NS = 7 * 24 * 3600 * 10**9
"""From the first phase's begin to the last one's end: windows of a trial fit into memory."""

LONGEST_ANSWER_NS = 3600 * 10**9
"""Longest latency that is recorded: what the histograms reach."""

MOST_FILES = 1000
"""Files of a bundle."""

_FILE_NAME = re.compile(
    r"([A-Za-z0-9][A-Za-z0-9._-]{0,99}/){0,2}"
    r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}\.(parquet|hlog|json|steps|log)"
)


def _check_file_name(name: str) -> str:
    shown = name[:100]
    if name.startswith("/") or ".." in re.split(r"[/\\]", name):
        raise ValueError(f"file name {shown!r} that leads out of the bundle")
    if not _FILE_NAME.fullmatch(name):
        raise ValueError(
            f"file name {shown!r}, which is none of a bundle's: letters, digits, '.', '_' and '-', "
            "at most two folders deep, ending in .parquet, .hlog, .json, .steps or .log"
        )
    if name in ("trial.json", "left-out.json"):
        raise ValueError(f"file name {name!r}, which has no checksum in 'trial.json'")
    return name


def _check_file_names(files: dict[str, FileRecord]) -> dict[str, FileRecord]:
    if len(files) > MOST_FILES:
        raise ValueError(f"{len(files)} files; a bundle holds at most {MOST_FILES}")
    if len({name.lower() for name in files}) != len(files):
        raise ValueError("two file names that differ only in upper and lower case")
    return files


FileName = Annotated[str, AfterValidator(_check_file_name)]
"""Place of a file below the bundle's folder, folders separated by ``/``."""

PHASES = ("ramp", "warm-up", "between", "measured", "drain")
"""Phases of a trial in order. Only a trial that takes turns has ``between``: what lay between its
turns, and the first part of each (``store.trial_clock``)."""

REQUEST_COLUMNS = {
    "intended_ns": "Int64",
    "start_ns": "Int64",
    "latency_ns": "Int64",
    "service_ns": "Int64",
    "name": "Categorical",
    "status": "UInt16",
    "error": "Categorical",
    "received_bytes": "UInt32",
    "body_bytes": "UInt32",
    "sent_bytes": "UInt32",
    "iteration": "UInt32",
    "user": "UInt32",
    "worker": "UInt8",
    "phase": "Categorical",
}
"""Columns of ``requests.parquet``: one row a request.

Times are CLOCK_MONOTONIC in ns. ``latency_ns`` counts from the intended start, ``service_ns`` from
the actual one; in a closed loop both starts are the same. ``status`` is 0 where no answer came;
``error`` is empty for a success. ``received_bytes`` counts status line, headers and body as they
came over the wire. ``iteration`` numbers the pass of the scenario to which the request belongs.
"""

COUNTER_COLUMNS = {
    "time_ns": "Int64",
    "host": "Categorical",
    "source": "Categorical",
    "metric": "Categorical",
    "value": "Float64",
}
"""Columns of ``counters.parquet``: one row a reading, CLOCK_MONOTONIC in ns, long format."""

SCHEDULE_COLUMNS = {"offset_ns": "Int64"}
"""Columns of ``schedule.parquet``: due times of open arrivals or paced users, ns from the first
phase's begin."""


class PhaseMark(Record):
    """One phase as it was run: CLOCK_MONOTONIC ns of its begin and end."""

    name: Literal["ramp", "warm-up", "between", "measured", "drain"]
    begin_ns: Nanoseconds
    end_ns: Nanoseconds


class TurnMark(Record):
    """One turn of a trial that took turns, as it was run: CLOCK_MONOTONIC ns."""

    begin_ns: Nanoseconds
    from_ns: Nanoseconds
    """From here on it counted."""
    end_ns: Nanoseconds


Results = Literal["requests", "passes"]
"""What of a load makes results: single requests, each a sample, or whole passes of the scenario,
such as the time that a queue took to drain, in which single requests only keep watch."""


class GeneratorFacts(Record):
    """What the load generator says of itself after a trial."""

    issued: Count
    """Requests started in all phases, and passes of a schedule that were due and never started."""
    completed: Count
    """Requests that were answered as the scenario expects."""
    failed: Count
    """Requests that were answered wrongly or not at all."""
    dropped: Count
    """Passes of a schedule that were due and never started."""
    cpu_s: Amount
    """CPU seconds of the generator's processes from first request to the end of the drain."""
    wall_s: Amount
    lag_p99_ms: Amount
    """99th percentile of how late the generator's own 10 ms clock tick came: the worst worker's."""
    lag_max_ms: Amount
    late_starts: Count = 0
    """Passes of a schedule that started more than 1 ms after their intended time."""
    iterations: Count = 0
    """Complete passes of the scenario in the measured phase."""
    versions: Strings = Field(default_factory=dict)
    client: str = ""
    """User class that sent the requests: ``LeanHttpUser``, ``FastHttpUser``, ``HttpUser``, or the
    name of another base; several are joined by ``+``. Empty: not recorded."""
    worker_cpu_s: tuple[Amount, ...] = ()
    """``cpu_s`` by worker; each is one event loop, which cannot use more than one CPU."""
    results: Results = "requests"
    """What of this load makes results, as its scenario says."""
    strays: Annotated[Count, Field(exclude_if=lambda strays: not strays)] = 0
    """Connections that brought bytes which no request had asked for: which answer was whose is not
    known there. None, and the JSON does not mention them."""
    pauses: Annotated[str, Field(exclude_if=lambda pauses: not pauses)] = ""
    """How plain Locust users pause between tasks by their own ``wait_time``, such as
    ``between(1, 3)``. Empty, and not in the JSON: not at all, or as the load profile says."""


SHARED_CORES = "shared_cores"
"""Fact of a trial's execution: CPUs of physical cores of which stack and generator have one each;
absent where they share none, or nothing is known of cores."""


USABLE_MEMORY_MIB = "usable_memory_mib"
"""Fact of a trial's execution: the memory that a control group left of the machine's, by which the
heap was shared out; absent where all may be used."""


class MachineFacts(Record):
    """The machine as far as it matters for numbers; no host name, no user name."""

    system: str
    kernel: str
    architecture: str
    cpu_model: str
    logical_cpus: Count
    memory_mib: Count
    virtualization: str
    """What the machine seems to run on, such as ``kvm``; ``unknown`` where nothing says."""
    idle: Annotated[str, Field(exclude_if=lambda idle: not idle)] = ""
    """How idle processors are kept while measuring, such as ``polls 20 ms``; empty: as the system
    has it, and the JSON does not mention it."""


class Fingerprints(Record):
    """What decides whether two trials may be compared."""

    stack: str
    """SHA-256 over the sources of the reference stack."""
    jvm: str
    """Vendors and versions of the JVMs that the deployment uses, such as ``Debian 17.0.15``."""
    locustfile: str
    """SHA-256 of the load profile's file."""
    machine: str
    """SHA-256 over the machine's facts."""
    hosts: Annotated[Strings, Field(exclude_if=lambda hosts: not hosts)] = Field(
        default_factory=dict
    )
    """SHA-256 over the facts of each host that is another machine, by the host's name, and over the
    URL of each target that runs already, as ``target app``: nothing else is known of it, so
    ``stack`` says nothing of it either. Where all is on this machine the JSON does not mention
    them, and older trials are the same trials."""
    servers: Annotated[Strings, Field(exclude_if=lambda servers: not servers)] = Field(
        default_factory=dict
    )
    """SHA-256 over the version of each server that is not the reference stack's, and over what it
    needs of the project, by role; without any the JSON does not mention them."""
    data: Annotated[Strings, Field(exclude_if=lambda data: not data)] = Field(default_factory=dict)
    """SHA-256 of what the load profile read beside its own file (modules, data, bodies), by the
    names of ``load.data_files``. Without any the JSON does not mention them."""
    capture_version: int = CAPTURE_VERSION


SCRIPT_ERRORS = "script_errors"
"""Name of the fact how many exceptions ended a task of a plain locustfile."""
SCRIPT_ERROR = "script_error"
"""Name of the fact what the first of them was, and where; there is none without any."""
EXIT_CODE = "locust_exit_code"
"""Name of the fact which exit code a locustfile set for itself, such as for too many failures;
there is none where it set none."""

JOINED_LATE = "users_joined_late"
"""Name of the fact how many users were still busy joining, such as logging in, when the measured
phase began; there is none where joining takes no requests."""


class CommandRun(Record):
    """A process that the trial used: what was run (secrets masked) and how it ended."""

    name: str
    command: tuple[str, ...]
    exit_code: int | None
    """None: still running when the bundle was written (it serves further trials)."""


OUT_OF_MEMORY = "out-of-memory"
"""Action of the event that a node's JVM ended since an allocation could not be satisfied."""
START = "start"
"""Action of the event that a node was started again after such an end, or after a ``STOP``."""
STOP = "stop"
"""Action of the event that a drained node was sent nothing more, and ended in good order."""
HANG = "hang"
"""Action of the event that a node did not run for a while, and went on."""
ENDS = ("kill", "restart", STOP, OUT_OF_MEMORY)
"""Actions with which a node ends."""


class StackEvent(Record):
    """Something that was done to the stack, or happened to it, while a load ran.

    Times are CLOCK_MONOTONIC ns.
    """

    action: str
    node: str
    begin_ns: int
    end_ns: int
    """When it was done; a node that was restarted or started is ready by then, or has ended."""
    heap_mib: int | None = None
    """Heap of the node that ran out of memory or was started with a heap of its own."""
    detail: str = ""
    """What the JVM said of its end."""

    @property
    def is_end(self) -> bool:
        """Whether the node ended with it, be it to come back."""
        return self.action in ENDS

    @property
    def is_outage(self) -> bool:
        """Whether the node did not answer from then on, be it because it ended or hung."""
        return self.is_end or self.action == HANG


class HostRun(Record):
    """A host of the deployment's own, as it was during a trial."""

    name: str
    mode: Mode
    machine: MachineFacts
    """What processes on it find out about the machine that they are on."""
    boot_s: dict[str, Amount]
    """Seconds from its start to the first answer of its agent (``all``), and their parts."""
    clock_ahead_ns: int
    """Its CLOCK_MONOTONIC minus this machine's when the trial began."""
    clock_drift_ns: int
    """How much that had changed when the trial was over."""
    clock_uncertainty_ns: Nanoseconds
    """By how much each of the two readings may be off: half of a round trip."""
    links: Annotated[Strings, Field(exclude_if=lambda links: not links)] = Field(
        default_factory=dict
    )
    """What its ends of links were set to, as the kernel said, by what they lead to."""


NO_SESSION = "none"
"""Session of a trial whose stack did not come up."""


class Execution(Record):
    """How the trial really went."""

    started_utc: str
    """ISO 8601, seconds, UTC."""
    wall_ns: Nanoseconds
    """Wall clock at ``monotonic_ns``, so that times can be put on the calendar."""
    monotonic_ns: Nanoseconds
    session: str
    """Trials that shared one start of the stack carry the same session; see ``started``."""
    position: Annotated[int, Field(ge=0, lt=1_000_000)]
    """Number of the trial within its session; 0 came first."""
    phases: tuple[PhaseMark, ...]
    """Of a trial that took turns: in its own time, as all times of its samples."""
    turns: Annotated[tuple[TurnMark, ...], Field(exclude_if=lambda turns: not turns)] = ()
    """The turns that counted, in order; without any the JSON does not mention them."""
    commands: tuple[CommandRun, ...]
    events: tuple[StackEvent, ...] = ()
    """What was done to the stack on purpose, and nodes that ran out of memory, in order of time."""
    hosts: tuple[HostRun, ...] = ()
    """Hosts that the deployment brought along; this machine is ``BundleRecord.machine``."""
    callers: Annotated[tuple[HostRun, ...], Field(exclude_if=lambda callers: not callers)] = ()
    """Other machines from which the load came. Times of requests are by this machine's clock: each
    caller's was taken to be ``clock_ahead_ns`` ahead throughout. Latencies are differences of times
    of the caller's own clock."""
    facts: Scalars = Field(default_factory=dict)
    """Further facts: set-up seconds, ceiling of the generator, class-data archive used."""

    @property
    def started(self) -> bool:
        """Whether the stack came up: a start that failed has no session that trials could share."""
        return self.session not in ("", NO_SESSION)

    def phase(self, name: str) -> PhaseMark | None:
        """Return the named phase, or None if the trial did not have it or never reached it."""
        return next((mark for mark in self.phases if mark.name == name), None)

    def phases_s(self) -> float:
        """Return how long the phases took, from ramp to drain."""
        return sum((mark.end_ns - mark.begin_ns) * 1e-9 for mark in self.phases)


class FileRecord(Record):
    """Checksum and size of one file of the bundle."""

    sha256: Sha256
    bytes: Count


class BundleRecord(Record):
    """The whole of ``trial.json``."""

    format: Literal["sizebook-bundle"] = "sizebook-bundle"
    version: int = BUNDLE_VERSION
    key: str
    """Cache key: SHA-256 over specification and fingerprints."""
    trial: TrialSpec
    fingerprints: Fingerprints
    machine: MachineFacts
    versions: Strings
    execution: Execution
    outcome: Literal["completed", "failed"]
    failure: str = ""
    """One line that says why, when the outcome is ``failed``."""
    generator: GeneratorFacts | None
    files: Annotated[dict[FileName, FileRecord], AfterValidator(_check_file_names)]
