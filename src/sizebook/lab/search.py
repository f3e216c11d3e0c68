"""Searching for the heaviest load that keeps a criterion: sessions that decide as they go.

A search is run once in each block, on a fresh stack, so that its answer has replicates like any
other result. Its levels are fixed beforehand (a geometric grid), hence the trials of different
blocks, and of a run that was interrupted, are trials of the same treatments.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from sizebook.checks.criteria import meet
from sizebook.lab.planning import Find, Session, Treat, conditioning, make_spec
from sizebook.lab.profiles import Profile
from sizebook.lab.trials import Trial
from sizebook.model.criterion import Criterion
from sizebook.model.design import Design, Factor, Treatment
from sizebook.model.records import Scalar
from sizebook.model.trial import TrialSpec
from sizebook.stats.search import Boundary, boundary, next_level
from sizebook.store import Bundle

ATTEMPT = "attempt"
"""Level of a trial's treatment that numbers the trials at one load in one block."""


@dataclass(frozen=True)
class Search:
    """The highest level of a load that keeps each criterion, for each treatment and block."""

    experiment: str
    variable: str
    """What is searched, such as ``rate_per_s`` or ``users``; a name in the treatment."""
    levels: tuple[Scalar, ...]
    """The loads that may be tried, ascending; see ``grid``."""
    criteria: tuple[Criterion, ...]
    replicates: int
    seed: int
    factors: tuple[Factor, ...] = ()
    """Further factors, each level combination searched by itself on fresh stacks."""
    start: int = 0
    """Index of the level that is tried first."""
    agree: int = 1
    """Outcomes by which the two levels of the boundary must lead; see ``stats.search``."""
    most: int = 20
    """Trials in one block after which the search gives up."""

    def __post_init__(self) -> None:
        if not self.criteria:
            raise ValueError(f"search {self.experiment!r} has no criterion")
        if not 0 <= self.start < len(self.levels):
            raise ValueError(f"start {self.start}; expected 0 to {len(self.levels) - 1}")
        if list(self.levels) != sorted(set(self.levels), key=float):
            raise ValueError("the levels of a search must ascend")

    def design(self, levels: Sequence[Scalar], attempts: int) -> Design:
        """Return the design that trials at these levels, tried so often, make up."""
        own = (Factor(self.variable, tuple(levels), "sub"),)
        tries = (Factor(ATTEMPT, tuple(range(attempts)), "sub"),)
        return Design(self.experiment, self.factors + own + tries, self.replicates, self.seed)


def grid(low: float, high: float, ratio: float, *, whole: bool = False) -> tuple[Scalar, ...]:
    """Return levels from ``low`` to ``high``, each about ``ratio`` times the one before.

    Three significant digits, or whole numbers; equal neighbours are left out. Raises ValueError
    unless 0 < low <= high and ratio > 1.
    """
    if not 0 < low <= high or ratio <= 1:
        raise ValueError(f"a grid from {low} to {high} by {ratio}")
    count = math.floor(math.log(high / low) / math.log(ratio) + 1e-9) + 1
    values = [low * ratio**n for n in range(count)]
    if whole:
        return tuple(dict.fromkeys(round(value) for value in values))
    return tuple(dict.fromkeys(float(f"{value:.3g}") for value in values))


@dataclass(frozen=True)
class SearchSession(Session):
    """A session whose next trial follows from what the ones before it found."""

    search: Search = field(kw_only=True)
    spec_at: Callable[[Scalar, int], TrialSpec] = field(kw_only=True)
    """Gives the specification of a level's n-th trial."""
    found: tuple[Bundle, ...] = ()

    def remaining(self, done: Sequence[Bundle]) -> tuple[TrialSpec, ...]:
        tried = [*self.found, *done]
        if len(tried) >= self.search.most:
            return ()
        levels = [bundle.record.trial.treatment[self.search.variable] for bundle in tried]
        for outcomes in _outcomes(self.search, tried).values():
            index = next_level(
                outcomes,
                count=len(self.search.levels),
                start=self.search.start,
                agree=self.search.agree,
            )
            if index is not None:
                level = self.search.levels[index]
                return (self.spec_at(level, levels.count(level)),)
        return ()

    def collect(self, find: Find) -> list[Bundle]:
        found: list[Bundle] = []
        while due := self.remaining(found):
            bundle = find(due[0])
            if bundle is None:
                break
            found.append(bundle)
        return found

    def spec_of(self, recorded: TrialSpec) -> TrialSpec | None:
        """Return how this session specifies a trial that was made in it; None if it was not."""
        if recorded.purpose != "measured" or recorded.experiment != self.experiment:
            return None
        own, levels = self.trials[0].treatment, recorded.treatment
        base = {factor.name: own[factor.name] for factor in self.search.factors}
        names = {*base, self.search.variable, ATTEMPT}
        if recorded.replicate != self.replicate or set(levels) != names:
            return None
        if any(levels[name] != level for name, level in base.items()):
            return None
        attempt = levels[ATTEMPT]
        assert isinstance(attempt, int)
        return self.spec_at(levels[self.search.variable], attempt)

    def after(self, done: Sequence[Bundle]) -> Session:
        # a search may take more trials than were guessed; one stays, to tell the deployment
        left = self.trials[len(done) :] or self.trials[-1:]
        return replace(self, found=(*self.found, *done), trials=left)


