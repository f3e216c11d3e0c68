"""The registry of result metrics: each declared once, with unit, direction and format."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

Basis = Literal["times", "server", "use", "start", "account"]
"""What a metric rests on: the times of requests as the load generator saw them; times that a server
took itself of what it did for them; what was counted as used while they ran, by the kernel or a
JVM; the start of a host or server and the first calls to it, before the load; what was sent,
answered and stored, and what a server said of itself."""


@dataclass(frozen=True)
class Metric:
    """One quantity that results are given in."""

    name: str
    title: str
    unit: str
    better: Literal["lower", "higher", "neither"]
    transferable: bool
    """True where the number, or its ratio between treatments, should hold on other hardware."""
    digits: int
    definition: str
    basis: Basis = "times"
    """Doubts about something else do not touch it: see ``checks.relevance``."""
    rule: str = ""
    """Validity rule that asks the same: a trial that only this one calls failed is an answer."""
    by_role: bool = False
    """Whether it may be that of one role, whose name a column then has before this one."""

    def format(self, value: float | None) -> str:
        """Return the value with this metric's digits and unit; an en dash where it is missing."""
        if value is None or math.isnan(value):
            return "–"
        return f"{value:,.{self.digits}f}\u202f{self.unit}".rstrip("\u202f")


_ALL = (
    Metric("total_time_s", "Total time", "s", "lower", False, 3,
           "Seconds from the first request of a run of the scenario to its last answer; "
           "median over the runs in the measured phase."),
    Metric("throughput_per_s", "Throughput", "req/s", "higher", False, 0,
           "Requests answered as expected in the measured phase, divided by its length."),
    Metric("rows_per_s", "Rows stored", "rows/s", "higher", False, 0,
           "Rows that a trial left in the database, over the seconds between the first and the "
           "last of their time stamps."),
    Metric("latency_p50_ms", "Latency, median", "ms", "lower", False, 2,
           "Median time from intended start to the last byte of the answer."),
    Metric("latency_p95_ms", "Latency, 95th percentile", "ms", "lower", False, 2,
           "95th percentile of the time from intended start to the last byte of the answer."),
    Metric("latency_p99_ms", "Latency, 99th percentile", "ms", "lower", False, 2,
           "99th percentile of the time from intended start to the last byte of the answer."),
    Metric("service_p50_ms", "Service time, median", "ms", "lower", False, 2,
           "Median time from actual start to the last byte of the answer."),
    Metric("total_ms", "Time of the work", "ms", "lower", False, 2,
           "Time that a node took for one piece of work, by its own clock; mean over the trial.",
           basis="server", by_role=True),
    Metric("database_ms", "Time in the database", "ms", "lower", False, 2,
           "The part of the time of a piece of work in which the node talked to its database.",
           basis="server", by_role=True),
    Metric("query_ms", "Time of a query", "ms", "lower", False, 2,
           "Time in the database of one execution of a query, by the clock of the node that asked.",
           basis="server"),
    Metric("call_ms", "Time of a call", "ms", "lower", False, 3,
           "Time from one part of a system to another and back, by the clock of the caller, a "
           "node; mean over the trial.", basis="server"),
    Metric("access_ms", "Connection held", "ms", "lower", False, 3,
           "Time that a request holds a connection to the database, by the node's own clock.",
           basis="server"),
    Metric("disk_write", "Written to disk", "MB/s", "higher", False, 1,
           "Bytes that a node wrote and forced to disk over the time that it took for it, by its "
           "own clock.", basis="server"),
    Metric("read_ms", "Time of a read", "ms", "lower", False, 2,
           "Time of one read of a file, by the node's own clock; mean over the trial.",
           basis="server"),
    Metric("body_bytes", "Body", "B", "lower", True, 0,
           "Bytes of the answer's body, mean over the answers.", basis="account"),
    Metric("received_bytes", "Answer on the wire", "B", "lower", True, 0,
           "Bytes of status line, headers and body as received, mean over the answers.",
           basis="account"),
    Metric("run_received_bytes", "Bytes per run", "B", "lower", True, 0,
           "Bytes received in one run of the scenario, mean over the runs.", basis="account"),
    Metric("cpu_ms", "CPU time", "ms", "lower", True, 3,
           "CPU time of a role's processes for one request, or for one document or megabyte where "
           "the claim says so.", basis="use", by_role=True),
    Metric("busy_ms", "CPU time, kernel included", "ms", "lower", True, 3,
           "CPU time of the stack's CPUs in the measured phase for one request: of processes, and "
           "of the kernel's work for packets and disks.", basis="use"),
    Metric("frames_per_mb", "Frames per megabyte", "", "lower", True, 0,
           "Frames that a link carried both ways for each megabyte moved, by the kernel's count.",
           basis="account"),
    Metric("rss_mib", "Resident memory", "MiB", "lower", True, 0,
           "Memory of processes that is in RAM while requests are measured.", basis="use",
           by_role=True),
    Metric("failed_share", "Failed", "%", "lower", True, 2,
           "Share of the requests of the measured phase that failed."),
    Metric("kept_heap_mb", "Kept heap", "MB", "lower", True, 0,
           "Heap that collections could not free, at its highest: survivors and the old "
           "generation.", basis="use"),
    Metric("workers_bounded", "Workers bounded", "", "higher", True, 0,
           "1 if no reading found more messages under work than there were consumers; 0 otherwise.",
           basis="account"),
    Metric("account_closes", "Account closes", "", "higher", True, 0,
           "1 if everything sent was acknowledged and is stored, once; 0 otherwise.",
           basis="account", rule="SB105-stored"),
    Metric("within_limits", "Within limits", "", "higher", False, 0,
           "1 if a trial keeps the limits that a claim names however far its doubt about the level "
           "of its times goes, 0 if it keeps them in no case; else it says nothing.",
           basis="account"),
    Metric("no_failure", "Nothing failed", "", "higher", True, 0,
           "1 if every request of the trial was answered as expected; 0 otherwise.",
           basis="account", rule="SB301-errors"),
    Metric("processors_followed", "Processors followed", "", "higher", True, 0,
           "1 if a JVM, asked for its number of processors, told what the host had before CPUs "
           "were added, while they were there, and after they were taken away; 0 otherwise.",
           basis="account"),
    Metric("pool_kept", "Common pool kept", "", "neither", True, 0,
           "1 if a JVM's common pool had as many threads after CPUs were added as before; 0 "
           "otherwise.", basis="account"),
    Metric("first_answer_s", "First answer", "s", "lower", False, 2,
           "Seconds from nothing to a server's first good answer, boots of hosts included.",
           basis="start"),
    Metric("cpu_ratio", "CPU time, one host over another", "", "neither", True, 2,
           "CPU time that a host's processes took of the machine in the measured phase, over that "
           "of another host.", basis="use"),
    Metric("cpu_percent", "CPU, busy", "%", "neither", True, 1,
           "Share of the time in which the CPUs of a host, or of the stack, were busy, in the "
           "measured phase or the part of it that a claim names.", basis="use"),
    Metric("available_ram_mb", "Available memory", "MiB", "higher", False, 0,
           "Memory that the kernel could give away, at its least in the measured phase.",
           basis="use"),
    Metric("committed_mib", "Memory besides the heap", "MiB", "lower", True, 0,
           "Memory that the JVMs of all app nodes committed by their own account, less the heap.",
           basis="use"),
    Metric("disk_flushes", "Flushes of the disk", "", "lower", True, 2,
           "Flushes of the disk for each request of the measured phase, by the kernel's count.",
           basis="use"),
    Metric("machine_level", "Level to the end", "", "higher", True, 0,
           "1 if neither available memory nor CPU had a significant trend of more than a twentieth "
           "in the measured phase; 0 otherwise.", basis="use"),
    Metric("cpu_low", "CPU low", "", "higher", True, 0,
           "1 if the CPUs of the stack were busy for a quarter of the measured phase or less; 0 "
           "otherwise.", basis="use"),
    Metric("levels_off", "Levels off", "", "higher", True, 0,
           "1 if the memory available on the machine never fell by more than a twentieth below its "
           "mean in the measured phase, and nothing was swapped; 0 otherwise.", basis="use"),
    Metric("paging_low", "Hardly any paging", "", "higher", True, 0,
           "1 if the kernel read less than one page a second from the disk in the measured phase; "
           "0 otherwise.", basis="use"),
    Metric("switches_per_request", "Context switches", "", "lower", True, 1,
           "Context switches of a node's threads over the trial, by request.", basis="use"),
    Metric("gc_overhead", "Time in pauses", "%", "lower", True, 2,
           "Share of the measured phase, or of the stage that a claim names, in which the "
           "collector stopped a JVM, by its log.", basis="use"),
    Metric("no_problem", "No problem", "", "higher", True, 0,
           "1 if a node answered 600 calls or more, never ran out of memory, and spent less than a "
           "tenth of the time in pauses; 0 otherwise.", basis="use"),
    Metric("memory_exhausted", "Out of memory", "", "lower", True, 0,
           "1 if the first start of a node ended for lack of memory; 0 otherwise.",
           basis="account"),
    Metric("pauses_excessive", "Pauses grow", "", "lower", True, 0,
           "1 if the share of time in pauses with the last messages before a node's end was a "
           "tenth or more above that with early ones; 0 otherwise.", basis="use"),
    Metric("pile_finishes", "All stored", "", "higher", True, 0,
           "1 if no node ran out of memory and all that was sent is acknowledged and stored, once; "
           "0 otherwise.", basis="account"),
    Metric("pile_resumed", "Resumed with more heap", "", "higher", True, 0,
           "1 if a node ended again in the same heap, and with more heap took up where it was, "
           "until all that was sent was stored, once; 0 otherwise.", basis="account"),
    Metric("heap_freed", "Heap freed", "", "higher", True, 0,
           "1 if the first collection of the whole heap after a delivery left a quarter of the "
           "peak or less, in a pause longer by a tenth or more than the median before it; 0 "
           "otherwise.", basis="use"),
    Metric("faults_and_one", "Page faults, and one", "1/s", "lower", False, 1,
           "Page faults of a node's process that had to wait for the disk, a second of the "
           "measured phase, and one more, since there may be none.", basis="use"),
    Metric("native_mb", "Native memory", "MB", "lower", True, 0,
           "The most that a node's process held in RAM while requests were measured, less its "
           "heap.",
           basis="use"),
    Metric("pools_as_named", "Pools as named", "", "higher", True, 0,
           "1 if calls and messages were served by the pools that the layout names, by the count "
           "of their receiver; 0 otherwise.", basis="account"),
    Metric("order_as_claimed", "Order as claimed", "", "higher", True, 0,
           "1 if no message was stored after a later one of its sender where one consumer is "
           "allowed, and some were where many are; 0 otherwise.", basis="account"),
    Metric("second_run_faster", "Second run faster", "", "higher", True, 0,
           "1 if the second run of calls after a start took less time than the first, by a tenth "
           "or more; 0 otherwise.", basis="start"),
    Metric("falls_within_run", "Falls within the run", "", "higher", True, 0,
           "1 if the mean time of all calls of the first run after a start was below that of its "
           "first calls, by a tenth or more; 0 otherwise.", basis="start"),
    Metric("free_heap_shrinks", "Free heap shrinks", "", "higher", True, 0,
           "1 if less heap was free at the end of the first run after a start than after its first "
           "calls; 0 otherwise.", basis="start"),
    Metric("limit_kept", "Limit kept", "", "higher", True, 0,
           "1 if a host with a limit of half a CPU used 0.40 to 0.55 CPUs and was stopped by the "
           "limit; 0 otherwise.", basis="use"),
    Metric("weight_kept", "Weight kept", "", "higher", True, 0,
           "1 if a host with four times the weight of another took 3.2 to 5 times its CPU time; "
           "0 otherwise.", basis="use"),
)  # fmt: skip

METRICS: dict[str, Metric] = {metric.name: metric for metric in _ALL}


def find_metric(column: str) -> Metric | None:
    """Return the metric that a column of trials holds; None if the registry has none such.

    A column has the metric's name; where the metric is ``by_role``, also behind that of a role: of
    ``app_cpu_ms`` the metric is ``cpu_ms``, and the title names the role.
    """
    role, _, name = column.partition("_")
    whole = METRICS.get(name)
    if column in METRICS or whole is None or not whole.by_role or not role:
        return METRICS.get(column)
    return replace(whole, name=column, title=f"{whole.title}, {role}")
