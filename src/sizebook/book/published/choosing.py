"""What of a run is published: a chapter's page, the trials that it cites, and their sessions."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sizebook.book.audit.outputs import ExecutedPage, cited_by, read_cells, read_page
from sizebook.book.audit.targets import PageFile
from sizebook.book.chapters import Chapter
from sizebook.book.notebooks import SO_FAR, hash_cells
from sizebook.book.published.stated import fewest_replicates
from sizebook.lab import calibration
from sizebook.lab.profiles import PROFILES
from sizebook.model.errors import BundleError, UsageError, UserError
from sizebook.store import Bundle, Project, find_bundles, open_bundle
from sizebook.store.lock import ALONE, NOT_ALONE

LEAST_REPLICATES = 3
"""Fresh starts of each treatment that a round has, unless its publisher says otherwise."""


@dataclass(frozen=True)
class Chosen:
    """A chapter that is to be published."""

    chapter: Chapter
    page: ExecutedPage
    own: tuple[Bundle, ...]
    """Trials of this chapter."""
    borrowed: tuple[Bundle, ...]
    """Trials of other chapters that the page cites."""

    @property
    def profile(self) -> str:
        """Profile of the page; empty for one that measures nothing."""
        return str(self.page.run.get("parameters", {}).get("profile", ""))

    @property
    def replicates(self) -> int:
        """Number of completed or failed trials of the treatment that has fewest; 0 without any."""
        return fewest_replicates(each.record for each in self.own)


def measures(chapter: Chapter) -> bool:
    """Return whether a chapter has trials: it has a profile then, for how many and how long."""
    return any(parameter.name == "profile" for parameter in chapter.parameters)


def choose(project: Project, chapter: Chapter, replicates: int = LEAST_REPLICATES) -> Chosen:
    """Return what is published of a chapter.

    Raises UserError for a page that is not there, is not of the present template, or does not show
    an own measurement of a profile that counts; for trials that are not there, were not all made
    alike, or are too few.
    """
    page = _open_page(project, chapter)
    recorded = page.run.get("parameters", {})
    if not measures(chapter):
        return Chosen(chapter, page, (), ())
    if recorded.get("source") != "measure":
        raise UsageError(
            found=f"{chapter.id} made from {str(recorded.get('source'))[:60]!r}",
            expected="a chapter that was measured here",
            next_step=f"sizebook run {shlex.quote(chapter.id)}",
        )
    if SO_FAR in page.run:
        raise UsageError(
            found=f"a page of {chapter.id} that shows what was measured so far",
            expected="a chapter whose designs were measured as a whole",
            next_step=f"sizebook run {shlex.quote(chapter.id)}: what is missing is measured",
        )
    profile = PROFILES.get(str(recorded.get("profile")))
    if profile is None or not profile.publishable:
        raise UsageError(
            found=f"{chapter.id} in the profile {str(recorded.get('profile'))[:20]}",
            expected="the profile quick or full: smoke proves that things work, not how fast",
            next_step=f"sizebook run {shlex.quote(chapter.id)} --profile quick",
        )
    own, borrowed = _cited(project, page)
    chosen = Chosen(chapter, page, own, borrowed)
    _check_alike(chosen)
    _check_alone(chosen)
    if own and chosen.replicates < replicates:
        raise UsageError(
            found=f"{chosen.replicates} replicates in {chapter.id}",
            expected=f"{replicates} of every treatment",
            next_step=f"sizebook run {shlex.quote(chapter.id)} -p replicates={replicates}, or say "
            f"so openly: publish --replicates {chosen.replicates}",
        )
    return chosen


def _open_page(project: Project, chapter: Chapter) -> ExecutedPage:
    again = f"sizebook run {shlex.quote(chapter.id)}"
    try:
        path = project.chapters / f"{chapter.id}.ipynb"
        page = read_page(PageFile(f"chapters/{chapter.id}", path))
    except (OSError, ValueError) as error:
        raise UsageError(
            found=f"no executed page of {chapter.id} ({str(error)[:100]})",
            expected=f"book/chapters/{chapter.id}.ipynb, as a run makes it",
            next_step=again,
        ) from error
    if page.cells_sha256 != hash_cells(read_cells(chapter.notebook)):
        raise UsageError(
            found=f"a page of {chapter.id} from another template than the present one",
            expected="the page that the template makes",
            next_step=again,
        )
    return page


def _cited(project: Project, page: ExecutedPage) -> tuple[tuple[Bundle, ...], tuple[Bundle, ...]]:
    """Return the trials of a page: its own with all of their sessions, and borrowed ones."""
    wanted = {each.bundle: each.sha256 for out in page.results for each in cited_by(out)}
    bundles = [open_bundle(path) for path in find_bundles(project.runs) if path.name in wanted]
    found = {bundle.id: bundle for bundle in bundles if bundle.sha256 == wanted[bundle.id]}
    if lacking := sorted(set(wanted) - set(found)):
        raise BundleError(
            found=f"{len(lacking)} trials that {page.file.name} cites and that are not here as "
            f"cited, first {lacking[0]}",
            expected="every cited trial in data/runs",
            next_step=f"sizebook run {shlex.quote(page.file.chapter)}",
        )
    own = [each for each in found.values() if each.record.trial.chapter == page.file.chapter]
    others = [each for each in found.values() if each.record.trial.chapter != page.file.chapter]
    return _with_sessions(project, page.file.chapter, own), _in_order(others)


def _with_sessions(project: Project, chapter: str, own: Sequence[Bundle]) -> tuple[Bundle, ...]:
    """Return trials with what else shared their starts: conditioning loads, repeated trials.

    Of the calibration all that was made alike: every other page tells noise by it.
    """
    sessions = {each.record.execution.session for each in own if each.record.execution.started}
    alike = {_way(each) for each in own} if chapter == calibration.CHAPTER else set()
    known = {each.id for each in own}
    more = []
    for path in find_bundles(project.runs / chapter):
        if path.name not in known:
            bundle = open_bundle(path)
            if bundle.record.execution.session in sessions or _way(bundle) in alike:
                more.append(bundle)
    return _in_order([*own, *more])


def _way(bundle: Bundle) -> tuple[str, ...]:
    """Return how a trial was made, and on what."""
    prints, harness = bundle.record.fingerprints, bundle.record.versions.get("sizebook", "")
    profile = str(bundle.record.trial.profile)
    return prints.stack, prints.machine, str(prints.capture_version), harness, profile


def _check_alike(chosen: Chosen) -> None:
    """Raise UserError unless all own trials were made by one harness, stack and machine."""
    found = {_way(bundle) for bundle in chosen.own} or {("", "", "", "", chosen.profile)}
    words = ("stacks", "machines", "ways of capturing", "harnesses", "profiles")
    for what, values in zip(words, map(set, zip(*found, strict=True)), strict=True):
        if len(values) > 1 or (what == "profiles" and values != {chosen.profile}):
            raise UserError(
                found=f"trials of {chosen.chapter.id} by {len(values)} {what}: "
                + ", ".join(sorted(each[:12] or "none" for each in values)),
                expected="trials that were all made alike, as the page says",
                next_step=f"sizebook run {shlex.quote(chosen.chapter.id)}: it measures again "
                "what differs",
            )


def _check_alone(chosen: Chosen) -> None:
    """Raise UserError for own or borrowed trials that were measured beside other measurements."""
    every = (*chosen.own, *chosen.borrowed)
    beside = [each.id for each in every if each.record.execution.facts.get(ALONE) is False]
    if beside:
        raise UserError(
            found=f"{len(beside)} trials of {chosen.chapter.id} that were measured with "
            f"{NOT_ALONE} set, first {beside[0]}",
            expected="trials that had the machine to themselves",
            next_step="remove them from data/runs and run the chapter again without it",
        )


def _in_order(bundles: Iterable[Bundle]) -> tuple[Bundle, ...]:
    return tuple(sorted(bundles, key=lambda each: each.id))
