"""Every number that a page shows and that can be told apart: its measure and its trials.

A number of a table stands in a column, which has the name of a measure, and in a row, whose levels
select trials among those that the table cites. Rows of a chart's data are read alike. A number in
prose says itself what it is of (``model.measurand``). Where the trials cannot be told, such as in a
row that has a treatment under another name, the number is left out.
"""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sizebook.book.audit.outputs import ExecutedPage, Output, cited_by
from sizebook.book.flat_data import find_datasets, read_columns, read_table
from sizebook.model.measurand import FIELD, Measurand
from sizebook.model.records import Scalar
from sizebook.report.chart import MIME

Treatments = Mapping[str, Mapping[str, Scalar]]
"""The levels of each trial, by the id of its bundle."""
Measurands = Mapping[tuple[str, str], Measurand]
"""What numbers in prose are of, by page and key."""

_OTHER_FORM = (KeyError, TypeError, AttributeError, ValueError)
"""What reading a chart of another form than Vega-Lite's raises."""
EXACT = 1e-9
"""Share by which numbers that are printed in full may differ."""
_CELL = re.compile(r"([-+\u2212]?[0-9][0-9,]*(?:\.([0-9]+))?)(?:[ \u202f]?%)?(?: \(.*\))?")
_NAMELESS = {"mean", "value", "median", "share", "ratio", "x", "y"}
"""Columns of a chart's data that have the name of a statistic; the axis says what they are."""
_BESIDE = {"low", "high", "n", "replicates", "readings"}
"""Columns that say how well a number is known."""


@dataclass(frozen=True)
class ShownNumber:
    """A number as a reader sees it, and what it is of."""

    page: str
    key: str
    """Key of its table, figure or paragraph."""
    where: str
    """Its row, or the sentence's key, in words."""
    measures: frozenset[str]
    """Names under which its measure is known: that of the column, and the words over it."""
    trials: frozenset[str]
    value: float
    within: float
    """Half a unit of the last digit that is printed."""

    @property
    def place(self) -> str:
        """How findings name its result."""
        return f"{self.page}#{self.key}"


@dataclass(frozen=True)
class ShownRatio:
    """A ratio of one measure of two treatments, and what it is of."""

    page: str
    key: str
    measure: str
    left: frozenset[str]
    right: frozenset[str]
    value: float
    within: float = 0.0

    @property
    def place(self) -> str:
        """How findings name its result."""
        return f"{self.page}#{self.key}"


def shown_numbers(page: ExecutedPage, treatments: Treatments) -> list[ShownNumber]:
    """Return the numbers of a page's tables and charts whose trials can be told."""
    found = []
    for output in page.results:
        reader = {"table": _of_table, "figure": _of_figure}.get(output.kind)
        if reader is None:
            continue
        cited = [each.bundle for each in cited_by(output)]
        known = {bundle: treatments[bundle] for bundle in cited if bundle in treatments}
        if known and len(known) == len(set(cited)):
            with contextlib.suppress(*_OTHER_FORM):  # told by the audit of its contents
                found += _told_apart(reader(output, known))
    return found


def said_numbers(
    page: ExecutedPage, treatments: Treatments, measurands: Measurands
) -> tuple[list[ShownNumber], list[ShownRatio]]:
    """Return the means and the ratios that a page's prose and values give, and that say so.

    ``measurands`` are those of the replay; they serve for a page that is older than the field.
    """
    means, ratios = [], []
    for output, key, fields in _numbers(page):
        known = Measurand.from_record(fields.get(FIELD)) or measurands.get((page.file.name, key))
        value = leading_number(fields.get("value"))
        if known is None or value is None:
            continue
        cited = {each.bundle: treatments.get(each.bundle, {}) for each in cited_by(output)}
        left = trials_of(known.levels, cited)
        if known.statistic == "mean" and left:
            names = frozenset({_name(known.measure)})
            close = EXACT * abs(value)
            means.append(ShownNumber(page.file.name, key, key, names, left, value, close))
        elif known.statistic == "ratio" and known.base is not None:
            right = trials_of(known.base, cited)
            if left and right and left != right:
                within = _printed_within(fields.get("value")) or EXACT * abs(value)
                ratios.append(
                    ShownRatio(page.file.name, key, known.measure, left, right, value, within)
                )
    return means, ratios


def measurands_of(page: ExecutedPage) -> dict[tuple[str, str], Measurand]:
    """Return what the numbers of a page say that they are of."""
    return {
        (page.file.name, key): known
        for _, key, fields in _numbers(page)
        if (known := Measurand.from_record(fields.get(FIELD))) is not None
    }


def trials_of(levels: Mapping[str, Scalar], cited: Treatments) -> frozenset[str]:
    """Return the cited trials that levels select; none where a level is of no treatment."""
    if not all(any(name in one for one in cited.values()) for name in levels):
        return frozenset()
    return frozenset(
        bundle
        for bundle, treatment in cited.items()
        if all(_is_level(str(level), treatment.get(name)) for name, level in levels.items())
    )


def measure_name(metric: str) -> str:
    """Return how ``ShownNumber.measures`` has a measure by the name of its column."""
    return _name(metric)


