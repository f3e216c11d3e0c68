"""What a kill did to a load: account, silence, counters that began anew, chart (made up)."""

import numpy as np
import polars as pl
import pytest
from synthetic_bundles import BEGIN, END, MEASURED, S, closed_rows, rows_from

from sizebook.lab.trials import Trial
from sizebook.model.bundle import COUNTER_COLUMNS, REQUEST_COLUMNS, StackEvent
from sizebook.report import chart, outages
from sizebook.store import Bundle

KILL, READY = MEASURED + 3 * S, MEASURED + 5 * S


def requests(*rows):
    """Return requests: (start in seconds of the measured phase, name, error, iteration)."""
    start = MEASURED + (np.array([row[0] for row in rows]) * S).astype(np.int64)
    frame = rows_from(start, start, np.full(start.size, S // 10), np.zeros(start.size, dtype=int))
    frame = frame.with_columns(
        name=pl.Series([row[1] for row in rows]),
        error=pl.Series([row[2] for row in rows]),
        iteration=pl.Series([row[3] for row in rows]),
    )
    return frame.cast({name: getattr(pl, kind) for name, kind in REQUEST_COLUMNS.items()})


def killed(bundle, treatment=None, begin_ns=KILL, end_ns=READY):
    """Return the bundle as if a node had been killed and started again."""
    event = StackEvent(action="restart", node="app-1", begin_ns=begin_ns, end_ns=end_ns)
    record = bundle.record
    execution = record.execution.model_copy(update={"events": (event,)})
    trial = record.trial.model_copy(update={"treatment": treatment or {}})
    changed = record.model_copy(update={"execution": execution, "trial": trial})
    return Bundle(bundle.path, changed)


RETRIED = (
    (0.0, "event", "", 1),
    (2.8, "event", "", 2),
    (3.0, "retry", "reset", 3),
    (4.0, "retry", "connect", 3),
    (5.5, "event", "", 3),
    (5.7, "event", "", 4),
)


def readings(**series):
    """Return readings a second apart from the begin on, by source and metric."""
    kinds = {name: getattr(pl, kind) for name, kind in COUNTER_COLUMNS.items()}
    rows = [
        (BEGIN + at * S, "local", name, "queue_added_total/events", value)
        for name, values in series.items()
        for at, value in enumerate(values)
    ]
    return pl.DataFrame(rows, schema=kinds, orient="row")


def test_an_event_counts_once_however_often_it_was_tried(make_bundle):
    """Four events, two attempts that failed, four that were accepted."""
    bundle = make_bundle(rows=requests(*RETRIED))
    assert outages.things_sent("event", "retry")(bundle) == 4
    assert outages.requests_made("retry", good=False)(bundle) == 2
    assert outages.requests_made("event", good=True)(bundle) == 4
    assert outages.requests_made("event", good=False)(bundle) == 0
    assert outages.things_sent("nothing")(bundle) == 0


def test_the_silence_lasts_from_the_last_answer_before_the_kill(make_bundle):
    """The last answer came 0.1 s after 2.8 s, the next one 0.1 s after 5.5 s."""
    bundle = killed(make_bundle(rows=requests(*RETRIED)))
    assert outages.silence_s("event")(bundle) == pytest.approx(2.7)
    assert outages.away_s(bundle) == pytest.approx(2.0)


def test_without_a_kill_or_an_answer_after_it_there_is_no_silence(make_bundle):
    """A service that did not come back was silent for a time that nobody saw the end of."""
    bundle = make_bundle(rows=requests(*RETRIED))
    assert outages.silence_s("event")(bundle) is None
    assert outages.away_s(bundle) is None
    assert outages.silence_s("other")(killed(bundle)) is None
    assert outages.silence_s("event")(killed(bundle, begin_ns=END, end_ns=END + S)) is None


def test_answers_are_counted_by_windows_around_the_kill(make_bundle):
    """Windows without an answer are there with 0; a trial without a kill is left out."""
    bundle = make_bundle(rows=requests(*RETRIED))
    frame = outages.answers_around(
        [Trial(killed(bundle, {"killed": "node"})), Trial(bundle)], "event", 0.5
    )
    assert frame["killed"].unique().to_list() == ["node"]
    assert frame["t_s"].to_list() == pytest.approx(np.arange(-3.0, 3.0, 0.5))
    assert frame["answers"].to_list() == [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 2]
    assert frame["ready_s"].unique().to_list() == [2.0]


@pytest.mark.parametrize("whole", [True, False])
def test_the_chart_has_a_panel_a_level_and_both_marks(make_bundle, whole):
    """It is drawn, too, where no trial had a kill."""
    bundle = make_bundle(rows=closed_rows())
    trials = [Trial(killed(bundle, {"killed": name})) for name in ("node", "broker")]
    frame = outages.answers_around(trials if whole else [], "detail")
    titles = {"node": "the node", "broker": "the broker"}
    drawn = outages.outage_chart(frame, factor="killed", titles=titles, y_title="events")
    spec, fluid = chart.prepare_chart(drawn)
    assert not fluid
    text = chart.render_svg(spec)
    for word in ("the node", "the broker", "killed", "seconds after the kill"):
        assert word in text
    assert ("ready again" in text) or not whole


def test_a_failed_trial_has_no_answers(make_bundle):
    """One that ended before its requests were collected is passed over, not an error."""
    whole = make_bundle(rows=requests(*RETRIED))
    cut = make_bundle(outcome="failed", with_requests=False)
    trials = [Trial(killed(bundle, {"killed": "node"})) for bundle in (cut, whole)]
    found = outages.answers_around(trials, "event")
    assert found.height and found.equals(outages.answers_around(trials[1:], "event"))
    assert outages.answers_around(trials[:1], "event").is_empty()
