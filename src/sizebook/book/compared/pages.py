"""What executed notebooks of a folder say: claims, parameters, and the trials that they cite.

Whoever compares reads runs by this module, be it the reader's own, a published round or one that
somebody sent: notebooks are read as data and checked; nothing in them is executed or believed
beyond its form.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from sizebook.book.audit.outputs import ClaimResult, ExecutedPage, read_page, source_of, tags_of
from sizebook.book.audit.targets import PageFile
from sizebook.book.notebooks import INJECTED
from sizebook.model.claim import ClaimOutcome, Comparison
from sizebook.model.errors import UserError
from sizebook.store.plain_files import plain_size

MOST_PAGES = 1000
_OUTCOMES: TypeAdapter[ClaimOutcome] = TypeAdapter(ClaimOutcome)


@dataclass(frozen=True)
class CitedTrial:
    """A trial that results name: its bundle's checksum and what the page says of it."""

    bundle: str
    sha256: str
    verdict: str


@dataclass(frozen=True)
class ChapterResults:
    """What one executed notebook published, as far as runs are compared by it."""

    chapter: str
    page: Path
    parameters: Mapping[str, Any]
    """All of the notebook's, ``profile`` among them where it measures."""
    commit: str
    code_sha256: str
    """Checksum over the template's code cells: prose may be edited without another version."""
    claims: Mapping[str, ClaimOutcome]
    cited: Mapping[str, CitedTrial]
    """By the bundle's name."""

    @property
    def profile(self) -> str:
        """Name of the profile; empty for a page that measures nothing."""
        return str(self.parameters.get("profile", ""))


def results_of_run(folder: Path) -> dict[str, ChapterResults]:
    """Return the results of the executed notebooks in a folder, by chapter.

    Links are not followed. Raises UserError for a notebook that is not one of Sizebook's, and for
    claims or trials that contradict themselves.
    """
    names = sorted(path.name for path in folder.glob("*.ipynb")) if folder.is_dir() else []
    names = [name for name in names if plain_size(folder, name) is not None]
    if len(names) > MOST_PAGES:
        raise _unreadable(folder.name, f"{len(names)} notebooks")
    return {Path(name).stem: read_results(folder / name) for name in names}


def read_results(page: Path) -> ChapterResults:
    """Return the results of one executed notebook. Raises UserError as ``results_of_run``."""
    try:
        read = read_page(PageFile(page.stem, page))
        return _results(read, page)
    except (OSError, ValueError, RecursionError) as error:
        raise _unreadable(page.name, str(error) or type(error).__name__) from error


def _results(read: ExecutedPage, page: Path) -> ChapterResults:
    parameters = read.run.get("parameters", {})
    if not isinstance(parameters, dict):
        raise ValueError("parameters that are no names with values")
    claims: dict[str, ClaimOutcome] = {}
    cited: dict[str, CitedTrial] = {}
    for output in read.results:
        result = output.read()
        if result.evidence.chapter != page.stem:
            raise ValueError(f"results of chapter {result.evidence.chapter[:80]!r}")
        for each in result.evidence.sources:
            trial = CitedTrial(each.bundle, each.sha256, each.verdict)
            if cited.setdefault(each.bundle, trial).sha256 != trial.sha256:
                raise ValueError(f"two trials called {each.bundle[:80]!r}")
        if isinstance(result, ClaimResult):
            outcome = _read_outcome(result.claim)
            if outcome.claim_id != result.key or outcome.claim_id in claims:
                raise ValueError(f"claim {outcome.claim_id[:80]!r} twice, or under another key")
            claims[outcome.claim_id] = outcome
    return ChapterResults(
        chapter=page.stem,
        page=page,
        parameters=parameters,
        commit=str(read.run.get("commit", "unknown"))[:80],
        code_sha256=_hash_code(read.cells),
        claims=claims,
        cited=cited,
    )


def _read_outcome(fields: Mapping[str, Any]) -> ClaimOutcome:
    """Return a claim with its values checked. Raises ValueError for any that cannot be."""
    given = ClaimOutcome.from_record(fields)
    try:
        _OUTCOMES.validate_python(fields)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ValueError(
            f"claim {str(given.claim_id)[:80]!r}: {first['msg']} at {where}"
        ) from error
    _check_effect(given)
    for each in given.comparisons:
        _check_effect(each)
    return given


def _check_effect(each: ClaimOutcome | Comparison) -> None:
    ends = [end for end in (each.low, each.effect, each.high) if end is not None]
    if not all(map(math.isfinite, ends)) or ends != sorted(ends) or each.n < 0:
        raise ValueError("a claim whose estimate lies outside of its interval")


def _hash_code(cells: Iterable[Mapping[str, Any]]) -> str:
    """Return a checksum over the code that a template has, in order; added parameters left out."""
    codes: Sequence[str] = [
        source_of(cell)
        for cell in cells
        if cell["cell_type"] == "code" and INJECTED not in tags_of(cell)
    ]
    return hashlib.sha256(json.dumps(codes).encode()).hexdigest()


def _unreadable(name: str, what: str) -> UserError:
    return UserError(
        found=f"{name[:100]} with {what[:300]}",
        expected="executed notebooks as 'sizebook run' writes them",
        next_step="run the chapter again, or ask for a fresh copy",
    )
