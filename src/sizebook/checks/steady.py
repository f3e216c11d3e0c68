"""Whether a trial had reached a steady state, and from when on its requests count."""

from __future__ import annotations

import importlib
from dataclasses import dataclass

import numpy as np

from sizebook.checks.facts import (
    change_of,
    measured_mark,
    refuse_change,
    refuse_passes,
    undisturbed,
)
from sizebook.checks.rules import Answer, DoesNotApply, rule
from sizebook.model.bundle import PhaseMark
from sizebook.model.verdict import Finding, Verdict
from sizebook.stats.steady import ALPHA, TOLERANCE, SteadyState, steady_state
from sizebook.stats.windows import choose_width, windows
from sizebook.store import Bundle
from sizebook.store.columns import RequestColumns
from sizebook.store.derived import derive
from sizebook.store.thread_cache import Once

UNSURE = 0.20
"""A change of the level above which a trial is doubted although chance may explain it."""
JIT_LIMIT = 0.05
OLD_LIMIT = 0.10
OLD_COLLECTED = 3
"""Collections of the old generation within the measured phase whose price is in its results."""
_SERIES = ("throughput", "latency")


@dataclass(frozen=True)
class Steadiness:
    """What the requests of a trial say of its steady state."""

    steady: bool | None
    """None: too few requests to tell."""
    reasons: tuple[str, ...]
    """Why it was not steady, or why it cannot be told."""
    crop_ns: int
    """From when on requests count: the begin of the measured phase, or the end of a warm-up that
    reached into it. CLOCK_MONOTONIC."""
    end_ns: int
    """End of the measured phase."""
    width_ns: int | None = None
    """Width of the windows that were judged."""
    state: SteadyState | None = None

    @property
    def length_s(self) -> float:
        """Seconds that count."""
        return (self.end_ns - self.crop_ns) / 1e9


_KNOWN = Once[str, Steadiness | None]()
"""By the bundle's checksum: every rule and measure of a trial asks, the answer is always one."""


def steady_of(bundle: Bundle) -> Steadiness:
    """Return the steadiness of a trial.

    Raises DoesNotApply if it never measured anything, if load or stack change by design, if its
    results are whole passes: windows would cut these into pieces that differ by what the scenario
    does in them; and if it takes turns with others (``checks.turns``).
    """
    if bundle.record.execution.turns:
        raise DoesNotApply("it takes turns: its ratio to the others must hold still, not its level")
    refuse_passes(bundle)
    refuse_change(bundle)
    mark = measured_mark(bundle)
    found = derive(bundle, "checks.steady", lambda: _known(bundle, mark), Steadiness, always=True)
    if found is None:
        raise DoesNotApply("no request in the measured phase")
    return found


def counted(bundle: Bundle) -> RequestColumns:
    """Return the requests that make results: of the measured phase, from the crop on.

    There are none in a trial that never measured anything.
    """
    rows = bundle.columns.only("phase", "measured")
    try:
        crop_ns = steady_of(bundle).crop_ns
    except DoesNotApply:
        return rows
    mark = bundle.record.execution.phase("measured")
    if mark is None or crop_ns <= mark.begin_ns:
        return rows
    return rows.since(crop_ns)


def _known(bundle: Bundle, mark: PhaseMark) -> Steadiness | None:
    return _KNOWN.get(bundle.sha256, lambda: _judge(bundle, mark))


def _judge(bundle: Bundle, mark: PhaseMark) -> Steadiness | None:
    """Return what the requests say; None without any in the measured phase."""
    # What the tests of a trend need, loaded while other rules' threads wait for the requests.
    importlib.import_module("scipy.special")
    rows = bundle.columns.only("phase", "measured")
    if rows.height == 0:
        return None
    width_ns = choose_width(rows.height, mark.end_ns - mark.begin_ns)
    if width_ns is None:
        reason = f"{rows.height} requests are too few for windows"
        return Steadiness(None, (reason,), mark.begin_ns, mark.end_ns)
    every = bundle.columns
    names = every.codes("name")
    throughput, level = windows(
        every["start_ns"],
        every["service_ns"],
        every["latency_ns"],
        names,
        mark.begin_ns,
        mark.end_ns,
        width_ns,
    )
    state = steady_state(throughput, level)
    # A crop that does not end in a steady state would leave out requests for nothing.
    crop_ns = mark.begin_ns + (state.crop * width_ns if state.steady else 0)
    return Steadiness(state.steady, state.reasons, crop_ns, mark.end_ns, width_ns, state)


