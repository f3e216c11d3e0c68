"""Everything that can limit a stack: a table of kinds, each with capacity, threshold and words.

A chapter that brings another resource adds a ``Kind`` to a table of its own::

    attribute(bundles, kinds=(*KINDS, Kind("queue", ..., measure=queue_use)))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from sizebook.report import limiter_uses as uses
from sizebook.report.phase_counters import Use, Window
from sizebook.report.wording import NARROW_SPACE


@dataclass(frozen=True)
class Kind:
    """One kind of limiter. Texts are templates over ``place``, ``share`` and the numbers."""

    name: str
    label: str
    """Row in a table or chart."""
    subject: str | Callable[[Use], str]
    """What is said to have limited."""
    evidence: str | Callable[[Use], str]
    threshold: float | None
    """Share from which it counts as saturated; None: shown, never named."""
    meaning: str
    """What is divided by what, and why this threshold."""
    measure: Callable[[Window], Iterable[Use]]
    only_if: tuple[tuple[str, float], ...] = ()
    """Number and what it must be at least, where it is known, for a limit: all threads taken is
    one only if somebody waited for another."""
    by_gauge: bool = False
    """Known by readings of a gauge alone: their number is part of the evidence."""
    details: tuple[tuple[str, str], ...] = ()
    """Number to a template that the evidence ends with where that number is known."""

    def at_limit(self, use: Use) -> bool:
        """Return whether a use of this kind is at its limit."""
        if self.threshold is None or use.share is None or use.share < self.threshold:
            return False
        return all(use.numbers.get(name, least) >= least for name, least in self.only_if)

    def say(self, text: str | Callable[[Use], str], use: Use) -> str:
        """Return a template of this kind, such as its label, in words."""
        values = {"place": use.place, "share": use.share or 0.0, **use.numbers}
        words = text(use) if callable(text) else text.format(**values)
        return words.replace("%", f"{NARROW_SPACE}%")

    def show(self, use: Use) -> str:
        """Return the evidence in words; of what cannot be told, why."""
        if use.share is None and not use.numbers:
            return use.reason
        words = [self.say(text, use) for number, text in self.details if number in use.numbers]
        if self.by_gauge:
            words.append(f" ({use.readings} reading{'' if use.readings == 1 else 's'})")
        return self.say(self.evidence, use) + "".join(words)


def _parts(use: Use) -> dict[str, float]:
    """Return by role the share of the set's CPUs that it used."""
    cpus = use.numbers.get("cpus", 1.0)
    named = {
        k.removeprefix(uses.PART): v for k, v in use.numbers.items() if k.startswith(uses.PART)
    }
    return {role: used / cpus for role, used in named.items()}


def _cpu_subject(use: Use) -> str:
    parts = {role: share for role, share in _parts(use).items() if role != uses.REST}
    return f"the CPU time of the {max(parts, key=lambda role: parts[role])}" if parts else "the CPU"


def _cpu_evidence(use: Use) -> str:
    parts = sorted(_parts(use).items(), key=lambda part: -part[1])
    words = ", ".join(f"{role} {share:.0%}" for role, share in parts)
    verb = "was" if use.numbers.get("cpus") == 1 else "were"
    return f"{use.place} {verb} {use.share or 0.0:.0%} busy" + (f" ({words})" if words else "")


