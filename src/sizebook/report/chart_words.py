"""What a chart shows, in words computed from its specification: axes, units, ranges, names.

Whoever cannot see the picture gets from them what the caption leaves to the eye.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

_CHANNELS = {"x": "x axis", "y": "y axis", "color": "colours", "row": "rows", "column": "columns"}
_SAME = {"x2": "x", "y2": "y", "xError": "", "facet": "column"}
_PARTS = ("layer", "hconcat", "vconcat", "concat")
_SHOWN_NAMES = 8


@dataclass
class _Axis:
    """One channel of a view: what it is called, and what the data hold of it."""

    title: str = ""
    numbers: list[float] = field(default_factory=list)
    names: dict[str, None] = field(default_factory=dict)
    is_number: bool = True


def describe_chart(spec: Mapping[str, Any]) -> str:
    """Return what a Vega-Lite chart has on its axes, with the range or the names of each.

    Doubts that stand in the picture come first. Views that read the same are told once; a chart
    without data or titles gives an empty text.
    """
    views = dict.fromkeys(_words(axes) for axes in _views(spec, spec.get("datasets", {})))
    return " ".join([*_doubts(spec), *(view for view in views if view)])


def _doubts(spec: Mapping[str, Any]) -> list[str]:
    title = spec.get("title")
    lines = title.get("subtitle", []) if isinstance(title, Mapping) else []
    text = lines if isinstance(lines, str) else " ".join(lines)
    return [f"{text.rstrip('.')}."] if text else []


def _views(spec: Mapping[str, Any], datasets: Mapping[str, Any]) -> Iterator[dict[str, _Axis]]:
    """Give the axes of each single view; the layers of one share theirs."""
    for part in ("hconcat", "vconcat", "concat"):
        for each in spec.get(part, ()):
            yield from _views({"data": spec.get("data"), **each}, datasets)
    inner = dict(spec.get("spec", spec))
    inner.setdefault("data", spec.get("data"))
    facet = spec.get("facet", {})
    axes: dict[str, _Axis] = {}
    outer = {"column": facet} if "field" in facet else facet
    _gather(inner, {}, inner.get("data"), datasets, axes)
    _read(outer, _rows(spec.get("data"), datasets), axes)
    if axes:
        yield axes


def _gather(
    view: Mapping[str, Any],
    inherited: Mapping[str, Any],
    data: Any,
    datasets: Mapping[str, Any],
    axes: dict[str, _Axis],
) -> None:
    encoding = {**inherited, **view.get("encoding", {})}
    data = view.get("data") or data
    if "layer" in view:
        for each in view["layer"]:
            _gather(each, encoding, data, datasets, axes)
    elif not any(part in view for part in _PARTS):
        _read(encoding, _rows(data, datasets), axes)


def _rows(data: Any, datasets: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    if not isinstance(data, Mapping):
        return ()
    found = data.get("values", datasets.get(data.get("name", ""), ()))
    return found if isinstance(found, list) else ()


def _read(
    encoding: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], axes: dict[str, _Axis]
) -> None:
    """Add what an encoding shows of the rows; the first title of a channel is its name."""
    for name, about in encoding.items():
        channel = _SAME.get(name, name)
        if channel not in _CHANNELS or not isinstance(about, Mapping) or "field" not in about:
            continue
        axis = axes.setdefault(channel, _Axis())
        axis.title = axis.title or _title(about)
        kind = about.get("type", "quantitative" if name in _SAME else "nominal")
        for row in rows:
            value = row.get(about["field"])
            if isinstance(value, int | float) and not isinstance(value, bool):
                if math.isfinite(value):
                    axis.numbers.append(float(value))
            elif value is not None:
                axis.names.setdefault(" ".join(str(value).split()))
                axis.is_number = False
        axis.is_number = axis.is_number and kind != "nominal"


def _title(about: Mapping[str, Any]) -> str:
    inside = about.get("axis") or about.get("legend") or about.get("header") or {}
    title = about.get("title", inside.get("title") if isinstance(inside, Mapping) else None)
    return " ".join(title) if isinstance(title, list) else str(title or "")


def _words(axes: Mapping[str, _Axis]) -> str:
    told = []
    for channel, where in _CHANNELS.items():
        axis = axes.get(channel)
        if axis is None or not (axis.numbers or axis.names):
            continue
        title = f"{axis.title}, " if axis.title else ""
        told.append(f"{where}: {title}{_content(axis)}")
    return f"{'; '.join(told)}." if told else ""


def _content(axis: _Axis) -> str:
    if axis.is_number and axis.numbers:
        low, high = min(axis.numbers), max(axis.numbers)
        return _number(low) if low == high else f"{_number(low)} to {_number(high)}"
    names = [*axis.names, *dict.fromkeys(_number(each) for each in axis.numbers)]
    more = len(names) - _SHOWN_NAMES
    shown = ", ".join(names[:_SHOWN_NAMES])
    return f"{shown} and {more} more" if more > 0 else shown


def _number(value: float) -> str:
    if value == 0 or 1e-3 <= abs(value) < 1e3:
        return f"{value:.3g}"
    return f"{value:,.0f}" if abs(value) >= 1e3 else f"{value:.2e}"
