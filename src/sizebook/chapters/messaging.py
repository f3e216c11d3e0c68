"""Room of the chapter on messaging: queues that are drained, and calls that queue or wait."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from sizebook.lab import Placement, Setup, Trial, Trials, messaging_stack
from sizebook.model.load import ClosedLoop, LoadProfile, Phases
from sizebook.model.records import Scalar
from sizebook.model.trial import Stored
from sizebook.report import charts, drains, measures, summaries
from sizebook.report.counter_increase import rises
from sizebook.report.quantities import Quantity, frame_of, table_of
from sizebook.store import Bundle

if TYPE_CHECKING:
    from great_tables import GT

CHUNK = 500
"""Messages that one request of the operator puts into a queue."""
_STEADY = 0.95


@dataclass(frozen=True)
class Amounts:
    """How much is drained, and for how long."""

    messages: int
    """Messages of a drain."""
    look_s: float
    """Seconds between two looks of the operator."""
    conditioning_s: float
    """Seconds of the load after a start."""
    warmup_s: float
    """Seconds of short drains before each trial counts."""
    measured_s: float
    """Seconds within which a trial begins whole fillings and drains."""


@dataclass(frozen=True)
class Queues:
    """Nodes with durable queues, whose operator fills and drains them."""

    here: Placement
    amounts: Amounts
    message_bytes: int
    total_heap_mib: int
    seed: int

    def drain(self, jvm: str, nodes: int, consumers: int, broker: str = "embedded") -> Setup:
        """Return a layout of so many nodes that share ``consumers``, and the load of an operator.

        A broker in a ``process`` of its own has one queue for all nodes.
        """
        stack = messaging_stack(
            self.here,
            nodes=nodes,
            jvm=jvm,
            total_heap_mib=self.total_heap_mib,
            settings={"consumers": 0},
            broker=broker,
        )
        own = self.amounts
        phases = Phases(
            warmup_s=own.warmup_s, measured_s=own.measured_s, drain_s=30 * own.measured_s
        )
        settings: dict[str, Scalar] = {
            "messages": own.messages,
            "bytes": self.message_bytes,
            "chunk": CHUNK,
            "nodes": nodes,
            "consumers": consumers // nodes,
            "shared": broker == "process",
        }
        load = self._load("messaging.py", phases, settings, think_s=own.look_s)
        return Setup(stack, load, stores={"messaging_row": Stored(request="fill", each=CHUNK)})

    def call(self, jvm: str, call: str, phases: Phases, document_bytes: int) -> Setup:
        """Return one node and a caller who asks for one kind of answer; documents take longer."""
        stack = messaging_stack(
            self.here,
            jvm=jvm,
            total_heap_mib=self.total_heap_mib,
            settings={"parts": "messaging,xml,rest,odata"},
        )
        longer = (2 if call in ("sync", "async") else 1) * phases.measured_s
        own = phases.model_copy(update={"warmup_s": 2 * phases.warmup_s, "measured_s": longer})
        load = self._load("calls.py", own, {"call": call, "bytes": document_bytes})
        return Setup(stack, load, stores={"messaging_row": "async", "document": "sync"})

    def _load(
        self, locustfile: str, phases: Phases, settings: dict[str, Scalar], think_s: float = 0.0
    ) -> LoadProfile:
        return LoadProfile(
            locustfile=locustfile,
            arrivals=ClosedLoop(users=1, think_s=think_s),
            phases=phases,
            settings=settings,
            seed=self.seed,
            cpus=self.here.generator,
        )


def paged_bytes(bundle: Bundle) -> float:
    """Return the bytes that the machine swapped in and out over the whole trial."""
    moved = [rises(bundle, f"swap_{way}_bytes", "host")["rise"].sum() for way in ("in", "out")]
    return float(sum(moved))


_CPU = "CPU (ms)"
RATE = Quantity("drained_per_s", "Messages per second", 0, measure=drains.drained_per_s)
BROKER_CPU = Quantity("broker_cpu_ms", "Broker", 3, _CPU, drains.cpu_ms_per_message("broker"))
COSTS = (
    Quantity(
        "syncs",
        "Journal forced",
        3,
        measure=drains.per_message("server/", "journal_syncs_total"),
    ),
    Quantity("flushes", "Disk flushes", 2, measure=drains.per_message("host", "disk_flushes")),
    Quantity(
        "log_kb",
        "Database log (kB)",
        2,
        measure=drains.per_message("database", "wal_bytes", scale=1e-3),
    ),
    Quantity(
        "written_kb",
        "Written (kB)",
        1,
        measure=drains.per_message("host", "disk_written_bytes", scale=1e-3),
    ),
    Quantity("app_cpu_ms", "App", 3, _CPU, drains.cpu_ms_per_message("app")),
    BROKER_CPU,
    Quantity("database_cpu_ms", "Database", 3, _CPU, drains.cpu_ms_per_message("database")),
)
"""What a message takes."""
_FREE = "memory_available_bytes"
MEMORY = (
    Quantity("nodes", "Nodes"),
    Quantity("free_mean", "Available, average", 0, measure=measures.level("host", _FREE, "mean")),
    Quantity("free_min", "Available, least", 0, measure=measures.level("host", _FREE, "min")),
    Quantity(
        "memory_mib",
        "Held by the nodes",
        0,
        measure=measures.level("process/app-", "rss_bytes", "max"),
    ),
    Quantity("paged", "Paged (MB)", 1, measure=paged_bytes),
)
"""Memory by layout."""
_TIMED = (
    Quantity("drain_s", "Drain (s)", 2, measure=drains.drain_s),
    Quantity("most_busy", "Under work, most", 0, measure=drains.most_busy),
)


def _received_bytes(bundle: Bundle) -> float | None:
    name = str(bundle.record.trial.level("call"))
    return measures.mean_bytes("received_bytes", name)(bundle)


CALLS = (
    Quantity("call", "Call and answer"),
    Quantity(
        "service_p50_ms", "Time (ms)", 2, measure=measures.latency_ms(0.5, column="service_ns")
    ),
    Quantity("app_cpu_ms", "CPU app (ms)", 2, measure=measures.cpu_ms_per_request("app")),
    Quantity("received_bytes", "Answer (bytes)", 0, measure=_received_bytes),
)
"""What a call keeps and sends back."""


def drained_frame(*designs: tuple[Trials, Mapping[str, Scalar]]) -> pl.DataFrame:
    """Return one row a trial of several designs: rates, costs, memory, and its fixed levels.

    Memory is in MiB. ``levels_off``: the least available memory lies within a twentieth of its
    mean, and nothing was swapped. ``workers_bounded``: no reading found more messages under work in
    a node than it has consumers.
    """
    parts = [
        frame_of(trials, RATE, *_TIMED, *COSTS, *MEMORY).with_columns(
            **{name: pl.lit(level) for name, level in levels.items()}
        )
        for trials, levels in designs
    ]
    whole = pl.concat(
        [part.with_columns(pl.col("nodes", "consumers").cast(pl.Int64)) for part in parts],
        how="diagonal_relaxed",
    )
    free = pl.col("free_min") >= _STEADY * pl.col("free_mean")
    return whole.with_columns(
        pl.col("memory_mib", "free_mean", "free_min") / 2**20,
        levels_off=free & (pl.col("paged") == 0),
        workers_bounded=pl.col("most_busy") <= pl.col("consumers") // pl.col("nodes"),
    )


def peaks_table(
    layouts: pl.DataFrame, printed: pl.DataFrame, platforms: Mapping[str, str], backlog: int
) -> GT:
    """Return the highest rate of any layout by JVM, beside that of the platform it stands for.

    ``printed`` has the report's ``platform`` and ``value``, ``platforms`` are theirs by JVM.
    """
    best = [
        summaries.summarize(
            layouts.filter(pl.col("jvm") == jvm), ["nodes"], "drained_per_s"
        )["mean"].max()
        for jvm in platforms
    ]  # fmt: skip
    schema = {"platform": pl.String, "jvm": pl.String, "measured": pl.Float64}
    rows = pl.DataFrame(
        [[*platforms.values()], [f"Java {jvm}" for jvm in platforms], best], schema=schema
    ).join(printed.rename({"value": "reported"}), on="platform", how="left", maintain_order="left")
    compared = rows.with_columns(
        minutes=backlog / pl.col("measured") / 60,
        reported_minutes=backlog / pl.col("reported") / 60,
    )
    rate, minutes = "Messages per second, best layout", f"Minutes for {backlog:,} messages"
    return table_of(
        compared,
        Quantity("platform", "Report's platform"),
        Quantity("jvm", "JVM here"),
        Quantity("measured", "Here", 0, rate),
        Quantity("reported", "Report", 0, rate),
        Quantity("minutes", "Here", 1, minutes),
        Quantity("reported_minutes", "Report", 0, minutes),
        note="minutes are computed from the rates",
    )


def memory_table(layouts: pl.DataFrame, note: str) -> GT:
    """Return available memory, what nodes held and what was paged, by the number of nodes."""
    rows = summaries.usable(layouts).group_by("nodes", maintain_order=True).agg(
        pl.col("free_mean").mean(),
        pl.col("free_min").min(),
        pl.col("memory_mib").mean(),
        paged=pl.col("paged").sum() / 1e6,
    )  # fmt: skip
    return table_of(rows, *MEMORY, note=note)


def depth_chart(trials: Iterable[Trial]) -> alt.Chart:
    """Return the messages in the queue over time, one line a number of consumers."""
    depth = drains.over_time(trials, drains.APP, "queue_depth/work", "consumers")
    return charts.lines(
        depth.sort("consumers", "t_s").with_columns(row=pl.format("{} consumers", "consumers")),
        x="t_s",
        y="value",
        series="row",
        x_title="seconds since filling began",
        y_title="messages in the queue",
        series_title="Consumers",
    )


def memory_chart(trials: Iterable[Trial], source: str, metric: str) -> alt.Chart:
    """Return a gauge in MiB over time, one line a number of nodes."""
    seen = drains.over_time(trials, source, metric, "nodes", scale=2**-20).sort("nodes", "t_s")
    several = pl.format("{} nodes", "nodes")
    row = pl.when(pl.col("nodes") == 1).then(pl.lit("1 node")).otherwise(several)
    return charts.lines(
        seen.with_columns(row=row),
        x="t_s",
        y="value",
        series="row",
        x_title="seconds since filling began",
        y_title="MiB",
        series_title="Layout",
    )
