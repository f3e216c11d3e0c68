"""The load generator must not be what is measured."""

from __future__ import annotations

import math
import re

import numpy as np

from sizebook.checks.accounting import shares_passes
from sizebook.checks.facts import (
    counter_change,
    generator_facts,
    measured_mark,
    measured_requests,
    ordered,
    refuse_coming_users,
    undisturbed,
)
from sizebook.checks.rules import Answer, DoesNotApply, rule
from sizebook.model.bundle import SHARED_CORES
from sizebook.model.load import ClosedLoop
from sizebook.model.verdict import Finding, Verdict
from sizebook.stats.groups import Groups, is_ascending, tally
from sizebook.stats.quantiles import highest_supported
from sizebook.store import Bundle

LAG_SHARE = 0.10
LAG_FREE_MS = 0.25
OWN_TIME_DOUBT = 0.05
OWN_TIME_BOUND = 0.20
CEILING_DOUBT = 0.70
CEILING_BOUND = 0.90
_SECONDS = r"\d+(?:\.\d+)?(?:e[+-]?\d+)?"
_PAUSE = re.compile(rf"\b(?:constant|between)\(({_SECONDS}(?:, {_SECONDS})?)\)")
"""A pause of a plain Locust user whose length is bounded by its own words."""


@rule(
    "SB201-generator-cpu",
    title="The generator had CPU to spare",
    verdict="generator-bound",
    meaning="CPU seconds of the generator over the seconds that its CPUs had, against the design's "
    "`generator_cpu_share`: over the whole load and, where its process was watched, over the "
    "measured phase; the larger counts. A worker is one event loop and can use one CPU only, so "
    "its CPUs are the workers or the CPU set, whichever is less; and the share of the busiest "
    "worker in one CPU counts as well, over the whole load and over the measured phase. Near "
    "saturation, answers queue in the generator and its waiting is published as the server's. "
    "Where the machine has one physical core only, its CPUs are siblings that slow each other: the "
    "finding says so.",
    remedy="Fewer users or a lower rate, the lean user class, more workers on more CPUs.",
)
def generator_cpu(bundle: Bundle) -> Answer:
    """Judge the share of its CPUs that the generator used."""
    facts, trial = generator_facts(bundle), bundle.record.trial
    if facts.wall_s <= 0:
        raise DoesNotApply("the generator's facts have no length of time")
    cpus = min(trial.load.workers, len(trial.load.cpus) or trial.load.workers)
    share = facts.cpu_s / facts.wall_s / cpus
    numbers = {"share": share, "cpus": float(cpus)}
    if facts.worker_cpu_s:
        numbers["worst_worker_share"] = max(facts.worker_cpu_s) / facts.wall_s
    try:
        mark = measured_mark(bundle)
        window = mark.begin_ns, mark.end_ns
        numbers |= _worst_worker(bundle, *window)
        parts = [
            counter_change(bundle, "process/generator-", metric, *window)
            for metric in ("cpu_user_s", "cpu_system_s")
        ]
        numbers["measured_share"] = sum(one.total for one in parts) / parts[0].length_s / cpus
    except DoesNotApply:
        pass  # facts alone decide
    worst = max(share, numbers.get("measured_share", 0.0))
    busiest = max(
        numbers.get("worst_worker_share", 0.0), numbers.get("worst_worker_measured_share", 0.0)
    )
    limit = trial.allowance.generator_cpu_share
    numbers["limit"] = limit
    text = f"{worst:.1%} of {cpus} CPU, {limit:.0%} allowed"
    if trial.load.workers > 1:
        text += f"; busiest of {trial.load.workers} workers {busiest:.1%}"
    if shared := bundle.record.execution.facts.get(SHARED_CORES):
        text += f"; CPUs {shared} are siblings of one core, of which the stack has one: each slows "
        text += "the other"
    return Answer(max(worst, busiest) <= limit, text, numbers)


def _worst_worker(bundle: Bundle, begin_ns: int, end_ns: int) -> dict[str, float]:
    """Return the largest mean of the workers' own seconds of CPU share, empty if there are none."""
    means = []
    for one in bundle.readings:
        if one.source == "generator" and f".{one.metric}".endswith(".cpu_share"):
            counts = (one.times_ns >= begin_ns + 1_000_000_000) & (one.times_ns <= end_ns)
            means += [float(one.values[counts].mean())] if counts.any() else []
    return {"worst_worker_measured_share": max(means)} if means else {}


