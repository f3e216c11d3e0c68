"""How long and how often: the three profiles."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sizebook.model.errors import UsageError
from sizebook.model.load import Phases, Turns
from sizebook.model.trial import ProfileName


@dataclass(frozen=True)
class Profile:
    """Durations and replicates of one profile; chapters may ask for longer where they need it."""

    name: ProfileName
    replicates: int
    conditioning_s: float
    """Longest of the loads after each fresh start of the stack, before its first trial; they end
    when throughput has settled."""
    phases: Phases
    fresh_starts: bool
    """True: every whole plot has its own start of the stack; False: equal deployments share one."""
    publishable: bool
    turns: Turns
    """Turns of treatments that are compared side by side."""
    rounds: int
    """Turns of each that count."""
    warm_turns: int
    """Turns of each before them, which do not."""
    repeats: int
    """How often at most a trial is measured again in which the machine was not ours."""
    promise: str
    jvm_flags: tuple[str, ...] = ()
    """Flags of every JVM of the stack, after its own."""


PROFILES: dict[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile(
            "smoke",
            replicates=1,
            conditioning_s=0.3,
            phases=Phases(warmup_s=0.2, measured_s=0.3),
            fresh_starts=False,
            publishable=False,
            turns=Turns(turn_s=0.6, settle_s=0.2),
            rounds=2,
            warm_turns=1,
            repeats=0,
            promise="seconds a trial, by JVMs without their second compiler; proves that "
            "everything works, its numbers mean nothing",
            # what lives for seconds never earns back what its best machine code costs
            jvm_flags=("-XX:TieredStopAtLevel=1",),
        ),
        Profile(
            "quick",
            replicates=3,
            conditioning_s=45.0,
            phases=Phases(warmup_s=0.3, measured_s=1.5),
            fresh_starts=True,
            publishable=True,
            turns=Turns(),
            rounds=20,
            warm_turns=1,
            repeats=2,
            promise="minutes a chapter; enough replicates to tell large effects from noise",
        ),
        Profile(
            "full",
            replicates=10,
            conditioning_s=90.0,
            phases=Phases(warmup_s=5.0, measured_s=30.0),
            fresh_starts=True,
            publishable=True,
            turns=Turns(),
            rounds=60,
            warm_turns=2,
            repeats=2,
            promise="hours; the reports' own levels and durations",
        ),
    )
}


def in_turns(phases: Phases, profile: Profile, rounds: int = 0) -> Phases:
    """Return the phases of a load that takes turns, with a profile's turns and rounds.

    Of the load's own lengths only the drain stays. ``rounds`` are those that count; 0: as many as
    the profile has.
    """
    return Phases(
        warmup_s=profile.warm_turns * profile.turns.turn_s,
        measured_s=(rounds or profile.rounds) * profile.turns.counted_s,
        drain_s=phases.drain_s,
        turns=profile.turns,
    )


MOST_REPLICATES = 1000
"""More blocks than this are a slip of the keyboard, and would take years."""


def get_profile(name: str, replicates: int = 0) -> Profile:
    """Return the named profile, with another number of ``replicates`` if one is given.

    Raises UsageError for an unknown name, with the names there are, and for a number below 0 or
    above ``MOST_REPLICATES``.
    """
    if name not in PROFILES:
        raise UsageError(
            found=f"profile {name!r}",
            expected=f"one of {', '.join(PROFILES)}",
            next_step="choose one of them, for example PROFILE=quick",
        )
    if not 0 <= replicates <= MOST_REPLICATES:
        raise UsageError(
            found=f"replicates={replicates}",
            expected=f"1 to {MOST_REPLICATES}, or 0 for the {PROFILES[name].replicates} of "
            f"profile {name}",
            next_step="choose another number",
        )
    return replace(PROFILES[name], replicates=replicates or PROFILES[name].replicates)
