"""What this machine's calibration says: ceilings of the generator's clients, and the noise floor.

Measured once on a machine and found again by the cache of measurements, like every trial: the
calibration chapter shows the same trials that others look up to state their share of a ceiling.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from sizebook.checks.criteria import meet
from sizebook.checks.design_rules import good_per_s
from sizebook.lab.deployments import null_server
from sizebook.lab.measurement_cache import present_fingerprints, readable_bundles, taken_as_measured
from sizebook.lab.placement import Placement, place
from sizebook.lab.planning import Session, Setup, Treat, plan_sessions
from sizebook.lab.profiles import PROFILES, Profile
from sizebook.lab.search import Search, grid
from sizebook.lab.trials import Measure
from sizebook.model.bundle import Fingerprints
from sizebook.model.criterion import Criterion
from sizebook.model.design import Design, Factor
from sizebook.model.load import ClosedLoop, LoadProfile, OpenArrivals
from sizebook.model.records import Scalar
from sizebook.stats.noise import NoiseFloor, noise_floor
from sizebook.stats.search import boundary, next_level
from sizebook.store import Bundle, Project

CHAPTER = "calibration"
CEILING = "ceiling"
OPEN_RATE = "open-rate"
AA = "aa"
"""Experiments of the calibration chapter: clients against a null server, in a closed loop and at
the highest rate of an open load; A against A."""
CLIENTS: Mapping[str, str] = {
    "LeanHttpUser": "null.py",
    "FastHttpUser": "null_fast.py",
    "HttpUser": "null_http.py",
}
"""Client to the locustfile that asks the null server with it."""
USERS = 10
BODY_BYTES = 1024
CONDITIONING_S = 1.0
OPEN_USERS = 100
OPEN_CRITERION = Criterion(statistic="p99", limit_ms=1.0)
"""An open load that a worker keeps up with: 99 of 100 answers of a server that costs nothing are
there a millisecond after the request was due."""

LoadKind = Literal["closed", "open"]


@dataclass(frozen=True)
class Ceiling:
    """Requests per second that one worker completes against a null server."""

    per_s: float
    """Median over the replicates."""
    bundles: tuple[str, ...]
    """Names of the bundles that it was computed from."""
    kind: LoadKind = "closed"
    """``closed``: as many as it can, users without pause. ``open``: due at random, and on time."""


@dataclass(frozen=True)
class Ceilings:
    """The ceilings of one client: a schedule can be kept up to a lower rate than a loop reaches."""

    closed: Ceiling | None = None
    open: Ceiling | None = None

    def of(self, kind: LoadKind) -> Ceiling | None:
        """Return the ceiling for this kind of load.

        For open loads the closed loop's is taken where no other is known; its ``kind`` says so.
        """
        return (self.open or self.closed) if kind == "open" else self.closed


def ceiling_design(profile: Profile, seed: int, clients: Iterable[str] = CLIENTS) -> Design:
    """Return the design of the ceilings: each client against the null server."""
    factors = (Factor("client", tuple(clients)),)
    return Design(CEILING, factors, profile.replicates, seed)


def ceiling_treat(profile: Profile, placement: Placement | None = None) -> Treat:
    """Return what the design's treatments mean: one worker, ten users, an answer of 1 kB."""
    here = placement or place()
    phases = profile.phases.model_copy(update={"warmup_s": 0.0})

    def treat(treatment: Mapping[str, object]) -> Setup:
        load = LoadProfile(
            locustfile=CLIENTS[str(treatment["client"])],
            arrivals=ClosedLoop(users=USERS),
            phases=phases,
            settings={"path": "/", "expect_bytes": BODY_BYTES},
            cpus=here.generator[:1],
        )
        return Setup(null_server(here, body_bytes=BODY_BYTES), load)

    return treat


def conditioning_s(profile: Profile) -> float:
    """Return the longest load after a fresh start of the null server, which has little to learn."""
    return min(CONDITIONING_S, profile.conditioning_s)


def first_sessions(profile: Profile) -> tuple[Session, ...]:
    """Return the least that must be measured before trials can state their share of a ceiling."""
    design = ceiling_design(profile, seed=1, clients=list(CLIENTS)[:1])
    treat = ceiling_treat(profile)
    return plan_sessions(CHAPTER, profile, design, treat, conditioning_s(profile))[:1]


