"""``sizebook trial``: one trial from flags, a bundle out."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from sizebook.cli.inventories import INVENTORY, use_inventory
from sizebook.cli.one_trial import carry_out, checked_options, finish, show_trial
from sizebook.model.errors import UsageError
from sizebook.store import find_project

if TYPE_CHECKING:
    from sizebook.model.records import Scalar


def trial(
    locustfile: str = typer.Option("odata_rest.py", help="File in locustfiles/."),
    setting: list[str] = typer.Option(
        [], "--setting", "-s", help="Setting of the load profile, name=value."
    ),
    users: int = typer.Option(10, min=1, help="Users of the closed loop, or carriers at a rate."),
    rate: float = typer.Option(0.0, min=0.0, help="Requests per second; 0 = closed loop."),
    poisson: bool = typer.Option(False, help="Poisson arrivals instead of evenly spaced ones."),
    step: list[str] = typer.Option(
        [], "--step", help="A step of a staircase, RATE:SECONDS; repeat it for each step."
    ),
    ramp_to: float = typer.Option(
        None, min=0.0, help="Rate at the end of the measured phase, reached linearly from --rate."
    ),
    pace: list[str] = typer.Option(
        [], "--pace", help="Paced users, USERS:SECONDS[:GROUP]; repeat it for each group."
    ),
    think: float = typer.Option(0.0, min=0.0, help="Think time of closed-loop users in seconds."),
    ramp: float = typer.Option(0.0, min=0.0, help="Ramp phase in seconds, from no load up."),
    warmup: float = typer.Option(2.0, min=0.0, help="Warm-up in seconds."),
    measured: float = typer.Option(
        None, min=0.1, help="Measured phase in seconds (default: 5, or as long as the steps)."
    ),
    workers: int = typer.Option(1, min=1, help="Generator processes that share the load."),
    conditioning: float = typer.Option(
        12.0, min=0.0, help="Longest load after the start of the stack, in seconds; 0 = cold."
    ),
    probe_every: float = typer.Option(1.0, help="Seconds between readings of the probes (0.1 up)."),
    topology: str = typer.Option("local", help="Back end in the node: local; apart: remote."),
    heap: int = typer.Option(512, min=64, help="Heap of each node in MiB."),
    app: list[str] = typer.Option([], "--app", "-a", help="Setting of the app, name=value."),
    seed: int = typer.Option(1, help="Seed of arrivals and data."),
    inventory: Path = INVENTORY,
    out: Path = typer.Option(None, help="Folder for the bundle (default: data/runs/trial)."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON for another program."),
) -> None:
    """Run one trial and print its bundle, verdict and numbers.

    Exit code 0 if it completed (look at its verdict), 1 if it failed.
    """
    from sizebook.cli.arrivals import choose_arrivals, parse_groups, parse_steps
    from sizebook.lab import app_stack, place
    from sizebook.lab.inventories import placed_trial
    from sizebook.lab.measurement_cache import present_fingerprints
    from sizebook.model.load import LoadProfile, Phases
    from sizebook.model.trial import Allowance, TrialSpec
    from sizebook.store.named_paths import make_folder

    chosen = use_inventory(inventory, shown=not as_json)
    project = find_project()
    placement = place()
    with checked_options("trial"):
        steps, groups = parse_steps(step), parse_groups(pace)
        measured = measured or sum(one.length_s for one in steps) or 5.0
        spec = TrialSpec(
            chapter="trial",
            experiment="by hand",
            profile="quick",
            treatment={"users": users},
            replicate=0,
            deployment=app_stack(
                placement, topology=topology, heap_mib=heap, settings=parse_settings(app)
            ),
            load=LoadProfile(
                locustfile=locustfile,
                arrivals=choose_arrivals(
                    users, rate, poisson, steps, groups, ramp_to, measured, think
                ),
                phases=Phases(ramp_s=ramp, warmup_s=warmup, measured_s=measured),
                settings=parse_settings(setting),
                seed=seed,
                cpus=placement.generator,
                workers=workers,
            ),
            allowance=Allowance(),
            probe_interval_s=probe_every,
        )
    if chosen is not None:
        deployment, load = placed_trial(chosen, spec.deployment, spec.load)
        spec = spec.model_copy(update={"deployment": deployment, "load": load})
    present_fingerprints(project, spec)  # names a load profile that is not there
    if out is not None:
        make_folder(out, "name another folder with --out")
    folder = out or project.runs / "trial"
    bundle, stopped = carry_out(project, spec, folder, conditioning_s=conditioning)
    show_trial(bundle, as_json=as_json)
    finish(bundle, stopped)


def parse_settings(texts: list[str]) -> dict[str, Scalar]:
    """Return ``name=value`` texts as settings; raises UsageError for anything else."""
    settings: dict[str, Scalar] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name or not value:
            raise UsageError(
                found=f"setting {text!r}",
                expected="name=value",
                next_step="see 'sizebook trial --help'",
            )
        settings[name] = found = _scalar(value)
        if isinstance(found, float) and not math.isfinite(found):
            raise UsageError(
                found=f"setting {text!r}",
                expected="a finite number, or another text",
                next_step="see 'sizebook trial --help'",
            )
    return settings


def _scalar(text: str) -> Scalar:
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
