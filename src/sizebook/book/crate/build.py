"""A run's files and their description put together, by means of rocrate."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rocrate.model.computationalworkflow import ComputationalWorkflow
from rocrate.model.computerlanguage import ComputerLanguage
from rocrate.model.contextentity import ContextEntity
from rocrate.rocrate import ROCrate

from sizebook.book.crate import describe
from sizebook.book.crate.describe import Entity, StoredFile, ref, refs
from sizebook.book.crate.files import CrateFiles
from sizebook.book.crate.gather import ChapterRun, CrateContents, RunBundle
from sizebook.book.crate.preview import PREVIEW, README, readme_text
from sizebook.book.crate.rules import CRATE_VERSION
from sizebook.model.errors import UsageError
from sizebook.store.bundles import REQUESTS


def build_crate(run: CrateContents, files: CrateFiles, *, slim: bool) -> Any:
    """Copy the run's files and return the crate that describes them."""
    crate = ROCrate(version="1.1")
    crate.metadata["version"] = CRATE_VERSION
    crate.metadata.extra_terms.update(describe.CHECKSUM_TERM)
    software = describe.describe_software(run)
    tops: list[Any] = [_add_workflow(crate, run, files, software)]
    for path in (describe.LOCK, "pyproject.toml"):
        if (run.project.root / path).is_file():
            tops.append(_add_file(crate, files, run.project.root / path, path))
    tops += [_add_file(crate, files, file, file.name) for file in run.licence_files]
    for name, file in run.load_profiles.items():
        tops.append(_add_file(crate, files, file, f"locustfiles/{name}"))
    tops += [each["@id"] for each in _add_bundles(crate, run, files, slim=slim)]
    formals: list[Entity] = []
    actions: list[Entity] = []
    for chapter in run.chapters:
        parts, of_chapter, action = _add_chapter(crate, run, files, chapter)
        tops += parts
        formals += of_chapter
        actions.append(action)
    _link_examples(crate, formals)
    crate.mainEntity["input"] = refs(each for each in formals if not describe.is_output(each))
    crate.mainEntity["output"] = refs(each for each in formals if describe.is_output(each))
    engine = [each for each in software.values() if each["name"] == "sizebook"]
    closing = describe.describe_run(run, actions, engine)
    machines = [each for group in describe.describe_machines(run).values() for each in group]
    _add(crate, [*formals, *actions, *closing, *software.values(), *machines])
    whole = not slim and not any(REQUESTS in each.bundle.left_out for each in run.bundles)
    readme = readme_text(run, whole=whole)
    about = {"about": ref("./"), "encodingFormat": "text/markdown"}
    tops.append(_add_stored(crate, files, files.write(README, readme), about))
    _describe_root(crate, run, tops, [*actions, *closing])
    _unwrap(crate)
    return crate


def _link_examples(crate: Any, formals: Sequence[Entity]) -> None:
    """Let files and folders say of which formal parameters they are the value in this run."""
    examples: dict[str, list[Entity]] = {}
    for formal in formals:
        if isinstance(formal["workExample"], list):  # a value of a parameter says so already
            for example in formal["workExample"]:
                examples.setdefault(example["@id"], []).append(ref(formal))
    for identifier, of in examples.items():
        crate.get(identifier)["exampleOfWork"] = of


def _unwrap(crate: Any) -> None:
    """Write a list of one as what it holds and leave out empty ones, as RO-Crate recommends."""
    for entity in crate.get_entities():
        for name, value in list(entity.properties().items()):
            if isinstance(value, list) and not name.startswith("@") and len(value) < 2:
                if value:
                    entity[name] = value[0]
                else:
                    del entity[name]


def _describe_root(
    crate: Any, run: CrateContents, tops: Sequence[Any], actions: Sequence[Entity]
) -> None:
    licences = describe.describe_licences(run)
    profiles = list(describe.describe_profiles())
    preview = {"@id": PREVIEW, "@type": "CreativeWork", "about": ref("./")}
    _add(crate, [*licences, *profiles, preview | {"encodingFormat": "text/html"}])
    root = crate.root_dataset
    names = ", ".join(each.chapter.id for each in run.chapters)
    root["name"] = f"Sizebook run of {run.ended.date().isoformat()}"
    root["description"] = (
        f"A run of the benchmark report book Sizebook: chapters {names}; {len(run.bundles)} trials "
        f"measured from {run.began.isoformat()} to {run.ended.isoformat()}, with the executed "
        "notebooks that were made from them."
    )
    root["datePublished"] = run.ended.isoformat()
    root["license"] = refs(licences)
    root["conformsTo"] = refs(profiles)
    root["hasPart"] = refs(each if isinstance(each, str) else each.id for each in tops)
    root["mentions"] = refs(each for each in actions if each["@type"] == "CreateAction")