def open_search(profile: Profile, seed: int) -> Search:
    """Return the search for the highest rate of random arrivals that one worker keeps up with."""
    return Search(
        OPEN_RATE,
        "rate_per_s",
        grid(1000, 128_000, 1.19),
        (OPEN_CRITERION,),
        replicates=profile.replicates,
        seed=seed,
        start=14,
        agree=2 if profile.publishable else 1,
        most=24,
    )


def open_treat(profile: Profile, seed: int, placement: Placement | None = None) -> Treat:
    """Return what the search's rates mean: Poisson arrivals, one worker, an answer of 1 kB."""
    here = placement or place()

    def treat(treatment: Mapping[str, object]) -> Setup:
        rate_per_s = treatment["rate_per_s"]
        assert isinstance(rate_per_s, int | float)
        load = LoadProfile(
            locustfile=CLIENTS["LeanHttpUser"],
            arrivals=OpenArrivals(kind="poisson", rate_per_s=rate_per_s, users=OPEN_USERS),
            phases=profile.phases,
            settings={"path": "/", "expect_bytes": BODY_BYTES},
            seed=seed,
            cpus=here.generator[:1],
        )
        return Setup(null_server(here, body_bytes=BODY_BYTES), load)

    return treat


def find_ceilings(project: Project) -> dict[str, Ceilings]:
    """Return the ceilings of each client measured on this machine with the present generator.

    Trials of the most thorough profile count. Empty where nothing was calibrated.
    """
    closed = {
        str(client): Ceiling(
            per_s=median(rate for bundle in bundles if (rate := good_per_s(bundle))),
            bundles=tuple(sorted(bundle.id for bundle in bundles)),
        )
        for client, bundles in _by_level(_calibrated(project, CEILING), "client").items()
    }
    open_loads = _open_ceilings(_calibrated(project, OPEN_RATE))
    return {
        client: Ceilings(closed.get(client), open_loads.get(client))
        for client in sorted({*closed, *open_loads})
    }


def _open_ceilings(bundles: Iterable[Bundle]) -> dict[str, Ceiling]:
    """Return by client the median over the blocks of the highest rate that kept the criterion.

    A block whose search did not come to its end does not count.
    """
    blocks: dict[tuple[str, int], list[Bundle]] = defaultdict(list)
    for bundle in bundles:
        facts = bundle.record.generator
        if facts is not None:
            blocks[facts.client, bundle.record.trial.replicate].append(bundle)
    rates: dict[str, list[float]] = defaultdict(list)
    names: dict[str, list[str]] = defaultdict(list)
    for (client, _), tried in blocks.items():
        rate_per_s = _highest_kept(tried)
        if rate_per_s is not None:
            rates[client].append(rate_per_s)
            names[client] += [bundle.id for bundle in tried]
    return {
        client: Ceiling(median(found), tuple(sorted(names[client])), "open")
        for client, found in rates.items()
    }


def _highest_kept(tried: Iterable[Bundle]) -> float | None:
    """Return the last rate that passed in one block; None if none did, or the search goes on."""
    outcomes: dict[int, list[bool]] = defaultdict(list)
    search = None
    for bundle in tried:
        trial = bundle.record.trial
        search = open_search(PROFILES[trial.profile], trial.load.seed)
        rate_per_s = trial.treatment[search.variable]
        if rate_per_s in search.levels:
            kept = meet(bundle, OPEN_CRITERION).kept
            outcomes[search.levels.index(rate_per_s)].append(kept)
    if search is None or not outcomes:
        return None
    levels = search.levels
    ahead = next_level(outcomes, count=len(levels), start=search.start, agree=search.agree)
    last = boundary(outcomes).last_pass
    return float(levels[last]) if ahead is None and last is not None else None


