"""The machine was ours while it measured."""

from __future__ import annotations

from sizebook.checks.facts import counter_change, measured_mark
from sizebook.checks.rules import Answer, DoesNotApply, rule
from sizebook.store import Bundle

STEAL_LIMIT = 0.01
STEAL_FREE_S = 0.02
SWAP_LIMIT_BYTES = 1 << 20


@rule(
    "SB401-steal",
    title="The hypervisor did not take the CPUs away",
    verdict="noisy",
    meaning="Time stolen from all CPUs in the measured phase over the time they had; above 1 % "
    "figures move by more than a good noise floor. The counter has ticks of 10 ms; two of them "
    "are always allowed, so that a phase of a second is not judged by rounding.",
    remedy="Measure again when the neighbours are quiet, or on a machine of your own.",
)
def steal(bundle: Bundle) -> Answer:
    """Judge the stolen share of CPU time."""
    mark = measured_mark(bundle)
    change = counter_change(bundle, "host", "core_steal_s", mark.begin_ns, mark.end_ns)
    if change.length_s <= 0:
        raise DoesNotApply("readings without time between them")
    share = change.total / (change.length_s * change.parts)
    passed = share <= STEAL_LIMIT or change.total <= STEAL_FREE_S
    numbers = {"share": share, "stolen_s": change.total, "cpus": float(change.parts)}
    return Answer(passed, f"{share:.2%} of {change.parts} CPUs stolen", numbers)


@rule(
    "SB402-swapping",
    title="The machine did not swap",
    verdict="noisy",
    meaning="Bytes swapped in and out during the measured phase. A page read back costs a request "
    "milliseconds; 1 MiB is left to the kernel, which moves idle pages of other programs.",
    remedy="Smaller heaps, fewer nodes, or end other programs.",
)
def swapping(bundle: Bundle) -> Answer:
    """Judge the memory that went to swap and came back."""
    mark = measured_mark(bundle)
    window = mark.begin_ns, mark.end_ns
    came = counter_change(bundle, "host", "swap_in_bytes", *window).total
    went = counter_change(bundle, "host", "swap_out_bytes", *window).total
    numbers = {"in_bytes": came, "out_bytes": went}
    text = f"{came / 2**20:.1f} MiB in, {went / 2**20:.1f} MiB out"
    return Answer(came + went <= SWAP_LIMIT_BYTES, text, numbers)