def leading_number(value: object) -> float | None:
    """Return a number, or the one with which words such as ``2.47 (2.31 to 2.64)`` begin."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return float(value)
    found = _read_cell(str(value))
    return found[0] if found else None


def _numbers(page: ExecutedPage) -> Iterator[tuple[Output, str, Mapping[str, Any]]]:
    for output in page.results:
        fields = output.fields or {}
        if output.kind == "value":
            yield output, output.name, fields
        elif output.kind == "prose":
            listed = fields.get("numbers")
            for each in listed if isinstance(listed, list) else ():
                if isinstance(each, dict):
                    yield output, str(each.get("key")), each


def _of_table(output: Output, cited: Treatments) -> Iterator[ShownNumber]:
    html = output.text("text/html")
    names, rows = read_columns(html, output.name)
    labels = read_table(html)[0]
    if len(names) != len(labels):
        return
    factors = _factors(cited)
    columns = [_column(*each, factors) for each in zip(names, labels, strict=True)]
    above: dict[str, str] = {}
    for row in rows:
        cells = dict(zip(names, row, strict=False))
        levels = {name: text or above.get(name, "") for name, text in cells.items()
                  if name in factors}  # fmt: skip
        above |= levels
        for (measures, more), text in zip(columns, row, strict=False):
            number = _read_cell(text)
            if measures and number is not None:
                at = levels | more
                trials = _selected(at, cited)
                if trials:
                    yield ShownNumber(
                        output.page, output.name, _words(at), measures, trials, *number
                    )


def _factors(cited: Treatments) -> dict[str, set[str]]:
    """Return the levels of each factor of the trials, as texts."""
    factors: dict[str, set[str]] = {}
    for treatment in cited.values():
        for name, level in treatment.items():
            factors.setdefault(name, set()).add(str(level))
    return factors


def _column(
    name: str, label: str, factors: Mapping[str, set[str]]
) -> tuple[frozenset[str], dict[str, str]]:
    """Return the measure that a column shows, and the level for which it does so, if it is of one.

    Columns of a cross table are named after levels, and their measure stands over all of them.
    """
    if name in factors:
        return frozenset(), {}
    crossed = [factor for factor, levels in factors.items() if name in levels]
    if crossed:
        over, below, _ = label.rpartition(" / ")
        measure = re.sub(rf" at {re.escape(crossed[0])}$", "", over)
        known = len(crossed) == 1 and bool(below)
        return (frozenset({_label(measure)}), {crossed[0]: name}) if known else (frozenset(), {})
    names = {_name(name), _label(label)} if name.isidentifier() else set[str]()
    return frozenset(names), {}


def _of_figure(output: Output, cited: Treatments) -> Iterator[ShownNumber]:
    spec = output.data.get(MIME)
    if not isinstance(spec, dict):
        return
    titles = _titles(spec)
    factors = _factors(cited)
    for row in (row for rows in find_datasets(spec) for row in rows if isinstance(row, dict)):
        levels = {name: str(each) for name, each in row.items() if name in factors}
        trials = _selected(levels, cited)
        for name, value in row.items():
            if not trials or name in factors or isinstance(value, bool):
                continue
            measures = _measures_of(name, titles)
            if isinstance(value, int | float) and measures:
                close = EXACT * abs(value)
                yield ShownNumber(
                    output.page, output.name, _words(levels), measures, trials, value, close
                )


def _selected(levels: Mapping[str, str], cited: Treatments) -> frozenset[str]:
    """Return the trials of a row; none for a row that names no treatment of the trials'."""
    if not levels or not all(levels.values()):
        return frozenset()
    return trials_of(levels, cited)


def _told_apart(numbers: Iterable[ShownNumber]) -> list[ShownNumber]:
    """Return the numbers of a result but those that share measure and trials with another.

    Such rows differ by what is no treatment: a statistic, a role, a stage.
    """
    listed = list(numbers)
    counts = Counter((name, one.trials) for one in listed for name in one.measures)
    return [one for one in listed if all(counts[name, one.trials] == 1 for name in one.measures)]


def _measures_of(name: str, titles: Mapping[str, set[str]]) -> frozenset[str]:
    """Return the names of a chart's column; none where an axis has several titles for it."""
    over = titles.get(name, set())
    if name in _BESIDE:
        return frozenset()
    if name in _NAMELESS:
        return frozenset(map(_label, over)) if len(over) == 1 else frozenset()
    return frozenset({_name(name), *(map(_label, over) if len(over) == 1 else ())})


def _titles(part: Any) -> dict[str, set[str]]:
    """Return the titles of axes by the column that they show."""
    found: dict[str, set[str]] = {}
    if isinstance(part, list):
        for each in part:
            _merge(found, _titles(each))
    elif isinstance(part, dict):
        for channel, each in part.get("encoding", {}).items():
            if channel in ("x", "y") and isinstance(each, dict) and each.get("title"):
                found.setdefault(str(each.get("field")), set()).add(str(each["title"]))
        for name, each in part.items():
            if name not in ("datasets", "encoding"):
                _merge(found, _titles(each))
    return found


def _merge(into: dict[str, set[str]], more: Mapping[str, set[str]]) -> None:
    for name, titles in more.items():
        into.setdefault(name, set()).update(titles)


def _read_cell(text: str) -> tuple[float, float] | None:
    """Return a printed number and half a unit of its last digit."""
    found = _CELL.fullmatch(text.strip())
    if found is None:
        return None
    value = float(found[1].replace(",", "").replace("\u2212", "-"))
    return value, 0.5 * 10.0 ** -len(found[2] or "")


def _printed_within(value: object) -> float | None:
    found = _read_cell(value) if isinstance(value, str) else None
    return found[1] if found else None


def _is_level(text: str, level: Scalar | None) -> bool:
    if level is None:
        return False
    if text == str(level):
        return True
    try:
        return not isinstance(level, bool | str) and float(text.replace(",", "")) == float(level)
    except ValueError:
        return False


def _words(levels: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {level}" for name, level in levels.items())


def _name(column: str) -> str:
    return f"column {column}"


def _label(words: str) -> str:
    return f"title {' '.join(words.lower().split())}"
