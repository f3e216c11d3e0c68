"""Names and levels of factors reach charts, tables and pages: odd ones are refused at the start."""

import pytest

from sizebook.model.design import Factor
from sizebook.model.errors import UsageError


@pytest.mark.parametrize(
    "name",
    ["", " ", "a.b", "gc:new", "it's", 'a"b', "a[0]", "a]", "a\\b", "a\nb", "a\x1b[2J", "a\u202eb"],
)
def test_a_name_that_a_chart_misreads_is_refused(name):
    """Vega-Lite takes a dot for a path and Altair a colon for a type: the chart would be wrong."""
    with pytest.raises(UsageError, match="rename it"):
        Factor(name, (1, 2))


@pytest.mark.parametrize("name", ["users", "pool_size", "a name", "Größe", "人数", "a-b", "p/q"])
def test_names_of_any_language_are_taken(name):
    assert Factor(name, (1, "a.b", "it's", "x:y")).levels[1] == "a.b"


@pytest.mark.parametrize("level", ["a\nb", "\x1b[31m", "\u202e", float("nan"), float("inf")])
def test_a_level_that_cannot_be_shown_or_stored_is_refused(level):
    with pytest.raises(UsageError, match="level"):
        Factor("users", (1, level))
