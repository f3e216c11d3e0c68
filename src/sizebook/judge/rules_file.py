"""Rules on the file: whole, in order, in agreement with itself, fine enough."""

from __future__ import annotations

import itertools

import numpy as np

from sizebook.judge.facts import ForeignCase
from sizebook.judge.findings import ForeignFinding, ForeignRule, Unknowable
from sizebook.judge.results import MS_NS, SECOND_NS, TotalsRow
from sizebook.judge.wording import say_percentile, say_time

WHOLE = ForeignRule(
    "FR101-whole",
    "The file is whole",
    "Repeat the run and let the tool end by itself; judge one run per file.",
)
CLOCK = ForeignRule(
    "FR102-clock",
    "Time runs forward, and one run is in the file",
    "Judge each run by itself. Where the clock was set, repeat the run with the clock left alone.",
)
AGREEMENT = ForeignRule(
    "FR103-agreement",
    "The sums agree with each other",
    "Find out which step made these sums: some were edited, averaged, or taken from several runs.",
)
RESOLUTION = ForeignRule(
    "FR503-resolution",
    "Latencies are recorded finely enough",
    "Use a tool that records microseconds, or quote no latency below ten of its steps.",
)
LEFT_OUT_SHARE = 0.001
BACK_NS = SECOND_NS
"""Rows may be written later than others that ended after them: by a second at most."""
IDLE_NS = 20 * SECOND_NS
"""Without any request under way: longer, and the file holds two runs."""
ROOM = 0.02
"""By which sums may disagree, for rounding; more for tools that round their percentiles."""
ROUGH_ROOM = 0.1
COARSE, ROUGH = 2.0, 10.0
"""Steps of the recorder in the median: below the first the error is a quarter and more."""


def whole(case: ForeignCase) -> ForeignFinding:
    """Judge the end of the file, and rows that cannot be read."""
    results = case.results
    share = results.left_out / max(1, results.left_out + case.requests)
    numbers = {"left_out": float(results.left_out), "left_out_share": share}
    words = []
    if results.cut:
        words.append(results.cut)
    if results.left_out:
        words.append(f"{results.left_out:,} rows cannot be read ({share:.2%})")
    if results.cut or share > LEFT_OUT_SHARE:
        return ForeignFinding(WHOLE.id, "wrong", "; ".join(words), numbers)
    if results.left_out:
        return ForeignFinding(WHOLE.id, "caution", words[0], numbers)
    return ForeignFinding(WHOLE.id, "fine", "no row is cut or unreadable", numbers)


def clock(case: ForeignCase) -> ForeignFinding:
    """Judge the order of the rows, and times at which nothing was under way."""
    if case.table is None:
        return _course_clock(case)
    table = case.results.table
    assert table is not None
    numbers: dict[str, float] = {}
    idle_ns, at_ns = _longest_idle(case)
    numbers["idle_s"] = idle_ns / SECOND_NS
    if idle_ns > IDLE_NS:
        words = (
            f"nothing was under way for {say_time(idle_ns)}, {say_time(at_ns - case.span_ns[0])} "
            "after the begin: the file holds two runs, and rates over all of it mean nothing"
        )
        return ForeignFinding(CLOCK.id, "wrong", words, numbers)
    ends = table.start_ns + table.latency_ns
    latest = np.maximum.accumulate(ends)
    back = latest - ends
    worst = int(back.argmax())
    allowed = max(BACK_NS, 2 * table.clock_ns)
    numbers |= {"back_s": float(back[worst]) / SECOND_NS}
    if back[worst] <= allowed:
        return ForeignFinding(CLOCK.id, "fine", "rows are in the order of time", numbers)
    late = int(np.count_nonzero(back > allowed))
    numbers["late_rows"] = float(late)
    first = int(np.flatnonzero(back > allowed)[0])
    after = back[first : first + 50]
    if np.median(after) > allowed / 2 and late > 0.5 * min(50, back.size - first):
        words = (
            f"time goes back by {say_time(float(back[worst]))} at row {first + 1:,}, and "
            f"{late:,} rows follow there: the clock was set, so rates and the course are wrong"
        )
        return ForeignFinding(CLOCK.id, "wrong", words, numbers)
    words = (
        f"{late:,} of {back.size:,} rows come up to {say_time(float(back[worst]))} late: several "
        "generators wrote them, or one in batches; they were put in order"
    )
    return ForeignFinding(CLOCK.id, "caution", words, numbers)


def _longest_idle(case: ForeignCase) -> tuple[int, int]:
    """Return the longest time without a request under way, and when it begins."""
    table = case.need_table("idle times")
    latest = np.maximum.accumulate(table.start_ns + table.latency_ns)
    idle = table.start_ns[1:] - latest[:-1]
    if not idle.size:
        return 0, 0
    at = int(idle.argmax())
    return max(0, int(idle[at])), int(latest[at])


