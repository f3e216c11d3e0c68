"""Room of the chapter on events: nodes that queue them, agents, and what became of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from sizebook.hosts.paging import HEAP_IN_FILE
from sizebook.lab import Setup, Trials, events_stack, xml_stack
from sizebook.lab.workplace import Workplace
from sizebook.model.load import ClosedLoop, LoadProfile, Phases
from sizebook.model.records import Scalar
from sizebook.model.trial import Allowance, Disturbance
from sizebook.report import measures, outages, stored_rows
from sizebook.report.counter_increase import rise_per_request, risen
from sizebook.report.quantities import Quantity, frame_of, table_of

if TYPE_CHECKING:
    from great_tables import GT

POOL, SENDERS, QUEUE_BYTES = 5, 5, 2**17
"""Of each node: connections, one a worker and one to spare; events put into its queue at a time;
its queue."""
ATTEMPTS = 100
"""How often an agent tries, as in the report."""
KILLED = {"node": ("embedded", "app-1"), "broker": ("process", "broker-1")}
"""What is killed: where the broker is then, and the process."""
_ROOM: Mapping[str, Scalar] = {"pool": POOL}
_BOUNDED: Mapping[str, Scalar] = {
    **_ROOM,
    "senders": SENDERS,
    "broker_queue_max_bytes": QUEUE_BYTES,
    "broker_full_policy": "block",
}
_STORES = {"event": "event"}


@dataclass(frozen=True)
class Times:
    """How long trials are measured, and when a process is killed."""

    measured_s: float
    restart_s: float
    """Seconds measured of a trial with a kill."""
    kill_s: float
    pause_s: float
    """Pause of an agent around a kill; it must be patient for longer than a busy machine takes to
    start a node."""


@dataclass(frozen=True)
class Agents(Workplace):
    """Agents that send events to nodes, each waiting for its answer."""

    agents: int
    heap_mib: int
    phases: Phases
    times: Times

    def layout(self, nodes: int) -> Setup:
        """Return nodes that share the heap, each with a bounded queue."""
        stack = events_stack(
            self.here, nodes=nodes, total_heap_mib=self.heap_mib, settings=_BOUNDED
        )
        return Setup(stack, self._sent(), stores=_STORES)

    def kill(self, killed: str) -> Setup:
        """Return one node in whose load the node or the broker is killed and started again."""
        broker, process = KILLED[killed]
        pause_s = self.times.pause_s
        around = Phases(
            warmup_s=self.phases.warmup_s,
            measured_s=self.times.restart_s,
            drain_s=max(30.0, 6 * pause_s),
        )
        return Setup(
            events_stack(self.here, total_heap_mib=512, broker=broker, settings=_ROOM),
            self._sent(around, pause_s),
            Allowance(failed_share=0.9),
            stores=_STORES,
            disturbances=(
                Disturbance(at_s=self.times.kill_s, action="restart", node=process),
            ),
        )  # fmt: skip

    def need(self, work: str) -> Setup:
        """Return one node with a small heap that few senders give ``events`` or ``documents``."""
        if work == "events":
            node = events_stack(self.here, total_heap_mib=256, settings=_ROOM)
            return Setup(node, self._sent(users=4), stores=_STORES, probe_interval_s=0.2)
        node = xml_stack(self.here, total_heap_mib=256, settings=_ROOM)
        load = self.load("xml_transform.py", ClosedLoop(users=4), phases=self.phases)
        return Setup(node, load, stores={"document": "transform"}, probe_interval_s=0.2)

    def paged(self, state: str) -> Setup:
        """Return one node with its heap in a file, whose pages are taken away while ``paging``."""
        node = events_stack(self.here, total_heap_mib=256, settings=_BOUNDED)
        length_s = self.phases.warmup_s + self.phases.measured_s
        taking = Disturbance(at_s=0, action="page-out", node="app-1", for_s=length_s)
        return Setup(
            node.changed("app", flags=(HEAP_IN_FILE,)),
            self._sent(),
            stores=_STORES,
            disturbances=(taking,) if state == "paging" else (),
        )

    def _sent(
        self, phases: Phases | None = None, pause_s: float = 0.1, users: int = 0
    ) -> LoadProfile:
        settings: dict[str, Scalar] = {"attempts": ATTEMPTS, "pause_s": pause_s}
        arrivals = ClosedLoop(users=users or self.agents)
        return self.load("events.py", arrivals, settings, phases=phases or self.phases)


_NODES, _KILLED = Quantity("nodes", "Nodes"), Quantity("killed", "Killed")
RATES = (
    Quantity("rows_per_s", "stored", 0, measure=stored_rows.rows_per_s("event")),
    Quantity("accepted_per_s", "accepted", 0, measure=measures.throughput_per_s),
    Quantity("cpu_percent", "CPU, busy (%)", 1, measure=measures.stack_cpu_share),
)
"""What a layout carries, and how busy it is."""
COSTS = (
    _NODES,
    Quantity("app_cpu_ms", "CPU app (ms)", 3, measure=measures.cpu_ms_per_request("app")),
    Quantity(
        "code_bytes",
        "Compiled code (B)",
        0,
        measure=rise_per_request("jvm/app-", "jit_code_bytes"),
    ),
    Quantity(
        "database_cpu_ms", "CPU database (ms)", 3, measure=measures.cpu_ms_per_request("database")
    ),
    Quantity(
        "balancer_cpu_ms", "CPU balancer (ms)", 3, measure=measures.cpu_ms_per_request("balancer")
    ),
    Quantity(
        "syncs", "Journal syncs", 3, measure=rise_per_request("server/app-", "journal_syncs_total")
    ),
    Quantity("flushes", "Disk flushes", 2, measure=rise_per_request("host", "disk_flushes")),
    Quantity(
        "gc_us",
        "GC pauses (µs)",
        1,
        measure=rise_per_request("server/app-", "gc_pause_s", scale=1e6),
    ),
    Quantity(
        "switches", "Context switches", 1, measure=rise_per_request("host", "context_switches")
    ),
)
"""What an event takes."""
WAITS = (
    _NODES,
    Quantity("answered_ms", "Answer after (ms)", 1, measure=stored_rows.answered_after_ms("event")),
    Quantity(
        "stored_ms", "Row after (ms)", 1, measure=stored_rows.stored_after_ms("event", "event")
    ),
)
MEMORY = (
    _NODES,
    Quantity("threads", "Threads", 0, measure=measures.level("process/app-", "threads")),
    Quantity("files", "Open files", 0, measure=measures.level("server/app-", "files_open")),
    Quantity(
        "rss_mib",
        "Resident, all nodes (MiB)",
        0,
        measure=measures.level("process/app-", "rss_bytes"),
    ),
    Quantity("each_mib", "Resident, a node (MiB)", 0),
    Quantity(
        "available_ram_mb",
        "Least available RAM (MiB)",
        0,
        measure=measures.level("host", "memory_available_bytes", "min"),
    ),
)
NEEDS = (
    Quantity("work", "Work"),
    Quantity("rate", "Per second", 0, measure=measures.throughput_per_s),
    Quantity("kept_heap_mb", "Kept heap (MB)", 0),
    Quantity(
        "allocated_kb",
        "Allocated for each (kB)",
        0,
        measure=rise_per_request("server/app-", "allocated_bytes", scale=1e-3),
    ),
)
"""Heap that a kind of work needs."""
_SPACES = {
    space: measures.level("jvm/app-", f"space_used_bytes/{space}", "max")
    for space in ("s0", "s1", "old")
}
"""Spaces of the heap with what collections could not free; new objects begin in another."""
SENT = (
    Quantity("sent", "Sent", 0, measure=outages.things_sent("event", "retry")),
    Quantity(
        "failed", "Attempts that failed", 0, measure=outages.requests_made("retry", good=False)
    ),
    Quantity("acknowledged", "Acknowledged", 0, measure=outages.requests_made("event", good=True)),
    Quantity("stored", "Stored", 0, measure=stored_rows.rows_stored("event")),
    Quantity("lost", "Lost", 0),
    Quantity("doubled", "Doubled", 0),
)
"""The account of the agents and the database."""
AWAY = (
    Quantity("away_s", "Back after (s)", 1, measure=outages.away_s),
    Quantity("silence_s", "Without an answer (s)", 1, measure=outages.silence_s("event")),
)
WITNESSES = (
    Quantity("again", "Node: met again", 0, measure=risen("server/app-", "events_total/duplicate")),
    Quantity(
        "added", "Queue: put in", 0, measure=measures.at_end("server/", "queue_added_total/events")
    ),
    Quantity(
        "taken",
        "Queue: taken off",
        0,
        measure=measures.at_end("server/", "queue_acknowledged_total/events"),
    ),
    Quantity("waiting", "Queue: left", 0, measure=measures.at_end("server/", "queue_depth/events")),
    Quantity("dead", "Queue: given up", 0, measure=measures.at_end("server/", "queue_depth/dead")),
)
"""What the nodes and the queue say for themselves."""
PAGED = (
    Quantity("state", "State"),
    Quantity("events_per_s", "Events per second", 0, measure=measures.throughput_per_s),
    Quantity("p50_ms", "Median (ms)", 2, measure=measures.latency_ms(0.5)),
    Quantity("p95_ms", "95th (ms)", 2, measure=measures.latency_ms(0.95)),
    Quantity(
        "faults",
        "Page faults to disk",
        2,
        "Per event",
        measure=rise_per_request("process/app-", "process_major_faults"),
    ),
    Quantity(
        "read_kb",
        "Read (kB)",
        1,
        "Per event",
        measure=rise_per_request("process/app-", "io_read_bytes", scale=1e-3),
    ),
)
"""A node that is left alone, or paged."""


def layouts_frame(trials: Trials) -> pl.DataFrame:
    """Return one row a trial with all of a layout: memory in MiB, the stack's CPU in percent."""
    frame = frame_of(trials, *RATES, *COSTS, *WAITS, *MEMORY).with_columns(
        pl.col("available_ram_mb", "rss_mib") / 2**20, cpu_percent=100 * pl.col("cpu_percent")
    )
    return frame.with_columns(each_mib=pl.col("rss_mib") / pl.col("nodes"))


