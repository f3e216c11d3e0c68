"""Guests with a kernel of their own: what is the same for all of them, whatever runs the kernel.

Such a guest is one family of processes of this machine, in a control group. It has the application
image as a disk that is only read, a scratch disk, and one network card behind a tap.
"""

from __future__ import annotations

import abc
import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence

from sizebook.hosts.agents import Endpoint
from sizebook.hosts.base import HostProcess
from sizebook.hosts.boots import AGENT_PORT, GroupedBoot, Site
from sizebook.hosts.image import SCRATCH_LABEL, make_disk
from sizebook.hosts.inside import AGENT
from sizebook.hosts.network import Link
from sizebook.model.modes import Mode

ROOT_DISK, SCRATCH_DISK = "root.ext4", "scratch.ext4"
"""Names in the guest's own folder, in which it is started: paths would have to be quoted, and each
program has its own way of that."""
CONSOLE = "console.log"
"""What the kernel said, from its first word on."""
_OPEN_FILES = 65_536
_HALT_S = 3.0
_MARK = re.compile(r"^sizebook: (init|agent) ([\d.]+)\s*$", re.MULTILINE)
"""Line of the first program, with seconds since the kernel started: ``sizebook: init 1.84``."""
_FATAL = re.compile(
    r"^(?:\[[ \d.]+\] )?(sizebook: (?:no|cannot) .*|\w*Error: .*|Kernel panic.*)$", re.M
)
"""What tells why a guest ended; the first that was said is the cause of the others."""


class OwnKernelBoot(GroupedBoot, abc.ABC):
    """A host with a kernel of its own; a subclass knows the program that runs it."""

    mode: Mode
    own_clock = True

    def __init__(self, site: Site) -> None:
        super().__init__(site)
        self._process: HostProcess | None = None
        self._console = site.folder / CONSOLE
        self._root = site.image.disk  # now: making it is no part of a boot

    @abc.abstractmethod
    def command(self, link: Link) -> Sequence[str]:
        """Return the command line that runs the kernel in the guest's own folder."""

    @abc.abstractmethod
    def environment(self) -> Mapping[str, str]:
        """Return what the command needs in its environment beside the search path."""

    def start(self) -> Endpoint:
        site = self.site
        link = site.network.add_tap()
        self._make_disks(link)
        self.limit_as_specified()
        self._process = site.local.start(
            f"guest {site.spec.name}",
            site.group.command(self.command(link)),
            log=self._console,
            env={"PATH": os.environ.get("PATH", os.defpath), **self.environment()},
            cwd=site.folder,
        )
        return Endpoint(link.address, AGENT_PORT, site.token)

    def why_ended(self) -> str | None:
        process = self._process
        if process is None or process.exit_code is None:
            return None
        said = self._said()
        last = [line for line in said.splitlines() if line.strip()][-1:]
        words = [*_FATAL.findall(said), *last, "not a word"]
        return f"its kernel ended with {process.exit_code}: {words[0].strip()}"

    def pieces_s(self) -> Mapping[str, float]:
        """Return, by the guest's own clock, when its first program and then the agent began."""
        at = {name: float(seconds) for name, seconds in _MARK.findall(self._said())}
        if not {"init", "agent"} <= at.keys():
            return {}
        return {"kernel": at["init"], "mounts": round(at["agent"] - at["init"], 3)}

    def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            if self.pieces_s():  # there was an agent, which powers the guest off when it is left
                process.wait(_HALT_S)
            self.site.local.stop(process, grace_s=0.0)
        for name in (ROOT_DISK, SCRATCH_DISK):
            (self.site.folder / name).unlink(missing_ok=True)

    def _make_disks(self, link: Link) -> None:
        site = self.site
        settings = {
            "FOLDER": site.scratch,
            "ADDRESS": f"{link.address}/{link.prefix}",
            "OPEN_FILES": _OPEN_FILES,
            "PYTHON": site.image.python,
            "AGENT": AGENT,
            "LISTEN": link.address,
            "PORT": AGENT_PORT,
            "TOKEN": site.token,
        }
        content = site.folder / "scratch"
        content.mkdir(mode=0o700)
        lines = (f"{name}={shlex.quote(str(value))}\n" for name, value in settings.items())
        (content / "boot").write_text("".join(lines))
        make_disk(
            site.folder / SCRATCH_DISK, mib=site.spec.disk_mib, content=content, label=SCRATCH_LABEL
        )
        (site.folder / SCRATCH_DISK).chmod(0o600)
        shutil.rmtree(content)
        (site.folder / ROOT_DISK).symlink_to(self._root)

    def _said(self) -> str:
        try:
            return self._console.read_text(errors="replace").replace("\r", "")
        except OSError:
            return ""
