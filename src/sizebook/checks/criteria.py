"""Whether a trial keeps a response criterion."""

from __future__ import annotations

from dataclasses import dataclass

from sizebook.checks.facts import ordered
from sizebook.checks.load import offered
from sizebook.model.criterion import Criterion
from sizebook.stats.quantiles import is_supported
from sizebook.store import Bundle
from sizebook.store.columns import RequestColumns
from sizebook.store.derived import derived


@dataclass(frozen=True)
class Meeting:
    """What a trial says of a criterion."""

    kept: bool
    value_ms: float | None
    """The criterion's statistic of the good requests; None where there are too few for it."""
    reason: str
    """Why the criterion is not kept; empty when it is."""


@derived("checks.criteria.meet", kind=Meeting)
def meet(bundle: Bundle, criterion: Criterion) -> Meeting:
    """Return whether the measured phase of a trial keeps the criterion.

    Not kept: a trial that failed or gave no good request, a statistic above the limit or not
    supported by the number of requests, too many failures, and (open arrivals) arrivals that were
    dropped or piled up, because a backlog that still grows makes any percentile a matter of when
    the measuring ended.
    """
    if bundle.record.outcome != "completed":
        return Meeting(False, None, f"the trial failed: {bundle.record.failure}")
    rows = bundle.columns.only("phase", "measured")
    good = rows.only("error", "")
    value_ms, reason = _value(good, criterion)
    if value_ms is None:
        return Meeting(False, None, reason)
    facts = bundle.record.generator
    dropped = facts.dropped if facts is not None else 0
    share = (rows.height - good.height + dropped) / (rows.height + dropped)
    load = offered(bundle)
    if share > criterion.failed_share:
        reason = f"{share:.2%} failed or were dropped"
    elif value_ms > criterion.limit_ms:
        reason = f"{criterion.statistic} is {value_ms:.1f} ms"
    elif load.passed is False:
        reason = load.message
    return Meeting(not reason, value_ms, reason)


def _value(good: RequestColumns, criterion: Criterion) -> tuple[float | None, str]:
    """Return the statistic of the latency in ms, or None and why it cannot be told."""
    if good.height == 0:
        return None, "no good request in the measured phase"
    if criterion.statistic == "mean":
        return float(good["latency_ns"].mean()) / 1e6, ""
    percent = float(criterion.statistic[1:])
    if not is_supported(percent, good.height):
        return None, f"{good.height} requests are too few for a p{percent:g}"
    return ordered(good, "latency_ns").higher(percent / 100) / 1e6, ""