def needs_frame(trials: Trials) -> pl.DataFrame:
    """Return one row a trial with ``NEEDS``; kept is the fuller survivor and the old generation."""
    survivors = pl.max_horizontal("s0", "s1")
    measured = {one.name: one.measure for one in NEEDS if one.measure}
    return trials.frame(**measured, **_SPACES).with_columns(
        kept_heap_mb=(survivors + pl.col("old")) / 1e6
    )


def account_frame(trials: Trials) -> pl.DataFrame:
    """Return one row a trial with a kill: ``SENT``, ``AWAY``, ``WITNESSES``.

    ``account_closes`` where all that was sent was acknowledged and is stored, once, and all that
    was put into the queue was taken off it.
    """
    frame = frame_of(trials, *SENT, *AWAY, *WITNESSES)
    acknowledged, stored, sent = pl.col("acknowledged"), pl.col("stored"), pl.col("sent")
    return frame.with_columns(
        lost=(acknowledged - stored).clip(lower_bound=0),
        doubled=(stored - sent).clip(lower_bound=0),
        account_closes=(pl.col("away_s") > 0)
        & (sent == acknowledged)
        & (stored == acknowledged)
        & (pl.col("added") == pl.col("taken")),
    )


def totals(
    account: pl.DataFrame, counts: Sequence[Quantity], times: Sequence[Quantity] = ()
) -> pl.DataFrame:
    """Return one row a killed process: trials, counts added up, the longest of the times."""
    added, longest = ([one.name for one in quantities] for quantities in (counts, times))
    return (
        account.drop_nulls("acknowledged")
        .group_by("killed", maintain_order=True)
        .agg(pl.len().alias("trials"), pl.col(added).sum(), pl.col(longest).max())
    )


def account_table(account: pl.DataFrame) -> GT:
    """Return what agents sent and were told is safe, what the database has, and the outage."""
    return table_of(
        totals(account, SENT, AWAY),
        _KILLED,
        Quantity("trials", "Trials"),
        *SENT,
        *AWAY,
        note="events, added up over the trials, and the longest times; sent and acknowledged by "
        "the agents, stored by the database",
    )


def witnesses_table(account: pl.DataFrame) -> GT:
    """Return what the nodes and the queue say for themselves."""
    return table_of(
        totals(account, WITNESSES),
        _KILLED,
        *WITNESSES,
        note="counted by the processes that run at the end, since their start; events that lay on "
        "the disk when the queue came back count as put in",
    )
