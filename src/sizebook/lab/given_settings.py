"""Whether nodes and load can be given the settings of a treatment, before anything is started."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from sizebook.lab.planning import Setup, Treat
from sizebook.load.declared import read_declared
from sizebook.load.settings import Setting, resolve_settings
from sizebook.model.deployment import JvmRole
from sizebook.model.design import Treatment
from sizebook.model.records import Scalar
from sizebook.stack.settings import check_settings


def checking(treat: Treat, locustfiles: Path) -> Treat:
    """Return the same treatments, which raise UsageError for a setting that cannot be.

    It would otherwise be found by a node that does not start, or by the generator, once for each
    trial, after minutes.
    """

    @cache
    def declared(locustfile: str) -> Mapping[str, Setting] | None:
        path = locustfiles / locustfile  # a run says what to do about one that is not there
        return read_declared(path) if path.is_file() else None

    checked: set[tuple[str, str]] = set()

    def is_new(owner: str, settings: Mapping[str, Scalar]) -> bool:
        asked = owner, str(settings)  # which tells 1 from True
        known = asked in checked
        checked.add(asked)
        return not known

    def check(treatment: Treatment) -> Setup:
        setup = treat(treatment)
        for role in setup.deployment.roles:
            if isinstance(role, JvmRole) and is_new(role.role, role.settings):
                check_settings(role)
        for load in (setup.load, setup.conditioning):
            known = None if load is None else declared(load.locustfile)
            if load is not None and known is not None and is_new(load.locustfile, load.settings):
                resolve_settings(known, load.settings, load.locustfile)
        return setup

    return check
