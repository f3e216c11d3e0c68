"""From designs to trials: what will be run, in which order, and how long it should take."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pydantic import ValidationError

from sizebook.hosts.kinds import KIND_OF
from sizebook.lab.profiles import Profile, in_turns
from sizebook.model.deployment import Deployment
from sizebook.model.design import Design, Treatment
from sizebook.model.errors import UsageError
from sizebook.model.load import Arrivals, ClosedLoop, LoadProfile, PacedUsers
from sizebook.model.memory import needed_mib
from sizebook.model.modes import AS_IT_IS, Mode
from sizebook.model.trial import (
    Allowance,
    Disturbance,
    Exhaustion,
    Stored,
    TrialSpec,
    levels_of,
)
from sizebook.store import Bundle
from sizebook.store.record_file import first_fault

_START_AT_LEAST_S = 0.5
_SMALL: Mapping[str, float] = {"nullserver": 0.15, "broker": 0.15}
"""Part of a start for roles that start without an application's frame."""

FEW_USERS = 4
"""Users of a closed first conditioning load at most. They keep two CPUs busy; more at a time take
turns with the JVM's compiler, which then needs longer: with forty the JVM of the business
application was after 45 s where four had brought it after 20 s."""
SETTLES_AFTER_S = 6.0
"""A conditioning load that may last longer than this can tell when it has settled; it comes twice.
"""
HASTE = 10.0
"""How many times faster paced users go in the conditioning load."""
HURRIED_DRAIN_S = 2.0
"""Then what is overdue at its end is left; it would be as long again."""


@dataclass(frozen=True)
class Setup:
    """What one treatment means: a deployment and a load."""

    deployment: Deployment
    load: LoadProfile
    allowance: Allowance = field(default_factory=Allowance)
    probe_interval_s: float = 1.0
    disturbances: tuple[Disturbance | Exhaustion, ...] = ()
    stores: Mapping[str, str | Stored] = field(default_factory=dict)
    """Table to the requests that fill it, as in ``TrialSpec.stores``."""
    conditioning: LoadProfile | None = None
    """What the load after a fresh start asks for, if not what the heaviest of its trials does."""


Treat = Callable[[Treatment], Setup]
"""Turns the levels of a treatment into a set-up."""


Find = Callable[[TrialSpec], Bundle | None]
"""Gives the bundle of a trial that was run already."""


@dataclass(frozen=True)
class Session:
    """Trials that share one fresh start of the stack, conditioning loads first."""

    experiment: str
    replicate: int
    conditioning: tuple[TrialSpec, ...]
    """The loads before the trials; the first is a fresh stack's first contact, and stored."""
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

    @property
    def contacts(self) -> tuple[TrialSpec, ...]:
        """The loads that are a fresh stack's first contact."""
        return self.conditioning[:1]

    @property
    def start_s(self) -> float:
        """Seconds that the start of its stack should take."""
        return start_s(self.deployment)

    @property
    def memory_mib(self) -> int:
        """What is up at a time takes so much memory of this machine."""
        return needed_mib(self.deployment)

    def planned_s(self) -> float:
        """Return the seconds that one start and the phases of the session's loads should take."""
        specs = (*self.conditioning, *self.trials)
        return self.start_s + sum(spec.load.phases.planned_s for spec in specs)


@dataclass(frozen=True)
class TurnSession(Session):
    """A block whose treatments are up side by side, while the load takes turns between them.

    It is measured as a whole: a trial that was not measured beside the others is none of it.
    """

    starts: tuple[Session, ...] = ()
    """A session for each stack, with its own conditioning loads and trials."""
    seed: str = ""
    """Decides in which order the turns come."""

    def after(self, done: Sequence[Bundle]) -> Session:
        measured = {bundle.record.execution.session for bundle in done}
        whole = len(measured) == 1 and not self.remaining(done)
        return replace(self, trials=()) if whole else self

    @property
    def contacts(self) -> tuple[TrialSpec, ...]:
        return tuple(spec for one in self.starts for spec in one.contacts)

    @property
    def start_s(self) -> float:
        return sum(one.start_s for one in self.starts)

    @property
    def memory_mib(self) -> int:
        return sum(one.memory_mib for one in self.starts)


