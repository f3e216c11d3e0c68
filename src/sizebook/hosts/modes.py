"""Which modes of hosts this machine can have: tried out, not read off files.

A trial makes a host as a deployment would, lets a process on it compute, limits it, and looks
whether the limit stops it. What was found is kept until machine or programs change.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sizebook.hosts.base import Host
from sizebook.hosts.boots import Image
from sizebook.hosts.guard import Guard
from sizebook.hosts.kinds import KINDS_HERE, boots
from sizebook.hosts.local import LocalHost
from sizebook.hosts.machine import local_facts
from sizebook.hosts.mode_kind import ModeKind, Supplies
from sizebook.hosts.opening import opened_hosts
from sizebook.model.deployment import HostSpec
from sizebook.model.errors import HostLacksError, TrialError, UserError
from sizebook.model.modes import Mode

_FORMAT = 2
_LIMIT = 0.1
_STOPPED_WITHIN_S = 10.0


@dataclass(frozen=True)
class FoundMode:
    """What was found out about one mode on this machine."""

    mode: Mode
    title: str
    reason: str = ""
    """Why its hosts cannot be made here; empty if they can."""
    bring: str = ""
    """What would bring it."""
    tried: bool = True
    """False: nothing speaks against it, but no host of it was made yet."""

    @property
    def available(self) -> bool:
        """Whether hosts of this mode can be made and limited here."""
        return not self.reason


def find_modes(
    image: Callable[[], Image],
    *,
    scratch: Path,
    state: Path,
    local: LocalHost,
    guard: Guard,
    kinds: Iterable[ModeKind] = KINDS_HERE,
) -> tuple[FoundMode, ...]:
    """Return what was found out about each mode, now or by an earlier trial on the same machine.

    Arguments as of ``opened_hosts``. Takes seconds for a container, more for each kind of guest.
    """
    kinds = tuple(kinds)
    known = known_modes(state, kinds)
    supplies = Supplies(state)
    found = []
    for kind in kinds:
        one = known.get(kind.mode) or FoundMode(kind.mode, kind.title)
        if kind.mode not in known:
            try:
                kind.look(supplies)
                _try(kind, image, scratch=scratch, state=state, local=local, guard=guard)
            except UserError as error:
                one = dataclasses.replace(one, reason=error.found, bring=error.next_step)
            _remember(state, kind, one)
        found.append(one)
    return tuple(found)


def known_modes(state: Path, kinds: Iterable[ModeKind] = KINDS_HERE) -> dict[Mode, FoundMode]:
    """Return what earlier trials on this machine, with the programs there are, have found out."""
    told = _told(state)
    found = {}
    for kind in kinds:
        with contextlib.suppress(TypeError, KeyError):
            if told[kind.mode]["programs"] == _fingerprint(kind, state):
                found[kind.mode] = FoundMode(**told[kind.mode]["found"])
    return found


def glance_at_modes(state: Path, kinds: Iterable[ModeKind]) -> tuple[FoundMode, ...]:
    """Return of each mode what an earlier trial found, else what can be told by a look.

    Starts nothing and takes no lock. What was only looked at says so: ``tried`` is False, and a
    trial may still find a reason.
    """
    kinds = tuple(kinds)
    known, supplies = known_modes(state, kinds), Supplies(state)
    return tuple(known.get(kind.mode) or _glance(kind, supplies) for kind in kinds)


def _glance(kind: ModeKind, supplies: Supplies) -> FoundMode:
    try:
        (kind.glance or kind.look)(supplies)
    except HostLacksError as error:
        return FoundMode(kind.mode, kind.title, error.found, error.next_step)
    return FoundMode(kind.mode, kind.title, tried=False)


def _try(
    kind: ModeKind,
    image: Callable[[], Image],
    *,
    scratch: Path,
    state: Path,
    local: LocalHost,
    guard: Guard,
) -> None:
    """Make a host and see its limit at work. Raises HostLacksError or TrialError."""
    spec = HostSpec(name="trial", mode=kind.mode)
    opened = opened_hosts(
        [spec],
        boots((kind,), state),
        image,
        scratch=scratch,
        state=state,
        local=local,
        guard=guard,
    )
    with opened as hosts:
        prove_limit(hosts["trial"], image().python if kind.boot else Path(sys.executable), scratch)


def prove_limit(host: Host, python: Path, folder: Path) -> None:
    """Let a process on a host compute, limit it, and see that it is stopped.

    The limit is so low that a process reaches it on a busy machine too. Raises HostLacksError if
    nothing stops it, TrialError if it does not run.
    """
    before = host.outside().throttled_periods
    process = host.start(
        "burn", [str(python), "-I", "-S", "-c", "while True: pass"], log=folder / "trial.log"
    )
    try:
        host.set_limits(_LIMIT, None, ())
        deadline = time.monotonic() + _STOPPED_WITHIN_S
        while (after := host.outside().throttled_periods) == before and after is not None:
            if time.monotonic() > deadline or process.exit_code is not None:
                break
            time.sleep(0.05)
    finally:
        host.set_limits(None, None, ())
        code = process.exit_code
        host.stop(process, grace_s=0.0)
    if code is not None:
        raise TrialError(
            found=f"a process on trial that ended with {code}: {process.log_tail(1)}",
            expected="one that computes until it is stopped",
            next_step="look at the host's own log",
        )
    if before is None or after is None or after <= before:
        raise HostLacksError(
            found=f"a limit of {_LIMIT:g} CPUs that never stopped a process that computes",
            expected="a kernel that keeps limits of CPU time",
            next_step="use a kernel with CONFIG_CFS_BANDWIDTH",
        )


def _remember(state: Path, kind: ModeKind, found: FoundMode) -> None:
    told = {"found": dataclasses.asdict(found), "programs": _fingerprint(kind, state)}
    file = _file(state)
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_suffix(f".{os.getpid()}")
    partial.write_text(json.dumps({**_told(state), kind.mode: told}, indent=1))
    partial.replace(file)


def _told(state: Path) -> dict[str, Any]:
    with contextlib.suppress(OSError, ValueError):
        told = json.loads(_file(state).read_text())
        return told if isinstance(told, dict) else {}
    return {}


def _file(state: Path) -> Path:
    """Return where it is kept: another machine or user has another name."""
    parts = (str(_FORMAT), str(os.geteuid()), local_facts().model_dump_json())
    digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    return state / "hosts" / f"modes-{digest}.json"


def _fingerprint(kind: ModeKind, state: Path) -> str:
    """Return what changes with the programs that a mode uses."""
    parts = []
    brought = () if kind.brought is None else (str(kind.brought(state)),)
    for name in (*kind.programs, *brought):
        path = name if os.sep in name else shutil.which(name)
        stat = Path(path).stat() if path and Path(path).exists() else None
        parts.append(f"{name} {path} {stat and (stat.st_mtime_ns, stat.st_size)}")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
