"""Files that a locustfile reads: seen while it runs, and looked up again for the next plan.

A generator watches what its process opens (Python's audit events), since no analysis of a text
tells which file ``open(f"{country}.csv")`` is. So local modules, data and bodies are seen, also
those that are read in the middle of a load, and those that were looked for and not there. What
Python, the system and installed packages bring is left out. The lab finds the same files by their
names and knows without a load whether they have changed.

Imports nothing of Locust, so that the lab can.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import site
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import sizebook

LOAD_FOLDER = "locustfiles"
"""Name of the folder of a project that holds its load profiles."""
ABSENT = "absent"
"""Stands for the checksum of a file that was looked for and is not there."""
_KEPT_OUT = frozenset((".git", ".sizebook", ".venv", "_build", "__pycache__", "node_modules"))
"""Folders of a project in which nothing is load data."""
_SYSTEM = ("/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/opt", "/proc", "/run", "/sbin",
           "/sys", "/usr", "/var")  # fmt: skip
_LISTINGS = frozenset(("os.listdir", "os.scandir"))


class FileWatch:
    """Notes what this process opens to read, from ``begin`` on. One a process; it cannot end."""

    def __init__(self) -> None:
        self._locustfile = Path()
        self._read: set[str] = set()
        self._written: set[str] = set()
        self._listed: set[str] = set()
        self._told: dict[str, str] = {}
        self._names: dict[tuple[str, bool], str] = {}
        self._search = frozenset(map(os.path.realpath, sys.path))
        sys.addaudithook(self._hear)

    def begin(self, locustfile: Path) -> None:
        """Forget what was read, and have the modules beside a locustfile imported anew.

        A module that an earlier trial has imported would not be read again. Relative paths count
        from the locustfile's folder.
        """
        self._locustfile = Path(os.path.realpath(locustfile))
        self._told, self._names = {}, {}
        for name, module in tuple(sys.modules.items()):
            if name != "__main__" and any(map(self._name_of, _files_of(module))):
                del sys.modules[name]
        os.chdir(self._locustfile.parent)
        self._read, self._written, self._listed = set(), set(), set()

    def news(self) -> dict[str, str]:
        """Return name to checksum of what was read and was not told yet."""
        places = {(path, False) for path in self._read - self._written}
        places |= {(path, True) for path in self._listed}
        names = {name for path, listed in places if (name := self._name_of(path, listed))}
        root = data_root(self._locustfile.parent)
        news = print_files(root, sorted(names - self._told.keys()))
        self._told |= news
        return news

    def _hear(self, event: str, given: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = given
            if isinstance(path, str | bytes | os.PathLike):
                reads = isinstance(flags, int) and flags & os.O_ACCMODE == os.O_RDONLY
                (self._read if reads else self._written).add(_absolute(path))
        elif event in _LISTINGS and not isinstance(given[0], int):
            caller = sys._getframe(1).f_code.co_filename
            if not caller.startswith("<frozen importlib"):
                self._listed.add(_absolute(given[0] or "."))

    def _name_of(self, path: str, listed: bool = False) -> str:
        """Return the name under which a path is told; empty for what is none of the author's."""
        if (path, listed) not in self._names:
            self._names[path, listed] = self._find_name(path, listed)
        return self._names[path, listed]

    def _find_name(self, path: str, listed: bool) -> str:
        real = os.path.realpath(path)
        root = data_root(self._locustfile.parent)
        if real == str(self._locustfile) or (listed and real in self._search):
            return ""
        if real.endswith(".pyc"):
            try:
                real = importlib.util.source_from_cache(real)
            except ValueError:
                return ""
            if real == str(self._locustfile):
                return ""
        place = Path(real)
        if any(place.is_relative_to(e) and not root.is_relative_to(e) for e in _installed()):
            return ""
        if place.is_relative_to(root):
            inside = place.relative_to(root)
            name = "" if _KEPT_OUT & set(inside.parts) else inside.as_posix()
        elif real.startswith(tuple(f"{each}/" for each in _SYSTEM)):
            name = ""
        elif place.is_relative_to(Path.home()):
            inside = place.relative_to(Path.home())
            hidden = any(part.startswith(".") for part in inside.parts)
            name = "" if hidden else f"~/{inside.as_posix()}"
        else:
            name = real
        return f"{name}/" if name and listed else name


def data_root(locustfiles: Path) -> Path:
    """Return the folder from which the names of files that a locustfile reads count.

    A project's is the one above ``locustfiles/``. A locustfile anywhere else counts from its own:
    what lies above it is none of its business.
    """
    return locustfiles.parent if locustfiles.name == LOAD_FOLDER else locustfiles


def print_files(root: Path, names: Iterable[str]) -> dict[str, str]:
    """Return name to SHA-256 of files below ``root``; ``ABSENT`` where there is none.

    A name that ends with ``/`` is a folder that was listed: its checksum is over the names in it.
    One that begins with ``/`` or ``~/`` lies outside the project.
    """
    return {name: _print(root / Path(name).expanduser(), name) for name in names}


def is_inside(name: str) -> bool:
    """Return whether a name stands for a file of the project, which another machine has, too."""
    return not name.startswith(("/", "~/"))


def differing(one: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    """Return the files that both name, with different contents."""
    return sorted(name for name in one.keys() & other.keys() if one[name] != other[name])


def _print(path: Path, name: str) -> str:
    try:
        if name.endswith("/"):
            inside = sorted(each.name for each in path.iterdir() if each.name != "__pycache__")
            return hashlib.sha256("\n".join(inside).encode("utf-8", "surrogateescape")).hexdigest()
        found = path.stat()
        return _file_print(path, found.st_mtime_ns, found.st_size)
    except OSError:
        return ABSENT


@lru_cache(maxsize=1024)
def _file_print(path: Path, mtime_ns: int, size: int) -> str:  # noqa: ARG001
    with path.open("rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()


@lru_cache(maxsize=1)
def _installed() -> tuple[Path, ...]:
    """Return the folders of what is installed, and of this harness.

    On another machine what Locust needs lies where only the path for modules leads.
    """
    known = {*sysconfig.get_paths().values(), *site.getsitepackages(), site.getusersitepackages()}
    locust = importlib.util.find_spec("locust")
    if locust is not None and locust.origin is not None:
        known.add(str(Path(locust.origin).parents[1]))
    found = {os.path.realpath(each) for each in (*known, sys.prefix, sys.base_prefix)}
    return (Path(sizebook.__file__).resolve().parent, *map(Path, sorted(found)))


def _files_of(module: Any) -> list[str]:
    """Return where a module's text is; of a package without one, its folders."""
    file = getattr(module, "__file__", None)
    return [file] if isinstance(file, str) else [str(e) for e in getattr(module, "__path__", ())]


def _absolute(path: Any) -> str:
    return str(Path.cwd() / os.fsdecode(path))
