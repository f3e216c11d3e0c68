"""What trials say to a capacity model: CPUs, users, throughput, response, CPU time, heap.

Trials of any chapter will do whose app nodes are loaded by users or by requests at random; each
says by itself, in its specification, what it ran on and what it was asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import polars as pl

from sizebook.gclog.advice import least_ratio
from sizebook.lab.trials import Measure, Trial
from sizebook.model.load import ClosedLoop, OpenArrivals
from sizebook.model.trial import TrialSpec
from sizebook.report import measures
from sizebook.report.gc_logs import gc_summary
from sizebook.report.phase_counters import open_window
from sizebook.stats.capacity import Contest, Observed
from sizebook.stats.curves import Fit
from sizebook.stats.holdout import HeldOut
from sizebook.stats.intervals import two_sided_t
from sizebook.stats.queues import Demand, demand
from sizebook.stats.sizing import Heap
from sizebook.store import Bundle

APP = "app"
_CPU = ("cpu_user_s", "cpu_system_s")


def cores_of(spec: TrialSpec) -> float:
    """Return how many CPUs' worth of time the app's host may use in a trial.

    A limit that a resize sets counts, then the host's own, then the number of CPUs of the role.
    Raises ValueError for a trial without app nodes, or with nodes on hosts of different limits.
    """
    role = spec.deployment.find(APP)
    if role is None:
        raise ValueError(f"{spec.experiment} has no app nodes")
    for one in reversed(spec.planned()):
        if one.limits is not None and one.limits.cpu_limit is not None:
            return one.limits.cpu_limit
    host = spec.deployment.host(role.host)
    if host is not None and host.cpu_limit is not None:
        return host.cpu_limit
    return float(len(role.cpus))


def nodes_of(spec: TrialSpec) -> int:
    """Return the number of app nodes."""
    role = next((one for one in spec.deployment.jvm_roles() if one.role == APP), None)
    return 0 if role is None else role.nodes


def observe(trials: Iterable[Trial], *, doubtful: bool = False) -> tuple[Observed, list[Trial]]:
    """Return what trials show, and which of them do: valid ones, with users or random requests.

    ``doubtful`` takes those in as well that are not valid, but never a failed one: where a profile
    proves that everything works, and not how fast. What is left out together is a treatment.
    """
    kept = [one for one in trials if one.verdict == "valid" or (doubtful and one.completed)]
    rows = []
    levels = []
    used = []
    for one in kept:
        spec = one.bundle.record.trial
        arrivals = spec.load.arrivals
        seen = (
            measures.throughput_per_s(one.bundle),
            measures.mean_latency_ms(one.bundle),
            measures.latency_ms(0.95)(one.bundle),
        )
        if None in seen or min(value or 0.0 for value in seen) <= 0:
            continue
        if isinstance(arrivals, ClosedLoop) and arrivals.think_s > 0 and not arrivals.varies:
            asked = (float(arrivals.users), arrivals.think_s, np.nan)
        elif isinstance(arrivals, OpenArrivals):
            asked = (np.nan, np.nan, arrivals.rate_per_s)
        else:
            continue
        rows.append((cores_of(spec), float(nodes_of(spec)), *asked, *seen))
        levels.append((spec.experiment, *sorted(spec.treatment.items())))
        used.append(one)
    table = np.array(rows, dtype=np.float64).reshape(-1, 8).T
    cores, nodes, users, think_s, offered, rate, mean_ms, p95_ms = table
    observed = Observed(
        cores, nodes, users, think_s, offered, rate, mean_ms / 1e3, p95_ms / 1e3, tuple(levels)
    )
    return observed, used


def busy_cpus(role: str) -> Measure:
    """Return a measure: CPUs' worth of time that a role's processes took while measured.

    None where a reading is missing.
    """

    def measure(bundle: Bundle) -> float | None:
        if (window := open_window(bundle)) is None:
            return None
        grown = [window.total_growth(f"process/{role}-", metric) for metric in _CPU]
        told = [one.per_s for one in grown if one is not None]
        return sum(told) if len(told) == len(_CPU) else None

    return measure


def demands(frame: pl.DataFrame, roles: Sequence[str]) -> dict[str, Demand]:
    """Return by role what a request takes of CPUs, from columns ``rate_per_s`` and ``busy_<role>``.

    A role that no trial tells of, or throughput that does not vary, gives nothing.
    """
    found = {}
    for role in roles:
        known = frame.drop_nulls(["rate_per_s", f"busy_{role}"])
        one = demand(known["rate_per_s"].to_numpy(), known[f"busy_{role}"].to_numpy())
        if one is not None:
            found[role] = one
    return found


def heap_facts(trials: Sequence[Trial], *, overhead: float, level: float = 0.95) -> Heap | None:
    """Return what the collector took in trials with one node; None where they do not tell.

    Pauses a request by regression of the share of time in pauses on throughput, as CPU demand. The
    live set is the median of what was left after the collections of each trial: an upper bound
    where these were young ones.
    """
    rates, shares, live, room, ratios = [], [], [], [], []
    for one in trials:
        found = gc_summary(one.bundle, f"{APP}-1")
        rate = measures.throughput_per_s(one.bundle)
        if nodes_of(one.bundle.record.trial) != 1 or found is None or rate is None:
            continue
        if not found.window_s or found.pause_ns is None:
            continue
        rates.append(rate)
        shares.append((found.pause_ns - found.explicit_pause_ns) / 1e9 / found.window_s)
        if found.live_bytes and found.heap_bytes and found.heap_bytes > found.live_bytes:
            live.append(found.live_bytes)
            room.append(found.heap_bytes - found.live_bytes)
            ratios.append(least_ratio(found.facts.collector))
    if not live or len(rates) < 3:
        return None
    x, y = np.array(rates), np.array(shares)
    # Without throughput there is no garbage: the line goes through the origin.
    slope = float((x @ y) / (x @ x))
    deviation = float(np.sqrt(((y - slope * x) ** 2).sum() / (x.size - 1)))
    half = two_sided_t(level, x.size - 1) * deviation / float(np.sqrt(x @ x))
    return Heap(
        live_bytes=float(np.median(live)),
        room_bytes=float(np.median(room)),
        pause_s=slope,
        pause_low_s=max(0.0, slope - half),
        pause_high_s=slope + half,
        overhead=overhead,
        least_ratio=max(ratios),
    )


def contest_frame(contest: Contest, level: float) -> pl.DataFrame:
    """Return one row a form: parameters, median hold-out errors, band and coverage of the mean."""
    rows = []
    for name, one in contest.fitted.items():
        held = one.held_out
        rows.append(
            {
                "form": name,
                "parameters": len(one.fit.curve.parameters),
                "mean_error": _percent(held["mean"].median_error),
                "p95_error": _percent(held["p95"].median_error),
                "rate_error": _percent(held["rate"].median_error),
                "band": held["mean"].band(level),
                "coverage": _percent(held["mean"].coverage(level)),
                "chosen": "chosen" if name == contest.chosen else "",
            }
        )
    schema = {"form": pl.String, "parameters": pl.Int64}
    schema |= dict.fromkeys(
        ("mean_error", "p95_error", "rate_error", "band", "coverage"), pl.Float64
    )
    return pl.DataFrame(rows, schema={**schema, "chosen": pl.String})


def parameters_frame(fit: Fit) -> pl.DataFrame:
    """Return one row a parameter of a fitted curve: ``value``, ``low``, ``high``."""
    rows = [(name, one.value, one.low, one.high) for name, one in fit.estimates.items()]
    schema = {"parameter": pl.String, "value": pl.Float64, "low": pl.Float64, "high": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def demands_frame(found: Mapping[str, Demand]) -> pl.DataFrame:
    """Return one row a role: CPU time a request and idle CPUs, each with interval; trials."""
    rows = []
    for role, one in found.items():
        ends = (one.per_request.value, one.per_request.low, one.per_request.high)
        in_ms = (None if end is None else 1e3 * end for end in ends)
        rows.append((role, *in_ms, one.idle.value, one.points))
    schema = {"role": pl.String, "ms": pl.Float64, "low": pl.Float64, "high": pl.Float64}
    return pl.DataFrame(
        rows, schema={**schema, "idle": pl.Float64, "trials": pl.Int64}, orient="row"
    )


def held_out_frame(held: HeldOut, observed: Observed) -> pl.DataFrame:
    """Return one row a trial: ``cores``, ``rate``, what was ``measured``, what was ``predicted``.

    Mean responses in ms, of levels that the prediction had not seen.
    """
    return pl.DataFrame(
        {
            "cores": [f"{one:g} CPU" for one in observed.cores],
            "rate": observed.rate_per_s,
            "measured": 1e3 * held.observed,
            "predicted": 1e3 * held.predicted,
        }
    )


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share
