"""Readings by series give what a search of the whole table gives."""

import numpy as np
import polars as pl

from sizebook.model.bundle import COUNTER_COLUMNS
from sizebook.store.readings import Readings, Rise, TimeSeries

SCHEMA = {name: getattr(pl, kind) for name, kind in COUNTER_COLUMNS.items()}
S = 1_000_000_000
FALLS = (5.0, 9.0, 1.0, 3.0, 6.0)


def made_up(seed):
    """Return readings of six series in any order, some without an answer."""
    random = np.random.default_rng(seed)
    names = [
        ("local", "server/app-1", "answers_total/200"),
        ("local", "server/app-1", "answers_total/404"),
        ("local", "server/app-2", "answers_total/200"),
        ("guest-1", "server/app-2", "answers_total/200"),
        ("local", "server/app-1", "answers"),
        ("local", "host", "core_busy_s/0"),
    ]
    rows = [
        (int(at), *names[which], None if random.random() < 0.2 else float(at))
        for at, which in zip(random.permutation(600), random.integers(0, 6, 600), strict=True)
    ]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def test_series_hold_the_rows_of_the_table():
    """Each series has its own rows in the order of time; together they are all."""
    for seed in range(5):
        frame = made_up(seed)
        series = list(Readings.of(frame))
        assert sum(one.asked_ns.size for one in series) == frame.height
        assert [(one.host, one.source, one.metric) for one in series] == sorted(
            set(frame.select("host", "source", "metric").cast(pl.String).iter_rows())
        )
        for one in series:
            own = frame.filter(
                (pl.col("host").cast(pl.String) == one.host)
                & (pl.col("source").cast(pl.String) == one.source)
                & (pl.col("metric").cast(pl.String) == one.metric)
            ).sort("time_ns")
            assert one.asked_ns.tolist() == own["time_ns"].to_list()
            answered = own.drop_nulls("value")
            assert one.times_ns.tolist() == answered["time_ns"].to_list()
            assert one.values.tolist() == answered["value"].to_list()


def test_find_goes_by_the_begin_of_the_source_and_the_whole_metric():
    """A metric's name is no beginning of another one; without a label all of its labels match."""
    readings = Readings.of(made_up(1))

    def found(*question):
        return [(one.host, one.source, one.metric) for one in readings.find(*question)]

    assert found("server/app-1", "answers") == [("local", "server/app-1", "answers")]
    assert found("server/app-2", "answers_total/200") == [
        ("guest-1", "server/app-2", "answers_total/200"),
        ("local", "server/app-2", "answers_total/200"),
    ]
    assert len(found("server/", "answers_total")) == 4
    assert found("server/", "core_busy_s") == []


def test_a_series_that_never_answered_is_not_found():
    """It is there to be counted as asked."""
    rows = [(1, "local", "host", "a", None), (2, "local", "host", "a", None)]
    readings = Readings.of(pl.DataFrame(rows, schema=SCHEMA, orient="row"))
    assert [one.asked_ns.tolist() for one in readings] == [[1, 2]]
    assert readings.find("host", "a") == []
    assert list(Readings.of(pl.DataFrame(schema=SCHEMA))) == []


def test_the_answers_around_a_window():
    """The last one at its begin or before, the first one at its end or after; else none."""
    rows = [(at, "local", "host", "a", float(at)) for at in (10, 20, 30, 40)]
    (one,) = Readings.of(pl.DataFrame(rows, schema=SCHEMA, orient="row"))
    assert one.around(20, 30) == (1, 2)
    assert one.around(21, 29) == (1, 2)
    assert one.around(9, 30) is None
    assert one.around(20, 41) is None


