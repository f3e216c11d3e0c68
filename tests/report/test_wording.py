"""Numbers in sentences: formatted, escaped, never guessed."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from markdown_it import MarkdownIt

from sizebook.report.wording import (
    MISSING,
    NARROW_SPACE,
    Placeholder,
    Scalar,
    Sentence,
    escape_markdown,
    fill,
    format_scalar,
    parse_template,
    to_scalar,
)


@pytest.mark.parametrize(
    ("value", "spec", "unit", "expected"),
    [
        (12.345, ",.1f", "ms", f"12.3{NARROW_SPACE}ms"),
        (1234567, ",d", "", "1,234,567"),
        (True, "", "", "yes"),
        (False, "", "", "no"),
        ("Atom", "", "", "Atom"),
        (None, ".1f", "ms", MISSING),
    ],
)
def test_value_becomes_words(value: Scalar, spec: str, unit: str, expected: str) -> None:
    """A value takes its format and unit; a missing one says so instead of failing."""
    assert format_scalar(value, spec, unit) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.float64(9.8), 9.8),
        (np.int64(3), 3),
        (np.bool_(True), True),
        (pl.Series([1.5]).max(), 1.5),
        (math.nan, None),
        (np.float32("nan"), None),
        (None, None),
        ("text", "text"),
    ],
)
def test_scalars_are_unwrapped(value: object, expected: Scalar) -> None:
    """NumPy and polars scalars become plain ones, NaN becomes missing."""
    result = to_scalar("x", value)
    assert (result, type(result)) == (expected, type(expected))


def test_what_is_no_number_is_refused() -> None:
    """A list is no scalar, and infinity is no result."""
    with pytest.raises(TypeError, match="x is a list"):
        to_scalar("x", [1])
    with pytest.raises(ValueError, match="x is infinite"):
        to_scalar("x", math.inf)


def test_template_is_taken_apart() -> None:
    """Texts and placeholders alternate; doubled braces are braces."""
    expected = Sentence(("a {b} ", " c ", "."), (Placeholder("x", ".1f"), Placeholder("y", "")))
    assert parse_template("a {{b}} {x:.1f} c {y}.") == expected
    assert fill(expected, {"x": 1.25, "y": None}) == ["1.2", MISSING]
    assert expected.join(["1.2", "z"]) == "a {b} 1.2 c z."


@pytest.mark.parametrize("template", ["{0}", "{}", "{a.b}", "{a[0]}", "{a!r}", "{a:{b}}"])
def test_template_holds_plain_names_only(template: str) -> None:
    """Attributes, indexes, conversions and nested formats are refused."""
    with pytest.raises(ValueError, match="plain name"):
        parse_template(template)


def test_values_and_placeholders_must_agree() -> None:
    """A forgotten and a superfluous value are both named."""
    with pytest.raises(ValueError, match=r"without value: \['x'\]; values without place: \['y'\]"):
        fill(parse_template("{x}"), {"y": 1})


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "*a* _b_ `c` **d** ~~e~~ $f$",
        "[l](javascript:1) ![i](x) www.example.org https://example.org",
        "1. no list",
        "- no list",
        "# no heading",
        "{val}`x#y` {{ z }} | a | b |",
        "a & b &lt; \\* \"q\" 'q'",
        "12.5 ms, 1,234.5 %",
    ],
)
def test_escaped_text_shows_as_it_is(text: str) -> None:
    """Markdown, with links found and tables on, shows the text itself and nothing else."""
    html = MarkdownIt("gfm-like", {"html": True}).render(escape_markdown(text))
    expected = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert html == f"<p>{expected.replace(chr(34), '&quot;')}</p>\n"


def test_numbers_stay_legible_in_the_source() -> None:
    """A plain number needs no entity, so that the notebook's Markdown can be read."""
    assert escape_markdown("1,234.5") == "1,234.5"
