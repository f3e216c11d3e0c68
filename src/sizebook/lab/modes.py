"""The modes in which a chapter can be measured, and why it cannot be in the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sizebook.lab.chapter_lab import ChapterLab
from sizebook.model.errors import UsageError

BARE = "bare"
LOCAL, GUEST = "local", "guest"
"""Names of hosts: this machine as it is, and the one that a deployment of another mode brings."""
MODES: Mapping[str, str] = {
    BARE: "process of this machine",
    "container": "container (name spaces and a control group)",
    "user-space-kernel": "kernel in a process (gVisor)",
    "paravirtual-kernel": "paravirtual kernel (User Mode Linux)",
    "virtio-vm": "virtual machine, paravirtual devices, software CPU",
    "emulated-vm": "virtual machine, emulated devices, software CPU",
    "virtio-vm-kvm": "virtual machine, paravirtual devices, hardware-assisted",
    "emulated-vm-kvm": "virtual machine, emulated devices, hardware-assisted",
}
"""What stands between a process and this machine, from least to most, and what it is."""


@dataclass(frozen=True)
class ChosenModes:
    """The modes of a design, and those that were wanted and are not there."""

    present: tuple[str, ...]
    missing: Mapping[str, str]
    """Mode to the reason why it is not measured."""

    def host_of(self, mode: str) -> str:
        """Return the name of the host on which a deployment of this mode puts its roles."""
        return LOCAL if mode == BARE else GUEST


def choose_modes(lab: ChapterLab, wanted: Sequence[str]) -> ChosenModes:
    """Return the wanted modes that can be measured here, or that the lab's source has trials of.

    Raises UsageError for a mode that does not exist, and if none is left.
    """
    unknown = [mode for mode in wanted if mode not in MODES]
    if unknown:
        raise UsageError(
            found=f"mode {unknown[0]!r}",
            expected=f"some of {', '.join(MODES)}",
            next_step="correct the parameter modes",
        )
    if lab.source == "measure":
        why_not = _look_here()
    else:
        has = lab.measured_levels("mode")
        why_not = {mode: "" if mode in has else "the source has no trials of it" for mode in MODES}
    present = tuple(mode for mode in MODES if mode in wanted and not why_not[mode])
    missing = {mode: why for mode, why in why_not.items() if mode in wanted and why}
    if not present:
        raise UsageError(
            found="; ".join(f"no {mode}: {why}" for mode, why in missing.items()) or "no mode",
            expected="at least one mode that can be measured",
            next_step="add mode bare, or give another source",
        )
    return ChosenModes(present, missing)


def _look_here() -> Mapping[str, str]:
    """Return why the harness cannot start hosts of a mode on this machine; empty: it can."""
    return {mode: "" if mode == BARE else "the harness starts no such hosts yet" for mode in MODES}
