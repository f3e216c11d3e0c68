"""Class-data archives: made once for a build, and found from every checkout that has this build."""

import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from sizebook.hosts import Guard, LocalHost
from sizebook.stack import archive as class_data
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
    strict = [str(jvm.java), f"-XX:SharedArchiveFile={archive}", "-Xshare:on", "-Xlog:class+load"]
    done = subprocess.run(
        [*strict, "-cp", build.class_path, "refstack.nullserver.NullServer", "--help"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "java.lang.Object source: shared objects file" in done.stdout, done.stdout + done.stderr


def test_it_holds_what_a_node_loads_until_it_is_measured(host, project, tmp_path):
    """Nearly all classes and lambdas come from it, though the JVM leaves signed jars out."""
    build, jvm = ensure_built(project)[0], choose_jvm("")
    loaded = tmp_path / "loaded"
    command = [str(jvm.java), "-XX:TieredStopAtLevel=1", f"-Xlog:class+load:file={loaded}"]
    command += [f"-XX:SharedArchiveFile={class_data_archive(build, jvm, host)}"]
    command += ["-Dspring.context.exit=onRefresh", f"-Djava.io.tmpdir={tmp_path}"]
    command += ["-jar", build.class_path, "--refstack.role=app", "--server.port=0"]
    address = {"SPRING_DATASOURCE_URL": "jdbc:postgresql://127.0.0.1:1/none"}
    subprocess.run(command, env=address, cwd=tmp_path, timeout=300, check=True)
    lines = loaded.read_text().splitlines()
    shared = [line for line in lines if line.endswith("source: shared objects file")]
    lambdas = [line for line in lines if "$$Lambda" in line]
    assert len(shared) > 0.85 * len(lines)
    assert len([line for line in shared if "$$Lambda" in line]) > 0.9 * len(lambdas) > 100


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


def test_of_several_that_need_one_at_once_one_makes_it(tmp_path, monkeypatch):
    """The others wait for it; it takes a minute of CPU."""
    (tmp_path / "refstack").mkdir()
    (tmp_path / "refstack" / "refstack.jar").write_bytes(b"")
    build = StackBuild(folder=tmp_path, fingerprint="0" * 64)
    made = []

    def make(_build, _jvm, _host, folder):
        made.append(folder)
        time.sleep(0.2)
        (folder / "new.jsa").write_bytes(b"made")
        return folder / "new.jsa"

    monkeypatch.setattr(class_data, "_make", make)
    with ThreadPoolExecutor(4) as pool:
        found = {*pool.map(lambda _: class_data_archive(build, choose_jvm(""), None), range(4))}
    assert len(found) == len(made) == 1
    assert found.pop().read_bytes() == b"made"
    assert not list(tmp_path.glob("archives/making-*"))
