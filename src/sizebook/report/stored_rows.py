"""Rows that a load left in the database: how fast they came by their own time stamps, how late.

The probe of the rows reads a table before and after a trial: how many rows it has, and the first,
last and mean time at which the rows of this trial were stored. Nothing here trusts the client.
"""

from __future__ import annotations

import numpy as np

from sizebook.checks.accounting import ROWS, UNSURE, beside
from sizebook.checks.facts import change_of
from sizebook.checks.rules import DoesNotApply
from sizebook.lab.trials import Measure
from sizebook.store import Bundle
from sizebook.store.derived import derived

SOURCE = "rows"


def rows_stored(table: str) -> Measure:
    """Return a measure: rows that the trial added to a table, counted there."""

    @derived("stored_rows.rows_stored", table)
    def measure(bundle: Bundle) -> float | None:
        start = bundle.columns["start_ns"]
        if not start.size:
            return None
        end_ns = int((start + bundle.columns["service_ns"]).max())
        if beside(bundle, f"{UNSURE}/{table}"):
            return None  # some of them may be of a trial that took turns on the same stack
        try:
            change = change_of(bundle, SOURCE, f"rows_stored/{table}", int(start.min()), end_ns)
        except DoesNotApply:
            return None
        return change.rise - beside(bundle, f"{ROWS}/{table}")

    return measure


def rows_per_s(table: str) -> Measure:
    """Return a measure: rows of the trial over the seconds from the first to the last of them.

    All of its phases count, as in mii-2009, scenario 3: "the total number of records divided by
    the number of seconds between the first and last timestamps of all of the records". None
    without two rows.
    """
    count = rows_stored(table)

    def measure(bundle: Bundle) -> float | None:
        first, last = (
            bundle.readings.last(SOURCE, f"rows_{which}_s/{table}") for which in ("first", "last")
        )
        rows = count(bundle)
        if rows is None or first is None or last is None or last <= first:
            return None
        return rows / (last - first)

    return measure


def stored_after_ms(table: str, name: str) -> Measure:
    """Return a measure: mean time from sending an acknowledged request to its row, in ms.

    It is the mean time of the rows less the mean start of the requests, exact where each
    acknowledged request left one row; None where it did not. Generator and database must have
    one clock, so they must be on one machine; the database's is the wall clock, which is told
    beside the monotonic one at the trial's begin.
    """
    count = rows_stored(table)

    @derived("stored_rows.stored_after_ms", table, name)
    def measure(bundle: Bundle) -> float | None:
        good = bundle.columns.only("name", name).only("error", "")
        mean_s = bundle.readings.last(SOURCE, f"rows_mean_s/{table}")
        execution = bundle.record.execution
        if mean_s is None or not good.height or count(bundle) != good.height:
            return None
        start = good["start_ns"]
        since_ns = float(np.mean(start - execution.monotonic_ns))
        # Both are some 1.8e9 s since 1970: the difference of the large parts is taken first.
        return (mean_s - execution.wall_ns / 1e9) * 1e3 - since_ns / 1e6

    return measure


def answered_after_ms(name: str) -> Measure:
    """Return a measure: mean time from sending a request to its good answer, all phases, in ms."""

    @derived("stored_rows.answered_after_ms", name)
    def measure(bundle: Bundle) -> float | None:
        good = bundle.columns.only("name", name).only("error", "")
        return float(np.mean(good["service_ns"])) / 1e6 if good.height else None

    return measure