def plan_sessions(
    chapter: str,
    profile: Profile,
    design: Design,
    treat: Treat,
    conditioning_s: float,
    *,
    turns: bool = False,
    rounds_share: float = 1.0,
) -> tuple[Session, ...]:
    """Return the sessions of a design in the order in which they are to run.

    With ``turns`` there is one a block, in which the treatments take turns, for this share of the
    profile's rounds; raises UsageError for a load that cannot. Raises ValueError if a factor that
    is declared ``sub`` changes the deployment: such trials cannot share one start.
    """
    sessions: list[Session] = []
    for replicate, plots in design.blocks():
        starts = [_plan_start(chapter, profile, design, plot, replicate, treat) for plot in plots]
        if not profile.fresh_starts:
            starts = _join_equal(starts)
        if turns:
            rounds = max(1, round(profile.rounds * rounds_share))
            sessions.append(
                _side_by_side(design, replicate, starts, profile, conditioning_s, rounds)
            )
            continue
        sessions += [
            Session(
                design.experiment,
                replicate,
                conditioning(start.trials, conditioning_s, start.conditioning),
                start.trials,
            )
            for start in starts
        ]
    return tuple(sessions)


def planned_s(sessions: Sequence[Session]) -> float:
    """Return the expected wall time of the sessions in seconds."""
    return sum(session.planned_s() for session in sessions)


def start_s(deployment: Deployment) -> float:
    """Return the seconds that a deployment should take to start, by its nodes and their hosts."""
    modes: dict[str, Mode] = {host.name: host.mode for host in deployment.hosts}
    nodes = (
        KIND_OF[modes.get(role.host_of(number), AS_IT_IS)].start_s * _SMALL.get(role.role, 1.0)
        for role in deployment.jvm_roles()
        for number in range(1, role.nodes + 1)
    )
    return max(_START_AT_LEAST_S, sum(nodes))


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
        deployment=setup.deployment.flagged(*profile.jvm_flags),
        load=setup.load,
        allowance=setup.allowance,
        probe_interval_s=setup.probe_interval_s,
        disturbances=setup.disturbances,
        stores=dict(setup.stores),
    )


@dataclass(frozen=True)
class _Start:
    """What shares a start: its trials, and the load that comes before them, if one is given."""

    trials: tuple[TrialSpec, ...]
    conditioning: LoadProfile | None


def _plan_start(
    chapter: str,
    profile: Profile,
    design: Design,
    plot: Sequence[Treatment],
    replicate: int,
    treat: Treat,
) -> _Start:
    setups = [treat(treatment) for treatment in plot]
    trials = tuple(
        make_spec(chapter, profile, design.experiment, treatment, replicate, setup)
        for treatment, setup in zip(plot, setups, strict=True)
    )
    _check_shared(trials)
    given = (setup.conditioning for setup in setups if setup.conditioning is not None)
    return _Start(trials, next(given, None))


