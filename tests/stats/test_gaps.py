"""How complete readings are, on made-up counters."""

import polars as pl
import pytest

from sizebook.model.bundle import COUNTER_COLUMNS
from sizebook.stats.gaps import GAP_COLUMNS, sampling_gaps, source_interval_s
from sizebook.store.readings import Readings

S = 1_000_000_000


def counters(*sources):
    """Return counters of (source, metric, {second: value})."""
    rows = [
        (round(time * S), "local", source, metric, value)
        for source, metric, readings in sources
        for time, value in readings.items()
    ]
    schema = {name: getattr(pl, kind) for name, kind in COUNTER_COLUMNS.items()}
    return pl.DataFrame(rows, schema=schema, orient="row").sort("time_ns")


def gaps(frame, begin, end, interval_s=1.0):
    found = sampling_gaps(Readings.of(frame), round(begin * S), round(end * S), interval_s)
    assert dict(found.schema) == GAP_COLUMNS
    return {row[0]: row[1:] for row in found.iter_rows()}


EVERY = dict.fromkeys(range(21), 1.0)


def test_a_complete_source():
    """One reading an interval: nothing missed, the longest gap is the interval."""
    assert gaps(counters(("host", "a", EVERY)), 4.5, 14.5) == {"host": (10, 10, 0, 0, 1.0)}


def test_a_reading_that_slips_across_an_edge_is_not_missed():
    """It comes a moment after the window, or every one a little late; a gap inside is missed."""
    at_the_end = {t + 0.0003: 1.0 for t in range(1, 5)}
    assert gaps(counters(("generator", "a", at_the_end)), 0, 4)["generator"][:3] == (4, 3, 0)
    slipped = dict.fromkeys((-0.1, 1.1, 2.4, 3.1, 4.3, 5.0), 1.0)
    assert gaps(counters(("host", "a", slipped)), 0, 4)["host"][:3] == (4, 3, 0)
    skipped = dict.fromkeys((-0.1, 1.1, 3.1, 4.3, 5.0), 1.0)
    assert gaps(counters(("host", "a", skipped)), 0, 4)["host"][:3] == (4, 2, 1)


def test_readings_that_all_come_too_seldom_are_missed():
    """Each step looks like one interval, together they are too few."""
    slow = dict.fromkeys((1.45 * n for n in range(-1, 20)), 1.0)
    due, read, missed, *_ = gaps(counters(("host", "a", slow)), 0, 20)["host"]
    assert (due, missed) == (20, 20 - read - 1)
    assert missed > 4


def test_failed_and_absent_readings():
    """Nulls are failures, what is absent was missed; both make the gap longer."""
    holes = {t: (None if t in (8, 9) else 1.0) for t in EVERY if t != 10}
    assert gaps(counters(("jvm/app-1", "a", holes)), 4.5, 14.5) == {"jvm/app-1": (10, 7, 3, 2, 4.0)}


def test_the_most_often_read_metric_speaks_for_a_source():
    """Details that are read every ten seconds, and a metric the source lacks, are no gaps."""
    frame = counters(
        ("process/app-1", "cpu_user_s", EVERY),
        ("process/app-1", "handles", {0: 1.0, 10: 2.0, 20: 1.0}),
        ("process/app-1", "lacking", dict.fromkeys(EVERY)),
    )
    assert gaps(frame, 4.5, 14.5) == {"process/app-1": (10, 10, 0, 0, 1.0)}


def test_fast_sampling_leaves_slow_sources_alone():
    """At 10 Hz a node is still due once a second, the host ten times."""
    tenth = {t / 10: 1.0 for t in range(201)}
    frame = counters(("server/app-1", "a", EVERY), ("host", "a", tenth))
    found = gaps(frame, 4.95, 14.95, interval_s=0.1)
    assert found["server/app-1"] == (10, 10, 0, 0, 1.0)
    assert found["host"][:4] == (100, 100, 0, 0)
    assert (source_interval_s("database", 0.1), source_interval_s("jvm/x", 0.1)) == (1.0, 0.1)


def test_many_nodes_are_due_less_often_each():
    """Nine nodes are asked every three seconds each, two once a second, whatever is asked for."""
    nodes = [(f"server/app-{n}", "a", {t + n / 9: 1.0 for t in range(0, 31, 3)}) for n in range(9)]
    found = gaps(counters(*nodes, ("server/app-1", "b", {})), 0, 30)
    assert {due for due, *_ in found.values()} == {10}
    assert {missed for _, _, missed, *_ in found.values()} == {0}
    assert source_interval_s("server/app-1", 0.1, 2) == 1.0
    assert source_interval_s("server/app-1", 5.0, 9) == 5.0
    assert source_interval_s("jvm/app-1", 0.5, 9) == 0.5


def test_no_reading_inside_or_at_all():
    """A gap around the window counts whole; a source that never answered has a row of its own."""
    frame = counters(
        ("host", "a", {0: 1.0, 20: 1.0}),
        ("process/x-1", "a", {7: 1.0}),
        ("jvm/x-1", "a", {6: None}),
        ("probes", "failed_reads/postgres:database", {0: 1.0, 10: 9.0, 20: 20.0}),
        ("probes", "failed_reads/host:local", {0: 0.0, 20: 0.0}),
    )
    assert gaps(frame, 5, 15) == {
        "database": (10, 0, 10, 19, 10.0),
        "host": (10, 0, 10, 0, 20.0),
        "jvm/x-1": (10, 0, 10, 1, 10.0),
        "process/x-1": (10, 1, 8, 0, 8.0),
    }


def test_degenerate_windows():
    """No counters, no sources; an empty window or no interval is a mistake of the caller."""
    assert gaps(counters(), 0, 1) == {}
    frame = counters(("host", "a", EVERY))
    assert gaps(frame, 4.6, 4.8)["host"] == (0, 0, 0, 0, 1.0)
    for begin, end, interval_s in ((5, 5, 1.0), (5, 6, 0.0)):
        with pytest.raises(ValueError, match="window"):
            gaps(frame, begin, end, interval_s)
