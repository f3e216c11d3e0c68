"""What a replay tells the audit of its designs: trials that are not as designed, and missing ones.

The template executed again knows what each treatment means. Its lab writes, a line each, which
bundle was specified otherwise than the design says and which trials of the design it was not shown.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sizebook.lab.planning import Session
from sizebook.lab.search import SearchSession
from sizebook.model.records import Scalar
from sizebook.model.trial import Identity, TrialSpec
from sizebook.store import Bundle

NOTES = "SIZEBOOK_DESIGN_NOTES"
"""Environment variable with the file that a replay writes its notes to; unset: none are written."""
_LAST_BITS = 1e-9
"""Share by which a rate may differ that a design computes from what earlier trials found."""
_OF_THE_PLACE = {"host", "hosts", "cpus", "given", "links"}
"""What an inventory decides of a deployment, or of a load."""


@dataclass(frozen=True)
class OtherSpec:
    """A bundle that was specified otherwise than the design says of its treatment."""

    bundle: str
    where: str
    """The first field that differs."""
    found: str
    expected: str


@dataclass(frozen=True)
class MissingTrial:
    """A trial of a design that the replay was not shown."""

    experiment: str
    treatment: Mapping[str, Scalar]
    replicate: int
    whole: bool
    """Whether nothing of the design is there at all: its page says then that it was not run."""
    searching: bool = False
    """Whether a search lacks its next trial."""


Note = OtherSpec | MissingTrial


def write_notes(sessions: Iterable[Session], bundles: Iterable[Bundle]) -> None:
    """Write what a replay's designs say of its bundles, if the audit asked for it.

    ``sessions`` are those due by the designs, ``bundles`` what the lab takes for their trials.
    """
    path = os.environ.get(NOTES)
    if not path:
        return
    due = list(sessions)
    found = {bundle.record.trial.identity: bundle for bundle in bundles}
    notes: list[Note] = [*_others(due, found), *_missing(due, found)]
    with Path(path).open("a", encoding="utf-8") as stream:
        stream.writelines(json.dumps(asdict(note)) + "\n" for note in notes)


def read_notes(path: Path) -> list[Note]:
    """Return the notes of a replay, each once; none where its template has no lab."""
    if not path.is_file():
        return []
    lines = dict.fromkeys(path.read_text(encoding="utf-8").splitlines())
    fields = [json.loads(line) for line in lines]
    return [OtherSpec(**each) if "bundle" in each else MissingTrial(**each) for each in fields]


def differs(planned: TrialSpec, recorded: TrialSpec) -> tuple[str, Any, Any] | None:
    """Return the first field in which a trial is not as designed, what it has, what it should.

    Not compared is what an inventory decides, and how long and with how many closed users a stack
    was conditioned: that has changed between versions, and makes no results but first contact.
    """
    one, other = recorded.model_dump(mode="json"), planned.model_dump(mode="json")
    if _is_placed(recorded):
        run_already = {role.role for role in recorded.deployment.roles if role.kind == "given"}
        for each in (one, other):
            each["deployment"] = _unplaced(each["deployment"], run_already)
            each["load"] = {**_of_any_place(each["load"]), "workers": None}
        if recorded.deployment.given:  # they run already, so that nothing was started for them
            other["deployment"]["roles"] = []
    if recorded.purpose == "conditioning":
        for each in (one, other):
            each["load"] = {**each["load"], "workers": None}
            each["load"]["phases"] = {**each["load"]["phases"], "measured_s": None, "drain_s": None}
            arrivals = each["load"]["arrivals"]
            if arrivals["kind"] == "closed":
                each["load"]["arrivals"] = {"kind": "closed"}
            elif arrivals["kind"] == "paced":
                each["load"]["arrivals"] = {"users": [one["users"] for one in arrivals["groups"]]}
    return _first(one, other, "")


def _unplaced(deployment: dict[str, Any], run_already: set[str]) -> dict[str, Any]:
    """Return what a deployment says wherever its roles are; of what runs already the name."""
    roles = [
        {"role": role["role"]} if role["role"] in run_already else _of_any_place(role)
        for role in deployment["roles"]
    ]
    return {**_of_any_place(deployment), "roles": roles}


def _of_any_place(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name not in _OF_THE_PLACE}


def _is_placed(spec: TrialSpec) -> bool:
    """Return whether an inventory has placed a trial, on other machines or on what runs already."""
    elsewhere = any(host.is_elsewhere for host in (*spec.deployment.hosts, *spec.load.hosts))
    named = any(role.kind == "given" and not role.url for role in spec.deployment.roles)
    return elsewhere or named or bool(spec.deployment.given)


def _others(due: Iterable[Session], found: Mapping[Identity, Bundle]) -> Iterator[OtherSpec]:
    planned: dict[Identity, TrialSpec] = {}
    searches = [session for session in due if isinstance(session, SearchSession)]
    for session in due:
        for spec in (*session.contacts, *session.trials):
            planned.setdefault(spec.identity, spec)
    for key, bundle in found.items():
        recorded = bundle.record.trial
        known = (planned.get(key), *(session.spec_of(recorded) for session in searches))
        by_design = next((each for each in known if each is not None), None)
        difference = differs(by_design, recorded) if by_design is not None else None
        if difference is not None:
            where, has, should = difference
            yield OtherSpec(bundle.id, where, _words(has), _words(should))


def _missing(due: Iterable[Session], found: Mapping[Identity, Bundle]) -> Iterator[MissingTrial]:
    there = {experiment for experiment, *_ in found}
    for session in due:
        known = session.collect(lambda spec: found.get(spec.identity))
        for spec in session.remaining(known):
            yield MissingTrial(
                spec.experiment,
                dict(spec.treatment),
                spec.replicate,
                whole=spec.experiment not in there,
                searching=isinstance(session, SearchSession),
            )


def _first(one: Any, other: Any, where: str) -> tuple[str, Any, Any] | None:
    match one, other:
        case dict(), dict():
            for name in {**other, **one}:
                inner = f"{where}.{name}" if where else name
                if found := _first(one.get(name), other.get(name), inner):
                    return found
            return None
        case list(), list() if len(one) == len(other):
            for number, pair in enumerate(zip(one, other, strict=True)):
                if found := _first(*pair, f"{where}[{number}]"):
                    return found
            return None
        case ((int() | float()), (int() | float())) if math.isclose(one, other, rel_tol=_LAST_BITS):
            return None
    return None if one == other else (where, one, other)


def _words(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 120 else f"{text[:119]}…"
