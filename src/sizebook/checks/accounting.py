"""Nothing lost and nothing counted twice: counts, phases, clocks, the server's own count."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from sizebook.checks.facts import (
    change_of,
    counter_change,
    generator_facts,
    last_reading_ns,
    measured_mark,
    passes_of,
    undisturbed,
    why_lacking,
)
from sizebook.checks.processes import separate_counts
from sizebook.checks.rules import Answer, DoesNotApply, rule
from sizebook.model.load import Arrivals, ClosedLoop, PacedUsers
from sizebook.model.trial import Stored
from sizebook.stats.groups import blocks
from sizebook.stats.laws import little_balance
from sizebook.store import Bundle
from sizebook.store.columns import RequestColumns
from sizebook.store.trial_clock import TrialClock

PHASE_TOLERANCE = 0.01
PHASE_TOLERANCE_S = 0.05
CLOCK_TOLERANCE_NS = 1_000_000
LITTLE_TOLERANCE = 0.02
BESIDE = "beside"
"""Begin of the names of facts in which a trial tells what those left that share its stack."""
ANSWERED, UNANSWERED, ROWS, UNSURE = "answered", "unanswered", "rows", "unsure"
_NOT_HEARD = (502, 504)
"""A balancer or an app node had no answer, or none in time, from where the row is written."""


@rule(
    "SB100-completed",
    title="The trial ran to its end, as long as planned",
    verdict="failed",
    meaning="The trial completed, its generator reported, and ramp, warm-up and measured phase "
    "lasted as long as the specification says, to 1 % or 50 ms: the generator ends phases by its "
    "own clock, so more means that it was stopped or stood still. One that takes turns had all of "
    "them.",
    remedy="Read `failure` in trial.json and the logs of the bundle; measure again.",
)
def completed(bundle: Bundle) -> Answer:
    """Judge the outcome and the lengths of the phases."""
    record = bundle.record
    if record.outcome != "completed":
        return Answer(False, f"the trial failed: {record.failure or 'no reason given'}")
    if record.generator is None:
        return Answer(False, "the trial completed without the generator's facts")
    phases = record.trial.load.phases
    planned = {"ramp": phases.ramp_s, "warm-up": phases.warmup_s, "measured": phases.measured_s}
    numbers: dict[str, float] = {}
    wrong = []
    if phases.turns is not None:
        del planned["warm-up"]  # is whole turns, with the others' in between
        numbers["turns"] = float(turns := len(record.execution.turns))
        wrong += [f"{turns} turns, not {phases.rounds}"] * (turns != phases.rounds)
    for name, planned_s in planned.items():
        if planned_s == 0:
            continue
        mark = record.execution.phase(name)
        length_s = (mark.end_ns - mark.begin_ns) / 1e9 if mark else 0.0
        numbers[f"{name}_s"] = length_s
        if abs(length_s - planned_s) > max(PHASE_TOLERANCE * planned_s, PHASE_TOLERANCE_S):
            wrong.append(f"{name} lasted {length_s:.2f} s, not {planned_s:.2f} s")
    if wrong:
        return Answer(False, "; ".join(wrong), numbers)
    return Answer(True, "all phases ran as long as planned", numbers)


@rule(
    "SB101-accounting",
    title="Every request is accounted for",
    verdict="failed",
    meaning="issued = completed + failed + dropped by the generator's counts, and the stored rows "
    "are those issued and not dropped, exactly. A request without a row would be missing from "
    "every figure, and it is the slow ones that get lost. Nor did a connection bring bytes that no "
    "request had asked for: one answer too many, and each request after it gets the answer of the "
    "one before.",
    remedy="A fault of the recorder or a full disk: see the logs, report it, measure again. Bytes "
    "that nobody asked for are the server's fault, or its proxy's.",
)
def accounting(bundle: Bundle) -> Answer:
    """Judge the generator's counts against each other and against the rows."""
    facts = generator_facts(bundle)
    ended = facts.completed + facts.failed + facts.dropped
    rows = bundle.columns
    failed = rows.height - rows.only("error", "").height
    numbers = {
        "issued": float(facts.issued),
        "completed": float(facts.completed),
        "failed": float(facts.failed),
        "dropped": float(facts.dropped),
        "rows": float(rows.height),
        "rows_failed": float(failed),
    }
    wrong = []
    if facts.issued != ended:
        wrong.append(f"{facts.issued} issued but {ended} completed, failed or dropped")
    if rows.height != facts.issued - facts.dropped:
        wrong.append(f"{rows.height} rows for {facts.issued - facts.dropped} requests started")
    if failed != facts.failed:
        wrong.append(f"{failed} failed rows but {facts.failed} failures counted")
    if facts.strays:
        numbers["strays"] = float(facts.strays)
        wrong.append(f"{facts.strays} connections brought bytes that no request had asked for")
    if wrong:
        return Answer(False, "; ".join(wrong), numbers)
    text = f"{facts.issued} issued = {facts.completed} completed + {facts.failed} failed"
    return Answer(True, f"{text} + {facts.dropped} dropped = {rows.height} rows", numbers)


