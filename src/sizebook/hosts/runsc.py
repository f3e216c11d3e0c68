"""The program of gVisor, a kernel in user space: found, or built from its published sources."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from sizebook.hosts.image import is_static
from sizebook.hosts.mortal import mortal
from sizebook.model.errors import HostLacksError

MODULE = "gvisor.dev/gvisor/runsc"
VERSION = "v0.0.0-20260905035102-160fafc42237"
"""Of the module's branch for Go's own tools; there are no tags."""
_SETTINGS = {"CGO_ENABLED": "0", "GOFLAGS": "-mod=mod"}
"""Linked statically: it starts itself again in a root where there is no loader."""
_SECONDS = 1800


@dataclass(frozen=True)
class Runsc:
    """gVisor's program."""

    program: Path
    version: str
    platform: str
    """How it gets hold of system calls: ``systrap``, or ``ptrace`` in versions before 2023."""


def runsc_folder(state: Path) -> Path:
    """Return the folder of the project's own build."""
    return state / "hosts" / "runsc" / VERSION


def find_runsc(state: Path) -> Runsc:
    """Return the project's own build, else one that is installed.

    Raises HostLacksError if there is none that is linked statically.
    """
    found = "no runsc"
    for program in (runsc_folder(state) / "runsc", Path(shutil.which("runsc") or "runsc")):
        if not program.is_file():
            continue
        if is_static(program):
            return Runsc(program, _version_of(program), _platform_of(program))
        found = f"{program}, which is linked dynamically"
    raise HostLacksError(
        found=found,
        expected="gVisor's runsc, linked statically",
        next_step="run 'sizebook hosts prepare' where Go is installed (it builds it), or install "
        "the package runsc",
    )


def build_runsc(state: Path) -> Runsc:
    """Build the pinned version with this machine's Go. Raises HostLacksError if that fails."""
    go = shutil.which("go")
    if go is None:
        raise HostLacksError(
            found="no Go on the path",
            expected="Go, to build gVisor's runsc",
            next_step="install it (Debian: golang-go; conda: go), or install the package runsc",
        )
    target = runsc_folder(state)
    partial = target.with_name(f"{VERSION}.{os.getpid()}")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    command = [go, "install", "-trimpath", "-ldflags=-s -w", f"{MODULE}@{VERSION}"]
    environment = {**os.environ, **_SETTINGS, "GOBIN": str(partial)}
    try:
        done = subprocess.run(
            mortal(command),
            cwd=partial,
            env=environment,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        if done.returncode != 0 or not (partial / "runsc").is_file():
            raise HostLacksError(
                found=f"go install ended with {done.returncode}: {done.stderr.strip()[-200:]}",
                expected=f"a build of {MODULE} {VERSION}",
                next_step="run 'sizebook hosts prepare' again with a network and a recent Go",
            )
        shutil.rmtree(target, ignore_errors=True)
        partial.rename(target)
    except subprocess.TimeoutExpired as error:
        raise HostLacksError(
            found=f"a build that takes longer than {_SECONDS} s",
            expected=f"a build of {MODULE} {VERSION}",
            next_step="run 'sizebook hosts prepare' again; what was built is kept",
        ) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return find_runsc(state)


def _version_of(program: Path) -> str:
    """Return what runsc says of itself; one of Go's own tools is not told its version."""
    if program.parent.name == VERSION:
        return VERSION
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    first = said.stdout.splitlines()[:1]  # runsc version release-20240729.0
    return first[0].rpartition(" ")[2] if first else "unknown"


def _platform_of(program: Path) -> str:
    said = subprocess.run([program, "flags"], capture_output=True, text=True, check=False)
    return "systrap" if "systrap" in said.stdout + said.stderr else "ptrace"
