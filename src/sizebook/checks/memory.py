"""Every heap was large enough, or meant not to be."""

from __future__ import annotations

from sizebook.checks.rules import Answer, DoesNotApply, rule
from sizebook.model.bundle import OUT_OF_MEMORY, StackEvent
from sizebook.store import Bundle


@rule(
    "SB106-memory",
    title="No node ran out of memory that was not meant to",
    verdict="failed",
    meaning="Nodes whose JVM ended since an allocation could not be satisfied, against those that "
    "the design lets run out of memory (`Exhaustion`). A JVM ends at the first such error "
    "(`-XX:+ExitOnOutOfMemoryError`): a node that goes on after one has lost the work of a thread "
    "and answers fast. Where it may happen it is a result, and so is that it did not.",
    remedy="A larger heap, less load, or smaller bounds of queues and pools; see the heap in the "
    "trial's counters and its GC log.",
)
def memory(bundle: Bundle) -> Answer:
    """Judge which nodes ran out of memory."""
    deployment, execution = bundle.record.trial.deployment, bundle.record.execution
    if not deployment.jvm_roles():
        raise DoesNotApply("the deployment has no JVM")
    may = bundle.record.trial.exhaustible()
    ends = [event for event in execution.events if event.action == OUT_OF_MEMORY]
    numbers = {"ends": float(len(ends)), "nodes_that_may": float(len(may))}
    measured = execution.phase("measured")
    begin_ns = measured.begin_ns if measured else execution.monotonic_ns
    wrong = [end for end in ends if end.node not in may]
    if wrong:
        return Answer(False, "; ".join(_told(end, begin_ns) for end in wrong), numbers)
    if ends:
        text = "; ".join(_told(end, begin_ns) for end in ends)
        return Answer(True, f"as the design lets it: {text}", numbers)
    if may:
        return Answer(True, f"{', '.join(may)} could run out of memory and did not", numbers)
    return Answer(True, "no node ran out of memory", numbers)


def _told(end: StackEvent, begin_ns: int) -> str:
    at_s = (end.begin_ns - begin_ns) / 1e9
    return (
        f"{end.node} ran out of memory with a heap of {end.heap_mib} MiB, {at_s:.1f} s into the "
        f"measured phase ({end.detail})"
    )
