"""Rules on the load: who waits for whom, what was not sent, what the generator can do."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sizebook.judge.facts import ForeignCase, Windows
from sizebook.judge.findings import ForeignFinding, ForeignRule, Unknowable
from sizebook.judge.results import SECOND_NS, Loop
from sizebook.judge.stalls import Stalls, corrected_quantiles, find_stalls
from sizebook.judge.wording import say_percentile, say_rate, say_time, say_times
from sizebook.stats.quantiles import is_supported

LOOP = ForeignRule(
    "FR201-loop",
    "Closed or open load",
    "For users who do not wait for each other's answers, send at a rate (open load).",
)
OMISSION = ForeignRule(
    "FR202-omission",
    "No coordinated omission",
    "Send at a rate and count latency from when each request was due; quote no percentile of this.",
)
OFFERED = ForeignRule(
    "FR203-offered",
    "The load that was asked for was sent and answered",
    "Lower the rate below capacity, or allow more users; report the rate that was answered.",
)
GENERATOR = ForeignRule(
    "FR204-generator",
    "The generator was not the limit",
    "Measure the generator's CPU; use more processes or machines; repeat with half the load each.",
)
LITTLE = ForeignRule(
    "FR205-little",
    "Little's law holds",
    "Count users and requests of the same generators, and no request again with its parts.",
)
PERCENTILES = (90.0, 95.0, 99.0, 99.9)
SHOWN = 1.5
"""A percentile that the requests not sent raise by this factor was not measured."""
LIKELY = 3.0
DROPPED_SHARE = 0.01
GROWN, LEAST_GROWN = 2.0, 10.0
CEILING = 0.75
FLAT = 1.3
LAW_ROOM = 0.05
EVEN_GAPS = 0.6
FALLEN_GAPS = 20.0
PAUSED_SHARE = 0.01


def loop_of(case: ForeignCase) -> tuple[Loop, str]:
    """Return whether senders wait for answers, and how the file tells."""
    results = case.results
    if results.loop != "unknown":
        return results.loop, results.loop_reason
    threads, table = case.threads, case.table
    if table is not None and threads is not None:
        each = table.size / threads
        if each >= 20:
            return "closed", f"{threads:,} threads sent {each:,.0f} requests each, one at a time"
        if each <= 3 and threads >= 100:
            return (
                "open",
                f"{threads:,} threads began one after the other, {each:.1f} requests each",
            )
    if table is not None and table.running is not None:
        busy = _mean_in_flight(case) / max(1.0, float(table.running.mean()))
        if busy > 0.9:
            words = f"{busy:.0%} of the users had a request under way all the time"
            return "closed", words
    return "unknown", ""


def loop(case: ForeignCase) -> ForeignFinding:
    """Say whether the load was closed or open."""
    kind, reason = loop_of(case)
    if kind == "unknown":
        raise Unknowable(
            "whether the load was closed or open",
            f"the file does not name what paced {case.results.tool}'s requests",
        )
    return ForeignFinding(LOOP.id, "fine", f"{kind} load: {reason}")


def omission(case: ForeignCase) -> ForeignFinding:
    """Judge whether requests that should have waited were not sent while the server stood still."""
    results, (kind, _) = case.results, loop_of(case)
    if results.uncorrected:
        words = "latencies count from when each request was sent, and not from when it was due"
        return ForeignFinding(OMISSION.id, "wrong", f"{words} (the tool's own word)")
    if results.corrected:
        words = "latencies count from when each request was due (the tool's own word)"
        return ForeignFinding(OMISSION.id, "fine", words)
    stalls = find_stalls(case)
    if stalls is not None:
        if finding := _shown(case, stalls):
            return finding
        longest = say_time(stalls.longest_ns)
        if kind == "open" and not stalls.count:
            words = f"no request waited to be sent: the longest time without a start is {longest}"
            return ForeignFinding(OMISSION.id, "fine", words)
        words = (
            f"possible: senders {'wait' if kind == 'closed' else 'may wait'} for answers, so a "
            f"slow server gets fewer requests. None is missing here by more than {longest}"
        )
        return ForeignFinding(OMISSION.id, "caution", words)
    return _by_sums(case, kind)


def _shown(case: ForeignCase, stalls: Stalls) -> ForeignFinding | None:
    """Return the finding if what was not sent changes a percentile that the sample supports."""
    if not stalls.count:
        return None
    asked = [p for p in PERCENTILES if is_supported(p, case.requests)]
    found = [
        (p, recorded, corrected)
        for p, corrected in zip(asked, corrected_quantiles(case, stalls, asked), strict=True)
        if (recorded := case.quantile_ns(p)) and corrected >= SHOWN * recorded
    ]
    if not found:
        return None
    p, recorded, corrected = found[0]
    words = (
        f"shown: {say_times(stalls.count, stalls.longest_ns)} nearly nothing was sent while "
        f"requests waited; at the usual {say_rate(stalls.rate_per_s)} "
        f"{stalls.missing:,.0f} requests are missing. {say_percentile(p)} is recorded as "
        f"{say_time(recorded)} and is {say_time(corrected)} with them"
    )
    numbers = {
        "stalls": float(stalls.count),
        "longest_s": stalls.longest_ns / SECOND_NS,
        "missing": stalls.missing,
        "percentile": p,
        "recorded_ns": recorded,
        "corrected_ns": corrected,
    }
    return ForeignFinding(OMISSION.id, "wrong", words, numbers)


def _by_sums(case: ForeignCase, kind: Loop) -> ForeignFinding:
    """Judge by the greatest latency alone: how high p99 would be if all senders waited then."""
    most, p99, length_s = case.most_ns, case.quantile_ns(99), case.length_s
    name = "p99"
    if p99 is None:
        p99, name = case.quantile_ns(95), "p95"
    if most is None or p99 is None or not length_s:
        raise Unknowable("whether requests were omitted", "the file lacks length, p99 or maximum")
    beyond = 0.01 if name == "p99" else 0.05
    might = most - beyond * length_s * SECOND_NS
    numbers = {"most_ns": most, "recorded_ns": p99, "might_ns": max(0.0, might)}
    if kind != "open" and might > LIKELY * p99:
        words = (
            f"likely: one answer took {say_time(most)} of {length_s:.3g} s and {name} is "
            f"{say_time(p99)}. If the server stood still then, senders waited, and {name} of "
            f"requests at a rate is up to {say_time(might)}"
        )
        return ForeignFinding(OMISSION.id, "wrong", words, numbers)
    if kind == "open":
        words = f"requests are sent at a rate; the longest took {say_time(most)}"
        return ForeignFinding(OMISSION.id, "fine", words, numbers)
    words = (
        f"possible, and small: senders may have waited, {say_time(most)} at most, which is too "
        f"short to change {name}"
    )
    return ForeignFinding(OMISSION.id, "caution", words, numbers)


def offered(case: ForeignCase) -> ForeignFinding:
    """Judge requests that were due and not sent, and a backlog that grows."""
    dropped, (kind, _) = case.results.dropped, loop_of(case)
    if dropped:
        due = dropped + (case.results.begun or case.requests)
        share = dropped / due
        words = f"{dropped:,} of {due:,} iterations due ({share:.1%}) never began"
        numbers = {"dropped": float(dropped), "share": share}
        if share >= DROPPED_SHARE:
            words += ": latencies of those that would have waited longest are missing"
            return ForeignFinding(OFFERED.id, "wrong", words, numbers)
        return ForeignFinding(OFFERED.id, "caution", words, numbers)
    if kind == "closed":
        return ForeignFinding(OFFERED.id, "fine", "a closed load asks for no rate")
    if case.table is None:
        raise Unknowable(
            "whether all requests that were due were sent and answered in time",
            "the file has neither what was asked for nor single requests",
        )
    begin, stop = case.span_ns
    course = case.in_flight(np.linspace(begin, stop, 81)[1:].astype(np.int64))
    quarters = np.median(course.reshape(4, -1), axis=1)
    early, late = float(quarters[0]), float(quarters[-1])
    rises = bool((np.diff(quarters) > 0).all())
    numbers = {"under_way_early": early, "under_way_late": late}
    if rises and late > GROWN * early + LEAST_GROWN and late > 0.6 * course.max():
        words = (
            f"requests under way grew from {early:,.0f} to {late:,.0f}: the server answered fewer "
            "than were sent, and latencies depend on how long the run was"
        )
        return ForeignFinding(OFFERED.id, "wrong", words, numbers)
    words = f"requests under way kept their level: {early:,.0f}, later {late:,.0f}"
    return ForeignFinding(OFFERED.id, "fine", words, numbers)


def generator(case: ForeignCase) -> ForeignFinding:
    """Judge what can be inferred of the generator: pauses, a ceiling, a schedule it fell behind."""
    if case.table is not None and (finding := _paused(case) or _fell_behind(case)):
        return finding
    try:
        found = case.windows
    except Unknowable:
        found = None
    if found is not None and found.users is not None and (finding := _ceiling(found)):
        return finding
    raise Unknowable(
        "how near to its limit the generator was",
        "the file has neither its CPU time nor rates with few and with many users",
    )


def _paused(case: ForeignCase) -> ForeignFinding | None:
    """Return the finding if nothing was sent for long although nothing was waited for."""
    stalls = find_stalls(case, waiting=False)
    if stalls is None or stalls.missing < PAUSED_SHARE * case.requests:
        return None
    words = (
        f"{say_times(stalls.count, stalls.longest_ns)} nothing was under way: "
        f"the generator itself paused, and {stalls.missing:,.0f} requests at the usual rate are "
        "missing"
    )
    return ForeignFinding(GENERATOR.id, "wrong", words, {"missing": stalls.missing})


def _fell_behind(case: ForeignCase) -> ForeignFinding | None:
    """Return the finding if starts are meant to be evenly spaced and fall behind that."""
    table, (kind, _) = case.need_table("starts"), loop_of(case)
    if kind == "closed" or table.size < 200 or table.clock_ns >= SECOND_NS or case.results.dropped:
        return None
    gaps = np.diff(table.start_ns)
    usual = float(np.median(gaps))
    if usual <= 2 * table.clock_ns or np.mean(np.abs(gaps / usual - 1) < 0.25) < EVEN_GAPS:
        return None
    # Late starts only ever lie above the line of the schedule: take its rate from the median gap.
    late = table.start_ns - table.start_ns[0] - usual * np.arange(table.size)
    drift = np.minimum.accumulate(late[::-1])[::-1]
    behind = float((late - np.minimum(drift, late)).max())
    lost = float(late[-1] - late.min()) if late[-1] > 0 else 0.0
    worst = max(behind, lost)
    length_ns = float(table.start_ns[-1] - table.start_ns[0])
    if worst > max(FALLEN_GAPS * usual, 0.02 * length_ns):
        words = (
            f"requests were due every {say_time(usual)} and starts fell behind by up to "
            f"{say_time(worst)}: too few workers, or no CPU time. Latencies do not count that wait"
        )
        return ForeignFinding(GENERATOR.id, "wrong", words, {"behind_s": worst / SECOND_NS})
    words = f"starts keep an even spacing of {say_time(usual)}, {say_time(worst)} late at most"
    return ForeignFinding(GENERATOR.id, "fine", words, {"behind_s": worst / SECOND_NS})


def _ceiling(found: Windows) -> ForeignFinding | None:
    """Return what rates with few and with many users say; None where users hardly vary."""
    assert found.users is not None
    used = np.isfinite(found.mean_ns) & (found.throughput_per_s > 0) & (found.users > 0)
    if np.count_nonzero(used) < 6:
        return None
    users, rate, answer = found.users[used], found.throughput_per_s[used], found.mean_ns[used]
    answer_s = answer / SECOND_NS
    least, most = float(np.quantile(users, 0.1)), float(users.max())
    if most < 2 * least:
        return None
    few, many = users <= 1.3 * least, users >= 0.9 * most
    n, x, r = (float(np.median(each[few])) for each in (users, rate, answer_s))
    m, y, s = (float(np.median(each[many])) for each in (users, rate, answer_s))
    pause_s = max(0.0, n / x - r)
    expected = m / (s + pause_s)
    numbers = {"users": m, "rate_per_s": y, "expected_per_s": expected}
    told = (
        f"{n:,.0f} users make {say_rate(x)} with answers of {say_time(r * SECOND_NS)}; "
        f"{m:,.0f} users make {say_rate(y)} with {say_time(s * SECOND_NS)}"
    )
    if y < CEILING * expected and s < FLAT * r + pause_s:
        words = (
            f"{told}. With such answers {say_rate(expected)} would come if each user still paused "
            f"{say_time(pause_s * SECOND_NS)}: the generator was the limit, not the server"
        )
        return ForeignFinding(GENERATOR.id, "wrong", words, numbers)
    return ForeignFinding(GENERATOR.id, "fine", f"{told}, as Little's law lets expect", numbers)


def little(case: ForeignCase) -> ForeignFinding:
    """Judge rate times latency against the number of users."""
    users, results = _mean_users(case), case.results
    if users is None:
        raise Unknowable("whether Little's law holds", "the file does not say how many users ran")
    if results.corrected:
        words = "latencies include the wait to be sent, so more may be under way than connections"
        return ForeignFinding(LITTLE.id, "fine", words)
    under_way = _mean_in_flight(case)
    numbers = {"under_way": under_way, "users": users}
    if under_way > (1 + LAW_ROOM) * users + 0.5:
        words = (
            f"rate times latency is {under_way:,.1f} requests under way, and {users:,.1f} users "
            "can have one each at most: users, times or requests are of different runs"
        )
        return ForeignFinding(LITTLE.id, "wrong", words, numbers)
    rate = case.rate_per_s or 0.0
    pause = (users - under_way) / rate * SECOND_NS if rate else 0.0
    words = (
        f"{under_way:,.1f} of {users:,.1f} users had a request under way; each paused "
        f"{say_time(max(0.0, pause))} between requests"
    )
    return ForeignFinding(LITTLE.id, "fine", words, numbers)


def _mean_users(case: ForeignCase) -> float | None:
    if case.table is not None and case.table.running is None:
        return None
    try:
        found = case.windows
    except Unknowable:
        return case.users
    return case.users if found.users is None else float(found.users.mean())


def _mean_in_flight(case: ForeignCase) -> float:
    """Return the mean number of requests under way: rate times mean latency."""
    course = case.results.course
    if case.table is None and course is not None:
        spent: NDArray[np.float64] = np.nan_to_num(course.mean_ns) * course.requests
        return float(spent.sum() / course.width_ns.sum())
    rate, mean = case.rate_per_s, case.mean_ns
    if rate is None or mean is None:
        raise Unknowable("whether Little's law holds", "the file lacks its length or mean latency")
    return rate * mean / SECOND_NS
