"""Numbers that know what they are of, as far as a page can record it."""

from __future__ import annotations

import copy
import json
import pickle

import polars as pl
import pytest

from sizebook.model.measurand import Measurand
from sizebook.report import summaries
from sizebook.report.measured import MeasuredNumber, MeasuredWords, measurand_of
from sizebook.report.wording import to_scalar

FRAME = pl.DataFrame(
    {"users": [1, 1, 20, 20], "replicate": [0, 1, 0, 1], "ms": [2.0, 4.0, 8.0, 16.0]}
).with_columns(verdict=pl.lit("valid"))
FEW, MANY = {"users": 1}, {"users": 20}


def test_a_mean_and_a_ratio_say_what_they_are_of() -> None:
    """Measure, statistic and levels; the ratio's words say the same."""
    mean, ratio = summaries.mean_of(FRAME, "ms", FEW), summaries.ratio(FRAME, "ms", MANY, FEW)
    assert (mean, measurand_of(mean)) == (3.0, Measurand("mean", "ms", FEW))
    of = Measurand("ratio", "ms", MANY, FEW)
    assert measurand_of(ratio) == measurand_of(ratio.estimate) == of
    assert measurand_of(summaries.words(ratio)) == of
    assert summaries.words(ratio).startswith("4.00 (")


def test_what_is_calculated_is_a_plain_number() -> None:
    """Twice a mean is not that mean, and neither is a word that was cut out of another."""
    mean = summaries.mean_of(FRAME, "ms", FEW)
    assert [measurand_of(each) for each in (2 * mean, mean / 2, 5.0, "5.0", None)] == [None] * 5
    assert measurand_of(summaries.words(summaries.ratio(FRAME, "ms", MANY, FEW))[:4]) is None


def test_numbers_remain_numbers() -> None:
    """Scalars, JSON, frames and copies see nothing but the value."""
    mean = summaries.mean_of(FRAME, "ms", FEW)
    assert type(to_scalar("mean", mean)) is float
    assert type(to_scalar("words", MeasuredWords("4.0", Measurand("mean", "ms", FEW)))) is str
    assert json.dumps([mean]) == "[3.0]"
    assert pl.DataFrame({"x": [mean, None]}).schema == {"x": pl.Float64}
    for again in (copy.deepcopy(mean), pickle.loads(pickle.dumps(mean))):
        assert isinstance(again, MeasuredNumber)
        assert measurand_of(again) == measurand_of(mean)


@pytest.mark.parametrize(
    "of",
    [
        Measurand("mean", "ms", FEW),
        Measurand("ratio", "ms", MANY, FEW),
        Measurand("trend", "x", {}),
    ],
)
def test_a_record_is_read_as_it_was_written(of: Measurand) -> None:
    """What ``as_record`` writes ``from_record`` reads."""
    assert Measurand.from_record(json.loads(json.dumps(of.as_record()))) == of


@pytest.mark.parametrize(
    "record",
    [None, 7, [], {}, {"statistic": "mean"}, {"statistic": "ratio", "measure": "x", "levels": {}},
     {"statistic": "guess", "measure": "x", "levels": {}},
     {"statistic": "mean", "measure": 7, "levels": {}}],
)  # fmt: skip
def test_another_record_is_of_nothing(record: object) -> None:
    """Pages of before, and of a forger, say nothing of their numbers."""
    assert Measurand.from_record(record) is None
