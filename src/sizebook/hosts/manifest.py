"""What an image will hold: paths of this machine with the links and libraries they need."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sizebook.model.errors import HostLacksError

_LIBRARY = re.compile(r"^\s+(?:\S+ => )?(/\S+) \(0x", re.MULTILINE)
"""Line of ``ldd``: ``\\tlibz.so.1 => /lib/x86_64-linux-gnu/libz.so.1 (0x00007f…)``."""
_OPENED_BY_NAME = ("libgcc_s.so.1", "libnss_files.so.2")
"""Libraries that the C library opens by itself: to end threads, and for users before glibc 2.34."""
_LDD_FILES = 64


@dataclass(frozen=True)
class _Entry:
    kind: str
    """``folder``, ``file``, ``text`` or ``link``."""
    mode: int = 0
    source: str = ""
    """Where a file's bytes are, a text itself, or what a link points to."""


class Manifest:
    """Entries of an image by path; a path is added with the links on its way and what they mean."""

    def __init__(self) -> None:
        self._entries: dict[Path, _Entry] = {}
        self._walked: set[Path] = set()

    def add_folder(self, path: Path, mode: int = 0o755) -> None:
        """Have an empty folder."""
        path = self._place(path)
        if path not in self._entries or mode != 0o755:
            self._entries[path] = _Entry("folder", mode)

    def add_text(self, path: Path, text: str, mode: int = 0o644) -> None:
        """Have a small file of this text, whatever this machine has there."""
        self._entries[self._place_for(path)] = _Entry("text", mode, text)

    def add_link(self, path: Path, target: str) -> None:
        """Have a symbolic link; nothing if something is there already."""
        self._entries.setdefault(self._place_for(path), _Entry("link", 0, target))

    def add_tree(self, path: Path, left_out: frozenset[str] = frozenset()) -> None:
        """Have a file or folder of this machine, but nothing below that has one of these names.

        Where links lead is added too. What this user may not read is left out of a folder; a file
        asked for by name raises HostLacksError.
        """
        real = self._place(path)
        if real.is_file() and not os.access(real, os.R_OK):
            raise HostLacksError(
                found=f"{real}, which this user may not read",
                expected="a file that can be put into the application image",
                next_step="make it readable, or run as a user who may read it",
            )
        self._add_real(real, left_out)

    def add_libraries(self) -> None:
        """Have the shared libraries of all programs and libraries that are there so far."""
        programs = [
            path for path, entry in self._entries.items() if entry.kind == "file" and _is_elf(path)
        ]
        found = _libraries_of(programs)
        folders = {path.parent for path in found if path.name.startswith("libc.so")}
        found |= {f / name for f in folders for name in _OPENED_BY_NAME if (f / name).is_file()}
        for library in sorted(found):
            self._add_real(self._place(library), frozenset())

    def fingerprint(self, layout: str, known: dict[str, list[str]] | None = None) -> str:
        """Return one SHA-256 over all paths, modes and contents.

        ``known`` has the checksums of files by path, with a stamp that changes whenever the file
        does; it is used and brought up to date, since there may be a gigabyte to read.
        """
        known = {} if known is None else known
        before = dict(known)
        known.clear()
        total = hashlib.sha256(layout.encode())
        for path, entry in sorted(self._entries.items()):
            what = entry.source
            if entry.kind == "file":
                facts = Path(entry.source).stat()
                stamp = f"{facts.st_ino} {facts.st_size} {facts.st_mtime_ns} {facts.st_ctime_ns}"
                if (found := before.get(entry.source, ["", ""]))[0] != stamp:
                    with Path(entry.source).open("rb") as source:
                        found = [stamp, hashlib.file_digest(source, "sha256").hexdigest()]
                known[entry.source] = found
                what = found[1]
            total.update(f"{path}\0{entry.kind}\0{entry.mode:o}\0{what}\n".encode())
        return total.hexdigest()

    def write(self, root: Path) -> None:
        """Make a folder with all of it; files keep their times, which JVM archives are tied to."""
        root.mkdir(parents=True)
        root.chmod(0o755)
        for path, entry in sorted(self._entries.items()):
            if path == Path("/"):
                continue
            target = root / path.relative_to("/")
            match entry.kind:
                case "folder":
                    target.mkdir(exist_ok=True)
                    target.chmod(entry.mode)
                case "text":
                    target.write_text(entry.source)
                    target.chmod(entry.mode)
                case "link":
                    target.symlink_to(entry.source)
                case _:
                    shutil.copyfile(entry.source, target)
                    shutil.copystat(entry.source, target)
                    target.chmod(entry.mode)

    def _place_for(self, path: Path) -> Path:
        """Return where something of our own is put, whatever this machine has there."""
        folder = self._place(path.parent)
        self._entries.setdefault(folder, _Entry("folder", 0o755))
        return folder / path.name

    def _place(self, path: Path) -> Path:
        """Add the folders and links on the way to a path; return where it is in the end."""
        todo = list(Path(os.path.normpath(path)).parts[1:])
        place = Path("/")
        while todo:
            step = place / todo.pop(0)
            if step.is_symlink():
                target = step.readlink()
                self._entries[step] = _Entry("link", 0, str(target))
                todo = [*Path(os.path.normpath(place / target)).parts[1:], *todo]
                place = Path("/")
            else:
                if todo and step not in self._entries:
                    self._entries[step] = _Entry("folder", 0o755)
                place = step
        return place

    def _add_real(self, path: Path, left_out: frozenset[str]) -> None:
        """Add what is at a path none of whose steps is a link."""
        if path in self._walked:
            return
        self._walked.add(path)
        mode = stat.S_IMODE(path.stat().st_mode)
        if path.is_dir():
            self._entries[path] = _Entry("folder", 0o755)
            for child in _children(path):
                if child.name in left_out:
                    continue
                if not child.is_symlink():
                    self._add_real(child, left_out)
                elif child.exists():
                    self._add_real(self._place(child), left_out)
        elif path.is_file() and os.access(path, os.R_OK):
            readable = 0o755 if mode & 0o111 else 0o644
            self._entries[path] = _Entry("file", readable, str(path))


def _children(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except PermissionError:
        return []


def _is_elf(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(4) == b"\x7fELF"
    except OSError:
        return False


def _libraries_of(programs: Iterable[Path]) -> set[Path]:
    """Return the libraries that the dynamic loader finds for these files, by ``ldd``."""
    ldd = shutil.which("ldd")
    if ldd is None:
        raise HostLacksError(
            found="no ldd on the path",
            expected="the program that lists shared libraries",
            next_step="install it (Debian: apt-get install libc-bin)",
        )
    names = [str(path) for path in programs]
    found: set[Path] = set()
    for begin in range(0, len(names), _LDD_FILES):
        command = [ldd, *names[begin : begin + _LDD_FILES]]
        said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
        found |= {Path(os.path.normpath(path)) for path in _LIBRARY.findall(said)}
    return found
