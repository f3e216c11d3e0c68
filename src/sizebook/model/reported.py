"""What the five reports printed, as records: one measurement, setting or claim each.

A record is built from the texts of one row of ``data/reported/*.csv`` and checks them: closed
sets, names, numbers, units. ``treatment``, ``left`` and ``right`` are written ``key=value;...``.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, field_validator
from pydantic import model_validator as _model_validator

from sizebook.model.records import Record

Source = Literal["mii-2009", "gateway-2012", "itanium-2010", "wps-2011", "oneworld-2003"]
Statistic = Literal["total", "mean", "min", "max", "best", "peak", "estimate"]
Relation = Literal[
    "gt", "lt", "approx", "increases", "decreases", "level", "stagnates", "fails", "recovers"
]
Transfer = Literal["yes", "partly", "no"]

ONE_SIDED: tuple[Relation, ...] = ("level", "fails", "recovers")
"""Relations that say something of one treatment alone: ``right`` may be empty."""

_ABOVE_ONE = ("gt", "increases")
_BELOW_ONE = ("lt", "decreases")

_FILE = re.compile(r"[0-9]{3}_[0-9a-f]{16}\.txt")
_SNAKE = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_KEBAB = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_LEVEL = re.compile(r"[a-z0-9][a-z0-9._-]*")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_TRANSFER = re.compile(r"(yes|partly|no): \S.*", re.DOTALL)

_UNITS = {
    "s": "s", "ms": "ms", "us": "us", "h": "h", "bytes": "bytes", "kb": "KB", "mb": "MB",
    "gb": "GB", "tb": "TB", "mhz": "MHz", "percent": "%", "ratio": "ratio", "msgs": "msgs",
    "users": "users", "requests": "requests", "threads": "threads", "pages": "pages",
}  # fmt: skip
"""Last word of a metric's name, and the unit that goes with it."""
_PER = {
    "s": "s", "h": "h", "day": "day", "year": "year", "cpu": "CPU", "jvm": "JVM", "user": "user",
}  # fmt: skip
"""Word behind ``_per_`` at the end of a metric's name, and what the unit is divided by."""


@dataclass(frozen=True)
class Report:
    """One of the five reports."""

    id: Source
    title: str
    authors: str
    year: int


REPORTS: dict[str, Report] = {
    report.id: report
    for report in (
        Report("mii-2009", "Performance of SAP MII on Intel Xeon", "S. Castro, R. Hegde", 2009),
        Report("gateway-2012", "Performance of SAP Gateway", "Tobias, and his readers", 2012),
        Report("itanium-2010", "SAP, Linux, Virtualization: Itanium", "Z. Popovic", 2010),
        Report("wps-2011", "Best Practices in WPS V7 Performance Tuning", "IBM", 2011),
        Report("oneworld-2003", "Scaling Large Commercial Web-based Applications", "N. Willis",
               2003),
    )
}  # fmt: skip


def parse_treatment(text: str) -> dict[str, str]:
    """Return the conditions of ``key=value;key=value`` in their order.

    Raises ValueError for a part that is no ``key=value`` and for a key that is given twice.
    """
    conditions: dict[str, str] = {}
    for part in text.split(";"):
        key, _, level = part.partition("=")
        if not _SNAKE.fullmatch(key) or not _LEVEL.fullmatch(level):
            raise ValueError(f"parts key=value joined by ';'; {part!r} is none")
        if key in conditions:
            raise ValueError(f"each key once; {key!r} stands there twice")
        conditions[key] = level
    return conditions


def expected_unit(metric: str) -> str | None:
    """Return the unit that a metric's name asks for, None where its ending names none.

    ``time_s`` asks for ``s``, ``throughput_mb_per_s`` for ``MB/s``, ``hits_per_h`` for ``*/h``: the
    star stands for any word.
    """
    head, per, below = metric.rpartition("_per_")
    if per:
        if below not in _PER:
            return None
        return f"{_UNITS.get(head.rpartition('_')[2], '*')}/{_PER[below]}"
    if "_percent_of_" in metric:
        return "%"
    return _UNITS.get(metric.rpartition("_")[2])


