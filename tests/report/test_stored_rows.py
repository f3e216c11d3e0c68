"""Rows that a load left: their rate and their delay by the database's time stamps (made up)."""

import polars as pl
import pytest
from synthetic_bundles import BEGIN, END, MEASURED, S, closed_rows, rows_from

from sizebook.model.bundle import COUNTER_COLUMNS
from sizebook.report import stored_rows

AFTER = END + S


def readings(*rows):
    """Return readings of the rows of a table: (time, metric, value)."""
    kinds = {name: getattr(pl, kind) for name, kind in COUNTER_COLUMNS.items()}
    table = [(time, "local", "rows", f"{metric}/event", value) for time, metric, value in rows]
    return pl.DataFrame(table, schema=kinds, orient="row")


def of(count, *, first=None, last=None, mean=None, before=7):
    """Return the readings of a trial that stored ``count`` rows, beside ``before`` older ones."""
    times = {"rows_first_s": first, "rows_last_s": last, "rows_mean_s": mean}
    return readings(
        (BEGIN - S, "rows_stored", before),
        *((BEGIN - S, metric, None) for metric in times),
        (AFTER, "rows_stored", before + count),
        *((AFTER, metric, value) for metric, value in times.items()),
    )


def test_the_rate_is_rows_over_the_time_between_the_first_and_the_last(make_bundle):
    """Counted in the database alone; rows that were there before do not count."""
    bundle = make_bundle(readings=of(500, first=1_800_000_000.5, last=1_800_000_010.5))
    assert stored_rows.rows_stored("event")(bundle) == 500
    assert stored_rows.rows_per_s("event")(bundle) == pytest.approx(50.0)


@pytest.mark.parametrize(
    "found",
    [of(0), of(1, first=5.0, last=5.0), of(2), readings((AFTER, "rows_stored", 2.0))],
)
def test_without_two_rows_there_is_no_rate(make_bundle, found):
    """Nor where the database was not asked before and after."""
    assert stored_rows.rows_per_s("event")(make_bundle(readings=found)) is None


def test_a_trial_without_requests_stored_nothing_that_is_known(make_bundle):
    """There is no window whose readings could be compared."""
    bundle = make_bundle(rows=closed_rows().head(0), readings=of(3))
    assert stored_rows.rows_stored("event")(bundle) is None


def test_the_delay_of_a_row_counts_from_the_mean_start_of_its_requests(make_bundle):
    """Rows stored 30 ms after their requests were sent, on average; the answers took 10 ms.

    The synthetic wall clock is 0 at the trial's begin.
    """
    rows = closed_rows(users=2, service_ns=10_000_000)
    mean_s = float((rows["start_ns"] - BEGIN).mean()) / 1e9 + 0.030
    bundle = make_bundle(rows=rows, readings=of(rows.height, first=0.0, last=12.0, mean=mean_s))
    assert stored_rows.stored_after_ms("event", "detail")(bundle) == pytest.approx(30.0)
    assert stored_rows.answered_after_ms("detail")(bundle) == pytest.approx(10.0)
    assert stored_rows.answered_after_ms("other")(bundle) is None


def test_the_delay_is_not_told_unless_each_request_has_one_row(make_bundle):
    """A mean over other rows than those of the requests would be about something else."""
    rows = rows_from(*(pl.Series([MEASURED, MEASURED + S]).to_numpy(),) * 2,
                     pl.Series([S, S]).to_numpy(), pl.Series([0, 1]).to_numpy())  # fmt: skip
    for count in (1, 3):
        bundle = make_bundle(rows=rows, readings=of(count, first=0.0, last=1.0, mean=0.5))
        assert stored_rows.stored_after_ms("event", "detail")(bundle) is None
