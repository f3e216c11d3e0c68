"""How counters rose over a whole trial: from its first reading to its last, label by label.

The first and the last reading are made exactly before the first and after the last request. One
that began anew meanwhile counts by the rule of ``store.readings``: what it says then has risen.

Of a trial that takes turns only its measured phase counts, which begins and ends with a reading:
what rose between its turns is others', or nobody's.
"""

from __future__ import annotations

import polars as pl

from sizebook.lab.trials import Measure
from sizebook.store import Bundle
from sizebook.store.derived import derived
from sizebook.store.readings import Span

COLUMNS: dict[str, type[pl.DataType]] = {
    "source": pl.String,
    "label": pl.String,
    "rise": pl.Float64,
}


def rises(bundle: Bundle, metric: str, source: str = "") -> pl.DataFrame:
    """Return one row a source and label with the rise of a counter: ``COLUMNS``, sorted.

    ``metric`` is the counter's name, of all its labels if it names none; ``source`` the beginning
    of the sources that are wanted, such as ``server/app-``. A label that came up within the trial
    rose from the first reading that has it. Without rows where one was not read at the first or
    last edge of the turns: nobody knows how much of its rise was this trial's.
    """
    span = _turns(bundle)
    series = bundle.readings.find(source, metric)
    if span is not None and any(one.around(*span) is None for one in series):
        series = []
    found = [(one.source, one.label, one.rise(span)) for one in series]
    rows = pl.DataFrame(found, schema=COLUMNS, orient="row")
    return rows.group_by("source", "label").agg(pl.col("rise").sum()).sort("source", "label")


def risen(source: str, *metrics: str) -> Measure:
    """Return a measure: how much counters rose over the whole trial; None where one is not there.

    ``source`` is the beginning of the sources that are added up, ``metrics`` are the counters'
    names, of all their labels where one names none.
    """

    return lambda bundle: bundle.readings.rise(source, *metrics, span=_turns(bundle))


def _turns(bundle: Bundle) -> Span | None:
    """Return the measured phase of a trial that took turns; None: all of the trial counts."""
    if not bundle.record.execution.turns:
        return None
    mark = bundle.record.execution.phase("measured")
    return (mark.begin_ns, mark.end_ns) if mark is not None else None


def _requests(bundle: Bundle) -> int:
    """Return the requests in which the counters rose."""
    return bundle.columns.height if _turns(bundle) is None else _measured_requests(bundle)


@derived("counter_increase.measured_requests")
def _measured_requests(bundle: Bundle) -> int:
    return bundle.columns.only("phase", "measured").height


def rise_per_request(source: str, *metrics: str, scale: float = 1.0) -> Measure:
    """Return a measure: how much counters rose over the whole trial, by request.

    Source and metrics as in ``risen``; ``scale`` turns the unit into the one that is wanted.
    """
    of_all = risen(source, *metrics)

    def measure(bundle: Bundle) -> float | None:
        requests, rise = _requests(bundle), of_all(bundle)
        return scale * rise / requests if rise is not None and requests else None

    return measure


def greatest(source: str, metric: str) -> Measure:
    """Return a measure: the greatest reading of a gauge in the whole trial, None without any.

    ``source`` is the beginning of the sources that count, ``metric`` the gauge's name with its
    label, or without one for all of them. For gauges that remember: those that come and go may be
    greater between two readings.
    """

    def measure(bundle: Bundle) -> float | None:
        found = [float(one.values.max()) for one in bundle.readings.find(source, metric)]
        return max(found, default=None)

    return measure


def per_rise(
    source: str, metric: str, of_source: str, of_metric: str, scale: float = 1.0
) -> Measure:
    """Return a measure: the rise of one counter by that of another, such as seconds a call.

    All labels of all sources that begin as said are added up on both sides. None where one is not
    there or the second did not rise. ``scale`` turns the unit into the one that is wanted.
    """

    over, under = risen(source, metric), risen(of_source, of_metric)

    def measure(bundle: Bundle) -> float | None:
        rise, count = over(bundle), under(bundle)
        return scale * rise / count if rise is not None and count else None

    return measure
