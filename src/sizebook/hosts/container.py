"""Containers: processes of this machine's kernel, in name spaces of their own (runc)."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from sizebook.hosts.agents import Endpoint
from sizebook.hosts.base import HostProcess
from sizebook.hosts.boots import AGENT_PORT, GroupedBoot, Site
from sizebook.hosts.cgroups import look_for_root
from sizebook.hosts.inside import AGENT
from sizebook.hosts.mode_kind import ModeKind, Supplies
from sizebook.hosts.network import Link
from sizebook.model.errors import HostLacksError
from sizebook.model.modes import Mode

PROGRAM = "runc"
_SPACES = ("pid", "ipc", "uts", "mount")
_CAPABILITIES = (
    *("CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID", "CAP_KILL", "CAP_SETGID"),
    *("CAP_SETUID", "CAP_SYS_NICE", "CAP_NET_BIND_SERVICE"),
)
_MOUNTED = ("proc", "dev", "sys")
_PATH = "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"


class ContainerBoot(GroupedBoot):
    """Boots a container: the image's folder as its root, read-only."""

    mode: Mode = "container"
    _process: HostProcess | None = None
    _promise: int | None = None

    def runtime(self) -> list[str]:
        """Return the words with which each call of the containers' program begins."""
        return [find_program(), "--root", str(self.site.folder / "runc")]

    def launch(self, words: Sequence[str]) -> list[str]:
        """Return the command that starts the container: runc enters no group, it fills one."""
        return list(words)

    def start(self) -> Endpoint:
        site = self.site
        runtime = self.runtime()
        scratch = site.folder / "scratch"
        scratch.mkdir()
        if not (site.image.root / site.scratch.relative_to("/")).is_dir():
            raise HostLacksError(
                found=f"no folder {site.scratch} in the application image",
                expected="a place for the host's writable disk",
                next_step="name it among the image's mount points",
            )
        self.limit_as_specified()
        site.group.limit_memory(site.spec.memory_mib)
        link = site.network.add_namespace(site.spec.name)
        words = [str(site.image.python), "-I", "-S", str(AGENT), link.address, str(AGENT_PORT)]
        root = site.folder / "root"
        mounts = [*lay_out_root(site.image.root, root), bind(site.scratch, scratch, "rw")]
        config = bundle_config(words, root, mounts, site.group.name, link, site.token)
        write_bundle(site.folder, config)
        self._promise = site.guard.promise([*runtime, "delete", "--force", site.group.name])
        self._process = site.local.start(
            f"container {site.spec.name}",
            self.launch([*runtime, "run", "--bundle", str(site.folder), site.group.name]),
            log=site.folder / "boot.log",
        )
        return Endpoint(link.address, AGENT_PORT, site.token)

    def why_ended(self) -> str | None:
        process = self._process
        if process is None or process.exit_code is None:
            return None
        program = Path(self.runtime()[0]).name
        if killed := self.site.group.killed_for_memory():
            said = f"{killed} killed at the limit of {self.site.spec.memory_mib} MiB of memory"
        else:
            said = process.log_tail(2)
        return f"{program} ended with {process.exit_code}: {said}"

    def pieces_s(self) -> Mapping[str, float]:
        return {}

    def set_memory(self, memory_mib: int) -> None:
        self.site.group.limit_memory(memory_mib)

    def close(self) -> None:
        site = self.site
        if self._promise is not None:
            command = [*self.runtime(), "delete", "--force", site.group.name]
            subprocess.run(command, capture_output=True, check=False)
            site.guard.keep(self._promise)
            self._promise = None
        if self._process is not None:
            site.local.stop(self._process)
            self._process = None


def find_program() -> str:
    """Return runc's path. Raises HostLacksError."""
    found = shutil.which(PROGRAM)
    if found is None:
        raise HostLacksError(
            found="no runc on the path",
            expected="runc 1.1 or later, for hosts that are containers",
            next_step="run 'make setup', or install it (Debian: apt-get install runc)",
        )
    return found


