"""Claims of the book's own are written down before their trials, with the time.

Whoever chooses a claim after seeing the numbers finds what chance put there. So a run writes each
claim that its notebook makes into ``data/claims/own.csv`` before it measures anything; rows are
added and never changed. A claim that was written down later than one of its trials began is a
finding: the ledger shows it without a verdict.
"""

from __future__ import annotations

import ast
import csv
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from sizebook.book.ledger.tables import COLUMNS, OWN_TABLE, OwnKey, read_tables, table_path
from sizebook.model.errors import UserError

_CALL = "own_claim"
_TIME = "%Y-%m-%dT%H:%M:%SZ"


class StatedClaim(NamedTuple):
    """A claim of the book's own as its notebook makes it."""

    key: OwnKey
    statement: str


def write_down(root: Path, notebook: Path) -> list[str]:
    """Write down the claims of a notebook that are not yet; return their ids.

    Raises UserError for a table that cannot be read or written.
    """
    known = read_tables(root).written_utc
    new = [each for each in find_own_claims(notebook) if each.key not in known]
    if not new:
        return []
    now = datetime.now(UTC).strftime(_TIME)
    rows = [[key.claim_id, now, key.relation, words] for key, words in new]
    try:
        _add(table_path(root, OWN_TABLE), rows)
    except OSError as error:
        raise UserError(
            found=f"data/claims/{OWN_TABLE}.csv cannot be written ({error.strerror})",
            expected="a table in which claims are written down before their trials",
            next_step="make the folder writable for this user, and run again",
        ) from error
    return [each.key.claim_id for each in new]


def _add(path: Path, rows: Sequence[Sequence[str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        if not stream.tell():
            writer.writerow(COLUMNS[OWN_TABLE])
        writer.writerows(rows)


def find_own_claims(notebook: Path) -> list[StatedClaim]:
    """Return the claims that the code of a notebook makes, in its order.

    Name and relation are literals there; a statement that is computed stands as its code. A cell
    that cannot be parsed makes none: running it says why.
    """
    found: dict[OwnKey, StatedClaim] = {}
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            for each in _claims_of("".join(cell["source"])):
                found.setdefault(each.key, each)
    return list(found.values())


def _claims_of(code: str) -> Iterator[StatedClaim]:
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == _CALL:
            given = dict(zip(("name", "statement", "relation"), node.args, strict=False))
            given |= {each.arg: each.value for each in node.keywords if each.arg}
            name, relation = (_literal(given.get(part)) for part in ("name", "relation"))
            if name and relation and "statement" in given:
                words = _literal(given["statement"]) or ast.unparse(given["statement"])
                yield StatedClaim(OwnKey(f"own-{name}", relation), words)


def _literal(node: ast.expr | None) -> str:
    """Return a string that stands in the code; empty for anything else."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
