"""A foreign server in a process of its own, and a folder that is in no project."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from sizebook.lab.inventories import VARIABLE

HERE = Path(__file__).parent
STYLES = HERE / "styles"


class ForeignServer:
    """The shop of ``foreign_server.py``, running."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        self.pid = process.pid
        self.url = f"http://127.0.0.1:{int(process.stdout.readline())}"

    def counts(self) -> dict[str, int]:
        """Return how often each path was asked for, by method and path."""
        with urllib.request.urlopen(f"{self.url}/counts", timeout=60) as answer:
            found: dict[str, int] = json.load(answer)
        return found

    def since(self, before: dict[str, int]) -> dict[str, int]:
        """Return the same since an earlier answer, without what was not asked for."""
        now = self.counts()
        return {path: n for path in now if (n := now[path] - before.get(path, 0))}


@pytest.fixture(scope="session")
def shop() -> Iterator[ForeignServer]:
    command = [sys.executable, str(HERE / "foreign_server.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield ForeignServer(process)
        finally:
            process.kill()


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the present folder: one that is in no project."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SIZEBOOK_ROOT", raising=False)
    monkeypatch.setenv(VARIABLE, "")
    assert os.environ[VARIABLE] == ""
    return tmp_path
