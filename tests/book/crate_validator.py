"""The public validator of RO-Crates, in an environment of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).parents[2]
LOCK = PROJECT / "env" / "validator.lock"
FOLDER = PROJECT / ".sizebook" / "validator"
REQUIRED, RECOMMENDED = "REQUIRED", "RECOMMENDED"
BASE = "ro-crate-1.1"
WORKFLOW_RUN = "workflow-run-crate-0.5"
PROVENANCE = "provenance-run-crate-0.5"
"""The most demanding profile: it holds those of runs, of workflows and of RO-Crate itself."""


def install_validator() -> Path:
    """Give the validator's interpreter; what its lock file names is installed if it is not."""
    stamp, python = FOLDER / "installed.lock", FOLDER / "bin" / "python"
    if python.exists() and stamp.exists() and stamp.read_bytes() == LOCK.read_bytes():
        return python
    shutil.rmtree(FOLDER, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", FOLDER], check=True)
    pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    subprocess.run([*pip, "--require-hashes", "-r", LOCK], check=True)
    shutil.copyfile(LOCK, stamp)
    return python


def run_validator(severity: str, *pairs: tuple[Path, str]) -> list[dict[str, Any]]:
    """Give the verdict on each crate and profile: ``passed`` and ``issues``.

    Nothing leaves the machine.
    """
    script = Path(__file__).with_name("validate_crate.py")
    done = subprocess.run(
        [install_validator(), script, severity, *(word for pair in pairs for word in pair)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": "", "PYTHONWARNINGS": "ignore"},
    )
    assert done.returncode == 0, done.stderr
    verdicts: list[dict[str, Any]]
    verdicts, _ = json.JSONDecoder().raw_decode(done.stdout)  # it may say more at its end
    return verdicts
