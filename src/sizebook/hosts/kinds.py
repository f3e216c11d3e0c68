"""The modes that hosts can have: how a host of each is made, and what that needs."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sizebook.hosts.boots import Boot, Site
from sizebook.hosts.container import PROGRAM, ContainerBoot, find_program
from sizebook.hosts.gvisor import GvisorBoot
from sizebook.hosts.iproute import find_ip
from sizebook.hosts.kernels import find_kernel, find_user_mode_linux, kernel_folder
from sizebook.hosts.kvm import find_kvm_cpu, look_for_device
from sizebook.hosts.qemu import QemuBoot, find_qemu, machine_initrd
from sizebook.hosts.runsc import find_runsc, runsc_folder
from sizebook.hosts.spaces import find_nsenter
from sizebook.hosts.uml import UserModeLinuxBoot, ptrace_library
from sizebook.model.deployment import Mode
from sizebook.model.errors import HostLacksError

_QEMU = "qemu-system-x86_64"


@dataclass(frozen=True)
class ModeKind:
    """A mode, how its hosts are made, and what is looked at before one is made on trial."""

    mode: Mode
    title: str
    look: Callable[[], object]
    """Raises HostLacksError if something is missing that can be told without a trial."""
    boot: Callable[[Site], Boot] | None = None
    """None: processes of this machine itself, which need no image and no agent."""
    programs: tuple[str, ...] = ()
    """Programs, or files by their paths, that it uses; a new version of one is tried anew."""
    glance: Callable[[], object] | None = None
    """The part of ``look`` that starts nothing; None: all of it."""
    virtualization: bool = True
    """Whether it is one of the ways to share a machine that are compared with each other."""


def mode_kinds(state: Path) -> tuple[ModeKind, ...]:
    """Return all modes that hosts can have, the ones nearest to the machine first.

    ``state`` is the project's state folder, into which set-up has brought what some of them need.
    """

    def gvisor(site: Site) -> Boot:
        return GvisorBoot(site, state)

    def user_mode_linux(site: Site) -> Boot:
        return UserModeLinuxBoot(site, state)

    def machine(site: Site) -> Boot:
        return QemuBoot(site, state)

    def kvm_machine(site: Site) -> Boot:
        return QemuBoot(site, state, _look_for_kvm(state))

    def look_for_kvm() -> object:
        return _look_for_kvm(state)

    def glance_at_kvm() -> object:
        look_for_device()
        return look_for_machine()

    @cache  # four modes ask the same question, and it reads the modules of a kernel
    def kernel() -> object:
        return find_kernel(state)

    def look_for_machine() -> object:
        _look_for_root()
        return find_qemu(), kernel()

    def look_for_gvisor() -> object:
        _look_for_root()
        return find_runsc(state)

    def look_for_user_mode_linux() -> object:
        _look_for_root()
        return find_user_mode_linux(), ptrace_library(state)

    machine_parts = (_QEMU, str(kernel_folder(state)))
    return (
        ModeKind("bare", "processes in a control group", _look_for_root),
        ModeKind(
            "namespace",
            "processes in a control group, with a network of their own",
            _look_for_spaces,
            programs=("ip", "nsenter"),
            virtualization=False,
        ),
        ModeKind("container", "container (runc)", _look_for_runc, ContainerBoot, (PROGRAM,)),
        ModeKind(
            "user-space-kernel",
            "kernel in user space (gVisor)",
            look_for_gvisor,
            gvisor,
            ("runsc", str(runsc_folder(state))),
        ),
        ModeKind(
            "paravirtual-kernel",
            "paravirtual kernel (user-mode Linux)",
            look_for_user_mode_linux,
            user_mode_linux,
            ("linux.uml", "cc"),
        ),
        ModeKind(
            "virtio-vm",
            "virtual machine, devices made for guests (QEMU, emulated CPU)",
            look_for_machine,
            machine,
            machine_parts,
        ),
        ModeKind(
            "emulated-vm",
            "virtual machine, copies of real devices (QEMU, emulated CPU)",
            look_for_machine,
            machine,
            machine_parts,
        ),
        ModeKind(
            "virtio-vm-kvm",
            "virtual machine, devices made for guests (QEMU, KVM)",
            look_for_kvm,
            kvm_machine,
            machine_parts,
            glance_at_kvm,
        ),
        ModeKind(
            "emulated-vm-kvm",
            "virtual machine, copies of real devices (QEMU, KVM)",
            look_for_kvm,
            kvm_machine,
            machine_parts,
            glance_at_kvm,
        ),
    )


def boots(kinds: Iterable[ModeKind]) -> dict[Mode, Callable[[Site], Boot]]:
    """Return by mode what makes its hosts, as ``opened_hosts`` wants it."""
    return {kind.mode: kind.boot for kind in kinds if kind.boot is not None}


def _look_for_root() -> None:
    if sys.platform != "linux":
        raise HostLacksError(
            found=f"a system of kind {sys.platform}",
            expected="Linux, whose control groups limit processes",
            next_step="use a Linux machine",
        )
    if os.geteuid() != 0:
        raise HostLacksError(
            found="a user who may not make control groups",
            expected="root",
            next_step="run as root, for chapters with limited hosts",
        )


def _look_for_spaces() -> None:
    _look_for_root()
    find_ip()
    find_nsenter()


def _look_for_runc() -> None:
    _look_for_root()
    find_program()


def _look_for_kvm(state: Path) -> str:
    _look_for_root()
    kernel = find_kernel(state)
    return find_kvm_cpu(find_qemu(), kernel, machine_initrd(kernel, True, state))
