"""The database of a deployment: a copy of a template with the data loaded, served privately."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from sizebook.hosts import Host, HostProcess
from sizebook.model.deployment import LOCAL, DatabaseRole
from sizebook.model.errors import TrialError
from sizebook.stack import postgres
from sizebook.stack.build import StackBuild
from sizebook.stack.jvms import choose_jvm
from sizebook.store.lock import patience

_LAYOUT = 4
"""Of a template; a new number makes templates anew."""
_MAKING = ".making-"
_DONE_WITHIN_S = 120.0
"""A new cluster, and its rows."""


class Databases:
    """Makes templates once and serves copies of them."""

    def __init__(self, build: StackBuild, local: Host, state: Path) -> None:
        """``local`` is this machine: templates are made on it, wherever copies are served."""
        self._build = build
        self._local = local
        self._state = state

    def binaries(self) -> postgres.PostgresBinaries:
        """Return the binaries that templates are made with; raises HostLacksError without any."""
        return postgres.find_binaries(self._build, self._state)

    def remove_partial(self) -> None:
        """Remove the templates that killed runs left half-made."""
        for folder in (self._state / "clusters").glob(f"{_MAKING}*"):
            shutil.rmtree(folder, ignore_errors=True)

    def plan(
        self, role: DatabaseRole, host: Host, folder: Path, undo: contextlib.ExitStack
    ) -> Planned:
        """Settle where the database will be, so that nodes can be told before it is there."""
        binaries = self.binaries()
        template = self._template(role, binaries)
        data = folder / "postgres"
        if host.shares_files:
            cluster, user = new_cluster(data, host, binaries, undo), None
        else:  # in a host of its own the server is started by root, as nobody
            cluster, user = _distant_cluster(data, host, _secret_of(template)), postgres.NOBODY
            binaries = replace(binaries, prefix=(), owner_uid=postgres.NOBODY)
        return Planned(role, host, template, cluster, binaries, user)

    def _template(self, role: DatabaseRole, binaries: postgres.PostgresBinaries) -> Path:
        """Return a stopped cluster with the data loaded, made once a build and data set."""
        host = self._local
        name = f"{binaries.version}-{self._build.fingerprint[:12]}-{role.flights}-{role.data_seed}"
        name += f"-{role.ledger_rows}" if role.ledger_rows else ""
        name += f"-b{role.business_users}" if role.business_users else ""
        template = self._state / "clusters" / f"{name}-{_LAYOUT}"
        if template.is_dir():
            return template
        work = template.with_name(f"{_MAKING}{secrets.token_hex(4)}")
        with contextlib.ExitStack() as undo:
            undo.callback(shutil.rmtree, work, ignore_errors=True)
            init_cluster(binaries, work / "data", host)
            with contextlib.ExitStack() as server:
                cluster = new_cluster(work / "data", host, binaries, server)
                # SIGINT is "fast": ends sessions and writes a checkpoint.
                process = serve(cluster, role, host, binaries, signal.SIGINT)
                server.callback(host.stop, process)
                wait_serving(cluster, process)
                postgres.create_database(cluster)
                cluster.set_password()
                self._load(role, cluster, work)
                postgres.drop_spare_databases(cluster)
                cluster.set_admin_password(secret := secrets.token_urlsafe(18))
            _keep_secret(template, secret)
            (work / "data").rename(template)
        return template

    def _load(self, role: DatabaseRole, cluster: postgres.Cluster, work: Path) -> None:
        host = self._local
        command = [str(choose_jvm("").java), "-cp", self._build.class_path]
        command += ["refstack.load.LoadMain", "--flights", str(role.flights)]
        command += ["--seed", str(role.data_seed)]
        command += ["--ledger", str(role.ledger_rows)] if role.ledger_rows else []
        command += ["--business", str(role.business_users)] if role.business_users else []
        loader = host.start(
            "loader", command, log=work / "logs" / "loader.log", env=cluster.environment()
        )
        try:
            see = "run 'sizebook stack up' and see its log"
            expect_success(
                loader, patience() * _DONE_WITHIN_S, f"{role.flights} flights in the database", see
            )
        finally:
            host.stop(loader)


class Planned:
    """A database that is settled but not started."""

    def __init__(
        self,
        role: DatabaseRole,
        host: Host,
        template: Path,
        cluster: postgres.Cluster,
        binaries: postgres.PostgresBinaries,
        user: int | None,
    ) -> None:
        self.cluster = cluster
        self.version = f"{binaries.version} ({binaries.origin})"
        self._role = role
        self._host = host
        self._template = template
        self._binaries = binaries
        self._user = user

    def serve(self, started: Callable[[HostProcess], None]) -> HostProcess:
        """Copy the template, start the server and wait until it answers.

        ``started`` is told of the process before the wait, so that it is stopped in every case.
        """
        self._host.put(self._template, self.cluster.folder, owner=self._user)
        # Thrown away afterwards, so "immediate": no checkpoint, no waiting for sessions.
        process = serve(
            self.cluster, self._role, self._host, self._binaries, signal.SIGQUIT, self._user
        )
        started(process)
        wait_serving(self.cluster, process)
        self.cluster.set_password()
        return process


def init_cluster(binaries: postgres.PostgresBinaries, data: Path, host: Host) -> None:
    """Create an empty cluster; raises TrialError with initdb's last words."""
    init = host.start(
        "initdb",
        postgres.init_command(binaries, data),
        log=data.parent / "logs" / "initdb.log",
        env=dict(os.environ),
        cwd=Path("/"),
    )
    try:
        see = "see 'sizebook doctor' for PostgreSQL, and whether the disk has room"
        expect_success(init, patience() * _DONE_WITHIN_S, "a new database cluster", see)
    finally:
        host.stop(init)