@rule(
    "SB102-clock",
    title="Phases and times agree in every row",
    verdict="failed",
    meaning="Every row is in one phase, the one in which its intended start lies (to 1 ms, the "
    "precision of times that come from Locust's own events); no request starts before its "
    "intended start or ends before it starts; intended start + latency = start + service time.",
    remedy="A fault of the recorder, or a machine that was suspended: measure again.",
)
def clock(bundle: Bundle) -> Answer:
    """Judge the times of each row against its phase and each other."""
    rows = bundle.columns
    if rows.height == 0:
        raise DoesNotApply("no requests")
    outside = 0
    for name in rows.words("phase"):
        part, mark = rows.only("phase", name), bundle.record.execution.phase(name)
        if mark is None:
            outside += part.height
            continue
        for due in part.in_blocks("intended_ns"):
            outside += int(np.count_nonzero(due < mark.begin_ns - CLOCK_TOLERANCE_NS))
            outside += int(np.count_nonzero(due > mark.end_ns + CLOCK_TOLERANCE_NS))
    before, negative, unequal = _faults(rows)
    numbers = {
        "rows": float(rows.height),
        "outside_phase": float(outside),
        "before_intended": float(before),
        "negative_service": float(negative),
        "unequal_ends": float(unequal),
    }
    wrong = [f"{n:.0f} rows {name}" for name, n in list(numbers.items())[1:] if n]
    if wrong:
        return Answer(False, ", ".join(wrong).replace("_", " "), numbers)
    return Answer(True, f"{rows.height} rows agree with their phases", numbers)


@rule(
    "SB103-little",
    title="Little's law closes",
    verdict="failed",
    meaning="The mean number of requests in flight, integrated from clock times over the measured "
    "phase (over all turns, if the load took turns), equals throughput times mean service time; "
    "requests that cross its edges are accounted for on both sides, so what remains is 0 in exact "
    "arithmetic. 2 % is far above rounding and below any effect the book claims. Nor can more be "
    "in flight than there are users (same 2 %), and without think time, or pauses of plain Locust "
    "users by `wait_time`, a closed loop must have seen all of its users, as paced users all those "
    "whose period fits into the phase.",
    remedy="Rows are missing or clocks differ: see SB101 and SB102, report it, measure again. "
    "Users who sleep within their tasks are to say so by `wait_time`.",
)
def littles_law(bundle: Bundle) -> Answer:
    """Judge the in-flight integral against throughput times service time, and the users."""
    mark = measured_mark(bundle)
    rows, arrivals = bundle.columns, bundle.record.trial.load.arrivals
    due, start = rows["intended_ns"], rows["start_ns"]
    begin_ns: int | NDArray[np.int64] = mark.begin_ns
    end_ns: int | NDArray[np.int64] = mark.end_ns
    if clock := TrialClock(bundle.record.execution.turns):
        # Who is served as a turn ends goes on while the trial's own time stands still.
        wall = clock.wall(due)
        due, start = wall, start - due + wall
        begin_ns, end_ns = clock.from_ns, clock.end_ns
    measured = rows.has("phase", "measured")
    balance = little_balance(due, start, rows["service_ns"], measured, begin_ns, end_ns)
    if balance.in_flight == 0:
        raise DoesNotApply("nothing was in flight in the measured phase")
    numbers = {
        "in_flight": balance.in_flight,
        "throughput_times_service": balance.product,
        "residual_share": balance.residual,
        "edge_share": balance.edge_share,
        "users": float(arrivals.users),
    }
    text = (
        f"{balance.in_flight:.3f} in flight, {balance.product:.3f} by throughput times service "
        f"time, {balance.residual:+.2%} beyond the edges, {arrivals.users} users"
    )
    wrong = abs(balance.residual) > LITTLE_TOLERANCE
    wrong |= balance.in_flight > arrivals.users * (1 + LITTLE_TOLERANCE)
    facts = bundle.record.generator
    pauses = "" if facts is None else facts.pauses
    least = _users_due(arrivals, (mark.end_ns - mark.begin_ns) / 1e9)
    if least is not None:
        seen = _users_between(rows, mark.begin_ns, mark.end_ns)
        numbers["users_seen"] = float(seen)
        text += f", {seen} seen"
        missing = seen < least and not pauses and not shares_passes(rows)
        wrong |= seen > arrivals.users or missing
    return Answer(not wrong, text, numbers)


