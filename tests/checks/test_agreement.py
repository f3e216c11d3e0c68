"""Rules and measures over arrays give what plain filters of the whole frame give."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
import synthetic_bundles as made

from sizebook.checks import RULES
from sizebook.model.load import OpenArrivals
from sizebook.report import measures

BY_ID = {rule.id: rule for rule in RULES}
GOOD = pl.col("error") == ""
STOP = pl.col("start_ns") + pl.col("service_ns")


def closed(seed: int, users: int = 5) -> pl.DataFrame:
    """Return users of a closed loop with log-normal answers and short pauses."""
    random = np.random.default_rng(seed)
    services = random.lognormal(16, 0.5, (users, 2000)).astype(np.int64)
    pauses = random.integers(0, 50_000, (users, 2000))
    starts = made.BEGIN + np.cumsum(services + pauses, axis=1) - services
    kept = starts < made.END
    user = np.broadcast_to(np.arange(users)[:, None], kept.shape)[kept]
    return made.rows_from(starts[kept], starts[kept], services[kept], user)


def opened(seed: int) -> pl.DataFrame:
    """Return arrivals of which a third start late."""
    random = np.random.default_rng(seed)
    due = np.sort(random.integers(made.BEGIN, made.END, 3000))
    late = random.integers(0, 3_000_000, due.size) * (random.random(due.size) < 0.3)
    service = random.lognormal(15, 0.7, due.size).astype(np.int64)
    return made.rows_from(due, due + late, service, random.integers(0, 90, due.size))


def dressed(rows: pl.DataFrame, failing: float, *, shared: bool = False) -> pl.DataFrame:
    """Return the rows with names, errors, workers, sizes and passes of the scenario."""
    random, n = np.random.default_rng(9), rows.height
    shares = [1 - failing, failing / 2, failing / 4, failing / 4]
    error = random.choice(["", "body", "connect", "timeout"], n, p=shares)
    own = rows["user"].to_numpy().astype(np.int64) * 100 + np.arange(n) // 200
    columns = {
        "name": random.choice(["list", "detail"], n),
        "error": error,
        "status": np.where(error == "connect", 0, 200),
        "worker": random.integers(0, 3, n),
        "iteration": np.arange(n) // 17 if shared else own,
        "received_bytes": random.integers(0, 99_999, n),
    }
    kinds = {name: getattr(pl, kind) for name, kind in made.REQUEST_COLUMNS.items()}
    return rows.with_columns(**{name: pl.Series(values) for name, values in columns.items()}).cast(
        kinds
    )


CASES: dict[str, dict[str, Any]] = {
    "closed": {"rows": dressed(closed(1), 0.0)},
    "failures": {"rows": dressed(closed(2), 0.1)},
    "shared passes": {"rows": dressed(closed(3), 0.1, shared=True)},
    "unsorted": {"rows": dressed(closed(4), 0.1).sample(fraction=1.0, shuffle=True, seed=1)},
    "one user": {"rows": dressed(closed(5, users=1), 0.0)},
    "open": {
        "rows": dressed(opened(6), 0.05),
        "arrivals": OpenArrivals(kind="constant", rate_per_s=250.0),
    },
    "all failed": {"rows": dressed(closed(7), 1.0)},
}


@pytest.fixture(params=CASES, name="bundle")
def _bundle(request: Any, make_bundle: Any) -> Any:
    return make_bundle(**CASES[request.param], execution_facts={"ceiling_per_s": 1000.0})


def frame_of(bundle: Any) -> pl.DataFrame:
    return bundle.requests.cast(dict.fromkeys(("name", "error", "phase"), pl.String))


def test_counts_and_times(bundle: Any) -> None:
    """Failures, Little's law, users seen, answers, workers, and lag against the tail."""
    rows = frame_of(bundle)
    measured = rows.filter(pl.col("phase") == "measured")
    accounting = BY_ID["SB101-accounting"](bundle).numbers
    assert accounting["rows_failed"] == rows.filter(~GOOD).height
    assert BY_ID["SB102-clock"](bundle).passed
    cut = pl.min_horizontal(STOP, made.END) - pl.max_horizontal("start_ns", made.MEASURED)
    inside = rows.select(cut.clip(0)).to_series().sum()
    little = BY_ID["SB103-little"](bundle).numbers
    assert little["in_flight"] == pytest.approx(inside / (made.END - made.MEASURED))
    if "users_seen" in little:
        seen = rows.filter((pl.col("start_ns") < made.END) & (made.MEASURED < STOP))
        assert little["users_seen"] == seen["user"].n_unique()
    answered = BY_ID["SB104-server-count"](bundle).numbers["answered"]
    assert answered == rows.filter(pl.col("status") > 0).height
    rate = BY_ID["SB204-ceiling"](bundle).numbers["rate_per_s"]
    assert rate == measured["worker"].value_counts()["count"].max() / 10
    errors = BY_ID["SB301-errors"](bundle)
    assert errors.numbers["share"] == measured.filter(~GOOD).height / measured.height
    if failed := measured.filter(~GOOD)["error"].to_list():
        assert repr(max(set(failed), key=failed.count)) in errors.message
    good = measured.filter(GOOD)["latency_ns"]
    if good.len():
        lag = BY_ID["SB202-generator-lag"](bundle).numbers
        tail = good.quantile(lag["latency_percentile"] / 100, "linear")
        assert lag["latency_ms"] == pytest.approx(tail / 1e6)


