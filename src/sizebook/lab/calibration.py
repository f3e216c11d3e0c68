"""What this machine's calibration says: ceilings of the generator's clients, and the noise floor.

Measured once on a machine and found again by the cache of measurements, like every trial: the
calibration chapter shows the same trials that others look up to state their share of a ceiling.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median

from sizebook.checks.sets import good_per_s
from sizebook.lab.archive import present_fingerprints, readable_bundles
from sizebook.lab.deployments import null_server
from sizebook.lab.placement import Placement, place
from sizebook.lab.planning import Session, Setup, Treat, plan_sessions
from sizebook.lab.profiles import PROFILES, Profile
from sizebook.lab.trials import Measure
from sizebook.model.bundle import Fingerprints
from sizebook.model.design import Design, Factor
from sizebook.model.load import ClosedLoop, LoadProfile
from sizebook.model.records import Scalar
from sizebook.stats.noise import NoiseFloor, noise_floor
from sizebook.store import Bundle, Project

CHAPTER = "calibration"
CEILING = "ceiling"
AA = "aa"
"""Experiments of the calibration chapter: clients against a null server, A against A."""
CLIENTS: Mapping[str, str] = {
    "LeanHttpUser": "null.py",
    "FastHttpUser": "null_fast.py",
    "HttpUser": "null_http.py",
}
"""Client to the locustfile that asks the null server with it."""
USERS = 10
BODY_BYTES = 1024
CONDITIONING_S = 1.0


@dataclass(frozen=True)
class Ceiling:
    """Requests per second that one worker completes against a null server."""

    per_s: float
    """Median over the replicates."""
    bundles: tuple[str, ...]
    """Names of the bundles that it was computed from."""


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


def find_ceilings(project: Project) -> dict[str, Ceiling]:
    """Return the ceiling of each client measured on this machine with the present generator.

    Trials of the most thorough profile count. Empty where nothing was calibrated.
    """
    return {
        str(client): Ceiling(
            per_s=median(rate for bundle in bundles if (rate := good_per_s(bundle))),
            bundles=tuple(sorted(bundle.id for bundle in bundles)),
        )
        for client, bundles in _calibrated(project, CEILING, "client").items()
    }


def find_floor(project: Project, measure: Measure = good_per_s) -> NoiseFloor:
    """Return the noise floor of a metric from this machine's A/A trials.

    The first trial of each fresh JVM counts. Without any trials there is no floor, and the result
    says why.
    """
    groups = _calibrated(project, AA, "name").values()
    first = [[b for b in bundles if b.record.trial.treatment.get("pass", 1) == 1]
             for bundles in groups]  # fmt: skip
    values = [[value for b in bundles if (value := measure(b)) is not None] for bundles in first]
    return noise_floor(values)


def _calibrated(project: Project, experiment: str, factor: str) -> dict[Scalar, list[Bundle]]:
    """Return the calibration's completed trials by level, of the most thorough profile there is."""
    best: dict[str, dict[Scalar, list[Bundle]]] = {}
    for bundle in readable_bundles(project.runs / CHAPTER):
        spec = bundle.record.trial
        if (
            spec.experiment == experiment
            and spec.purpose == "measured"
            and bundle.record.outcome == "completed"
            and _same_instrument(bundle.record.fingerprints, present_fingerprints(project, spec))
        ):
            groups = best.setdefault(spec.profile, {})
            groups.setdefault(spec.treatment[factor], []).append(bundle)
    return best[max(best, key=list(PROFILES).index)] if best else {}


def _same_instrument(then: Fingerprints, now: Fingerprints) -> bool:
    return (then.machine, then.locustfile, then.capture_version) == (
        now.machine,
        now.locustfile,
        now.capture_version,
    )
