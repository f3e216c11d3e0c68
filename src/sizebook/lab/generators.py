"""The load generator's workers, kept from one session to the next while they fit."""

from __future__ import annotations

import contextlib
import secrets
import shutil
import sys
from pathlib import Path

from sizebook.hosts import LocalHost
from sizebook.hosts.image import AppImage, ImagePlan, build_image
from sizebook.hosts.opening import opened_hosts
from sizebook.hosts.ssh import Machine
from sizebook.lab.inventories import chosen_inventory
from sizebook.load.packages import needed_trees
from sizebook.load.spread import SpreadWorkers
from sizebook.load.workers import Workers
from sizebook.model.deployment import CpuSet, HostSpec
from sizebook.store import Project


class KeptWorkers:
    """Starting Python with Locust takes a second; what still runs serves the next session, too."""

    def __init__(self, project: Project, host: LocalHost) -> None:
        self._project = project
        self._host = host
        self._kept: Workers | None = None
        self._fit: tuple[CpuSet, int, tuple[HostSpec, ...]] = ((), 0, ())
        self._logs: Path | None = None
        self._machines = contextlib.ExitStack()
        """Other machines that were opened for the workers."""

    def get(self, cpus: CpuSet, workers: int, hosts: tuple[HostSpec, ...] = ()) -> Workers:
        """Return so many workers on these CPUs: the last ones if they fit and live, else new ones.

        ``hosts`` are other machines on which they are to run instead. Raises TrialError if they do
        not start, HostLacksError if a machine lacks something.
        """
        wanted = cpus, workers, hosts
        if self._kept is not None and self._fit == wanted and self._kept.alive:
            return self._kept
        self.drop()
        self._logs = self._project.state / "run" / f"generator-{secrets.token_hex(3)}"
        self._kept = self._spread(workers, hosts) if hosts else self._here(cpus, workers)
        self._fit = wanted
        self._kept.start()
        return self._kept

    def drop(self) -> None:
        """End the workers, if there are any; the next session gets new ones."""
        kept, self._kept = self._kept, None
        if kept is not None:
            with contextlib.suppress(OSError):
                kept.stop()
        self._machines.close()
        if self._logs is not None:
            shutil.rmtree(self._logs, ignore_errors=True)

    def _here(self, cpus: CpuSet, workers: int) -> Workers:
        assert self._logs is not None
        return Workers(
            self._host,
            sys.executable,
            self._logs,
            cpus,
            workers=workers,
            locustfiles=self._project.locustfiles,
        )

    def _spread(self, workers: int, hosts: tuple[HostSpec, ...]) -> Workers:
        """Open the machines and return workers on them that are not started."""
        assert self._logs is not None
        state = self._project.state
        scratch = state / "run"

        def image() -> AppImage:
            return build_image(ImagePlan(needed_trees(), mount_points=(scratch,)), state)

        opened = self._machines.enter_context(
            opened_hosts(
                hosts,
                {},
                image,
                scratch=scratch,
                state=state,
                local=self._host,
                guard=self._host.guard,
                inventory=chosen_inventory(),
            )
        )
        machines = [host for host in opened.values() if isinstance(host, Machine)]
        return SpreadWorkers(
            self._host,
            machines,
            sys.executable,
            self._logs,
            workers=workers,
            locustfiles=self._project.locustfiles,
        )
