"""The load of the busiest hours: a percentile that an hour really had."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizebook.usage.rates import HOUR_S, ObservedRates, busiest_hours, hourly_peaks

RATES = st.dictionaries(st.integers(0, 40 * 60).map(lambda m: 60.0 * m), st.floats(0.0, 1e4))


def observed(per_s: dict[float, float]) -> ObservedRates:
    return ObservedRates("made up", per_s, 60.0, {})


def test_the_percentile_is_that_of_the_hours_peaks() -> None:
    """Of twenty hours with peaks 1 to 20, 95 % have at most 19; the two busiest reach it."""
    per_s = {hour * HOUR_S + 60.0 * minute: float(hour + 1) / (minute + 1)
             for hour in range(20) for minute in range(3)}  # fmt: skip
    found = busiest_hours(observed(per_s), 95)
    assert (found.rate_per_s, found.hours) == (19.0, 20)
    assert [one.peak_per_s for one in found.busiest] == [20.0, 19.0]
    assert found.busiest[0].begin.isoformat() == "1970-01-01T19:00:00+00:00"
    assert busiest_hours(observed(per_s), 100).rate_per_s == 20.0


@given(RATES, st.floats(0.1, 100.0), st.floats(0.1, 100.0))
def test_a_higher_percentile_is_no_lower_rate(per_s, one, other) -> None:
    """And the share of hours that stay within it is at least the percentile."""
    low, high = sorted((one, other))
    try:
        found = busiest_hours(observed(per_s), low)
    except ValueError:
        return
    assert found.rate_per_s <= busiest_hours(observed(per_s), high).rate_per_s
    peaks = [each.peak_per_s for each in hourly_peaks(per_s)]
    within = sum(peak <= found.rate_per_s for peak in peaks)
    assert within >= len(peaks) * low / 100 * (1 - 1e-12)
    assert found.busiest[-1].peak_per_s == found.rate_per_s


@pytest.mark.parametrize(
    ("per_s", "percentile"),
    [({}, 95), ({0.0: 0.0}, 95), ({0.0: 0.0, 3600.0: 1.0}, 50), ({0.0: 1.0}, 0), ({0.0: 1.0}, 101)],
)
def test_without_requests_there_is_no_load(per_s, percentile) -> None:
    """Nor for a percentile that is none."""
    with pytest.raises(ValueError, match=r"no requests|percentile"):
        busiest_hours(observed(per_s), percentile)
