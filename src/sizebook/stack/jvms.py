"""The Java virtual machines of this host."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sizebook.model.errors import HostLacksError

OLDEST = 17
"""The reference stack is compiled for this feature release."""


COLLECTORS = {
    "Serial": "-XX:+UseSerialGC",
    "Parallel": "-XX:+UseParallelGC",
    "G1": "-XX:+UseG1GC",
    "ZGC": "-XX:+UseZGC",
    "Shenandoah": "-XX:+UseShenandoahGC",
}
"""Garbage collectors of HotSpot and the flag that chooses each."""


@dataclass(frozen=True)
class Jvm:
    """One installed JVM."""

    home: Path
    version: str
    """Full version, such as ``17.0.15``."""
    vendor: str

    @property
    def feature(self) -> str:
        """Feature release, such as ``17``."""
        return self.version.split(".")[0]

    @property
    def java(self) -> Path:
        """The launcher."""
        return self.home / "bin" / "java"

    @property
    def title(self) -> str:
        """Name for tables, such as ``Debian 17.0.15``."""
        return f"{self.vendor} {self.version}"


def find_jvms() -> tuple[Jvm, ...]:
    """Return the JVMs of at least release 17: the preferred one first, one a feature release.

    Preferred is ``JAVA_HOME``, then ``java`` on the path, then by feature release. What a JVM is
    comes from its ``release`` file, so that nothing is started.
    """
    found: dict[str, Jvm] = {}
    for home in _homes():
        jvm = _read(home)
        if jvm is not None and int(jvm.feature) >= OLDEST:
            found.setdefault(jvm.feature, jvm)
    return tuple(found.values())


def choose_jvm(feature: str, jvms: tuple[Jvm, ...] | None = None) -> Jvm:
    """Return the JVM of a feature release (empty: the preferred one).

    Raises HostLacksError if there is none.
    """
    jvms = find_jvms() if jvms is None else jvms
    for jvm in jvms:
        if feature in ("", jvm.feature):
            return jvm
    have = ", ".join(jvm.version for jvm in jvms) or "no JVM"
    raise HostLacksError(
        found=f"{have} on this machine",
        expected=f"a JVM of release {feature or f'{OLDEST} or later'}",
        next_step="install one (Debian: apt-get install openjdk-17-jdk-headless; conda: openjdk), "
        "or point JAVA_HOME to it",
    )


@cache
def find_collectors(jvm: Jvm) -> tuple[str, ...]:
    """Return the names of the ``COLLECTORS`` that a JVM was built with, by the flags it prints."""
    # One start tells all: a flag of a collector that was left out of the build, or is still an
    # experiment, is not printed. "bool UseZGC  = false  {product} {default}"
    command = [str(jvm.java), "-Xmx32m", "-XX:+PrintFlagsFinal", "-version"]
    try:
        asked = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    flags = {words[1] for line in asked.stdout.splitlines() if len(words := line.split()) > 1}
    return tuple(name for name, flag in COLLECTORS.items() if flag.removeprefix("-XX:+") in flags)


def _homes() -> Iterator[Path]:
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home)
    if java := shutil.which("java"):
        yield Path(java).resolve().parents[1]
    for folder in ("/usr/lib/jvm", "/Library/Java/JavaVirtualMachines", "/opt"):
        yield from sorted(Path(folder).glob("*/release"), key=str)
        yield from sorted(Path(folder).glob("*/Contents/Home/release"), key=str)


def _read(home: Path) -> Jvm | None:
    release = home if home.name == "release" else home / "release"
    try:
        lines = release.read_text(errors="replace").splitlines()
    except OSError:
        return None
    facts = {}
    for line in lines:  # JAVA_VERSION="17.0.15"
        name, _, value = line.partition("=")
        facts[name] = value.strip('"')
    version = facts.get("JAVA_VERSION", "")
    jvm = Jvm(release.parent.resolve(), version, facts.get("IMPLEMENTOR", "unknown vendor"))
    return jvm if version and version.split(".")[0].isdigit() and jvm.java.is_file() else None