def search_sessions(
    chapter: str, profile: Profile, search: Search, treat: Treat, conditioning_s: float
) -> tuple[SearchSession, ...]:
    """Return the sessions of a search, one for each treatment and block."""
    # Bracketing takes about as many steps as bisection; then each end is confirmed.
    likely = 2 * math.ceil(math.log2(len(search.levels) + 1)) + 2 * (search.agree - 1)
    sessions = []
    for replicate, plots in search.design(search.levels[:1], 1).blocks():
        for plot in plots:
            base = {f.name: plot[0][f.name] for f in search.factors}

            def spec_at(
                level: Scalar, attempt: int, base: Treatment = base, replicate: int = replicate
            ) -> TrialSpec:
                treatment = {**base, search.variable: level, ATTEMPT: attempt}
                setup = treat(treatment)
                return make_spec(chapter, profile, search.experiment, treatment, replicate, setup)

            ladder = itertools.chain(search.levels[search.start :], search.levels[: search.start])
            count = min(likely, search.most)
            trials = tuple(spec_at(level, 0) for level in itertools.islice(ladder, count))
            given = treat(trials[0].treatment).conditioning
            loads = conditioning(trials[:1], conditioning_s, given)
            sessions.append(
                SearchSession(
                    search.experiment, replicate, loads, trials, search=search, spec_at=spec_at
                )
            )
    return tuple(sessions)


_ENDS: dict[str, type] = {
    "replicate": int,
    "criterion": str,
    "last_pass": float,
    "first_fail": float,
    "trials": int,
    "fail_verdict": str,
    "settled": bool,
}
"""Columns of a boundary, after those of the factors."""


def visited(search: Search, trials: Sequence[Trial]) -> Design:
    """Return the design that the trials of a search turned out to be."""
    levels = {trial.treatment[search.variable] for trial in trials}
    attempts = max((int(trial.treatment[ATTEMPT]) for trial in trials), default=0)
    known = [level for level in search.levels if level in levels]
    return search.design(known or search.levels[:1], attempts + 1)


def boundaries(search: Search, trials: Sequence[Trial]) -> pl.DataFrame:
    """Return one row a criterion, treatment and block: where the load became too much.

    Columns: the search's factors, ``replicate``, ``criterion``, ``last_pass`` and ``first_fail``
    (levels; null where all failed, or none did), ``trials``, ``fail_verdict`` (the worst verdict
    of the trials at ``first_fail``: ``generator-bound`` there means that the generator and not
    the server gave way) and ``settled`` (false: the search gave up before the boundary was sure).
    They are there without any trial, too.
    """
    groups: dict[tuple[Scalar, ...], list[Trial]] = defaultdict(list)
    for trial in trials:
        levels = (trial.treatment[factor.name] for factor in search.factors)
        groups[(*levels, trial.replicate)].append(trial)
    rows = []
    for key, group in sorted(groups.items(), key=lambda item: str(item[0])):
        outcomes = _outcomes(search, [trial.bundle for trial in group])
        for criterion in search.criteria:
            seen = outcomes[criterion.name]
            end = boundary(seen)
            failing = _at(search, group, end.first_fail)
            rows.append(
                dict(zip((*(f.name for f in search.factors), "replicate"), key, strict=True))
                | {"criterion": criterion.name}
                | _levels(search, end)
                | {"trials": len(group)}
                | {"fail_verdict": min((t.verdict for t in failing), key=str, default=None)}
                | {"settled": _is_settled(search, seen)}
            )
    types = {factor.name: type(factor.levels[0]) for factor in search.factors} | _ENDS
    return pl.DataFrame(rows, schema=None if rows else types)


def _levels(search: Search, end: Boundary) -> dict[str, float | None]:
    pairs = {"last_pass": end.last_pass, "first_fail": end.first_fail}
    return {
        name: None if index is None else float(search.levels[index])
        for name, index in pairs.items()
    }


def _is_settled(search: Search, seen: Mapping[int, Sequence[bool]]) -> bool:
    count = len(search.levels)
    return next_level(seen, count=count, start=search.start, agree=search.agree) is None


def _at(search: Search, trials: Sequence[Trial], index: int | None) -> list[Trial]:
    if index is None:
        return []
    return [t for t in trials if t.treatment[search.variable] == search.levels[index]]


def _outcomes(search: Search, tried: Sequence[Bundle]) -> dict[str, dict[int, list[bool]]]:
    """Return by criterion what was seen at each level."""
    outcomes: dict[str, dict[int, list[bool]]] = {c.name: {} for c in search.criteria}
    for bundle in tried:
        index = search.levels.index(bundle.record.trial.treatment[search.variable])
        for criterion in search.criteria:
            kept = meet(bundle, criterion).kept
            outcomes[criterion.name].setdefault(index, []).append(kept)
    return outcomes
