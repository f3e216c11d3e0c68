"""What a results file of ``make bench`` holds: strict records, no paths, no host name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import exp, log, sqrt
from pathlib import Path
from statistics import median
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from sizebook.model.bundle import MachineFacts
from sizebook.model.errors import UserError
from sizebook.model.records import Record, Scalar, Strings
from sizebook.stats.intervals import Interval, ratio_interval

RESULTS = Path(__file__).resolve().parent / "results"
VERSION = 2
"""Version 1 had one law, and shares of the closed loop's ceiling; it can still be read."""
OURS = "Sizebook"
"""Our generator among the tools whose word is compared with the truth."""
PERCENTILES = (50.0, 90.0, 99.0, 99.9)

Positive = Annotated[float, Field(gt=0)]


class Repeated(Record):
    """One quantity, measured once a round."""

    values: Annotated[tuple[float, ...], Field(min_length=1)]

    @property
    def median(self) -> float:
        """The median of the rounds."""
        return float(median(self.values))

    @property
    def low(self) -> float:
        """The smallest value."""
        return min(self.values)

    @property
    def high(self) -> float:
        """The largest value."""
        return max(self.values)


class Ceiling(Record):
    """Requests per second that one core of a generator completes and records."""

    connections: int
    body_bytes: int
    seconds: Positive
    """Length of one measurement."""
    requests_per_s: Mapping[str, Repeated]
    """By tool; value i of each comes from round i."""
    server_cpu_share: Mapping[str, Repeated]
    """CPUs that the server used meanwhile: near 1 the server was the limit, not the tool."""


class PercentileRow(Record):
    """One percentile of the latency from intended start, in microseconds."""

    percentile: float
    recorded_us: float
    """What the tool says."""
    computed_us: float
    """Truth from schedule, law and freeze alone."""
    expected_us: float | None = None
    """Truth with the way to the server and back added, as measured at the same rate."""
    answered_us: float | None = None
    """From the intended start until the server sent the answer, by the server's own clock, of the
    same requests."""


class TruthRun(Record):
    """What one tool said of one server with a known truth."""

    server: Literal["law", "freeze"]
    tool: str
    law: str = ""
    """Of the server's delays; empty: the first of the results'."""
    connections: int | None = None
    share: Positive
    """Of our ceiling."""
    rate_per_s: Positive
    """Arrivals asked for."""
    achieved_per_s: float
    requests: int
    """Requests behind the percentiles."""
    dropped: int = 0
    round: int = 0
    rows: tuple[PercentileRow, ...]
    parts_us: Mapping[str, Mapping[str, float]] = {}
    """What adds up to recorded latency less the law's delay: part to percentile to its value."""
    contradictions: int | None = None
    """Requests whose times at the generator and at the server cannot both be."""
    peak_in_flight: int | None = None
    """Requests under way at once; as many as connections: some waited for a free one."""
    timer_p50_us: float | None = None
    """Version 1: how much later than the law says the server answered, by its own clock."""
    timer_p99_us: float | None = None


class TransportRun(Record):
    """The way to the server and back, with the generator's part: a server without delay."""

    share: Positive
    rate_per_s: Positive
    round: int
    requests: int
    latency_us: Mapping[str, float]
    """By percentile."""


class OpenCeiling(Record):
    """The highest rate of an open load that our generator keeps up with, without delay."""

    arrivals: str
    connections: int
    p99_limit_ms: Positive
    """Kept: every arrival is answered, and this percentile from intended start is no more."""
    per_s: Repeated
    """The highest rate kept, by round."""
    grid_ratio: Positive
    """Of neighbouring rates that were tried: so exact is the answer."""
    trials: int


class Truth(Record):
    """Recorded percentiles beside computed ones."""

    law: str
    """Of the servers that freeze, and of those that the peers ask."""
    arrivals: str
    connections: int
    """At least."""
    ceiling_per_s: Positive
    """That the shares are of: of open loads where ``open_ceiling`` is told; else of our user class
    in a closed loop of so many connections, on the server without delay."""
    closed_per_s: Positive | None = None
    """The closed loop's ceiling."""
    open_ceiling: OpenCeiling | None = None
    frozen_s: Positive
    measured_s: Mapping[str, float]
    """Length of the measured phase by server."""
    runs: tuple[TruthRun, ...]
    transport: tuple[TransportRun, ...]
    failures: tuple[str, ...]
    """Measurements that could not be used, and why."""


