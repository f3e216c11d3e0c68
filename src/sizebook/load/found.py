"""What a locustfile holds, found out before anything is started: classes, hosts, shape, arguments.

A process of its own imports the file (``look``): the lab must not import Locust, which patches
sockets and threads.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from pydantic import Field, ValidationError

from sizebook.load.protocol import Failure, decode
from sizebook.model.errors import LocustfileError
from sizebook.model.load import UserStage
from sizebook.model.records import Record, Scalars

LOOK_WITHIN_S = 60.0
"""Longest that a locustfile may take to be imported."""


class FoundUser(Record):
    """A user class of a locustfile."""

    name: str
    client: str
    host: str = ""
    """Base URL that the class states; empty: none."""
    is_scenario: bool = False


class FoundShape(Record):
    """A ``LoadTestShape``: users over time."""

    name: str
    stages: tuple[UserStage, ...]
    ends: bool
    """Whether the shape ends by itself; else it was cut off."""


class FoundLocustfile(Record):
    """What a locustfile holds."""

    users: tuple[FoundUser, ...]
    shape: FoundShape | None = None
    arguments: tuple[str, ...] = ()
    """Names of the arguments that it adds to Locust's own."""
    pauses: str = ""
    """How its users pause, in Locust's words; empty: they do not."""

    @property
    def hosts(self) -> tuple[str, ...]:
        """The base URLs that its classes state, each once."""
        return tuple(dict.fromkeys(user.host for user in self.users if user.host))


class LookOrder(Record):
    """What is to be found out."""

    locustfile: str
    """Full path."""
    host: str = ""
    """Base URL of the target: the import may connect to nothing else. Empty: not known yet."""
    within_s: float | None = None
    """Longest shape that is of use; None: as long as it lasts."""
    settings: Scalars = Field(default_factory=dict)
    """Values of arguments, as in ``LoadProfile.settings``."""


def look_into(order: LookOrder, *, within_s: float = LOOK_WITHIN_S) -> FoundLocustfile:
    """Return what a locustfile holds.

    Raises what is wrong with it as UserError: it cannot be imported, has no user class, a shape
    that no schedule can follow, or an argument that must be given.
    """
    name = Path(order.locustfile).name
    command = [sys.executable, "-m", "sizebook.load.look"]
    try:
        done = subprocess.run(
            command,
            input=order.model_dump_json(),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=within_s,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise LocustfileError(
            found=f"an import of {name} that was not over after {within_s:g} s",
            expected="a locustfile that waits for nothing while it is imported",
            next_step=f"move what waits in {name} into on_start or a listener of test_start",
        ) from error
    try:
        word, content = decode(done.stdout)
        if word == "error":
            raise Failure.model_validate_json(content).error()
        return FoundLocustfile.model_validate_json(content)
    except (ValueError, ValidationError) as error:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1][:300]
        raise LocustfileError(
            found=f"an import of {name} that ended the process with code {done.returncode}: {last}",
            expected="a locustfile that can be imported",
            next_step=f"correct {name}",
        ) from error
