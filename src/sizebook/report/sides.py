"""Sides of a comparison: the replicates of a treatment that count, what they say, how well."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from sizebook.checks import judge_set
from sizebook.lab import Trial
from sizebook.model.claim import ClaimVerdict
from sizebook.model.errors import UsageError
from sizebook.model.records import Scalar
from sizebook.report.eligibility import tells_within
from sizebook.stats.decisions import Sample
from sizebook.stats.pairing import pair_blocks

SMOKE = "the smoke profile proves that it works, not how fast"
COMPARABLE = "SB703-comparable"
Levels = Mapping[str, Scalar]
Pair = tuple[Levels, Levels]

_ROW = "row of the frame"
_WITHIN = "factor within which the trial is known"


@dataclass(frozen=True)
class Side:
    """The trials of one treatment: its replicates that count, or why there are none."""

    values: Mapping[int, float]
    """Block number to the metric's mean in it."""
    within: Mapping[int, float]
    """Block number to the factor within which that is known."""
    bundles: tuple[str, ...]
    """Names of all its trials."""
    counted: tuple[str, ...]
    """Names of those behind ``values``."""
    verdict: ClaimVerdict | None = None
    reason: str = ""
    rows: frozenset[int] = frozenset()
    """Which rows of the frame these are: a trial may have two, such as a first and a later time."""


def read_pair(
    frame: pl.DataFrame, metric: str, pair: Pair, known: Mapping[str, Trial], *, every: bool = False
) -> tuple[Side, Side]:
    """Return both sides, those of bounded doubt among them.

    With ``every`` all that completed, whatever is doubted about them.
    """
    one, other = pair
    return (
        read_side(frame, metric, one, known, doubted=True, every=every),
        read_side(frame, metric, other, known, doubted=True, every=every),
    )


def read_side(
    frame: pl.DataFrame,
    metric: str,
    levels: Levels,
    known: Mapping[str, Trial],
    *,
    doubted: bool = False,
    every: bool = False,
) -> Side:
    """Return the replicates of a treatment that count, those of bounded doubt if ``doubted``.

    With ``every`` each counts whose trials completed and are not stale, as if nothing was doubted.
    Raises UsageError for a frame with rows of other trials than the ``known`` ones.
    """
    rows = frame.with_row_index(_ROW)
    for name, level in levels.items():
        rows = rows.filter(pl.col(name) == level)
    bundles = tuple(rows["bundle"])
    foreign = [bundle for bundle in bundles if bundle not in known]
    if foreign:
        raise UsageError(
            found=f"{len(foreign)} trials in the frame that are not among 'trials'",
            expected="the trials from which the frame was made",
            next_step="pass all of them: trials=[trials['a'], trials['b']]",
        )
    if not rows.height:
        return Side({}, {}, (), (), "not run", f"no trial of {name_levels(levels)}")
    if any(known[bundle].bundle.record.trial.profile == "smoke" for bundle in bundles):
        return Side({}, {}, bundles, (), "not run", SMOKE)
    factors = [tells_within(known[bundle], metric) for bundle in bundles]
    within = [factor if doubted or factor == 1.0 else None for factor in factors]
    if every:
        gone = [known[bundle].verdict in ("failed", "stale") for bundle in bundles]
        within = [w if out else 1.0 for w, out in zip(within, gone, strict=True)]
    rows = rows.with_columns(pl.Series(_WITHIN, within, dtype=pl.Float64))
    whole = rows.group_by("replicate", maintain_order=True).agg(
        ok=pl.all_horizontal(pl.col(_WITHIN, metric).is_not_null()).all(),
        value=pl.col(metric).mean(),
        within=pl.col(_WITHIN).max(),
        bundles=pl.col("bundle"),
    )
    good = whole.filter("ok")
    values = dict(zip(good["replicate"], good["value"], strict=True))
    counted = tuple(bundle for group in good["bundles"] for bundle in group)
    if values:
        factor_of = dict(zip(good["replicate"], good["within"], strict=True))
        return Side(values, factor_of, bundles, counted, rows=frozenset(rows[_ROW]))
    counts = Counter(rows["verdict"])
    found = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
    what = f"no {metric} in a valid trial" if "valid" in counts else "no valid trial"
    return Side({}, {}, bundles, (), "undetermined", f"{what} of {name_levels(levels)}: {found}")


def find_obstacle(
    left: Side, right: Side, known: Mapping[str, Trial]
) -> tuple[ClaimVerdict, str] | None:
    """Return why a pair cannot be compared, None if it can."""
    stops = [(side.verdict, side.reason) for side in (left, right) if side.verdict]
    for verdict, reason in sorted(stops, key=lambda stop: stop[0] != "not run"):
        return verdict, reason
    alike = set(left.bundles) & set(right.bundles) and left.values == right.values
    if left is not right and (left.rows & right.rows or alike):
        return "not run", "both sides are the same trials: the parameters name one treatment"
    bundles = [known[bundle].bundle for bundle in dict.fromkeys((*left.counted, *right.counted))]
    for finding in judge_set({"compared": bundles}, None):
        if finding.rule == COMPARABLE and finding.passed is False:
            return "undetermined", f"the trials are not comparable: {finding.message}"
    return None


def sample_of(left: Side, right: Side) -> Sample:
    """Return the values to compare, and how far off their ratio may be by the doubts about them."""
    a, b, paired = pair_blocks(left.values, right.values)
    within_a, within_b, _ = pair_blocks(left.within, right.within)
    doubt = math.prod(math.prod(each) ** (1 / len(each)) for each in (within_a, within_b))
    return Sample(a, b, paired, doubt)


def name_levels(levels: Levels) -> str:
    """Return a treatment in words, by the names' order: ``representation rest-json, users 20``."""
    return (
        ", ".join(f"{name} {level}" for name, level in sorted(levels.items())) or "all treatments"
    )
