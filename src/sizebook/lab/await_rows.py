"""Rows that are stored later than they are acknowledged: waited for, never taken on trust."""

from __future__ import annotations

import time
from collections.abc import Iterable

import psycopg
from psycopg.sql import SQL, Identifier

from sizebook.checks.accounting import acknowledged
from sizebook.load.collect import Collected
from sizebook.model.errors import TrialError
from sizebook.model.trial import TrialSpec
from sizebook.stack import RunningStack
from sizebook.store.columns import RequestColumns

Rows = dict[str, int]
"""Table to the number of its rows."""
_LOOK_EVERY_S = 0.1


def count_rows(stack: RunningStack, tables: Iterable[str]) -> Rows:
    """Return how many rows each table has; asks nothing where no table is named.

    Raises TrialError where the deployment has no database, or the database no such table.
    """
    names = sorted(tables)
    if not names:
        return {}
    try:
        if stack.cluster is None:
            raise psycopg.OperationalError("the deployment has no database")
        with psycopg.connect(stack.cluster.admin_dsn, autocommit=True) as connection:
            return {name: _count(connection, name) for name in names}
    except psycopg.Error as error:
        raise TrialError(
            found=f"no rows of {', '.join(names)} to count: {str(error).strip()}",
            expected="a deployment whose database has these tables",
            next_step="correct the deployment or 'stores' in the notebook",
        ) from error


def await_stored(
    stack: RunningStack, spec: TrialSpec, before: Rows, collected: Collected
) -> dict[str, float]:
    """Wait until as many rows have come as were acknowledged; return facts.

    Gives up when no row has come for the trial's ``stored_within_s``. ``stored_wait_s`` is how
    long after the load the last row came, within a tenth of a second; whether all came is for the
    checks to say (SB105).
    """
    if not before:
        return {}
    requests = RequestColumns.of(collected.requests)
    wanted = {
        table: before[table] + acknowledged(requests, filled)
        for table, filled in spec.stored().items()
    }
    begin = changed = time.monotonic()
    rows = before
    while time.monotonic() - changed < spec.stored_within_s:
        now = count_rows(stack, before)
        if now != rows:
            changed, rows = time.monotonic(), now
        if all(rows[table] >= wanted[table] for table in wanted):
            break
        time.sleep(_LOOK_EVERY_S)
    return {"stored_wait_s": round(changed - begin, 3)}


def _count(connection: psycopg.Connection[tuple[int]], table: str) -> int:
    query = SQL("select count(*) from {}").format(Identifier(table))
    row = connection.execute(query).fetchone()
    return row[0] if row else 0