@rule(
    "SB601-steady",
    title="The trial had reached a steady state",
    verdict="no steady state",
    meaning="The measured phase is cut into about 40 windows of at least ten requests. A warm-up "
    "that reaches into it is cropped (MSER, where the evidence for one is very strong) and results "
    "count from there. What is left is tested for a trend (Mann-Kendall, corrected for "
    "autocorrelation) and for a shift of the level (Pettitt) in throughput and in latency. It is "
    f"not steady if one is significant at {ALPHA:.0%} (the four together) and larger than "
    f"{TOLERANCE:.0%}. Too few requests to tell make it noisy, and so does a change of more than "
    f"{UNSURE:.0%} that is not significant: the level is then not known well enough. It does not "
    "apply where whole passes of the scenario make the results: parts of a pass differ by what is "
    "done in them, and the passes are compared over replicates. Nor does it where the design "
    "changes the rate of the arrivals, or what the stack's host may use, within the measured "
    "phase: then the course is the result. Trials that take turns are judged by SB604.",
    remedy="A longer conditioning load or warm-up; a longer measured phase; see the time course "
    "on the trial's page for what changed.",
)
def steady(bundle: Bundle) -> Answer:
    """Judge trend and level of throughput and latency."""
    undisturbed(bundle)
    found = steady_of(bundle)
    mark = measured_mark(bundle)
    cropped_s = (found.crop_ns - mark.begin_ns) / 1e9
    numbers = {"cropped_s": cropped_s}
    if found.state is None or found.width_ns is None:
        return Answer(False, "; ".join(found.reasons), numbers, "noisy")
    numbers |= {"windows": float(found.state.windows), "width_ms": found.width_ns / 1e6}
    for name, trend, shift in zip(_SERIES, found.state.trends, found.state.shifts, strict=True):
        pairs = {"trend_p": trend.p, "trend": trend.change_share}
        pairs |= {"shift_p": shift.p, "shift": shift.change_share}
        numbers |= {f"{name}_{key}": value for key, value in pairs.items() if value is not None}
    cut = f", {cropped_s:.2f} s of warm-up cropped" if cropped_s else ""
    text = f"{found.state.windows} windows of {found.width_ns / 1e6:.0f} ms{cut}"
    if found.steady:
        largest = _largest_change(found.state)
        if abs(largest) > UNSURE:
            words = f"a change of {largest:+.0%} that may be chance, in {text}"
            return Answer(False, words, numbers, "noisy")
        return Answer(True, f"no trend and no shift in {text}", numbers)
    verdict: Verdict | None = "noisy" if found.steady is None else None
    return Answer(False, f"{'; '.join(found.reasons)} ({text})", numbers, verdict)


def unsure_by(finding: Finding) -> float | None:
    """Return how far off a trial's level may be that ``SB601-steady`` doubts for a chance change.

    As a share of the level, at most 1. A trend is off by half of its change from the mean at either
    end; a shift by all of it, since it may have come early or late. None where the rule passed,
    found a change that is no chance, had too few requests to tell, or knows no level.
    """
    names = [f"{series}_{test}" for series in _SERIES for test in ("trend", "shift")]
    if finding.verdict != "noisy" or not set(names) <= set(finding.numbers):
        return None
    off = [abs(finding.numbers[name]) / (2 if name.endswith("trend") else 1) for name in names]
    return max(off) if max(off) <= 1 else None


