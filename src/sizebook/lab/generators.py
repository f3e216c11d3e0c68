"""The load generator's workers, kept from one session to the next while they fit."""

from __future__ import annotations

import contextlib
import secrets
import shutil
import sys
from pathlib import Path

from sizebook.hosts import LocalHost
from sizebook.load.workers import Workers
from sizebook.model.deployment import CpuSet
from sizebook.store import Project


class KeptWorkers:
    """Starting Python with Locust takes a second; what still runs serves the next session, too."""

    def __init__(self, project: Project, host: LocalHost) -> None:
        self._project = project
        self._host = host
        self._kept: Workers | None = None
        self._fit: tuple[CpuSet, int] = ((), 0)
        self._logs: Path | None = None

    def get(self, cpus: CpuSet, workers: int) -> Workers:
        """Return so many workers on these CPUs: the last ones if they fit and live, else new ones.

        Raises TrialError if they do not start.
        """
        if self._kept is not None and self._fit == (cpus, workers) and self._kept.alive:
            return self._kept
        self.drop()
        self._logs = self._project.state / "run" / f"generator-{secrets.token_hex(3)}"
        self._kept = Workers(
            self._host,
            sys.executable,
            self._logs,
            cpus,
            workers=workers,
            locustfiles=self._project.locustfiles,
        )
        self._fit = cpus, workers
        self._kept.start()
        return self._kept

    def drop(self) -> None:
        """End the workers, if there are any; the next session gets new ones."""
        kept, self._kept = self._kept, None
        if kept is not None:
            with contextlib.suppress(OSError):
                kept.stop()
        if self._logs is not None:
            shutil.rmtree(self._logs, ignore_errors=True)
