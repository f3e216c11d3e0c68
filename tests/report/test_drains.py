"""Drains from the client's rows, and what the counters say of messages (synthetic)."""

from types import SimpleNamespace

import polars as pl
import pytest
from read_counters import read_counters

from sizebook.report import drains
from sizebook.report.phase_counters import Window
from sizebook.store.columns import RequestColumns

S = 1_000_000_000


def bundle(rows=(), counters=(), settings=None):
    """Rows of (iteration, name, start_s, service_s, status, phase); counters as in a bundle."""
    requests = pl.DataFrame(
        [
            {
                "iteration": iteration,
                "name": name,
                "start_ns": int(start * S),
                "service_ns": int(service * S),
                "status": status,
                "error": "",
                "phase": phase,
            }
            for iteration, name, start, service, status, phase in rows
        ],
        schema={"iteration": pl.UInt32, "name": pl.String, "start_ns": pl.Int64,
                "service_ns": pl.Int64, "status": pl.UInt16, "error": pl.String,
                "phase": pl.String},
    )  # fmt: skip
    marks = {"measured": SimpleNamespace(name="measured", begin_ns=10 * S, end_ns=20 * S)}
    load = SimpleNamespace(settings=settings or {})
    record = SimpleNamespace(
        trial=SimpleNamespace(load=load), execution=SimpleNamespace(phase=marks.get)
    )
    return SimpleNamespace(
        digest={}, columns=RequestColumns.of(requests), record=record, **read_counters(counters)
    )


def drain(iteration, begin, end, phase, *, stopped=True):
    """A look before, two starts of which one went to another node, looks, a stop."""
    rows = [
        (iteration, "state", begin - 0.2, 0.1, 200, phase),
        (iteration, "start", begin - 0.1, 0.05, 421, phase),
        (iteration, "start", begin, 0.1, 200, phase),
        (iteration, "state", begin + 0.2, 0.1, 200, phase),
        (iteration, "state", end - 0.1, 0.1, 200, phase),
        (iteration, "state", end, 0.3, 421, phase),
    ]
    return [*rows, (iteration, "stop", end + 0.1, 0.1, 200, phase)] if stopped else rows


FILL = [(0, "fill", 10.0, 0.5, 200, "measured")]


def test_a_drain_lasts_from_the_first_start_to_the_last_look():
    """Begun before the phase or cut off it does not count; ended after the phase it does."""
    rows = [
        *drain(7, 8.0, 9.5, "warm-up"),
        *FILL,
        *drain(1, 11.0, 13.0, "measured"),
        *drain(3, 15.0, 18.0, "measured")[:-1],
        (3, "stop", 21.0, 0.1, 200, "drain"),
        *drain(5, 19.0, 19.5, "measured", stopped=False),
    ]
    found = bundle(rows, settings={"messages": 1000})
    table = drains.drains(found)
    assert table["iteration"].to_list() == [1, 3]
    assert table["drain_s"].to_list() == pytest.approx([2.0, 3.0])
    assert drains.drain_s(found) == pytest.approx(2.5)
    assert drains.drained_per_s(found) == pytest.approx(400.0)


@pytest.mark.parametrize("rows", [[], FILL])
def test_without_a_drain_there_is_no_time(rows):
    found = bundle(rows, settings={"messages": 1000})
    assert drains.drains(found).height == 0
    assert drains.drain_s(found) is None
    assert drains.drained_per_s(found) is None
    assert drains.drained_per_s(bundle(drain(1, 11.0, 13.0, "measured"))) is None


def readings(source, metric, *values):
    """One reading a second from 10.5 s on."""
    return [
        (int((10.5 + at) * S), "local", source, metric, value) for at, value in enumerate(values)
    ]


STORED = [
    *readings("server/app-1", "messages_total/stored", 100.0, 150.0),
    *readings("server/app-2", "messages_total/stored", 0.0, 50.0),
    *readings("server/app-1", "messages_total/sent", 0.0, 5000.0),
]


