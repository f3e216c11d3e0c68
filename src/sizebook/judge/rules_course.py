"""Rules on the course of a run: long enough, warmed up, steady."""

from __future__ import annotations

import numpy as np

from sizebook.judge.facts import ForeignCase
from sizebook.judge.findings import ForeignFinding, ForeignRule, Unknowable, Weight
from sizebook.judge.results import SECOND_NS
from sizebook.judge.wording import say_percentile, say_rate, say_time

LENGTH = ForeignRule(
    "FR301-length",
    "The run was long enough",
    "Measure for a minute at least, and for many times the longest answer.",
)
WARM_UP = ForeignRule(
    "FR302-warm-up",
    "Warm-up is not among the figures",
    "Leave out the ramp and the warm-up named here, and compute all figures from the rest.",
)
STEADY = ForeignRule(
    "FR303-steady",
    "The run reached a steady state",
    "Find out what changed; run longer, or report the figures of each part by itself.",
)
SHORTEST_S, SHORT_S = 10.0, 30.0
OF_LONGEST = 5.0
"""The run lasts so many times its longest answer, or one answer decides the figures."""
MOVED = 0.05
"""Change of a figure by the warm-up that is too much."""
PERCENTILES = (50.0, 95.0, 99.0)


def length(case: ForeignCase) -> ForeignFinding:
    """Judge how long the run was."""
    length_s, most = case.length_s, case.most_ns
    if length_s is None:
        raise Unknowable("how long the run was", "the file has no time stamps and no length")
    numbers = {"length_s": length_s}
    words = f"the run took {say_time(length_s * SECOND_NS)}"
    if length_s < SHORTEST_S:
        words += f", less than {SHORTEST_S:.0f} s: compilers, caches and pools were still settling"
        return ForeignFinding(LENGTH.id, "wrong", words, numbers)
    if most is not None and length_s * SECOND_NS < OF_LONGEST * most:
        words += f", and one answer took {say_time(most)} of it"
        return ForeignFinding(LENGTH.id, "wrong", words, numbers)
    if length_s < SHORT_S:
        words += f", less than {SHORT_S:.0f} s: a steady state can hardly be shown"
        return ForeignFinding(LENGTH.id, "caution", words, numbers)
    return ForeignFinding(LENGTH.id, "fine", words, numbers)


def warm_up(case: ForeignCase) -> ForeignFinding:
    """Judge by how much ramp and warm-up change the figures."""
    part, found = case.steady, case.windows
    if part.varies:
        raise Unknowable(
            "where warm-up ends", "the number of users changes through the run, as by design"
        )
    if part.state.steady is None:
        raise Unknowable("where warm-up ends", "; ".join(part.state.reasons))
    if not part.state.steady:
        raise Unknowable("where warm-up ends", "the run reaches no level that holds")
    if part.crop == 0:
        return ForeignFinding(WARM_UP.id, "fine", "no ramp and no warm-up can be seen")
    end_ns = part.crop * found.width_ns
    moved = _moved(case, found.begin_ns + end_ns, part.crop)
    what = "ramp and warm-up last" if part.first else "warm-up lasts"
    words = f"{what} {say_time(end_ns)} and count in the figures"
    numbers = {"crop_s": end_ns / SECOND_NS} | {name: each[2] for name, each in moved.items()}
    worst = max(moved, key=lambda name: abs(moved[name][2]))
    before, after, change = moved[worst]
    say = say_rate if worst == "rate" else say_time
    words += f": the {worst} is {say(before)} with them and {say(after)} without ({change:+.0%})"
    weight: Weight = "wrong" if abs(change) > MOVED else "caution"
    return ForeignFinding(WARM_UP.id, weight, words, numbers)


def _moved(case: ForeignCase, since_ns: int, crop: int) -> dict[str, tuple[float, float, float]]:
    """Return each figure with warm-up, without it, and the change of it by warm-up as a share."""
    found, table = case.windows, case.table
    after = found.throughput_per_s[crop:]
    pairs = {"rate": (float(found.throughput_per_s.mean()), float(after.mean()))}
    if table is not None:
        kept = table.latency_ns[table.start_ns >= since_ns]
        if kept.size:
            pairs["mean"] = (float(table.latency_ns.mean()), float(kept.mean()))
            for p in PERCENTILES:
                pairs[say_percentile(p)] = (
                    float(np.quantile(case.ordered_ns, p / 100)),
                    float(np.quantile(kept, p / 100)),
                )
    else:
        weights = found.throughput_per_s
        level = np.nan_to_num(found.mean_ns)
        if after.sum() > 0:
            pairs["mean"] = (
                float(np.average(level, weights=weights)),
                float(np.average(level[crop:], weights=after)),
            )
    return {
        name: (before, kept, before / kept - 1)
        for name, (before, kept) in pairs.items()
        if kept > 0
    }


def steady(case: ForeignCase) -> ForeignFinding:
    """Judge trend and shift of throughput and latency."""
    part, found = case.steady, case.windows
    if part.varies:
        raise Unknowable(
            "whether there was a steady state",
            "the number of users changes through the run; judge each step by itself",
        )
    state = part.state
    windows = f"{state.windows} windows of {say_time(found.width_ns)}"
    numbers = {"windows": float(state.windows), "width_s": found.width_ns / SECOND_NS}
    if state.steady is None:
        raise Unknowable("whether there was a steady state", "; ".join(state.reasons))
    if not state.steady:
        words = f"{'; '.join(state.reasons)} ({windows})"
        return ForeignFinding(STEADY.id, "wrong", words, numbers)
    return ForeignFinding(STEADY.id, "fine", f"no trend and no shift in {windows}", numbers)