def bundle_config(
    command: list[str],
    root: Path,
    mounts: Sequence[Mapping[str, Any]],
    group: str,
    link: Link,
    token: str,
) -> dict[str, Any]:
    """Return the container's description (OCI runtime specification 1.0).

    Limits are those of the control group, which is there already.
    """
    spaces = [*({"type": kind} for kind in _SPACES)]
    spaces.append({"type": "network", "path": str(link.namespace)})
    capabilities = {kind: list(_CAPABILITIES) for kind in ("bounding", "effective", "permitted")}
    return {
        "ociVersion": "1.0.2",
        "process": {
            "terminal": False,
            "user": {"uid": 0, "gid": 0},
            "args": command,
            "env": [_PATH, f"SIZEBOOK_TOKEN={token}"],
            "cwd": "/",
            "capabilities": capabilities,
            "noNewPrivileges": True,
        },
        "root": {"path": str(root), "readonly": True},
        "hostname": "sizebook",
        "mounts": [
            _mount("/proc", "proc"),
            _mount("/dev", "tmpfs", "nosuid", "strictatime", "mode=755", "size=65536k"),
            _mount("/dev/pts", "devpts", "nosuid", "noexec", "newinstance", "ptmxmode=0666"),
            _mount("/dev/shm", "tmpfs", "nosuid", "nodev", "mode=1777"),
            _mount("/sys", "sysfs", "nosuid", "noexec", "nodev", "ro"),
            # Without it a JVM sees the machine's CPUs and memory instead of the container's.
            _mount("/sys/fs/cgroup", "cgroup", "nosuid", "noexec", "nodev", "relatime", "ro"),
            _mount("/tmp", "tmpfs", "nosuid", "nodev", "mode=1777"),
            *mounts,
        ],
        "linux": {
            "namespaces": spaces,
            "cgroupsPath": f"/{group}",
            "resources": {"devices": [{"allow": False, "access": "rwm"}]},
        },
    }


def lay_out_root(image: Path, root: Path) -> list[dict[str, Any]]:
    """Make a folder with the image's topmost names; return the mounts that fill it.

    The image is not the root itself: what it has in /tmp, such as a project that is there, could
    not be reached any more once something is mounted on it.
    """
    root.mkdir()
    mounts = []
    for path in sorted(image.iterdir()):
        if path.is_symlink():
            (root / path.name).symlink_to(path.readlink())
            continue
        (root / path.name).mkdir()
        if path.name == "tmp":
            mounts += [bind(Path("/tmp", one.name), one, "ro") for one in sorted(path.iterdir())]
        elif path.name not in _MOUNTED:
            mounts.append(bind(Path("/", path.name), path, "ro"))
    return mounts


def bind(inside: Path, here: Path, access: Literal["ro", "rw"]) -> dict[str, Any]:
    """Return the mount of a file or folder of this machine at a path inside."""
    options = ["rbind", access, "nosuid", "nodev"]
    return {"destination": str(inside), "type": "none", "source": str(here), "options": options}


def write_bundle(folder: Path, config: Mapping[str, Any]) -> None:
    """Write the description, which holds the agent's secret, where only this user can read it."""
    file = folder / "config.json"
    file.touch(mode=0o600)
    file.write_text(json.dumps(config, indent=1))


def _mount(target: str, kind: str, *options: str) -> dict[str, Any]:
    return {"destination": target, "type": kind, "source": kind, "options": list(options)}


def _look(_: Supplies) -> None:
    look_for_root()
    find_program()


def _boot(site: Site, _: Path) -> ContainerBoot:
    return ContainerBoot(site)


CONTAINER = ModeKind(
    ContainerBoot.mode,
    "container (runc)",
    _look,
    start_s=7.0,
    boot=_boot,
    programs=(PROGRAM,),
    in_smoke=True,
    colour=1,
)
