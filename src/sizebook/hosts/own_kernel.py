"""Guests with a kernel of their own: what is the same for all of them, whatever runs the kernel.

Such a guest is one family of processes of this machine, in a control group. It has the application
image as a disk that is only read, a scratch disk, and one network card behind a tap.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence

from sizebook.hosts.agents import Endpoint
from sizebook.hosts.base import HostUsage
from sizebook.hosts.boots import AGENT_PORT, Site
from sizebook.hosts.cgroups import ControlGroup
from sizebook.hosts.image import make_disk
from sizebook.hosts.inside import AGENT
from sizebook.hosts.local import usable_cpus
from sizebook.hosts.network import Link
from sizebook.model.deployment import CpuSet, Mode
from sizebook.model.errors import HostLacksError

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
    r"^(?:\[[ \d.]+\] )?(sizebook: no .*|Kernel panic.*|.*\berror\b.*)$", re.MULTILINE
)


class OwnKernelBoot:
    """A host with a kernel of its own; a subclass knows the program that runs it."""

    mode: Mode

    def __init__(self, site: Site) -> None:
        self.site = site
        self.cpus = self.cpus_of(site.spec.cpus or usable_cpus())
        """CPUs of this machine on which it runs."""
        self._group: ControlGroup | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._console = site.folder / CONSOLE

    def command(self, link: Link) -> Sequence[str]:
        """Return the command line that runs the kernel in the guest's own folder."""
        raise NotImplementedError

    def environment(self) -> Mapping[str, str]:
        """Return what the command needs in its environment beside this process's own."""
        raise NotImplementedError

    def cpus_of(self, cpus: CpuSet) -> CpuSet:
        """Return those of the CPUs that such a guest uses."""
        return cpus

    def start(self) -> Endpoint:
        spec, site = self.site.spec, self.site
        link = site.network.add_tap()
        self._make_disks(link)
        self._group = ControlGroup(
            f"sb-{link.interface.removeprefix('sb-')}-{spec.name}", site.guard
        )
        self._group.limit_cpu(spec.cpu_limit, spec.cpu_weight, self.cpus)
        environment = {"PATH": os.environ.get("PATH", os.defpath), **self.environment()}
        with self._console.open("wb") as console:
            self._process = subprocess.Popen(
                self._group.command(self.command(link)),
                cwd=site.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=console,
                start_new_session=True,
            )
        return Endpoint(link.address, AGENT_PORT, site.token)

    def why_ended(self) -> str | None:
        if self._process is None:
            return "it was not started"
        code = self._process.poll()
        if code is None:
            return None
        said = self._said()
        fatal = _FATAL.findall(said) or said.split("\n")
        words = [line.strip() for line in fatal if line.strip()] or ["not a word"]
        return f"its kernel ended with {code}: {words[-1]}"

    def pieces_s(self) -> Mapping[str, float]:
        """Return, by the guest's own clock, when its first program and then the agent began."""
        at = {name: float(seconds) for name, seconds in _MARK.findall(self._said())}
        if not {"init", "agent"} <= at.keys():
            return {}
        return {"kernel": at["init"], "mounts": at["agent"] - at["init"]}

    def usage(self) -> HostUsage:
        assert self._group is not None
        return self._group.usage()

    def set_limits(self, cpu_limit: float | None, cpu_weight: int | None, cpus: CpuSet) -> None:
        assert self._group is not None
        if cpus:
            self.cpus = self.cpus_of(cpus)
        self._group.limit_cpu(cpu_limit, cpu_weight, self.cpus)

    def set_memory(self, memory_mib: int) -> None:
        raise HostLacksError(
            found=f"{memory_mib} MiB for a guest of mode {self.mode} that runs",
            expected="a memory size that is given before the start",
            next_step="start another host with memory_mib of its own",
        )

    def close(self) -> None:
        if self._process is not None:
            try:  # the agent, once left, powers the guest off
                self._process.wait(_HALT_S if self._has_agent() else 0)
            except subprocess.TimeoutExpired:
                self._process.kill()
        if self._group is not None:
            self._group.remove()
        if self._process is not None:
            self._process.wait()
        for name in (ROOT_DISK, SCRATCH_DISK):
            (self.site.folder / name).unlink(missing_ok=True)

    def _has_agent(self) -> bool:
        return "sizebook: agent " in self._said()

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
        make_disk(site.folder / SCRATCH_DISK, mib=site.spec.disk_mib, content=content)
        (site.folder / SCRATCH_DISK).chmod(0o600)
        shutil.rmtree(content)
        (site.folder / ROOT_DISK).symlink_to(site.image.disk)

    def _said(self) -> str:
        try:
            return self._console.read_text(errors="replace").replace("\r", "")
        except OSError:
            return ""
