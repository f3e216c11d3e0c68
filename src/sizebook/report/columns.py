"""Names of columns that charts do not read as commands."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ParamSpec, TypeVar

import altair as alt
import polars as pl

_P = ParamSpec("_P")
_Chart = TypeVar("_Chart")

_ALIKE = str.maketrans(".:[]'\"\\()", "\u2024\u2236\uff3b\uff3d\u2019\u201d\uff3c\uff08\uff09")
"""Signs that look like those that charts read as a path, a type, a quotation or a function."""
_COMMANDS = frozenset(".:[]'\"\\")


def named_plainly(
    *parameters: str,
) -> Callable[[Callable[_P, _Chart]], Callable[_P, _Chart]]:
    """Let a chart take columns of any name.

    ``parameters`` are those of the chart's that name a column, or several, of its frames. Where
    Altair or Vega-Lite would read a name as a command (``pool.size`` as a path, ``a:b`` as a type,
    ``mean(x)`` as a function), the chart gets frames whose column has a name that looks alike.
    They know escapes for some of the signs in some places only: none of Vega-Lite's keeps a double
    quote, none of Altair's a name that is a function. All other names and charts stay as they are.
    """

    def decorate(chart: Callable[_P, _Chart]) -> Callable[_P, _Chart]:
        signature = inspect.signature(chart)

        @functools.wraps(chart)
        def drawn(*args: _P.args, **kwargs: _P.kwargs) -> _Chart:
            given = signature.bind(*args, **kwargs)
            frames = {
                name: value
                for name, value in given.arguments.items()
                if isinstance(value, pl.DataFrame)
            }
            named = {name: given.arguments[name] for name in parameters if name in given.arguments}
            renamed = _renamed(
                _texts(named.values()), {c for f in frames.values() for c in f.columns}
            )
            if not renamed:
                return chart(*args, **kwargs)
            for name, frame in frames.items():
                given.arguments[name] = frame.rename(renamed, strict=False)
            for name, value in named.items():
                given.arguments[name] = _replace(value, renamed)
            return chart(*given.args, **given.kwargs)

        return drawn

    return decorate


def _replace(value: Any, renamed: dict[str, str]) -> Any:
    if isinstance(value, str):
        return renamed.get(value, value)
    return None if value is None else type(value)(_replace(each, renamed) for each in value)


def _texts(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        if isinstance(value, str):
            yield value
        elif value is not None:
            yield from value


def _renamed(named: Iterable[str], columns: set[str]) -> dict[str, str]:
    """Return new names of those columns that a chart names and that cannot keep theirs."""
    renamed: dict[str, str] = {}
    for name in dict.fromkeys(named):
        if name not in columns or not _is_command(name):
            continue
        other = name.translate(_ALIKE)
        while other in columns or other in renamed.values():
            other += "\u2032"
        renamed[name] = other
    return renamed


def _is_command(name: str) -> bool:
    return bool(_COMMANDS & {*name}) or alt.utils.parse_shorthand(name) != (
        {"field": name} if name else {}
    )
