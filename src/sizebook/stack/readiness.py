"""What a start needs of this machine, and how long it is waited until all nodes are ready."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

import psutil

from sizebook.hosts.allowed import find_allowed, free_memory_mib
from sizebook.hosts.kinds import KIND_OF
from sizebook.model.deployment import Deployment
from sizebook.model.errors import HostLacksError, TrialError
from sizebook.model.memory import needed_mib
from sizebook.stack.endings import NodeEndedError, ending_of
from sizebook.stack.nodes import Node
from sizebook.store.lock import patience

_READY_TIMEOUT_S = 120.0
"""For as many nodes as there are CPUs; more that start at once take turns."""
_EMULATED_READY_TIMEOUT_S = 420.0
"""In a machine in software a JVM needs a minute for what it does in three seconds elsewhere."""


def check_memory(deployment: Deployment, available_mib: int | None = None) -> None:
    """Raise HostLacksError if this machine has not the memory that the layout needs.

    A limit of the control group that the harness is in counts as the end of the memory.
    What runs on a host of the deployment's own has that host's memory.
    """
    check_free(needed_mib(deployment), available_mib)


def check_free(needed: int, available_mib: int | None = None) -> None:
    """Raise HostLacksError if so many MiB are not free."""
    group = ""
    if available_mib is None:
        available_mib = free_memory_mib()
        if (limit := find_allowed().memory_bytes) is not None:
            group = f"; a control group allows {limit // 2**20} MiB in all"
    if needed > available_mib:
        raise HostLacksError(
            found=f"{available_mib} MiB of free memory{group}",
            expected=f"{needed} MiB for the heaps and what the processes take beside them",
            next_step="end other programs, or choose fewer nodes or smaller heaps",
        )


def wait_ready(nodes: Sequence[Node]) -> None:
    """Wait until all nodes say they are ready; raise TrialError if one ends or takes too long.

    Until then a JVM's optimising compiler (thread "C2 CompilerThre") waits for everybody else:
    of a start's CPU time it takes half, for code that hardly any request runs.
    """
    waiting, unheld = list(nodes), list(nodes)
    cpus = min(psutil.cpu_count() or 1, find_allowed().cpus or math.inf)
    turns = patience() * max(1.0, len(nodes) / cpus)
    while waiting:
        unheld = [n for n in unheld if not n.host.hold_back(n.process, "C2 Compiler")]
        for node in tuple(waiting):
            seconds = time.monotonic() - node.started_s
            emulated = KIND_OF[node.host.mode].emulates_cpu
            timeout_s = turns * (_EMULATED_READY_TIMEOUT_S if emulated else _READY_TIMEOUT_S)
            if node.answers():
                node.ready_s = seconds
                waiting.remove(node)
            elif (ending := ending_of(node.process, node.heap_mib)) is not None:
                raise NodeEndedError.of(ending)
            elif seconds > timeout_s:
                raise TrialError(
                    found=f"node {node.name} not ready in {timeout_s:g} s: "
                    f"{node.process.log_tail(3)}",
                    expected="a node that becomes ready",
                    next_step="try the same deployment by hand with 'sizebook stack up'",
                )
        time.sleep(0.02 if waiting else 0.0)
    for node in nodes:
        node.host.let_go(node.process)
