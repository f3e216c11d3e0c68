"""Hosts that a deployment brings along: opened with the application image of its build."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path

from sizebook.hosts import Host, LocalHost
from sizebook.hosts.image import AppImage, ImagePlan, build_image
from sizebook.hosts.kinds import KINDS, boots
from sizebook.hosts.opening import opened_hosts
from sizebook.model.deployment import Deployment, HostSpec, ServerRole
from sizebook.model.inventory import Inventory
from sizebook.stack.archive import class_data_archive
from sizebook.stack.build import StackBuild, needed
from sizebook.stack.jvms import Jvm, choose_jvm
from sizebook.stack.postgres import find_binaries
from sizebook.stack.servers import find_program

_PROGRAMS = ("fio",)


class Hosting:
    """Opens hosts whose processes find the same files at the same paths as on this machine."""

    def __init__(
        self,
        build: StackBuild | None,
        local: LocalHost,
        state: Path,
        inventory: Inventory | None = None,
    ) -> None:
        self._build = build
        self._local = local
        self._state = state
        self._inventory = inventory
        self._scratch = state / "run"
        self._image = cache(self._build_image)

    def archive(self, jvm: Jvm) -> Path | None:
        """Return the class-data archive of this build for a JVM; None if it cannot be made."""
        return class_data_archive(needed(self._build), jvm, self._local)

    def opened(
        self, deployment: Deployment, callers: Sequence[HostSpec] = ()
    ) -> AbstractContextManager[dict[str, Host]]:
        """Give all hosts of a deployment by name, this machine (``local``) among them.

        ``callers`` are other machines from which its load comes.

        Each has a writable disk where this machine keeps the folders of started stacks. Raises
        HostLacksError where this machine lacks what a mode needs, TrialError if a host does not
        come up.
        """
        jvms = frozenset(choose_jvm(role.jvm) for role in deployment.jvm_roles())
        own = (role for role in deployment.own_roles() if isinstance(role, ServerRole))
        programs = frozenset(find_program(role.command[0], self._state) for role in own)
        return opened_hosts(
            deployment.hosts,
            boots(KINDS, self._state),
            lambda: self._image(jvms, programs, deployment.database() is not None),
            scratch=self._scratch,
            state=self._state,
            local=self._local,
            guard=self._local.guard,
            connected=deployment.network,
            inventory=self._inventory,
            callers=callers,
        )

    def _build_image(
        self, jvms: frozenset[Jvm], programs: frozenset[str], with_database: bool
    ) -> AppImage:
        trees = [Path(needed(self._build).class_path).parent] if jvms else []
        for jvm in jvms:
            archive = self.archive(jvm)
            trees += [jvm.home, *([archive] if archive is not None else [])]
        if with_database:
            trees.append(find_binaries(needed(self._build), self._state).folder.parent)
        plan = ImagePlan(
            tuple(sorted(trees)), (*_PROGRAMS, *sorted(programs)), mount_points=(self._scratch,)
        )
        return build_image(plan, self._state)
