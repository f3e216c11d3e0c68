"""From a server's answer to our metrics, and why one of them has no value."""

from __future__ import annotations

import difflib
import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping

from sizebook.probes.exposition import Line, Point, read_line, read_number, read_points, split_lines
from sizebook.probes.series import Series

_MAX_KNOWN = 10_000
_MOST = float.fromhex("0x1.fffffffffffffp+1023")
_NAMED = 3

Known = dict[str, tuple[tuple[str, float, float], ...]]
"""Name and labels of a line, as they are written, to our metrics, their units and least values."""


def gather(
    text: str,
    series: Mapping[str, list[Series]],
    known: Known | None = None,
    left_out: set[str] | None = None,
) -> Iterator[tuple[str, float | None]]:
    """Yield (metric, value) for every declared metric; None for one that the node lacks.

    Labelled metrics appear with the values that the node has, and not at all if it has none. What
    is no finite number, or less than nothing where that cannot be, is missing; ``left_out`` gets
    the metrics of which a point was. ``known`` keeps what a line's name and labels mean from one
    scrape to the next, where only values change: reading takes a third of the time with it.
    """
    sums: dict[str, float | None] = {
        one.metric: None for some in series.values() for one in some if not one.label
    }
    known = {} if known is None else known
    for line in split_lines(text):
        key, _, word = line.rpartition(" ")
        parts = known.get(key)
        if parts is None:
            found = read_line(line, series)
            parts = tuple(_parts(found.point, series)) if found is not None else ()
            value = found.point.value if found is not None else 0.0
            if len(known) < _MAX_KNOWN and _is_whole(key, found):
                known[key] = parts
        elif parts:
            value = read_number(word, line)
        for metric, factor, least in parts:
            # Micrometer says NaN for a gauge whose object is gone.
            if least <= value <= _MOST:
                sums[metric] = (sums.get(metric) or 0.0) + value / factor
            elif left_out is not None:
                left_out.add(metric)
    yield from sums.items()


def _is_whole(key: str, found: Line | None) -> bool:
    """Return whether a key is name and labels: not with a value before a time stamp or exemplar."""
    if found is not None:
        return len(key) == found.key_length
    return bool(key) and (" " not in key or key.endswith("}")) and " # {" not in key


def _parts(point: Point, series: Mapping[str, list[Series]]) -> Iterator[tuple[str, float, float]]:
    """Yield the metrics that a point is a part of, each with its unit and the least it can be."""
    for one in series[point.name]:
        if one.takes(point.labels) and not one.mixes(point.labels):
            label = point.labels.get(one.label, "")
            metric = f"{one.metric}/{label}" if one.label else one.metric
            yield metric, one.factor, 0.0 if one.is_amount else -_MOST


class Reasons:
    """Why metrics that were asked for had no value, or not all of it, over a number of readings."""

    def __init__(self, series: Mapping[str, list[Series]]) -> None:
        self._declared: dict[str, list[Series]] = {}
        for some in series.values():
            for one in some:
                self._declared.setdefault(one.metric, []).append(one)
        self.readings = 0
        self._why: dict[str, Counter[str]] = {}
        self._last: dict[str, str] = {}

    def note(
        self, text: str, values: Mapping[str, float | None], left_out: Collection[str]
    ) -> None:
        """Note a reading. A reason is looked for once as long as it lasts: that takes a while."""
        self.readings += 1
        for metric in self._declared:
            if values.get(metric) is not None and metric not in left_out:
                self._last.pop(metric, None)
                continue
            if metric not in self._last or metric in left_out:
                self._last[metric] = explain(text, self._declared[metric])
            self._why.setdefault(metric, Counter())[self._last[metric]] += 1

    def told(self) -> dict[str, str]:
        """Return metric to reason, with how often where it had values at other times."""
        words: dict[str, str] = {}
        for metric, reasons in self._why.items():
            often = reasons.most_common(_NAMED)
            always = len(reasons) == 1 and often[0][1] == self.readings
            words[metric] = "; ".join(
                why if always else f"{why} ({times} of {self.readings} readings)"
                for why, times in often
            )
        return words


def explain(text: str, declared: Collection[Series]) -> str:
    """Return in words what keeps an answer from having all of a metric."""
    said = []
    for one in declared:
        points = list(read_points(text, {one.name}))
        taken = [point for point in points if one.takes(point.labels)]
        if not points:
            said.append(f"no series {one.name} in the answer{_near(one.name, text)}")
        elif not taken:
            said.append(_unmatched(one, points))
        elif mixed := sorted({label for p in taken if (label := one.mixes(p.labels))}):
            value = next(point.labels[mixed[0]] for point in taken if mixed[0] in point.labels)
            said.append(
                f"{one.name} has a value by {mixed[0]}, of which no sum makes sense: "
                f"name one in 'where', such as {mixed[0]}={value}"
            )
        else:
            odd = [word for point in taken if (word := _oddity(one, point.value))]
            words = " and ".join(dict.fromkeys(odd))
            few = f"{len(odd)} of {len(taken)} points, left out, are" if len(taken) > 1 else "is"
            said += [f"{one.name}: {few} {words}"] if odd else []
    return "; ".join(said)[:500]


def _oddity(one: Series, value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return "less than nothing" if one.is_amount and value < 0 else ""


def _unmatched(one: Series, points: Collection[Point]) -> str:
    wanted = ", ".join(f"{label}={pattern}" for label, pattern in one.where.items())
    there = sorted(
        {
            f"{label}={point.labels[label]}" if label in point.labels else f"no {label}"
            for point in points
            for label in one.where
        }
    )
    rest = ", …" if len(there) > _NAMED else ""
    return (
        f"none of the {len(points)} points of {one.name} has {wanted}; "
        f"there is {', '.join(there[:_NAMED])}{rest}"
    )


def _near(name: str, text: str) -> str:
    """Return the names in an answer that this one may have been meant to be, in words."""
    begins = (line.partition("{")[0].split(None, 1) for line in split_lines(text))
    names = {words[0] for words in begins if words}
    parts = sorted(each for each in names if each.startswith(f"{name}_"))
    near = [*parts, *difflib.get_close_matches(name, sorted(names - {*parts}), _NAMED)][:_NAMED]
    return f"; near it: {', '.join(near)}" if near else ""
