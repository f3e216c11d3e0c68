"""The modes of hosts by name, and what a specification must know of them.

All else that there is to know of a mode is in its ``ModeKind``, in a module of its own below
``hosts``.
"""

from __future__ import annotations

from typing import Literal

Mode = Literal[
    "bare",
    "namespace",
    "container",
    "user-space-kernel",
    "paravirtual-kernel",
    "virtio-vm",
    "emulated-vm",
    "virtio-vm-kvm",
    "emulated-vm-kvm",
    "ssh",
]
"""What stands between a process and this machine's kernel and devices.

``bare``: nothing. ``namespace``: nothing either, but a network of its own: an address, ports and
links, as a tier has. ``container``: name spaces and a control group (runc).
``user-space-kernel``: a kernel in a process that answers system calls (gVisor).
``paravirtual-kernel``: a kernel that knows it is a guest (user-mode Linux). ``virtio-vm`` and
``emulated-vm``: a machine in software, with devices made for guests or copies of real ones (QEMU);
with ``-kvm`` the CPU runs its code itself.
``ssh``: nothing either, but it is another machine, which an inventory names.
"""

AS_IT_IS: Mode = "bare"
"""Of this machine: nothing is made for it."""
Elsewhere = Literal["ssh"]
ELSEWHERE: Elsewhere = "ssh"
"""Of another machine, which uses nothing of this one."""
CONNECTED: tuple[Mode, ...] = ("namespace", "container")
"""Modes whose hosts have interfaces that this machine can set up."""
HARDWARE_GUESTS: tuple[Mode, ...] = ("virtio-vm-kvm", "emulated-vm-kvm")
"""Guests whose code the CPU runs itself."""
SOFTWARE_GUESTS: tuple[Mode, ...] = (
    "user-space-kernel",
    "paravirtual-kernel",
    "virtio-vm",
    "emulated-vm",
)
"""Guests made by a program alone: what they cost says nothing of hardware virtualization."""
