"""What commands share that take an inventory: the option, its use, how its machines are shown."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from sizebook.cli.output import say

if TYPE_CHECKING:
    from sizebook.lab.inventories import Look
    from sizebook.model.inventory import Inventory
    from sizebook.store import Project

INVENTORY = typer.Option(
    None, "--inventory", help="File that names other machines, and what runs on them."
)


def use_inventory(file: Path | None, *, shown: bool = True) -> Inventory | None:
    """Have the command use an inventory, and name each machine of it that is not this one.

    That goes to standard error, before anything is started there. Raises UsageError for a broken
    file.
    """
    from sizebook.lab.inventories import choose_inventory, targets

    found = choose_inventory(file)
    if found is not None and shown:
        for line in targets(found):
            say(f"not on this machine: {line}", aside=True)
    return found


def look_at_machines(project: Project, file: Path | None) -> tuple[Look, ...]:
    """Return what the other machines of an inventory are and lack; none without a file."""
    from sizebook.lab.inventories import look_around, read_inventory

    return () if file is None else look_around(project, read_inventory(file))


def as_row(one: Look) -> dict[str, str]:
    """Return a machine as a row of a table."""
    facts = one.facts
    machine = "" if facts is None else f"{facts.cpu_model}, {facts.logical_cpus} CPUs"
    return {
        "": "MISSING" if one.problems else "ok",
        "host": one.name,
        "machine": machine,
        "memory": "" if facts is None else f"{facts.memory_mib:,} MiB",
        "system": "" if facts is None else f"{facts.system}, kernel {facts.kernel}",
        "disk": "" if facts is None else f"{one.free_mib:,} MiB free",
        "limits": "" if facts is None else one.limits or "yes",
        "why not": "; ".join(one.problems),
    }


def as_json_row(one: Look) -> dict[str, Any]:
    """Return a machine for another program."""
    facts = one.facts.model_dump() if one.facts is not None else None
    return dataclasses.asdict(dataclasses.replace(one, facts=None)) | {"facts": facts}