@rule(
    "SB104-server-count",
    title="The server counted what the client counted",
    verdict="failed",
    meaning="The rise of `requests_total` of all app nodes, or of the one system of a chapter's "
    "own that counts its requests, between the snapshots before and after the trial equals the "
    "requests that were answered, all phases, exactly (a node counts a request when its last byte "
    "has gone out, so the last reading counts); requests without an answer (connection refused, "
    "reset, timed out) may or may not have reached the server and leave that much room. Requests "
    "of trials that take turns on the same stack are added. Anything else is traffic that is not "
    "ours, or answers not from there.",
    remedy="See that nothing else calls the stack (health checks belong on the management port). A "
    "server whose workers each count for themselves needs its library's multi-process metrics.",
)
def server_count(bundle: Bundle) -> Answer:
    """Judge the servers' count of requests against the client's."""
    counting = bundle.record.trial.deployment.counting()
    if counting is None:
        raise DoesNotApply("the deployment has no role app, and no one system that counts requests")
    role, nodes = counting
    rows = bundle.columns
    if rows.height == 0:
        raise DoesNotApply("no requests")
    undisturbed(bundle, f"{role}-")
    start, service = rows["start_ns"], rows["service_ns"]
    begin_ns = int(start.min())
    end_ns = max(int((start[at] + service[at]).max()) for at in blocks(rows.height))
    end_ns = max(end_ns, last_reading_ns(bundle, f"server/{role}-", "requests_total"))
    try:
        change = counter_change(bundle, f"server/{role}-", "requests_total", begin_ns, end_ns)
    except DoesNotApply as reason:
        if hint := separate_counts(bundle, role):
            return Answer(False, f"the server's count cannot be read: {hint}")
        why = why_lacking(bundle, f"server/{role}-").get("requests_total")
        raise DoesNotApply(f"{reason} ({why})" if why else str(reason)) from None
    if change.parts != nodes:
        raise DoesNotApply(f"counters of {change.parts} of {nodes} nodes")
    answered = int(np.count_nonzero(rows["status"]))
    unanswered = rows.height - answered
    answered += beside(bundle, ANSWERED)
    unanswered += beside(bundle, UNANSWERED)
    numbers = {
        "server": change.total,
        "answered": float(answered),
        "unanswered": float(unanswered),
    }
    text = f"server {change.total:.0f}, client {answered} answered and {unanswered} unanswered"
    passed = answered <= change.total <= answered + unanswered
    hint = "" if passed else separate_counts(bundle, role)
    return Answer(passed, f"{text}; {hint}" if hint else text, numbers)


@rule(
    "SB105-stored",
    title="What was acknowledged was stored, once",
    verdict="failed",
    meaning="For each table that the design names: the rise of its rows between the counts before "
    "the load and after the last row had come equals the requests that were acknowledged, all "
    "phases, times the rows that each leaves, exactly. Requests without an answer, but for refused "
    "connections, may or may not have been stored and leave that much room; so do those whose "
    "answer of success was not the one expected, such as another session's page, and refused ones "
    "that would have left several rows, for some of these may have been there before the refusal. "
    "Rows of trials that take turns on the same stack are added. Fewer rows: something was lost. "
    "More: something was doubled.",
    remedy="Look at the queues' and the nodes' own counts in the trial's counters and logs.",
)
def stored(bundle: Bundle) -> Answer:
    """Judge the rows of the stack's tables against the acknowledged requests."""
    tables = bundle.record.trial.stored()
    if not tables:
        raise DoesNotApply("the design names no table that the load fills")
    rows = bundle.columns
    if rows.height == 0:
        raise DoesNotApply("no requests")
    begin_ns = int(rows["start_ns"].min())
    end_ns = int((rows["start_ns"] + rows["service_ns"]).max())
    numbers: dict[str, float] = {}
    texts, wrong = [], False
    for table, filled in tables.items():
        good = acknowledged(rows, filled) + beside(bundle, f"{ROWS}/{table}")
        open_ = unsure(rows, filled) + beside(bundle, f"{UNSURE}/{table}")
        rise = change_of(bundle, "rows", f"rows_stored/{table}", begin_ns, end_ns).rise
        numbers |= {f"{table}_rows": rise, f"{table}_acknowledged": float(good)}
        numbers[f"{table}_unsure"] = float(open_)
        texts.append(f"{table}: {rise:.0f} rows for {good} acknowledged, {open_} unsure")
        wrong |= not good <= rise <= good + open_
    return Answer(not wrong, "; ".join(texts), numbers)


