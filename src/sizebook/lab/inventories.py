"""Inventories: read from YAML, chosen for a run, their machines looked at.

A run's inventory is named by an environment variable, so that a notebook's process, and a stack
that is held, have the one that the command was given.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import os
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from sizebook.hosts import Guard, LocalHost
from sizebook.hosts.ssh import look_at
from sizebook.lab.planning import Setup, Treat
from sizebook.model.bundle import MachineFacts
from sizebook.model.deployment import Deployment
from sizebook.model.design import Treatment
from sizebook.model.errors import UsageError, UserError
from sizebook.model.faults import wanted
from sizebook.model.inventory import HERE, Inventory
from sizebook.model.load import LoadProfile
from sizebook.model.modes import ELSEWHERE
from sizebook.store import Project
from sizebook.store.fingerprints import (
    fingerprint_file,
    fingerprint_machine,
    fingerprint_text,
)
from sizebook.store.plain_files import need_plain, read_plain

_MOST_BYTES = 2**20
_MOST_VALUES = 10_000
VARIABLE = "SIZEBOOK_INVENTORY"
"""Environment variable with the path of the inventory that a run uses; unset or empty: none."""


def choose_inventory(file: Path | None) -> Inventory | None:
    """Have this process, and those that it starts, use an inventory; return it.

    Raises UsageError, with file and line, if it cannot be used.
    """
    if file is None:
        return None
    found = read_inventory(file)
    os.environ[VARIABLE] = str(file.resolve())
    return found


def chosen_inventory() -> Inventory | None:
    """Return the inventory that this process was told to use. Raises UsageError if it is broken."""
    path = os.environ.get(VARIABLE)
    return read_inventory(Path(path)) if path else None


def inventory_fingerprint() -> str:
    """Return the SHA-256 of the chosen inventory's file, empty if there is none."""
    path = os.environ.get(VARIABLE)
    with contextlib.suppress(OSError):
        return fingerprint_file(Path(path)) if path else ""
    return "unreadable"


def read_inventory(file: Path) -> Inventory:
    """Return the inventory of a YAML file. Raises UsageError that names the line."""
    need_plain(file, "an inventory")
    try:
        data = read_plain(file.resolve(), _MOST_BYTES)
        if len(data) > _MOST_BYTES:
            raise OSError(f"more than {_MOST_BYTES} bytes")
        text = data.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            found=f"an inventory {file.name} that cannot be read ({error})",
            expected="a text file in YAML",
            next_step="see the examples in env/inventories/",
        ) from error
    return _parse(text, file.name)


@lru_cache(maxsize=4)
def _parse(text: str, name: str) -> Inventory:
    try:
        tree = yaml.compose(text, Loader=yaml.SafeLoader)
        _refuse_odd(tree, name)
        data = yaml.safe_load(text)
    except RecursionError as error:
        raise _wrong(name, 1, "lists or mappings in each other without end", "a few") from error
    except ValueError as error:  # of a date that is none
        raise _wrong(name, 1, str(error), "numbers and texts") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark is not None else 1
        problem = getattr(error, "problem", None) or str(error)
        raise _wrong(name, line, str(problem), "YAML") from error
    if not isinstance(data, dict):
        raise _wrong(name, 1, "no mapping", "'hosts:' or 'targets:' and, below it, a name for each")
    try:
        return Inventory.model_validate(data, strict=False)
    except ValidationError as error:
        first = error.errors()[0]
        path, line = _find(tree, first.get("ctx", {}).get("place", first["loc"]))
        what = f"{path}: {first['input']!r}" if first["type"] != "missing" else f"no {path}"
        said = wanted(first)
        if first["type"] in ("stranger", "value_error"):
            raise _wrong(name, line, said, "hosts that the inventory names") from error
        if first["type"] == "extra_forbidden":
            said = "a word that inventories have"
        raise _wrong(name, line, what, said[0].lower() + said[1:]) from error


def _find(tree: yaml.Node | None, loc: Iterable[str | int]) -> tuple[str, int]:
    """Return a place in the file in words, and the line of what there is of it.

    What pydantic adds to tell alternatives apart stands in no file.
    """
    line, words = 1, []
    for step in loc:
        found = None
        if isinstance(tree, yaml.MappingNode):
            found = next((pair for pair in tree.value if pair[0].value == str(step)), None)
        elif isinstance(tree, yaml.SequenceNode) and isinstance(step, int):
            found = (tree.value[step], tree.value[step]) if step < len(tree.value) else None
        if found is not None:
            line, tree = found[0].start_mark.line + 1, found[1]
        if found is not None or step not in (ELSEWHERE, HERE):
            words.append(str(step))
    return ".".join(words) or "the inventory", line


