"""What there is to know of a mode; each is told in the module that makes its hosts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from sizebook.hosts.boots import Boot, Site
from sizebook.hosts.kernels import Kernel, find_kernel
from sizebook.model.modes import ELSEWHERE, Mode


class Supplies:
    """What set-up has brought into a state folder; what several modes use is looked for once."""

    def __init__(self, state: Path) -> None:
        self.state = state

    @cached_property
    def kernel(self) -> Kernel:
        """The kernel of virtual machines. Raises HostLacksError."""
        return find_kernel(self.state)


@dataclass(frozen=True)
class ModeKind:
    """A mode: what its hosts are, how they are made, and what is looked at before one is tried."""

    mode: Mode
    title: str
    look: Callable[[Supplies], object]
    """Raises HostLacksError if something is missing that can be told without a trial."""
    start_s: float
    """Seconds in which a host and a node on it start, measured on two CPUs, which nodes share."""
    boot: Callable[[Site, Path], Boot] | None = None
    """Takes the state folder, too. None: processes of this machine itself, which need no image and
    no agent; or another machine, which an inventory names."""
    programs: tuple[str, ...] = ()
    """Programs that it uses; a new version of one is tried anew."""
    brought: Callable[[Path], Path] | None = None
    """Gives the folder, in the state folder, of what set-up brings for it."""
    glance: Callable[[Supplies], object] | None = None
    """The part of ``look`` that starts nothing; None: all of it."""
    unlimited: str = ""
    """What its hosts are where they have no limits, if they can be without."""
    virtualization: bool = True
    """Whether it is one of the ways to share a machine that are compared with each other."""
    own_network: bool = True
    """Whether its hosts have addresses of their own on this machine."""
    emulates_cpu: bool = False
    """Whether its CPU is software: a start takes minutes, and so does what takes seconds elsewhere.
    """
    memory_changes: bool = True
    """Whether a host can be given other memory while it runs; a kernel of its own has the memory
    with which it was started."""
    in_smoke: bool = False
    """Whether the smoke profile has it: a guest is among those, and none that takes minutes."""
    colour: int | None = None
    """Place in the palette of charts; no two modes that are compared share one."""

    @property
    def is_elsewhere(self) -> bool:
        """Whether its hosts are other machines."""
        return self.mode == ELSEWHERE
