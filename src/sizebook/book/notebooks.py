"""Run a chapter's notebook into a page of the book, unless the page is up to date."""

from __future__ import annotations

import functools
import json
import re
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import nbformat
from papermill.exceptions import PapermillExecutionError

import sizebook
from sizebook.book.again import Again, find_again
from sizebook.book.chapters import Chapter
from sizebook.book.kernel import NotebookLostError, NotebookRun, cannot_write
from sizebook.book.ledger.written import write_down
from sizebook.book.records import PublishedResult, read_records
from sizebook.book.stamps import make_stamp
from sizebook.lab import calibration
from sizebook.lab.measurement_cache import AS_MEASURED, TRY_ALL
from sizebook.lab.profiles import get_profile
from sizebook.model.errors import UserError
from sizebook.model.plain_text import on_one_line
from sizebook.report.evidence import find_commit, hash_json

State = Literal["ran", "up to date", "published", "not published", "failed"]

STAMP = "sizebook_run"
"""Where the metadata of an executed notebook say how it was made."""

SO_FAR = "so_far"
"""In the stamp of a page of what was measured so far: its designs may lack trials."""

MEASURE = "measure"
"""The source of trials that are measured here."""

INJECTED = "injected-parameters"
"""Tag of the cell that papermill adds with the parameters of a run."""

_USER_ERRORS: tuple[type[UserError], ...] = (UserError, *UserError.__subclasses__())
_ERRORS = {kind.__name__ for kind in _USER_ERRORS}
_ANSI = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class ProgressLine:
    """How far a chapter's measurement is, as the notebook reports it.

    ``t`` is a clock time in seconds since 1970; ``left_s`` is None while nobody can tell.
    """

    t: float
    chapter: str
    done: int
    total: int
    label: str
    left_s: float | None


@dataclass(frozen=True)
class RunOutcome:
    """What happened to one chapter: ran, up to date, taken from a round; or where it failed."""

    chapter: str
    state: State
    seconds: float
    page: Path | None = None
    cell: int | None = None
    error: str | None = None
    note: str = ""
    """What was, or was not, measured again."""
    remains: Path | None = None


def run_chapter(
    root: Path,
    chapter: Chapter,
    parameters: Mapping[str, Any],
    *,
    force: bool = False,
    so_far: bool = False,
    on_progress: Callable[[ProgressLine], None] | None = None,
    stop_grace_s: float = 60.0,
) -> RunOutcome:
    """Run a chapter with typed parameters into ``book/chapters/<id>.ipynb``.

    A page of what was measured ``so_far`` measures nothing more; a later run goes on.

    The notebook is executed in ``_build/failed/`` and moved into the book when it is whole; after
    a failure the old page is gone too, so that the book cannot show it. Ctrl-C interrupts the
    notebook, lets it clean up, and raises KeyboardInterrupt.
    """
    page = root / "book" / "chapters" / f"{chapter.id}.ipynb"
    again = Again()
    if not force and is_up_to_date(root, chapter, parameters, so_far=so_far):
        if parameters.get("source", MEASURE) == MEASURE and not so_far:
            again = find_again(root, chapter.id, page)
        if not again.due:
            return RunOutcome(chapter.id, "up to date", 0.0, page=page, note=again.words)
    started = time.monotonic()
    remains = root / "_build" / "failed" / f"{chapter.id}.ipynb"
    for folder in (page.parent, remains.parent):
        folder.mkdir(parents=True, exist_ok=True)
    remains.unlink(missing_ok=True)
    try:
        if not so_far and _measures_what_counts(parameters):
            write_down(root, chapter.notebook)
        environment = {TRY_ALL: "1"} if force else {}
        environment |= {AS_MEASURED: "1"} if so_far else {}
        _execute(root, chapter, parameters, remains, on_progress, stop_grace_s, environment)
        stamp_page(root, chapter, parameters, remains, so_far=so_far)
        _check_borrowed(root, chapter, read_records(remains).values())
    except PapermillExecutionError as error:
        failure = (error.exec_count, first_words(error.ename, error.evalue))
    except (UserError, NotebookLostError) as error:
        failure = (None, str(error))
    except OSError as error:
        failure = (None, cannot_write(error))
    except BaseException:
        page.unlink(missing_ok=True)
        raise
    else:
        remains.replace(page)
        seconds = time.monotonic() - started
        return RunOutcome(chapter.id, "ran", seconds, page=page, note=again.words)
    page.unlink(missing_ok=True)
    cell, message = failure
    return RunOutcome(
        chapter.id,
        "failed",
        time.monotonic() - started,
        cell=cell,
        error=message,
        remains=remains if remains.exists() else None,
    )


def _measures_what_counts(parameters: Mapping[str, Any]) -> bool:
    """Return whether a run measures trials that a claim may rest on."""
    profile = get_profile(str(parameters.get("profile", "quick")))
    return parameters.get("source", MEASURE) == MEASURE and profile.publishable