def test_what_a_message_took_counts_stored_messages_of_all_nodes():
    counters = [
        *STORED,
        *readings("server/app-1", "journal_syncs_total/messages", 10.0, 160.0),
        *readings("server/app-2", "journal_syncs_total/messages", 0.0, 50.0),
        *readings("process/app-1", "cpu_user_s", 1.0, 1.2),
        *readings("process/app-2", "cpu_system_s", 1.0, 1.1),
        *readings("process/app-2", "threads", 9.0, 99.0),
    ]
    found = bundle(counters=counters)
    assert drains.messages_stored(found) == 100.0
    assert drains.per_message("server/", "journal_syncs_total")(found) == pytest.approx(2.0)
    assert drains.per_message(drains.APP, "messages_total", label="sent")(found) == 50.0
    assert drains.cpu_ms_per_message("app")(found) == pytest.approx(3.0)
    assert drains.cpu_ms_per_message("broker")(found) is None


def test_without_stored_messages_nothing_is_counted_by_them():
    idle = readings("server/app-1", "messages_total/stored", 5.0, 5.0)
    assert drains.cpu_ms_per_message("app")(bundle()) is None
    assert drains.messages_stored(bundle()) is None
    assert drains.per_message("server/", "messages_total")(bundle(counters=idle)) is None


def test_the_most_busy_consumers_of_a_node_are_the_largest_reading():
    counters = [
        *readings("server/app-1", "message_consumers/busy", 0.0, 3.0, 2.0),
        *readings("server/app-2", "message_consumers/busy", 1.0, None, 4.0),
        *readings("server/app-2", "message_consumers/all", 9.0),
    ]
    assert drains.most_busy(bundle(counters=counters)) == 4.0
    assert drains.most_busy(bundle()) is None


def test_gauges_of_several_nodes_are_added_turn_by_turn():
    """Before the phase nothing counts; a turn without a reading of each node is left out."""
    counters = [
        (9 * S, "local", "server/app-1", "queue_depth/work", 77.0),
        *readings("server/app-1", "queue_depth/work", 500.0, 300.0, 100.0),
        *readings("server/app-2", "queue_depth/work", 50.0, None, 10.0),
        *readings("server/app-2", "queue_depth/dead", 1.0),
    ]
    trial = SimpleNamespace(bundle=bundle(counters=counters), treatment={"nodes": 2}, replicate=4)
    frame = drains.over_time([trial], drains.APP, "queue_depth/work", scale=2.0)
    assert frame.columns == ["nodes", "replicate", "t_s", "value"]
    assert frame["value"].to_list() == [1100.0, 220.0]
    assert frame["t_s"].to_list() == pytest.approx([0.5, 2.5])
    assert drains.over_time([], drains.APP, "queue_depth/work").height == 0
    nothing = SimpleNamespace(bundle=bundle(), treatment={"nodes": 2}, replicate=4)
    assert drains.over_time([nothing], drains.APP, "queue_depth/work").height == 0


def uses(*counters):
    found = bundle(counters=[one for group in counters for one in group])
    mark = found.record.execution.phase("measured")
    return list(drains.CONSUMERS.measure(Window(found, mark)))


def test_consumers_are_a_limit_while_messages_wait_for_them():
    """Readings without consumers do not count: the queue is being filled then."""
    every = readings("server/app-1", "message_consumers/all", 0.0, 4.0, 4.0)
    waiting = readings("server/app-1", "queue_depth/work", 900.0, 500.0, 100.0)
    (full,) = uses(every, waiting)
    assert (full.share, full.readings) == (1.0, 2)
    assert drains.CONSUMERS.at_limit(full)
    assert drains.CONSUMERS.show(full).startswith("messages waited for the 4 consumers in 100")
    (use,) = uses(every, readings("server/app-1", "queue_depth/work", 900.0, 500.0, 0.0))
    assert use.share == 0.5
    assert not drains.CONSUMERS.at_limit(use)


def test_each_node_has_its_queue_or_all_have_that_of_the_broker():
    both = [
        *readings("server/app-1", "message_consumers/all", 4.0, 4.0),
        *readings("server/app-2", "message_consumers/all", 4.0, 4.0),
    ]
    empty = readings("server/app-2", "queue_depth/work", 0.0, 0.0)
    (own,) = uses(both, readings("server/app-1", "queue_depth/work", 9.0, 5.0), empty)
    assert (own.share, own.numbers["all"]) == (0.5, 8.0)
    (common,) = uses(both, readings("server/broker-1", "queue_depth/work", 9.0, 5.0))
    assert (common.share, common.readings) == (1.0, 4)


def test_without_readings_of_consumers_nothing_is_told():
    for counters in ([], readings("server/app-1", "message_consumers/all", 0.0, 3.0)):
        (use,) = uses(counters)
        assert (use.share, use.reason) == (None, "no reading while the queue was drained")
