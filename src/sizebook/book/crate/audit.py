"""Whether a crate that somebody sent is what an export would have made of the files in it.

Nothing in the crate is executed, no link is followed, nothing is written.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

from sizebook.book.crate.export import describe_in_place
from sizebook.book.crate.preview import PREVIEW
from sizebook.book.crate.rules import CRATE_VERSION, METADATA
from sizebook.model.errors import UserError
from sizebook.store.bundles import RECORD
from sizebook.store.fingerprints import fingerprint_file
from sizebook.store.plain_files import plain_size, read_plain
from sizebook.store.strict_json import parse_json

MOST_METADATA_BYTES = 64 * 2**20
_UNREADABLE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What a notebook or template may raise that was not written by Sizebook."""

Graph = dict[str, dict[str, Any]]
"""Entities by ``@id``."""


@dataclass(frozen=True)
class CrateFinding:
    """What a rule found: the rule's id, the file or entity, and what is wrong with it."""

    rule: str
    place: str
    message: str
    found: str
    expected: str


def audit_crate(folder: Path) -> list[CrateFinding]:
    """Return all that is wrong with a crate's folder; nothing if it is as it was exported.

    The files come first; what the metadata say about the run is compared only if they hold.
    """
    try:
        context, graph = _read_metadata(folder)
    except (OSError, ValueError, RecursionError) as error:
        found = str(error) or type(error).__name__
        message = f"no readable {METADATA}: {found}"
        return [CrateFinding("AU601-crate", METADATA, message, found, "metadata of a crate")]
    findings = [*_audit_files(folder, graph), *_find_added(folder, graph)]
    return findings or list(_audit_description(folder, context, graph))


def _read_metadata(folder: Path) -> tuple[Any, Graph]:
    """Return context and entities of the metadata. Raises OSError, ValueError, RecursionError."""
    return parse_metadata(read_plain(folder / METADATA, MOST_METADATA_BYTES))


def parse_metadata(data: bytes) -> tuple[Any, Graph]:
    """Return context and entities. Raises ValueError or RecursionError for no crate's metadata."""
    if len(data) > MOST_METADATA_BYTES:
        raise ValueError(f"more than {MOST_METADATA_BYTES} bytes")
    content = parse_json(data.decode("utf-8"))
    entities = content.get("@graph") if isinstance(content, dict) else None
    if not isinstance(entities, list) or not all(isinstance(each, dict) for each in entities):
        raise ValueError("no @graph of entities")
    graph: Graph = {}
    for each in entities:
        identifier = each.get("@id")
        if not isinstance(identifier, str) or identifier in graph:
            raise ValueError(f"an @id that is missing or there twice: {str(identifier)[:100]!r}")
        graph[identifier] = each
    version = graph.get(METADATA, {}).get("version")
    if "./" not in graph or version != CRATE_VERSION:
        raise ValueError(f"a crate of version {str(version)[:40]!r}, not {CRATE_VERSION!r}")
    return content.get("@context"), graph


def _audit_files(folder: Path, graph: Graph) -> Iterator[CrateFinding]:
    for identifier, entity in graph.items():
        if identifier in ("./", METADATA):
            continue
        name = unquote(identifier)
        if is_a(entity, "File"):
            yield from _audit_file(folder, name, entity)
        elif is_a(entity, "Dataset") and not _is_folder(folder, name):
            yield CrateFinding(
                "AU602-crate-missing", name, "no such folder", "nothing", "a plain folder"
            )
    if plain_size(folder, PREVIEW) is None:
        message = "no page for people"
        yield CrateFinding("AU602-crate-missing", PREVIEW, message, "nothing", "a plain file")


def _audit_file(folder: Path, name: str, entity: dict[str, Any]) -> Iterator[CrateFinding]:
    size = plain_size(folder, name) if _stays_inside(name) else None
    if size is None:
        yield CrateFinding("AU602-crate-missing", name, "no such file", "nothing", "a plain file")
        return
    said, found = str(entity.get("contentSize")), str(size)
    if said == found:
        said, found = str(entity.get("sha256")), fingerprint_file(folder / name)
    if said != found:
        message = "another file than the metadata describe"
        yield CrateFinding("AU603-crate-checksum", name, message, found, said)


def _find_added(folder: Path, graph: Graph) -> Iterator[CrateFinding]:
    files = {unquote(each) for each, entity in graph.items() if is_a(entity, "File")}
    files |= {METADATA, PREVIEW}
    for here, folders, names in os.walk(folder):
        links = [name for name in folders if (Path(here) / name).is_symlink()]
        for name in sorted([*names, *links]):
            path = (Path(here) / name).relative_to(folder).as_posix()
            if path not in files:
                message = "not described by the metadata"
                yield CrateFinding("AU604-crate-added", path, message, "a file", "no such file")


def _audit_description(folder: Path, context: Any, graph: Graph) -> Iterator[CrateFinding]:
    """Compare what the metadata say with what an export makes of the crate's own files."""
    try:
        content, preview = describe_in_place(folder)
    except UserError as error:
        yield CrateFinding(
            "AU606-crate-run", str(folder.name), error.found, error.found, error.expected
        )
        return
    except _UNREADABLE as error:
        found = f"{type(error).__name__}: {error}"
        message = "its notebooks cannot be read"
        yield CrateFinding("AU606-crate-run", folder.name, message, found, "a run by Sizebook")
        return
    made = {str(each["@id"]): each for each in content["@graph"]}
    bundles = {f"{PurePosixPath(unquote(each)).parent}/" for each in made if _is_record(each)}
    for identifier in [*made, *(each for each in graph if each not in made)]:
        rule = "AU605-crate-bundle" if unquote(identifier) in bundles else "AU607-crate-description"
        yield from _compare(rule, identifier, graph.get(identifier), made.get(identifier))
    terms = [{"@context": each} for each in (context, content["@context"])]
    yield from _compare("AU607-crate-description", METADATA, *terms)
    if read_plain(folder / PREVIEW, MOST_METADATA_BYTES) != preview.encode():
        message = "not the page that an export makes"
        yield CrateFinding(
            "AU607-crate-description", PREVIEW, message, "other text", "the page of this run"
        )


def _compare(
    rule: str, place: str, found: dict[str, Any] | None, made: dict[str, Any] | None
) -> Iterator[CrateFinding]:
    if found is None or made is None:
        message = "missing" if found is None else "describes nothing in the crate"
        yield CrateFinding(rule, place, message, str(found), str(made))
        return
    for name in sorted({*found, *made}):
        if found.get(name) != made.get(name):
            message = f"{name} is not what follows from the crate's files"
            yield CrateFinding(rule, place, message, str(found.get(name)), str(made.get(name)))


def is_a(entity: dict[str, Any], kind: str) -> bool:
    """Tell whether an entity has a type, alone or among others."""
    types = entity.get("@type")
    return kind in types if isinstance(types, list) else kind == types


def _is_record(identifier: str) -> bool:
    return PurePosixPath(identifier).name == RECORD


def _is_folder(folder: Path, name: str) -> bool:
    if not _stays_inside(name):
        return False
    place = folder
    for part in PurePosixPath(name).parts:
        place = place / part
        if place.is_symlink() or not place.is_dir():
            return False
    return True


def _stays_inside(name: str) -> bool:
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts and "\0" not in name
