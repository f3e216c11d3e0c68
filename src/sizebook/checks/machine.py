"""The machine was ours while it measured."""

from __future__ import annotations

from sizebook.checks.facts import counter_change, measured_mark
from sizebook.checks.rules import Answer, DoesNotApply, rule
from sizebook.model.bundle import HostRun
from sizebook.model.notes import ProbeNotes
from sizebook.stats.gaps import sampling_gaps
from sizebook.store import Bundle
from sizebook.store.notes import read_notes

STEAL_LIMIT = 0.01
STEAL_FREE_S = 0.02
SWAP_LIMIT_BYTES = 1 << 20
DRIFT_FREE_NS = 1_000_000
DRIFT_SHARE = 500e-6
MISSED_LIMIT = 0.2
_NAMED = 4


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


@rule(
    "SB403-throttling",
    title="No CPU limit stopped the processes",
    verdict="noisy",
    meaning="Time for which a control group's CPU limit stopped its processes in the measured "
    "phase, over its length. A stopped process answers late by up to 100 ms at a time, which no "
    "other counter shows. Where the limit is the treatment, the design allows it.",
    remedy="Raise the limit of the container or session that Sizebook runs in.",
)
def throttling(bundle: Bundle) -> Answer:
    """Judge the time in which a control group was stopped."""
    mark = measured_mark(bundle)
    change = counter_change(bundle, "cgroup/", "cgroup_throttled_s", mark.begin_ns, mark.end_ns)
    if change.length_s <= 0:
        raise DoesNotApply("readings without time between them")
    share = change.total / change.length_s
    allowed = bundle.record.trial.allowance.throttled_share
    numbers = {"throttled_s": change.total, "share": share, "limit": allowed}
    return Answer(share <= allowed, f"{share:.1%} stopped, {allowed:.0%} allowed", numbers)


@rule(
    "SB404-wall-clock",
    title="The wall clock kept pace",
    verdict="noisy",
    meaning="Change of wall clock minus monotonic clock during the trial. All times are monotonic, "
    "so a step changes no latency; but logs and other hosts go by the wall clock, and a clock that "
    "jumps tells of a machine that was suspended or migrated. 1 ms and 500 ppm are left to the "
    "daemon that keeps the time.",
    remedy="Let the time daemon settle (or stop it while measuring), and measure again.",
)
def wall_clock(bundle: Bundle) -> Answer:
    """Judge how far wall clock and monotonic clock moved apart."""
    execution = bundle.record.execution
    drift_ns = execution.facts.get("wall_drift_ns")
    if not isinstance(drift_ns, int | float) or not execution.phases:
        raise DoesNotApply("the clocks were not compared")
    length_ns = execution.phases[-1].end_ns - execution.phases[0].begin_ns
    limit_ns = DRIFT_FREE_NS + DRIFT_SHARE * length_ns
    numbers = {"drift_ms": drift_ns / 1e6, "limit_ms": limit_ns / 1e6}
    text = f"{drift_ns / 1e6:+.3f} ms apart over {length_ns / 1e9:.1f} s"
    return Answer(abs(drift_ns) <= limit_ns, text, numbers)


@rule(
    "SB405-readings",
    title="The counters were read as often as they should be",
    verdict="noisy",
    meaning="Readings of each source in the measured phase against those due at the trial's "
    "interval. One in five may be missing: figures over time then have a gap, sums over the trial "
    "are exact all the same, since they come from readings before and after it. A node that was "
    "killed on purpose or ran out of memory is left out: it has nothing to tell while it is away. "
    "What a system of a chapter's own was asked and did not tell, such as a series whose name is "
    "misspelt, is named and changes no verdict: the rest is right without it.",
    remedy="See probes.json for the reason; a longer interval, fewer probes, a CPU to spare.",
)
def readings(bundle: Bundle) -> Answer:
    """Judge the readings that are missing, by source."""
    mark, interval_s = measured_mark(bundle), bundle.record.trial.probe_interval_s
    gaps = sampling_gaps(bundle.readings, mark.begin_ns, mark.end_ns, interval_s)
    killed = {event.node for event in bundle.record.execution.events}
    due = [
        row
        for row in gaps.iter_rows(named=True)
        if row["due"] > 0 and row["source"].rpartition("/")[2] not in killed
    ]
    if not due:
        raise DoesNotApply(f"no reading is due within the phase at one in {interval_s:g} s")
    worst = max(due, key=lambda row: row["missed"] / row["due"])
    share = worst["missed"] / worst["due"]
    sums = {name: float(sum(row[name] for row in due)) for name in ("missed", "due")}
    numbers = {"share": share, **sums}
    text = f"{worst['missed']} of {worst['due']} readings of {worst['source']} are missing"
    notes = read_notes(bundle)
    never = _never_told(bundle, notes) if notes else ""
    if share <= MISSED_LIMIT:
        return Answer(True, text + never, numbers)
    why = {one.reason for one in notes.why_missing(worst["source"])} if notes else set()
    text += f" ({'; '.join(sorted(why))})" if why else ""
    return Answer(False, text + never, numbers)


def _never_told(bundle: Bundle, notes: ProbeNotes) -> str:
    """Return in words what systems of a chapter's own were asked and did not tell; or nothing."""
    own = [role.role for role in bundle.record.trial.deployment.own_roles()]
    found = [
        f"{source}{role}-1 lacks {metric}: {reason}"
        for role in own
        for source in ("server/", "process/")
        for metric, reason in sorted(notes.why_lacking(f"{source}{role}-1").items())
    ]
    more = f"; and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    return "".join(f"; {each}" for each in found[:_NAMED]) + more


@rule(
    "SB406-host-clocks",
    title="The clocks of hosts kept pace with this machine's",
    verdict="noisy",
    meaning="Change of a host's monotonic clock against this machine's during the trial. A guest's "
    "kernel keeps its own time: where it runs slow or fast, what it says of CPU seconds, pauses "
    "and seconds of the database is wrong by as much. 1 ms, 500 ppm and the uncertainty of the "
    "readings are left to it. Latencies are differences of one clock's times, that of the machine "
    "from which the load came, and not touched; where that is another machine, its rows stand "
    "beside the counters of others as well as its clock is known.",
    remedy="Give the host a CPU of its own, or another clock source.",
)
def host_clocks(bundle: Bundle) -> Answer:
    """Judge how far the clocks of hosts, and of callers, moved apart from this machine's."""
    execution = bundle.record.execution
    hosts = (*execution.hosts, *execution.callers)
    if not hosts or not execution.phases:
        raise DoesNotApply("all ran on this machine as it is")
    length_ns = execution.phases[-1].end_ns - execution.phases[0].begin_ns

    def limit_ns(run: HostRun) -> float:
        return DRIFT_FREE_NS + DRIFT_SHARE * length_ns + 2 * run.clock_uncertainty_ns

    worst = max(hosts, key=lambda run: abs(run.clock_drift_ns) / limit_ns(run))
    numbers = {"drift_ms": worst.clock_drift_ns / 1e6, "limit_ms": limit_ns(worst) / 1e6}
    text = (
        f"{worst.name} moved {worst.clock_drift_ns / 1e6:+.3f} ms in {length_ns / 1e9:.1f} s "
        f"(read to {worst.clock_uncertainty_ns / 1e6:.3f} ms)"
    )
    return Answer(abs(worst.clock_drift_ns) <= limit_ns(worst), text, numbers)