def beside(bundle: Bundle, what: str) -> int:
    """Return how much of something the trials left that took turns on the same stack."""
    told = bundle.record.execution.facts.get(f"{BESIDE}/{what}", 0)
    return told if isinstance(told, int) else 0


def left_by(rows: RequestColumns, tables: Mapping[str, Stored]) -> dict[str, int]:
    """Return what a trial's requests left on its stack, in the words that ``beside`` takes."""
    answered = int(np.count_nonzero(rows["status"]))
    found = {ANSWERED: answered, UNANSWERED: rows.height - answered}
    found |= {f"{ROWS}/{name}": acknowledged(rows, filled) for name, filled in tables.items()}
    return found | {f"{UNSURE}/{name}": unsure(rows, filled) for name, filled in tables.items()}


def acknowledged(rows: RequestColumns, filled: Stored) -> int:
    """Return how many rows requests were told to be safe: answered as expected, with success.

    A status of 300 or more may be expected too, such as that of a node that was not meant.
    """
    status = _filling(rows, filled).only("error", "")["status"]
    return filled.each * int(np.count_nonzero((status >= 200) & (status < 300)))


def unsure(rows: RequestColumns, filled: Stored) -> int:
    """Return how many rows requests may have left though nobody was told so."""
    mine = _filling(rows, filled)
    return filled.each * int(np.count_nonzero(_unsure(mine, filled)))


def _filling(rows: RequestColumns, filled: Stored) -> RequestColumns:
    """Return the requests that leave rows in a table."""
    if not filled.also:
        return rows.only("name", filled.request)
    return rows.where(np.logical_or.reduce([rows.has("name", name) for name in filled.requests]))


def _unsure(rows: RequestColumns, filled: Stored) -> NDArray[np.bool_]:
    """Return which requests may have left rows though nobody said so.

    A refused connection carried nothing; what a node in between did not hear of may have been done.
    """
    if filled.each > 1:
        return ~rows.has("error", "")
    status = rows["status"]
    failed = ~rows.has("error", "")
    silent = (status == 0) & ~rows.has("error", "connect")
    silent |= (status >= 200) & (status < 300) & failed  # done or not, nobody took its word
    unsure: NDArray[np.bool_] = silent | np.isin(status, _NOT_HEARD)
    return unsure


def shares_passes(rows: RequestColumns) -> bool:
    """Return whether users work on one pass of the scenario together and wait for each other."""
    passes = passes_of(rows)
    return bool((passes.min(rows["user"]) != passes.max(rows["user"])).any())


def _faults(rows: RequestColumns) -> tuple[int, int, int]:
    """Return how many rows start before they were due, end before they start, have two ends."""
    intended, start = rows["intended_ns"], rows["start_ns"]
    latency, service = rows["latency_ns"], rows["service_ns"]
    same = rows.same("intended_ns", "start_ns") and rows.same("latency_ns", "service_ns")
    before = negative = unequal = 0
    for at in blocks(rows.height):
        negative += int(np.count_nonzero(service[at] < 0))
        if same:
            continue
        before += int(np.count_nonzero(start[at] < intended[at]))
        ends = intended[at] + latency[at], start[at] + service[at]
        unequal += int(np.count_nonzero(ends[0] != ends[1]))
    return before, negative, unequal


def _users_due(arrivals: Arrivals, length_s: float) -> int | None:
    """Return how many users have a request under way in so many seconds; None: not known."""
    if isinstance(arrivals, PacedUsers):
        return sum(group.users for group in arrivals.groups if group.period_s <= length_s)
    if isinstance(arrivals, ClosedLoop) and arrivals.think_s == 0 and not arrivals.stages:
        return arrivals.users
    return None


def _users_between(rows: RequestColumns, begin_ns: int, end_ns: int) -> int:
    """Return how many users had a request under way in a time window."""
    start, service, user = rows["start_ns"], rows["service_ns"], rows["user"]
    seen = np.zeros(int(user.max(initial=0)) + 1, dtype=np.bool_)
    for at in blocks(rows.height):
        under_way = (start[at] < end_ns) & (start[at] + service[at] > begin_ns)
        seen[user[at][under_way]] = True
    return int(np.count_nonzero(seen))
