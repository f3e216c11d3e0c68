"""Which series of Prometheus' format are read, and what they are called here."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from urllib.parse import urlencode

PATH = "/actuator/prometheus"
_PARTS = ("le", "quantile")
"""Labels that tell the parts of one histogram, or one summary, apart."""


@dataclass(frozen=True)
class Series:
    """Which points of which series add up to one of our metrics."""

    name: str
    """Series as it is exposed."""
    metric: str
    """Our name, as in ``probes.registry``."""
    where: dict[str, str] = field(default_factory=dict)
    """Label to pattern that its value must match, as ``matches`` tells; ``{port}``: the node's."""
    label: str = ""
    """Label whose value tells our labelled metrics apart; points that share it are summed."""
    factor: float = 1.0
    """Our unit in theirs."""

    @property
    def is_amount(self) -> bool:
        """Whether less than nothing is no value of it, as of all metrics that have our names.

        Tomcat says -1 for its threads where each request has one of its own. What keeps a server's
        own name may be a temperature or a lag.
        """
        return not self.metric.startswith(("told/", "told_total/"))

    def takes(self, labels: Mapping[str, str]) -> bool:
        """Return whether a point with these labels is one of those that are wanted."""
        return all(matches(labels.get(label, ""), pattern) for label, pattern in self.where.items())

    def mixes(self, labels: Mapping[str, str]) -> str:
        """Return the label of a histogram or summary over which no sum makes sense; empty: none."""
        named = {*self.where, self.label}
        return next((one for one in _PARTS if one in labels and one not in named), "")


def matches(value: str, pattern: str) -> bool:
    """Return whether a label's value is what a pattern means.

    ``*`` is any text, ``?`` any one character, and all else is itself, brackets too:
    ``/api/[id]`` is a path of Next.js. ``[*]`` and ``[?]`` are an asterisk and a question mark.
    """
    return _expression(pattern).fullmatch(value) is not None


@cache
def _expression(pattern: str) -> re.Pattern[str]:
    kinds = {"*": ".*", "?": "."}
    words = re.findall(r"\[[*?\[]\]|.", pattern, re.DOTALL)
    parts = [re.escape(w[1]) if len(w) == 3 else kinds.get(w) or re.escape(w) for w in words]
    return re.compile("".join(parts), re.DOTALL)


_TOMCAT = {"name": "*-{port}"}
_DONE = {"outcome": "done"}
_HEAP, _OUTSIDE = {"area": "heap"}, {"area": "nonheap"}

