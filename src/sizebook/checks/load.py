"""The load was the one asked for, and answers were the ones expected."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sizebook.checks.accounting import shares_passes
from sizebook.checks.facts import (
    generator_facts,
    measured_mark,
    measured_requests,
    passes_of,
    refuse_coming_users,
    refuse_passes,
)
from sizebook.checks.rules import Answer, DoesNotApply, rule
from sizebook.model.bundle import JOINED_LATE, SCRIPT_ERROR, SCRIPT_ERRORS
from sizebook.model.load import ClosedLoop, PacedUsers, Scheduled
from sizebook.model.verdict import Verdict
from sizebook.stats.arrivals import unstarted
from sizebook.stats.groups import blocks, tally
from sizebook.stats.laws import pause_balance
from sizebook.stats.quantiles import highest_supported, is_supported
from sizebook.store import Bundle
from sizebook.store.columns import RequestColumns

OFFERED_TOLERANCE = 0.01
ACHIEVED_TOLERANCE = 0.02
DROPPED_LIMIT = 0.01
LATE_LIMIT = 0.01
LATE_PERIODS = 0.1
THINK_TOLERANCE = 0.01
_SIGMAS = 4


@rule(
    "SB301-errors",
    title="Errors stay within the design's allowance",
    verdict="failed",
    meaning="Failed requests of the measured phase over all of them, against `failed_share`; the "
    "error class that the treatment provokes on purpose does not count. Errors are often faster "
    "than answers and flatter every figure. An exception that ends a task of a plain locustfile is "
    "one more that failed: what the task would have asked for next was never sent.",
    remedy="See `error` in requests.parquet and the logs; lower the load or raise the allowance.",
)
def errors(bundle: Bundle) -> Answer:
    """Judge the share of failed requests."""
    allowance, said = bundle.record.trial.allowance, bundle.record.execution.facts
    raised = said.get(SCRIPT_ERRORS)
    raised = raised if isinstance(raised, int) else 0
    rows = bundle.columns.only("phase", "measured") if raised else measured_requests(bundle)
    counts = dict(zip(rows.words("error"), tally(rows.codes("error")).tolist(), strict=False))
    expected = allowance.expected_error
    failed = {name: number for name, number in counts.items() if name not in ("", expected)}
    number = sum(failed.values())
    limit = allowance.failed_share
    share = (number + raised) / (rows.height + raised)
    numbers = {"failed": float(number), "requests": float(rows.height), "share": share}
    text = f"{number} of {rows.height} failed"
    if raised:
        numbers["raised"] = float(raised)
        text += f" and {raised} exceptions of the locustfile, the first: {said.get(SCRIPT_ERROR)}"
    text += f" ({share:.2%}), {limit:.2%} allowed"
    if expected:
        numbers["expected"] = float(counts.get(expected, 0))
        text += f"; {counts.get(expected, 0)} of the expected class {expected!r}"
    elif number:
        text += f"; mostly {max(failed, key=lambda name: failed[name])!r}"
    return Answer(share <= limit, text, numbers)


@rule(
    "SB302-offered",
    title="The offered load was offered, and achieved",
    verdict="failed",
    meaning="Open arrivals and paced users. Passes due in the measured phase are the integral of "
    "the rate over it (evenly spaced: to 1 %; Poisson: to four standard deviations, which a right "
    "schedule exceeds once in 16 000 trials; paced: to two a group). Dropped ones have no latency, "
    "and they are the ones that would have waited longest: any make the trial noisy, above 1 % "
    "even p99 is unknown and the trial has failed. "
    "If the requests waiting or in flight grow within the phase by more than 2 % of the passes "
    "(and four standard deviations of the two counts), the server did not keep up: noisy. If they "
    "fall by as much, the phase began with a backlog of the warm-up: noisy, too. So it is "
    "if more than 1 % of the passes of paced users begin later than a tenth of their period: "
    "their users did not keep the pace.",
    remedy="Allow more users for the arrivals, or a lower rate: this one is beyond capacity.",
)
def offered(bundle: Bundle) -> Answer:
    """Judge passes due against the schedule, drops, the backlog, and users who were late."""
    arrivals, facts = bundle.record.trial.load.arrivals, generator_facts(bundle)
    if isinstance(arrivals, ClosedLoop):
        raise DoesNotApply("a closed loop offers no rate")
    mark, rows = measured_mark(bundle), bundle.columns
    length_s = (mark.end_ns - mark.begin_ns) / 1e9
    phases = bundle.record.trial.load.phases
    begin_s = phases.ramp_s + phases.warmup_s
    planned = arrivals.intensity(phases).expected(begin_s, begin_s + length_s)
    due_ns = passes_of(rows).min(rows["intended_ns"])
    inside = (due_ns >= mark.begin_ns) & (due_ns < mark.end_ns)
    arrived = int(np.count_nonzero(inside))
    before, after = _under_way(rows, mark.begin_ns), _under_way(rows, mark.end_ns)
    dropped_share = facts.dropped / facts.issued if facts.issued else 0.0
    numbers = {
        "planned": planned,
        "arrived": float(arrived),
        "dropped": float(facts.dropped),
        "dropped_share": dropped_share,
        "late_starts": float(facts.late_starts),
        "waiting_before": float(before),
        "waiting_after": float(after),
        "achieved_per_s": (arrived + before - after) / length_s,
    }
    room = _room(arrivals, planned)
    growth = after - before
    grown = max(ACHIEVED_TOLERANCE * planned, _SIGMAS * math.sqrt(before + after + 1))
    verdict: Verdict | None = "noisy"
    wrong = []
    if arrived > planned + room or arrived + facts.dropped < planned - room:
        wrong.append(f"{arrived} passes due and {facts.dropped} dropped for {planned:.0f} planned")
        verdict = None
    if facts.dropped:
        wrong.append(f"{facts.dropped} dropped ({dropped_share:.2%})")
        verdict = None if dropped_share > DROPPED_LIMIT else verdict
    if growth > grown:
        wrong.append(f"requests under way grew from {before} to {after}")
    if -growth > grown:
        wrong.append(
            f"requests under way fell from {before} to {after}: what was due in the warm-up was "
            "answered in the measured phase; have a longer ramp or warm-up, or spread the logins"
        )
    if isinstance(arrivals, PacedUsers) and arrived:
        late = int(np.count_nonzero(_late(rows, due_ns, arrivals) & inside))
        numbers["late_share"] = late / arrived
        if late > LATE_LIMIT * arrived:
            wrong.append(f"{late} of {arrived} passes began a tenth of their period late, or more")
    if wrong:
        return Answer(False, "; ".join(wrong), numbers, verdict)
    rate = arrived / length_s
    return Answer(True, f"{rate:.4g}/s arrived of {planned / length_s:.4g}/s", numbers)


def _room(arrivals: Scheduled | PacedUsers, planned: float) -> float:
    """Return by how many passes a right schedule may miss the plan."""
    if isinstance(arrivals, PacedUsers):
        return 2.0 * len(arrivals.groups)
    if arrivals.poisson:
        return max(1.0, _SIGMAS * math.sqrt(planned))
    return max(1.0, OFFERED_TOLERANCE * planned)


def _late(
    rows: RequestColumns, due_ns: NDArray[np.int64], arrivals: PacedUsers
) -> NDArray[np.bool_]:
    """Return for each pass whether it began late by more than its user's period allows."""
    passes = passes_of(rows)
    groups = arrivals.groups
    period_s = np.repeat([one.period_s for one in groups], [one.users for one in groups])
    user = np.minimum(passes.min(rows["user"]), period_s.size - 1)
    late_ns = passes.min(rows["start_ns"]) - due_ns
    late: NDArray[np.bool_] = late_ns > LATE_PERIODS * 1e9 * period_s[user]
    return late


