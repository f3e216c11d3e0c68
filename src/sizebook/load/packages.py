"""What a worker needs beside Python's own library, for machines that have nothing of it."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import sizebook

_NEEDED = ("locust", "numpy", "pydantic", "psutil")
PACKAGE = Path(sizebook.__file__).resolve().parent
"""The harness itself."""


def site_folder() -> Path:
    """Return the folder that holds the installed packages."""
    return Path(str(importlib.metadata.distribution("locust").locate_file(""))).resolve()


def needed_trees() -> tuple[Path, ...]:
    """Return the files and folders of all installed packages that a worker imports, sorted.

    The packages that it names, and what they ask for on this machine.
    """
    found: dict[str, importlib.metadata.Distribution] = {}
    _add("locust", found)
    for name in _NEEDED:
        _add(name, found)
    site = site_folder()
    names = {
        file.parts[0]
        for distribution in found.values()
        for file in distribution.files or ()
        if file.parts[0] not in ("..", "__pycache__")
    }
    return tuple(sorted(site / name for name in names if (site / name).exists()))


def own_metadata() -> Path:
    """Return the folder that says which version of the harness this is."""
    distribution = importlib.metadata.distribution("sizebook")
    files = [file for file in distribution.files or () if file.name == "METADATA"]
    return Path(str(distribution.locate_file(files[0]))).resolve().parent


def _add(name: str, found: dict[str, importlib.metadata.Distribution]) -> None:
    key = canonicalize_name(name)
    if key in found:
        return
    try:
        found[key] = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:  # wanted on other systems only
        return
    for text in found[key].requires or ():
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            _add(requirement.name, found)