@rule(
    "SB202-generator-lag",
    title="The generator was on time",
    verdict="generator-bound",
    meaning="The 99th percentile of the lateness of the generator's 10 ms tick, against 10 % of "
    "the measured 99th percentile of latency (or the highest percentile the sample supports). An "
    "answer waits for the event loop as the tick does, so this bounds by how much the tail may be "
    "the generator's own. 0.25 ms is free: an idle loop's tick comes 0.10 to 0.15 ms late, since "
    "the kernel wakes a sleeper so much later. The level of the times is off by less than the mean "
    "lateness that these percentiles allow: a claim counts such a trial with an interval that is "
    "wider by that.",
    remedy="Fewer users a worker, the lean user class, CPUs of its own for the generator.",
)
def generator_lag(bundle: Bundle) -> Answer:
    """Judge the tick's lateness against the measured latency."""
    facts = generator_facts(bundle)
    good = measured_requests(bundle).only("error", "")
    supported = highest_supported(good.height)
    if supported is None:
        raise DoesNotApply(f"{good.height} good requests are too few for a percentile")
    percent = min(99.0, supported)
    latency_ms = ordered(good, "latency_ns").interpolated(percent / 100) / 1e6
    limit_ms = LAG_FREE_MS + LAG_SHARE * latency_ms
    numbers = {
        "lag_p99_ms": facts.lag_p99_ms,
        "lag_max_ms": facts.lag_max_ms,
        "latency_ms": latency_ms,
        "latency_percentile": percent,
        "mean_ms": float(good["latency_ns"].mean()) / 1e6,
        "limit_ms": limit_ms,
    }
    text = (
        f"tick {facts.lag_p99_ms:.2f} ms late (p99), {limit_ms:.2f} ms allowed beside a latency "
        f"of {latency_ms:.2f} ms (p{percent:.4g})"
    )
    return Answer(facts.lag_p99_ms <= limit_ms, text, numbers)


def late_by(finding: Finding) -> float | None:
    """Return how far off a trial's level may be that ``SB202-generator-lag`` doubts.

    As a share of the mean latency, at most 1: no answer in a hundred waited longer than the 99th
    percentile of lateness, and none longer than the most. None where that is not known.
    """
    numbers = finding.numbers
    if finding.passed is not False or not numbers.get("mean_ms"):
        return None
    late_ms = 0.99 * numbers["lag_p99_ms"] + 0.01 * numbers["lag_max_ms"]
    share = late_ms / numbers["mean_ms"]
    return share if share <= 1 else None