_OLD_NUMBERS = re.compile(r"[-+]?(0[0-9_]+|0b[01_]+|0x[0-9a-fA-F_]+|[0-9][0-9_]*(:[0-5]?[0-9])+"
                          r"|[0-9]+_[0-9_]*)(\.[0-9_]*)?")  # fmt: skip
_OLD_TRUTHS = ("yes", "no", "on", "off")


def _refuse_old(node: yaml.ScalarNode, name: str) -> None:
    """Raise UsageError for what YAML 1.1 reads as another value.

    022 is 18 to it, 1:30 is 90, and no is false. Newer versions of YAML, and people, read
    something else. In quotes it is the text.
    """
    text = node.value
    if node.style is None and (_OLD_NUMBERS.fullmatch(text) or text.lower() in _OLD_TRUTHS):
        expected = "a decimal number without leading zeros, or text in quotes"
        raise _wrong(name, node.start_mark.line + 1, f"{text}, which YAML reads as something else",
                     expected)  # fmt: skip


def _refuse_odd(tree: yaml.Node | None, name: str) -> None:
    """Raise UsageError for what YAML takes without a word, and people do not mean.

    That is a key that stands twice in one mapping (the last would count), a value that holds
    itself, and values that repeat each other (&, *) into more than any inventory has.
    """
    visits = itertools.count(1)

    def visit(node: yaml.Node, around: tuple[yaml.Node, ...]) -> None:
        line = node.start_mark.line + 1
        if any(node is one for one in around):
            raise _wrong(name, line, "a value that holds itself (& and *)", "values written out")
        if next(visits) > _MOST_VALUES:
            raise _wrong(name, line, f"more than {_MOST_VALUES} values", "a list of machines")
        inner = (*around, node)
        if isinstance(node, yaml.ScalarNode):
            _refuse_old(node, name)
        elif isinstance(node, yaml.SequenceNode):
            for value in node.value:
                visit(value, inner)
        elif isinstance(node, yaml.MappingNode):
            seen: set[str] = set()
            for key, value in node.value:
                line = key.start_mark.line + 1
                if not isinstance(key, yaml.ScalarNode):
                    raise _wrong(name, line, "a list or mapping as a name", "a word")
                if key.value in seen:
                    raise _wrong(name, line, f"{key.value!r} a second time", "each name once")
                seen.add(key.value)
                visit(key, inner)
                visit(value, inner)

    if tree is not None:
        visit(tree, ())


def _wrong(name: str, line: int, found: str, expected: str) -> UsageError:
    return UsageError(
        found=f"in line {line} of {name}: {found}",
        expected=expected,
        next_step=f"correct line {line}; env/inventories/README.md explains every word",
    )


def placing(treat: Treat, inventory: Inventory | None) -> Treat:
    """Return what the treatments of a design mean on the hosts of an inventory."""
    if inventory is None:
        return treat

    def place(treatment: Treatment) -> Setup:
        setup = treat(treatment)
        deployment, load = placed_trial(inventory, setup.deployment, setup.load)
        given = setup.conditioning
        return dataclasses.replace(
            setup,
            deployment=deployment,
            load=load,
            conditioning=None if given is None else inventory.spread(given),
        )

    return place


def placed_trial(
    inventory: Inventory, deployment: Deployment, load: LoadProfile
) -> tuple[Deployment, LoadProfile]:
    """Return deployment and load of a trial where an inventory puts them.

    Raises UsageError if the load comes from machines that cannot reach the deployment.
    """
    placed, spread = inventory.placed(deployment), inventory.spread(load)
    both = {host.name for host in placed.hosts} & {host.name for host in spread.hosts}
    if both:
        raise UsageError(
            found=f"host {min(both)} for workers of the load and for the stack",
            expected="the generator on machines of its own",
            next_step="name other machines in 'generator', or in 'roles'",
        )
    near = [host.name for host in placed.hosts if not host.is_elsewhere]
    if spread.hosts and near:
        raise UsageError(
            found=f"workers on {spread.hosts[0].name}, which cannot reach host {near[0]} of this "
            "machine's own network",
            expected="a deployment on other machines and on this one as it is",
            next_step=f"leave 'generator' out, or name {near[0]} among the hosts with mode ssh",
        )
    return placed, spread


