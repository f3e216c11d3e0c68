"""The built reference stack: class path, fingerprint, and building it when its sources changed."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from sizebook.hosts.mortal import mortal
from sizebook.model.errors import HostLacksError, UserError
from sizebook.store.fingerprints import fingerprint_files
from sizebook.store.project import Project


@dataclass(frozen=True)
class StackBuild:
    """One build of the stack, ready to run."""

    folder: Path
    """Maven's ``target`` folder."""
    fingerprint: str
    """SHA-256 over the sources that it was built from."""

    @property
    def class_path(self) -> str:
        """The one class path of every JVM role; the jar's manifest names its libraries."""
        return str(self.folder / "refstack" / "refstack.jar")

    @property
    def postgres_archive(self) -> Path:
        """The PostgreSQL binaries that came as a Maven artifact; may be missing."""
        return self.folder / "postgres" / "embedded-postgres-binaries.jar"


def has_stack(project: Project) -> bool:
    """Return whether a project has a reference stack: a book on a system of its own has none.

    Nor has a locustfile of the user's own, which needs nothing of the project's.
    """
    return project.own_load is None and (project.stack / "pom.xml").is_file()


def stack_fingerprint(project: Project) -> str:
    """Return the SHA-256 over all that the build depends on; empty without a reference stack."""
    if not has_stack(project):
        return ""
    sources = [project.stack / "pom.xml"]
    sources += [path for path in (project.stack / "src" / "main").rglob("*") if path.is_file()]
    return fingerprint_files(sources, project.stack)


def find_build(project: Project) -> StackBuild:
    """Return the build of the present sources; raises HostLacksError if there is none."""
    if not has_stack(project):
        raise _no_stack()
    build = _build_of(project)
    if _built_from(build) != build.fingerprint or not Path(build.class_path).is_file():
        raise HostLacksError(
            found="no build of the reference stack's present sources",
            expected=f"{build.class_path}",
            next_step="run 'make setup' (or 'sizebook stack build')",
        )
    return build


def needed(build: StackBuild | None) -> StackBuild:
    """Return a build that is needed; raises HostLacksError where a project has no such stack."""
    if build is None:
        raise _no_stack()
    return build


def ensure_built(project: Project) -> tuple[StackBuild, bool]:
    """Return the build of the present sources and whether Maven had to run for it.

    Raises HostLacksError without Maven or a JDK, UserError with Maven's last words if it fails.
    """
    try:
        return find_build(project), False
    except HostLacksError:
        if not has_stack(project):
            raise
    maven = shutil.which("mvn")
    if maven is None:
        raise HostLacksError(
            found="no Maven on the path",
            expected="mvn 3.8 or later, with a JDK of release 17 or later",
            next_step="install it (Debian: apt-get install maven; conda: maven)",
        )
    command = [maven, "-B", "-q", "-f", str(project.stack / "pom.xml"), "-DskipTests", "package"]
    run = subprocess.run(mortal(command), capture_output=True, text=True, check=False)
    if run.returncode != 0:
        words = [line for line in run.stdout.splitlines() if line.startswith("[ERROR]")][:3]
        raise UserError(
            found=f"Maven ended with {run.returncode}: {' '.join(words) or run.stderr[-300:]}",
            expected="a build of stack/pom.xml",
            next_step=f"run {shlex.join(command[:1] + command[2:])} and mend what it says",
        )
    build = _build_of(project)
    (build.folder / "sources.sha256").write_text(build.fingerprint + "\n")
    return find_build(project), True


def _build_of(project: Project) -> StackBuild:
    return StackBuild((project.stack / "target").resolve(), stack_fingerprint(project))


def _no_stack() -> HostLacksError:
    return HostLacksError(
        found="no reference stack in this project",
        expected="deployments of systems of its own, which are started by a command or given",
        next_step="see the page on writing a chapter, or measure in a checkout of Sizebook",
    )


def _built_from(build: StackBuild) -> str:
    try:
        return (build.folder / "sources.sha256").read_text().strip()
    except OSError:
        return ""
