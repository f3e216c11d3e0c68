"""A real ssh server for tests: its own keys, its own users, nothing of this system changed.

The server sees a user list of its own, in a mount name space; it is the installed ``sshd`` or the
one that set-up has unpacked.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sizebook.hosts import Guard
from sizebook.hosts.network import Network
from sizebook.model.inventory import Inventory
from sizebook.store import find_project

UNPACKED = find_project(Path(__file__)).state / "hosts" / "sshd"
USER_ID = 1500
"""Of the user ``bench`` of these servers, who is nobody special."""
_USERS = """\
root:x:0:0:root:{home}/root:/bin/sh
bench:x:{user}:{user}::{home}/bench:/bin/sh
sshd:x:110:65534::/run/sshd:/usr/sbin/nologin
nobody:x:65534:65534::/nonexistent:/usr/sbin/nologin
"""
_SETTINGS = """\
ListenAddress {address}
Port {port}
HostKey {folder}/host_key
PidFile none
UsePAM no
StrictModes no
PasswordAuthentication no
PermitRootLogin prohibit-password
AuthorizedKeysFile {folder}/authorized
SetEnv LC_ALL=C.UTF-8
MaxStartups 100
"""
_START = """\
mount --make-rprivate / && mount --bind {folder}/passwd /etc/passwd &&
mount -t tmpfs -o mode=755 tmpfs /run && mkdir /run/sshd /run/own &&
mount --bind {folder} /run/own && mount -t tmpfs -o mode=755 tmpfs {top} &&
mkdir -p {folder} && mount --bind /run/own {folder} && exec {sshd} -D -e -f {folder}/config
"""
"""There is nothing but the server's folder in pytest's: each pytest that starts on this machine
closes that to other users."""


def find_sshd() -> tuple[str, str]:
    """Return sshd and the folder of libraries that came with it; skip the test without any."""
    if (UNPACKED / "usr/sbin/sshd").is_file():
        return str(UNPACKED / "usr/sbin/sshd"), str(next(UNPACKED.glob("usr/lib/*-linux-gnu*")))
    found = shutil.which("sshd", path=f"{os.environ.get('PATH')}:/usr/sbin")
    if found is None:
        pytest.skip("no sshd: run 'make setup' on Debian")
    return found, ""


class SshServer:
    """A server at an address of this machine, or in a network name space."""

    def __init__(self, folder: Path, address: str, space: str = "") -> None:
        if sys.platform != "linux" or os.geteuid() != 0:
            pytest.skip("an ssh server with users of its own needs root on Linux")
        sshd, libraries = find_sshd()
        self.folder, self.address = folder, address
        folder.mkdir(parents=True)
        folder.chmod(0o755)
        for name, owner in (("root", 0), ("bench", USER_ID)):
            (folder / "home" / name).mkdir(parents=True)
            os.chown(folder / "home" / name, owner, owner)
        for name in ("host_key", "key"):
            words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", name]
            subprocess.run(words, cwd=folder, check=True)
        shutil.copy(folder / "key.pub", folder / "authorized")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        top = next(each for each in folder.parents if each.parent == Path(tempfile.gettempdir()))
        facts = {"folder": folder, "address": address, "port": self.port, "sshd": sshd}
        (folder / "passwd").write_text(_USERS.format(home=folder / "home", user=USER_ID))
        (folder / "config").write_text(_SETTINGS.format(**facts))
        words = ["unshare", "--mount", "sh", "-c", _START.format(top=top, **facts)]
        self.log = (folder / "sshd.log").open("wb")
        self.process = subprocess.Popen(
            [*(["nsenter", f"--net=/run/netns/{space}"] if space else []), *words],
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=self.log,
            env={"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "LD_LIBRARY_PATH": libraries},
        )
        self._wait()

    def host(self, user: str = "root", **more: Any) -> dict[str, Any]:
        """Return this server as a host of an inventory."""
        return {
            "mode": "ssh",
            "address": self.address,
            "port": self.port,
            "user": user,
            "key": str(self.folder / "key"),
            "host_key": " ".join((self.folder / "host_key.pub").read_text().split()[:2]),
            **more,
        }

    def home(self, user: str = "root") -> Path:
        """Return where hosts of this user keep their things."""
        return self.folder / "home" / user / ".cache" / "sizebook"

    def close(self) -> None:
        """End the server."""
        self.process.terminate()
        self.process.wait()
        self.log.close()

    def _wait(self) -> None:
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and self.process.poll() is None:
            if "listening on" in (self.folder / "sshd.log").read_text():
                return
            time.sleep(0.02)
        raise RuntimeError((self.folder / "sshd.log").read_text())


@contextlib.contextmanager
def machines(folder: Path, *names: str) -> Iterator[dict[str, SshServer]]:
    """Give name spaces as machines, each with its ssh server; all are gone afterwards."""
    guard = Guard(folder / "guard")
    with contextlib.ExitStack() as undo:
        undo.callback(guard.close)
        network = Network(guard)
        undo.callback(network.close)
        servers = {}
        for name in names:
            link = network.add_namespace(name)
            servers[name] = SshServer(folder / name, link.address, link.namespace.name)
            undo.callback(servers[name].close)
        yield servers


def inventory(roles: dict[str, Any] | None = None, **hosts: dict[str, Any]) -> Inventory:
    """Return an inventory of these hosts."""
    return Inventory.model_validate_json(json.dumps({"hosts": hosts, "roles": roles or {}}))
