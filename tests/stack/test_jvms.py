from pathlib import Path

import pytest

from sizebook.model.errors import HostLacksError
from sizebook.stack import jvms
from sizebook.stack.jvms import COLLECTORS, Jvm, choose_jvm, find_collectors, find_jvms


def install(folder, version, java=True):
    """Make a folder that looks like an installed JVM."""
    home = folder / f"jvm-{version}"
    (home / "bin").mkdir(parents=True)
    (home / "release").write_text(f'IMPLEMENTOR="Somebody"\nJAVA_VERSION="{version}"\n')
    if java:
        (home / "bin" / "java").touch()
    return home


def test_jvms_are_found_without_starting_them(tmp_path, monkeypatch):
    """Version and vendor come from the release file; too old or incomplete ones are left out."""
    homes = [install(tmp_path, v) for v in ("17.0.15", "25.0.3", "11.0.2", "17.0.1")]
    homes.append(install(tmp_path, "21.0.1", java=False))
    monkeypatch.setattr(jvms, "_homes", lambda: iter(homes))
    assert [jvm.title for jvm in find_jvms()] == ["Somebody 17.0.15", "Somebody 25.0.3"]


def test_java_home_comes_first(tmp_path, monkeypatch):
    """What the user points to is preferred."""
    home = install(tmp_path, "21.0.9")
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert choose_jvm("").home == home


def test_without_a_jvm_the_message_says_what_would_bring_it(tmp_path):
    """None at all, and none of the release asked for."""
    with pytest.raises(HostLacksError, match=r"no JVM on this machine.*openjdk.*JAVA_HOME"):
        choose_jvm("", ())
    with pytest.raises(HostLacksError, match=r"found 17\.0\.1 .* release 25"):
        choose_jvm("25", (Jvm(tmp_path, "17.0.1", "x"),))


def test_a_jvm_tells_its_collectors():
    """Serial, Parallel and G1 are in every build; one that is no JVM has none."""
    found = find_collectors(choose_jvm(""))
    assert found[:3] == ("Serial", "Parallel", "G1")
    assert set(found) <= set(COLLECTORS)
    assert find_collectors(Jvm(Path("/nowhere"), "17.0.1", "nobody")) == ()


def test_a_jvm_is_started_once_to_tell_its_collectors(tmp_path: Path):
    """What was left out of the build, or is still an experiment, is no flag that it prints."""
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text(
        f"#!/bin/sh\necho started >> {tmp_path}/starts\n"
        "echo '     bool UseG1GC      = true   {product} {ergonomic}'\n"
        "echo '     bool UseSerialGC  = false  {product} {default}'\n"
    )
    java.chmod(0o755)
    assert find_collectors(Jvm(tmp_path, "17.0.1", "x")) == ("Serial", "G1")
    assert (tmp_path / "starts").read_text().split() == ["started"]
