"""The small picture of a claim's effect: where its parts are, and what it says without eyes."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from sizebook.book.ledger.forest_html import MOST, WIDTH, render_forest


def parts(svg: str) -> dict[str, dict[str, str]]:
    """Return the attributes of each part by its class."""
    root = ElementTree.fromstring(svg)
    return {each.attrib["class"].removeprefix("sb-forest-"): each.attrib for each in root}


def test_places_are_on_the_logarithm() -> None:
    """One is in the middle; twice and half are as far from it."""
    half, twice = (
        parts(render_forest(value, value / 1.1, value * 1.1, None)) for value in (0.5, 2.0)
    )
    left, right = (float(each["effect"]["cx"]) for each in (half, twice))
    assert float(half["one"]["x1"]) == WIDTH / 2
    assert WIDTH / 2 - left == pytest.approx(right - WIDTH / 2, abs=0.11)
    interval = twice["interval"]
    assert float(interval["x1"]) < right < float(interval["x2"])
    assert "reported" not in twice and "beyond" not in twice


def test_what_lies_beyond_ends_in_an_arrow() -> None:
    """Within the picture, on both sides; the words have the numbers."""
    svg = render_forest(2.0, 0.01, 300.0, 1000.0)
    assert svg.count("sb-forest-beyond") == 2
    numbers = [float(each) for each in re.findall(r"(?:x1|x2|cx)='([0-9.]+)'", svg)]
    assert all(0 <= each <= WIDTH for each in numbers)
    label = ElementTree.fromstring(svg).attrib["aria-label"]
    assert label == "2 times, 0.01 to 300; the report has 1,000"
    assert "sb-forest-beyond" not in render_forest(1.0, 1 / MOST, MOST, None)


@pytest.mark.parametrize("effect", [(None, 1.0, 2.0), (1.0, None, None), (0.0, 0.0, 1.0)])
def test_without_an_interval_there_is_no_picture(effect: tuple[float | None, ...]) -> None:
    """Nor for one that reaches zero, which no logarithm has."""
    assert render_forest(*effect, 1.0) == ""
