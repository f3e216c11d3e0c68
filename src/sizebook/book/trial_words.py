"""What a trial's page says of its course: phases, what was done to the stack, how it ended."""

from __future__ import annotations

from sizebook.model.bundle import Execution, StackEvent
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
