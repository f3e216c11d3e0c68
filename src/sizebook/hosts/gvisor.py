"""A kernel in user space: gVisor answers the system calls of a container's processes itself.

It takes the same description as a container. Its network is its own as well: packets leave it by
the interface of the container's name space, whose address it takes over.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from sizebook.hosts.agents import Endpoint
from sizebook.hosts.boots import Site
from sizebook.hosts.cgroups import look_for_root
from sizebook.hosts.container import ContainerBoot
from sizebook.hosts.mode_kind import ModeKind, Supplies
from sizebook.hosts.runsc import find_runsc, runsc_folder
from sizebook.model.modes import Mode


class GvisorBoot(ContainerBoot):
    """Boots a host of mode ``user-space-kernel``."""

    mode: Mode = "user-space-kernel"

    def __init__(self, site: Site, state: Path) -> None:
        """Raises HostLacksError if there is no runsc that can be used."""
        super().__init__(site)
        self._runsc = find_runsc(state)
        self._unmounting: int | None = None

    def launch(self, words: Sequence[str]) -> list[str]:
        # The kernel and what carries files to it belong to the host as well.
        return self.site.group.command(words)

    def start(self) -> Endpoint:
        self._unmounting = self.site.guard.promise(self._unmount())
        return super().start()

    def close(self) -> None:
        super().close()
        if self._unmounting is not None:
            subprocess.run(self._unmount(), capture_output=True, check=False)
            self.site.guard.keep(self._unmounting)
            self._unmounting = None

    def _unmount(self) -> list[str]:
        """Return the command that undoes a mount which runsc makes for its helper and leaves."""
        return ["umount", str(self.site.folder / "runsc" / "null-netns")]

    def runtime(self) -> list[str]:
        return [
            str(self._runsc.program),
            *("--root", str(self.site.folder / "runsc")),
            *("--platform", self._runsc.platform, "--network", "sandbox"),
            # The root is read-only; nothing is to be kept beside it.
            *(("--overlay2", "none") if self._runsc.platform == "systrap" else ()),
        ]


def _look(supplies: Supplies) -> None:
    look_for_root()
    find_runsc(supplies.state)


USER_SPACE_KERNEL = ModeKind(
    GvisorBoot.mode,
    "kernel in user space (gVisor)",
    _look,
    start_s=18.0,
    boot=GvisorBoot,
    programs=("runsc",),
    brought=runsc_folder,
    colour=7,
)
