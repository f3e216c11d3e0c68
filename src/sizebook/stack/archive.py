"""Class-data archives: a JVM node starts in half of the time; nothing else changes.

The archive holds parsed classes and the classes that lambdas become (JEP 310), no profiles and no
compiled code, so a node that uses it runs the same code at the same speed once it is up. It is a
cache, kept with the build: the JVM goes on without one that does not fit, as after any change of
path, size or time of a jar, so these are part of its name. The static dump is used because the
dynamic one (-XX:ArchiveClassesAtExit) ends OpenJDK 17.0.15 with SIGSEGV on this class path. So does
the static one over a lambda ("@lambda-proxy ...") that names a class which the JVM leaves out, such
as one of a signed jar: these lambdas are left out too, and all of them where that does not help.
"""

from __future__ import annotations

import fcntl
import http.client
import re
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from sizebook.hosts import Host
from sizebook.stack.build import StackBuild
from sizebook.stack.jvms import Jvm
from sizebook.store.fingerprints import fingerprint_text

_NO_DATABASE = {
    "SPRING_DATASOURCE_URL": "jdbc:postgresql://127.0.0.1:1/none",
    "SPRING_DATASOURCE_USERNAME": "none",
    "SPRING_DATASOURCE_PASSWORD": "none",
}
"""The node comes up without; it tries to connect when it is asked whether it is ready."""
_LAYOUT = 2
"""Of what an archive holds; a new number makes archives anew."""
_TIMEOUT_S = 600.0
"""Of each step; on a quiet machine one takes ten seconds."""
_LOOK_EVERY_S = 0.1
_UP, *_ASKED = "/actuator/health/liveness", "/actuator/health/readiness", "/actuator/prometheus"
"""What every node is asked before and during its trials; ``_UP`` first, until it is up."""
_LEFT_OUT = re.compile(r"\[cds\S*\s*\] Skipping (\S+): ")
"""In a line of a dump: ``[9.1s][warning][cds] Skipping net/sf/saxon/Configuration: Signed JAR``."""


def class_data_archive(build: StackBuild, jvm: Jvm, host: Host) -> Path | None:
    """Return the archive of this build for this JVM, made once; None if it cannot be made."""
    folder = build.folder / "archives"
    name = f"{build.fingerprint[:12]}-{_jars(build)[:8]}-{_LAYOUT}-{jvm.version}"
    archive, refused = folder / f"{name}.jsa", folder / f"{name}.refused"
    if archive.is_file() or refused.is_file():
        return archive if archive.is_file() else None
    try:
        folder.mkdir(exist_ok=True)
        with (folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # making one takes a minute of CPU: the others wait
            if archive.is_file() or refused.is_file():
                return archive if archive.is_file() else None
            for old in folder.glob(f"*-{jvm.version}.*"):
                old.unlink(missing_ok=True)
            with tempfile.TemporaryDirectory(prefix="making-", dir=folder) as making:
                made = _make(build, jvm, host, Path(making))
                if made is None:
                    (Path(making) / "log").rename(refused)
                else:
                    made.rename(archive)
    except OSError:  # the build is somebody else's, or the disk is full
        return None
    return archive if made is not None else None


def _jars(build: StackBuild) -> str:
    """Return a checksum over what the JVM compares before it uses an archive."""
    stats = [(path, path.stat()) for path in Path(build.class_path).parent.rglob("*.jar")]
    lines = sorted(f"{path} {stat.st_mtime_ns} {stat.st_size}" for path, stat in stats)
    return fingerprint_text("\n".join(lines))


def _make(build: StackBuild, jvm: Jvm, host: Host, folder: Path) -> Path | None:
    listed, partial, log = folder / "classes", folder / "new.jsa", folder / "log"
    begin = [str(jvm.java), "-Xmx512m", f"-Djava.io.tmpdir={folder}"]
    begin.append(f"-XX:ErrorFile={folder}/crash")
    dump = ["-Xshare:dump", f"-XX:SharedClassListFile={listed}", "-cp", build.class_path]
    start = [
        *begin,
        "-XX:TieredStopAtLevel=1",
        f"-XX:DumpLoadedClassList={listed}",
        "-jar",
        build.class_path,
    ]
    if not _comes_up(host, start, log):
        return None
    for kept in _fewer_lambdas(listed.read_text().splitlines(keepends=True), log):
        listed.write_text("".join(kept))
        if _ends_well(host, [*begin, f"-XX:SharedArchiveFile={partial}", *dump], log):
            return partial
    return None


def _fewer_lambdas(lines: list[str], log: Path) -> Iterator[list[str]]:
    """Give the lines of a class list, then fewer and fewer as dumps of them fail."""
    yield lines
    left_out = set(_LEFT_OUT.findall(log.read_text(errors="replace")))
    yield [line for line in lines if not (line.startswith("@") and _names(line, left_out))]
    yield [line for line in lines if not line.startswith("@")]


def _names(line: str, classes: set[str]) -> bool:
    """Return whether a line names one of these classes, by itself or in a signature."""
    words = re.findall(r"[\w$/]+", line)
    return any(word in classes or word.removeprefix("L") in classes for word in words)


def _comes_up(host: Host, command: list[str], log: Path) -> bool:
    """Start a node, have it load what every node needs until it is measured, and end it."""
    management = host.free_port()
    node = ["--refstack.role=app", f"--server.address={host.address}", "--server.port=0"]
    node += [f"--management.server.port={management}"]
    node += ["--spring.datasource.hikari.connection-timeout=250"]
    process = host.start("class list", [*command, *node], log=log, env=_NO_DATABASE, cwd=log.parent)
    try:
        deadline = time.monotonic() + _TIMEOUT_S
        while _status(host, management, _UP) != 200:
            if process.exit_code is not None or time.monotonic() > deadline:
                return False
            time.sleep(_LOOK_EVERY_S)
        return all(_status(host, management, path) for path in _ASKED)
    finally:
        host.stop(process)


def _status(host: Host, port: int, path: str) -> int:
    """Return the status of an answer; 0: none came."""
    connection = http.client.HTTPConnection(host.address, port, timeout=_TIMEOUT_S)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        return answer.status
    except (OSError, http.client.HTTPException):
        return 0
    finally:
        connection.close()


def _ends_well(host: Host, command: list[str], log: Path) -> bool:
    process = host.start("class-data archive", command, log=log, cwd=log.parent)
    try:
        return process.wait(_TIMEOUT_S) == 0
    finally:
        host.stop(process)
