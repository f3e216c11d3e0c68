"""Who repeated the book: runs that readers sent, checked, compared with the published, and counted.

A run is audited first, its pages made again from its trials; then it is compared with the newest
published round of each chapter. What is kept of it in ``data/reproductions`` is one small file:
facts of the machine without a name, and how many claims and ratios came out alike.
"""

from __future__ import annotations

import hashlib
import shlex
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from sizebook.book.audit.auditing import Options, Say, run_audit
from sizebook.book.audit.targets import folder_target
from sizebook.book.compared.comparing import compare_runs
from sizebook.book.compared.comparison import (
    AGREEMENTS,
    JUDGED,
    Agreement,
    Closeness,
    Judged,
    RunComparison,
)
from sizebook.book.compared.machines import host_of, machine_words
from sizebook.book.compared.sides import PUBLISHED, ComparedRun, open_side
from sizebook.model.errors import BundleError, UsageError, UserError
from sizebook.model.records import Record
from sizebook.store import Project
from sizebook.store.plain_files import read_plain
from sizebook.store.record_file import first_fault
from sizebook.store.rounds import find_rounds, newest_packs
from sizebook.store.strict_json import parse_json

FOLDER = "reproductions"
_MOST_BYTES = 2**20
_Count = Annotated[int, Field(ge=0)]
_Name = Annotated[str, Field(max_length=200)]

State = Literal["reproduced", "contradicted", "open"]
STATES: tuple[State, ...] = ("reproduced", "contradicted", "open")


class ReproducedChapter(Record):
    """One chapter of a run that was sent, beside the published one."""

    chapter: _Name
    round: _Name
    """The round that it was compared with."""
    closeness: Closeness
    tolerance: float | None
    """Ratio within which it is the same; null: claims alone count."""
    trials: _Count
    claims: dict[Agreement, _Count]
    ratios: dict[Judged, _Count]

    @property
    def state(self) -> State:
        """Contradicted if one claim differs or one ratio is beyond; open if nothing is alike."""
        if self.claims.get("differ") or self.ratios.get("beyond"):
            return "contradicted"
        alike = self.claims.get("agree") or self.ratios.get("within")
        return "reproduced" if alike else "open"


class Reproduction(Record):
    """A run that somebody sent: its machine, its days, and each chapter of it."""

    format: Literal["sizebook-reproduction"] = "sizebook-reproduction"
    version: Literal[1] = 1
    trials_sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    """Over the checksums of its trials: the same run is not counted twice."""
    machine: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    """Over the facts of its machine, and of the hosts that an inventory brought in."""
    words: _Name
    first_day: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$")]
    last_day: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$")]
    chapters: tuple[ReproducedChapter, ...]


@dataclass(frozen=True)
class ChapterCount:
    """On how many machines a chapter was measured again, and how it came out."""

    chapter: str
    machines: int
    states: dict[State, int]
    """By machine: its newest run counts."""
    judged: int
    """Machines of the published one's class or host, where ratios are judged."""
    within: int
    """Those among them without a ratio beyond the tolerance."""


def reproductions_folder(project: Project) -> Path:
    """Return the folder with one file a run."""
    return project.root / "data" / FOLDER


def check_run(
    path: Path, project: Project, into: Path, *, replay: bool = True, say: Say = lambda _: None
) -> Reproduction:
    """Audit a crate that somebody sent, compare it with the published, and return what is kept.

    An archive is unpacked ``into`` an empty folder. Without ``replay`` its pages are not made
    again. Raises UserError for what is no crate, does not pass the audit, or cannot be compared.
    """
    published = open_side(PUBLISHED, project, into)
    sent = replace(open_side(str(path), project, into), name=path.name)
    folder = path.resolve() if path.is_dir() else into
    report = run_audit(folder_target(folder, project), Options(replay=replay, site=False), say)
    if errors := [each for each in report.sorted_findings if each.severity == "error"]:
        raise UserError(
            found=f"{len(errors)} errors in {path.name}, first {errors[0]}",
            expected="a run that passes the audit",
            next_step=f"sizebook audit {shlex.quote(str(path))}: it says what is wrong with "
            "which file",
        )
    found = compare_runs(published, sent)
    same = [pair.chapter for pair in found.chapters if pair.same_trials]
    if same:
        raise UsageError(
            found=f"the published trials themselves in {path.name} ({', '.join(same)})",
            expected="trials that were measured elsewhere or at another time",
            next_step="ask for a run of their own: make book, then sizebook export run.zip",
        )
    if not found.chapters:
        first = found.refused[0] if found.refused else None
        raise UsageError(
            found=f"nothing in {path.name} that can be compared"
            + (f": {first.chapter}: {first.found}" if first else ""),
            expected=first.expected if first else "a chapter that is published",
            next_step=first.next_step if first else "sizebook chapters",
        )
    return _make(found, sent, _rounds(project))