@rule(
    "SB303-schedule",
    title="The stored schedule is the one that was followed",
    verdict="failed",
    meaning="Open arrivals and paced users. Every due time of the schedule stored with the trial "
    "has a request that was meant to start then, except those counted as dropped: due times "
    "without a request are as many as the generator's drops, exactly. Latencies count from these "
    "times.",
    remedy="A fault of the generator or a bundle that was edited: report it, measure again.",
)
def schedule(bundle: Bundle) -> Answer:
    """Judge the schedule against the requests and the drops."""
    facts, rows = generator_facts(bundle), bundle.columns
    if isinstance(bundle.record.trial.load.arrivals, ClosedLoop):
        raise DoesNotApply("a closed loop has no schedule")
    phases, mark = bundle.record.execution.phases, measured_mark(bundle)
    offsets = bundle.schedule["offset_ns"].to_numpy()
    begin_ns = phases[0].begin_ns
    left = unstarted(offsets, rows["intended_ns"], begin_ns, mark.end_ns).size
    numbers = {"due": float(offsets.size), "without_request": float(left)}
    numbers["dropped"] = float(facts.dropped)
    text = f"{left} of {offsets.size} due times without a request, {facts.dropped} dropped"
    return Answer(left == facts.dropped, text, numbers)


@rule(
    "SB304-think",
    title="Users paused as long as they were to",
    verdict="failed",
    meaning="Closed loops with random think times. Users who have no request of a pass under way "
    "pause; exponential pauses with mean Z end at the rate of one in Z seconds of pause, however "
    "long they have lasted. So the passes begun in the measured phase are the seconds that users "
    "paused in it over the stated Z, to four standard deviations of such a count and 1 %. This is "
    "the response time law, users = rate x (response + think time), with its other side measured. "
    "Fewer: the generator woke its users late, and the load was lighter than the page says. "
    "More: users did not think, and are no users.",
    remedy="Fewer users a worker, more workers on more CPUs. Too many passes: report it.",
)
def think(bundle: Bundle) -> Answer:
    """Judge the passes begun against the time that users paused."""
    arrivals = bundle.record.trial.load.arrivals
    if not isinstance(arrivals, ClosedLoop) or not (arrivals.think_random and arrivals.think_s):
        raise DoesNotApply("users have no random think time")
    refuse_coming_users(bundle.record.trial)
    mark, rows = measured_mark(bundle), bundle.columns
    if shares_passes(rows):
        raise DoesNotApply("users work on one pass together and wait for each other")
    passes = passes_of(rows)
    begin, end = passes.min(rows["start_ns"]), passes.max(rows["start_ns"], rows["service_ns"])
    balance = pause_balance(begin, end, arrivals.users, mark.begin_ns, mark.end_ns)
    expected = balance.expected(arrivals.think_s)
    room = _SIGMAS * math.sqrt(expected) + THINK_TOLERANCE * expected
    mean_s = balance.paused_s / balance.begun if balance.begun else math.inf
    numbers = {
        "begun": float(balance.begun),
        "expected": expected,
        "paused_s": balance.paused_s,
        "think_s": arrivals.think_s,
    }
    text = (
        f"{balance.begun} passes begun, {expected:.0f} expected of {arrivals.users} users; "
        f"{mean_s:.3g} s of pause for each, {arrivals.think_s:g} s stated"
    )
    return Answer(abs(balance.begun - expected) <= room, text, numbers)


