"""The registry of counters: each declared once, with unit, kind and meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class CounterInfo:
    """One metric of ``counters.parquet``."""

    name: str
    """As stored; a labelled metric is stored as ``name/label``."""
    source: str
    """Kind of source that emits it: the part before the first ``/`` of the stored source."""
    unit: str
    kind: Literal["counter", "gauge"]
    """A counter grows, its differences count; a gauge is true at its time only."""
    meaning: str
    label: str = ""
    """What the label tells apart; empty where there is none."""


def find_counter(metric: str) -> CounterInfo:
    """Return what is known of a stored metric, label or not; KeyError if it is not registered."""
    info = COUNTERS[metric.partition("/")[0]]
    if bool(info.label) != ("/" in metric):
        raise KeyError(metric)
    return info


def _counters(source: str, *rows: tuple[str, ...]) -> list[CounterInfo]:
    return [CounterInfo(r[0], source, r[1], "counter", *r[2:]) for r in rows]


def _gauges(source: str, *rows: tuple[str, ...]) -> list[CounterInfo]:
    return [CounterInfo(r[0], source, r[1], "gauge", *r[2:]) for r in rows]


_CPU = "number of the logical CPU"
_PEER = "what the link leads to: the shared network or a host"
_ALL: tuple[CounterInfo, ...] = (
    *_counters(
        "host",
        ("core_user_s", "s", "CPU time in user mode, nice included", _CPU),
        ("core_system_s", "s", "CPU time in the kernel, interrupts excluded", _CPU),
        ("core_idle_s", "s", "Time without anything to run", _CPU),
        ("core_iowait_s", "s", "Idle time while a disk was awaited", _CPU),
        ("core_irq_s", "s", "CPU time in hard and soft interrupts", _CPU),
        ("core_steal_s", "s", "Time the hypervisor gave to others while we had work", _CPU),
        ("context_switches", "1", "Context switches of the machine"),
        ("interrupts", "1", "Interrupts served"),
        ("swap_in_bytes", "B", "Memory read back from swap"),
        ("swap_out_bytes", "B", "Memory written to swap"),
        ("major_faults", "1", "Page faults that had to wait for a disk"),
        ("disk_read_bytes", "B", "Bytes read from a disk", "disk"),
        ("disk_written_bytes", "B", "Bytes written to a disk", "disk"),
        ("disk_reads", "1", "Read operations ended", "disk"),
        ("disk_writes", "1", "Write operations ended", "disk"),
        ("disk_busy_s", "s", "Time with at least one operation under way", "disk"),
        ("disk_wait_s", "s", "Time of all operations; its rate is the queue's length", "disk"),
        (
            "disk_flushes",
            "1",
            "Flushes of its own cache ended; fsync waits for them",
            "disk",
        ),
        ("disk_flush_s", "s", "Time of these flushes", "disk"),
        ("network_sent_bytes", "B", "Bytes sent", "loopback or all other interfaces"),
        ("network_received_bytes", "B", "Bytes received", "loopback or all other interfaces"),
        ("network_sent_packets", "1", "Packets sent", "loopback or all other interfaces"),
        ("network_received_packets", "1", "Packets received", "loopback or all other interfaces"),
        ("network_errors", "1", "Packets broken, both ways", "loopback or all other interfaces"),
        (
            "network_drops",
            "1",
            "Packets discarded, both ways",
            "loopback or all other interfaces",
        ),
        ("tcp_retransmits", "1", "TCP segments sent again"),
        ("tcp_listen_overflows", "1", "TCP connections refused since a server's queue was full"),
        ("pressure_some_s", "s", "Time in which some task waited for it (PSI)", "resource"),
        ("pressure_full_s", "s", "Time in which all tasks waited for it (PSI)", "resource"),
    ),
    *_gauges(
        "host",
        ("load_1min", "1", "Run-queue length, exponential mean over a minute"),
        ("runnable_threads", "1", "Threads that run or could, the reading one excluded"),
        ("memory_available_bytes", "B", "Memory that can be had without swapping"),
        ("disk_queue", "1", "Operations under way or waiting at this moment", "disk"),
    ),
    *_counters(
        "cgroup",
        ("cgroup_periods", "1", "Periods of the CPU limit (100 ms as a rule) in which it ran"),
        ("cgroup_throttled_periods", "1", "Periods in which it used the limit up and was stopped"),
        ("cgroup_throttled_s", "s", "Time it was stopped for, added up over CPUs"),
        ("cgroup_cpu_s", "s", "CPU time of the whole group"),
        ("cgroup_memory_limit_hits", "1", "Times its memory was about to go beyond the limit"),
        ("cgroup_ooms", "1", "Times an allocation failed at the limit (version 2)"),
        ("cgroup_oom_kills", "1", "Processes killed since memory was short"),
        ("cgroup_pressure_some_s", "s", "Time in which some task of it waited (PSI)", "resource"),
        ("cgroup_pressure_full_s", "s", "Time in which all its tasks waited (PSI)", "resource"),
    ),
    *_gauges(
        "cgroup",
        ("cgroup_cpu_limit", "1", "CPUs it may use; missing: no limit"),
        ("cgroup_memory_bytes", "B", "Memory of the group, page cache included"),
        ("cgroup_memory_peak_bytes", "B", "Most that was ever used"),
        ("cgroup_memory_limit_bytes", "B", "Most that may be used; missing: no limit"),
    ),
    *_counters(
        "inside",
        ("inside_cpu_s", "s", "CPU time as a host of its own counts it, by its clock", "kind"),
    ),
    *_gauges(
        "inside",
        ("inside_memory_bytes", "B", "Memory that a host of its own has"),
        ("inside_available_bytes", "B", "Memory of it that can be had without swapping"),
    ),
    *_counters(
        "link",
        ("link_sent_bytes", "B", "Bytes that a host has sent over a link, headers included", _PEER),
        ("link_received_bytes", "B", "Bytes that a host has received over a link", _PEER),
        (
            "link_sent_frames",
            "1",
            "Pieces they were sent in: frames, but for offloads",
            _PEER,
        ),
        ("link_received_frames", "1", "Pieces in which they were received", _PEER),
        ("link_lost_frames", "1", "Frames discarded or broken at a host's end, both ways", _PEER),
    ),
    *_counters(
        "process",
        ("cpu_user_s", "s", "CPU time in user mode, ended children included; ticks of 10 ms"),
        ("cpu_system_s", "s", "CPU time in the kernel, ended children included; ticks of 10 ms"),
        ("process_major_faults", "1", "Page faults that had to wait for a disk"),
        ("io_read_bytes", "B", "Bytes that the process caused to be read from disks"),
        ("io_written_bytes", "B", "Bytes that the process caused to be written to disks"),
        ("switches_voluntary", "1", "Times a living thread gave its CPU up to wait"),
        ("switches_involuntary", "1", "Times a living thread was taken off its CPU"),
    ),
    *_gauges(
        "process",
        ("rss_bytes", "B", "Resident memory; of a family, shared pages count once a process"),
        ("threads", "1", "Threads"),
        ("processes", "1", "Processes of the family, the first included"),
        ("handles", "1", "Open file descriptors"),
    ),
    *_counters(
        "jvm",
        ("jvm_threads_started", "1", "Threads started since the JVM began"),
        ("classes_loaded", "1", "Classes loaded from class files"),
        ("classes_shared_loaded", "1", "Classes loaded from the class-data archive"),
        ("safepoints", "1", "Times all threads were stopped"),
        ("safepoint_s", "s", "Time in which all threads were stopped"),
        ("safepoint_sync_s", "s", "Time it took to stop them"),
        ("jit_compilations", "1", "Methods compiled"),
        ("jit_invalidations", "1", "Compiled methods thrown away"),
        ("jit_code_bytes", "B", "Machine code made"),
        ("jit_s", "s", "Time of the compiler threads at work"),
        ("monitor_contentions", "1", "Times a thread found a monitor taken (not in Java 25)"),
        ("gc_count", "1", "Collections", "collector"),
        ("gc_s", "s", "Time of its pauses", "collector"),
    ),
    *_gauges(
        "jvm",
        ("jvm_threads_live", "1", "Threads alive"),
        ("metaspace_used_bytes", "B", "Memory of class metadata"),
        ("space_used_bytes", "B", "Used; G1 tells it at collections only", "space of the heap"),
        ("space_capacity_bytes", "B", "Committed", "space of the heap"),
        ("native_bytes", "B", "Committed, by the JVM's own account of all its memory", "use"),
    ),
    *_counters(
        "server",
        ("requests_total", "1", "Requests answered on the node's service port"),
        ("request_s", "s", "Time the node took for them"),
        ("request_errors_total", "1", "Requests answered with status 400 or above"),
        ("sent_bytes", "B", "Bytes of the answers' bodies"),
        ("answers_total", "1", "Requests answered by the application", "HTTP status"),
        ("pool_timeouts_total", "1", "Requests for a database connection given up"),
        ("pool_acquired_total", "1", "Database connections lent"),
        ("pool_acquire_s", "s", "Time threads waited to be lent one"),
        ("pool_usage_s", "s", "Time connections were lent"),
        ("connector_sent_total", "1", "Messages handed to the back end and stored there", "way"),
        ("connector_rejected_total", "1", "Messages refused, by the sender's account", "reason"),
        ("connector_calls_total", "1", "Calls by the back end's account", "way"),
        ("connector_stored_total", "1", "Messages that were new to the back end", "way"),
        ("connector_duplicates_total", "1", "Messages that it had already", "way"),
        ("connector_opened_total", "1", "Connections opened to the back end", "protocol"),
        ("connector_logins_total", "1", "Passwords checked and found right", "protocol"),
        ("connector_refused_total", "1", "Passwords checked and found wrong", "protocol"),
        ("connector_forces_total", "1", "Transaction log records forced to disk", "way"),
        ("connector_branches_total", "1", "Branches of transactions ended", "outcome"),
        ("connector_recovered_total", "1", "Branches of them ended by the recovery", "outcome"),
        ("connector_timeouts_total", "1", "Requests for a back-end connection given up", "pool"),
        (
            "queue_added_total",
            "1",
            "Messages put into a queue, those on disk at start too",
            "queue",
        ),
        ("queue_acknowledged_total", "1", "Messages taken off for good", "queue"),
        ("queue_killed_total", "1", "Messages given up after too many deliveries", "queue"),
        ("journal_syncs_total", "1", "Times the broker forced its journal to disk", "journal"),
        ("journal_sync_s", "s", "Time of these", "journal"),
        ("messages_total", "1", "Messages sent, stored, met again, or gone back", "outcome"),
        ("messages_refused_total", "1", "Requests of the messaging part refused", "reason"),
        ("events_total", "1", "Events accepted, stored, met again, or gone back", "outcome"),
        ("events_refused_total", "1", "Events refused", "reason"),
        ("allocated_bytes", "B", "Bytes allocated on the heap, told at collections"),
        ("gc_pauses_total", "1", "Pauses for garbage collection"),
        ("gc_pause_s", "s", "Time of these pauses, in whole ms each"),
        ("jvm_cpu_s", "s", "CPU time of the JVM by its own account"),
    ),
    *_counters(
        "server",
        ("documents_total", "1", "XML documents transformed", "way"),
        ("document_s", "s", "Time their transformation took, without storing", "way"),
        ("document_cpu_s", "s", "CPU time of the threads that transformed", "way"),
        ("document_allocated_bytes", "B", "Memory these threads allocated for it", "way"),
        ("document_in_bytes", "B", "Size of the documents", "way"),
        ("document_out_bytes", "B", "Size of the canonical results", "way"),
        ("documents_stored_total", "1", "Documents that left a row", "way"),
        ("documents_known_total", "1", "Documents whose id was known: no row", "way"),
        ("documents_refused_total", "1", "Documents not accepted", "reason"),
        ("binding_calls_total", "1", "Calls of the sender that were answered", "way"),
        ("binding_call_s", "s", "Time these calls took, at the sender", "way"),
        ("binding_failures_total", "1", "Requests whose calls failed", "way"),
        ("binding_received_total", "1", "Payloads that the receiver took", "way"),
        ("binding_served_total", "1", "Payloads that it took in a thread of a pool", "pool"),
        ("binding_rejected_total", "1", "Calls turned away since a pool was full", "pool"),
        ("binding_started_total", "1", "Threads that a pool started", "pool"),
        ("binding_done_total", "1", "Pieces of work that a pool's threads did", "pool"),
        ("binding_waited_s", "s", "Time these waited for a thread", "pool"),
        ("binding_worked_s", "s", "Time these took in their thread", "pool"),
        ("binding_sent_total", "1", "Messages queued that nobody waits for", "way"),
        ("binding_one_way_total", "1", "Messages of these that were done, or failed", "outcome"),
        ("binding_late_total", "1", "Messages done after a later one of their sender", "way"),
        ("work_requests_total", "1", "Pieces of work that were done", "kind"),
        ("work_s", "s", "Time these took in the node", "kind"),
        ("work_database_s", "s", "Time of it that the database took", "kind"),
        ("work_rows_total", "1", "Rows that these read", "kind"),
        ("work_statements_total", "1", "Statements that these sent", "kind"),
        ("work_done_total", "1", "Pieces of work that were done", "work"),
        ("work_done_s", "s", "Time these took in the node", "work"),
        ("work_done_database_s", "s", "Time of it that the database took", "work"),
        ("work_refused_total", "1", "Requests for work that were refused", "reason"),
        (
            "business_done_total",
            "1",
            "Business transactions done, for the first time",
            "transaction",
        ),
        ("business_outcomes_total", "1", "Business transactions by what became of them", "outcome"),
        ("business_s", "s", "Time these took in the node", "transaction"),
        ("business_session_events_total", "1", "What became of sessions of the business", "event"),
        ("logins_total", "1", "Logins of interactive users", "outcome"),
        ("sessions_ended_total", "1", "Sessions that ended", "reason"),
    ),
    *_counters(
        "server",
        ("disk_jobs_total", "1", "Disk jobs done", "job"),
        ("disk_runs_total", "1", "Disk jobs by the way they went to the disk", "how"),
        ("disk_refused_total", "1", "Disk jobs not done", "reason"),
        ("disk_job_bytes", "B", "Bytes that disk jobs moved", "direction"),
        ("disk_job_operations_total", "1", "Their operations; syncs are some", "direction"),
        ("disk_job_s", "s", "Time in which these were done", "direction"),
        ("disk_job_waited_s", "s", "Time of all operations, several at once", "direction"),
        ("disk_job_device_bytes", "B", "Bytes fetched for them from a disk", "direction"),
        ("disk_sent_bytes", "B", "Bytes sent out of memory to try the network"),
        ("disk_sent_s", "s", "Time of giving them to the system"),
    ),
    *_gauges(
        "server",
        ("disk_job_p50_s", "s", "Median of an operation, in the last job", "direction"),
        (
            "disk_job_p99_s",
            "s",
            "Time that 99 in 100 of them kept within",
            "direction",
        ),
    ),
    *_gauges(
        "server",
        ("work_first_s", "s", "Time of the very first piece of a work", "work"),
        ("work_first_database_s", "s", "Time of it that the database took", "work"),
        ("binding_first_s", "s", "Time of the very first call of a way", "way"),
        ("binding_pool_active", "1", "Threads of a pool at work", "pool"),
        ("binding_pool_queued", "1", "Calls that wait for a thread of a pool", "pool"),
        ("binding_pool_limit", "1", "Most threads of a pool", "pool"),
        ("binding_pool_threads", "1", "Threads of a pool", "pool"),
        ("binding_pool_largest", "1", "Most of them since its limits were set", "pool"),
        ("business_sessions", "1", "Sessions of the business in the memory of a node", "state"),
        ("business_workers", "1", "Transactions at work, and waiting for a worker", "state"),
        ("sessions", "1", "Sessions of users: those there are, and the most there may be", "state"),
        ("threads_busy", "1", "Worker threads at work on a request"),
        ("threads_created", "1", "Worker threads there are"),
        ("threads_limit", "1", "Most worker threads there may be"),
        ("connections_open", "1", "Connections of clients"),
        ("pool_active", "1", "Database connections lent out"),
        ("pool_idle", "1", "Database connections at rest"),
        ("pool_waiting", "1", "Threads waiting for a database connection"),
        ("pool_limit", "1", "Most database connections there may be"),
        ("connector_active", "1", "Back-end connections lent out", "pool"),
        ("connector_waiting", "1", "Threads waiting for a back-end connection", "pool"),
        ("connector_limit", "1", "Most back-end connections there may be", "pool"),
        ("queue_depth", "1", "Messages not acknowledged yet", "queue"),
        ("queue_delivering", "1", "Messages of them that are with a consumer", "queue"),
        ("queue_consumers", "1", "Consumers connected", "queue"),
        ("broker_memory_bytes", "B", "Memory of all messages by the broker's account", "of"),
        ("message_consumers", "1", "Consumers of the node, and those at work", "state"),
        ("event_workers", "1", "Threads that store events, and those at work", "state"),
        ("heap_used_bytes", "B", "Heap in use, garbage included"),
        ("heap_committed_bytes", "B", "Heap the JVM has taken from the system"),
        ("heap_live_bytes", "B", "Old generation after its last collection"),
        ("code_cache_used_bytes", "B", "Compiled code kept, all segments"),
        ("threads_in_state", "1", "Threads of the JVM", "state"),
        ("files_open", "1", "Open file descriptors by the JVM's account"),
        ("processors", "1", "CPUs that the JVM believes it may use, at that moment"),
        ("common_pool_threads", "1", "Threads that its common pool aims at, set when it was made"),
    ),
    *_counters(
        "database",
        ("commits_total", "1", "Transactions committed"),
        ("rollbacks_total", "1", "Transactions rolled back"),
        ("blocks_read", "1", "Blocks of 8 kB not found in PostgreSQL's buffers"),
        ("blocks_hit", "1", "Blocks of 8 kB found there"),
        ("rows_returned", "1", "Rows read by scans"),
        ("rows_fetched", "1", "Rows fetched through indexes"),
        ("rows_inserted", "1", "Rows inserted"),
        ("rows_updated", "1", "Rows updated"),
        ("rows_deleted", "1", "Rows deleted"),
        ("temporary_files", "1", "Files written for sorts and hashes that did not fit"),
        ("temporary_bytes", "B", "Bytes written to them"),
        ("deadlocks", "1", "Deadlocks found"),
        ("wal_bytes", "B", "Write-ahead log of the whole cluster"),
        ("checkpoints", "1", "Checkpoints of the whole cluster, timed and asked for"),
    ),
    *_gauges(
        "database",
        ("backends", "1", "Connections to the database"),
        ("backends_in_state", "1", "Connections, the probe's excluded", "state"),
        ("backends_waiting", "1", "Working connections that wait", "what they wait for"),
        ("database_bytes", "B", "Size on disk"),
    ),
    *_counters("server", ("told_total", "1", "As the server itself calls it, growing", "series")),
    *_gauges("server", ("told", "1", "As the server itself calls it, at its time", "series")),
    *_gauges(
        "rows",
        ("rows_stored", "1", "Rows in a table of the stack, counted there", "table"),
        ("rows_first_s", "s", "When the trial's first row was stored, since 1970", "table"),
        ("rows_last_s", "s", "When the trial's last row was stored, since 1970", "table"),
        ("rows_mean_s", "s", "Mean time at which the trial's rows were stored", "table"),
    ),
    *_counters(
        "balancer",
        ("balancer_sessions", "1", "Requests given to a node, each try counted", "node"),
        ("balancer_connect_errors", "1", "Connections to a node that failed", "node"),
        ("balancer_response_errors", "1", "Answers of a node that broke off", "node"),
        ("balancer_retries", "1", "Times a request was tried again", "node"),
        ("balancer_redispatches", "1", "Requests sent to another node instead", "node"),
        ("balancer_requests", "1", "Requests of clients", "node"),
        ("balancer_answers_2xx", "1", "Answers with status 200 to 299", "node"),
        ("balancer_answers_3xx", "1", "Answers with status 300 to 399", "node"),
        ("balancer_answers_4xx", "1", "Answers with status 400 to 499", "node"),
        ("balancer_answers_5xx", "1", "Answers with status 500 or above", "node"),
        ("balancer_client_aborts", "1", "Answers that the client did not wait for", "node"),
        ("balancer_server_aborts", "1", "Answers that a node did not end", "node"),
        ("balancer_checks_failed", "1", "Times a node did not say that it is ready", "node"),
        ("balancer_downs", "1", "Times a node was found down", "node"),
    ),
    *_gauges(
        "balancer",
        ("balancer_current", "1", "Requests under way", "node"),
        ("balancer_queue", "1", "Requests waiting for a node", "node"),
        ("balancer_up", "1", "Whether a node takes requests: 1 or 0", "node"),
    ),
    *_counters(
        "probes",
        ("sampler_cpu_s", "s", "CPU time of the sampling threads"),
        ("probe_cpu_s", "s", "CPU time of the probe's readings, snapshots included", "probe"),
        ("due_ticks", "1", "Deadlines of the probe that came, snapshots excluded", "probe"),
        ("missed_ticks", "1", "Deadlines that passed before the probe was read", "probe"),
        ("failed_reads", "1", "Readings that are missing since the probe failed", "probe"),
    ),
)

COUNTERS: dict[str, CounterInfo] = {info.name: info for info in _ALL}
"""Every counter that a probe may emit, by its name without label.

The load generator's own counters (source ``generator``) are described in ``load.vitals``.
"""