def add_reproduction(project: Project, found: Reproduction) -> Path:
    """Keep what is known of a run; return its file. Raises UsageError if it is counted already."""
    if any(each.trials_sha256 == found.trials_sha256 for each in read_reproductions(project)):
        raise UsageError(
            found="a run that is counted already",
            expected="trials that were not sent before",
            next_step="nothing: sizebook reproductions shows it",
        )
    folder = reproductions_folder(project)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{found.last_day}-{found.trials_sha256[:12]}.json"
    partial = path.with_suffix(".partial")
    partial.write_text(found.model_dump_json(indent=1) + "\n", encoding="utf-8")
    partial.replace(path)
    return path


def read_reproductions(project: Project) -> list[Reproduction]:
    """Return all that were counted, oldest first. Raises BundleError for a file that is none."""
    folder = reproductions_folder(project)
    paths = sorted(folder.glob("*.json")) if folder.is_dir() else []
    return [_read(path) for path in paths]


def count_chapters(found: Iterable[Reproduction]) -> list[ChapterCount]:
    """Return the counts of each chapter that was sent, in the order in which chapters came."""
    newest: dict[str, dict[str, ReproducedChapter]] = defaultdict(dict)
    for run in sorted(found, key=lambda each: each.last_day):
        for one in run.chapters:
            newest[one.chapter][run.machine] = one
    return [_count(chapter, list(machines.values())) for chapter, machines in newest.items()]


def _count(chapter: str, found: Sequence[ReproducedChapter]) -> ChapterCount:
    states = Counter(one.state for one in found)
    judged = [one for one in found if one.tolerance is not None]
    return ChapterCount(
        chapter=chapter,
        machines=len(found),
        states={state: states[state] for state in STATES},
        judged=len(judged),
        within=sum(not one.ratios.get("beyond") for one in judged),
    )


def _make(found: RunComparison, sent: ComparedRun, rounds: dict[str, str]) -> Reproduction:
    trials = [each for one in sent.trials.by_chapter.values() for each in one]
    sums = sorted({each.bundle.sha256 for each in trials})
    hosts = sorted({" ".join(host_of(each.record)) for each in trials})
    machines = dict.fromkeys(machine_words(each.record.machine) for each in trials)
    days = sorted(each.record.execution.started_utc[:10] for each in trials)
    if not days:
        raise UsageError(
            found=f"no trial in {sent.name} that its pages cite",
            expected="bundles beside the pages",
            next_step="ask for a crate: sizebook export run.zip",
        )
    return Reproduction(
        trials_sha256=hashlib.sha256("\n".join(sums).encode()).hexdigest(),
        machine=hashlib.sha256("\n".join(hosts).encode()).hexdigest(),
        words="; ".join(machines)[:200],
        first_day=days[0],
        last_day=days[-1],
        chapters=tuple(
            _chapter(found, pair.chapter, sent, rounds[pair.chapter]) for pair in found.chapters
        ),
    )


def _chapter(found: RunComparison, chapter: str, sent: ComparedRun, of: str) -> ReproducedChapter:
    pair = next(each for each in found.chapters if each.chapter == chapter)
    claims = Counter(each.agreement for each in found.claims if each.chapter == chapter)
    ratios = Counter(each.judged for each in found.metrics if each.chapter == chapter)
    return ReproducedChapter(
        chapter=chapter,
        round=of,
        closeness=pair.closeness,
        tolerance=pair.tolerance,
        trials=len(sent.trials.by_chapter.get(chapter, ())),
        claims={name: claims[name] for name in AGREEMENTS if claims[name]},
        ratios={name: ratios[name] for name in JUDGED if ratios[name]},
    )


def _rounds(project: Project) -> dict[str, str]:
    """Return the newest round of each published chapter, by name."""
    packs = newest_packs(find_rounds(project))
    return {chapter: each.round.name for chapter, each in packs.items()}


def _read(path: Path) -> Reproduction:
    try:
        data = read_plain(path, _MOST_BYTES)
        if len(data) > _MOST_BYTES:
            raise ValueError(f"more than {_MOST_BYTES} bytes")
        parse_json(data.decode())
        return Reproduction.model_validate_json(data)
    except (OSError, ValueError) as error:
        fault = first_fault(error) if isinstance(error, ValidationError) else str(error)
        raise BundleError(
            found=f"{FOLDER}/{path.name} with {fault[:200]}",
            expected="what 'sizebook reproductions' writes",
            next_step=f"get a fresh copy of the book: git checkout data/{FOLDER}",
        ) from error
