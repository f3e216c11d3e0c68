"""Rows in tables of the stack, counted and timed in the database itself."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import psycopg
from psycopg.sql import SQL, Composable, Composed, Identifier, Literal

from sizebook.probes.base import CounterSample, QuietProbe, Unavailable

_SELDOM_S = 3600.0
"""Counting reads a whole table: done before and after a trial, not while its load runs."""
TIMES = ("rows_first_s", "rows_last_s", "rows_mean_s")
"""Of the rows that are new since the first reading after ``attach``, so those of one trial."""

Number = Decimal | int | None


class RowsProbe(QuietProbe):
    """How many rows each table has, and when those of this trial were stored.

    The tables have a column ``stored_at``. Read in the snapshots before and after a trial: the
    first one notes the newest row that is there already, what is newer later is the trial's own.
    Until there is such a row its times are missing.
    """

    host = "local"
    interval_s = _SELDOM_S
    asks = "database"

    def __init__(self, source: str, conninfo: str, tables: Sequence[str]) -> None:
        self.name = f"rows:{source}"
        self._source = source
        self._conninfo = conninfo
        self._tables = tuple(tables)
        self._newest: dict[str, Number] = {}

    def attach(self) -> None:
        """Forget the rows of the trial before."""
        self._newest.clear()

    def sample(self) -> list[CounterSample]:
        samples = []
        try:
            with psycopg.connect(self._conninfo, autocommit=True) as connection:
                for table in self._tables:
                    count, newest, *times = self._read(connection, table)
                    self._newest.setdefault(table, newest)
                    named = zip(("rows_stored", *TIMES), (count, *times), strict=True)
                    samples += [self._sample(metric, table, number) for metric, number in named]
        except psycopg.Error as error:
            raise Unavailable(f"{self._source}: {str(error).strip() or 'no answer'}") from error
        return samples

    def _read(self, connection: psycopg.Connection[tuple[Number, ...]], table: str) -> list[Number]:
        row = connection.execute(self._query(table)).fetchone()
        return list(row) if row else [None] * 5

    def _query(self, table: str) -> Composed:
        """Return what asks for the number of rows, the newest, and the times of those of a trial.

        Seconds are numbers of the database, exact to its microsecond; the mean of them is, too.
        """
        newer: Composable = SQL("false")
        if table in self._newest:
            newest = self._newest[table]
            newer = SQL("true") if newest is None else SQL("s > {}").format(Literal(newest))
        return SQL(
            "select count(*), max(s), min(s) filter (where {newer}), max(s) filter (where {newer}),"
            " avg(s) filter (where {newer})"
            " from (select extract(epoch from stored_at) as s from {table}) as seconds"
        ).format(newer=newer, table=Identifier(table))

    def _sample(self, metric: str, table: str, number: Number) -> CounterSample:
        value = None if number is None else float(number)
        return CounterSample(self._source, f"{metric}/{table}", value)
