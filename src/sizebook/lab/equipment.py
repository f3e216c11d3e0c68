"""What this host has and lacks for measuring, and what would bring it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from sizebook.hosts import Guard, LocalHost
from sizebook.hosts.allowed import find_allowed, free_memory_mib
from sizebook.hosts.idling import idle_words
from sizebook.hosts.image import AppImage, ImagePlan, build_image
from sizebook.hosts.kinds import KINDS_HERE
from sizebook.hosts.modes import FoundMode, find_modes, known_modes
from sizebook.lab.placement import describe_cpus, place
from sizebook.model.errors import HostLacksError, MeasurementLockedError
from sizebook.model.modes import Mode
from sizebook.stack.build import find_build, has_stack
from sizebook.stack.jvms import find_jvms
from sizebook.stack.postgres import find_binaries
from sizebook.stack.servers import find_program
from sizebook.store import Project, measurement_lock

_MIN_MEMORY_MIB = 3_000
_MIN_DISK_MIB = 2_000


@dataclass(frozen=True)
class Item:
    """One thing that Sizebook uses."""

    name: str
    needed_for: str
    found: str
    """What there is; empty if it is missing."""
    reason: str = ""
    """Why it is missing or not usable."""
    bring: str = ""
    """What would bring it."""
    required: bool = True
    """False: only some chapters, tests or exports need it."""

    @property
    def ok(self) -> bool:
        """True if it is there and usable."""
        return bool(self.found)


def examine(project: Project) -> tuple[Item, ...]:
    """Return what this host has and lacks; starts no server and changes nothing."""
    looks = _LOOKS if has_stack(project) else _LOOKS_WITHOUT_STACK
    return tuple(look(project) for look in looks)


def examine_modes(
    project: Project, wanted: Collection[Mode] | None = None
) -> tuple[FoundMode, ...]:
    """Return which of the wanted modes (None: of all) this machine can have, each as it was tried.

    A trial takes seconds to a minute and is done once on a machine. A project without the reference
    stack is shown the modes that it has tried. Raises MeasurementLockedError where one must be
    tried and another measurement runs: that it cannot be had is then not known.
    """
    if wanted is None and not has_stack(project):
        return tuple(known_modes(project.state).values())
    kinds = tuple(kind for kind in KINDS_HERE if wanted is None or kind.mode in wanted)
    known = known_modes(project.state)
    if {kind.mode for kind in kinds} <= set(known):
        return tuple(known[kind.mode] for kind in kinds)
    scratch = project.state / "run"

    def image() -> AppImage:
        return build_image(ImagePlan(mount_points=(scratch,)), project.state)

    with measurement_lock("looking for virtualization modes", project.state):
        scratch.mkdir(parents=True, exist_ok=True)
        guard = Guard(project.state / "guard")
        try:
            local = LocalHost(guard)
            return find_modes(
                image,
                scratch=scratch,
                state=project.state,
                local=local,
                guard=guard,
                kinds=kinds,
            )
        finally:
            guard.close()


def tried_modes(
    project: Project, untried: str = "not tried yet", next_step: str = "sizebook doctor"
) -> tuple[FoundMode, ...]:
    """Return all modes as far as this machine has tried them; nothing is tried now.

    Others have ``untried`` as the reason, and what to do then.
    """
    known = known_modes(project.state)
    return tuple(
        known.get(kind.mode) or FoundMode(kind.mode, kind.title, untried, next_step)
        for kind in KINDS_HERE
    )


def _cpus(_: Project) -> Item:
    here = place()
    count = len({*here.stack, *here.generator})
    if count >= 2:
        return Item("CPUs", "generator and stack apart", describe_cpus(here))
    return Item(
        "CPUs",
        "generator and stack apart",
        "",
        f"{describe_cpus(here)}; on one CPU no trial can be valid",
        "a machine, a CPU affinity or a control group with at least 2 CPUs",
    )


def _memory(_: Project) -> Item:
    limit = find_allowed().memory_bytes
    note = "" if limit is None else f"; a control group allows {limit // 2**20:,} MiB in all"
    return _enough("memory", "heaps, database, generator", free_memory_mib(), _MIN_MEMORY_MIB, note)


def _disk(project: Project) -> Item:
    free = shutil.disk_usage(project.root).free // 2**20
    return _enough("disk", "bundles and the database", free, _MIN_DISK_MIB)


def _enough(name: str, needed_for: str, have_mib: int, need_mib: int, note: str = "") -> Item:
    if have_mib >= need_mib:
        return Item(name, needed_for, f"{have_mib:,} MiB free{note}")
    reason = f"{have_mib:,} MiB free, {need_mib:,} MiB needed{note}"
    more = "raise the group's limit, or " if note else ""
    return Item(name, needed_for, "", reason, f"{more}free {need_mib - have_mib:,} MiB")


def _idling(_: Project) -> Item:
    return Item(
        "idle processors",
        "wake-ups that do not wait for a host with other guests",
        idle_words() or "as the system has it",
        required=False,
    )


def _jvm(_: Project) -> Item:
    found = ", ".join(jvm.title for jvm in find_jvms())
    return Item(
        "JVM",
        "the reference stack",
        found,
        "" if found else "no JVM of release 17 or later in JAVA_HOME, on the path, or in /usr/lib",
        "Debian: apt-get install openjdk-17-jdk-headless; conda: openjdk; or set JAVA_HOME",
    )


def _build(project: Project) -> Item:
    try:
        build = find_build(project)
    except HostLacksError as error:
        return Item("stack build", "the reference stack", "", error.found, "make setup")
    return Item("stack build", "the reference stack", f"sources {build.fingerprint[:12]}")


def _postgres(project: Project) -> Item:
    try:
        build = find_build(project)
    except HostLacksError:
        build = None
    try:
        binaries = find_binaries(build, project.state)
    except HostLacksError as error:
        return Item("PostgreSQL", "the database", "", error.found, error.next_step)
    return Item("PostgreSQL", "the database", f"{binaries.version} ({binaries.origin})")


def _nginx(project: Project) -> Item:
    found = find_program("nginx", project.state)
    there = Path(found).is_file()
    return Item(
        "nginx",
        "the chapter on a system of one's own",
        found.removeprefix(f"{project.root}/") if there else "",
        "" if there else "no nginx on the path, and none unpacked",
        "make setup on Debian, which unpacks it and starts nothing; conda: nginx",
        required=False,
    )


def _lock(_: Project) -> Item:
    try:
        with measurement_lock("sizebook doctor"):
            return Item("measurement lock", "one measurement at a time", "free")
    except MeasurementLockedError as error:
        return Item("measurement lock", "one measurement at a time", "", error.found, "wait")


def _program(
    names: tuple[str, ...], title: str, needed_for: str, bring: str, required: bool
) -> Callable[[Project], Item]:
    def look(_: Project) -> Item:
        found = next((path for name in names if (path := shutil.which(name))), "")
        reason = "" if found else f"no {' or '.join(names)} on the path"
        return Item(title, needed_for, found, reason, bring, required)

    return look


_TASKSET = _program(
    ("taskset",),
    "taskset",
    "CPU sets of their own for generator and stack",
    "Debian: apt-get install util-linux (other systems: trials run unpinned and say so)",
    required=False,
)
_CHROMIUM = _program(
    ("chromium", "chromium-browser", "google-chrome"),
    "Chromium",
    "the printed book, and the tests of the site",
    "Debian: apt-get install chromium; elsewhere any Chromium or Chrome",
    required=False,
)
_LOOKS_WITHOUT_STACK: tuple[Callable[[Project], Item], ...] = (
    _cpus,
    _memory,
    _disk,
    _idling,
    _TASKSET,
    _CHROMIUM,
    _lock,
)
"""What a book without the reference stack uses; what its own systems need, its author knows."""
_LOOKS: tuple[Callable[[Project], Item], ...] = (
    _cpus,
    _memory,
    _disk,
    _idling,
    _jvm,
    _program(
        ("mvn",),
        "Maven",
        "building the stack",
        "Debian: apt-get install maven; conda: maven",
        required=True,
    ),
    _build,
    _postgres,
    _TASKSET,
    _CHROMIUM,
    _program(
        ("haproxy",),
        "HAProxy",
        "chapters with several app nodes",
        "Debian: apt-get install haproxy; conda: haproxy",
        required=False,
    ),
    _program(
        ("fio",),
        "fio",
        "the jobs of the chapter on disks that are like a database's",
        "Debian: apt-get install fio; conda: fio",
        required=False,
    ),
    _nginx,
    _lock,
)
