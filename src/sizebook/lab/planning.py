"""From designs to trials: what will be run, in which order, and how long it should take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from sizebook.lab.profiles import Profile
from sizebook.model.deployment import Deployment
from sizebook.model.design import Design, Treatment
from sizebook.model.load import LoadProfile
from sizebook.model.trial import Allowance, TrialSpec
from sizebook.store import Bundle

SETUP_GUESS_S = 4.0
"""Seconds to start a stack and a generator, until this machine's own bundles tell better."""


@dataclass(frozen=True)
class Setup:
    """What one treatment means: a deployment and a load."""

    deployment: Deployment
    load: LoadProfile
    allowance: Allowance = field(default_factory=Allowance)
    probe_interval_s: float = 1.0


Treat = Callable[[Treatment], Setup]
"""Turns the levels of a treatment into a set-up."""


Find = Callable[[TrialSpec], Bundle | None]
"""Gives the bundle of a trial that was run already."""


@dataclass(frozen=True)
class Session:
    """Trials that share one fresh start of the stack, the conditioning load first."""

    experiment: str
    replicate: int
    conditioning: TrialSpec | None
    trials: tuple[TrialSpec, ...]
    """The trials to run; of a session that searches, as many as it may take."""

    @property
    def deployment(self) -> Deployment:
        """The deployment that all trials of the session use."""
        return self.trials[0].deployment

    def remaining(self, done: Sequence[Bundle]) -> tuple[TrialSpec, ...]:
        """Return the trials known to be due after those in ``done``, failed ones included.

        ``done`` holds bundles of the session, conditioning left out, in the order in which they
        were made. Empty: the session is over.
        """
        over = [bundle.record.trial for bundle in done]
        return tuple(spec for spec in self.trials if spec not in over)

    def collect(self, find: Find) -> list[Bundle]:
        """Return the bundles of the session's trials as far as ``find`` has them."""
        return [bundle for spec in self.trials if (bundle := find(spec)) is not None]

    def after(self, done: Sequence[Bundle]) -> Session:
        """Return what is left of the session when these trials need not be run again."""
        return replace(self, trials=self.remaining(done))

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
            tuple(
                make_spec(chapter, profile, design.experiment, t, replicate, treat(t)) for t in plot
            )
            for plot in plots
        ]
        for trials in starts:
            _check_shared(trials)
        if not profile.fresh_starts:
            starts = _join_equal(starts)
        sessions += [
            Session(design.experiment, replicate, conditioning(trials, conditioning_s), trials)
            for trials in starts
        ]
    return tuple(sessions)


def planned_s(sessions: Sequence[Session], setup_s: float = SETUP_GUESS_S) -> float:
    """Return the expected wall time of the sessions in seconds."""
    return sum(session.planned_s(setup_s) for session in sessions)


def make_spec(
    chapter: str,
    profile: Profile,
    experiment: str,
    treatment: Treatment,
    replicate: int,
    setup: Setup,
) -> TrialSpec:
    """Return the specification of one trial."""
    return TrialSpec(
        chapter=chapter,
        experiment=experiment,
        profile=profile.name,
        treatment=treatment,
        replicate=replicate,
        deployment=setup.deployment,
        load=setup.load,
        allowance=setup.allowance,
        probe_interval_s=setup.probe_interval_s,
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


def conditioning(trials: Sequence[TrialSpec], seconds: float) -> TrialSpec | None:
    """Return the load that follows a fresh start: the plot's heaviest, for so long at most."""
    if seconds <= 0:
        return None
    heaviest = max(trials, key=lambda trial: trial.load.arrivals.users)
    phases = heaviest.load.phases.model_copy(
        update={"ramp_s": 0.0, "warmup_s": 0.0, "measured_s": seconds}
    )
    load = heaviest.load.model_copy(update={"phases": phases})
    return heaviest.model_copy(update={"purpose": "conditioning", "load": load})
