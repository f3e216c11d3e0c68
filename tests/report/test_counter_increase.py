"""Rises of counters by label, and one by another (synthetic readings)."""

from types import SimpleNamespace

import polars as pl
import pytest
from read_counters import bundle_with

from sizebook.report.counter_increase import (
    COLUMNS,
    greatest,
    per_rise,
    rise_per_request,
    risen,
    rises,
)
from sizebook.store.columns import RequestColumns


def bundle_of(*readings):
    """Return what the measures look at: readings of (time, source, metric, value)."""
    return bundle_with(readings)


CALLS = bundle_of(
    (30, "server/app-1", "binding_calls_total/soap", 50.0),
    (10, "server/app-1", "binding_calls_total/soap", 10.0),
    (20, "server/app-1", "binding_calls_total/soap", None),
    (20, "server/app-1", "binding_calls_total/rpc", 7.0),
    (10, "server/app-1", "binding_call_s/soap", 1.0),
    (30, "server/app-1", "binding_call_s/soap", 1.2),
    (10, "server/backend-1", "requests_total", 5.0),
    (30, "server/backend-1", "requests_total", 45.0),
)


def test_each_label_rises_from_its_first_to_its_last_reading():
    """Order of rows and missing values do not matter; what was read once did not rise."""
    found = rises(CALLS, "binding_calls_total")
    assert found.rows() == [("server/app-1", "rpc", 0.0), ("server/app-1", "soap", 40.0)]
    assert rises(CALLS, "requests_total", "server/").rows() == [("server/backend-1", "", 40.0)]


def test_nothing_read_is_no_row():
    """Also without any reading the columns are there."""
    assert rises(CALLS, "requests_total", "server/app-").schema == COLUMNS
    assert rises(bundle_of(), "requests_total").is_empty()


def test_seconds_a_call_in_milliseconds():
    """Both sides add up all their labels; scale turns seconds into milliseconds."""
    time_ms = per_rise("server/app-", "binding_call_s", "server/app-", "binding_calls_total", 1e3)
    assert time_ms(CALLS) == pytest.approx(1e3 * 0.2 / 40)


def test_without_a_rise_there_is_no_ratio():
    """Neither a counter that is missing nor one that stood still gives a number."""
    assert per_rise("", "binding_call_s", "", "nothing")(CALLS) is None
    assert per_rise("", "nothing", "", "binding_calls_total")(CALLS) is None
    assert per_rise("", "binding_call_s", "", "requests_total")(
        bundle_of((1, "a", "binding_call_s/x", 1.0), (1, "a", "requests_total", 1.0))
    ) is None  # fmt: skip


def test_a_counter_that_began_anew_goes_on_counting():
    """5 to 9, then from 0 to 1 and 3: 7 in all, of one label or of all; none is not 0."""
    name = "queue_added_total/events"
    bundle = bundle_of(
        *((time, "server/a", name, value) for time, value in enumerate((5.0, 9.0, 1.0, 3.0))),
        (1, "server/b", name, 2.0),
        (0, "server/b", "queue_added_total/work", 1.0),
        (9, "server/b", "queue_added_total/work", 11.0),
    )
    assert rises(bundle, name).rows() == [("server/a", "events", 7.0), ("server/b", "events", 0.0)]
    assert risen("server/", name)(bundle) == 7
    assert risen("server/", "queue_added_total")(bundle) == 17
    assert risen("server/", "queue_added_total", name)(bundle) == 24
    assert risen("server/", "queue_added_total", "other")(bundle) is None


def test_the_greatest_reading_is_of_the_label_and_source_that_are_named():
    """Missing ones and other pools do not count; without a label all pools do."""
    name = "binding_pool_largest/bindings-queue"
    bundle = bundle_of(
        (1, "server/app-1", name, 3.0),
        (2, "server/app-1", name, 17.0),
        (3, "server/app-1", name, None),
        (4, "server/app-1", name, 5.0),
        (5, "server/app-1", "binding_pool_largest/bindings-jms", 40.0),
        (6, "server/backend-1", name, 50.0),
    )
    assert greatest("server/app-", name)(bundle) == 17
    assert greatest("server/app-", "binding_pool_largest")(bundle) == 40
    assert greatest("server/app-", "binding_pool")(bundle) is None


def test_of_a_trial_that_took_turns_the_turns_alone_count():
    """What rose before, between and after them is others', or nobody's."""
    read = {5: 0.0, 10: 100.0, 20: 104.0, 30: 110.0, 50: 500.0}
    rows = [(at, "server/app-1", "binding_calls_total/soap", told) for at, told in read.items()]
    bundle = bundle_with(rows)
    mark = SimpleNamespace(begin_ns=10, end_ns=30)
    bundle.record.execution = SimpleNamespace(turns=("one", "two"), phase=lambda _: mark)
    bundle.digest = {}
    phases = pl.Series(["between"] * 7 + ["measured"] * 5, dtype=pl.Categorical)
    bundle.columns = RequestColumns.of(pl.DataFrame({"phase": phases}))
    assert risen("server/app-", "binding_calls_total")(bundle) == 10
    assert rises(bundle, "binding_calls_total").rows() == [("server/app-1", "soap", 10.0)]
    assert rise_per_request("server/app-", "binding_calls_total")(bundle) == 2
    silent = bundle_with(rows[:3])
    silent.record.execution = bundle.record.execution
    assert risen("server/app-", "binding_calls_total")(silent) is None
    assert rises(silent, "binding_calls_total").is_empty(), "nobody knows; it is not 0"