def _add_workflow(
    crate: Any, run: CrateContents, files: CrateFiles, software: dict[str, Entity]
) -> Any:
    source = run.project.root / describe.WORKFLOW
    if not source.is_file():
        raise UsageError(
            found=f"no {describe.WORKFLOW} in the project",
            expected="the file that says how a run is made",
            next_step="get it back from the project's history",
        )
    stored = files.copy(source, describe.WORKFLOW)
    make, python = (
        ComputerLanguage(crate, page, properties={"name": name, "url": ref(page)})
        for page, name in ((describe.MAKE, "GNU Make"), (describe.PYTHON, "Python"))
    )
    crate.add(make, python)
    properties = describe.describe_file(stored) | {
        "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"],
        "name": "How the book is made",
        "description": "make book runs the notebooks of all chapters and builds the site.",
        "encodingFormat": "text/x-makefile",
        "version": run.chapters[0].commit,
        "conformsTo": ref("https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"),
        "hasPart": refs(describe.template_path(each) for each in run.chapters),
        "step": [ref(f"#step-{each.chapter.id}") for each in run.chapters],
        "softwareRequirements": refs(software.values()),
    }
    return crate.add_workflow(
        files.folder / describe.WORKFLOW,
        describe.WORKFLOW,
        properties=properties,
        main=True,
        lang=make,
        cls=ComputationalWorkflow,
    )


def _add_chapter(
    crate: Any, run: CrateContents, files: CrateFiles, chapter: ChapterRun
) -> tuple[list[Any], list[Entity], Entity]:
    """Add a chapter's notebooks; return them, its formal parameters, and its action."""
    used = {each.bundle.record.trial.load.locustfile for each in chapter.bundles}
    profiles = [f"locustfiles/{name}" for name in run.load_profiles if name in used]
    own = sorted({_folder_of(each) for each in chapter.bundles})
    pairs = describe.describe_parameters(chapter)
    slots = [formal for formal, _ in pairs] + describe.describe_slots(chapter, profiles, own)
    _add(crate, [value for _, value in pairs])
    tool = {
        "@type": ["File", "SoftwareSourceCode"],
        "name": chapter.chapter.title,
        "version": chapter.commit,
        "programmingLanguage": ref(describe.PYTHON),
        "input": refs(slot for slot in slots if not describe.is_output(slot)),
        "output": refs(slot for slot in slots if describe.is_output(slot)),
    }
    template, page = describe.template_path(chapter), describe.page_path(chapter)
    parts = [
        _add_file(crate, files, chapter.chapter.notebook, template, tool),
        _add_file(crate, files, chapter.page, page, {"name": f"Page: {chapter.chapter.title}"}),
    ]
    read = [f"{each.place}/" for each in chapter.read]
    inputs = [*(value["@id"] for _, value in pairs), *profiles, *read]
    return parts, slots, describe.describe_action(chapter, inputs, [page, *own])


def _add_bundles(crate: Any, run: CrateContents, files: CrateFiles, *, slim: bool) -> list[Entity]:
    """Add every bundle as a dataset; return the datasets that hold them, a chapter each."""
    held: dict[str, list[Entity]] = {}
    for each in run.bundles:
        stored = files.copy_bundle(each, slim=slim)
        for file in stored:
            _add_stored(crate, files, file)
        entity = describe.describe_bundle(each, stored)
        held.setdefault(_folder_of(each), []).append(entity)
        _add_dataset(crate, entity)
    folders: list[Entity] = []
    for place, bundles in sorted(held.items()):
        name = f"Bundles of {place.rstrip('/').rsplit('/', 1)[-1]}"
        folder = {"@id": place, "@type": "Dataset", "name": name, "hasPart": refs(bundles)}
        folders.append(folder | {"description": f"{len(bundles)} trials, a folder each."})
        _add_dataset(crate, folders[-1])
    return folders


def _add(crate: Any, entities: Sequence[Entity]) -> None:
    for entity in entities:
        properties = {name: value for name, value in entity.items() if name != "@id"}
        crate.add(ContextEntity(crate, entity["@id"], properties=properties))


def _add_dataset(crate: Any, entity: Entity) -> None:
    properties = {name: value for name, value in entity.items() if name != "@id"}
    crate.add_dataset(dest_path=entity["@id"], properties=properties)


def _add_file(
    crate: Any, files: CrateFiles, source: Path, path: str, properties: Entity | None = None
) -> Any:
    return _add_stored(crate, files, files.copy(source, path), properties)


def _add_stored(
    crate: Any, files: CrateFiles, file: StoredFile, properties: Entity | None = None
) -> Any:
    said = describe.describe_file(file) | (properties or {})
    return crate.add_file(files.folder / file.path, file.path, properties=said)


def _folder_of(each: RunBundle) -> str:
    return each.place.rpartition("/")[0] + "/"
