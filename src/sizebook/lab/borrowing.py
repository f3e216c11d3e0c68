"""Trials that other chapters have measured, read by a chapter that brings them together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from sizebook.lab.trials import Trial, Trials
from sizebook.model.design import Design, Factor, Treatment
from sizebook.model.records import Scalar
from sizebook.store import Bundle
from sizebook.store.bundles import newest_of

Levels = tuple[tuple[str, Scalar], ...]
Mark = Callable[[Bundle], Trial]
"""Compares a bundle with the present sources."""


def borrow_trials(
    bundles: Iterable[Bundle],
    chapter: str,
    experiment: str,
    *,
    profile: str,
    mark: Mark,
    floor: Callable[[Sequence[Bundle]], float | None] = lambda _: None,
) -> Trials:
    """Return the trials of another chapter's design as far as ``bundles`` have them; maybe none.

    Of each treatment the latest specification counts with the sources that it was measured with:
    replicates that were measured otherwise are left out, as they are no sisters. The design is put
    together from what was measured: a treatment that lacks a block which others have is expected,
    one that was never measured cannot be. ``floor`` is asked for the relative scatter of trials
    like these.
    """
    specs = ((bundle, bundle.record.trial) for bundle in bundles)
    known = [
        bundle
        for bundle, spec in specs
        if (spec.chapter, spec.experiment, spec.profile) == (chapter, experiment, profile)
        and spec.purpose == "measured"
    ]
    kept = _alike(known)
    found = [bundle for sisters in kept.values() for bundle in sisters]
    blocks = 1 + max((bundle.record.trial.replicate for bundle in found), default=0)
    design = _design(experiment, kept, blocks)
    trials = [mark(bundle) for bundle in found]
    return Trials(design, trials, len(kept) * blocks, floor(found))


def _alike(bundles: Sequence[Bundle]) -> dict[Levels, list[Bundle]]:
    """Return the newest sisters of each treatment, one a block.

    Treatments with other factors than the latest one belong to an earlier design.
    """
    treated: dict[Levels, list[Bundle]] = defaultdict(list)
    for bundle in sorted(bundles, key=_started):
        treated[_levels(bundle)].append(bundle)
    if not treated:
        return {}
    factors = set(max(bundles, key=_started).record.trial.treatment)
    return {
        levels: newest_of(_sisters(group), lambda one: one.record.trial.replicate)
        for levels, group in treated.items()
        if {name for name, _ in levels} == factors
    }


def _sisters(group: Sequence[Bundle]) -> list[Bundle]:
    """Return those that were specified and made as the last one was."""
    return [bundle for bundle in group if _made(bundle) == _made(group[-1])]


def _made(bundle: Bundle) -> tuple[str, str]:
    spec = bundle.record.trial.model_copy(update={"replicate": 0})
    return spec.canonical_json(), bundle.record.fingerprints.canonical_json()


def _design(experiment: str, kept: Mapping[Levels, Sequence[Bundle]], blocks: int) -> Design:
    treatments = [dict(levels) for levels in kept]
    names = list(treatments[0]) if treatments else []
    factors = tuple(Factor(name, _in_order(one[name] for one in treatments)) for name in names)
    whole = Design(experiment, factors, blocks, seed=0)
    without = tuple(one for one in whole.treatments() if _key(one) not in kept)
    return Design(experiment, factors, blocks, seed=0, without=without)


def _in_order(levels: Iterable[Scalar]) -> tuple[Scalar, ...]:
    """Return each level once: numbers by size, words by the alphabet."""
    return tuple(sorted(dict.fromkeys(levels), key=lambda level: (isinstance(level, str), level)))


def _levels(bundle: Bundle) -> Levels:
    return _key(bundle.record.trial.treatment)


def _key(treatment: Treatment) -> Levels:
    return tuple(sorted(treatment.items()))


def _started(bundle: Bundle) -> tuple[str, str]:
    return bundle.record.execution.started_utc, bundle.id