def _course_clock(case: ForeignCase) -> ForeignFinding:
    course = case.results.course
    if course is None:
        raise Unknowable("whether time ran forward", "the file has sums without time stamps")
    if case.results.left_out:
        words = "rows of the course are missing or run backwards"
        return ForeignFinding(CLOCK.id, "caution", words)
    gaps = course.end_ns[1:] - course.width_ns[1:] - course.end_ns[:-1]
    if gaps.size and gaps.max() > IDLE_NS:
        words = f"{say_time(float(gaps.max()))} are missing within the course: two runs"
        return ForeignFinding(CLOCK.id, "wrong", words)
    return ForeignFinding(CLOCK.id, "fine", "steps of the course follow each other")


def agreement(case: ForeignCase) -> ForeignFinding:
    """Judge whether the tool's own sums can all be true at once."""
    totals = case.results.totals
    if totals is None or case.results.spectrum is not None:
        return ForeignFinding(
            AGREEMENT.id, "fine", "figures are computed here from requests, not taken from sums"
        )
    room = ROUGH_ROOM if case.results.grain_ns else ROOM
    wrong = [words for row in (totals.whole, *totals.parts) for words in _contradictions(row, room)]
    row, length_s = totals.whole, totals.length_s
    if totals.rates_agree and row.rate_per_s and length_s:
        expected = row.rate_per_s * length_s
        if abs(expected - row.requests) > ROOM * row.requests + 10:
            wrong.append(
                f"{row.rate_per_s:.4g}/s over {length_s:.4g} s are {expected:,.0f} requests, and "
                f"{row.requests:,} are counted"
            )
    counted = sum(part.requests for part in totals.parts)
    if totals.parts and abs(counted - row.requests) > ROOM * row.requests + 10:
        wrong.append(f"the rows count {counted:,} requests, their sum {row.requests:,}")
    if wrong:
        return ForeignFinding(AGREEMENT.id, "wrong", "; ".join(wrong[:3]))
    return ForeignFinding(AGREEMENT.id, "fine", "counts, rates, means and percentiles agree")


def _contradictions(row: TotalsRow, room: float) -> list[str]:
    """Return what of one row cannot be true at once."""
    name = f"{row.name}: " if row.name else ""
    found = []
    if row.failed is not None and row.failed > row.requests:
        found.append(f"{name}{row.failed:,} of {row.requests:,} requests failed")
    ladder = list(row.percentiles_ns.items())
    if row.least_ns is not None:
        ladder.insert(0, (0.0, row.least_ns))
    if row.most_ns is not None:
        ladder.append((100.0, row.most_ns))
    for (p, lower), (q, upper) in itertools.pairwise(ladder):
        if lower > upper * (1 + room) + MS_NS * (room > ROOM):
            found.append(
                f"{name}{say_percentile(p)} is {say_time(lower)}, above {say_percentile(q)}, "
                f"{say_time(upper)}"
            )
    if found or row.mean_ns is None or len(ladder) < 2 or row.requests == 0:
        return found
    shares = np.diff([p for p, _ in ladder]) / 100
    values = np.array([value for _, value in ladder])
    slack = MS_NS * (room > ROOM)
    least = float((shares * values[:-1]).sum()) * (1 - room) - slack
    most = float((shares * values[1:]).sum()) * (1 + room) + slack
    if ladder[-1][0] == 100.0 and ladder[0][0] == 0.0 and not least <= row.mean_ns <= most:
        found.append(
            f"{name}the mean is {say_time(row.mean_ns)}, and the percentiles allow "
            f"{say_time(max(0.0, least))} to {say_time(most)}"
        )
    return found


def resolution(case: ForeignCase) -> ForeignFinding:
    """Judge the step in which latencies are recorded against their median."""
    median, grain = case.quantile_ns(50), _grain_ns(case)
    if median is None:
        raise Unknowable("how coarse the latencies are", "the file has no median")
    steps = median / grain
    numbers = {"grain_ns": float(grain), "median_ns": median}
    words = f"latencies are whole {say_time(grain)} and the median is {say_time(median)}"
    if steps <= COARSE:
        words += f": rounding alone makes it uncertain by ±{min(100, 50 / max(steps, 0.5)):.0f} %"
        return ForeignFinding(RESOLUTION.id, "wrong", words, numbers)
    if steps < ROUGH:
        words += f": differences below {50 / steps:.0f} % cannot be seen in it"
        return ForeignFinding(RESOLUTION.id, "caution", words, numbers)
    if case.results.table is not None and case.results.table.clock_ns >= SECOND_NS:
        words = "time stamps are whole seconds: order and gaps within a second cannot be seen"
        return ForeignFinding(RESOLUTION.id, "caution", words, numbers)
    return ForeignFinding(
        RESOLUTION.id, "fine", f"a step of {say_time(grain)} for {say_time(median)}", numbers
    )


def _grain_ns(case: ForeignCase) -> int:
    """Return the step of the latencies: by the tool, or coarser where all are multiples of it."""
    table = case.results.table
    if table is None:
        return case.results.grain_ns or 1
    sample = table.latency_ns[:: max(1, table.size // 20_000)]
    found = int(np.gcd.reduce(sample)) if sample.size >= 100 else 0
    coarser = next((step for step in (MS_NS, 1_000) if found and found % step == 0), 1)
    return max(table.grain_ns, coarser)
