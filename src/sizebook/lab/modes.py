"""The modes in which a chapter is measured: which there are, and a deployment put into each."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sizebook.hosts import Guard
from sizebook.hosts.kinds import KIND_OF, KINDS, KINDS_HERE
from sizebook.hosts.modes import FoundMode, glance_at_modes
from sizebook.hosts.namespace import NAMESPACE
from sizebook.hosts.wires import missing_features
from sizebook.lab.chapter_lab import ChapterLab
from sizebook.lab.equipment import examine_modes
from sizebook.lab.placement import Placement
from sizebook.lab.plan_only import assume, takes_for_granted
from sizebook.model.deployment import BalancerRole, Deployment, HostSpec
from sizebook.model.errors import UsageError
from sizebook.model.modes import AS_IT_IS, Mode
from sizebook.store import Project

BOX = "box"
"""Name of the host that a deployment is put onto."""
SOFT_CPU = tuple(kind.mode for kind in KINDS if kind.emulates_cpu)
"""Modes whose CPU is software: a start takes minutes, and so does what takes seconds elsewhere."""
MODES: Mapping[Mode, str] = {
    kind.mode: kind.unlimited or kind.title for kind in KINDS if kind.virtualization
}
"""What stands between a process and this machine, from least to most, and what it is."""
_SMOKE = tuple(kind.mode for kind in KINDS if kind.in_smoke)
_OF_LINKS = ("hosts", "rate", "delay", "offloads")


@dataclass(frozen=True)
class ChosenModes:
    """The modes of a design, and those that were wanted and are not there."""

    present: tuple[Mode, ...]
    missing: Mapping[Mode, str]
    """Mode to the reason why it is not measured."""


def choose_modes(lab: ChapterLab, wanted: Sequence[str]) -> ChosenModes:
    """Return the wanted modes that can be measured here, or that the lab's source has trials of.

    Which of them this machine can do is tried out once; that takes up to a minute or two. Raises
    UsageError for a mode that does not exist, and if none is left.
    """
    unknown = [mode for mode in wanted if mode not in MODES]
    if unknown:
        raise UsageError(
            found=f"mode {unknown[0]!r}",
            expected=f"some of {', '.join(MODES)}",
            next_step="correct the parameter modes",
        )
    found: dict[Mode, FoundMode] = {}
    if lab.measures:
        tried = tuple(MODES) if lab.profile.publishable else _SMOKE
        found = find_modes_here(lab.project, tuple(mode for mode in tried if mode in wanted))
    has = lab.measured_levels("mode")
    why_not = {mode: "" if mode in has else _lacks(lab, mode, found) for mode in MODES}
    present = tuple(mode for mode in MODES if mode in wanted and not why_not[mode])
    missing = {mode: why for mode, why in why_not.items() if mode in wanted and why}
    if not present:
        raise UsageError(
            found="; ".join(f"no {mode}: {why}" for mode, why in missing.items()) or "no mode",
            expected="at least one mode that can be measured",
            next_step=f"add mode {AS_IT_IS}, or give another source",
        )
    return ChosenModes(present, missing)


def find_modes_here(project: Project, wanted: Sequence[Mode]) -> dict[Mode, FoundMode]:
    """Return which modes this machine has, tried out unless they were; ``bare`` it always has."""
    found = {one.mode: one for one in _examine(project, wanted)}
    return {mode: found[mode] for mode in wanted if mode != AS_IT_IS} | {
        AS_IT_IS: FoundMode(AS_IT_IS, MODES[AS_IT_IS])
    }


def _examine(project: Project, wanted: Collection[Mode]) -> tuple[FoundMode, ...]:
    """Return which modes this machine has, tried out; a plan is content with a look."""
    if not takes_for_granted():
        return examine_modes(project, wanted)
    kinds = (kind for kind in KINDS_HERE if kind.mode in wanted)
    found = glance_at_modes(project.state, kinds)
    for one in found:
        if not one.tried:
            assume(f"mode {one.mode} works")
    return found


def limited_modes(lab: ChapterLab, chosen: ChosenModes) -> ChosenModes:
    """Return those of the chosen modes whose hosts can be put under limits; maybe none.

    All but ``bare`` were proved by a limit that worked. Processes of this machine are there without
    control groups too, but then nothing limits them.
    """
    if AS_IT_IS not in chosen.present:
        return chosen
    found = _examine(lab.project, (AS_IT_IS,))[0].reason if lab.measures else ""
    why = lab.lacks("limits", found)
    if not why:
        return chosen
    present = tuple(mode for mode in chosen.present if mode != AS_IT_IS)
    return ChosenModes(present, {**chosen.missing, AS_IT_IS: why})


def missing_mode(lab: ChapterLab, mode: Mode, factor: str) -> str:
    """Return why a lab has no trials on hosts of a mode; empty if it can measure, or has, some.

    ``factor`` is one that only the trials on such hosts have.
    """
    if lab.measured_levels(factor):
        return ""
    return _lacks(lab, mode, find_modes_here(lab.project, (mode,)) if lab.measures else {})


def missing_of_links(lab: ChapterLab) -> dict[str, str]:
    """Return what hosts with links of their own cannot have here, with reasons; empty: nothing.

    Keys: ``hosts`` (then nothing else is there either), ``rate``, ``delay``, ``offloads``. Tried
    each time, in a tenth of a second, but for the first; of bundles that are only shown it is what
    was lacking when they were measured.
    """
    here = _links_missing_here(lab.project) if lab.measures else {}
    lacking = {one: lab.lacks(f"links/{one}", here.get(one, "")) for one in _OF_LINKS}
    return {one: why for one, why in lacking.items() if why}


def _links_missing_here(project: Project) -> dict[str, str]:
    found = _examine(project, (NAMESPACE.mode,))[0]
    if not found.available:
        return dict.fromkeys(_OF_LINKS, found.reason)
    if takes_for_granted():  # trying makes interfaces
        assume("links between hosts work")
        return {}
    guard = Guard(project.state / "guard")
    try:
        return missing_features(guard)
    finally:
        guard.close()


def _lacks(lab: ChapterLab, mode: Mode, found: Mapping[Mode, FoundMode]) -> str:
    """Return why there are no trials of a mode; empty: they can be measured."""
    left_out = f"left out of the {lab.profile.name} profile"
    why = lab.lacks(f"mode/{mode}", found[mode].reason if mode in found else left_out)
    return why or ("" if lab.measures else "not measured in this run")


def memory_can_change(mode: Mode) -> bool:
    """Return whether a host of this mode can be given other memory while it runs.

    A kernel of its own has the memory with which it was started.
    """
    return KIND_OF[mode].memory_changes


def in_mode(
    deployment: Deployment, mode: Mode, here: Placement, *, memory_mib: int = 2048, **limits: Any
) -> Deployment:
    """Return a deployment with all of its roles on one host of a mode, on the CPUs of the stack.

    ``bare`` leaves it as it is, on this machine, unless ``limits`` are given. A balancer stays on
    this machine. ``limits`` are further fields of ``HostSpec``, such as ``cpu_limit`` or
    ``disk_mib``.
    """
    if mode == AS_IT_IS and not limits:
        return deployment
    box = HostSpec(name=BOX, mode=mode, cpus=here.stack, memory_mib=memory_mib, **limits)
    moved = [role.role for role in deployment.roles if not isinstance(role, BalancerRole)]
    return deployment.on(box, **dict.fromkeys(moved, BOX))