def find_floor(
    project: Project,
    measure: Measure = good_per_s,
    trials: Sequence[Bundle] = (),
    lent: Iterable[Bundle] = (),
) -> NoiseFloor:
    """Return the noise floor of a metric by the A/A trials of one calibration.

    That is the newest one on the machine of ``trials`` when these were made, or the first after
    them; without trials the newest of this machine. So a page says the same of its trials however
    often, and on whatever other machine, is calibrated later. The calibrations are those of the
    project and the ones among ``lent``, such as a published round's. The first trial of each fresh
    JVM counts. Without any there is no floor, and the result says why.
    """
    groups = _by_level(_calibrated(project, AA, trials, lent), "name").values()
    first = [[b for b in bundles if b.record.trial.treatment.get("pass", 1) == 1]
             for bundles in groups]  # fmt: skip
    values = [[value for b in bundles if (value := measure(b)) is not None] for bundles in first]
    return noise_floor(values)


def _calibrated(
    project: Project,
    experiment: str,
    trials: Sequence[Bundle] = (),
    lent: Iterable[Bundle] = (),
) -> list[Bundle]:
    """Return a calibration's completed trials of the most thorough profile there is."""
    own = readable_bundles(project.runs / CHAPTER)
    foreign = [bundle for bundle in lent if bundle.record.trial.chapter == CHAPTER]
    every = {bundle.id: bundle for bundle in (*foreign, *own)}.values()
    there = [bundle for bundle in every if _completed(bundle, experiment)]
    newest = max((_started(bundle) for bundle in trials), default=None)
    made_on = {b.record.fingerprints.machine for b in trials if _started(b) == newest}
    machine = min(made_on, default=None)
    if machine is None and taken_as_measured() and there:
        machine = max(there, key=_started).record.fingerprints.machine
    best: dict[str, list[Bundle]] = defaultdict(list)
    for bundle in there:
        now = present_fingerprints(project, bundle.record.trial)
        if _same_instrument(bundle.record.fingerprints, now, machine):
            best[bundle.record.trial.profile].append(bundle)
    chosen = best[max(best, key=list(PROFILES).index)] if best else []
    return one_calibration(chosen, newest)


def one_calibration(bundles: Iterable[Bundle], newest: str | None) -> list[Bundle]:
    """Return the trials of the last calibration before a time, else of the first.

    Trials of one calibration were made by one harness, of one stack, in one way. Of a trial that
    was measured on several days the last one before that time counts, else the first.
    """
    ordered = sorted(bundles, key=_started)
    before = [each for each in ordered if newest is None or _started(each) <= newest]
    after = ordered[len(before) :]
    if not ordered:
        return []
    way = _way(before[-1] if before else after[0])
    # of one trial the last in this order counts
    chosen = {_trial(each): each for each in (*reversed(after), *before) if _way(each) == way}
    return list(chosen.values())


def _way(bundle: Bundle) -> tuple[object, ...]:
    """Return by what a trial of a calibration was made."""
    prints = bundle.record.fingerprints
    return prints.stack, prints.capture_version, bundle.record.versions.get("sizebook")


def _trial(bundle: Bundle) -> tuple[object, ...]:
    """Return what a trial of a calibration has again when it is measured on another day."""
    spec = bundle.record.trial
    return spec.experiment, tuple(sorted(spec.treatment.items())), spec.replicate


def tells_noise(bundle: Bundle) -> bool:
    """Return whether a trial of the calibration is one of those that give the noise floor."""
    return _completed(bundle, AA)


def _completed(bundle: Bundle, experiment: str) -> bool:
    spec = bundle.record.trial
    measured = spec.experiment == experiment and spec.purpose == "measured"
    return measured and bundle.record.outcome == "completed"


def _started(bundle: Bundle) -> str:
    return bundle.record.execution.started_utc


def _by_level(bundles: Iterable[Bundle], factor: str) -> dict[Scalar, list[Bundle]]:
    groups: dict[Scalar, list[Bundle]] = defaultdict(list)
    for bundle in bundles:
        groups[bundle.record.trial.treatment[factor]].append(bundle)
    return dict(groups)


def _same_instrument(then: Fingerprints, now: Fingerprints, machine: str | None) -> bool:
    """Return whether a generator was measured as it is here and now.

    ``machine`` is the one that counts instead of this one; how it was captured there is as it was.
    """
    if (then.hosts, then.locustfile) != ({}, now.locustfile):
        return False
    if machine is not None:
        return then.machine == machine
    return (then.machine, then.capture_version) == (now.machine, now.capture_version)
