"""What the terse words of the data are called in tables and charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sizebook.report.quantities import Quantity

COUNTS = (
    Quantity("id", "Report"),
    Quantity("measurements", "Measurements"),
    Quantity("parameters", "Parameters"),
    Quantity("claims", "Claims"),
)
"""How much a report gave."""
LAYOUTS = {"4": "4 × 4 GB", "2": "2 × 8 GB", "1": "1 × 16 GB"}
CONNECTORS = {"es": "ES", "jco": "JCo", "jra": "JRA"}
METERS = {
    "cpu_percent": "CPU (%)",
    "paging_pages_per_s": "Paging (pages/s)",
    "available_ram_mb": "Free memory (MB)",
    "disk_queue_length_requests": "Disk queue (requests)",
}
STACKS = {
    "jersey-caf-jco": "Jersey",
    "jersey-tuned": "Jersey, tuned",
    "gateway-sp2-trial": "Gateway SP2",
    "gateway-sp3-trial": "Gateway SP3",
    "gateway-performance-landscape": "Gateway, vendor's machines",
}
WORKERS = {"trial-default": ", default workers", "20": ", 20 workers", "30": ", 30 workers"}
FAILED = {"included": ", failures included", "excluded": ", failures left out"}
CLIENTS = {"1": "1 thread", "20": "20 threads"}
SENT = {"list": "the list", "detail": "one detail", "all": "a whole run"}
MODES = {
    "bare-metal": "bare metal",
    "xen-pvm": "Xen PVM",
    "xen-hvm": "Xen HVM",
    "vmware-esx-4.0": "VMware ESX",
}
FILES = {
    "small-files": "500 MB of small files",
    "110-120kb": "files of 110–120 KB",
    "1gb": "data files up to 1 GB",
}
STAGES = {
    "1-initial-summary": "1 summary",
    "2-all-items-dialog": "2 all items",
    "3-final-report": "3 final report",
}
STEPS = {"total": "whole step", "db": "in the database"}
JOBS = {
    "sgen_time_h": "generate all programs (hours)",
    "sgen_time_ratio": "generate all programs (times bare metal)",
    "db_statistics_time_ratio": "database statistics (times bare metal)",
    "job_time_h": "period closing (hours)",
    "query_time_s": "count of a dictionary view (seconds)",
}
JOB_METRICS: Mapping[str, Sequence[str]] = {
    "sgen-load": ("sgen_time_h", "sgen_time_ratio"),
    "db-statistics": (),
    "financial-close-job": (),
    "simple-query": ("query_time_s",),
}
BINDINGS = {
    "sca-sync": "SCA, synchronous",
    "http-sync": "HTTP, synchronous",
    "jms-async": "JMS, asynchronous",
    "ws-sync": "web service, synchronous",
    "sca-async": "SCA, asynchronous",
}
COLLECTION = {
    "row": "No.",
    "since_last_af_ms": "Since last (ms)",
    "allocation_needed_bytes": "Asked for (B)",
    "gc_completed_ms": "Pause (ms)",
    "af_completed_ms": "Allocation failure (ms)",
    "mark_ms": "Mark (ms)",
    "sweep_ms": "Sweep (ms)",
    "compact_ms": "Compact (ms)",
    "tenured_used_after_bytes": "Tenured used (B)",
    "tenured_free_before_bytes": "Tenured free before (B)",
    "tenured_free_after_bytes": "Tenured free after (B)",
    "tenured_total_before_bytes": "Tenured before (B)",
    "tenured_total_after_bytes": "Tenured after (B)",
    "nursery_free_after_bytes": "Nursery free (B)",
    "nursery_total_after_bytes": "Nursery (B)",
}
"""What the tool tells of a collection."""
PAUSES = {
    "mark_ms": "mark",
    "sweep_ms": "sweep",
    "compact_ms": "compact",
    "rest": "copy and other",
}
CONFIGS = {
    "ibm-v3t 2001-06": "IBM V3T, June 2001",
    "sun-p3t 2003-02": "Sun P3T, Feb. 2003",
    "ibm-v3t 2003-04": "IBM V3T, April 2003",
    "ibm-p3t 2003-06": "IBM P3T, June 2003",
}
WHAT = {
    "concurrent_users": "users",
    "cpus": "processors",
    "clock_mhz": "clock (MHz)",
    "users_per_cpu": "users a processor",
    "response_time_s": "response time (s)",
    "users_per_jvm": "users a JVM",
    "hits_per_h": "hits an hour",
}
RUN_PANELS = {
    "concurrent_users": ("Load", "concurrent users"),
    "users_per_cpu": ("Load of a processor", "users per processor"),
    "response_time_s": ("Response time", "seconds"),
}
TIERS = {
    "web": "web",
    "app-db": "application and database",
    "web-app": "web and application",
    "db": "database",
}
RULES = {
    "http_threads_percent_of_users": "threads of the HTTP server",
    "web_container_min_threads_percent_of_users": "least threads of the web container",
    "web_container_max_threads_percent_of_users": "most threads of the web container",
    "http_transport_max_keepalive_percent_of_users": "connections kept alive",
    "session_in_memory_percent_of_users": "sessions kept in memory",
    "jdbc_prestart_jobs_percent_of_users": "database jobs started beforehand",
}