@rule(
    "SB203-own-time",
    title="Closed-loop users spent their time waiting for the server",
    verdict="generator-bound",
    meaning="Share of a user's time between the end of a request and the start of its next in the "
    "same pass, where no think time was asked for: the generator's own work. A closed loop's "
    "throughput is too low by this share, though its response times are right. Above 5 % ratios "
    "between treatments are blurred by more than most noise floors (noisy); above 20 % the "
    "throughput is the generator's as much as the server's. Gaps that hold pauses of plain Locust "
    "users, by their own `wait_time`, only bound the share from above: where even they are within "
    "5 %, the rule passes; else their longest pauses are taken off, and where that leaves 5 % or "
    "less, the rule does not apply.",
    remedy="The lean user class; compare service times instead of throughput.",
)
def own_time(bundle: Bundle) -> Answer:
    """Judge the users' gaps between requests of one pass."""
    undisturbed(bundle)
    arrivals = bundle.record.trial.load.arrivals
    if not isinstance(arrivals, ClosedLoop):
        raise DoesNotApply(f"arrivals are {arrivals.kind}")
    refuse_coming_users(bundle.record.trial)
    if arrivals.think_s > 0:
        raise DoesNotApply(f"users think for {arrivals.think_s:g} s between requests")
    rows = measured_requests(bundle)
    # Users that share a pass wait for each other at its end; that is the scenario, not its cost.
    keys = ("user", "iteration") if shares_passes(rows) else ("user",)
    start, service, *who = (rows[name] for name in ("start_ns", "service_ns", *keys))
    if not is_ascending(start):
        order = np.argsort(start, kind="stable")
        start, service, *who = (values[order] for values in (start, service, *who))
    stretches = Groups(*who)
    number = start.size - stretches.counts.size
    if number == 0:
        raise DoesNotApply("no user made two requests in a row")
    first, last = stretches.first(), stretches.last()
    service_ns = float(service.sum() - service[first].sum())
    # From the first answer to the last one a stretch is gaps and service times, nothing else.
    whole_ns = start[last] + service[last] - start[first] - service[first]
    gap_ns = float(whole_ns.sum()) - service_ns
    share = gap_ns / (gap_ns + service_ns)
    # The record says how users pause, not how long each pause was, nor that it lay between passes.
    pauses = generator.pauses if (generator := bundle.record.generator) is not None else ""
    if pauses and share > OWN_TIME_DOUBT:
        gap_ns = max(0.0, gap_ns - number * _longest_pause_s(pauses) * 1e9)
        share = gap_ns / (gap_ns + service_ns)
        if share <= OWN_TIME_DOUBT:
            raise DoesNotApply(f"users pause by their own wait_time, {pauses}: gaps hold pauses")
        pauses = ""  # what is left is the generator's, however long they paused
    numbers = {"own_share": share, "own_us_per_request": gap_ns / number / 1e3}
    text = f"{share:.1%} of the users' time, {numbers['own_us_per_request']:.0f} µs a request"
    text += f", pauses of {pauses} included" if pauses else ""
    verdict: Verdict = "generator-bound" if share > OWN_TIME_BOUND else "noisy"
    return Answer(share <= OWN_TIME_DOUBT, text, numbers, verdict)


def _longest_pause_s(pauses: str) -> float:
    """Return the longest that users may have paused in one gap; infinite where nobody can tell."""
    rest = _PAUSE.sub("", pauses)
    longest = [max(map(float, found.split(","))) for found in _PAUSE.findall(pauses)]
    return math.inf if rest.strip(", ") else sum(longest)


@rule(
    "SB204-ceiling",
    title="The generator stayed well below its ceiling",
    verdict="generator-bound",
    meaning="Requests per second of the measured phase and worker, over the ceiling of the same "
    "client on this machine against a server that does nothing, as calibrated: for a closed loop "
    "what one worker completes in a closed loop, for open arrivals and paced users the highest "
    "rate of random arrivals at which the 99th percentile from the intended start is at most 1 ms. "
    "Such a load on a machine where only the closed loop was calibrated is judged by that, which "
    "is higher, and the finding says so. The page on the instrument shows how far recorded "
    "latencies are from a known truth by the share of the open ceiling. Above 70 % the trial is "
    "noisy, above 90 % the generator is what was measured.",
    remedy="More workers on more CPUs, the lean user class, a lower rate. Without a ceiling: run "
    "the calibration chapter on this machine.",
)
def ceiling(bundle: Bundle) -> Answer:
    """Judge the rate of the busiest worker against the calibrated ceiling of its client."""
    facts, mark = generator_facts(bundle), measured_mark(bundle)
    known = bundle.record.execution.facts
    per_s = known.get("ceiling_per_s")
    if not isinstance(per_s, int | float) or per_s <= 0:
        raise DoesNotApply(f"no ceiling of {facts.client or 'this client'} was calibrated here")
    rate = float(tally(measured_requests(bundle)["worker"]).max()) / (
        (mark.end_ns - mark.begin_ns) / 1e9
    )
    share = rate / per_s
    numbers = {"rate_per_s": rate, "ceiling_per_s": float(per_s), "share": share}
    kind = known.get("ceiling_kind", "closed")
    text = f"{rate:,.0f}/s a worker, {share:.1%} of the {kind} ceiling of {per_s:,.0f}/s"
    if kind == "closed" and not isinstance(bundle.record.trial.load.arrivals, ClosedLoop):
        text += "; that of open loads, which is lower, was not known"
    verdict: Verdict = "generator-bound" if share > CEILING_BOUND else "noisy"
    return Answer(share <= CEILING_DOUBT, text, numbers, verdict)
