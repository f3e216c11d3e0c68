"""Which counters of a trial are drawn, on which small charts, in which order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

By = Literal["", "node", "label", "node label"]


@dataclass(frozen=True)
class Term:
    """Counters of one kind of source that make series together."""

    source: str
    metrics: tuple[str, ...]
    """Added up where they share source, label and time."""
    by: By = "node"
    """What tells series apart; what it leaves out is added up."""
    word: str = ""
    """Added to a series' name."""
    value: bool = False
    """True for gauges; False: differences of a counter over the time between readings."""
    factor: float = 1.0


@dataclass(frozen=True)
class Panel:
    """One small chart: what is drawn, in which unit."""

    title: str
    unit: str
    terms: tuple[Term, ...]


_SHARE = 100.0
_MS = 1000.0


def _rate(source: str, *metrics: str, by: By = "node", word: str = "", factor: float = 1) -> Term:
    return Term(source, metrics, by, word, factor=factor)


def _level(source: str, *metrics: str, by: By = "node", word: str = "", factor: float = 1) -> Term:
    return Term(source, metrics, by, word, value=True, factor=factor)


def _panel(title: str, unit: str, *terms: Term) -> Panel:
    return Panel(title, unit, terms)


_CORE = ("core_user_s", "core_system_s", "core_irq_s")
PANELS: Mapping[str, tuple[Panel, ...]] = {
    "Processors": (
        _panel("CPU by process", "CPUs", _rate("process", "cpu_user_s", "cpu_system_s")),
        _panel("CPU by core", "%", _rate("host", *_CORE, by="label", word="core", factor=_SHARE)),
        _panel("Steal", "%", _rate("host", "core_steal_s", by="label", word="core", factor=_SHARE)),
        _panel("A fixed piece of work takes", "µs",
               _level("speed", "speed_piece_s", by="label", word="core", factor=1e6)),
        _panel("Idle, waiting for a disk", "%",
               _rate("host", "core_iowait_s", by="label", word="core", factor=_SHARE)),
        _panel("Threads that could run", "", _level("host", "runnable_threads", by="")),
        _panel("Context switches", "/s", _rate("host", "context_switches", by="")),
        _panel("Some task waited (pressure)", "%",
               _rate("host", "pressure_some_s", by="label", factor=_SHARE)),
        _panel("Stopped at a CPU limit", "ms/s",
               _rate("cgroup", "cgroup_throttled_s", factor=_MS)),
    ),
    "Memory": (
        _panel("Heap", "B", _level("server", "heap_used_bytes", word="used"),
               _level("server", "heap_committed_bytes", word="committed")),
        _panel("Heap in use by space", "B", _level("jvm", "space_used_bytes", by="node label")),
        _panel("Resident memory", "B", _level("process", "rss_bytes")),
        _panel("Memory available on the machine", "B",
               _level("host", "memory_available_bytes", by="")),
        _panel("Class metadata", "B", _level("jvm", "metaspace_used_bytes")),
        _panel("Swapping", "B/s", _rate("host", "swap_in_bytes", by="", word="in"),
               _rate("host", "swap_out_bytes", by="", word="out")),
        _panel("Page faults that read a disk", "/s", _rate("host", "major_faults", by="")),
    ),
    "Garbage collection": (
        _panel("Allocation", "B/s", _rate("server", "allocated_bytes")),
        _panel("Collections", "/s", _rate("jvm", "gc_count", by="node label")),
        _panel("Pauses for collection", "ms/s", _rate("jvm", "gc_s", by="node label", factor=_MS)),
        _panel("All threads stopped", "ms/s", _rate("jvm", "safepoint_s", factor=_MS)),
    ),
    "Compiler": (
        _panel("Methods compiled", "/s", _rate("jvm", "jit_compilations")),
        _panel("Compiler threads at work", "CPUs", _rate("jvm", "jit_s")),
        _panel("Compiled code kept", "B", _level("server", "code_cache_used_bytes")),
        _panel("Classes loaded", "/s", _rate("jvm", "classes_loaded", word="from files"),
               _rate("jvm", "classes_shared_loaded", word="from archive")),
    ),
    "Threads and connections": (
        _panel("Worker threads", "", _level("server", "threads_busy", word="busy"),
               _level("server", "threads_limit", word="limit")),
        _panel("Threads of the JVM", "", _level("server", "threads_in_state", by="node label")),
        _panel("Monitors found taken", "/s", _rate("jvm", "monitor_contentions")),
        _panel("Connections of clients", "", _level("server", "connections_open")),
        _panel("Requests answered by nodes", "/s", _rate("server", "requests_total")),
        _panel("Answers with an error status", "/s", _rate("server", "request_errors_total")),
    ),
    "Pool of database connections": (
        _panel("Pooled connections", "", _level("server", "pool_active", word="lent"),
               _level("server", "pool_limit", word="limit")),
        _panel("Threads waiting for a connection", "", _level("server", "pool_waiting")),
        _panel("Time spent waiting for connections", "ms/s",
               _rate("server", "pool_acquire_s", factor=_MS)),
        _panel("Waits for a connection given up", "/s", _rate("server", "pool_timeouts_total")),
    ),
    "Database": (
        _panel("Database transactions", "/s",
               _rate("database", "commits_total", by="", word="committed"),
               _rate("database", "rollbacks_total", by="", word="rolled back")),
        _panel("Database rows", "/s", _rate("database", "rows_returned", by="", word="scanned"),
               _rate("database", "rows_fetched", by="", word="by index"),
               _rate("database", "rows_inserted", "rows_updated", "rows_deleted", by="",
                     word="written")),
        _panel("Database blocks", "/s", _rate("database", "blocks_hit", by="", word="in buffers"),
               _rate("database", "blocks_read", by="", word="read")),
        _panel("Sessions by state", "", _level("database", "backends_in_state", by="label")),
        _panel("Sessions that wait, and for what", "",
               _level("database", "backends_waiting", by="label")),
        _panel("Write-ahead log", "B/s", _rate("database", "wal_bytes", by="")),
        _panel("Temporary files", "B/s", _rate("database", "temporary_bytes", by="")),
        _panel("Checkpoints", "/s", _rate("database", "checkpoints", by="")),
        _panel("Deadlocks", "/s", _rate("database", "deadlocks", by="")),
    ),
    "Disk": (
        _panel("Disk, read", "B/s", _rate("host", "disk_read_bytes", by="label")),
        _panel("Disk, written", "B/s", _rate("host", "disk_written_bytes", by="label")),
        _panel("Disk, busy", "%", _rate("host", "disk_busy_s", by="label", factor=_SHARE)),
        _panel("Disk, queue", "", _rate("host", "disk_wait_s", by="label")),
        _panel("Disk, flushes", "/s", _rate("host", "disk_flushes", by="label")),
    ),
    "Network": (
        _panel("Network, sent", "B/s", _rate("host", "network_sent_bytes", by="label")),
        _panel("Network, received", "B/s", _rate("host", "network_received_bytes", by="label")),
        _panel("Network, packets sent", "/s", _rate("host", "network_sent_packets", by="label")),
        _panel("Packets discarded or broken", "/s",
               _rate("host", "network_drops", "network_errors", by="label")),
        _panel("TCP segments sent again", "/s", _rate("host", "tcp_retransmits", by="")),
        _panel("Sent over links", "B/s", _rate("link", "link_sent_bytes", by="node label")),
        _panel("Frames sent over links", "/s", _rate("link", "link_sent_frames", by="node label")),
        _panel("Frames lost on links", "/s", _rate("link", "link_lost_frames", by="node label")),
    ),
    "Load generator": (
        _panel("Clock tick late by", "ms", _level("generator", "lag_p99_ms", by="", word="p99"),
               _level("generator", "lag_max_ms", by="", word="worst")),
        _panel("CPU of its process", "%",
               _level("generator", "cpu_share", by="", factor=_SHARE)),
        _panel("Users alive", "", _level("generator", "users", by="")),
    ),
    "Probes": (
        _panel("CPU of sampling", "ms/s", _rate("probes", "sampler_cpu_s", by="", factor=_MS)),
        _panel("Readings missed or failed", "/s",
               _rate("probes", "missed_ticks", by="", word="missed"),
               _rate("probes", "failed_reads", by="", word="failed")),
    ),
}  # fmt: skip
"""What a trial's page draws, in its order; a panel without readings is left out."""