def _side_by_side(
    design: Design,
    replicate: int,
    starts: Sequence[_Start],
    profile: Profile,
    conditioning_s: float,
    rounds: int,
) -> TurnSession:
    """Return the session of a block in which all treatments take turns."""
    every = [spec for start in starts for spec in start.trials]
    levels = [levels_of(spec.treatment) for spec in every]

    def taking_turns(spec: TrialSpec) -> TrialSpec:
        phases = in_turns(spec.load.phases, profile, rounds)
        load = spec.load.model_copy(update={"phases": phases})
        others = tuple(sorted(each for each in levels if each != levels_of(spec.treatment)))
        # checked again as a whole: not every load, nor every trial, can take turns
        turns = profile.turns
        changed = spec.model_copy(
            update={"beside": others, "load": load, "probe_interval_s": turns.counted_s}
        )
        try:
            return TrialSpec.model_validate_json(changed.model_dump_json())
        except ValidationError as error:
            raise UsageError(
                found=f"design {design.experiment!r} in turns, of which a trial cannot take any",
                expected=first_fault(error),
                next_step="leave 'turns' out of lab.add(...), or see 'Treatments that take turns' "
                "on the page on writing a chapter",
            ) from error

    sessions = []
    for start in starts:
        trials = tuple(taking_turns(spec) for spec in start.trials)
        warm = conditioning(start.trials, conditioning_s, start.conditioning)
        sessions.append(Session(design.experiment, replicate, warm, trials))
    return TurnSession(
        design.experiment,
        replicate,
        conditioning=tuple(spec for one in sessions for spec in one.conditioning),
        trials=tuple(spec for one in sessions for spec in one.trials),
        starts=tuple(sessions),
        seed=f"{design.seed}/{design.experiment}/{replicate}",
    )


def _check_shared(trials: tuple[TrialSpec, ...]) -> None:
    if any(trial.deployment != trials[0].deployment for trial in trials):
        raise ValueError(
            "a factor with plot='sub' changes the deployment; declare it with plot='whole', "
            "or keep it out of the deployment"
        )


def _join_equal(starts: list[_Start]) -> list[_Start]:
    """Return fewer starts: plots whose deployments are equal become one."""
    joined: list[_Start] = []
    for start in starts:
        deployment = start.trials[0].deployment
        same = [n for n, one in enumerate(joined) if one.trials[0].deployment == deployment]
        if same:
            one = joined[same[0]]
            load = one.conditioning or start.conditioning
            joined[same[0]] = _Start(one.trials + start.trials, load)
        else:
            joined.append(start)
    return joined


def conditioning(
    trials: Sequence[TrialSpec], seconds: float, given: LoadProfile | None = None
) -> tuple[TrialSpec, ...]:
    """Return the loads that follow a fresh start: the given one, or the plot's heaviest.

    Each lasts for so many seconds at most. A closed load has few users in it at first, who do not
    think, and paced users hurry: at its own pace a JVM would be busy warming up for minutes, and
    throughput would not tell when it is warm.

    A load long enough to settle comes a second time, with all its users. For machine code is made
    for what there was: where a connection ends, or more of them come than ever before, large
    methods are thrown away and made again for seconds, which the first trial would have to share.
    """
    if seconds <= 0:
        return ()
    heaviest = max(trials, key=lambda trial: trial.load.arrivals.users)
    load = given or heaviest.load
    loads = [_hurried(load, seconds, FEW_USERS)]
    if seconds > SETTLES_AFTER_S:
        loads.append(_hurried(load, seconds, load.arrivals.users))
    first = heaviest.model_copy(update={"purpose": "conditioning", "disturbances": ()})
    return tuple(first.model_copy(update={"load": load}) for load in loads)


def _hurried(load: LoadProfile, seconds: float, most_users: int) -> LoadProfile:
    """Return a load of one phase whose users do not wait."""
    arrivals: Arrivals = load.arrivals
    changed: dict[str, float] = {"ramp_s": 0.0, "warmup_s": 0.0, "measured_s": seconds}
    workers = load.workers
    if isinstance(arrivals, ClosedLoop):
        arrivals = ClosedLoop(users=min(arrivals.users, most_users))
        workers = min(workers, arrivals.users)
    elif isinstance(arrivals, PacedUsers):
        arrivals = arrivals.hastened(HASTE)
        changed["drain_s"] = HURRIED_DRAIN_S
    phases = load.phases.model_copy(update=changed)
    return load.model_copy(update={"phases": phases, "arrivals": arrivals, "workers": workers})
