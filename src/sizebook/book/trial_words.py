"""What a trial's page says of its course: phases, what was done to the stack, how it ended."""

from __future__ import annotations

from sizebook.model.bundle import Execution, HostRun, StackEvent
from sizebook.model.deployment import Deployment, HostSpec
from sizebook.model.load import LoadProfile


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
    return ", ".join(parts)


def done_words(execution: Execution) -> list[str]:
    """Return what was done to the stack while the load ran, one text each."""
    measured = execution.phase("measured")
    from_ns = measured.begin_ns if measured else execution.monotonic_ns
    return [_event_words(event, from_ns) for event in execution.events]


def host_words(deployment: Deployment, execution: Execution) -> dict[str, dict[str, str]]:
    """Return what is known of each host that the deployment brought along, by its name.

    Limits are those of the specification; the rest is what the host said and how its clock went,
    which is missing of a host that never came up.
    """
    runs = {run.name: run for run in execution.hosts}
    return {
        spec.name: _specified(spec) | (_ran(runs[spec.name]) if spec.name in runs else {})
        for spec in deployment.hosts
    }


def _specified(spec: HostSpec) -> dict[str, str]:
    return {
        "mode": spec.mode,
        "on CPUs": ", ".join(map(str, spec.cpus)) or "any",
        "CPU limit": "" if spec.cpu_limit is None else f"{spec.cpu_limit:g}",
        "CPU weight": "" if spec.cpu_weight is None else str(spec.cpu_weight),
        "memory": f"{spec.memory_mib} MiB",
    }


def _ran(run: HostRun) -> dict[str, str]:
    sees = f"{run.machine.logical_cpus} CPUs, {run.machine.memory_mib} MiB"
    clock = f"{run.clock_drift_ns / 1e6:+.3f} ms, read to {run.clock_uncertainty_ns / 1e6:.3f} ms"
    return {
        "kernel": run.machine.kernel,
        "it sees": f"{sees}, {run.machine.cpu_model}",
        "boot": ", ".join(f"{piece} {seconds:g} s" for piece, seconds in run.boot_s.items()),
        "clock moved": clock,
    }


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
