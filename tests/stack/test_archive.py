"""Class-data archives: made once for a build, and found from every checkout that has this build."""

import subprocess

import pytest

from sizebook.hosts import Guard, LocalHost
from sizebook.stack.archive import class_data_archive
from sizebook.stack.build import StackBuild, ensure_built, find_build
from sizebook.stack.jvms import choose_jvm
from sizebook.store import Project, find_project


@pytest.fixture
def host(tmp_path):
    guard = Guard(tmp_path / "guard")
    yield LocalHost(guard)
    guard.close()


@pytest.fixture
def project():
    return find_project()


def test_it_is_made_once_and_the_jvm_takes_it(host, project):
    """Asked again, nobody starts a process; a JVM that must share classes from it does."""
    build, jvm = ensure_built(project)[0], choose_jvm("")
    archive = class_data_archive(build, jvm, host)
    assert archive.parent == build.folder / "archives"
    assert class_data_archive(build, jvm, None) == archive
    assert not list(archive.parent.glob("making-*"))
    strict = [str(jvm.java), f"-XX:SharedArchiveFile={archive}", "-Xshare:on", "-Xlog:class+load"]
    done = subprocess.run(
        [*strict, "-cp", build.class_path, "refstack.nullserver.NullServer", "--help"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "java.lang.Object source: shared objects file" in done.stdout, done.stdout + done.stderr


def test_another_checkout_with_the_same_build_finds_it(host, project, tmp_path):
    """What the JVM compares is where the jar really is, however one gets there."""
    build, jvm = ensure_built(project)[0], choose_jvm("")
    for name in ("pom.xml", "src"):
        (tmp_path / "stack").mkdir(exist_ok=True)
        (tmp_path / "stack" / name).symlink_to(project.stack / name)
    (tmp_path / "stack" / "target").symlink_to(project.stack / "target")
    other = find_build(Project(tmp_path))
    assert class_data_archive(other, jvm, host) == class_data_archive(build, jvm, host)


def test_where_nothing_can_be_written_there_is_none(host, project, tmp_path):
    """A node then starts without one."""
    build, jvm = ensure_built(project)[0], choose_jvm("")
    bare = StackBuild(tmp_path, build.fingerprint)
    (tmp_path / "archives").write_text("not a folder")
    assert class_data_archive(bare, jvm, host) is None


def test_a_jvm_that_refuses_is_not_asked_again(host, project, tmp_path):
    """What it said is kept."""
    jvm = choose_jvm("")
    broken = StackBuild(tmp_path, "no jar")
    assert class_data_archive(broken, jvm, host) is None
    (refused,) = (tmp_path / "archives").glob("*.refused")
    assert "refstack.jar" in refused.read_text()
    assert class_data_archive(broken, jvm, None) is None
