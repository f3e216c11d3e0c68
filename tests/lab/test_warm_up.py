"""When a conditioning load may end."""

import math

from sizebook.lab.warm_up import LOOK_BACK_S, Settling


def nothing(_):
    """No JVM tells."""


def first_settled(rate, seconds=60, code=nothing, trial_s=10.0, busy_s=nothing, is_last=True):
    """Return the second at which a load of this rate (by second) is said to have settled.

    ``code`` is the machine code that there is by then, ``busy_s`` the time that compilers were at
    work, ``trial_s`` the trial that follows, at once if this load is the last one before it.
    """
    settling, done = Settling(trial_s, is_last), 0.0
    for second in range(1, seconds + 1):
        done += rate(second)
        if settling.settled(float(second), round(done), code(second), busy_s(second)):
            return second
    return None


def test_an_even_rate_settles_as_soon_as_it_can_be_judged():
    assert first_settled(lambda _: 1000) == 2 * LOOK_BACK_S


def test_a_rising_rate_goes_on_until_it_flattens():
    """Approaches 1000/s with a time constant of 4 s; thirds differ by below 3 % after six of it."""
    at = first_settled(lambda s: 1000 * (1 - 0.6 * math.exp(-s / 4)))
    assert 22 <= at <= 26
    assert first_settled(lambda s: 1000 * 1.03**s) is None


def test_a_rest_on_the_way_up_is_no_end():
    """It rises for 9 s, is even for as long, rises for 15 s more: the last level alone ends it."""
    steps = [200] * 3 + [400] * 3 + [600] * 3 + [800] * 9 + [1000] * 8 + [1400] * 7 + [2000] * 90
    at = first_settled(lambda s: steps[s - 1], seconds=120)
    assert 33 + LOOK_BACK_S < at <= 99


def test_a_load_that_another_follows_may_end_in_a_rest():
    """Six even seconds with idle compilers do: the load that follows sees what rises later."""
    steps = [200] * 3 + [400] * 3 + [600] * 3 + [800] * 9 + [1000] * 90
    busy = lambda s: 1.0 * min(s, 11)  # noqa: E731
    at = [first_settled(lambda s: steps[s - 1], is_last=last) for last in (False, True)]
    assert at[0] == 9 + 2 * LOOK_BACK_S < at[1]
    assert first_settled(lambda s: steps[s - 1], busy_s=busy, is_last=False) == 17
    assert first_settled(lambda s: 1000 * 1.03**s, is_last=False) is None


def test_a_handful_of_requests_says_nothing():
    """Few scatter by more than the rise that is looked for: it lasts until there are enough."""
    assert first_settled(lambda _: 1) is None
    assert first_settled(lambda _: 10) == 30
    assert first_settled(lambda _: 40) == 2 * LOOK_BACK_S


def test_a_load_without_answers_never_settles():
    assert first_settled(lambda _: 0) is None


def test_compilers_at_work_keep_a_load_going():
    """10 MB and 20 MB that come with a time constant of 5 s: 1 % in 3 s is left after 20 s."""
    at = first_settled(lambda _: 1000, code=lambda s: 1e7 + 2e7 * (1 - math.exp(-s / 5)))
    assert 19 <= at <= 22
    assert first_settled(lambda _: 1000, code=lambda s: 1e6 * s) is None
    assert first_settled(lambda _: 1000, code=lambda _: 0.0) == 2 * LOOK_BACK_S


def test_a_longer_trial_asks_for_less_of_the_compilers():
    """What is left in 3 s is to be a third of it before 30 s: five seconds of ln 3 later."""
    course = lambda s: 1e7 + 2e7 * (1 - math.exp(-s / 5))  # noqa: E731
    ends = [first_settled(lambda _: 1000, code=course, trial_s=t) for t in (1.0, 10.0, 30.0)]
    assert ends[0] == ends[1]
    assert ends[2] - ends[1] in (5, 6)


def test_a_compiler_busy_with_one_large_method_keeps_a_load_going():
    """It tells of five seconds when they are over; until it is idle for long no stretch has less.

    Methods end at 5, 10, 15 and 20 s; a third of 30 s is the first stretch without any of it.
    """
    large = lambda s: 5.0 * min(s // 5, 4)  # noqa: E731
    assert first_settled(lambda _: 1000, busy_s=large) == 30
    assert first_settled(lambda _: 1000, busy_s=lambda s: 0.05 * s) == 2 * LOOK_BACK_S
    assert first_settled(lambda _: 1000, busy_s=lambda s: 0.2 * s) is None
