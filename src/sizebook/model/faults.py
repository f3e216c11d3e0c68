"""What pydantic found wrong, in the words of our messages."""

from __future__ import annotations

from pydantic_core import ErrorDetails

_BOUNDS = {
    "greater_than": ("gt", "above"),
    "greater_than_equal": ("ge", "at least"),
    "less_than": ("lt", "below"),
    "less_than_equal": ("le", "at most"),
}


_WORDS = {"extra_forbidden": "a field that it has", "missing": "a value"}


def wanted(fault: ErrorDetails) -> str:
    """Return what a field should have been: "above 0", "a finite number", or a rule's own words."""
    kind = fault["type"]
    if kind in _BOUNDS:
        bound, words = _BOUNDS[kind]
        return f"{words} {fault['ctx'][bound]}"
    if kind in _WORDS:
        return _WORDS[kind]
    return fault["msg"].removeprefix("Value error, ").removeprefix("Input should be ")


def place_of(fault: ErrorDetails) -> str:
    """Return the path to the field; empty for a rule over several fields."""
    return ".".join(str(step) for step in fault["loc"])