def new_cluster(
    data: Path, host: Host, binaries: postgres.PostgresBinaries, undo: contextlib.ExitStack
) -> postgres.Cluster:
    """Return a cluster that does not run yet, with a port and a password of its own."""
    sockets = postgres.socket_folder(binaries)
    undo.callback(shutil.rmtree, sockets, ignore_errors=True)
    password = secrets.token_urlsafe(18)
    return postgres.Cluster(data, sockets, host.free_port(), password, address=host.address)


def serve(
    cluster: postgres.Cluster,
    role: DatabaseRole,
    host: Host,
    binaries: postgres.PostgresBinaries,
    stop_signal: int,
    user: int | None = None,
) -> HostProcess:
    """Start a server on a cluster, without waiting for it."""
    return host.start(
        "database-1",
        postgres.server_command(binaries, cluster, role),
        log=cluster.folder.parent / "logs" / "database-1.log",
        cpus=role.cpus if host.name == LOCAL else (),
        cwd=Path("/"),
        stop_signal=stop_signal,
        user=user,
    )


def wait_serving(cluster: postgres.Cluster, process: HostProcess) -> None:
    """Wait until a server answers; raises TrialError with its last words."""
    cluster.wait_ready(lambda: process.log_tail(3) if process.exit_code is not None else None)


def _distant_cluster(data: Path, host: Host, admin_password: str) -> postgres.Cluster:
    """Return a cluster that does not run yet, on a host that only the network leads to."""
    return postgres.Cluster(
        data,
        None,
        host.free_port(),
        secrets.token_urlsafe(18),
        address=host.address,
        admin_password=admin_password,
    )


def _secret_of(template: Path) -> str:
    """Return the administrator's password in copies of a template."""
    return _secret_file(template).read_text()


def _keep_secret(template: Path, secret: str) -> None:
    file = _secret_file(template)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch(mode=0o600)
    file.write_text(secret)


def _secret_file(template: Path) -> Path:
    return template.with_name(f"{template.name}.secret")


def expect_success(process: HostProcess, timeout_s: float, expected: str, see: str) -> None:
    """Wait until a process has ended well; raise TrialError with its last words otherwise."""
    code = process.wait(timeout_s)
    if code != 0:
        what = f"{process.name}: " + (f"ended with {code}" if code is not None else "does not end")
        raise TrialError(found=f"{what}: {process.log_tail(1)}", expected=expected, next_step=see)
