"""KVM counts only when a guest has booted with it: judged with a program in QEMU's place."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.waiting import HANGS_S

from sizebook.hosts import kvm
from sizebook.hosts.initrd import BOOTED
from sizebook.hosts.kernels import Kernel
from sizebook.model.errors import HostLacksError

KERNEL = Kernel("6.1", Path("vmlinuz"), Path("modules"))
HANGS = "exec sleep 60"
ABORTS = "echo 'qemu: error: failed to set MSR 0x48d'; echo 'qemu: Assertion failed'; exit 1"
BOOTS = f"echo '{BOOTED}0.41'; exec sleep 60"


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Return a function that makes a program which does what is said for each accelerator."""
    device = tmp_path / "kvm"
    device.touch()
    monkeypatch.setattr(kvm, "DEVICE", device)

    def make(emulated: str, host: str, others: str) -> Path:
        program = tmp_path / "qemu"
        program.write_text(
            f'#!/bin/sh\ncase "$*" in\n*"-accel tcg"*) {emulated} ;;\n'
            f'*"-cpu host"*) {host} ;;\n*) {others} ;;\nesac\n'
        )
        program.chmod(0o755)
        kvm.try_kvm.cache_clear()
        return program

    return make


def test_the_first_cpu_model_that_boots_is_taken(machine):
    """One that aborts is passed over; what follows is not tried."""
    assert kvm.find_kvm_cpu(machine(BOOTS, BOOTS, ABORTS), KERNEL, Path("i")) == "host"
    assert kvm.find_kvm_cpu(machine(BOOTS, ABORTS, BOOTS), KERNEL, Path("i")) == "max"


def test_what_was_seen_is_the_reason(machine):
    """The line that tells of the error, for each model; and that emulation boots."""
    with pytest.raises(HostLacksError) as raised:
        kvm.find_kvm_cpu(machine(BOOTS, ABORTS, ABORTS), KERNEL, Path("i"))
    assert raised.value.found.count("failed to set MSR 0x48d") == len(kvm.CPU_MODELS)
    assert "Assertion" not in raised.value.found
    assert "without KVM the same guest boots in 0." in raised.value.found


def test_a_guest_that_says_nothing_is_given_up_in_bounded_time(machine):
    """The file of the device is there and opens, and yet it does not count."""
    hanging = machine(BOOTS, HANGS, HANGS)
    tried = kvm.boot_once(hanging, KERNEL, Path("i"), "kvm", "host", 0.3)
    assert tried.failed == "not up after 0 s, without a word of its kernel"
    assert 0.3 <= tried.seconds < HANGS_S


def test_without_emulation_nothing_is_said_of_kvm(machine):
    """A broken initrd must not be taken for a lack of KVM."""
    with pytest.raises(HostLacksError, match="does not even boot without KVM"):
        kvm.find_kvm_cpu(machine(ABORTS, BOOTS, BOOTS), KERNEL, Path("i"))


def test_no_device_is_told_without_a_boot(machine, tmp_path):
    program = machine(HANGS, HANGS, HANGS)
    (tmp_path / "kvm").unlink()
    with pytest.raises(HostLacksError, match="found no "):
        kvm.find_kvm_cpu(program, KERNEL, Path("i"))
