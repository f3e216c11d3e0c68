"""Colours that everyone can tell apart, on paper and on a dark page."""

from __future__ import annotations

from itertools import combinations

import altair as alt
import numpy as np
import pytest
from numpy.typing import NDArray

from sizebook.lab import MODES
from sizebook.report import theme

Colour = NDArray[np.float64]

# Machado, Oliveira, Fernandes (2009), severity 1.0, on linear RGB
SEEN_BY = {
    "all": np.eye(3),
    "deuteranopes": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "protanopes": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE_POINT = np.array([0.9505, 1.0, 1.089])


def to_linear(colour: str) -> Colour:
    """Give linear RGB of a colour such as ``#0072b2`` (IEC 61966-2-1)."""
    parts = np.array([int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def to_lab(linear: Colour) -> Colour:
    """Give CIE L*a*b* of linear RGB."""
    ratio = TO_XYZ @ linear / WHITE_POINT
    f = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def contrast(one: str, other: str) -> float:
    """Give the contrast ratio of WCAG 2.2."""
    low, high = sorted(float(TO_XYZ[1] @ to_linear(each)) for each in (one, other))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("colour", theme.PALETTE)
@pytest.mark.parametrize("background", ["#ffffff", "#121212"])
def test_every_colour_stands_out(colour: str, background: str) -> None:
    """Each colour has a contrast of 3:1 on white and on the dark page."""
    assert contrast(colour, background) >= 3


@pytest.mark.parametrize("background", ["#ffffff"])
def test_ink_can_be_read(background: str) -> None:
    """Text has a contrast of 4.5:1."""
    for colour in (theme.INK, theme.DOUBT, theme.FAINT):
        assert contrast(colour, background) >= 4.5


@pytest.mark.parametrize("seen_by", SEEN_BY)
def test_first_five_colours_can_be_told_apart(seen_by: str) -> None:
    """The first five differ by ten units of CIE76 for each kind of sight."""
    seen = [
        to_lab(np.clip(SEEN_BY[seen_by] @ to_linear(colour), 0, 1)) for colour in theme.PALETTE[:5]
    ]
    assert min(float(np.linalg.norm(a - b)) for a, b in combinations(seen, 2)) >= 10


def test_a_treatment_keeps_its_colour() -> None:
    """A listed treatment has one colour, whatever stands beside it and in whatever order."""
    alone = theme.treatment_slots(["odata-atom"])["odata-atom"]
    for names in (["rest-json", "odata-atom"], ["odata-atom", "zeta", "odata-json", "rest-json"]):
        assert theme.treatment_slots(names)["odata-atom"] == alone


@pytest.mark.parametrize("names", [[], ["a"], list("abcdefgh"), ["soap", "xslt", "http", "g1"]])
def test_no_two_treatments_share_a_colour(names: list[str]) -> None:
    """Also names that no list knows, and names of several lists, get colours of their own."""
    slots = theme.treatment_slots(names)
    assert list(slots) == names
    assert len(set(slots.values())) == len(names)


def test_too_many_or_repeated_treatments_are_refused() -> None:
    """Nine colours cannot be told apart, and a name stands once."""
    with pytest.raises(ValueError, match="9 treatments"):
        theme.treatment_slots(list("abcdefghi"))
    with pytest.raises(ValueError, match="named twice"):
        theme.treatment_slots(["a", "a"])


def test_scales_follow_the_slots() -> None:
    """Colour and dash of a treatment come from the same slot."""
    names = ["rest-json", "odata-json"]
    slots = theme.treatment_slots(names)
    scale = theme.treatment_scale(names).to_dict()
    assert scale == {"domain": names, "range": [theme.PALETTE[slots[name]] for name in names]}
    dashes = theme.treatment_dashes(names).to_dict()
    assert dashes["range"] == [list(theme.DASHES[slots[name]]) for name in names]


def test_theme_is_in_the_chart_and_not_left_on() -> None:
    """A published chart carries the book's fonts; other charts of a notebook are not changed."""
    before = alt.theme.active
    spec = theme.themed_spec(alt.Chart().mark_point())
    assert spec["config"]["font"] == theme.FONT
    assert alt.theme.active == before


def test_a_mode_keeps_its_colour_in_any_company() -> None:
    """Charts show few modes or all, by what a machine has and a chapter asks."""
    modes = [*MODES]
    whole = theme.treatment_slots(modes)
    assert sorted(whole.values()) == list(range(len(modes)))
    for count in range(1, len(modes)):
        for some in combinations(modes, count):
            assert theme.treatment_slots(some) == {mode: whole[mode] for mode in some}
