"""The application image: this machine's own files at their own paths, and nothing of its system."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sizebook.hosts.image import (
    INIT,
    AppImage,
    ImagePlan,
    build_image,
    find_busybox,
    is_static,
    make_disk,
    python_program,
)
from sizebook.hosts.inside import AGENT_FILES
from sizebook.hosts.manifest import Manifest
from sizebook.model.errors import HostLacksError
from sizebook.stack.jvms import Jvm, find_jvms

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="images are of Linux programs")


@pytest.fixture(scope="module")
def jvm() -> Jvm:
    found = find_jvms()
    if not found:
        pytest.skip("no JVM on this machine")
    return found[0]


@pytest.fixture(scope="module")
def image(jvm: Jvm, tmp_path_factory: pytest.TempPathFactory) -> AppImage:
    """Return an image with a JVM in it."""
    try:
        find_busybox()
    except HostLacksError as error:
        pytest.skip(str(error))
    state = tmp_path_factory.mktemp("state")
    return build_image(ImagePlan(trees=(jvm.home,), mount_points=(Path("/srv/session"),)), state)


def inside(image: AppImage, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command with the image as its root, in a user namespace where this is not root."""
    unshare = shutil.which("unshare")
    if unshare is None:
        pytest.skip("no unshare to change the root with")
    change = [unshare, "--map-root-user", "--mount", "--pid", "--fork", "--mount-proc"]
    change += [f"--root={image.root}", "--wd=/", *command]
    done = subprocess.run(change, capture_output=True, text=True, timeout=60, check=False)
    if "unshare: " in done.stderr:
        pytest.skip(f"this user may not change the root: {done.stderr.strip()}")
    return done


def checksum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_jvm_inside_is_the_jvm_outside(image, jvm):
    """Same path, same words about its version, same bytes of the virtual machine."""
    outside = subprocess.run([jvm.java, "-version"], capture_output=True, text=True, check=True)
    within = inside(image, str(jvm.java), "-version")
    assert within.stderr == outside.stderr
    assert within.returncode == 0
    [library] = jvm.home.rglob("libjvm.so")
    assert checksum(image.root / library.relative_to("/")) == checksum(library)


def test_python_inside_runs_the_agent_s_imports_without_writing(image):
    """The interpreter finds its library, compiled, without site packages."""
    code = "import json, select, socket, sys; print(sys.version); print(json.__cached__)"
    done = inside(image, str(image.python), "-I", "-S", "-c", code)
    version, compiled = done.stdout.strip().rsplit("\n", 1)
    assert version == sys.version
    assert (image.root / compiled.lstrip("/")).is_file()
    for file in AGENT_FILES:
        assert (image.root / file.relative_to("/")).read_bytes() == file.read_bytes()


def test_the_shell_inside_has_what_a_guest_s_first_program_calls(image):
    """Every word in command position of the first program is there."""
    wanted = "mount mkdir hostname cut cat dirname chmod rm rmdir ip arping sleep poweroff sh"
    done = inside(image, "/bin/sh", "-c", f"cd /; for w in {wanted}; do command -v $w; done")
    assert len(done.stdout.splitlines()) == len(wanted.split())
    assert os.access(image.root / INIT.lstrip("/"), os.X_OK)


def test_nothing_of_the_system_is_inside_that_was_not_asked_for(image):
    """No accounts, keys or home folders of this machine; users are root and nobody."""
    assert not (image.root / "etc" / "shadow").exists()
    names = [line.split(":")[0] for line in (image.root / "etc/passwd").read_text().splitlines()]
    assert names == ["root", "nobody"]
    assert list((image.root / "srv/session").iterdir()) == []
    for name in ("mnt", "run", "root/.ssh", "var/lib"):
        assert not any((image.root / name).glob("*"))


def test_links_on_the_way_and_below_lead_to_the_same_files(tmp_path):
    """A path through a link, a link out of a tree and a link to a folder are followed."""
    (tmp_path / "real" / "conf").mkdir(parents=True)
    (tmp_path / "real" / "conf" / "a.txt").write_text("a")
    (tmp_path / "apart").mkdir()
    (tmp_path / "apart" / "b.txt").write_text("b")
    (tmp_path / "real" / "b.txt").symlink_to("../apart/b.txt")
    (tmp_path / "real" / "gone").symlink_to("nowhere")
    (tmp_path / "real" / "again").symlink_to(tmp_path / "real" / "conf")
    (tmp_path / "name").symlink_to("real")
    manifest = Manifest()
    manifest.add_tree(tmp_path / "name")
    manifest.write(tmp_path / "root")
    inner = tmp_path / "root" / tmp_path.relative_to("/")
    assert (inner / "name").readlink() == Path("real")
    assert (inner / "apart" / "b.txt").read_text() == "b"
    assert (inner / "real" / "b.txt").readlink() == Path("../apart/b.txt")
    assert (inner / "real" / "again").readlink() == tmp_path / "real" / "conf"
    assert not (inner / "real" / "gone").is_symlink()