KINDS: tuple[Kind, ...] = (
    Kind(
        "generator",
        label="CPU of the load generator",
        subject="the load generator's own CPU",
        evidence="the generator used {together:.0%} of its CPU time",
        threshold=0.90,
        meaning="CPU seconds of the generator in the phase over those that its event loops could "
        "have used. From 90 % answers queue in the generator: whatever else is full, the "
        "throughput is the generator's.",
        measure=uses.generator_cpu,
        details=(("busiest", ", its busiest worker {busiest:.0%} of one"),),
    ),
    Kind(
        "generator-lag",
        label="Lateness of the load generator",
        subject="the load generator's lateness",
        evidence="its clock tick came {lag_ms:.2f} ms late (p99), beside a latency of "
        "{latency_ms:.2f} ms",
        threshold=0.10,
        meaning="The 99th percentile of the lateness of the generator's tick, less 0.25 ms that an "
        "idle loop has, over the 99th percentile of latency: how much of the tail is its own.",
        measure=uses.generator_lag,
    ),
    Kind(
        "throttling",
        label="CPU limit of the control group",
        subject="the CPU limit of the control group",
        evidence="it was stopped in {share:.0%} of the periods of its limit of {limit:.2g} CPUs, "
        "{stopped_per_s:.2f} s in a second",
        threshold=0.10,
        meaning="Periods (100 ms as a rule) in which the group had used up its CPU limit and stood "
        "still, over all periods in which it ran. One of ten delays every tenth request, or more.",
        measure=uses.throttling,
    ),
    Kind(
        "steal",
        label="Steal on {place}",
        subject="the hypervisor",
        evidence="{share:.0%} of the time of {place} went to other guests",
        threshold=0.05,
        meaning="Time that the hypervisor gave to others while there was work, over the time of "
        "the stack's CPUs.",
        measure=uses.steal,
    ),
    Kind(
        "others",
        label="Other programs on {place}",
        subject="other programs on the same CPUs",
        evidence="programs outside of the stack, and the kernel, took {share:.0%} of {place}",
        threshold=0.25,
        meaning="CPU time on the stack's CPUs that no process of the stack (or of a generator on "
        "the same CPUs) used. A tenth may be the kernel's work for the network; a quarter, on CPUs "
        "that are 90 % busy, was missing to the stack.",
        measure=uses.other_programs,
        only_if=(("busy", 0.9),),
    ),
    Kind(
        "gc",
        label="Garbage collection of the {place}",
        subject="garbage collection of the {place}",
        evidence="all threads of a node of the {place} stood still for {share:.0%} of the time",
        threshold=0.20,
        meaning="Time of the pauses over the phase, worst node of a role. A collector's pauses "
        "keep the CPUs busy: from a fifth of the time on, it is named before the CPU.",
        measure=uses.gc_pauses,
    ),
    Kind(
        "cpu",
        label="{place} of the stack",
        subject=_cpu_subject,
        evidence=_cpu_evidence,
        threshold=0.90,
        meaning="Time in user mode, kernel and interrupts on the CPUs that roles of the stack may "
        "use, over that and idle time (steal apart). From 90 % more work only queues. Named is the "
        "role that took the largest part.",
        measure=uses.cpu_sets,
    ),
    Kind(
        "cpu-role",
        label="CPU of the {place}",
        subject="the CPU time of the {place}",
        evidence="the {place} used {used:.2f} of {cpus:.0f} CPUs",
        threshold=None,
        meaning="CPU seconds of a role's processes over those of the CPUs it may use.",
        measure=uses.cpu_of_roles,
    ),
    Kind(
        "disk",
        label="Disk {place}",
        subject="the disk {place}",
        evidence="{place} was busy {share:.0%} of the time, {queue:.1f} operations in its queue, "
        "{flushes_per_s:.0f} flushes a second",
        threshold=0.90,
        meaning="Time with an operation under way over the phase. A disk that serves many at once "
        "can be busy and still take more: the queue says it.",
        measure=uses.disks,
    ),
    Kind(
        "locks",
        label="Locks in the database",
        subject="locks in the database",
        evidence="{waiting:.1f} of {working:.1f} working back ends waited for a lock",
        threshold=0.50,
        meaning="Back ends that wait for a lock over those at work, mean of the readings. From one "
        "half on, more load means more waiting.",
        measure=uses.back_ends("locks", "Lock"),
        only_if=(("waiting", 0.5),),
        by_gauge=True,
    ),
    Kind(
        "database-io",
        label="Files and log of the database",
        subject="the database's files and log",
        evidence="{waiting:.1f} of {working:.1f} working back ends waited for a file or its flush",
        threshold=0.50,
        meaning="Back ends that wait for reading, writing or flushing (fsync) a file over those at "
        "work, mean of the readings.",
        measure=uses.back_ends("database-io", "IO"),
        only_if=(("waiting", 0.5),),
        by_gauge=True,
    ),
    Kind(
        "pool",
        label="Connections of the {place}'s pool",
        subject="the {place}'s pool of database connections",
        evidence="{used:.1f} of {limit:.0f} connections were lent out",
        threshold=0.90,
        meaning="Connections that were lent over those there may be, mean of the readings. A limit "
        "only if threads waited for one (half a thread, mean).",
        measure=uses.pools,
        only_if=(("waiting", 0.5),),
        by_gauge=True,
        details=(("waiting", ", {waiting:.1f} threads waited for one"),),
    ),
    Kind(
        "threads",
        label="Web threads of the {place}",
        subject="the web threads of the {place}",
        evidence="{used:.1f} of {limit:.0f} threads were at work",
        threshold=0.90,
        meaning="Worker threads that were at work over those there may be, mean of the readings. A "
        "limit only if more requests were under way than threads at work (half a request, mean).",
        measure=uses.web_threads,
        only_if=(("waiting", 0.5),),
        by_gauge=True,
        details=(("under_way", " on {under_way:.1f} requests under way"),),
    ),
    Kind(
        "network",
        label="Network: {place}",
        subject="the network",
        evidence="{sent_mb_per_s:.1f} MB/s sent, {received_mb_per_s:.1f} MB/s received ({place})",
        threshold=None,
        meaning="Bytes a second; the capacity is not known, so it is shown and never named.",
        measure=uses.network,
    ),
)
"""Every kind, innermost or most invalidating first: where several are at their limit, the first
one is named, for waiting spreads outwards, from a full CPU to the pool and to the threads."""
