"""PostgreSQL: transactions, blocks, WAL, checkpoints, what the back ends are doing."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from sizebook.probes.base import CounterSample, QuietProbe, Unavailable

_TIMEOUT_MS = 500
_ASIDE = "postgres"
_OWN_COUNTS = ("commits_total", "blocks_hit", "blocks_read", "rows_returned", "rows_fetched")

_DATABASE_COLUMNS = {
    "commits_total": "xact_commit",
    "rollbacks_total": "xact_rollback",
    "blocks_read": "blks_read",
    "blocks_hit": "blks_hit",
    "rows_returned": "tup_returned",
    "rows_fetched": "tup_fetched",
    "rows_inserted": "tup_inserted",
    "rows_updated": "tup_updated",
    "rows_deleted": "tup_deleted",
    "temporary_files": "temp_files",
    "temporary_bytes": "temp_bytes",
    "deadlocks": "deadlocks",
    "backends": "numbackends",
}
"""Our metric and the column of pg_stat_database."""

_WAL = "pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8"
_CHECKPOINTS = {
    # num_timed and num_requested moved to a view of their own in PostgreSQL 17.
    False: "(SELECT checkpoints_timed + checkpoints_req FROM pg_stat_bgwriter)",
    True: "(SELECT num_timed + num_requested FROM pg_stat_checkpointer)",
}
_BACKENDS = """
    SELECT coalesce(state, 'unknown'), coalesce(wait_event_type, 'none'), count(*)
    FROM pg_stat_activity
    WHERE datname = %s AND backend_type = 'client backend' AND pid <> pg_backend_pid()
    GROUP BY 1, 2
"""
STATES = ("active", "idle", "idle in transaction")
WAITS = ("Client", "IO", "LWLock", "Lock", "IPC")
"""States and wait types that are always reported, so that "none" reads as 0 and not as missing."""


class PostgresProbe(QuietProbe):
    """Counters of one database, asked over one connection that stays open.

    The connection goes to the cluster's ``postgres`` database and leaves the watched one alone:
    the probe's own transactions and back end are in none of the numbers but WAL and checkpoints,
    which are the cluster's. A cluster without that database is asked through the watched one: its
    counts then hold the probe's own two transactions a reading, and ``lacking`` says so.
    PostgreSQL's back ends hand in their counts at the end of a
    transaction, but at most once a second, and an idle one within ten seconds: sums over
    a trial may lack the last of its transactions.

    A database or server that is gone is a missing reading; the next one connects anew.
    """

    def __init__(
        self, source: str, conninfo: str, *, host: str = "local", interval_s: float = 1.0
    ) -> None:
        self.name = f"postgres:{source}"
        self.host = host
        self.interval_s = interval_s
        self.asks = self._source = source
        self._database = str(conninfo_to_dict(conninfo).get("dbname") or "postgres")
        self._conninfo = make_conninfo(
            conninfo,
            connect_timeout=2,
            application_name="sizebook-probe",
            options=f"-c statement_timeout={_TIMEOUT_MS} -c jit=off",
        )
        self._connection: psycopg.Connection[tuple[Any, ...]] | None = None
        self._query = ""
        self._inside = False

    def lacking(self) -> dict[str, str]:
        reason = "holds the probe's own: the cluster has no database postgres to ask from"
        return dict.fromkeys(_OWN_COUNTS, reason) if self._inside else {}

    def attach(self) -> None:
        """Connect and ask once."""
        self.sample()

    def detach(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def sample(self) -> list[CounterSample]:
        try:
            connection = self._connected()
            row = connection.execute(self._query, [self._database]).fetchone()
            backends = connection.execute(_BACKENDS, [self._database]).fetchall()
        except psycopg.Error as error:
            self.detach()
            raise Unavailable(f"{self._source}: {str(error).strip() or 'no answer'}") from error
        if row is None:
            raise Unavailable(f"{self._source}: no database {self._database!r}")
        metrics = (*_DATABASE_COLUMNS, "database_bytes", "wal_bytes", "checkpoints")
        values = dict(zip(metrics, row, strict=True))
        values["backends"] -= int(self._inside)
        samples = [
            CounterSample(self._source, name, _number(value)) for name, value in values.items()
        ]
        by_state, by_wait = dict.fromkeys(STATES, 0), dict.fromkeys(WAITS, 0)
        for state, wait, count in backends:
            by_state[state] = by_state.get(state, 0) + count
            if state == "active" or wait == "Lock":
                by_wait[wait] = by_wait.get(wait, 0) + count
        by_wait.pop("none", None)
        samples += [
            CounterSample(self._source, f"backends_in_state/{s}", n) for s, n in by_state.items()
        ]
        samples += [
            CounterSample(self._source, f"backends_waiting/{w}", n) for w, n in by_wait.items()
        ]
        return samples

    def _connected(self) -> psycopg.Connection[tuple[Any, ...]]:
        if self._connection is None:
            self._connection = self._connect()
            version = self._connection.info.server_version
            columns = ", ".join(_DATABASE_COLUMNS.values())
            self._query = (
                f"SELECT {columns}, pg_database_size(datname), {_WAL}, "
                f"{_CHECKPOINTS[version >= 170_000]} FROM pg_stat_database WHERE datname = %s"
            )
        return self._connection

    def _connect(self) -> psycopg.Connection[tuple[Any, ...]]:
        aside = make_conninfo(self._conninfo, dbname=_ASIDE)
        try:
            connection = psycopg.connect(aside, autocommit=True)
        except psycopg.OperationalError:
            connection = psycopg.connect(self._conninfo, autocommit=True)
        self._inside = connection.info.dbname == self._database != _ASIDE
        return connection


def _number(value: Any) -> float | None:
    return None if value is None else float(value)
