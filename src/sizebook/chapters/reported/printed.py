"""One report's printed numbers, scenario by scenario, and the tables that show them.

A value keeps its marks wherever it stands: ``≈`` for what the report gives as an estimate, ``≥``
and ``≤`` for a bound ("over 5,500"), ``†`` for what the transcription derived or assigned.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from sizebook.model.reported import REPORTS, Relation, Statistic
from sizebook.report.reported import conditions, reported
from sizebook.report.tables import plain_table
from sizebook.store import Project

if TYPE_CHECKING:
    from great_tables import GT

MARKS = (
    "≈ printed as approximate; ≥ and ≤ printed as a bound; † derived or assigned in the "
    "transcription, as its note in the data says"
)
_BOUNDS: dict[Statistic, str] = {"min": "≥\u00a0", "max": "≤\u00a0"}
_BOUND = re.compile(r"'(over|more than|less than|<|>)|(lower|upper) (bound|end)")
_DERIVED = re.compile(
    r"\b(derived|assigned|assumed|taken as|read as|thread count not|unit not printed)\b"
)
_RELATIONS: dict[Relation, str] = {
    "gt": "more than",
    "lt": "less than",
    "approx": "about the same as",
    "increases": "rises to, from",
    "decreases": "falls to, from",
    "level": "stays level",
    "stagnates": "hardly changes to, from",
    "fails": "fails",
    "recovers": "recovers",
}


class PrintedReport:
    """The measurements of one report; it remembers which of them a table has shown."""

    def __init__(self, source: str, project: Project | None = None) -> None:
        """Open a report by its short name. Raises KeyError for a name that none has."""
        self.report = REPORTS[source]
        frame = reported("measurements", project).with_row_index("row")
        self._frame = frame.filter(pl.col("source") == source)
        self._parameters = _of(reported("parameters", project), source)
        self._claims = _of(reported("claims", project), source)
        self._shown: set[int] = set()

    @property
    def counts(self) -> tuple[int, int, int]:
        """How many measurements, parameters and claims the report has."""
        return self._frame.height, self._parameters.height, self._claims.height

    def take(
        self,
        scenario: str,
        *names: str,
        metric: str | Sequence[str] = (),
        said: Sequence[str] = (),
        unsaid: Sequence[str] = (),
    ) -> pl.DataFrame:
        """Return the rows of a scenario, with one column a named condition and ``words``.

        ``words`` is the value with its marks. ``metric`` leaves out rows of other metrics,
        ``said`` those whose treatment does not name all of these conditions, ``unsaid`` those
        whose treatment names one. What is taken counts as shown. Raises ValueError where nothing
        is left.
        """
        frame = self._frame.filter(pl.col("scenario") == scenario)
        wanted = [metric] if isinstance(metric, str) else list(metric)
        if wanted:
            frame = frame.filter(pl.col("metric").is_in(wanted))
        for name in said:
            frame = frame.filter(_names_condition(name))
        for name in unsaid:
            frame = frame.filter(~_names_condition(name))
        if frame.is_empty():
            raise ValueError(f"{self.report.id} prints nothing such in {scenario}")
        self._shown |= set(frame["row"])
        return with_words(conditions(frame, *names))

    def rest(self) -> pl.DataFrame:
        """Return the rows that nobody took, in the order of the file."""
        return with_words(self._frame.filter(~pl.col("row").is_in(list(self._shown))))

    def everything(self) -> pl.DataFrame:
        """Return all rows, in the order of the file; they do not count as shown."""
        return with_words(self._frame)

    def parameters(self, *components: str) -> GT:
        """Return the table of the settings and parts that the report names, all or of components.

        A column that would be empty is left out.
        """
        frame = self._parameters
        if components:
            frame = frame.filter(pl.col("component").is_in(components))
        frame = frame.with_columns(
            used_value=pl.concat_str("used_value", "unit", separator=" ", ignore_nulls=True)
        )
        labels = {"component": "Component", "parameter": "Setting or part", "default": "Default",
                  "used_value": "Used", "note": "Note"}  # fmt: skip
        filled = [name for name in labels if frame[name].is_not_null().any()]
        return plain_table(frame.select(filled), labels=labels)

    def claims(self) -> GT:
        """Return the table of what the report says of its measurements."""
        frame = self._claims.with_columns(
            relation=pl.col("relation").replace_strict(_RELATIONS),
            reported_ratio=pl.col("reported_ratio").map_elements(
                lambda ratio: f"{ratio:.4g}", return_dtype=pl.String
            ),
            reported_basis=pl.col("reported_basis")
            .str.replace_all(r"([\d.])([+/])([\d.])", "$1 $2 $3")
            .str.replace_all(")/(", ") / (", literal=True),
        )
        labels = {"claim_id": "Claim", "statement": "What it says", "relation": "Left is, to right",
                  "reported_ratio": "Ratio", "reported_basis": "Ratio from",
                  "transferable": "Holds elsewhere?"}  # fmt: skip
        table = plain_table(frame.select(*labels), labels=labels)
        return table.cols_width({"statement": "36%", "reported_basis": "22%"})


def with_words(frame: pl.DataFrame) -> pl.DataFrame:
    """Return measurements with a column ``words``: the value with its marks."""
    words = [
        number_words(row["value"], row["statistic"], row["note"])
        for row in frame.iter_rows(named=True)
    ]
    return frame.with_columns(words=pl.Series(words, dtype=pl.String))


def number_words(value: float, statistic: Statistic, note: str | None) -> str:
    """Return a printed value with its marks, such as ``≈ 30 †``."""
    sign = "≈\u00a0" if statistic == "estimate" else ""
    if note and _BOUND.search(note):
        sign = _BOUNDS.get(statistic, sign)
    mark = "\u00a0†" if note and _DERIVED.search(note) else ""
    return f"{sign}{value:,.10g}{mark}"


def cross_table(
    frame: pl.DataFrame,
    *,
    rows: Sequence[str],
    columns: str,
    labels: Mapping[str, str],
    title: str = "",
    note: str = "",
) -> GT:
    """Return one row a level of ``rows`` and one column a level of ``columns``.

    Several values of one cell stand beside each other. ``labels`` names row columns and levels.
    """
    cells = frame.group_by([*rows, columns], maintain_order=True).agg(
        pl.col("words").unique(maintain_order=True).str.join("; ")
    )
    wide = cells.pivot(on=columns, index=list(rows), values="words", maintain_order=True)
    levels = [name for name in wide.columns if name not in rows]
    signs = any(sign in text for text in frame["words"] for sign in "≈≥≤†")
    table = plain_table(
        wide,
        labels=labels,
        spanners={title: levels} if title else None,
        note="; ".join(filter(None, (note, MARKS if signs else ""))),
    )
    return table.cols_align("right", levels)


def listing(frame: pl.DataFrame) -> GT:
    """Return measurements as they stand in the file: one row each, with place and note."""
    labels = {"scenario": "Scenario", "treatment": "Treatment", "metric": "Metric",
              "words": "Value, kind", "locator": "Place in the report: note"}  # fmt: skip
    shown = frame.with_columns(
        pl.col("treatment").str.replace_all(";", "; ", literal=True),
        pl.col("metric").str.replace_all("_", " ", literal=True),
        words=pl.format("{} {}, {}", "words", "unit", "statistic"),
        locator=pl.concat_str("locator", "note", separator=": ", ignore_nulls=True),
    )
    return plain_table(shown.select(*labels), labels=labels).cols_width({"locator": "30%"})


def _names_condition(name: str) -> pl.Expr:
    return pl.col("treatment").str.contains(rf"(?:^|;){name}=")


def _of(frame: pl.DataFrame, source: str) -> pl.DataFrame:
    return frame.filter(pl.col("source") == source)
