"""From designs to trials: what will be run, in which order, and how long it should take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from sizebook.lab.profiles import Profile
from sizebook.model.deployment import Deployment
from sizebook.model.design import Design, Treatment
from sizebook.model.load import LoadProfile
from sizebook.model.trial import Allowance, TrialSpec

SETUP_GUESS_S = 4.0
"""Seconds to start a stack and a generator, until this machine's own bundles tell better."""


@dataclass(frozen=True)
class Setup:
    """What one treatment means: a deployment and a load."""

    deployment: Deployment
    load: LoadProfile
    allowance: Allowance = field(default_factory=Allowance)


Treat = Callable[[Treatment], Setup]
"""Turns the levels of a treatment into a set-up."""


@dataclass(frozen=True)
class Session:
    """Trials that share one fresh start of the stack, the conditioning load first."""

    experiment: str
    replicate: int
    conditioning: TrialSpec | None
    trials: tuple[TrialSpec, ...]

    @property
    def deployment(self) -> Deployment:
        """The deployment that all trials of the session use."""
        return self.trials[0].deployment

    def planned_s(self, setup_s: float = SETUP_GUESS_S) -> float:
        """Return the seconds that the session's phases prescribe, with one set-up."""
        specs = (*([self.conditioning] if self.conditioning else []), *self.trials)
        return setup_s + sum(spec.load.phases.planned_s for spec in specs)


def plan_sessions(
    chapter: str, profile: Profile, design: Design, treat: Treat, conditioning_s: float
) -> tuple[Session, ...]:
    """Return the sessions of a design in the order in which they are to run.

    Raises ValueError if a factor that is declared ``sub`` changes the deployment: such trials
    cannot share one start.
    """
    sessions = []
    for replicate, plots in design.blocks():
        starts = [
            tuple(_spec(chapter, profile, design, t, replicate, treat(t)) for t in plot)
            for plot in plots
        ]
        for trials in starts:
            _check_shared(trials)
        if not profile.fresh_starts:
            starts = _join_equal(starts)
        sessions += [
            Session(design.experiment, replicate, _conditioning(trials, conditioning_s), trials)
            for trials in starts
        ]
    return tuple(sessions)


def planned_s(sessions: Sequence[Session], setup_s: float = SETUP_GUESS_S) -> float:
    """Return the expected wall time of the sessions in seconds."""
    return sum(session.planned_s(setup_s) for session in sessions)


def _spec(
    chapter: str,
    profile: Profile,
    design: Design,
    treatment: Treatment,
    replicate: int,
    setup: Setup,
) -> TrialSpec:
    return TrialSpec(
        chapter=chapter,
        experiment=design.experiment,
        profile=profile.name,
        treatment=treatment,
        replicate=replicate,
        deployment=setup.deployment,
        load=setup.load,
        allowance=setup.allowance,
    )


def _check_shared(trials: tuple[TrialSpec, ...]) -> None:
    if any(trial.deployment != trials[0].deployment for trial in trials):
        raise ValueError(
            "a factor with plot='sub' changes the deployment; declare it with plot='whole', "
            "or keep it out of the deployment"
        )


def _join_equal(starts: list[tuple[TrialSpec, ...]]) -> list[tuple[TrialSpec, ...]]:
    """Return fewer starts: plots whose deployments are equal become one."""
    joined: list[tuple[TrialSpec, ...]] = []
    for trials in starts:
        same = [n for n, group in enumerate(joined) if group[0].deployment == trials[0].deployment]
        if same:
            joined[same[0]] += trials
        else:
            joined.append(trials)
    return joined


def _conditioning(trials: tuple[TrialSpec, ...], seconds: float) -> TrialSpec | None:
    """Return the load that follows a fresh start: the plot's heaviest, for a fixed time."""
    if seconds <= 0:
        return None
    heaviest = max(trials, key=lambda trial: trial.load.arrivals.users)
    phases = heaviest.load.phases.model_copy(
        update={"ramp_s": 0.0, "warmup_s": 0.0, "measured_s": seconds}
    )
    load = heaviest.load.model_copy(update={"phases": phases})
    return heaviest.model_copy(update={"purpose": "conditioning", "load": load})
