"""A locustfile of the user's own, measured at once: where it goes, and the trial that it makes."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from sizebook.lab.inventories import choose_inventory
from sizebook.lab.placement import place
from sizebook.load.found import FoundLocustfile, LookOrder, look_into
from sizebook.model.deployment import Deployment, GivenRole
from sizebook.model.errors import UsageError
from sizebook.model.load import ClosedLoop, LoadProfile, Phases
from sizebook.model.records import Scalar
from sizebook.model.trial import Allowance, TrialSpec
from sizebook.model.urls import read_url
from sizebook.stack.given import listening_pid, refusal
from sizebook.store import Project, find_project
from sizebook.store.named_paths import make_folder, writing

ROLE = "system"
"""What the system is called among the sources of counters."""
USERS = 10
SECONDS = 30.0
WARM_UP_S = 5.0
OUTSIDE = "sizebook-runs"
"""Folder for bundles, in the present one, where that is in no project."""
_INVENTORY = "own-load.yaml"


@dataclass(frozen=True)
class OwnLoad:
    """What the user says of a load; what is None is not said."""

    locustfile: Path
    host: str = ""
    users: int | None = None
    seconds: float | None = None
    warm_up_s: float | None = None
    ramp_s: float | None = None
    think_s: float | None = None
    failed_share: float = 0.0
    workers: int = 1
    seed: int = 1
    probe_interval_s: float = 1.0
    settings: Mapping[str, Scalar] = field(default_factory=dict)
    """Values of arguments that the locustfile declares, tags, user classes."""


@dataclass(frozen=True)
class OwnTrial:
    """A trial that is ready to be run."""

    spec: TrialSpec
    found: FoundLocustfile
    url: str


def find_place(locustfile: Path, out: Path | None) -> tuple[Project, Path]:
    """Return the project in which a locustfile is measured, and the folder for its bundle.

    In a project that is the project's, else ``OUTSIDE`` in the present folder. Raises UsageError
    for a file that is none, and a folder that cannot be written.
    """
    if not locustfile.is_file():
        what = "which is a folder" if locustfile.is_dir() else "which is not there"
        raise UsageError(
            found=f"locustfile {locustfile}, {what}",
            expected="a Python file with Locust user classes",
            next_step="correct --locustfile",
        )
    if locustfile.suffix != ".py":
        raise UsageError(
            found=f"locustfile {locustfile.name}",
            expected="a name that ends with .py",
            next_step="rename it, or name another file with --locustfile",
        )
    folder = locustfile.resolve().parent
    try:
        project = dataclasses.replace(find_project(), own_load=folder)
        runs = out or project.runs / "trial"
    except UsageError:
        if os.environ.get("SIZEBOOK_ROOT"):
            raise
        runs = out or Path.cwd() / OUTSIDE
        project = Project(runs.resolve(), own_load=folder)
    make_folder(runs, "change into a folder that can be written, or name one with --out")
    return project, runs


def plan_own_load(project: Project, load: OwnLoad) -> OwnTrial:
    """Return the trial of a locustfile, with its target among the inventory's if that is elsewhere.

    Raises UsageError or LocustfileError, before anything is started, for what cannot be run.
    """
    if load.host:
        read_url(load.host)
    found = look_into(
        LookOrder(
            locustfile=str(load.locustfile.resolve()),
            host=load.host,
            within_s=load.seconds,
            settings=dict(load.settings),
        )
    )
    url = _choose_host(load, found)
    _need_answer(url)
    arrivals = _choose_users(load, found)
    placement = place()
    measured_s = load.seconds or SECONDS
    if arrivals.stages:
        measured_s = arrivals.length_s
    profile = LoadProfile(
        locustfile=load.locustfile.name,
        arrivals=arrivals,
        phases=Phases(
            ramp_s=load.ramp_s or 0.0,
            warmup_s=WARM_UP_S if load.warm_up_s is None else load.warm_up_s,
            measured_s=measured_s,
        ),
        settings=dict(load.settings),
        seed=load.seed,
        cpus=placement.generator,
        workers=load.workers,
    )
    spec = TrialSpec(
        chapter="trial",
        experiment="locustfile",
        profile="quick",
        treatment={"users": arrivals.users},
        replicate=0,
        deployment=_target(project, url),
        load=profile,
        allowance=Allowance(failed_share=load.failed_share),
        probe_interval_s=load.probe_interval_s,
    )
    return OwnTrial(spec, found, url)


def _choose_host(load: OwnLoad, found: FoundLocustfile) -> str:
    """Return the base URL that the load goes to."""
    name = load.locustfile.name
    if load.host:
        return load.host.rstrip("/")
    if not found.hosts:
        raise UsageError(
            found=f"no host in {name}, and no --host",
            expected="the URL of the system, such as http://127.0.0.1:8080",
            next_step="name it with --host",
        )
    if len(found.hosts) > 1:
        raise UsageError(
            found=f"classes of {name} with several hosts: {', '.join(found.hosts)}",
            expected="one system a trial",
            next_step="name the one to load with --host, or choose classes with --user-class",
        )
    url = found.hosts[0].rstrip("/")
    if not read_url(url).is_own:
        raise UsageError(
            found=f"host {url} in {name}, which is not this machine",
            expected="a target elsewhere to be named by whoever starts the load",
            next_step=f"if it is yours to load, say so: --host {url}",
        )
    return url


def _need_answer(url: str) -> None:
    """Raise UsageError unless a server answers in HTTP at a URL, with whatever status."""
    reason = refusal(url, "/", any_status=True)
    if reason is not None:
        raise UsageError(
            found=f"no server at {url}: {reason}",
            expected="a system that runs and answers in HTTP",
            next_step="start it, or correct the URL",
        )


def _choose_users(load: OwnLoad, found: FoundLocustfile) -> ClosedLoop:
    """Return the users of a closed loop: as many as are asked for, or those of the file's shape."""
    shape, name = found.shape, load.locustfile.name
    if shape is None:
        think_s = load.think_s or 0.0
        return ClosedLoop(users=load.users or USERS, think_s=think_s, think_random=think_s > 0)
    asked = {"--users": load.users, "--ramp": load.ramp_s, "--think": load.think_s}
    given = [flag for flag, value in asked.items() if value is not None]
    if given:
        raise UsageError(
            found=f"{', '.join(given)} beside LoadTestShape {shape.name} of {name}",
            expected="users from the shape, or a file without one",
            next_step=f"leave {given[0]} out, or make the shape abstract",
        )
    most = max(max(stage.begin_users, stage.end_users) for stage in shape.stages)
    return ClosedLoop(users=math.ceil(most), stages=shape.stages)


def _target(project: Project, url: str) -> Deployment:
    """Return the system that runs already; one elsewhere is named in an inventory of its own."""
    if read_url(url).is_own:
        return Deployment(roles=(GivenRole(role=ROLE, url=url, any_status=True),))
    file = project.state / _INVENTORY
    with writing(file, "name another folder with --out"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"systems": {ROLE: {"url": url}}}), encoding="utf-8")
    choose_inventory(file)
    return Deployment(roles=(GivenRole(role=ROLE, any_status=True),))


def seen_process(url: str) -> str:
    """Return in words which process of this machine serves a URL; empty if none can be seen."""
    parts = read_url(url)
    pid = listening_pid(parts.port) if parts.is_own else None
    if pid is None:
        return ""
    with contextlib.suppress(psutil.Error):
        return f"{psutil.Process(pid).name()}, process {pid}"
    return ""