class SummaryRun(Record):
    """Summarising one bundle, a fresh process each time."""

    requests: int
    wall_s: Repeated
    """Of the whole process, its start included."""
    cpu_s: Repeated
    peak_rss_mib: Repeated


class Summary(Record):
    """What every check and measure of a chapter takes over one bundle."""

    runs: tuple[SummaryRun, ...]
    measures: int
    checks: int
    beside_requests: int
    """Requests of the bundle that is compared with JMeter."""
    dashboard_samples: int | None
    dashboard_wall_s: Repeated | None
    """JMeter's dashboard generator over its samples; None where JMeter is missing."""
    dashboard_cpu_s: Repeated | None


class GcLogRun(Record):
    """What reading one GC log takes, whole processes."""

    log: str
    """Collector and Java release."""
    lines: int
    size_mib: Positive
    ours_s: Repeated
    loop_s: Repeated
    """A loop over lines with one pattern, which does less."""
    ours_peak_mib: Positive


class GcLogs(Record):
    """What reading long GC logs takes."""

    runs: tuple[GcLogRun, ...]


class Rate(Record):
    """A share found by simulation, and what it should be."""

    name: str
    method: str
    hits: int
    trials: int
    nominal: float
    """The share that is promised."""
    bound: Literal["about", "at most", "at least"]
    seed: int

    @property
    def share(self) -> float:
        """The share found."""
        return self.hits / self.trials


class Inference(Record):
    """Error rates of the statistics."""

    rates: tuple[Rate, ...]


class TurnsBlock(Record):
    """Two equal stacks of one block."""

    per_s: tuple[Positive, Positive]
    """Requests per second of each."""
    error: float | None = None
    """Standard error of their log ratio by the rounds of turns alone; None: one after the other."""
    speed_sd: float | None = None
    """How far the machine's speed wandered meanwhile: standard deviation of the logarithm of a
    fixed piece of work, second by second or turn by turn; None: not told."""

    @property
    def log_ratio(self) -> float:
        """Logarithm of the ratio of both, which in truth is 0."""
        return log(self.per_s[0] / self.per_s[1])


class Turns(Record):
    """Equal stacks in turns and one after the other, in the same hours."""

    side_s: Positive
    """Seconds that count of each stack in a block."""
    users: int
    turns: tuple[TurnsBlock, ...]
    apart: tuple[TurnsBlock, ...]

    @staticmethod
    def sd(blocks: tuple[TurnsBlock, ...]) -> float:
        """Return the standard deviation of a block's log ratio around the truth."""
        return sqrt(sum(one.log_ratio**2 for one in blocks) / len(blocks))

    @staticmethod
    def level(blocks: tuple[TurnsBlock, ...]) -> float:
        """Return the geometric mean of all rates: what taking turns costs shows in it."""
        logs = [log(per_s) for one in blocks for per_s in one.per_s]
        return exp(sum(logs) / len(logs))


PlantedSide = Literal["equal", "slower"]
PLANTED_SIDES: tuple[PlantedSide, ...] = ("equal", "slower")


class PlantedBlock(Record):
    """Requests per second of three stacks that took turns."""

    one_per_s: Positive
    equal_per_s: Positive
    """Of a stack that is equal to the first."""
    slower_per_s: Positive
    """Of one that does more work for each request."""


class Planted(Record):
    """A slowdown that was planted into one of three stacks."""

    more: Positive
    """Share of CPU work that the slower stack does more for each request."""
    side_s: Positive
    """Seconds that count of each stack in a block."""
    users: int
    blocks: tuple[PlantedBlock, ...]

    def ratio(self, side: PlantedSide, blocks: Sequence[int] = ()) -> Interval:
        """Return how many times the first stack's rate a side's is, over some blocks or all."""
        used = [self.blocks[at] for at in blocks or range(len(self.blocks))]
        rates = [getattr(block, f"{side}_per_s") for block in used]
        return ratio_interval(rates, [block.one_per_s for block in used], paired=True)

    def found(self, side: PlantedSide, size: int = 4) -> tuple[int, int]:
        """Return how many of all choices of so many blocks tell a side from the first, and of what.

        A choice does if the 95 % interval of its ratio leaves 1 out. Choices share blocks, so they
        are no independent runs: their share says how often so many blocks do, not how surely.
        """
        choices = list(combinations(range(len(self.blocks)), size))
        told = 0
        for choice in choices:
            ratio = self.ratio(side, choice)
            low, high = ratio.low, ratio.high
            told += low is not None and high is not None and not low <= 1 <= high
        return told, len(choices)