def is_up_to_date(
    root: Path, chapter: Chapter, parameters: Mapping[str, Any], *, so_far: bool = False
) -> bool:
    """Tell whether a chapter's page was made from all that its making depends on now."""
    page = root / "book" / "chapters" / f"{chapter.id}.ipynb"
    try:
        stamp = json.loads(page.read_text(encoding="utf-8"))["metadata"][STAMP]["stamp"]
    except (OSError, ValueError, KeyError):
        return False
    return bool(stamp == make_stamp(root, chapter, parameters, so_far=so_far))


@functools.lru_cache(maxsize=64)
def is_so_far(page: Path) -> bool:
    """Return whether an executed notebook shows what was measured so far, as of the first call."""
    try:
        return SO_FAR in json.loads(page.read_bytes())["metadata"][STAMP]
    except (OSError, ValueError, LookupError, TypeError):
        return False


def hash_cells(cells: Iterable[Mapping[str, Any]]) -> str:
    """Give one checksum over what a reader sees of a notebook's cells: kind, text and tags.

    Outputs, and the cell that a run adds for its parameters, are left out: a template and a page
    executed from it have the same checksum.
    """
    kept: list[list[Any]] = []
    for cell in cells:
        tags = list((cell.get("metadata") or {}).get("tags") or ())
        if INJECTED not in tags:
            source = cell.get("source", "")
            text = "".join(source) if isinstance(source, list) else str(source)
            kept.append([cell.get("cell_type"), text, tags])
    return hash_json(kept)


def _execute(
    root: Path,
    chapter: Chapter,
    parameters: Mapping[str, Any],
    output: Path,
    on_progress: Callable[[ProgressLine], None] | None,
    stop_grace_s: float,
    environment: Mapping[str, str],
) -> None:
    with tempfile.TemporaryDirectory(prefix="sizebook-progress-") as folder:
        file = Path(folder) / "progress.jsonl"
        file.touch()
        lines = _follow(file)

        def forward() -> None:
            for line in next(lines):
                if on_progress is not None:
                    on_progress(line)

        run = NotebookRun(
            chapter.notebook,
            output,
            parameters,
            folder=chapter.notebook.parent,
            environment={
                "SIZEBOOK_PROGRESS": str(file),
                "SIZEBOOK_COMMIT": find_commit(root),
                **environment,
            },
            may_measure=chapter.kind != "page" and AS_MEASURED not in environment,
        )
        run.finish(forward, stop_grace_s)
        forward()


def _check_borrowed(root: Path, chapter: Chapter, records: Iterable[PublishedResult]) -> None:
    """Raise UserError if results stand on trials of a chapter that the notebook does not name.

    Its page would not be made again when that chapter is measured again.
    """
    cited = {source["bundle"] for record in records for source in record.evidence["sources"]}
    known = {chapter.id, calibration.CHAPTER, *chapter.borrows}
    for folder in sorted((root / "data" / "runs").glob("*")):
        if folder.name not in known and any((folder / name).is_dir() for name in cited):
            raise UserError(
                found=f"{chapter.notebook.name} shows trials of chapter {folder.name!r}",
                expected=f"that chapter among those that it borrows from: {list(chapter.borrows)}",
                next_step="add it to 'borrows' in the notebook's metadata",
            )


def _follow(file: Path) -> Iterator[list[ProgressLine]]:
    """Give, each time it is asked, the whole lines that were added to a file since."""
    with file.open(encoding="utf-8") as stream:
        rest = ""
        while True:
            *whole, rest = (rest + stream.read()).split("\n")
            yield [ProgressLine(**json.loads(line)) for line in whole if line]


def stamp_page(
    root: Path,
    chapter: Chapter,
    parameters: Mapping[str, Any],
    notebook: Path,
    *,
    so_far: bool = False,
) -> None:
    """Write into the notebook how it was made; take out this machine's folders and all times.

    The same bundles then give the same notebook, byte for byte.
    """
    node = nbformat.read(notebook, as_version=4)  # type: ignore[no-untyped-call, unused-ignore]
    node.metadata.pop("papermill", None)
    for cell in node.cells:
        cell.metadata.pop("papermill", None)
        cell.metadata.pop("execution", None)
        if INJECTED in cell.metadata.get("tags", []):
            cell["id"] = INJECTED  # papermill's is drawn at random
            cell.metadata["tags"] = [INJECTED, "hide-input"]
    defaults = {parameter.name: parameter.default for parameter in chapter.parameters}
    node.metadata[STAMP] = {
        "stamp": make_stamp(root, chapter, parameters, so_far=so_far),
        "template": chapter.notebook.name,
        "template_sha256": hash_cells(node.cells),
        "parameters": {**defaults, **parameters},
        "commit": find_commit(root),
        "harness": sizebook.__version__,
        **({SO_FAR: True} if so_far else {}),
    }
    nbformat.write(node, notebook)  # type: ignore[no-untyped-call, unused-ignore]


def first_words(kind: str, message: str) -> str:
    """Give a failure in one line; a UserError says enough without its kind."""
    line = on_one_line(_ANSI.sub("", message))
    return line if kind in _ERRORS else f"{kind}: {line}"
