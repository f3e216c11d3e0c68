"""The laws of scalability agree with the numbers that the R package ``usl`` prints."""

import numpy as np
import pytest
from scipy import stats

from sizebook.stats.curves import fit
from sizebook.stats.holdout import choose, hold_out
from sizebook.stats.scaling import SIZE, curves, limit_rate, peak_size, universal

# SPEC SDM 91 on a SPARCcenter 2000, and a ray tracer: the data sets of the R package usl (Moeding).
SDM91 = (
    [1, 18, 36, 72, 108, 144, 216],
    [64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2],
)
RAYTRACER = ([1, 4, 8, 12, 16, 20], [20, 78, 130, 170, 190, 200])


def law(name, data):
    size, throughput = data
    curve = next(one for one in curves(size, throughput) if one.name == name)
    return fit(curve, {SIZE: size}, throughput)


def test_the_universal_law_fits_as_the_r_package_does():
    """Coefficients, errors and fitted values of specsdm91, as usl's README prints them."""
    found = law("universal", SDM91)
    printed = {
        "sigma": (0.0277285, 0.0091217),
        "kappa": (0.0001044, 0.0000199),
        "rate": (89.9952330, 14.2134894),
    }
    for name, (value, error) in printed.items():
        assert found.estimates[name].value == pytest.approx(value, rel=1e-3)
        assert found.estimates[name].error == pytest.approx(error, rel=5e-3)
    assert found.deviation == pytest.approx(82.8, abs=0.05)
    fitted = found.predict({SIZE: SDM91[0]})
    assert np.round(fitted) == pytest.approx([90, 1078, 1541, 1850, 1879, 1822, 1646])


def test_its_standard_errors_are_those_of_the_r_package():
    """Ray tracer, first six points: coef and confint as the package's own tests have them.

    Its confint takes the 95 % quantile of t with n - 1 degrees of freedom, which is no 95 %
    interval (R/confint.R); ours takes the 97.5 % one with those that the parameters leave.
    """
    found = law("universal", RAYTRACER)
    printed = {
        "sigma": (0.02444, 0.00754, 0.04135),
        "kappa": (0.00163, 0.00110, 0.00215),
        "rate": (20.85605, 19.26717, 22.44492),
    }
    for name, (value, low, high) in printed.items():
        one = found.estimates[name]
        assert one.value == pytest.approx(value, rel=5e-3)
        assert one.error == pytest.approx((high - low) / 2 / stats.t.ppf(0.95, 5), rel=0.01)
        assert one.high - one.value == pytest.approx(stats.t.ppf(0.975, 3) * one.error)


def test_points_of_the_law_give_its_coefficients():
    """The package's made-up points: 0.02, 0.02 and 1."""
    found = law("universal", ([1, 2, 4, 6, 8, 10], [1, 1.8868, 3.0769, 3.5294, 3.5398, 3.3557]))
    assert [found.estimates[name].value for name in ("sigma", "kappa", "rate")] == pytest.approx(
        [0.02, 0.02, 1.0], rel=1e-3
    )


def test_peak_and_limit():
    """Where throughput is greatest, and what it stays below (peak.scalability and others)."""
    assert peak_size(0.0277285, 0.0001044) == pytest.approx(96.51956, rel=1e-3)
    assert peak_size(0.001, 0.00001) == pytest.approx(316.0696, rel=1e-6)
    assert limit_rate(89.9952330, 0.0277285) == pytest.approx(3245.589, rel=1e-4)
    assert limit_rate(89.9952330, 0.001) == pytest.approx(89995.23, rel=1e-6)
    assert peak_size(0.1, 0.0) is None
    assert limit_rate(10.0, 0.0) is None
    assert peak_size(1.0, 0.0) == 1.0


def test_simpler_laws_are_special_cases():
    """Without κ the law is Amdahl's, without σ too it is linear; one alone has the rate."""
    size = np.array([1.0, 2.0, 4.0])
    assert universal(size, 5.0) == pytest.approx(5.0 * size)
    assert universal(size, 5.0, 0.25) == pytest.approx(5.0 * size / (0.75 + 0.25 * size))
    assert universal(1, 5.0, 0.3, 0.1) == pytest.approx(5.0)


def test_without_points_there_is_nothing_to_start_from():
    """No laws for no points."""
    with pytest.raises(ValueError, match="no points"):
        curves([], [])


@pytest.mark.parametrize(
    ("truth", "expected"),
    [
        (lambda n: 10 * n, "linear"),
        (lambda n: np.minimum(10 * n, 55.0), "saturating"),
        (lambda n: universal(n, 10, 0.2), "amdahl"),
        (lambda n: universal(n, 10, 0.05, 0.01), "universal"),
    ],
)
def test_left_out_levels_find_the_law_behind_the_points(truth, expected):
    """Each law predicts points of its own best, with three replicates and 1 % of noise."""
    random = np.random.default_rng(4)
    size = np.repeat([1.0, 2.0, 4.0, 6.0, 8.0, 12.0, 16.0], 3)
    seen = truth(size) * np.exp(random.normal(0, 0.01, size.size))
    found = {
        one.name: hold_out(one, {SIZE: size}, seen, list(size), relative=True)
        for one in curves(size, seen)
    }
    best = found[choose(found)].median_error
    assert found[expected].median_error <= best * 1.25
    assert found[expected].median_error < 0.03
