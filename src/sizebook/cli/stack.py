"""``sizebook stack``: build the reference stack, and run it for trying it by hand."""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from sizebook.cli.inventories import INVENTORY, use_inventory
from sizebook.cli.output import print_json, say
from sizebook.cli.trial import parse_settings
from sizebook.store import find_project

if TYPE_CHECKING:
    from sizebook.lab.manual_stack import HeldStack

app = typer.Typer(help="Build and try the reference stack by hand.", no_args_is_help=True)

IMAGE = "localhost/sizebook-stack:latest"
_JSON = typer.Option(False, "--json", help="Print JSON for another program.")


@app.command()
def build() -> None:
    """Build the stack if its sources changed since the last build."""
    from sizebook.stack import ensure_built

    began = time.monotonic()
    stack, built = ensure_built(find_project())
    if built:
        say(f"stack: built in {time.monotonic() - began:.0f} s ({stack.fingerprint[:12]})")


@app.command()
def up(
    topology: str = typer.Option("local", help="Back end in the node: local; apart: remote."),
    heap: int = typer.Option(512, min=64, help="Heap of each node in MiB."),
    setting: list[str] = typer.Option([], "--app", "-a", help="Setting of the app, name=value."),
    inventory: Path = INVENTORY,
    as_json: bool = _JSON,
) -> None:
    """Start database and nodes, and leave them running until 'sizebook stack down'.

    They use all CPUs; no measurement can run meanwhile.
    """
    from sizebook.lab import app_stack, place
    from sizebook.lab.manual_stack import hold_up

    chosen = use_inventory(inventory, shown=not as_json)
    placement = dataclasses.replace(place(), stack=())
    settings = parse_settings(setting)
    deployment = app_stack(placement, topology=topology, heap_mib=heap, settings=settings)
    if chosen is not None:
        deployment = chosen.placed(deployment)
    _show(hold_up(find_project(), deployment), as_json)


@app.command()
def manifests(
    topology: str = typer.Option("local", help="Back end in the node: local; apart: remote."),
    nodes: int = typer.Option(1, min=1, max=1000, help="Nodes of the app."),
    heap: int = typer.Option(512, min=64, help="Heap of each node in MiB."),
    cpus: int = typer.Option(1, min=1, max=4096, help="CPUs of each pod."),
    setting: list[str] = typer.Option([], "--app", "-a", help="Setting of the app, name=value."),
    image: str = typer.Option(IMAGE, help="Image that env/Containerfile builds."),
) -> None:
    """Print Kubernetes objects of the deployment that 'sizebook stack up' starts, in YAML."""
    from sizebook.lab import Placement, app_stack
    from sizebook.stack.manifests import in_yaml
    from sizebook.stack.manifests import manifests as make

    here = Placement(stack=tuple(range(cpus)), generator=(), total_heap_mib=nodes * heap)
    settings = parse_settings(setting)
    deployment = app_stack(here, topology=topology, nodes=nodes, heap_mib=heap, settings=settings)
    print(in_yaml(make(deployment, image)), end="")


@app.command()
def status(as_json: bool = _JSON) -> None:
    """Show the stack that runs; exit code 1 if none does."""
    from sizebook.lab.manual_stack import held

    stack = held(find_project())
    if stack is None:
        print_json(None) if as_json else say("no stack runs")
        raise typer.Exit(1)
    _show(stack, as_json)


@app.command()
def down() -> None:
    """Stop the stack that runs."""
    from sizebook.lab.manual_stack import take_down

    say("stopped" if take_down(find_project()) else "no stack runs")


def _show(stack: HeldStack, as_json: bool) -> None:
    if as_json:
        print_json(dataclasses.asdict(stack))
        return
    for role, url in stack.urls.items():
        say(f"{role}: {url}")
    for node, port in stack.management.items():
        say(f"{node} metrics: http://127.0.0.1:{port}/actuator/prometheus")
    say(f"logs: {stack.logs}; running since {stack.since}")
