"""The application image: what processes on a host of its own need, and nothing else of a system.

It is made of this machine's own files, each at the path that it has here. So every mode runs the
very same JVM, a command line means the same on every host, and nothing comes from a network. A
container uses the folder, a guest kernel a disk with the same files (``AppImage.disk``). The image
is read-only in use; a change of any file that it holds makes another image.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from sizebook.hosts.inside import AGENT, AGENT_FILES
from sizebook.hosts.manifest import Manifest
from sizebook.hosts.mortal import mortal
from sizebook.model.errors import HostLacksError

INIT = "/sbin/sizebook-init"
"""First program of a guest's own kernel; it becomes the agent."""
ROOT_LABEL, SCRATCH_LABEL = "sizebook-root", "sizebook-scratch"
"""Names of file systems: a kernel numbers disks in the order in which they happen to answer."""
HOST_NAME = "sizebook"
"""Name of every host that uses the image; it resolves to its loopback address."""
NOBODY = 65534

_FORMAT = "2"
"""Part of the fingerprint: counts up when the same contents are laid out differently."""
_UNUSED_S = 24 * 3600.0
_MOUNT_POINTS = ("proc", "sys", "dev", "tmp", "run", "var/tmp", "root", "mnt")
_STDLIB_LEFT_OUT = frozenset(
    ("test", "tests", "idlelib", "tkinter", "turtledemo", "lib2to3", "ensurepip", "distutils")
).union(("pydoc_data", "venv", "site-packages", "dist-packages", "__pycache__"))
_JVM_LEFT_OUT = frozenset(("jmods", "src.zip", "man", "demo", "include", "legal", "docs"))
"""For building, not for running."""
_APPLETS = """
    sh arping cat chmod chown cp cut date dd df dirname echo env false findfs grep head hostname id
    ip kill ln ls mkdir mount mv nproc poweroff ps rm rmdir sed sleep stat sync tar taskset test
    touch true umount uname uptime wc
"""
_FILES = {
    "etc/passwd": "root:x:0:0:root:/root:/bin/sh\n"
    f"nobody:x:{NOBODY}:{NOBODY}:nobody:/tmp:/bin/sh\n",
    "etc/group": f"root:x:0:\nnogroup:x:{NOBODY}:\n",
    "etc/hosts": f"127.0.0.1 localhost {HOST_NAME}\n",
    "etc/hostname": f"{HOST_NAME}\n",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    "etc/resolv.conf": "",
}
_FILES_OF_THIS_SYSTEM = ("/etc/localtime", "/etc/os-release", "/etc/ssl/openssl.cnf")


@dataclass(frozen=True)
class ImagePlan:
    """What an image holds beside Python, a shell and the agent."""

    trees: tuple[Path, ...] = ()
    """Folders and files of this machine: JVM homes, class path, archives, database programs."""
    programs: tuple[str, ...] = ()
    """Programs by name or path; one that is not there is left out."""
    mount_points: tuple[Path, ...] = ()
    """Folders that are there and empty, for file systems to be mounted on."""


@dataclass(frozen=True)
class AppImage:
    """A built image."""

    folder: Path
    fingerprint: str
    """SHA-256 over paths, modes and contents of all that it holds."""

    @property
    def root(self) -> Path:
        """Folder that becomes the root of a container; nothing may write there."""
        return self.folder / "root"

    @property
    def python(self) -> Path:
        """The interpreter inside; started with ``-I -S``."""
        return python_program()

    @cached_property
    def disk(self) -> Path:
        """Image of an ext4 disk with the same files; made when first asked for.

        Raises HostLacksError without mke2fs.
        """
        disk = self.folder / "root.ext4"
        with _locked(self.folder / "lock"):
            if not disk.is_file():
                partial = disk.with_suffix(".partial")
                files, size = _amount(self.root)
                mib = size // 2**20 + files // 64 + 64
                make_disk(partial, mib=mib, content=self.root, label=ROOT_LABEL, journal=False)
                partial.rename(disk)
        return disk


def python_program() -> Path:
    """Return this machine's interpreter itself, not a virtual environment's link to it."""
    return Path(sys.executable).resolve()


def build_image(plan: ImagePlan, state: Path) -> AppImage:
    """Return the image of this plan, made now unless one of the same contents is there.

    Needs no root and no network. Raises HostLacksError where there is no static busybox, or a file
    of the plan is missing or cannot be read.
    """
    manifest = _contents(plan)
    images = state / "hosts" / "images"
    images.mkdir(parents=True, exist_ok=True)
    with _locked(images / "lock"):
        known = _read_checksums(images / "checksums.json")
        fingerprint = manifest.fingerprint(_FORMAT, known)
        (images / "checksums.json").write_text(json.dumps(known))
        image = AppImage(images / fingerprint[:16], fingerprint)
        if not image.folder.is_dir():
            _remove_unused(images)
            partial = images / f"{fingerprint[:16]}.partial"
            shutil.rmtree(partial, ignore_errors=True)
            manifest.write(partial / "root")
            _compile_python(partial / "root")
            partial.rename(image.folder)
        os.utime(image.folder)
    return image


