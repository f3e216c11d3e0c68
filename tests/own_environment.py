"""Tools whose packages do not go with the harness's: each in an environment of its own."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[1]


def install(name: str) -> Path:
    """Return the interpreter of ``.sizebook/NAME``, with what ``env/NAME.lock`` names and no more.

    What is there already is used as it is. Raises CalledProcessError where a package is missing.
    """
    lock, folder = PROJECT / "env" / f"{name}.lock", PROJECT / ".sizebook" / name
    stamp, python = folder / "installed.lock", folder / "bin" / "python"
    if python.exists() and stamp.exists() and stamp.read_bytes() == lock.read_bytes():
        return python
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    subprocess.run([*pip, "--no-deps", "--require-hashes", "-r", lock], check=True)
    shutil.copyfile(lock, stamp)
    return python