def _number(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if not _NUMBER.fullmatch(value) or not math.isfinite(float(value)):
        raise ValueError("a finite number with a decimal point")
    return float(value)


def _matching(pattern: re.Pattern[str], words: str) -> AfterValidator:
    def check(value: str) -> str:
        if not pattern.fullmatch(value):
            raise ValueError(words)
        return value

    return AfterValidator(check)


def _treatment(value: str) -> str:
    parse_treatment(value)
    return value


def _filled(value: str) -> str:
    if not value.strip() or value != value.strip():
        raise ValueError("a text without spaces around it")
    return value


Filled = Annotated[str, AfterValidator(_filled)]
Number = Annotated[float, BeforeValidator(_number)]
MetricName = Annotated[str, _matching(_SNAKE, "a name in snake_case")]
Scenario = Annotated[str, _matching(_KEBAB, "a name in lower case with hyphens")]
SourceFile = Annotated[str, _matching(_FILE, "a name such as 001_0123456789abcdef.txt")]
Treatment = Annotated[str, AfterValidator(_treatment)]


class _Printed(Record):
    source: Source
    source_file: SourceFile
    locator: Filled
    """Where in the report it stands: a section, table or comment."""


class Measurement(_Printed):
    """One number that a report prints."""

    scenario: Scenario
    treatment: Treatment
    metric: MetricName
    statistic: Statistic
    value: Number
    unit: Filled
    note: Filled | None

    @field_validator("unit")
    @classmethod
    def _fits_the_metric(cls, unit: str, info: ValidationInfo) -> str:
        wanted = expected_unit(info.data.get("metric", ""))
        if wanted is None:
            return unit
        fits = unit.partition("/")[2] == wanted[2:] if wanted.startswith("*/") else unit == wanted
        if not fits:
            raise ValueError(f"{wanted}, as the metric's name says")
        return unit

    @property
    def identity(self) -> tuple[str, ...]:
        """What no other measurement may share."""
        return self.source, self.locator, self.scenario, self.treatment, self.metric, self.statistic


class ReportedParameter(_Printed):
    """One setting, part of the hardware or version that a report names."""

    component: Filled
    parameter: Filled
    default: Filled | None
    used_value: Filled | None
    unit: Filled | None
    note: Filled | None

    @property
    def identity(self) -> tuple[str, ...]:
        """What no other parameter may share: one setting can have several tested values."""
        used = self.used_value or ""
        return self.source, self.locator, self.component, self.parameter, used


class ReportedClaim(_Printed):
    """One statement of a report that a measurement could confirm or contradict."""

    claim_id: Annotated[str, _matching(_KEBAB, "an id in lower case with hyphens")]
    scenario: Scenario
    statement: Filled
    left: Treatment
    right: Treatment | None
    metric: MetricName
    relation: Relation
    reported_ratio: Annotated[Number, Field(gt=0)] | None
    reported_basis: Filled
    transferable: Annotated[str, _matching(_TRANSFER, "'yes: ', 'partly: ' or 'no: ' and why")]

    @_model_validator(mode="after")
    def _sides_and_ratio(self) -> ReportedClaim:
        if self.right is None and self.relation not in ONE_SIDED:
            raise ValueError(f"a right side, since the relation is {self.relation!r}")
        ratio = self.reported_ratio
        if ratio is not None and (
            (self.relation in _ABOVE_ONE and ratio <= 1)
            or (self.relation in _BELOW_ONE and ratio >= 1)
        ):
            raise ValueError(f"a ratio that {self.relation!r} allows, not {ratio:g}")
        return self

    @property
    def transfer(self) -> Transfer:
        """Whether the claim may hold on other hardware: yes, partly or no."""
        word: Transfer = next(w for w in get_args(Transfer) if self.transferable.startswith(w))
        return word

    @property
    def identity(self) -> tuple[str, ...]:
        """What no other claim may share."""
        return (self.claim_id,)
