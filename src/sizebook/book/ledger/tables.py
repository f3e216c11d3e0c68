"""The tables of ``data/claims``: where and how faithfully each claim is tested, and since when.

``data/claims/README.md`` describes them. A table that a book does not have is empty.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from sizebook.model.claim import RELATIONS
from sizebook.model.errors import UserError
from sizebook.model.fidelity import Fidelity

OWN_TABLE = "own"
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "chapters": ("source", "scenario", "claim_id", "chapter"),
    "planned": ("chapter", "part", "title"),
    "undecidable": ("claim_id", "reason"),
    "coverage": ("source", "kind", "name", "chapter", "reason"),
    "fidelity": ("claim_id", "fidelity", "reason", "requires"),
    OWN_TABLE: ("claim_id", "written_utc", "relation", "statement"),
}


class OwnKey(NamedTuple):
    """What makes a claim of the book's own the same claim: other words may be plainer."""

    claim_id: str
    relation: str


@dataclass(frozen=True)
class ClaimTables:
    """All that ``data/claims`` says."""

    places: Mapping[tuple[str, str], str]
    """The chapter of each (source, claim) and (source, scenario)."""
    planned: Mapping[str, tuple[str, str]]
    """Part and title of each chapter, written or not."""
    undecidable: Mapping[str, str]
    """The reason why a claim cannot be put to the test on any machine that this book is for."""
    fidelity: Mapping[str, Fidelity]
    """Empty for a book without this table."""
    written_utc: Mapping[OwnKey, str]
    """When each of the book's own claims was first written down, as ``2026-11-22T06:23:15Z``."""


def read_tables(root: Path) -> ClaimTables:
    """Return the tables of a book. UserError for one that cannot be read or says nonsense."""
    return ClaimTables(
        places=_places(root),
        planned={
            row["chapter"]: (row["part"], row["title"]) for row in read_table(root, "planned")
        },
        undecidable={row["claim_id"]: row["reason"] for row in read_table(root, "undecidable")},
        fidelity=_fidelities(root),
        written_utc=_written(root),
    )


def table_path(root: Path, table: str) -> Path:
    """Return where a table is, or would be."""
    return root / "data" / "claims" / f"{table}.csv"


def read_table(root: Path, table: str) -> list[dict[str, str]]:
    """Return the rows of a table; none where the book has no such table."""
    path = table_path(root, table)
    if not path.exists():
        return []
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            reader = csv.DictReader(stream, strict=True)
            rows = list(reader)
    except (csv.Error, UnicodeDecodeError) as error:
        raise bad_table(root, table, f"no readable table ({error})") from error
    if tuple(reader.fieldnames or ()) != COLUMNS[table]:
        raise bad_table(root, table, f"the columns {reader.fieldnames}")
    if any(None in row or None in row.values() for row in rows):
        raise bad_table(root, table, "a row of another length than its heading")
    return rows


def bad_table(root: Path, table: str, found: str) -> UserError:
    """Return what is wrong with a table, to be raised."""
    path = table_path(root, table).relative_to(root)
    return UserError(
        found=f"{path.as_posix()} has {found}",
        expected=f"columns {', '.join(COLUMNS[table])}, as data/claims/README.md describes them",
        next_step="correct the table",
    )


def check_known(root: Path, tables: ClaimTables, known: Sequence[str]) -> None:
    """Raise UserError if a table speaks of a claim that no report has."""
    for table, names in (("undecidable", tables.undecidable), ("fidelity", tables.fidelity)):
        for claim_id in names:
            if claim_id not in known:
                raise bad_table(root, table, f"claim_id {claim_id!r}, which no report has")


def _places(root: Path) -> dict[tuple[str, str], str]:
    places = {}
    for row in read_table(root, "chapters"):
        if bool(row["scenario"]) == bool(row["claim_id"]):
            raise bad_table(
                root, "chapters", f"a row with {row}: a scenario or a claim_id, not both"
            )
        places[row["source"], row["scenario"] or row["claim_id"]] = row["chapter"]
    return places


def _fidelities(root: Path) -> dict[str, Fidelity]:
    found: dict[str, Fidelity] = {}
    for row in read_table(root, "fidelity"):
        claim_id = row["claim_id"]
        if claim_id in found:
            raise bad_table(root, "fidelity", f"claim_id {claim_id!r} twice")
        try:
            found[claim_id] = Fidelity.read(row["fidelity"], row["reason"], row["requires"])
        except ValueError as error:
            raise bad_table(root, "fidelity", f"for {claim_id!r} {error}") from error
    return found


def _written(root: Path) -> dict[OwnKey, str]:
    found: dict[OwnKey, str] = {}
    for row in read_table(root, OWN_TABLE):
        if row["relation"] not in RELATIONS:
            raise bad_table(root, OWN_TABLE, f"relation {row['relation']!r}")
        found.setdefault(OwnKey(row["claim_id"], row["relation"]), row["written_utc"])
    return found