def test_the_fingerprint_is_of_contents_not_of_times(tmp_path):
    """Touching a file keeps the fingerprint; changing a byte, a mode or a path changes it."""

    def fingerprint() -> str:
        manifest = Manifest()
        manifest.add_tree(tmp_path / "app")
        return manifest.fingerprint("1")

    (tmp_path / "app").mkdir()
    file = tmp_path / "app" / "x"
    file.write_text("one")
    first = fingerprint()
    os.utime(file, (1, 1))
    assert fingerprint() == first
    file.chmod(0o755)
    assert fingerprint() != first
    file.chmod(0o644)
    assert fingerprint() == first
    file.write_text("two")
    assert fingerprint() != first


def test_a_checksum_is_kept_only_while_the_file_is_untouched(tmp_path):
    """Another content of the same size and time is noticed: the stamp holds when it was changed."""
    (tmp_path / "app").mkdir()
    file = tmp_path / "app" / "x"
    known: dict[str, list[str]] = {}

    def fingerprint() -> str:
        manifest = Manifest()
        manifest.add_tree(tmp_path / "app")
        return manifest.fingerprint("1", known)

    file.write_text("one")
    first = fingerprint()
    assert list(known) == [str(file)]
    assert fingerprint() == first
    times = (file.stat().st_atime_ns, file.stat().st_mtime_ns)
    file.write_text("two")
    os.utime(file, ns=times)
    assert fingerprint() != first


def test_an_image_is_made_once(image, jvm):
    """The same plan gives the same folder, untouched."""
    before = (image.root / "etc/passwd").stat().st_ctime_ns
    plan = ImagePlan(trees=(jvm.home,), mount_points=(Path("/srv/session"),))
    again = build_image(plan, image.folder.parents[2])
    assert again == image
    assert (again.root / "etc/passwd").stat().st_ctime_ns == before


def test_files_keep_their_times_which_jvm_archives_are_tied_to(image, jvm):
    """The JVM refuses a class-data archive whose jar has another time."""
    modules = jvm.home / "lib" / "modules"
    copied = image.root / modules.resolve().relative_to("/")
    assert copied.stat().st_mtime_ns == modules.stat().st_mtime_ns


def test_a_missing_file_is_named(tmp_path):
    """What the plan asks for and the machine lacks stops the build with its path."""
    with pytest.raises(HostLacksError, match="no-such-folder"):
        build_image(ImagePlan(trees=(tmp_path / "no-such-folder",)), tmp_path)


def test_the_disk_holds_the_same_files(image, jvm, tmp_path):
    """debugfs reads from the disk what is in the folder; it is made without root, and once."""
    debugfs = shutil.which("debugfs", path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    if debugfs is None:
        pytest.skip("no e2fsprogs on this machine")
    [library] = jvm.home.resolve().rglob("libjvm.so")
    copy = tmp_path / "libjvm.so"
    read = [debugfs, "-R", f"dump {library} {copy}", str(image.disk)]
    subprocess.run(read, capture_output=True, check=True)
    assert checksum(copy) == checksum(library)
    made = image.disk.stat().st_ino
    assert AppImage(image.folder, image.fingerprint).disk.stat().st_ino == made


def test_a_scratch_disk_takes_no_room_until_it_is_written(tmp_path):
    """A disk of four GiB is there at once and uses a small part of it."""
    disk = tmp_path / "scratch.ext4"
    content = tmp_path / "content"
    content.mkdir()
    make_disk(disk, mib=4096, content=content)
    assert disk.stat().st_size == 4096 * 2**20
    assert disk.stat().st_blocks * 512 < 100 * 2**20


def test_static_programs_are_told_from_dynamic_ones():
    """busybox must run where there is no loader; the interpreter is none such as a rule."""
    assert is_static(find_busybox())
    script = Path(__file__)
    assert not is_static(script)
    dynamic = subprocess.run(["ldd", python_program()], capture_output=True, check=False)
    assert is_static(python_program()) == (dynamic.returncode != 0)
