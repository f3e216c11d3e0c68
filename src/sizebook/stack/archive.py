"""Class-data archives: a JVM node starts in two thirds of the time; nothing else changes.

The archive holds parsed classes (JEP 310), no profiles and no compiled code, so a node that uses it
runs the same code at the same speed once it is up. It is a cache: the JVM goes on without one that
does not fit. The static dump is used because the dynamic one (-XX:ArchiveClassesAtExit) ends
OpenJDK 17.0.15 with SIGSEGV on this class path, and the lambda lines ("@lambda-proxy ...") are left
out of the class list because the static dump aborts on them.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from sizebook.stack.build import StackBuild
from sizebook.stack.jvms import Jvm

_NO_DATABASE = {
    "SPRING_DATASOURCE_URL": "jdbc:postgresql://127.0.0.1:1/none",
    "SPRING_DATASOURCE_USERNAME": "none",
    "SPRING_DATASOURCE_PASSWORD": "none",
}
"""The node is started up to the point where it would connect; it never does."""
_TIMEOUT_S = 120


def class_data_archive(build: StackBuild, jvm: Jvm, state: Path) -> Path | None:
    """Return the archive of this build for this JVM, made once; None if it cannot be made."""
    folder = state / "archives"
    archive = folder / f"{build.fingerprint[:12]}-{jvm.version}.jsa"
    refused = archive.with_suffix(".refused")
    if archive.is_file() or refused.is_file():
        return archive if archive.is_file() else None
    folder.mkdir(parents=True, exist_ok=True)
    try:
        _make(build, jvm, archive)
    except (OSError, subprocess.SubprocessError) as error:
        refused.write_text(f"{error}\n")
        return None
    return archive


def _make(build: StackBuild, jvm: Jvm, archive: Path) -> None:
    listed = archive.with_suffix(".classes")
    partial = archive.with_suffix(f".{os.getpid()}")
    begin = [str(jvm.java), "-Xmx512m"]
    start = [f"-XX:DumpLoadedClassList={listed}", "-Dspring.context.exit=onRefresh"]
    node = ["--refstack.role=app", "--server.port=0", "--management.server.port=0"]
    _run([*begin, *start, "-jar", build.class_path, *node])
    lines = listed.read_text().splitlines(keepends=True)
    listed.write_text("".join(line for line in lines if not line.startswith("@")))
    dump = ["-Xshare:dump", f"-XX:SharedClassListFile={listed}"]
    _run([*begin, *dump, f"-XX:SharedArchiveFile={partial}", "-cp", build.class_path])
    listed.unlink()
    partial.replace(archive)


def _run(command: list[str]) -> None:
    subprocess.run(
        command,
        env=_NO_DATABASE,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=_TIMEOUT_S,
        check=True,
    )