SERIES: tuple[Series, ...] = (
    Series("tomcat_global_request_seconds_count", "requests_total", _TOMCAT),
    Series("tomcat_global_request_seconds_sum", "request_s", _TOMCAT),
    Series("tomcat_global_error_total", "request_errors_total", _TOMCAT),
    Series("tomcat_global_sent_bytes_total", "sent_bytes", _TOMCAT),
    Series("tomcat_threads_busy_threads", "threads_busy", _TOMCAT),
    Series("tomcat_threads_current_threads", "threads_created", _TOMCAT),
    Series("tomcat_threads_config_max_threads", "threads_limit", _TOMCAT),
    Series("tomcat_connections_current_connections", "connections_open", _TOMCAT),
    Series("http_server_requests_seconds_count", "answers_total", label="status"),
    Series("hikaricp_connections_active", "pool_active"),
    Series("hikaricp_connections_idle", "pool_idle"),
    Series("hikaricp_connections_pending", "pool_waiting"),
    Series("hikaricp_connections_max", "pool_limit"),
    Series("hikaricp_connections_timeout_total", "pool_timeouts_total"),
    Series("hikaricp_connections_acquire_seconds_count", "pool_acquired_total"),
    Series("hikaricp_connections_acquire_seconds_sum", "pool_acquire_s"),
    Series("hikaricp_connections_usage_seconds_sum", "pool_usage_s"),
    Series("refstack_connector_sent_total", "connector_sent_total", label="way"),
    Series("refstack_connector_rejected_total", "connector_rejected_total", label="reason"),
    Series("refstack_connector_calls_total", "connector_calls_total", label="way"),
    Series("refstack_connector_stored_total", "connector_stored_total", label="way"),
    Series("refstack_connector_duplicates_total", "connector_duplicates_total", label="way"),
    Series("refstack_connector_connections_total", "connector_opened_total", label="protocol"),
    Series("refstack_connector_logins_total", "connector_logins_total", label="protocol"),
    Series("refstack_connector_logins_refused_total", "connector_refused_total", label="protocol"),
    Series("refstack_connector_log_forces_total", "connector_forces_total", label="way"),
    Series("refstack_connector_branches_total", "connector_branches_total", label="outcome"),
    Series("refstack_connector_recovered_total", "connector_recovered_total", label="outcome"),
    Series("refstack_connector_pool_timeouts_total", "connector_timeouts_total", label="pool"),
    Series("refstack_connector_pool_active", "connector_active", label="pool"),
    Series("refstack_connector_pool_waiting", "connector_waiting", label="pool"),
    Series("refstack_connector_pool_limit", "connector_limit", label="pool"),
    Series("refstack_broker_queue_depth", "queue_depth", label="queue"),
    Series("refstack_broker_queue_delivering", "queue_delivering", label="queue"),
    Series("refstack_broker_queue_consumers", "queue_consumers", label="queue"),
    Series("refstack_broker_queue_added_total", "queue_added_total", label="queue"),
    Series("refstack_broker_queue_acknowledged_total", "queue_acknowledged_total", label="queue"),
    Series("refstack_broker_queue_killed_total", "queue_killed_total", label="queue"),
    Series("refstack_broker_memory_bytes", "broker_memory_bytes", label="of"),
    Series("refstack_broker_journal_syncs_total", "journal_syncs_total", label="journal"),
    Series("refstack_broker_journal_sync_seconds_total", "journal_sync_s", label="journal"),
    Series("refstack_messaging_messages_total", "messages_total", label="outcome"),
    Series("refstack_messaging_refused_total", "messages_refused_total", label="reason"),
    Series("refstack_messaging_consumers", "message_consumers", label="state"),
    Series("refstack_events_events_total", "events_total", label="outcome"),
    Series("refstack_events_refused_total", "events_refused_total", label="reason"),
    Series("refstack_events_workers", "event_workers", label="state"),
    Series("refstack_xml_transform_seconds_count", "documents_total", label="way"),
    Series("refstack_xml_transform_seconds_sum", "document_s", label="way"),
    Series("refstack_xml_cpu_seconds_total", "document_cpu_s", label="way"),
    Series("refstack_xml_allocated_bytes_total", "document_allocated_bytes", label="way"),
    Series("refstack_xml_in_bytes_total", "document_in_bytes", label="way"),
    Series("refstack_xml_out_bytes_total", "document_out_bytes", label="way"),
    Series("refstack_xml_stored_total", "documents_stored_total", label="way"),
    Series("refstack_xml_duplicates_total", "documents_known_total", label="way"),
    Series("refstack_xml_refused_total", "documents_refused_total", label="reason"),
    Series("refstack_bindings_calls_total", "binding_calls_total", label="way"),
    Series("refstack_bindings_call_seconds_total", "binding_call_s", label="way"),
    Series("refstack_bindings_first_seconds", "binding_first_s", label="way"),
    Series("refstack_bindings_failures_total", "binding_failures_total", label="way"),
    Series("refstack_bindings_received_total", "binding_received_total", label="way"),
    Series("refstack_bindings_received_total", "binding_served_total", label="pool"),
    Series("refstack_bindings_pool_active", "binding_pool_active", label="pool"),
    Series("refstack_bindings_pool_queued", "binding_pool_queued", label="pool"),
    Series("refstack_bindings_pool_limit", "binding_pool_limit", label="pool"),
    Series("refstack_bindings_pool_rejected_total", "binding_rejected_total", label="pool"),
    Series("refstack_bindings_pool_threads", "binding_pool_threads", label="pool"),
    Series("refstack_bindings_pool_largest", "binding_pool_largest", label="pool"),
    Series("refstack_bindings_pool_started_total", "binding_started_total", label="pool"),
    Series("refstack_bindings_pool_done_total", "binding_done_total", label="pool"),
    Series("refstack_bindings_pool_waited_seconds_total", "binding_waited_s", label="pool"),
    Series("refstack_bindings_pool_worked_seconds_total", "binding_worked_s", label="pool"),
    Series("refstack_bindings_sent_total", "binding_sent_total", label="way"),
    Series("refstack_bindings_one_way_total", "binding_one_way_total", label="outcome"),
    Series("refstack_bindings_late_total", "binding_late_total", label="way"),
    Series("refstack_disk_jobs_total", "disk_jobs_total", label="job"),
    Series("refstack_disk_runs_total", "disk_runs_total", label="how"),
    Series("refstack_disk_refused_total", "disk_refused_total", label="reason"),
    Series("refstack_disk_bytes_total", "disk_job_bytes", label="direction"),
    Series("refstack_disk_operations_total", "disk_job_operations_total", label="direction"),
    Series("refstack_disk_seconds_total", "disk_job_s", label="direction"),
    Series("refstack_disk_waited_seconds_total", "disk_job_waited_s", label="direction"),
    Series("refstack_disk_device_bytes_total", "disk_job_device_bytes", label="direction"),
    Series("refstack_disk_latency_seconds", "disk_job_p50_s", {"quantile": "0.5"}, "direction"),
    Series("refstack_disk_latency_seconds", "disk_job_p99_s", {"quantile": "0.99"}, "direction"),
    Series("refstack_disk_sent_bytes_total", "disk_sent_bytes"),
    Series("refstack_disk_sent_seconds_total", "disk_sent_s"),
    Series("refstack_pages_sessions", "sessions", label="state"),
    Series("refstack_pages_logins_total", "logins_total", label="outcome"),
    Series("refstack_pages_sessions_ended_total", "sessions_ended_total", label="reason"),
    Series("refstack_work_requests_total", "work_requests_total", label="kind"),
    Series("refstack_work_seconds_total", "work_s", label="kind"),
    Series("refstack_work_database_seconds_total", "work_database_s", label="kind"),
    Series("refstack_work_rows_total", "work_rows_total", label="kind"),
    Series("refstack_work_statements_total", "work_statements_total", label="kind"),
    Series("refstack_work_requests_total", "work_done_total", label="work"),
    Series("refstack_work_seconds_total", "work_done_s", label="work"),
    Series("refstack_work_database_seconds_total", "work_done_database_s", label="work"),
    Series("refstack_work_first_seconds", "work_first_s", label="work"),
    Series("refstack_work_first_database_seconds", "work_first_database_s", label="work"),
    Series("refstack_work_refused_total", "work_refused_total", label="reason"),
    Series("refstack_business_transactions_total", "business_done_total", _DONE, "transaction"),
    Series("refstack_business_transactions_total", "business_outcomes_total", label="outcome"),
    Series("refstack_business_seconds_total", "business_s", label="transaction"),
    Series("refstack_business_sessions", "business_sessions", label="state"),
    Series(
        "refstack_business_sessions_events_total", "business_session_events_total", label="event"
    ),
    Series("refstack_business_workers", "business_workers", label="state"),
    Series("jvm_memory_used_bytes", "heap_used_bytes", _HEAP),
    Series("jvm_memory_committed_bytes", "heap_committed_bytes", _HEAP),
    Series("jvm_memory_used_bytes", "code_cache_used_bytes", {**_OUTSIDE, "id": "Code*"}),
    Series("jvm_gc_live_data_size_bytes", "heap_live_bytes"),
    Series("jvm_gc_memory_allocated_bytes_total", "allocated_bytes"),
    Series("jvm_gc_pause_seconds_count", "gc_pauses_total"),
    Series("jvm_gc_pause_seconds_sum", "gc_pause_s"),
    Series("jvm_threads_states_threads", "threads_in_state", label="state"),
    Series("process_cpu_time_ns_total", "jvm_cpu_s", factor=1e9),
    Series("process_files_open_files", "files_open"),
    Series("system_cpu_count", "processors"),
    Series("refstack_common_pool_threads", "common_pool_threads"),
)
"""Every series that is read, and what it is called here. A new counter is a new line."""


def path_for(names: Collection[str]) -> str:
    """Return the path that gives these series only.

    The endpoint knows a series by its name without the suffix of its kind (Spring Boot, actuator
    REST API, "Retrieving Filtered Metrics"); one that does not know the parameter gives all. What
    ends in ``_count`` is asked for by both names: it may be a gauge that is called so.
    """
    bare = set(names)
    for suffix in ("_total", "_count", "_sum"):
        bare = {name.removesuffix(suffix) for name in bare}
    wanted = bare | {name for name in names if name.endswith("_count")}
    return f"{PATH}?{urlencode({'includedNames': ','.join(sorted(wanted))})}"


def prepare(series: Iterable[Series], service_port: int) -> dict[str, list[Series]]:
    """Return the declarations by series name, with the node's port put into the patterns."""
    prepared: dict[str, list[Series]] = {}
    for one in series:
        where = {k: v.replace("{port}", str(service_port)) for k, v in one.where.items()}
        prepared.setdefault(one.name, []).append(replace(one, where=where))
    return prepared
