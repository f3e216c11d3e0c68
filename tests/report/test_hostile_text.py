"""Text from data in charts and prose: control characters do nothing, least of all end a build."""

from __future__ import annotations

import xml.dom.minidom

import altair as alt
import polars as pl
import pytest

from sizebook.report.chart import prepare_chart, render_svg
from sizebook.report.wording import format_scalar


@pytest.mark.parametrize("text", ["a\x00b", "\x1b[2J", "\x01", "\ufffe", "\u202ex", "<b>&\"'"])
def test_a_chart_of_any_text_is_a_picture(text: str) -> None:
    """Levels, titles, names of fields and doubts: the SVG is XML, the library does not abort."""
    frame = pl.DataFrame({"name": [text, "plain"], "n": [1, 2]})
    chart = alt.Chart(frame, title=text).mark_bar().encode(x=alt.X("n:Q", title=text), y="name:N")
    spec, _ = prepare_chart(chart, doubts=[text])
    drawn = render_svg(spec)
    assert xml.dom.minidom.parseString(drawn).documentElement.tagName == "svg"
    assert not set("\x00\x1b\x01\ufffe\u202e") & set(drawn)


def test_a_chart_of_plain_text_is_left_as_it_is() -> None:
    """Letters of any language, spaces of any width and ends of lines are no control characters."""
    frame = pl.DataFrame({"größe": ["1\u202fms", "zwei\nZeilen"], "n": [1, 2]})
    chart = alt.Chart(frame).mark_bar().encode(x="n:Q", y="größe:N")
    spec, _ = prepare_chart(chart)
    (rows,) = spec["datasets"].values()
    assert [row["größe"] for row in rows] == ["1\u202fms", "zwei\nZeilen"]


def test_text_in_prose_does_not_turn_the_sentence_around() -> None:
    """A mark that reverses the direction of writing would reverse the numbers behind it."""
    assert format_scalar("users \u202e 5", "") == r"users \u202e 5"
    assert format_scalar("1\u202f000", "") == "1\u202f000"
