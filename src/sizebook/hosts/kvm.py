"""Whether virtual machines can use the CPU itself (KVM): by booting one, never by looking at files.

A device file that opens proves nothing: where this machine is itself a guest, KVM may refuse every
CPU model, or start a guest that never says a word.
"""

from __future__ import annotations

import os
import select
import subprocess
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sizebook.hosts.initrd import BOOTED
from sizebook.hosts.kernels import Kernel
from sizebook.hosts.mortal import mortal
from sizebook.model.errors import HostLacksError

DEVICE = Path("/dev/kvm")
CPU_MODELS = ("host", "max", "qemu64")
_EMULATED_S = 60.0


@dataclass(frozen=True)
class TestBoot:
    """A kernel that was booted, with no disk, until it said that it had."""

    seconds: float
    failed: str
    """Why it did not come up; empty if it did."""


@dataclass(frozen=True)
class KvmTrial:
    """What came of booting a guest with KVM."""

    cpu: str
    """The CPU model that booted; empty if none did."""
    failed: str
    """What was seen instead; empty if one booted."""


@cache
def try_kvm(qemu: Path, kernel: Kernel, initrd: Path) -> KvmTrial:
    """Boot a guest without KVM, which tells how long to wait, then with it, a CPU model each."""
    emulated = boot_once(qemu, kernel, initrd, "tcg", "max", _EMULATED_S)
    if emulated.failed:
        return KvmTrial("", f"a guest that does not even boot without KVM: {emulated.failed}")
    reasons = []
    for model in CPU_MODELS:
        tried = boot_once(qemu, kernel, initrd, "kvm", model, 1.5 * emulated.seconds + 3)
        if not tried.failed:
            return KvmTrial(model, "")
        reasons.append(f"CPU model {model}: {tried.failed}")
    return KvmTrial(
        "",
        f"{DEVICE}, which opens, but no guest that boots with it ({'; '.join(reasons)}; "
        f"without KVM the same guest boots in {emulated.seconds:.1f} s)",
    )


def find_kvm_cpu(qemu: Path, kernel: Kernel, initrd: Path) -> str:
    """Return the CPU model with which a guest boots under KVM.

    Raises HostLacksError, with what was seen for each model, if none does.
    """
    look_for_device()
    trial = try_kvm(qemu, kernel, initrd)
    if trial.failed:
        raise HostLacksError(
            found=trial.failed,
            expected="a guest that boots",
            next_step="use a machine that is not itself a guest, or one with nested virtualization",
        )
    return trial.cpu


def look_for_device() -> None:
    """Raise HostLacksError unless this user may open the device of KVM; that proves little."""
    if not os.access(DEVICE, os.R_OK | os.W_OK):
        raise HostLacksError(
            found=f"{DEVICE} that this user may not open" if DEVICE.exists() else f"no {DEVICE}",
            expected="a CPU that runs guests itself",
            next_step="use a machine that is not itself a guest, or one with nested "
            "virtualization; as an ordinary user join the group kvm",
        )


def boot_once(
    qemu: Path, kernel: Kernel, initrd: Path, accelerator: str, cpu: str, patience_s: float
) -> TestBoot:
    """Boot a machine without disk or network until its first program has said so."""
    command = [str(qemu), "-M", "pc", "-accel", accelerator, "-cpu", cpu, "-m", "256"]
    command += ["-kernel", str(kernel.image), "-initrd", str(initrd), "-nodefaults", "-no-reboot"]
    command += ["-display", "none", "-serial", "stdio"]
    command += ["-append", "console=ttyS0 quiet panic=-1"]
    begin = time.monotonic()
    with subprocess.Popen(
        mortal(command), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as machine:
        assert machine.stdout is not None
        said = b""
        try:
            while BOOTED.encode() not in said:
                left_s = begin + patience_s - time.monotonic()
                if left_s <= 0 or not select.select([machine.stdout], [], [], left_s)[0]:
                    break
                if not (read := os.read(machine.stdout.fileno(), 1 << 16)):
                    break
                said += read
        finally:
            machine.kill()
    seconds = time.monotonic() - begin
    if BOOTED.encode() in said:
        return TestBoot(seconds, "")
    words = _said(said)
    if seconds >= patience_s:
        heard = f", last words: {words[-1]}" if words else ", without a word of its kernel"
        return TestBoot(seconds, f"not up after {seconds:.0f} s{heard}")
    reason = next((line for line in words if "error" in line.lower()), [*words, "no word"][-1])
    return TestBoot(seconds, f"QEMU ended: {reason}")


def _said(output: bytes) -> list[str]:
    """Return the lines of an output that hold words, without what steers a terminal."""
    text = output.decode(errors="replace")
    plain = "".join(letter if letter.isprintable() else "\n" for letter in text)
    return [line.strip()[:160] for line in plain.splitlines() if len(line.strip()) > 3]
