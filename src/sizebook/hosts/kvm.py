"""Whether virtual machines can use the CPU itself (KVM): by booting one, never by looking at files.

A device file that opens proves nothing: where this machine is itself a guest, KVM may refuse every
CPU model, or start a guest that never says a word.
"""

from __future__ import annotations

import os
import subprocess
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sizebook.hosts.initrd import BOOTED
from sizebook.hosts.kernels import Kernel
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
        tried = boot_once(qemu, kernel, initrd, "kvm", model, 2 * emulated.seconds + 5)
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
    if not os.access(DEVICE, os.R_OK | os.W_OK):
        raise HostLacksError(
            found=f"{DEVICE} that this user may not open" if DEVICE.exists() else f"no {DEVICE}",
            expected="a CPU that runs guests itself",
            next_step="use a machine that is not itself a guest, or one with nested "
            "virtualization; as an ordinary user join the group kvm",
        )
    trial = try_kvm(qemu, kernel, initrd)
    if trial.failed:
        raise HostLacksError(
            found=trial.failed,
            expected="a guest that boots",
            next_step="use a machine that is not itself a guest, or one with nested virtualization",
        )
    return trial.cpu


def boot_once(
    qemu: Path, kernel: Kernel, initrd: Path, accelerator: str, cpu: str, patience_s: float
) -> TestBoot:
    """Boot a machine without disk or network until its first program has said so."""
    command = [str(qemu), "-M", "pc", "-accel", accelerator, "-cpu", cpu, "-m", "256"]
    command += ["-kernel", str(kernel.image), "-initrd", str(initrd), "-nodefaults", "-no-reboot"]
    command += ["-display", "none", "-serial", "stdio"]
    command += ["-append", "console=ttyS0 quiet panic=-1"]
    begin = time.monotonic()
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=patience_s,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        words = _said(error.stdout)
        heard = f", last words: {words[-1]}" if words else ", without a word of its kernel"
        return TestBoot(patience_s, f"not up after {patience_s:.0f} s{heard}")
    seconds = time.monotonic() - begin
    if BOOTED.encode() in done.stdout:
        return TestBoot(seconds, "")
    return TestBoot(seconds, f"QEMU ended with {done.returncode}: {_reason(done)}")


def _reason(done: subprocess.CompletedProcess[bytes]) -> str:
    """Return the line that tells of an error, before those that only tell where."""
    words = _said(done.stderr) or _said(done.stdout) or ["no word"]
    return next((line for line in words if "error" in line.lower()), words[-1])


def _said(output: bytes | None) -> list[str]:
    """Return the lines of an output that hold words, without what steers a terminal."""
    text = (output or b"").decode(errors="replace")
    plain = "".join(letter if letter.isprintable() else "\n" for letter in text)
    return [line.strip()[:160] for line in plain.splitlines() if len(line.strip()) > 3]
