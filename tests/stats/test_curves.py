"""Curves are fitted as closed forms say, and their intervals cover what they should."""

import numpy as np
import pytest

from sizebook.stats.curves import Curve, Parameter, fit

LINE = Curve(
    "line",
    (Parameter("slope", -100.0, 100.0, 1.0), Parameter("intercept", -100.0, 100.0, 1.0)),
    lambda columns, values: values[0] * columns["x"] + values[1],
)
DECAY = Curve(
    "decay",
    (Parameter("level", 0.0, 100.0, 1.0), Parameter("rate", 0.0, 10.0, 0.1)),
    lambda columns, values: values[0] * np.exp(-values[1] * columns["x"]),
)
X = np.arange(1.0, 9.0)


def test_points_on_a_curve_give_its_parameters():
    """Without noise the parameters come back, with no width."""
    found = fit(DECAY, {"x": X}, 7.0 * np.exp(-0.3 * X))
    assert found.values == pytest.approx((7.0, 0.3), rel=1e-6)
    assert found.estimates["rate"].error == pytest.approx(0.0, abs=1e-6)
    assert found.predict({"x": [0.0]}) == pytest.approx([7.0], rel=1e-6)


def test_a_line_has_the_intervals_of_ordinary_least_squares():
    """Slope and standard error are those of Anscombe's first set, as he printed them (1973)."""
    x = [10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5]
    y = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68]
    found = fit(LINE, {"x": x}, y)
    slope = found.estimates["slope"]
    assert slope.value == pytest.approx(0.500, abs=5e-4)
    assert slope.error == pytest.approx(0.118, abs=5e-4)
    assert slope.high - slope.value == pytest.approx(2.262 * slope.error, rel=1e-3)


def test_as_many_points_as_parameters_give_no_interval():
    """Two points determine a line, and nothing is left to tell how well."""
    found = fit(LINE, {"x": [1.0, 2.0]}, [3.0, 5.0])
    assert found.values == pytest.approx((2.0, 1.0))
    assert found.deviation is None
    assert found.estimates["slope"].low is None


@pytest.mark.parametrize(
    ("columns", "observed", "relative", "why"),
    [
        ({"x": [1.0]}, [1.0], False, "1 points for the 2 parameters of line"),
        ({"x": [1.0, 2.0]}, [1.0, 2.0, 3.0], False, "different length"),
        ({"x": [1.0, 2.0]}, [1.0, float("nan")], False, "missing"),
        ({"x": [1.0, 2.0]}, [1.0, 0.0], True, "no logarithm"),
    ],
)
def test_what_cannot_be_fitted_is_refused(columns, observed, relative, why):
    """Too few points, ragged columns, missing values, and zeros where shares count."""
    with pytest.raises(ValueError, match=why):
        fit(LINE, columns, observed, relative=relative)


def test_a_parameter_on_its_bound_has_an_interval_that_ends_there():
    """A decay that would have to rise stays level."""
    found = fit(DECAY, {"x": X}, 2.0 + 0.1 * X)
    assert found.estimates["rate"].value == pytest.approx(0.0, abs=1e-9)
    assert found.estimates["rate"].low == 0.0


def test_a_parameter_that_the_points_do_not_tell_is_not_known():
    """Points at one place fix one of two parameters; the other's interval is all it may be."""
    found = fit(LINE, {"x": [2.0, 2.0, 2.0, 2.0]}, [5.0, 5.1, 4.9, 5.0])
    slope = found.estimates["slope"]
    assert (slope.low, slope.high) == (-100.0, 100.0)


def test_intervals_cover_the_truth_as_often_as_they_say():
    """Of 400 seeded samples about 95 in 100 intervals hold the true parameter, either error."""
    random = np.random.default_rng(8)
    truth = {"level": 20.0, "rate": 0.25}
    for relative in (False, True):
        hits = dict.fromkeys(truth, 0)
        for _ in range(400):
            exact = 20.0 * np.exp(-0.25 * X)
            noise = random.normal(0, 0.05, X.size)
            seen = exact * np.exp(noise) if relative else exact + 10 * noise
            found = fit(DECAY, {"x": X}, seen, relative=relative)
            for name, value in truth.items():
                one = found.estimates[name]
                hits[name] += one.low <= value <= one.high
        assert all(0.92 <= count / 400 <= 0.98 for count in hits.values()), hits
