"""Hosts that a deployment brings along: opened with the application image of its build."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from sizebook.hosts import Host, LocalHost, open_host
from sizebook.hosts.image import AppImage, ImagePlan, build_image
from sizebook.model.deployment import Deployment, HostSpec
from sizebook.stack.archive import class_data_archive
from sizebook.stack.build import StackBuild
from sizebook.stack.jvms import Jvm, choose_jvm
from sizebook.stack.postgres import find_binaries

_PROGRAMS = ("fio",)


class Hosting:
    """Opens hosts whose processes find the same files at the same paths as on this machine."""

    def __init__(self, build: StackBuild, local: LocalHost, state: Path) -> None:
        self._build = build
        self._local = local
        self._state = state
        self._scratch = state / "run"
        self._image = cache(self._build_image)

    def archive(self, jvm: Jvm) -> Path | None:
        """Return the class-data archive of this build for a JVM; None if it cannot be made."""
        return class_data_archive(self._build, jvm, self._local, self._state)

    def open(self, spec: HostSpec, deployment: Deployment, folder: Path) -> Host:
        """Return a host that is up; what runs there may write below ``folder``, as here.

        Raises HostLacksError where this machine lacks what the mode needs, TrialError if the host
        does not come up.
        """
        jvms = frozenset(choose_jvm(role.jvm) for role in deployment.jvm_roles())
        image = self._image(jvms, deployment.database() is not None)
        own = folder / "hosts" / spec.name
        own.mkdir(parents=True)
        return open_host(spec, image, scratch=self._scratch, folder=own, guard=self._local.guard)

    def _build_image(self, jvms: frozenset[Jvm], with_database: bool) -> AppImage:
        trees = [Path(self._build.class_path).parent]
        for jvm in jvms:
            archive = self.archive(jvm)
            trees += [jvm.home, *([archive] if archive is not None else [])]
        if with_database:
            trees.append(find_binaries(self._build, self._state).folder.parent)
        plan = ImagePlan(tuple(sorted(trees)), _PROGRAMS, mount_points=(self._scratch,))
        return build_image(plan, self._state)
