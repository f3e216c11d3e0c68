"""What each claim needs to be measured, by the results that were published or made here before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sizebook.book.ledger.tables import read_tables
from sizebook.book.planning import PlannedChapter
from sizebook.book.records import PublishedResult, read_records
from sizebook.budget.odds import foresee
from sizebook.budget.starts import Start, every_start
from sizebook.lab.planning import Session
from sizebook.model.claim import ClaimOutcome
from sizebook.model.design import Treatment
from sizebook.model.records import Scalar
from sizebook.store import Project
from sizebook.store.glance import glance_at
from sizebook.store.rounds import PAGES, find_rounds, newest_packs, open_published


@dataclass(frozen=True)
class Need:
    """A claim that more measuring should decide."""

    claim_id: str
    chapter: str
    starts: frozenset[Start]
    odds: float
    """Probability that it is decided once all of them are measured."""


def find_needs(project: Project, planned: Sequence[PlannedChapter]) -> list[Need]:
    """Return what is needed for each claim that planned sessions should decide.

    A chapter's own page tells how its claims stand, else the newest published one. A claim needs
    the starts of those experiments whose trials it was decided by, as far as they have a treatment
    that it compares. A claim whose test is a stand-in, or needs another machine, gets no verdict
    and needs nothing. Raises UserError for a page that cannot be read.
    """
    fidelity = read_tables(project.root).fidelity
    sessions = every_start(planned)
    packs = newest_packs(find_rounds(project))
    published = open_published(project) if packs else None
    needs: list[Need] = []
    for each in planned:
        chapter = each.chapter.id
        own = project.chapters / f"{chapter}.ipynb"
        if _is_of(own, project.runs / chapter):
            page, bundles = own, project.runs
        elif published is not None and chapter in packs:
            page, bundles = published / PAGES / own.name, published
        else:
            continue
        for record in read_records(page).values():
            if record.kind == "claim":
                outcome = ClaimOutcome.from_record(record.fields["claim"])
                known = fidelity.get(outcome.claim_id)
                if known is not None and not known.bears_a_verdict:
                    continue
                needs += _need(outcome, chapter, record, _Trials(bundles), sessions)
    return needs


def _need(
    outcome: ClaimOutcome,
    chapter: str,
    record: PublishedResult,
    trials: _Trials,
    sessions: Mapping[Start, Session],
) -> Iterator[Need]:
    prospect = foresee(outcome)
    if prospect is None:
        return
    names = [source["bundle"] for source in record.evidence["sources"]]
    sides = [side for pair in outcome.comparisons for side in (pair.left, pair.right) if side]
    experiments = trials.experiments(names, chapter)
    starts = {
        start
        for start, session in sessions.items()
        if (start.chapter, session.experiment) in experiments
        and session.replicate < prospect.blocks
        and any(_fits(spec.treatment, side) for spec in session.trials for side in sides)
    }
    if starts:
        yield Need(outcome.claim_id, chapter, frozenset(starts), prospect.odds)


class _Trials:
    """The trials of a folder, looked up by the names of their bundles.

    They say at most what had better be measured first.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def experiments(self, names: Iterable[str], chapter: str) -> set[tuple[str, str]]:
        """Return chapter and experiment of each of these bundles that is there."""
        found = set()
        for name in names:
            for place in (self._folder / chapter, *self._others(name)):
                trial = (glance_at(place / name) or {}).get("trial")
                if isinstance(trial, dict):
                    found.add((str(trial.get("chapter")), str(trial.get("experiment"))))
                    break
        return found

    def _others(self, name: str) -> Iterator[Path]:
        for place in self._folder.iterdir():
            if (place / name).is_dir():
                yield place


def _is_of(page: Path, runs: Path) -> bool:
    """Return whether a page of the book shows trials of these; a published one shows others."""
    if not page.is_file() or not runs.is_dir():
        return False
    records = read_records(page).values()
    cited = {source["bundle"] for each in records for source in each.evidence["sources"]}
    return any((runs / name).is_dir() for name in cited)


def _fits(treatment: Treatment, side: Mapping[str, Scalar]) -> bool:
    """Return whether a treatment has every level of a comparison's side that it knows."""
    return all(side.get(name, level) == level for name, level in treatment.items())
