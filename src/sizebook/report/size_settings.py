"""The calculator's answer as settings: JVM flags, threads and pools, a patch for Kubernetes, JSON.

Heap and CPUs are the model's. What it does not know follows by Little's law (L = X T: so many
requests are within at once), with three standard deviations of a Poisson number on top.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from sizebook.lab import Placement, app_stack
from sizebook.model.memory import NATIVE_MIB
from sizebook.stack.endings import LAST_RESORT
from sizebook.stack.manifests import in_yaml, manifests
from sizebook.stack.settings import PROPERTIES
from sizebook.stats.sizing import Candidate, Demanded, Heap, SizingModel, prepare

DEPLOYMENT = "sizebook-app"
"""Name of the app's Deployment in what ``sizebook stack manifests`` prints."""
_SHARED = (
    "CPUs are as the model counts them, of all that shared the measured limit (in the book's own "
    "chapter app nodes and database together): the app alone needs no more."
)


@dataclass(frozen=True)
class NodeSettings:
    """What to set on each of so many nodes."""

    nodes: int
    cpus: float
    heap_mib: int | None
    """None where the model knows none."""
    memory_mib: int | None
    """Heap, and what a node of the reference stack takes beside it."""
    threads: int
    pool: int
    connections: int | None
    """None where requests come at random: nobody knows from how many clients."""
    why: dict[str, str]
    """Where each setting comes from."""

    @property
    def of_stack(self) -> dict[str, int]:
        """Settings by the reference stack's names, as ``sizebook stack -a name=value`` takes."""
        named = {"threads": self.threads, "pool": self.pool, "connections": self.connections}
        return {name: value for name, value in named.items() if value is not None}


def derive_settings(model: SizingModel, question: Demanded, chosen: Candidate) -> NodeSettings:
    """Return what to set on the nodes of a candidate, for the state after its failures."""
    model, asked = prepare(model, question)
    left = chosen.nodes - asked.spare_nodes
    rate = chosen.predicted.rate_per_s / left
    slow_s = chosen.predicted.mean_s * model.bands["mean"]
    response = model.response
    busy_s = response.seconds_at(0.0, chosen.counted_cpus, chosen.nodes)
    threads, pool = _at_once(rate * slow_s), _at_once(rate * busy_s)
    users = None if asked.users is None else math.ceil(asked.users / left)
    heap = None if chosen.heap_mib is None else int(chosen.heap_mib)
    each = f"{rate:.4g} requests/s a node"
    return NodeSettings(
        nodes=chosen.nodes,
        cpus=chosen.cpus,
        heap_mib=heap,
        memory_mib=None if heap is None else heap + NATIVE_MIB,
        threads=threads if users is None else min(threads, users),
        pool=pool if users is None else min(pool, users),
        connections=users,
        why={
            "cpus": _SHARED,
            "heap": _why_heap(model.heap),
            "threads": f"Little's law: {each}, {1e3 * slow_s:.3g} ms mean response at the band's "
            "upper end",
            "pool": f"Little's law: {each}, {1e3 * busy_s:.3g} ms without waiting; an upper bound, "
            "since the model does not know how long a request holds a connection",
            "connections": "not known: random requests have no number of clients"
            if users is None
            else "one connection a user",
        },
    )


def as_arguments(settings: NodeSettings) -> str:
    """Return a file for ``java @FILE -jar refstack.jar``: flags, and properties of the stack."""
    lines = [
        f"# Nodes: {settings.nodes}. On each: java @FILE -jar refstack.jar",
        f"# cpus {settings.cpus:g}: {settings.why['cpus']}",
        f"# heap: {settings.why['heap']}",
    ]
    if settings.heap_mib is not None:
        lines += [f"-Xms{settings.heap_mib}m", f"-Xmx{settings.heap_mib}m"]
    lines.append(LAST_RESORT)
    for name in ("threads", "pool", "connections"):
        lines.append(f"# {name}: {settings.why[name]}")
        if name in settings.of_stack:
            lines.append(f"-D{PROPERTIES[name]}={settings.of_stack[name]}")
    return "\n".join(lines) + "\n"


def as_patch(settings: NodeSettings) -> str:
    """Return a strategic merge patch for the app's Deployment of ``sizebook stack manifests``."""
    container: dict[str, Any] = {"name": "app"}
    limits = {"cpu": f"{math.ceil(1000 * settings.cpus)}m"}
    resources = {"requests": dict(limits), "limits": dict(limits)}
    if settings.memory_mib is not None and settings.heap_mib is not None:
        resources["requests"]["memory"] = f"{settings.memory_mib}Mi"
        resources["limits"]["memory"] = f"{settings.memory_mib + NATIVE_MIB}Mi"
        container["args"] = _arguments(settings)
    patch = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": DEPLOYMENT},
        "spec": {
            "replicas": settings.nodes,
            "template": {"spec": {"containers": [container | {"resources": resources}]}},
        },
    }
    notes = [f"kubectl patch deployment {DEPLOYMENT} --patch-file FILE", f"cpu: {_SHARED}"]
    notes += [f"{name}: {settings.why[name]}" for name in ("heap", "threads", "pool")]
    notes.append("args are those of 'sizebook stack manifests', with this heap and these settings")
    return "".join(f"# {each}\n" for each in notes) + in_yaml([patch])


def as_json(settings: NodeSettings) -> dict[str, Any]:
    """Return settings for another program, with the properties of the stack by name."""
    properties = {PROPERTIES[name]: value for name, value in settings.of_stack.items()}
    return asdict(settings) | {"properties": properties}


def _arguments(settings: NodeSettings) -> list[str]:
    """Return the arguments that the manifests have for such nodes."""
    heap_mib = settings.heap_mib or 0
    here = Placement(stack=(0,), generator=(), total_heap_mib=settings.nodes * heap_mib)
    stack = app_stack(here, nodes=settings.nodes, heap_mib=heap_mib, settings=settings.of_stack)
    [app] = [
        one
        for one in manifests(stack, image="")
        if one["kind"] == "Deployment" and one["metadata"]["name"] == DEPLOYMENT
    ]
    words: list[str] = app["spec"]["template"]["spec"]["containers"][0]["args"]
    return words


def _why_heap(heap: Heap | None) -> str:
    if heap is None:
        return "not known: the trials do not tell"
    return f"keeps the collector's pauses to {100 * heap.overhead:g} % of the time"


def _at_once(mean: float) -> int:
    """Return how many are within at once at the most, of a mean: 3 standard deviations above it."""
    return max(1, math.ceil(mean + 3 * math.sqrt(mean)))
