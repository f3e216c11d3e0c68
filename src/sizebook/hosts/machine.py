"""This machine as it sees itself, and the processes on it."""

from __future__ import annotations

import platform
import shutil
import subprocess
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import psutil

from sizebook.hosts.base import HostView, ProcessView
from sizebook.hosts.idling import idle_words
from sizebook.model.bundle import MachineFacts


def local_facts() -> MachineFacts:
    """Return what is known of this machine."""
    return MachineFacts(
        system=_system_name(),
        kernel=platform.release(),
        architecture=platform.machine(),
        cpu_model=_cpu_model(),
        logical_cpus=psutil.cpu_count(logical=True) or 0,
        memory_mib=psutil.virtual_memory().total // 2**20,
        virtualization=_virtualization(),
        idle=idle_words(),
    )


def _system_name() -> str:
    try:
        facts = platform.freedesktop_os_release()
    except OSError:
        return f"{platform.system()} {platform.release()}"
    return facts.get("PRETTY_NAME") or facts["NAME"]


def _cpu_model() -> str:
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if line.startswith("model name"):  # "model name\t: AMD EPYC 9R45"
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"


@cache
def _virtualization() -> str:
    detect = shutil.which("systemd-detect-virt")
    if detect is None:
        return "unknown"
    answer = subprocess.run([detect], capture_output=True, text=True, check=False)
    return answer.stdout.strip() or "unknown"


def view_process(pid: int) -> ProcessView | None:
    """Return what a process and its descendants use; None once it has ended."""
    try:
        top = psutil.Process(pid)
        views = [_view_one(process) for process in (top, *top.children(recursive=True))]
    except psutil.Error:
        return None
    return ProcessView(
        cpu_user_s=sum(view.cpu_user_s for view in views),
        cpu_system_s=sum(view.cpu_system_s for view in views),
        rss_bytes=sum(view.rss_bytes for view in views),
        threads=sum(view.threads for view in views),
        voluntary_switches=sum(view.voluntary_switches for view in views),
        involuntary_switches=sum(view.involuntary_switches for view in views),
    )


def _view_one(process: psutil.Process) -> ProcessView:
    try:
        with process.oneshot():
            cpu, switches = process.cpu_times(), process.num_ctx_switches()
            return ProcessView(
                cpu.user + getattr(cpu, "children_user", 0.0),
                cpu.system + getattr(cpu, "children_system", 0.0),
                process.memory_info().rss,
                process.num_threads(),
                switches.voluntary,
                switches.involuntary,
            )
    except psutil.Error:  # ended just now
        return ProcessView(0.0, 0.0, 0, 0, 0, 0)


def view_machine(pids: Mapping[str, int]) -> HostView:
    """Return what this machine says now of itself and of these processes."""
    memory, cpu = psutil.virtual_memory(), psutil.cpu_times()
    told = {name: getattr(cpu, name, 0.0) for name in ("idle", "iowait", "steal")}
    told |= {"user": cpu.user + getattr(cpu, "nice", 0.0), "system": cpu.system}
    told["irq"] = getattr(cpu, "irq", 0.0) + getattr(cpu, "softirq", 0.0)
    views = {name: view_process(pid) for name, pid in pids.items()}
    return HostView(
        monotonic_ns=time.monotonic_ns(),
        wall_ns=time.time_ns(),
        cpu_s=told,
        memory_total_bytes=memory.total,
        memory_available_bytes=memory.available,
        processes={name: view for name, view in views.items() if view is not None},
    )
