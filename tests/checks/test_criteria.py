"""Whether a trial keeps a response criterion: every reason for which it does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import synthetic_bundles as made

from sizebook.checks.criteria import meet
from sizebook.model.criterion import Criterion
from sizebook.model.load import OpenArrivals

OPEN = OpenArrivals(kind="constant", rate_per_s=100.0)
DUE = np.arange(made.BEGIN, made.END, made.S // 100, dtype=np.int64)


@pytest.mark.parametrize("statistic", ["mean", "p50", "p90", "p95", "p99"])
def test_the_limit_divides_kept_from_not_kept(make_bundle: Any, statistic: Any) -> None:
    """Every request takes 10 ms, so every statistic does."""
    bundle = make_bundle()
    kept = meet(bundle, Criterion(statistic=statistic, limit_ms=10.0))
    assert (kept.kept, kept.value_ms, kept.reason) == (True, 10.0, "")
    missed = meet(bundle, Criterion(statistic=statistic, limit_ms=9.9))
    assert not missed.kept
    assert "10.0 ms" in missed.reason


def test_dropped_arrivals_count_as_failed(make_bundle: Any) -> None:
    rows = made.open_rows(DUE, np.full(DUE.size, 1_000_000))
    facts = {"dropped": 5, "issued": rows.height + 5}
    bundle = make_bundle(rows=rows, arrivals=OPEN, facts=facts)
    assert "dropped" in meet(bundle, Criterion(statistic="mean", limit_ms=10)).reason


def test_a_growing_backlog_is_not_kept_although_the_median_is_low(make_bundle: Any) -> None:
    late = np.maximum(0, DUE - made.MEASURED) // 5
    bundle = make_bundle(rows=made.open_rows(DUE, 1_000_000 + late), arrivals=OPEN)
    found = meet(bundle, Criterion(statistic="p50", limit_ms=5000))
    assert not found.kept
    assert "grew" in found.reason


def test_what_cannot_be_told_is_not_kept(make_bundle: Any) -> None:
    lax = Criterion(statistic="p99", limit_ms=1e6)
    assert "failed" in meet(make_bundle(outcome="failed"), lax).reason
    few = made.closed_rows(users=1, service_ns=made.S)
    assert "too few" in meet(make_bundle(rows=few), lax).reason
    assert "no good request" in meet(make_bundle(rows=few.clear()), lax).reason