def make_disk(path: Path, *, mib: int, content: Path, label: str, journal: bool = True) -> None:
    """Make a sparse file of so many MiB that holds an ext4 file system with a folder's files.

    One that is only read needs no journal. Raises HostLacksError without mke2fs.
    """
    program = shutil.which("mke2fs", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin")
    if program is None:
        raise HostLacksError(
            found="no mke2fs on the path",
            expected="the program that makes ext4 file systems",
            next_step="install it (Debian: apt-get install e2fsprogs)",
        )
    command = [
        program,
        "-q",
        "-F",
        "-t",
        "ext4",
        "-m",
        "0",
        "-E",
        "lazy_itable_init=1,root_owner=0:0",
    ]
    command += ["-L", label, "-d", str(content), *([] if journal else ["-O", "^has_journal"])]
    path.unlink(missing_ok=True)
    run = subprocess.run(
        mortal([*command, str(path), f"{mib}M"]), capture_output=True, text=True, check=False
    )
    if run.returncode != 0:
        path.unlink(missing_ok=True)
        raise HostLacksError(
            found=f"mke2fs ended with {run.returncode}: {run.stderr.strip()[-200:]}",
            expected=f"an ext4 file system of {mib} MiB",
            next_step="make room on the disk that holds the project's state folder",
        )


def _contents(plan: ImagePlan) -> Manifest:
    manifest = Manifest()
    for name in _MOUNT_POINTS:
        manifest.add_folder(Path("/", name), 0o1777 if name.endswith("tmp") else 0o755)
    for name, text in _FILES.items():
        manifest.add_text(Path("/", name), text)
    _add_shell(manifest)
    manifest.add_tree(python_program())
    for folder in stdlib_folders():
        manifest.add_tree(folder, _STDLIB_LEFT_OUT)
    for file in AGENT_FILES:
        manifest.add_tree(file)
    manifest.add_text(Path(INIT), (AGENT.parent / "init.sh").read_text(), 0o755)
    for path in map(Path, _FILES_OF_THIS_SYSTEM):
        if path.exists():
            manifest.add_tree(path)
    for tree in plan.trees:
        if not tree.exists():
            raise HostLacksError(
                found=f"no {tree} for the application image",
                expected="a file or folder of this machine",
                next_step="run 'make setup', then try again",
            )
        manifest.add_tree(tree, _JVM_LEFT_OUT if (tree / "release").is_file() else frozenset())
    for name in plan.programs:
        if (program := shutil.which(name)) is not None:
            manifest.add_tree(Path(program))
    for folder in plan.mount_points:
        manifest.add_folder(folder)
    manifest.add_libraries()
    return manifest


def find_busybox() -> Path:
    """Return a statically linked busybox. Raises HostLacksError if there is none."""
    for name in ("busybox", "busybox.static"):
        program = shutil.which(name)
        if program is not None and is_static(Path(program)):
            return Path(program)
    raise HostLacksError(
        found="no statically linked busybox on the path",
        expected="the shell of hosts that have a root of their own",
        next_step="install it (Debian: apt-get install busybox-static)",
    )


def is_static(program: Path) -> bool:
    """Return whether a program asks for no dynamic loader (ELF program header PT_INTERP)."""
    with program.open("rb") as file:
        head = file.read(64)
        if head[:5] != b"\x7fELF\x02":
            return False
        offset = int.from_bytes(head[32:40], "little")
        size, count = (int.from_bytes(head[at : at + 2], "little") for at in (54, 56))
        file.seek(offset)
        table = file.read(size * count)
    kinds = (int.from_bytes(table[at : at + 4], "little") for at in range(0, len(table), size))
    return 3 not in kinds


def stdlib_folders() -> tuple[Path, ...]:
    """Return the folders of the interpreter's own library."""
    folder = Path(os.__file__).resolve().parent
    found = [folder]
    for entry in map(Path, sys.path):  # lib-dynload is below the other or, on some systems, apart
        if entry.name == "lib-dynload" and not entry.resolve().is_relative_to(folder):
            found.append(entry.resolve())
    return tuple(found)


def _add_shell(manifest: Manifest) -> None:
    busybox = find_busybox()
    manifest.add_tree(busybox)
    for name in _APPLETS.split():
        manifest.add_link(Path("/bin", name), str(busybox))


def _compile_python(root: Path) -> None:
    """Compile library and agent inside: a read-only root can keep no compiled file later.

    Compiled files are not part of the fingerprint, since they follow from what is.
    """
    for folder in (*stdlib_folders(), AGENT.parent):
        command = [str(python_program()), "-I", "-S", "-m", "compileall", "-q", "-j", "0"]
        command += ["--invalidation-mode", "unchecked-hash", "-s", str(root)]
        subprocess.run(
            mortal([*command, str(root / folder.relative_to("/"))]),
            capture_output=True,
            check=False,
        )


def _read_checksums(file: Path) -> dict[str, list[str]]:
    """Return what was written there; nothing if it was not, or not to the end."""
    with contextlib.suppress(OSError, ValueError):
        found: dict[str, list[str]] = json.loads(file.read_text())
        return found
    return {}


def _amount(root: Path) -> tuple[int, int]:
    """Return how many files there are, and their bytes in blocks of 4 KiB."""
    files = size = 0
    for folder, names, others in os.walk(root):
        files += len(names) + len(others)
        for name in others:
            size += -(-os.lstat(Path(folder, name)).st_size // 4096) * 4096
        size += 4096 * len(names)
    return files, size


def _remove_unused(images: Path) -> None:
    for old in images.iterdir():
        with contextlib.suppress(OSError):
            if old.is_dir() and time.time() - old.stat().st_mtime > _UNUSED_S:
                shutil.rmtree(old, ignore_errors=True)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
