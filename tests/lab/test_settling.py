"""When a conditioning load may end."""

import math

from sizebook.lab.settling import LOOK_BACK_S, Settling


def first_settled(rate, seconds=60, code=lambda _: None):
    """Return the second at which a load of this rate (by second) is said to have settled.

    ``code`` is the machine code that there is by then.
    """
    settling, done = Settling(), 0.0
    for second in range(1, seconds + 1):
        done += rate(second)
        if settling.settled(float(second), round(done), code(second)):
            return second
    return None


def test_an_even_rate_settles_as_soon_as_it_can_be_judged():
    assert first_settled(lambda _: 1000) == 2 * LOOK_BACK_S


def test_a_rising_rate_goes_on_until_it_flattens():
    """Approaches 1000/s with a time constant of 4 s; the rise in 3 s is below 3 % after ~12 s."""
    at = first_settled(lambda s: 1000 * (1 - 0.6 * math.exp(-s / 4)))
    assert 10 <= at <= 16
    assert first_settled(lambda s: 1000 * 1.03**s) is None


def test_a_handful_of_requests_says_nothing():
    """Ten a second scatter by more than the rise that is looked for: it lasts its full time."""
    assert first_settled(lambda _: 10) is None
    assert first_settled(lambda _: 40) == 2 * LOOK_BACK_S


def test_a_load_without_answers_never_settles():
    assert first_settled(lambda _: 0) is None


def test_compilers_at_work_keep_a_load_going():
    """10 MB and 20 MB that come with a time constant of 5 s: 1 % in 3 s is left after 20 s."""
    at = first_settled(lambda _: 1000, code=lambda s: 1e7 + 2e7 * (1 - math.exp(-s / 5)))
    assert 19 <= at <= 22
    assert first_settled(lambda _: 1000, code=lambda s: 1e6 * s) is None
    assert first_settled(lambda _: 1000, code=lambda _: 0.0) == 2 * LOOK_BACK_S
