"""The peers: found on this machine, or fetched once in pinned versions into the state folder."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

K6 = "go.k6.io/k6@v1.8.1"
HEY = "github.com/rakyll/hey@v0.1.5"
JMETER = "5.6.3"
JMETER_PARTS = ("", "_core", "_components", "_http", "_config")
COPY_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
FETCH_TIMEOUT_S = 600.0

POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>bench</groupId><artifactId>jmeter</artifactId><version>1</version>
  <packaging>pom</packaging>
  <dependencies>{dependencies}</dependencies>
</project>
"""
DEPENDENCY = (
    "<dependency><groupId>org.apache.jmeter</groupId>"
    "<artifactId>ApacheJMeter{part}</artifactId><version>{version}</version></dependency>"
)


class PeerMissingError(Exception):
    """A peer cannot be had here; the text is the reason with what would bring it."""


@dataclass(frozen=True)
class Peer:
    """A load generator other than ours."""

    name: str
    version: str
    command: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    """Added to the environment of the harness."""


def find_peers(folder: Path, tell: Callable[[str], None]) -> tuple[dict[str, Peer], dict[str, str]]:
    """Return the peers by name, and for those that cannot be had the reason.

    Fetches what is not in ``folder`` yet; reasons name no place on this machine.
    """
    folder.mkdir(parents=True, exist_ok=True)
    peers: dict[str, Peer] = {}
    missing: dict[str, str] = {}
    for name, find in FINDERS.items():
        try:
            peers[name] = find(folder, tell)
        except PeerMissingError as reason:
            missing[name] = str(reason)
    return peers, missing


def _locust(_: Path, __: Callable[[str], None]) -> Peer:
    return Peer("Locust", version("locust"), (sys.executable, "-m", "locust"))


def _wrk(_: Path, __: Callable[[str], None]) -> Peer:
    return _wrk_of("wrk", "install it (Debian: apt-get install wrk)")


def _wrk2(_: Path, __: Callable[[str], None]) -> Peer:
    return _wrk_of("wrk2", "build it from its sources and put it on the path as wrk2")


def _wrk_of(program: str, bring: str) -> Peer:
    path = shutil.which(program)
    if path is None:
        raise PeerMissingError(f"not on the path; {bring}")
    words = subprocess.run([path, "-v"], capture_output=True, text=True, check=False).stdout
    found = re.match(r"wrk (?:debian/)?(\S+)", words)  # "wrk debian/4.1.0-3+b2 [epoll] ..."
    return Peer(program, found[1] if found else "unknown", (path,))


def _k6(folder: Path, tell: Callable[[str], None]) -> Peer:
    return _go("k6", K6, folder, tell)


def _hey(folder: Path, tell: Callable[[str], None]) -> Peer:
    return _go("hey", HEY, folder, tell)


def _go(name: str, module: str, folder: Path, tell: Callable[[str], None]) -> Peer:
    """Return a program of the Go registry; one core is all that its scheduler is given."""
    release = module.rpartition("@v")[2]
    home = folder / f"{name}-{release}"
    if not (home / name).is_file():
        go = shutil.which("go")
        if go is None:
            raise PeerMissingError("no Go to install it with; install Go 1.24 or later")
        tell(f"fetching {name} {release}")
        _fetch([go, "install", module], {"GOBIN": str(home)}, f"go install {module}")
    return Peer(name, release, (str(home / name),), {"GOMAXPROCS": "1"})


def _jmeter(folder: Path, tell: Callable[[str], None]) -> Peer:
    java = shutil.which("java")
    if java is None:
        raise PeerMissingError("no Java to run it with")
    home = folder / f"jmeter-{JMETER}"
    if not home.is_dir():
        maven = shutil.which("mvn")
        if maven is None:
            raise PeerMissingError("no Maven to fetch it with")
        tell(f"fetching JMeter {JMETER}")
        _build_jmeter(maven, home)
    command = [java, "-Xms512m", "-Xmx512m", f"-Djava.util.prefs.userRoot={folder}"]
    command += ["-Djava.awt.headless=true", "-jar", str(home / "bin" / "ApacheJMeter.jar")]
    return Peer("JMeter", JMETER, tuple(command))


def _build_jmeter(maven: str, home: Path) -> None:
    """Lay JMeter's artifacts out as in its own archive: what ``bin/`` holds is in a jar."""
    work = home.with_name(f"{home.name}.partial")
    shutil.rmtree(work, ignore_errors=True)
    lib = work / "lib"
    (lib / "ext").mkdir(parents=True)
    parts = "".join(DEPENDENCY.format(part=part, version=JMETER) for part in JMETER_PARTS)
    (work / "pom.xml").write_text(POM.format(dependencies=parts))
    command = [maven, "-B", "-q", "-f", str(work / "pom.xml"), COPY_PLUGIN]
    _fetch([*command, f"-DoutputDirectory={lib}"], {}, f"Maven's download of JMeter {JMETER}")
    with zipfile.ZipFile(lib / f"ApacheJMeter_config-{JMETER}.jar") as jar:
        jar.extractall(work, [name for name in jar.namelist() if name.startswith("bin/")])
    (lib / f"ApacheJMeter-{JMETER}.jar").rename(work / "bin" / "ApacheJMeter.jar")
    for jar_file in lib.glob("ApacheJMeter_*.jar"):
        jar_file.rename(lib / "ext" / jar_file.name)
    work.rename(home)


def _fetch(command: list[str], env: Mapping[str, str], what: str) -> None:
    try:
        done = subprocess.run(
            command,
            env={**os.environ, **env},
            capture_output=True,
            text=True,
            timeout=FETCH_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise PeerMissingError(f"{what} took longer than {FETCH_TIMEOUT_S:.0f} s") from None
    if done.returncode != 0:
        words = (done.stderr or done.stdout).strip().splitlines()[-3:]
        print(f"{what} failed: {' '.join(words)}", file=sys.stderr)
        raise PeerMissingError(f"{what} failed; is there a network?")


FINDERS: Mapping[str, Callable[[Path, Callable[[str], None]], Peer]] = {
    "locust": _locust,
    "wrk": _wrk,
    "wrk2": _wrk2,
    "hey": _hey,
    "k6": _k6,
    "jmeter": _jmeter,
}