def test_a_counter_that_fell_began_anew_at_nothing():
    """What it says then has risen since; several are added up, and none is not 0."""
    rows = [
        *((at, "local", "app-1", "done/a", value) for at, value in enumerate((5.0, 9.0, 1.0, 3.0))),
        (1, "local", "app-2", "done/b", 7.0),
        (2, "other", "app-2", "done/b", 8.0),
        (3, "other", "app-2", "done/b", 10.0),
    ]
    readings = Readings.of(pl.DataFrame(rows, schema=SCHEMA, orient="row"))
    fell = readings.find("app-1", "done/a")[0]
    assert (fell.rise(), fell.label) == (7.0, "a")
    assert readings.rise("app-", "done") == 9.0
    assert readings.rise("app-", "done", "done/b") == 11.0
    assert readings.rise("app-", "done", "other") is None
    assert readings.last("app-", "done") == 3.0 + 7.0 + 10.0
    assert readings.last("host", "done") is None


def test_a_rise_says_whether_it_is_whole():
    """A counter that began anew between the two answers rose by no less; before them it may."""
    rows = [(at * S, "local", "app-1", "done", value) for at, value in enumerate(FALLS)]
    readings = Readings.of(pl.DataFrame(rows, schema=SCHEMA, orient="row"))
    one = readings.get("local", "app-1", "done")
    assert one.rise_around(2 * S + 1, 4 * S - 1) == Rise(5.0, 2.0, 3, is_whole=True)
    assert one.rise_around(1, 4 * S) == Rise(4.0 + 1.0 + 5.0, 4.0, 5, is_whole=False)
    assert one.rise_around(-1, S) is None
    assert one.rise_near(S // 3, S + S // 3) == Rise(4.0, 1.0, 2, is_whole=True)
    assert one.rise_near(S, S + 1) is None, "one answer is none"
    assert one.rise_near(2 * S, 9 * S).per_s == 2.5
    assert one.rise((S, 2 * S)) == 1.0
    assert one.rise((5 * S, 6 * S)) == 0.0
    assert readings.get("other", "app-1", "done") is None


def test_levels_before_and_after_a_window_are_added_up():
    """A gauge that may fall says what it was, and one whose answers do not span it is unknown."""
    rows = [
        *((at, "local", "app-1", "used", 50.0 - at) for at in (10, 20, 30)),
        *((at, "local", "app-2", "used", 1.0) for at in (10, 20)),
    ]
    readings = Readings.of(pl.DataFrame(rows, schema=SCHEMA, orient="row"))
    assert readings.around("app-", "used", 11, 19) == (41.0, 31.0)
    assert readings.around("app-1", "used", 10, 30) == (40.0, 20.0)
    assert readings.around("app-", "used", 11, 29) is None
    assert readings.around("app-3", "used", 11, 29) is None


def test_levels_are_of_a_window_and_added_up():
    """Both ends belong to it; a gauge that said nothing in it leaves the sum unknown."""
    rows = [
        *((at, "local", "app-1", "busy", float(at)) for at in (10, 20, 30, 40)),
        *((at, "local", "app-2", "busy", 100.0) for at in (10, 20)),
    ]
    readings = Readings.of(pl.DataFrame(rows, schema=SCHEMA, orient="row"))
    assert readings.level("app-1", "busy", 20, 30, "mean") == 25.0
    assert readings.level("app-", "busy", 10, 20, "max") == 120.0
    assert readings.level("app-", "busy", 11, 40, "min") == 120.0
    assert readings.level("app-", "busy", 30, 40, "mean") is None
    assert readings.level("app-3", "busy", 30, 40, "mean") is None


def test_a_window_whose_end_was_asked_in_vain_has_no_rise():
    """Earlier and later answers are not taken instead; where nobody asked then, they are."""
    asked = np.array([0, 10, 20, 30], dtype=np.int64)
    silent = TimeSeries(
        "local", "process/app-1", "cpu_user_s", asked, np.array([1.0, np.nan, 3.0, 4.0])
    )
    assert silent.around(10, 20) is None
    assert silent.around(0, 10) is None
    assert silent.around(5, 15) == (0, 1)
    assert silent.around(0, 30) == (0, 2)
    assert Readings([silent]).rise("process/app-1", "cpu_user_s", span=(10, 20)) is None
    assert Readings([silent]).rise("process/app-1", "cpu_user_s", span=(0, 20)) == 2.0