def _largest_change(state: SteadyState) -> float:
    changes = [found.change_share or 0.0 for found in (*state.trends, *state.shifts)]
    return max(changes, key=abs)


@rule(
    "SB602-jit",
    title="The JVM's compiler had settled",
    verdict="noisy",
    meaning="Machine code that the just-in-time compilers of all JVMs made between the readings "
    "around the measured phase, over all that they had made by its end. While much of it is new, "
    "the code that was measured is not the code that stays. "
    f"{JIT_LIMIT:.0%} is left to rare paths. It does not apply where whole passes make the results "
    "and a node may run out of memory: whether it does, and what collecting takes, is the question "
    "there, and code that gets faster hides neither.",
    remedy="A longer conditioning load.",
)
def jit(bundle: Bundle) -> Answer:
    """Judge the growth of compiled code."""
    undisturbed(bundle)
    if bundle.record.trial.exhaustible():
        refuse_passes(bundle)
    mark = measured_mark(bundle)
    change = change_of(bundle, "jvm/", "jit_code_bytes", mark.begin_ns, mark.end_ns)
    if change.end <= 0:
        raise DoesNotApply("no code was compiled")
    share = change.rise / change.end
    numbers = {"new_bytes": change.rise, "all_bytes": change.end, "share": share}
    text = f"{share:.1%} of {change.end / 2**20:.1f} MiB of machine code is new"
    return Answer(share <= JIT_LIMIT, text, numbers)


@rule(
    "SB603-heap",
    title="The old generation had settled",
    verdict="noisy",
    meaning="Rise of the bytes in the old generation of any JVM between the readings around the "
    f"measured phase, over its capacity. Above {OLD_LIMIT:.0%} a heap is filling that sooner or "
    "later must be collected as a whole; the trial ended before it had to pay for that, unless "
    f"it paid {OLD_COLLECTED} times or more: that often the old generation of each JVM fell by "
    f"more than {OLD_LIMIT:.0%} of its capacity from one reading to the next. How far it has "
    "risen since the last time is chance then. It does not apply where the design lets a node "
    "run out of memory.",
    remedy="A measured phase that is long enough to hold several collections of the old "
    "generation, or a larger heap.",
)
def heap(bundle: Bundle) -> Answer:
    """Judge the growth of the old generation."""
    undisturbed(bundle)
    if may := bundle.record.trial.exhaustible():
        raise DoesNotApply(f"how the heap fills is the question: {', '.join(may)} may run out")
    mark = measured_mark(bundle)
    window = mark.begin_ns, mark.end_ns
    used = change_of(bundle, "jvm/", "space_used_bytes/old", *window)
    room = change_of(bundle, "jvm/", "space_capacity_bytes/old", *window)
    if room.end <= 0:
        raise DoesNotApply("no capacity of the old generation is known")
    share = used.rise / room.end
    times = _times_collected(bundle, *window)
    numbers = {"rise_bytes": used.rise, "capacity_bytes": room.end, "share": share}
    numbers |= {"times_collected": float(times)}
    text = f"{used.rise / 2**20:+.1f} MiB, {share:+.1%} of {room.end / 2**20:.0f} MiB"
    text += f", collected {times} times" if times else ""
    return Answer(share <= OLD_LIMIT or times >= OLD_COLLECTED, text, numbers)


def _times_collected(bundle: Bundle, begin_ns: int, end_ns: int) -> int:
    """Return how often the old generation was seen emptied, in the JVM where that was rarest."""
    capacities = {
        (one.host, one.source): float(one.values.max())
        for one in bundle.readings.find("jvm/", "space_capacity_bytes/old")
    }
    times = []
    for used in bundle.readings.find("jvm/", "space_used_bytes/old"):
        inside = (used.times_ns >= begin_ns) & (used.times_ns <= end_ns)
        fallen = -np.diff(used.values[inside])
        deep = OLD_LIMIT * capacities.get((used.host, used.source), np.inf)
        times.append(int(np.count_nonzero(fallen > deep)))
    return min(times, default=0)
