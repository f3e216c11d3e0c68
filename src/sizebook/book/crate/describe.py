"""The description of a run: entities of RO-Crate 1.1 in the terms of the Workflow Run profiles.

The book's ``Makefile`` is the workflow, a chapter's notebook a step of it: a tool with its
parameters as inputs, the executed notebook and the bundles as outputs. One action stands for the
run, one for each chapter; a bundle is a dataset. Nobody is named as agent: a bundle says nothing
of who measured. Profiles: https://w3id.org/ro/wfrun/process/0.5, workflow/0.5 and provenance/0.5.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from sizebook.book.chapters import ChapterParameter
from sizebook.book.cited import treatment_words
from sizebook.book.crate.gather import ChapterRun, CrateContents, RunBundle
from sizebook.model.bundle import BundleRecord
from sizebook.store.fingerprints import fingerprint_text

Entity = dict[str, Any]
"""Properties of one entity, ``@id`` and ``@type`` among them; references are ``{"@id": …}``."""

WORKFLOW = "Makefile"
LOCK = "env/requirements.lock"
RUN = "#run"
INPUT, OUTPUT = "#input-", "#output-"
PYTHON = "https://www.python.org/"
MAKE = "https://www.gnu.org/software/make/"
PROFILES = (
    ("https://w3id.org/ro/wfrun/process/0.5", "Process Run Crate", "0.5"),
    ("https://w3id.org/ro/wfrun/workflow/0.5", "Workflow Run Crate", "0.5"),
    ("https://w3id.org/ro/wfrun/provenance/0.5", "Provenance Run Crate", "0.5"),
    ("https://w3id.org/workflowhub/workflow-ro-crate/1.0", "Workflow RO-Crate", "1.0"),
)
CHECKSUM_TERM = {"sha256": "https://w3id.org/ro/terms/workflow-run#sha256"}
"""The term of the Workflow Run vocabulary that RO-Crate's own context lacks."""

_BIOSCHEMAS = "https://bioschemas.org/profiles/"
_COMPLETED = "http://schema.org/CompletedActionStatus"
_FORMATS = {
    ".hlog": "text/plain",
    ".ipynb": "application/x-ipynb+json",
    ".json": "application/json",
    ".parquet": "application/vnd.apache.parquet",
    ".py": "text/x-python",
    ".steps": "application/octet-stream",
}
_HOMEPAGES = {
    "gevent": "https://www.gevent.org/",
    "jvm": "https://openjdk.org/",
    "locust": "https://locust.io/",
    "postgresql": "https://www.postgresql.org/",
    "python": PYTHON,
}
_TYPES = ((bool, "Boolean"), (int, "Integer"), (float, "Float"))
_NOT_A_WORD = re.compile(r"[^A-Za-z0-9.]+")


@dataclass(frozen=True)
class StoredFile:
    """A file of the crate: its path in it, its checksum and size."""

    path: str
    sha256: str
    bytes: int


def ref(entity: Entity | str) -> Entity:
    """Give a reference to an entity, or to what has this ``@id``."""
    return {"@id": entity if isinstance(entity, str) else entity["@id"]}


def refs(entities: Iterable[Entity | str]) -> list[Entity]:
    """Give references, each once, in the order given."""
    return [ref(each) for each in dict.fromkeys(ref(entity)["@id"] for entity in entities)]


def describe_file(file: StoredFile) -> Entity:
    """Give what is said of every file: name, size, checksum, format."""
    suffix = PurePosixPath(file.path).suffix
    return {
        "name": PurePosixPath(file.path).name,
        "contentSize": str(file.bytes),
        "sha256": file.sha256,
        "encodingFormat": _FORMATS.get(suffix, "text/plain"),
    }


def template_path(chapter: ChapterRun) -> str:
    """Give the path of a chapter's template in the crate."""
    return f"notebooks/{chapter.chapter.notebook.name}"


def page_path(chapter: ChapterRun) -> str:
    """Give the path of a chapter's executed notebook in the crate."""
    return f"book/chapters/{chapter.page.name}"


def describe_profiles() -> Iterator[Entity]:
    """Yield the profiles that the crate conforms to."""
    for identifier, name, version in PROFILES:
        yield {"@id": identifier, "@type": "CreativeWork", "name": name, "version": version}


