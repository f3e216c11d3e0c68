"""What the counters of a node tell of its first calls (synthetic readings)."""

import pytest
from read_counters import bundle_with

from sizebook.chapters.bindings.first_run import (
    COLUMNS,
    MIB,
    at_call,
    first_call_ms,
    first_calls,
    time_of_calls,
)


def bundle_of(*readings):
    """Return a bundle with readings of (second, calls, seconds, heap used in MB)."""
    rows = []
    for second, calls, seconds, used in readings:
        told = {"heap_committed_bytes": 300 * MIB, "heap_used_bytes": used * MIB}
        if calls is not None:
            told |= {"binding_calls_total/direct": calls, "binding_call_s/direct": seconds}
            told |= {"binding_calls_total/soap": 99, "binding_call_s/soap": 99.0}
        rows += [(second, "server/app-1", name, float(value)) for name, value in told.items()]
        rows.append((second, "server/backend-1", "heap_used_bytes", 1.0))
    return bundle_with(rows)


START = bundle_of(
    (0, None, None, 50), (2, 10, 0.03, 56), (1, 10, 0.03, 55), (3, 200, 0.04, 60),
    (4, 400, 0.05, 20),
)  # fmt: skip


def test_one_row_a_count_with_the_mean_so_far():
    """The first reading at a count tells its heap; before the first call there is no row."""
    assert first_calls(START, "direct").rows() == [
        (10, pytest.approx(3.0), 300.0, 245.0),
        (200, pytest.approx(0.2), 300.0, 240.0),
        (400, pytest.approx(0.125), 300.0, 280.0),
    ]


def test_a_way_that_was_not_called_has_no_rows():
    """The columns are there all the same."""
    assert first_calls(START, "jms").schema == COLUMNS
    assert first_calls(START, "jms").is_empty()


def test_the_time_of_a_run_is_the_difference_of_two_means():
    """Zero calls took no time; a count that no reading found gives nothing."""
    first = first_calls(START, "direct")
    assert time_of_calls(first, 0, 200) == pytest.approx(0.2)
    assert time_of_calls(first, 200, 400) == pytest.approx(0.05)
    assert time_of_calls(first, 0, 150) is None
    assert time_of_calls(first, 200, 200) is None
    assert time_of_calls(first_calls(START, "jms"), 0, 200) is None


def test_a_column_at_a_count():
    """None where no reading fell on the count."""
    first = first_calls(START, "direct")
    assert at_call(first, 200, "heap_free_mb") == 240.0
    assert at_call(first, 150, "heap_free_mb") is None


def test_the_very_first_call_is_kept_by_the_node():
    """Every reading of the trial has it; a way that was never called has none."""
    readings = [(n, "server/app-1", "binding_first_s/jms", 0.25) for n in range(3)]
    kept = bundle_with(readings)
    assert first_call_ms("jms")(kept) == 250.0
    assert first_call_ms("rpc")(kept) is None
