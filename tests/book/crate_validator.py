"""The public validator of RO-Crates, in an environment of its own."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from tests.own_environment import install

REQUIRED, RECOMMENDED = "REQUIRED", "RECOMMENDED"
BASE = "ro-crate-1.1"
WORKFLOW_RUN = "workflow-run-crate-0.5"
PROVENANCE = "provenance-run-crate-0.5"
"""The most demanding profile: it holds those of runs, of workflows and of RO-Crate itself."""


def run_validator(severity: str, *pairs: tuple[Path, str]) -> list[dict[str, Any]]:
    """Give the verdict on each crate and profile: ``passed`` and ``issues``.

    Nothing leaves the machine.
    """
    script = Path(__file__).with_name("validate_crate.py")
    done = subprocess.run(
        [install("validator"), script, severity, *(word for pair in pairs for word in pair)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": "", "PYTHONWARNINGS": "ignore"},
    )
    assert done.returncode == 0, done.stderr
    verdicts: list[dict[str, Any]]
    verdicts, _ = json.JSONDecoder().raw_decode(done.stdout)  # it may say more at its end
    return verdicts
