"""The stack's own tests, in Java: run when its sources or the JDK changed since they passed."""

import os
import subprocess

import pytest

from sizebook.stack.jvms import choose_jvm
from sizebook.store import find_project
from sizebook.store.fingerprints import fingerprint_files, fingerprint_text

PROJECT = find_project()
QUICK = "-XX:TieredStopAtLevel=1"  # each JVM lives for seconds, Maven's own too


def stamp():
    """Return the file that says that the tests of these sources passed with this JDK."""
    sources = [path for path in (PROJECT.stack / "src").rglob("*") if path.is_file()]
    tested = fingerprint_files([PROJECT.stack / "pom.xml", *sources], PROJECT.stack)
    name = fingerprint_text(f"{tested} {choose_jvm('').title}")[:32]
    return PROJECT.state / "tested" / name


def test_the_stacks_own_tests_pass():
    """By Maven, which tells of each that failed."""
    passed = stamp()
    if passed.exists():
        pytest.skip("passed before, with these sources and this JDK")
    pom = str(PROJECT.stack / "pom.xml")
    command = ["mvn", "-B", "-q", "-f", pom, "test", f"-DargLine={QUICK}"]
    environment = {**os.environ, "MAVEN_OPTS": f"{os.environ.get('MAVEN_OPTS', '')} {QUICK}"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-2_000:]
    passed.parent.mkdir(parents=True, exist_ok=True)
    for old in passed.parent.iterdir():
        old.unlink(missing_ok=True)
    passed.touch()
