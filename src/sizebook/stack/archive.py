"""Class-data archives: a JVM node starts in half of the time; nothing else changes.

The archive holds parsed classes and the classes that lambdas become (JEP 310), no profiles and no
compiled code, so a node that uses it runs the same code at the same speed once it is up. It is a
cache, kept with the build: the JVM goes on without one that does not fit, as after any change of
path, size or time of a jar, so these are part of its name. The static dump is used because the
dynamic one (-XX:ArchiveClassesAtExit) ends OpenJDK 17.0.15 with SIGSEGV on this class path. Where a
JVM aborts the dump over lambda lines ("@lambda-proxy ...") it is made without them.
"""

from __future__ import annotations

import os
import tempfile
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
"""The node is started up to the point where it would connect; it never does."""
_TIMEOUT_S = 120.0


def class_data_archive(build: StackBuild, jvm: Jvm, host: Host) -> Path | None:
    """Return the archive of this build for this JVM, made once; None if it cannot be made."""
    folder = build.folder / "archives"
    name = f"{build.fingerprint[:12]}-{_jars(build)[:8]}-{jvm.version}"
    archive, refused = folder / f"{name}.jsa", folder / f"{name}.refused"
    if archive.is_file() or refused.is_file():
        return archive if archive.is_file() else None
    try:
        folder.mkdir(exist_ok=True)
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
    start = [f"-XX:DumpLoadedClassList={listed}", "-Dspring.context.exit=onRefresh"]
    node = ["--refstack.role=app", "--server.port=0", "--management.server.port=0"]
    dump = ["-Xshare:dump", f"-XX:SharedClassListFile={listed}", "-cp", build.class_path]
    if not _ends_well(host, [*begin, *start, "-jar", build.class_path, *node], log):
        return None
    lines = listed.read_text().splitlines(keepends=True)
    for kept in (lines, [line for line in lines if not line.startswith("@")]):
        listed.write_text("".join(kept))
        if _ends_well(host, [*begin, f"-XX:SharedArchiveFile={partial}", *dump], log):
            return partial
    return None


def _ends_well(host: Host, command: list[str], log: Path) -> bool:
    process = host.start("class-data archive", command, log=log, env=_NO_DATABASE, cwd=Path(os.sep))
    try:
        return process.wait(_TIMEOUT_S) == 0
    finally:
        host.stop(process)