def test_own_time(bundle: Any) -> None:
    """The gaps between requests of a user, or of a user in a pass where passes are shared."""
    finding = BY_ID["SB203-own-time"](bundle)
    if finding.passed is None:
        pytest.skip("arrivals are open")
    rows = frame_of(bundle).filter(pl.col("phase") == "measured").sort("start_ns")
    shared = rows.group_by("iteration").agg(pl.col("user").n_unique())["user"].max() > 1
    keys = ["user", "iteration"] if shared else ["user"]
    gap = (pl.col("start_ns") - STOP.shift(1).over(keys)).alias("gap_ns")
    gaps = rows.select(gap, "service_ns").drop_nulls()
    share = gaps["gap_ns"].sum() / (gaps["gap_ns"].sum() + gaps["service_ns"].sum())
    assert finding.numbers["own_share"] == pytest.approx(share)
    assert finding.numbers["own_us_per_request"] == pytest.approx(gaps["gap_ns"].mean() / 1e3)


def test_measures(bundle: Any) -> None:
    """Throughput, failures, quantiles, means, and the passes that count."""
    begin_ns = measures.steady_of(bundle).crop_ns
    rows = frame_of(bundle)
    counted = rows.filter((pl.col("phase") == "measured") & (pl.col("intended_ns") >= begin_ns))
    good = counted.filter(GOOD)
    per_s = good.height / ((made.END - begin_ns) / 1e9)
    assert measures.throughput_per_s(bundle) == pytest.approx(per_s)
    assert measures.failed_share(bundle) == pytest.approx(100 * (1 - good.height / counted.height))
    for name in (None, "list", "detail", "none"):
        of_name = good if name is None else good.filter(pl.col("name") == name)
        for column in ("latency_ns", "service_ns"):
            for q in (0.5, 0.99, 1.0):
                found = measures.latency_ms(q, name, column)(bundle)
                values = of_name[column].to_numpy()
                truth = np.quantile(values, q, method="higher") / 1e6 if values.size else None
                assert found == truth
    mean = good.filter(pl.col("name") == "list")["received_bytes"].mean()
    assert measures.mean_bytes("received_bytes", "list")(bundle) == pytest.approx(mean)
    passes = (
        rows.sort("intended_ns", maintain_order=True)
        .group_by("iteration")
        .agg(
            total_s=(STOP.max() - pl.col("start_ns").min()) / 1e9,
            requests=pl.len(),
            received_bytes=pl.col("received_bytes").cast(pl.Int64).sum(),
            failed=(~GOOD).sum(),
            phase=pl.col("phase").first(),
            begin_ns=pl.col("intended_ns").min(),
        )
        .sort("iteration")
        .filter(pl.col("requests") == pl.col("requests").max())
        .filter((pl.col("phase") == "measured") & (pl.col("begin_ns") >= begin_ns))
    )
    found = measures.runs(bundle)
    assert found.columns == ["iteration", "total_s", "requests", "received_bytes", "failed"]
    for name in found.columns:
        assert found[name].to_list() == pytest.approx(passes[name].to_list())


def test_backlog_of_open_arrivals(make_bundle: Any) -> None:
    """Requests due before a phase's edge and not answered before it."""
    rows = CASES["open"]["rows"]
    found = BY_ID["SB302-offered"](make_bundle(**CASES["open"])).numbers
    end = pl.col("intended_ns") + pl.col("latency_ns")
    for edge, at_ns in (("before", made.MEASURED), ("after", made.END)):
        under_way = rows.filter((pl.col("intended_ns") < at_ns) & (end >= at_ns)).height
        assert found[f"waiting_{edge}"] == under_way
