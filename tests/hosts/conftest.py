"""Hosts of every mode that this machine has, with an image that holds no more than Python."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from sizebook.hosts import Guard, Host, LocalHost
from sizebook.hosts.image import AppImage, ImagePlan, build_image, python_program
from sizebook.hosts.kinds import KINDS, boots
from sizebook.hosts.opening import opened_hosts
from sizebook.model.deployment import HostSpec
from sizebook.model.inventory import Inventory
from sizebook.model.network import NetworkSpec
from sizebook.store import find_project

MACHINE = "SIZEBOOK_TEST_MACHINE"
"""Environment variable with a host of an inventory: the other machine of these tests."""
PROJECT = find_project(Path(__file__))


@dataclass
class Ground:
    """What hosts are made with in tests."""

    state: Path
    guard: Guard
    local: LocalHost
    scratch: Path
    python: str = field(default_factory=lambda: str(python_program()))

    def image(self) -> AppImage:
        return build_image(ImagePlan(mount_points=(self.scratch,)), self.state)

    def opened(self, *specs: HostSpec, connected: NetworkSpec | None = None) -> Any:
        """Return ``opened_hosts`` of these specifications; those of mode ssh are one machine."""
        far = {spec.name: json.loads(os.environ[MACHINE]) for spec in specs if spec.is_elsewhere}
        return opened_hosts(
            specs,
            boots(KINDS, PROJECT.state),
            self.image,
            scratch=self.scratch,
            state=self.state,
            local=self.local,
            guard=self.guard,
            connected=connected,
            inventory=Inventory.model_validate_json(json.dumps({"hosts": far})) if far else None,
        )

    def run(self, host: Host, code: str, **options: Any) -> tuple[int | None, str]:
        """Run some Python on a host; return exit code and what it printed."""
        log = self.scratch / f"run-{os.urandom(4).hex()}.log"
        process = host.start("run", self.words(code), log=log, **options)
        code_ = process.wait(60)
        said = process.log_tail()
        host.stop(process, grace_s=0)
        return code_, said

    def words(self, code: str) -> list[str]:
        """Return the command line that runs some Python, with nothing in between."""
        return [self.python, "-I", "-S", "-c", code]


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    state = tmp_path_factory.mktemp("state")
    scratch = state / "run"
    scratch.mkdir()
    guard = Guard(state / "guard")
    yield Ground(state, guard, LocalHost(guard), scratch)
    guard.close()