def targets(inventory: Inventory) -> list[str]:
    """Return a line for each target that is not on this machine, for the terminal alone."""
    lines = [f"{role}: {url}, which runs already" for role, url in inventory.running().items()]
    for name, host in inventory.elsewhere().items():
        roles: list[str] = [
            role for role, place in inventory.roles.items() if name in (place, *place)
        ]
        roles += [role for role, place in inventory.systems.items() if name == place.host]
        if inventory.generator is not None and name in inventory.generator.hosts:
            roles.append("workers of the load generator")
        what = ", ".join(roles) or "what chapters place there"
        lines.append(f"{name}: {host.user}@{host.address} port {host.port}, for {what}")
    return lines


@dataclasses.dataclass(frozen=True)
class Look:
    """What was found out about one machine of an inventory."""

    name: str
    facts: MachineFacts | None
    """None: it could not be reached."""
    python: str = ""
    free_mib: int = 0
    problems: tuple[str, ...] = ()
    """Why it cannot be used."""
    limits: str = ""
    """Why its hosts cannot be limited; empty if they can."""


def look_around(project: Project, inventory: Inventory) -> tuple[Look, ...]:
    """Return what each other machine of an inventory is and lacks; changes nothing there."""
    with _hands(project) as (local, guard):
        return tuple(_look(name, inventory, local, guard) for name in inventory.elsewhere())


def _look(name: str, inventory: Inventory, local: LocalHost, guard: Guard) -> Look:
    place = inventory.elsewhere()[name]
    try:
        told = look_at(place, name, local, guard)
    except UserError as error:
        return Look(name, None, problems=(error.found,))
    problems = [f"no name spaces: {told['spaces']}"] if told["spaces"] else []
    if told["address"]:
        problems.append(f"no server can listen at its address: {told['address']}")
    if unknown := set(place.cpus) - set(told["cpus"]):
        problems.append(f"no CPUs {sorted(unknown)}")
    if limits := told["groups"]:
        wanted = (place.cpu_limit, place.cpu_weight, place.memory_mib)
        if any(value is not None for value in wanted):
            problems.append(f"no limits: {limits}")
    return Look(
        name,
        machine_of(told),
        python=told["python"],
        free_mib=told["free_bytes"] // 2**20,
        problems=tuple(problems),
        limits=limits,
    )


def machine_of(told: dict[str, Any]) -> MachineFacts:
    """Return the facts of another machine from what its keeper told."""
    return MachineFacts(
        system=told["system"],
        kernel=told["kernel"],
        architecture=told["architecture"],
        cpu_model=told["cpu_model"],
        logical_cpus=len(told["cpus"]),
        memory_mib=told["memory_bytes"] // 2**20,
        virtualization=ELSEWHERE,
    )


def machine_fingerprints(project: Project, names: Iterable[str]) -> dict[str, str]:
    """Return by name the fingerprint of those hosts that are other machines.

    They are looked at once in a process. Empty without an inventory; raises TrialError or
    HostLacksError where one cannot be reached.
    """
    inventory = chosen_inventory()
    if inventory is None:
        return {}
    wanted = [name for name in names if name in inventory.elsewhere()]
    return {name: _fingerprint(project, name, inventory_fingerprint()) for name in wanted}


def target_fingerprints(roles: Iterable[str]) -> dict[str, str]:
    """Return by role, as ``target app``, the fingerprint of the URL of what runs already."""
    inventory = chosen_inventory()
    known = inventory.running() if inventory is not None else {}
    return {f"target {role}": fingerprint_text(url) for role, url in known.items() if role in roles}


@lru_cache(maxsize=64)
def _fingerprint(project: Project, name: str, _inventory: str) -> str:
    inventory = chosen_inventory()
    assert inventory is not None
    with _hands(project) as (local, guard):
        told = look_at(inventory.elsewhere()[name], name, local, guard)
    return fingerprint_machine(machine_of(told))


@contextlib.contextmanager
def _hands(project: Project) -> Iterator[tuple[LocalHost, Guard]]:
    """Give what starts processes here for a moment."""
    guard = Guard(project.state / "guard")
    try:
        yield LocalHost(guard), guard
    finally:
        guard.close()
