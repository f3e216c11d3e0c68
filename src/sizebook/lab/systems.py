"""Deployments of systems that are not the reference stack: started by a command, or given."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from sizebook.lab.chapter_lab import ChapterLab
from sizebook.lab.placement import Placement
from sizebook.model.deployment import Deployment, GivenRole, ServerRole
from sizebook.model.errors import UsageError
from sizebook.model.faults import wanted
from sizebook.stack.servers import find_program

_Made = TypeVar("_Made", ServerRole, GivenRole, Deployment)


def started_system(
    placement: Placement, role: str, command: Sequence[str], **fields: Any
) -> Deployment:
    """Return a server of one's own on the stack's CPUs, started by a command.

    ::

        started_system(here, "web", ["python3", "-m", "http.server", "{port}"], ready="/")

    ``fields`` are those of ``model.deployment.ServerRole``: files, readiness, stop signal, version,
    counters. A second server is added with ``joined``. Raises UsageError for a field or value that
    there is not.
    """
    own = {"cpus": placement.stack} | fields
    return Deployment(roles=(_checked(ServerRole, role=role, command=tuple(command), **own),))


def given_system(role: str, url: str = "", **fields: Any) -> Deployment:
    """Return a server of one's own that runs already: it is loaded, and nothing of it is started.

    ``url`` is its base URL on this machine; where it is elsewhere, an inventory names it among its
    ``systems``. ``fields`` are those of ``model.deployment.GivenRole``: readiness, counters, what
    it is. Raises UsageError for a field or value that there is not.
    """
    return Deployment(roles=(_checked(GivenRole, role=role, url=url, **fields),))


def joined(*parts: Deployment) -> Deployment:
    """Return the roles of several deployments as one, started in this order.

    Raises UsageError for two systems of one name, or hosts beside this machine: those are given to
    the whole.
    """
    if any(part.hosts or part.network is not None for part in parts):
        raise UsageError(
            found="hosts in one of the deployments that are joined",
            expected="deployments without hosts",
            next_step="join them first, then give the whole its hosts with on()",
        )
    return _checked(Deployment, roles=tuple(role for part in parts for role in part.roles))


def missing_program(lab: ChapterLab, name: str) -> str:
    """Return why a chapter cannot start a program here; empty if it can, or shows bundles only."""
    if not lab.measures or Path(find_program(name, lab.project.state)).is_file():
        return ""
    return f"there is no program {name} here: 'make setup' brings it on Debian"


def _checked(kind: type[_Made], **fields: Any) -> _Made:
    try:
        return kind(**fields)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the deployment"
        if place == "url":
            elsewhere = first["type"] == "elsewhere"
            raise UsageError(
                found=f"URL {str(first['input'])[:200]!r}",
                expected=first["msg"],
                next_step="name a target elsewhere in an inventory, among its 'systems'"
                if elsewhere
                else "correct it, such as http://127.0.0.1:8080",
            ) from error
        raise UsageError(
            found=f"{place}: {str(first['input'])[:200]!r}",
            expected=wanted(first),
            next_step="correct the deployment in the notebook",
        ) from error
