"""What a trial's page says of its course: phases, what was done to the stack, how it ended."""

from __future__ import annotations

from collections.abc import Sequence

from sizebook.model.bundle import Execution, HostRun, StackEvent
from sizebook.model.deployment import Deployment, HostSpec
from sizebook.model.load import LoadProfile
from sizebook.model.network import Wire


def phase_words(load: LoadProfile, execution: Execution) -> str:
    """Return each phase with its planned length and the one it had."""
    planned = load.phases
    lengths = {"ramp": planned.ramp_s, "warm-up": planned.warmup_s, "measured": planned.measured_s}
    parts = []
    for name, length in lengths.items():
        mark = execution.phase(name)
        ran = "not reached" if mark is None else f"{(mark.end_ns - mark.begin_ns) / 1e9:.4g} s"
        if length or mark:
            parts.append(f"{name} {length:g} s (ran {ran})")
    drain = execution.phase("drain")
    if drain:
        parts.append(f"drain {(drain.end_ns - drain.begin_ns) / 1e9:.4g} s")
    return ", ".join(parts) + turn_words(load, execution)


def turn_words(load: LoadProfile, execution: Execution) -> str:
    """Return how a trial took turns; empty if its load was its own throughout."""
    turns = load.phases.turns
    if turns is None:
        return ""
    return (
        f"; {len(execution.turns)} turns of {turns.turn_s:g} s, of which the last "
        f"{turns.counted_s:g} s count and follow each other here; what lay between them comes "
        "before the measured phase"
    )


def done_words(execution: Execution) -> list[str]:
    """Return what was done to the stack while the load ran, one text each."""
    measured = execution.phase("measured")
    from_ns = measured.begin_ns if measured else execution.monotonic_ns
    return [_event_words(event, from_ns) for event in execution.events]


def host_words(
    deployment: Deployment, execution: Execution, callers: Sequence[HostSpec] = ()
) -> dict[str, dict[str, str]]:
    """Return what is known of each host that the deployment brought along, by its name.

    After them come the ``callers``, other machines from which the load came.

    Limits are those of the specification; the rest is what the host said and how its clock went,
    which is missing of a host that never came up.
    """
    runs = {run.name: run for run in (*execution.hosts, *execution.callers)}
    return {
        spec.name: _specified(spec) | (_ran(runs[spec.name]) if spec.name in runs else {})
        for spec in (*deployment.hosts, *callers)
    }


def network_words(deployment: Deployment) -> dict[str, str]:
    """Return how the hosts were to be connected, by link; empty: nothing was said."""
    network = deployment.network
    if network is None:
        return {}
    shared = _wire_words(network)
    if network.router_mbit_per_s is not None:
        shared += f", one router of {network.router_mbit_per_s:g} Mbit/s for all"
    links = {" to ".join(link.ends): _wire_words(link) for link in network.links}
    return {"shared": shared, **links, "offloads": "on" if network.offloads else "off"}


def _wire_words(wire: Wire) -> str:
    words = [f"frames of {wire.frame_bytes} bytes"]
    if wire.rate_mbit_per_s is not None:
        words.append(f"{wire.rate_mbit_per_s:g} Mbit/s")
    if wire.delay_ms is not None:
        words.append(f"delayed by {wire.delay_ms:g} ms")
    return ", ".join(words)


def _specified(spec: HostSpec) -> dict[str, str]:
    return {
        "mode": spec.mode,
        "on CPUs": ", ".join(map(str, spec.cpus)) or "any",
        "CPU limit": "" if spec.cpu_limit is None else f"{spec.cpu_limit:g}",
        "CPU weight": "" if spec.cpu_weight is None else str(spec.cpu_weight),
        "memory": "all of its machine's" if spec.whole else f"{spec.memory_mib} MiB",
    }


def _ran(run: HostRun) -> dict[str, str]:
    sees = f"{run.machine.logical_cpus} CPUs, {run.machine.memory_mib} MiB"
    clock = f"{run.clock_drift_ns / 1e6:+.3f} ms, read to {run.clock_uncertainty_ns / 1e6:.3f} ms"
    return {
        "kernel": run.machine.kernel,
        "it sees": f"{sees}, {run.machine.cpu_model}",
        "boot": ", ".join(f"{piece} {seconds:g} s" for piece, seconds in run.boot_s.items()),
        "clock moved": clock,
    } | {f"link to {peer}": words for peer, words in run.links.items()}


def _event_words(event: StackEvent, from_ns: int) -> str:
    heap = f" ({event.heap_mib} MiB)" if event.heap_mib is not None else ""
    words = (
        f"{event.action} {event.node}{heap} {(event.begin_ns - from_ns) / 1e9:.3g} s into the "
        "measured phase"
    )
    if event.detail:
        return f"{words}: {event.detail}"
    return f"{words}, over after {(event.end_ns - event.begin_ns) / 1e9:.3g} s"


def ending(code: int | None) -> str:
    """Return how a process ended."""
    return "still running when the bundle was written" if code is None else f"exit code {code}"
