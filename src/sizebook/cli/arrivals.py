"""The arrivals of a trial by hand, from its flags."""

from __future__ import annotations

from sizebook.model.errors import UsageError
from sizebook.model.load import (
    Arrivals,
    ClosedLoop,
    OpenArrivals,
    PacedGroup,
    PacedUsers,
    RampArrivals,
    StaircaseArrivals,
    Step,
)


def choose_arrivals(
    users: int,
    rate: float,
    poisson: bool,
    steps: tuple[Step, ...],
    groups: tuple[PacedGroup, ...],
    ramp_to: float | None,
    measured_s: float,
    think_s: float,
) -> Arrivals:
    """Return the arrivals that the flags of a trial ask for.

    Raises UsageError for flags that exclude each other.
    """
    if steps and (rate > 0 or ramp_to is not None):
        raise UsageError(
            found="--step beside --rate or --ramp-to",
            expected="steps alone, or a rate",
            next_step="see 'sizebook trial --help'",
        )
    if groups and (steps or rate > 0 or ramp_to is not None or think_s > 0):
        raise UsageError(
            found="--pace beside --step, --rate, --ramp-to or --think",
            expected="paced users alone: their periods say when they begin",
            next_step="see 'sizebook trial --help'",
        )
    if groups:
        return PacedUsers(groups=groups)
    if steps:
        return StaircaseArrivals(steps=steps, users=users, poisson=poisson)
    if ramp_to is not None:
        return RampArrivals(
            begin_per_s=rate, end_per_s=ramp_to, over_s=measured_s, users=users, poisson=poisson
        )
    if rate <= 0:
        return ClosedLoop(users=users, think_s=think_s)
    return OpenArrivals(kind="poisson" if poisson else "constant", rate_per_s=rate, users=users)


def parse_steps(texts: list[str]) -> tuple[Step, ...]:
    """Return ``rate:seconds`` texts as steps; raises UsageError for anything else."""
    steps = []
    for text in texts:
        rate, _, length = text.partition(":")
        try:
            steps.append(Step(rate_per_s=float(rate), length_s=float(length)))
        except ValueError as error:  # of float, or of the model
            raise UsageError(
                found=f"step {text!r}",
                expected="RATE:SECONDS, such as 200:10 for 200 requests a second over 10 s",
                next_step="see 'sizebook trial --help'",
            ) from error
    return tuple(steps)


def parse_groups(texts: list[str]) -> tuple[PacedGroup, ...]:
    """Return ``users:seconds`` or ``users:seconds:name`` texts as groups of paced users.

    Raises UsageError for anything else.
    """
    groups = []
    for text in texts:
        users, _, rest = text.partition(":")
        period, _, name = rest.partition(":")
        try:
            groups.append(PacedGroup(users=int(users), period_s=float(period), name=name))
        except ValueError as error:  # of int, of float, or of the model
            raise UsageError(
                found=f"pace {text!r}",
                expected="USERS:SECONDS, such as 50:10 for 50 users who each begin every 10 s, or "
                "USERS:SECONDS:GROUP",
                next_step="see 'sizebook trial --help'",
            ) from error
    return tuple(groups)
