"""All chapters planned for a budget: what could be measured, in the order of its worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sizebook.book.chapters import Chapter, find_chapters, get_chapter
from sizebook.book.planning import PlannedChapter, plan_chapter
from sizebook.book.published.choosing import measures
from sizebook.budget.choosing import BudgetStep, choose_steps
from sizebook.budget.needs import find_needs
from sizebook.budget.odds import MOST_BLOCKS
from sizebook.budget.starts import begun_starts
from sizebook.lab import calibration
from sizebook.lab.profiles import Profile, get_profile
from sizebook.model.errors import UserError
from sizebook.store import Project


@dataclass(frozen=True)
class BudgetPlan:
    """What could be measured of the whole book."""

    profile: Profile
    planned: tuple[PlannedChapter, ...]
    """Every chapter that measures, in the order of the book."""
    steps: tuple[BudgetStep, ...]
    left_out: Mapping[str, str]
    """Chapters that cannot be planned on this machine, with the reason."""

    @property
    def notes(self) -> dict[str, Mapping[str, str]]:
        """What the trials of each chapter are to tell of what this machine lacks."""
        return {each.chapter.id: each.notes for each in self.planned}

    def within(self, seconds: float) -> list[BudgetStep]:
        """Return the steps that are done in so many seconds, each that does not fit passed over."""
        chosen = []
        for step in self.steps:
            if step.seconds <= seconds:
                chosen.append(step)
                seconds -= step.seconds
        return chosen

    def pages(self) -> list[tuple[Chapter, dict[str, Any]]]:
        """Return the chapters of which something is on disk, each with the parameters of its page.

        As far as this plan knew: it is made anew after measuring. The calibration has a page once
        it is whole: by it all others tell noise, the published ones by theirs.
        """
        return [
            (each.chapter, self._parameters(each))
            for each in self.planned
            if each.missing_trials < each.trials
            and not (each.chapter.id == calibration.CHAPTER and self._lacks_block(each))
        ]

    def _lacks_block(self, each: PlannedChapter) -> bool:
        return any(session.replicate < self.profile.replicates for session in each.missing)

    def _parameters(self, each: PlannedChapter) -> dict[str, Any]:
        """Return the parameters of a page that shows all blocks that were begun."""
        begun = begun_starts([each])
        most = max((session.replicate + 1 for session in begun.values()), default=0)
        given: dict[str, Any] = {"profile": self.profile.name, "source": "measure"}
        return given | ({"replicates": most} if most > self.profile.replicates else {})


def plan_budget(
    project: Project, profile: str, chapters: Sequence[str] = (), *, tries: bool = False
) -> BudgetPlan:
    """Return a plan of chapters, without ids all, with as many blocks as a claim may need.

    A chapter that cannot be planned here is left out, with the reason. ``tries`` as for
    ``plan_chapter``. Raises UsageError for an unknown profile or chapter, UserError for a page that
    cannot be read.
    """
    known = get_profile(profile)
    blocks = max(MOST_BLOCKS, known.replicates) if known.publishable else known.replicates
    chosen = [get_chapter(project.root, name) for name in chapters] or find_chapters(project.root)
    planned, left_out = [], {}
    for each in filter(measures, chosen):
        try:
            planned.append(plan_chapter(each, _planning(each, profile, blocks), tries=tries))
        except UserError as error:  # of one chapter, and the others make a book
            left_out[each.id] = str(error)
    steps = choose_steps(planned, find_needs(project, planned))
    return BudgetPlan(known, tuple(planned), tuple(steps), left_out)


def _planning(chapter: Chapter, profile: str, blocks: int) -> dict[str, Any]:
    given: dict[str, Any] = {"profile": profile, "source": "measure"}
    has_blocks = any(parameter.name == "replicates" for parameter in chapter.parameters)
    return given | ({"replicates": blocks} if has_blocks else {})
