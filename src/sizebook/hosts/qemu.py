"""Virtual machines (QEMU): with devices made for guests, or with copies of real ones throughout.

Without KVM the CPU is emulated too; then all of a guest's code is translated. With KVM only the
devices are. Both kinds boot the same kernel and the same image and differ in nothing but their
drivers and devices.
"""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path

from sizebook.hosts.boots import Boot, Site
from sizebook.hosts.cgroups import look_for_root
from sizebook.hosts.image import ROOT_LABEL
from sizebook.hosts.initrd import build_initrd
from sizebook.hosts.kernels import (
    EMULATED,
    FILE_SYSTEM,
    PARAVIRTUAL,
    Kernel,
    find_kernel,
    kernel_folder,
)
from sizebook.hosts.kvm import find_kvm_cpu, look_for_device
from sizebook.hosts.local import usable_cpus
from sizebook.hosts.mode_kind import ModeKind, Supplies
from sizebook.hosts.network import Link
from sizebook.hosts.own_kernel import ROOT_DISK, SCRATCH_DISK, OwnKernelBoot
from sizebook.model.errors import HostLacksError
from sizebook.model.modes import Mode

_IO_URING_SETUP = 425
"""Number of the system call, the same on all architectures."""


class QemuBoot(OwnKernelBoot):
    """Boots a virtual machine of one of the four modes."""

    def __init__(self, site: Site, state: Path, *, virtio: bool, kvm_cpu: str = "") -> None:
        """``virtio``: devices made for guests. ``kvm_cpu``: the CPU model that boots under KVM
        here; empty in modes without KVM.
        """
        super().__init__(site)
        self.mode: Mode = site.spec.mode
        self._kvm_cpu = kvm_cpu
        self._program = find_qemu()
        self._kernel = find_kernel(state)
        self._virtio = virtio
        self._initrd = machine_initrd(self._kernel, self._virtio, state)

    def command(self, link: Link) -> Sequence[str]:
        spec = self.site.spec
        card = "virtio-net-pci" if self._virtio else "e1000"
        words = f"console=ttyS0 quiet panic=-1 sizebook.root={ROOT_LABEL}"
        accelerator = "kvm" if self._kvm_cpu else "tcg,thread=multi"
        return (
            *(str(self._program), "-M", "pc", "-accel", accelerator),
            *("-cpu", self._kvm_cpu or "max", "-smp", str(len(spec.cpus or usable_cpus()))),
            *("-m", str(spec.memory_mib), "-nodefaults", "-no-reboot", "-no-user-config"),
            *("-display", "none", "-serial", "stdio", "-monitor", "none"),
            *("-kernel", str(self._kernel.image), "-initrd", str(self._initrd), "-append", words),
            # What is measured on the scratch disk is the disk, not this machine's page cache; the
            # root is only read, and is the same for every guest.
            *self._disk(0, f"file={ROOT_DISK},snapshot=on"),
            *self._disk(1, f"file={SCRATCH_DISK},{disk_access(self.site.folder)}"),
            *("-netdev", f"tap,id=net,ifname={link.interface},script=no,downscript=no"),
            *("-device", f"{card},netdev=net,mac={link.hardware_address}"),
        )

    def environment(self) -> Mapping[str, str]:
        return {"TMPDIR": str(self.site.folder)}

    def _disk(self, number: int, options: str) -> tuple[str, ...]:
        drive = f"format=raw,{options}"
        if not self._virtio:
            return "-drive", f"{drive},if=ide,index={number}"
        device = f"virtio-blk-pci,drive=disk{number}"
        return "-drive", f"{drive},if=none,id=disk{number}", "-device", device


def find_qemu() -> Path:
    """Return the program of a whole machine of this architecture; HostLacksError if none."""
    machine = os.uname().machine
    program = shutil.which(f"qemu-system-{machine}")
    if program is None or machine != "x86_64":
        raise HostLacksError(
            found=f"no qemu-system-{machine}" if machine == "x86_64" else f"a CPU of {machine}",
            expected="qemu-system-x86_64 on a CPU of its kind",
            next_step="install it (Debian: apt-get install qemu-system-x86)",
        )
    return Path(program)


def machine_initrd(kernel: Kernel, virtio: bool, state: Path) -> Path:
    """Return the first file system with the drivers of one kind of machine."""
    return build_initrd(kernel, (*(PARAVIRTUAL if virtio else EMULATED), *FILE_SYSTEM), state)


def disk_access(folder: Path) -> str:
    """Return how a disk's file in this folder is opened: past the page cache where that works.

    A file system such as tmpfs knows no direct access; then writes go through the cache.
    """
    if not _opens_directly(folder):
        return "cache=writeback"
    return f"cache=none,aio={'io_uring' if _has_io_uring() else 'threads'}"


def _opens_directly(folder: Path) -> bool:
    probe = folder / "direct"
    try:
        os.close(os.open(probe, os.O_CREAT | os.O_RDWR | os.O_DIRECT, 0o600))
    except OSError:
        return False
    finally:
        probe.unlink(missing_ok=True)
    return True


@cache
def _has_io_uring() -> bool:
    """Return whether the kernel lets this process use io_uring: asked for a ring of no entries."""
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall(_IO_URING_SETUP, 0, None)
    return ctypes.get_errno() not in (errno.ENOSYS, errno.EPERM)


def _glance(supplies: Supplies) -> None:
    look_for_root()
    find_qemu()
    _ = supplies.kernel


def _glance_at_kvm(supplies: Supplies) -> None:
    look_for_device()
    _glance(supplies)


def _find_kvm_cpu(supplies: Supplies) -> str:
    look_for_root()
    kernel = supplies.kernel
    return find_kvm_cpu(find_qemu(), kernel, machine_initrd(kernel, True, supplies.state))


def _boot(site: Site, state: Path, *, virtio: bool) -> Boot:
    return QemuBoot(site, state, virtio=virtio)


def _boot_with_kvm(site: Site, state: Path, *, virtio: bool) -> Boot:
    return QemuBoot(site, state, virtio=virtio, kvm_cpu=_find_kvm_cpu(Supplies(state)))


def _kind(mode: Mode, start_s: float, *, virtio: bool, kvm: bool, colour: int) -> ModeKind:
    devices = "devices made for guests" if virtio else "copies of real devices"
    return ModeKind(
        mode,
        f"virtual machine, {devices} (QEMU, {'KVM' if kvm else 'emulated CPU'})",
        _find_kvm_cpu if kvm else _glance,
        start_s,
        boot=partial(_boot_with_kvm if kvm else _boot, virtio=virtio),
        programs=("qemu-system-x86_64",),
        brought=kernel_folder,
        glance=_glance_at_kvm if kvm else None,
        emulates_cpu=not kvm,
        memory_changes=False,
        colour=colour,
    )


VIRTUAL_MACHINES = (
    _kind("virtio-vm", 130.0, virtio=True, kvm=False, colour=2),
    _kind("emulated-vm", 150.0, virtio=False, kvm=False, colour=5),
    # How long a start takes with KVM is guessed.
    _kind("virtio-vm-kvm", 15.0, virtio=True, kvm=True, colour=4),
    _kind("emulated-vm-kvm", 20.0, virtio=False, kvm=True, colour=6),
)
