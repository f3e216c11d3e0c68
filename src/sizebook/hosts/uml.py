"""A paravirtual kernel: Linux compiled as a program (user-mode Linux), which knows what it runs on.

It has one CPU, whatever the host has. Its kernel and the stubs in which its processes run take
turns, so it is kept on one CPU of this machine: on two it is three times as slow.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from sizebook.hosts.boots import Site
from sizebook.hosts.cgroups import look_for_root
from sizebook.hosts.image import INIT
from sizebook.hosts.kernels import find_user_mode_linux
from sizebook.hosts.local import usable_cpus
from sizebook.hosts.mode_kind import ModeKind, Supplies
from sizebook.hosts.mortal import mortal
from sizebook.hosts.network import Link
from sizebook.hosts.own_kernel import ROOT_DISK, SCRATCH_DISK, OwnKernelBoot
from sizebook.model.deployment import CpuSet
from sizebook.model.errors import HostLacksError
from sizebook.model.modes import Mode

_SOURCE = Path(__file__).with_name("xstate.c")
_CPU_FACTS = Path("/proc/cpuinfo")
_MORE_REGISTERS = "amx_tile"
"""Flag of CPUs with more registers than a user-mode kernel before 6.13 keeps for a process."""


class UserModeLinuxBoot(OwnKernelBoot):
    """Boots a guest of mode ``paravirtual-kernel``."""

    mode: Mode = "paravirtual-kernel"

    def __init__(self, site: Site, state: Path) -> None:
        """Raises HostLacksError if this machine has no user-mode kernel that can run on its CPU."""
        super().__init__(site)
        self._kernel = find_user_mode_linux()
        self._preload = ptrace_library(state)

    def command(self, link: Link) -> Sequence[str]:
        card = f"transport=tap,ifname={link.interface},mac={link.hardware_address}"
        return (
            str(self._kernel.program),
            f"mem={self.site.spec.memory_mib}M",
            *("root=/dev/ubda", "rootfstype=ext4", "ro", f"init={INIT}"),
            *(f"ubd0r={ROOT_DISK}", f"ubd1={SCRATCH_DISK}"),
            *("con=null", "con0=null,fd:1", "ssl=null", "uml_dir=.", "umid=kernel"),
            f"vec0:{card},depth=128,gro=1",
            *("panic=1", "quiet"),
        )

    def environment(self) -> Mapping[str, str]:
        # The guest's memory is a file there; on a disk its pages would be written back.
        memory = {"TMPDIR": "/dev/shm"}
        return memory | ({"LD_PRELOAD": str(self._preload)} if self._preload else {})

    def usable_cpus(self, cpus: CpuSet) -> CpuSet:
        return (cpus or usable_cpus())[:1]


def ptrace_library(state: Path, cpu_facts: Path = _CPU_FACTS) -> Path | None:
    """Return the library with which a user-mode kernel runs on this CPU; None: it needs none.

    Compiled once from ``xstate.c``, which says what it is for. Raises HostLacksError without a C
    compiler.
    """
    if f" {_MORE_REGISTERS} " not in cpu_facts.read_text().replace("\n", " "):
        return None
    name = hashlib.sha256(_SOURCE.read_bytes()).hexdigest()[:16]
    library = state / "hosts" / "uml" / f"xstate-{name}.so"
    if library.is_file():
        return library
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        raise HostLacksError(
            found=f"a CPU with more registers ({_MORE_REGISTERS}) than user-mode Linux knows, and "
            "no C compiler",
            expected="a C compiler, to make the library that user-mode Linux needs here",
            next_step="install one (Debian: apt-get install gcc)",
        )
    library.parent.mkdir(parents=True, exist_ok=True)
    partial = library.with_suffix(".partial")
    command = [compiler, "-O2", "-shared", "-fPIC", "-nostdlib", "-o", str(partial), str(_SOURCE)]
    done = subprocess.run(mortal(command), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise HostLacksError(
            found=f"{compiler} ended with {done.returncode}: {done.stderr.strip()[-200:]}",
            expected=f"a library made of {_SOURCE.name}",
            next_step="install a C compiler that works (Debian: apt-get install gcc)",
        )
    partial.rename(library)
    return library


def _look(supplies: Supplies) -> None:
    look_for_root()
    find_user_mode_linux()
    ptrace_library(supplies.state)


PARAVIRTUAL_KERNEL = ModeKind(
    UserModeLinuxBoot.mode,
    "paravirtual kernel (user-mode Linux)",
    _look,
    start_s=28.0,
    boot=UserModeLinuxBoot,
    programs=("linux.uml", "cc"),
    memory_changes=False,
    in_smoke=True,
    colour=0,
)