class ProbeCost(Record):
    """What the benchmark of the probes prints."""

    metrics: Mapping[str, float]
    """``ours_percent``: CPU of all probes at 1 Hz in percent of a core; further ones by name."""
    conditions: Mapping[str, Scalar | None]
    """Nodes, rounds, versions."""


class Results(Record):
    """One run of ``make bench``."""

    format: Literal["sizebook-bench"] = "sizebook-bench"
    version: Literal[1, 2] = 2
    made_utc: str
    """ISO 8601, seconds, UTC."""
    short: bool
    """Made to prove that it works: its numbers mean nothing."""
    commit: str
    machine: MachineFacts
    machine_sha256: str
    generator_cpus: int
    server_cpus: int
    versions: Strings
    missing: Strings
    """Peer to the reason why it is not in the results."""
    failures: Strings
    """Benchmark to what stopped it."""
    seconds: Mapping[str, float]
    """Wall time of each benchmark that was run."""
    made_on: Strings = Field(default_factory=dict, exclude=True)
    """Of results put together: benchmark to the day of its run, if that was an earlier one."""
    ceiling: Ceiling | None = None
    truth: Truth | None = None
    summary: Summary | None = None
    statistics: Inference | None = None
    probe_cost: ProbeCost | None = None
    gc_logs: GcLogs | None = None
    turns: Turns | None = None
    planted: Planted | None = None


def read_results(path: Path) -> Results:
    """Return the results in a file. Raises UserError for a file that holds no such results."""
    try:
        return Results.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ValidationError) as error:
        first = error.errors()[0] if isinstance(error, ValidationError) else None
        where = ".".join(map(str, first["loc"])) if first else ""
        raise UserError(
            found=f"{path.name}: {first['msg'] if first else error} {where}".rstrip(),
            expected=f"results of 'make bench', version {VERSION} or the one before",
            next_step="run 'make bench', or remove the file",
        ) from error


def newest_results(folder: Path = RESULTS) -> Results | None:
    """Return the newest results of each benchmark, or None if there are none.

    All are those of the machine on which the last run was; ``made_on`` says when each was made.
    """
    every = sorted((read_results(path) for path in folder.glob("*.json")), key=_made)
    found = every[-1] if every else None
    for older in reversed(every[:-1]):
        if found is not None and older.machine_sha256 == found.machine_sha256:
            found = _filled(found, older)
    return found


def _made(results: Results) -> str:
    return results.made_utc


def _filled(newer: Results, older: Results) -> Results:
    """Return results with the benchmarks of an older run that the newer one did not run."""
    added = [name for name in older.seconds if name not in newer.seconds]
    if not added:
        return newer
    failures = {name: older.failures[name] for name in added if name in older.failures}
    changes: dict[str, object] = {name: getattr(older, name) for name in added}
    changes |= {
        "made_on": {**dict.fromkeys(added, older.made_utc[:10]), **newer.made_on},
        "versions": {**older.versions, **newer.versions},
        "missing": {**older.missing, **newer.missing},
        "failures": {**failures, **newer.failures},
        "seconds": {**older.seconds, **newer.seconds},
    }
    return newer.model_copy(update=changes)


def write_results(results: Results, names: Sequence[str] = (), folder: Path = RESULTS) -> Path:
    """Write results as ``<date>-<machine>.json`` and return the file; a later run of a day wins.

    ``names`` are those of the benchmarks if not all were run, and stand behind the machine.
    """
    folder.mkdir(parents=True, exist_ok=True)
    words = [results.made_utc[:10], results.machine_sha256[:8], *names]
    path = folder / ("-".join(words).replace("_", "-") + ".json")
    partial = path.with_suffix(".partial")
    partial.write_text(results.model_dump_json(indent=1) + "\n", encoding="utf-8")
    partial.replace(path)
    return path
