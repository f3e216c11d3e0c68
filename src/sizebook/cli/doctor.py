"""``sizebook doctor``: what this host has and lacks, and what would bring it."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import typer

from sizebook.cli.inventories import INVENTORY, as_json_row, as_row, look_at_machines
from sizebook.cli.output import print_json, print_table, say
from sizebook.model.errors import MeasurementLockedError
from sizebook.store import find_project


def doctor(
    inventory: Path = INVENTORY,
    as_json: bool = typer.Option(False, "--json", help="Print JSON for another program."),
) -> None:
    """Say what this machine has and lacks for measuring, and what would bring it.

    With an inventory, the same of its machines; nothing is changed on them. Exit code 0 if
    everything required is there, 1 if not.
    """
    from sizebook.hosts.machine import local_facts
    from sizebook.lab.equipment import examine, examine_modes, tried_modes

    project = find_project()
    found = look_at_machines(project, inventory)  # first: a wrong file is told at once
    items = examine(project)
    try:
        modes = examine_modes(project)
    except MeasurementLockedError as error:
        modes = tried_modes(project, f"not tried: {error.found}", "wait until it ends")
    machine = local_facts()
    ready = all(item.ok for item in items if item.required) and not any(
        one.problems for one in found
    )
    if as_json:
        rows = [dataclasses.asdict(item) | {"ok": item.ok} for item in items]
        hosts = [dataclasses.asdict(mode) | {"available": mode.available} for mode in modes]
        told = {"machine": machine.model_dump(), "ready": ready, "items": rows, "modes": hosts}
        print_json(told | {"inventory": [as_json_row(one) for one in found]})
    else:
        say(
            f"{machine.cpu_model}, {machine.logical_cpus} CPUs, {machine.memory_mib:,} MiB, "
            f"{machine.system}, kernel {machine.kernel}"
        )
        print_table(
            [
                {
                    "": "ok" if item.ok else ("MISSING" if item.required else "absent"),
                    "what": item.name,
                    "found": item.found or item.reason,
                    "needed for": item.needed_for,
                    "what would bring it": "" if item.ok else item.bring,
                }
                for item in items
            ]
        )
        print_table(
            [
                {
                    "": "ok" if mode.available else "absent",
                    "mode": mode.mode,
                    "hosts": mode.title,
                    "why not": mode.reason,
                    "what would bring it": mode.bring,
                }
                for mode in modes
            ]
        )
        if found:
            print_table([as_row(one) for one in found])
        say("ready to measure" if ready else "not ready to measure; see MISSING above")
    raise typer.Exit(0 if ready else 1)