@rule(
    "SB305-joined",
    title="All users had joined before what is measured",
    verdict="noisy",
    meaning="What users do once when they join, such as logging in, was over for each of them when "
    "the measured phase began. Requests of joins that last longer are among the measured ones, and "
    "compete with them. It does not apply where users do nothing when they join.",
    remedy="A longer ramp, over which users join one after the other, or a longer warm-up.",
)
def joined(bundle: Bundle) -> Answer:
    """Judge how many users were still joining when the measured phase began."""
    late = bundle.record.execution.facts.get(JOINED_LATE)
    if late is None:
        raise DoesNotApply("users do nothing when they join, or the trial does not tell")
    mark = measured_mark(bundle)
    if mark.begin_ns == bundle.record.execution.phases[0].begin_ns:
        raise DoesNotApply("the load has neither ramp nor warm-up")
    users = bundle.record.trial.load.arrivals.users
    text = f"{late} of {users} users were still joining when the measured phase began"
    if late:
        text += "; have a longer ramp or warm-up, or spread the logins"
    return Answer(not late, text, {"late": float(late), "users": float(users)})


@rule(
    "SB501-samples",
    title="There are enough samples",
    verdict="noisy",
    meaning="Percentile p is supported when n(1-p) is at least 10. A trial whose good requests do "
    "not even support the median (20) is noisy; which higher percentiles are supported is among "
    "the numbers, and tables leave the others out. It does not apply where whole passes of the "
    "scenario make the results, of which there are no percentiles.",
    remedy="A longer measured phase or more load.",
)
def samples(bundle: Bundle) -> Answer:
    """Judge the number of good requests in the measured phase."""
    refuse_passes(bundle)
    number = bundle.columns.only("phase", "measured").only("error", "").height
    highest = highest_supported(number)
    numbers = {"n": float(number)}
    if bundle.record.generator is not None:
        numbers["iterations"] = float(bundle.record.generator.iterations)
    if highest is not None:
        numbers["highest_percentile"] = highest
    for percent in (50, 95, 99):
        numbers[f"supports_p{percent}"] = float(is_supported(percent, number))
    reach = f"up to p{math.floor(highest * 1000) / 1000:g}" if highest else "no percentile"
    return Answer(is_supported(50, number), f"{number} good requests support {reach}", numbers)


def _under_way(rows: RequestColumns, at_ns: int) -> int:
    """Return how many requests were due before a time and not answered before it."""
    intended, latency = rows["intended_ns"], rows["latency_ns"]
    return sum(
        int(np.count_nonzero((intended[at] < at_ns) & (intended[at] + latency[at] >= at_ns)))
        for at in blocks(rows.height)
    )
