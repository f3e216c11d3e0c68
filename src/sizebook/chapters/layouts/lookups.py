"""The chapter's own load: short look-ups, and what nodes of the same total heap take for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from sizebook.hosts.paging import HEAP_IN_FILE
from sizebook.lab import Setup, Trials, app_stack
from sizebook.lab.trials import Measure
from sizebook.lab.workplace import Workplace
from sizebook.model.load import Arrivals, LoadProfile, Phases
from sizebook.model.trial import Disturbance
from sizebook.probes.native_memory import LABELS, TRACKING
from sizebook.report import charts, measures, summaries
from sizebook.report.counter_increase import rise_per_request
from sizebook.report.gc_logs import gc_measure
from sizebook.report.quantities import Quantity, frame_of, means_of, table_of
from sizebook.store import Bundle

if TYPE_CHECKING:
    from great_tables import GT

USES = [use for use in LABELS if use != "heap"]
"""What a JVM commits memory for besides the heap."""


@dataclass(frozen=True)
class Lookups(Workplace):
    """App nodes that look up flights; they share one total of heap."""

    heap_mib: int
    loads: Mapping[str, Arrivals]
    """Ways in which requests come; ``closed`` is that of the load after a start."""
    phases: Phases

    def setup(
        self,
        load: str,
        nodes: int,
        jvm: str,
        *,
        total_mib: int = 0,
        flags: tuple[str, ...] = (TRACKING,),
        disturbances: tuple[Disturbance, ...] = (),
    ) -> Setup:
        """Return a layout under one of the loads; its nodes share ``total_mib``, or all heap."""
        stack = app_stack(
            self.here,
            nodes=nodes,
            heap_mib=(total_mib or self.heap_mib) // nodes,
            jvm=jvm,
            settings={"parts": "rest", "pool": 5},
        )
        return Setup(
            stack.changed("app", flags=flags),
            self._requests(load),
            conditioning=self._requests("closed"),
            disturbances=disturbances,
        )

    def paged(self, state: str, jvm: str, heap_mib: int) -> Setup:
        """Return one node with its heap in a file, whose pages are taken away while ``paging``."""
        length_s = self.phases.warmup_s + self.phases.measured_s
        taking = Disturbance(at_s=0, action="page-out", node="app-1", for_s=length_s)
        return self.setup(
            "closed",
            1,
            jvm,
            total_mib=heap_mib,
            flags=(TRACKING, HEAP_IN_FILE),
            disturbances=(taking,) if state == "paging" else (),
        )

    def _requests(self, load: str) -> LoadProfile:
        return self.load("flight.py", self.loads[load], phases=self.phases)


def _sum_of(*parts: Measure) -> Measure:
    def measure(bundle: Bundle) -> float | None:
        values = [part(bundle) for part in parts]
        known = [value for value in values if value is not None]
        return sum(known) if len(known) == len(values) else None

    return measure


def _of_app(metric: str, scale: float = 1.0) -> Measure:
    return rise_per_request("process/app-", metric, scale=scale)


def _of_jvm(metric: str, scale: float = 1.0) -> Measure:
    return rise_per_request("jvm/app-", metric, scale=scale)


_RSS = measures.level("process/app-", "rss_bytes")
_BY = (Quantity("generation", "JVM"), Quantity("nodes", "Nodes"))
CARRIED = (
    Quantity("throughput_per_s", "Requests per second", 0, measure=measures.throughput_per_s),
    Quantity("cpu_percent", "CPU, busy (%)", 1, measure=measures.stack_cpu_share),
)
"""What a layout carries, and how busy it is."""
LATENCIES = (
    Quantity("p50_ms", "median (ms)", 2, measure=measures.latency_ms(0.5)),
    Quantity("p95_ms", "95th percentile (ms)", 2, measure=measures.latency_ms(0.95)),
)
ROLES = (
    Quantity("app_cpu_ms", "app nodes", 3, measure=measures.cpu_ms_per_request("app")),
    Quantity("balancer_cpu_ms", "balancer", 3, measure=measures.cpu_ms_per_request("balancer")),
    Quantity("database_cpu_ms", "database", 3, measure=measures.cpu_ms_per_request("database")),
)
"""CPU time of a request by role."""
_REQUEST, _THOUSAND, _ALL = "Per request", "Per 1,000 requests", "All app nodes"
_FOR = "Requests per second for"
EXPLAIN = (
    Quantity("load", "Load"),
    *_BY,
    Quantity("threads", "Threads", 0, _ALL, measure=measures.level("process/app-", "threads")),
    Quantity(
        "switches",
        "Context switches",
        2,
        _REQUEST,
        measure=_sum_of(_of_app("switches_voluntary"), _of_app("switches_involuntary")),
    ),
    Quantity("collections", "Collections", 2, _THOUSAND, measure=_of_jvm("gc_count", 1e3)),
    Quantity("gc_ms", "Pauses (ms)", 1, _THOUSAND, measure=_of_jvm("gc_s", 1e6)),
    Quantity("jit_ms", "Compiling (ms)", 2, _REQUEST, measure=_of_jvm("jit_s", 1e3)),
    Quantity(
        "longest_ms",
        "Longest (ms)",
        1,
        "Pause of a node",
        measure=gc_measure(lambda log: log.longest_pause_ns, over_nodes=max),
    ),
)
"""What explains how layouts differ."""
_RSS = measures.level("process/app-", "rss_bytes")
MEMORY = (
    *_BY,
    Quantity("rss_mib", "Resident (MiB)", 0, _ALL, measure=_RSS),
    Quantity("committed_mib", "Besides the heap (MiB)", 0, _ALL),
    Quantity("per_heap", "a GiB of heap", 0, _FOR),
    Quantity("per_rss", "a GiB resident", 0, _FOR),
)
"""Memory of a layout, and what it carries."""
PAGED = (
    Quantity("state", "State"),
    CARRIED[0],
    Quantity("p50_ms", "Median (ms)", 2, measure=measures.latency_ms(0.5)),
    Quantity("p95_ms", "95th (ms)", 2, measure=measures.latency_ms(0.95)),
    Quantity("app_cpu_ms", "CPU app (ms)", 2, _REQUEST, measure=measures.cpu_ms_per_request("app")),
    Quantity("faults", "Page faults to disk", 2, _REQUEST, measure=_of_app("process_major_faults")),
    Quantity("read_kb", "Read (kB)", 1, _REQUEST, measure=_of_app("io_read_bytes", 1e-3)),
    Quantity("rss_mib", "Resident (MiB)", 0, measure=_RSS),
)
"""A node that is left alone, or paged."""
_COMMITTED = tuple(
    Quantity(use, use, 0, measure=measures.at_end("jvm/app-", f"native_bytes/{use}"))
    for use in USES
)


def layouts_frame(trials: Trials, heap_mib: int, **levels: str) -> pl.DataFrame:
    """Return one row a trial with all of a layout, its memory by ``USES``, and its fixed levels.

    Memory is in MiB, of all nodes; rates for a GiB of the heap, and for one that is resident.
    """
    frame = frame_of(trials, *CARRIED, *LATENCIES, *ROLES, *EXPLAIN, *MEMORY, *_COMMITTED)
    several = pl.format("{} nodes", "nodes")
    rate = pl.col("throughput_per_s")
    return frame.with_columns(
        layout=pl.col("nodes").replace_strict({1: "1 node"}, default=several),
        rss_mib=pl.col("rss_mib") / 2**20,
        per_heap=rate / (heap_mib / 1024),
        per_rss=rate / (pl.col("rss_mib") / 2**30),
        cpu_percent=100 * pl.col("cpu_percent"),
        committed_mib=pl.sum_horizontal(*USES, ignore_nulls=False) / 2**20,
        longest_ms=pl.col("longest_ms") / 1e6,
        **{name: pl.lit(level) for name, level in levels.items()},
    )


def cpu_chart(frame: pl.DataFrame) -> alt.Chart:
    """Return the CPU time of a request by role, one bar a layout and generation."""
    labels = {one.name: one.label for one in ROLES}
    spent = means_of(frame, ["layout", "generation"], *ROLES).rename(labels)
    return charts.stacked_bars(
        _by_layout(spent, list(labels.values()), "role", "cpu_ms"),
        category="row",
        part="role",
        value="cpu_ms",
        y_title="CPU time per request (ms)",
        part_title="Role",
    )


def native_chart(frame: pl.DataFrame) -> alt.Chart:
    """Return the memory committed besides the heap by use, one bar a layout and generation."""
    held = means_of(frame, ["layout", "generation"], *_COMMITTED).with_columns(pl.col(USES) / 2**20)
    return charts.stacked_bars(
        _by_layout(held, USES, "use", "mib"),
        category="row",
        part="use",
        value="mib",
        y_title="committed besides the heap (MiB)",
        part_title="Use",
    )


def latency_chart(frame: pl.DataFrame) -> alt.ConcatChart:
    """Return median and 95th percentile of the latency over the number of nodes."""
    panels = {
        one.label: charts.curves(
            summaries.summarize(frame, ["generation", "nodes"], one.name),
            x="nodes",
            series="generation",
            x_title="app nodes that share the heap",
            y_title=one.label,
            series_title="JVM",
        )
        for one in LATENCIES
    }
    return charts.panels(panels, columns=2, width_px=270, height_px=240)


def explain_table(frame: pl.DataFrame) -> GT:
    """Return what explains how layouts differ, by load, JVM and number of nodes."""
    return table_of(
        means_of(frame, ["load", "generation", "nodes"], *EXPLAIN[3:]),
        *EXPLAIN,
        note="pauses are the time of all collections by the JVM's counters, the longest is that of "
        "the collector's logs; compiling is CPU time of its compilers; a dash: no collection in "
        "that time",
    )


def paged_table(frame: pl.DataFrame) -> GT:
    """Return what a node carried and took while it was left alone and while it was paged."""
    resident = frame.with_columns(pl.col("rss_mib") / 2**20)
    return table_of(means_of(resident, ["state"], *PAGED[1:]), *PAGED)


def _by_layout(frame: pl.DataFrame, names: list[str], part: str, value: str) -> pl.DataFrame:
    """Return one row a layout, generation and part, without those that a layout has not."""
    rows = frame.with_columns(row=pl.format("{}, {}", "layout", "generation"))
    return rows.unpivot(
        index="row", on=names, variable_name=part, value_name=value
    ).drop_nulls(value)  # fmt: skip
