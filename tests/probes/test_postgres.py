"""PostgreSQL's counters, on a real private cluster."""

import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path

import psycopg
import pytest
from tests.waiting import wait_until

from sizebook.model.deployment import DatabaseRole
from sizebook.probes.base import Unavailable
from sizebook.probes.postgres import PostgresProbe
from sizebook.probes.process import ProcessProbe
from sizebook.probes.registry import find_counter
from sizebook.probes.rows import RowsProbe
from sizebook.stack import postgres


def system_binaries():
    """Return a system's PostgreSQL, run as ``nobody`` where the tests run as root."""
    homes = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    homes += [Path(found) for found in [shutil.which("postgres")] if found]
    if not homes:
        pytest.skip("no PostgreSQL on this system")
    if os.geteuid() != 0:
        return postgres.PostgresBinaries(homes[0].parent, "", "system", (), None)
    nobody = pwd.getpwnam("nobody")
    prefix = ("setpriv", f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups")
    return postgres.PostgresBinaries(homes[0].parent, "", "system", prefix, nobody.pw_uid)


@pytest.fixture(scope="module")
def cluster():
    """A started cluster with one database, in a folder that its owner can reach."""
    binaries = system_binaries()
    folder = Path(tempfile.mkdtemp(prefix="sizebook-test-"))
    folder.chmod(0o755)
    subprocess.run(postgres.init_command(binaries, folder / "data"), check=True, cwd="/")
    sockets = postgres.socket_folder(binaries)
    started = postgres.Cluster(folder / "data", sockets, 55_432, "unused")
    role = DatabaseRole(settings={"listen_addresses": ""})
    command = postgres.server_command(binaries, started, role)
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, cwd="/")
    try:
        started.wait_ready(lambda: None if server.poll() is None else "ended")
        postgres.create_database(started)
        yield started, server
    finally:
        server.send_signal(2)
        server.wait(20)
        shutil.rmtree(sockets, ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)


def read(probe):
    return {sample.metric: sample.value for sample in probe.sample()}


def test_counts_of_a_known_load(cluster):
    """Fifty inserts are fifty commits and rows, WAL, and one more back end; none is the probe's."""
    started, _ = cluster
    probe = PostgresProbe("database", started.admin_dsn)
    probe.attach()
    before = read(probe)
    with psycopg.connect(started.admin_dsn, autocommit=True) as client:
        client.execute("create table t (x int)")
        for number in range(50):
            client.execute("insert into t values (%s)", [number])
        during = read(probe)
    assert wait_until(lambda: read(probe)["rows_inserted"] > before["rows_inserted"])
    after = read(probe)
    probe.detach()
    assert after["rows_inserted"] - before["rows_inserted"] >= 50
    assert after["commits_total"] - before["commits_total"] >= 51
    assert after["wal_bytes"] - before["wal_bytes"] > 50 * 60
    assert (before["backends"], during["backends"]) == (0, 1)
    assert during["backends_in_state/idle"] == 1 and before["backends_in_state/idle"] == 0
    assert after["database_bytes"] > 10**6
    for metric in after:
        assert find_counter(metric).source == "database"


def test_waiting_back_ends_are_seen(cluster):
    """A back end that waits for a lock is counted as such."""
    started, _ = cluster
    probe = PostgresProbe("database", started.admin_dsn)
    with (
        psycopg.connect(started.admin_dsn) as holder,
        psycopg.connect(started.admin_dsn) as other,
    ):
        holder.execute("create table if not exists held (x int)")
        holder.commit()
        holder.execute("lock table held")
        pid = other.info.backend_pid
        sent = other.pgconn
        sent.send_query(b"select * from held")
        assert wait_until(lambda: read(probe)["backends_waiting/Lock"] > 0)
        holder.execute("select pg_cancel_backend(%s)", [pid])
        while sent.get_result() is not None:
            pass
    probe.detach()


def test_a_family_of_back_ends(cluster):
    """CPU of a back end that has gone stays in its cluster's sum."""
    started, server = cluster
    probe = ProcessProbe("process/database-1", lambda: server.pid, family=True)
    before = read(probe)
    with psycopg.connect(started.admin_dsn) as client:
        back_end = Path("/proc") / str(client.info.backend_pid)
        client.execute("select count(*) from generate_series(1, 1500000)")
        assert back_end.exists() and read(probe)["processes"] >= 2
    assert wait_until(lambda: not back_end.exists())
    after = read(probe)
    spent = sum(after[m] - before[m] for m in ("cpu_user_s", "cpu_system_s"))
    assert spent >= 0.05


def test_what_is_not_there_is_missing(cluster):
    """No such database, no such server, a connection that was cut: missing, then there again."""
    started, _ = cluster
    dsn = started.admin_dsn
    gone = PostgresProbe("database", dsn.replace(f"dbname={postgres.DATABASE}", "dbname=gone"))
    with pytest.raises(Unavailable, match="no database 'gone'"):
        gone.sample()
    gone.detach()
    with pytest.raises(Unavailable):
        PostgresProbe("database", "host=/nowhere port=1 dbname=x user=y").sample()
    probe = PostgresProbe("database", dsn)
    probe.attach()
    with psycopg.connect(dsn, autocommit=True) as client:
        client.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where application_name = 'sizebook-probe'"
        )
    with pytest.raises(Unavailable):
        probe.sample()
    assert read(probe)["backends"] == 0
    probe.detach()


def test_a_cluster_without_a_database_to_ask_from(cluster):
    """Then the watched one is asked; its own back end is not counted, and the rest is said."""
    started, _ = cluster
    probe = PostgresProbe("database", started.admin_dsn)
    with psycopg.connect(started.admin_dsn, autocommit=True) as client:
        client.execute("alter database postgres rename to spare")
        try:
            found = read(probe)
            assert (found["backends"], found["backends_in_state/idle"]) == (1, 1)
            assert "no database postgres" in probe.lacking()["commits_total"]
        finally:
            probe.detach()
            client.execute("alter database spare rename to postgres")
        probe.attach()
        assert probe.lacking() == {}
        probe.detach()


def test_rows_of_a_trial_are_told_apart_from_older_ones(cluster):
    """Times are those of the rows that are new since the first reading after each attach."""
    started, _ = cluster
    probe = RowsProbe("rows", started.admin_dsn, ["stored"])
    with psycopg.connect(started.admin_dsn, autocommit=True) as client:
        client.execute("create table stored (stored_at timestamptz)")

        def store(*seconds):
            for second in seconds:
                client.execute("insert into stored values (to_timestamp(%s))", [second])

        probe.attach()
        assert read(probe) == {
            "rows_stored/stored": 0, "rows_first_s/stored": None, "rows_last_s/stored": None,
            "rows_mean_s/stored": None,
        }  # fmt: skip
        store(1_800_000_001.25, 1_800_000_002.25)
        first = read(probe)
        assert first["rows_stored/stored"] == 2
        assert first["rows_first_s/stored"] == 1_800_000_001.25
        assert first["rows_mean_s/stored"] == 1_800_000_001.75
        probe.attach()
        assert read(probe)["rows_last_s/stored"] is None
        store(1_800_000_005, 1_800_000_009)
        second = read(probe)
        times = [second[f"rows_{which}_s/stored"] for which in ("first", "last", "mean")]
        assert times == [1_800_000_005, 1_800_000_009, 1_800_000_007]
        assert second["rows_stored/stored"] == 4
        for metric in second:
            assert find_counter(metric).source == "rows"
    with pytest.raises(Unavailable, match="nowhere"):
        RowsProbe("rows", started.admin_dsn, ["nowhere"]).sample()