def describe_licences(run: CrateContents) -> list[Entity]:
    """Give the project's licences, one for each part of ``A AND B``, or that it states none."""
    names = run.licence.split(" AND ")
    if all(re.fullmatch(r"[A-Za-z0-9.+-]+", name) for name in names):
        pages = {name: f"https://spdx.org/licenses/{name}" for name in names}
        return [
            {"@id": page, "@type": "CreativeWork", "name": name, "identifier": page}
            for name, page in pages.items()
        ]
    return [_describe_own_licence(run)]


def _describe_own_licence(run: CrateContents) -> Entity:
    name, description = run.licence, run.licence
    if run.licence_files:
        name = name or "The project's licence"
        description = f"{', '.join(file.name for file in run.licence_files)} in this crate."
    elif not name:
        name = "No licence stated"
        description = (
            "The project that this run belongs to states no licence: ask its authors before you "
            "pass on or change what is in here."
        )
    return {
        "@id": "#licence",
        "@type": "CreativeWork",
        "name": name,
        "description": description,
    }


def describe_software(run: CrateContents) -> dict[str, Entity]:
    """Give the programs that took part, by ``@id``: the harness first."""
    found: dict[str, Entity] = {}
    for chapter in run.chapters:
        version = f"{chapter.harness} (commit {chapter.commit})"
        found |= _application("sizebook", version, "the harness: runs notebooks, measures, judges")
    names = {
        (name, version)
        for each in run.bundles
        for name, version in each.bundle.record.versions.items()
        if name != "sizebook"
    }
    for name, version in sorted(names):
        found |= _application(name, version)
    return found


def _application(name: str, version: str, description: str = "") -> dict[str, Entity]:
    page = _HOMEPAGES.get(name.split(maxsplit=1)[0].lower())
    word = _NOT_A_WORD.sub("-", f"{name}-{version}").strip("-")
    entity: Entity = {
        "@id": f"{page}#{word}" if page else f"#software-{word}",
        "@type": "SoftwareApplication",
        "name": name,
        "softwareVersion": version,
    }
    entity |= {"url": page} if page else {}
    entity |= {"description": description} if description else {}
    return {entity["@id"]: entity}


def describe_machines(run: CrateContents) -> dict[str, list[Entity]]:
    """Give the machines, by the ``@id`` of the place: the place first, then its facts.

    A bundle holds no host name, so none can come in here.
    """
    found: dict[str, list[Entity]] = {}
    for each in run.bundles:
        facts = each.bundle.record.machine.model_dump(mode="json")
        place = machine_id(each.bundle.record)
        values: list[Entity] = [
            {
                "@id": f"{place}-{name}",
                "@type": "PropertyValue",
                "name": name.replace("_", " "),
                "propertyID": name,
                "value": value,
            }
            for name, value in facts.items()
        ]
        machine = {
            "@id": place,
            "@type": "Place",
            "name": "The machine that measured",
            "additionalProperty": refs(values),
        }
        found[place] = [machine, *values]
    return dict(sorted(found.items()))


def machine_id(record: BundleRecord) -> str:
    """Give the ``@id`` of the machine on which a trial ran."""
    return f"#machine-{fingerprint_text(record.machine.canonical_json())[:12]}"


def describe_parameters(chapter: ChapterRun) -> list[tuple[Entity, Entity]]:
    """Give each parameter of a chapter and the value that it had in the run."""
    defaults = {parameter.name: parameter for parameter in chapter.chapter.parameters}
    pairs = []
    for name, value in sorted(chapter.parameters.items()):
        known = defaults.get(name, ChapterParameter(name, value, ""))
        formal = _formal(f"#parameter-{chapter.chapter.id}-{name}", name, _type_of(known.default))
        formal |= {"defaultValue": _as_text(known.default), "valueRequired": "False"}
        formal |= {"description": known.help} if known.help else {}
        given: Entity = {
            "@id": f"#value-{chapter.chapter.id}-{name}",
            "@type": "PropertyValue",
            "name": name,
            "value": _as_text(value) if isinstance(value, list | dict) else value,
            "exampleOfWork": ref(formal),
        }
        pairs.append((formal | {"workExample": ref(given)}, given))
    return pairs


def describe_slots(
    chapter: ChapterRun, load_profiles: Iterable[str], folders: Iterable[str]
) -> list[Entity]:
    """Give the formal parameters of a chapter's files: load profiles, page, folders of bundles."""
    name = chapter.chapter.id
    slots = [
        (f"{INPUT}{name}-load", "load profiles", "File", list(load_profiles)),
        (f"{OUTPUT}{name}-page", "executed notebook", "File", [page_path(chapter)]),
        (f"{OUTPUT}{name}-bundles", "bundles", "Dataset", list(folders)),
    ]
    return [
        _formal(identifier, title, kind) | {"workExample": refs(files)}
        for identifier, title, kind, files in slots
        if files
    ]


def is_output(formal: Entity) -> bool:
    """Tell whether a formal parameter is what a chapter makes, not what it is given."""
    return str(formal["@id"]).startswith(OUTPUT)


def describe_bundle(each: RunBundle, files: Iterable[StoredFile]) -> Entity:
    """Give a bundle as a dataset: what was measured, when, where, and what the checks said."""
    record = each.bundle.record
    trial = record.trial
    how = f"failed: {record.failure}" if record.outcome == "failed" else record.outcome
    about = (
        f"{trial.chapter}, {trial.experiment}: {treatment_words(trial)}; block "
        f"{trial.replicate + 1}; load profile {trial.load.locustfile} (sha256 "
        f"{record.fingerprints.locustfile or 'unknown'}); {how}; verdict: {each.verdict}."
    )
    return {
        "@id": f"{each.place}/",
        "@type": "Dataset",
        "name": f"Bundle {each.bundle.id}",
        "description": about,
        "dateCreated": record.execution.started_utc,
        "identifier": f"sha256:{each.bundle.sha256}",
        "locationCreated": ref(machine_id(record)),
        "hasPart": refs(file.path for file in files),
    }


def describe_action(
    chapter: ChapterRun, inputs: Iterable[Entity | str], results: Iterable[Entity | str]
) -> Entity:
    """Give the run of one chapter; without trials of its own it has no times."""
    count = len(chapter.bundles)
    entity: Entity = {
        "@id": f"#run-{chapter.chapter.id}",
        "@type": "CreateAction",
        "name": f"Run of chapter {chapter.chapter.id}",
        "description": f"{chapter.chapter.title}: {count} {'trial' if count == 1 else 'trials'}, "
        f"harness {chapter.harness}, commit {chapter.commit}. Made by: "
        f"{'; '.join(chapter.commands) or 'sizebook run ' + chapter.chapter.id}",
        "instrument": ref(template_path(chapter)),
        "object": refs(inputs),
        "result": refs(results),
        "actionStatus": _COMPLETED,
    }
    if chapter.bundles:
        entity |= {
            "startTime": min(each.began for each in chapter.bundles).isoformat(),
            "endTime": max(each.ended for each in chapter.bundles).isoformat(),
            "location": refs(sorted({machine_id(each.bundle.record) for each in chapter.bundles})),
        }
    return entity


def describe_run(run: CrateContents, actions: list[Entity], engine: list[Entity]) -> list[Entity]:
    """Give the action of the whole run, the harness that organised it, and the steps it took."""
    whole: Entity = {
        "@id": RUN,
        "@type": "CreateAction",
        "name": "Run of the book",
        "description": "Each notebook was executed by sizebook run, which make book calls: trials "
        "that were not on disk were measured, then all were judged and shown.",
        "instrument": ref(WORKFLOW),
        "object": refs(each["@id"] for action in actions for each in action["object"]),
        "result": refs(each["@id"] for action in actions for each in action["result"]),
        "actionStatus": _COMPLETED,
        "startTime": run.began.isoformat(),
        "endTime": run.ended.isoformat(),
    }
    steps, controls = [], []
    for number, (chapter, action) in enumerate(zip(run.chapters, actions, strict=True), 1):
        step = {
            "@id": f"#step-{chapter.chapter.id}",
            "@type": "HowToStep",
            "name": chapter.chapter.title,
            "position": str(number),
            "workExample": ref(template_path(chapter)),
        }
        control = {
            "@id": f"#control-{chapter.chapter.id}",
            "@type": "ControlAction",
            "name": f"Step {number}: chapter {chapter.chapter.id}",
            "instrument": ref(step),
            "object": ref(action),
        }
        steps.append(step)
        controls.append(control)
    organised = {
        "@id": "#organised",
        "@type": "OrganizeAction",
        "name": "The harness ran the notebooks one after the other",
        "instrument": refs(engine),
        "object": refs(controls),
        "result": ref(whole),
    }
    return [whole, organised, *controls, *steps]


def _formal(identifier: str, name: str, kind: str) -> Entity:
    return {
        "@id": identifier,
        "@type": "FormalParameter",
        "conformsTo": ref(f"{_BIOSCHEMAS}FormalParameter/1.0-RELEASE"),
        "name": name,
        "additionalType": kind,
    }


def _type_of(default: Any) -> str:
    return next((name for kind, name in _TYPES if isinstance(default, kind)), "Text")


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
