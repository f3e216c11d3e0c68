"""What limited a stack: from the counters of its trials to a name, a sentence and a chart.

::

    limits = limits_by(trials["formats"], "users", representation="rest-json")
    page.prose("At {users} users: {limit}", users=most, limit=sentence(limits, most), trials=...)
    page.figure(limits_chart(limits_frame(limits), x_title="users"), "limits", ...)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import altair as alt
import polars as pl

from sizebook.lab import Trials
from sizebook.model.load import ClosedLoop
from sizebook.model.records import Scalar
from sizebook.report.columns import named_plainly
from sizebook.report.limiter_kinds import KINDS, Kind
from sizebook.report.phase_counters import Use, open_window
from sizebook.report.theme import INK, PALETTE
from sizebook.store import Bundle

_MUCH_PERCENT = 60
"""Share from which a cell is dark enough for white letters."""
_PALE = "#e6edf3"
_ROW_PX = 30
FRAME_COLUMNS: dict[str, type[pl.DataType]] = {
    "kind": pl.String,
    "limiter": pl.String,
    "share": pl.Float64,
    "at_limit": pl.Boolean,
    "evidence": pl.String,
    "readings": pl.Int64,
    "replicates": pl.Int64,
}


@dataclass(frozen=True)
class Attribution:
    """What limited the replicates of one treatment."""

    limiter: str | None
    """Name of the kind, or None: nothing was saturated, or nothing is known (see ``known``)."""
    place: str
    subject: str
    """What limited, in words: ``the CPU time of the app``; empty where ``limiter`` is None."""
    sentence: str
    """The same with its evidence: one or two plain sentences for prose."""
    uses: tuple[Use, ...]
    """Means over the replicates, fullest first, what cannot be told last."""
    also: tuple[str, ...]
    """What else was at its limit, in words: mostly what waited for the limiter."""
    replicates: int
    agreeing: int
    """Replicates that name the same limiter, or none, by themselves."""
    known: bool
    """False: the CPU of the stack was not recorded; "nothing saturated" would be a guess."""


def limiters(bundle: Bundle, kinds: Sequence[Kind] = KINDS) -> tuple[Use, ...]:
    """Return the use of everything that can limit, fullest first, what cannot be told last.

    Empty if the trial never came to its measured phase.
    """
    window = open_window(bundle)
    found = [] if window is None else [use for kind in kinds for use in kind.measure(window)]
    return _sorted(found)


def attribute(bundles: Iterable[Bundle], kinds: Sequence[Kind] = KINDS) -> Attribution:
    """Return what limited the replicates of one treatment.

    Shares are means over the replicates that can tell. Of the kinds at their limit the first in
    the table's order is named; the table holds thresholds and meanings.
    """
    told = [(bundle, uses) for bundle in bundles if (uses := limiters(bundle, kinds))]
    mean = _sorted(_means([uses for _, uses in told]))
    full = _at_limit(mean, kinds)
    first = full[0] if full else None
    alone = [_at_limit(uses, kinds) for _, uses in told]
    mine = None if first is None else (first[0].name, first[1].place)
    votes = [(one[0][0].name, one[0][1].place) if one else None for one in alone]
    agreeing = sum(vote == mine for vote in votes)
    known = any(use.kind == "cpu" and use.share is not None for use in mean)
    also = tuple(kind.show(use) for kind, use in full[1:])
    if first is not None:
        text = _named(*first, also, agreeing, len(told))
    elif known:
        text = _unsaturated(mean, kinds, told[0][0])
    else:
        reasons = {use.reason for use in mean if use.kind == "cpu"} or {"no trial was measured"}
        text = f"The bottleneck is unknown: {'; '.join(sorted(reasons))}."
    return Attribution(
        limiter=first[0].name if first else None,
        place=first[1].place if first else "",
        subject=first[0].say(first[0].subject, first[1]) if first else "",
        sentence=text,
        uses=mean,
        also=also,
        replicates=len(told),
        agreeing=agreeing,
        known=known,
    )


def limits_by(
    trials: Trials, factor: str, *, kinds: Sequence[Kind] = KINDS, **levels: Scalar
) -> dict[Scalar, Attribution]:
    """Return what limited at each level of a factor, in the design's order.

    ``levels`` fix other factors; the replicates of what is left are one treatment's. Trials that
    failed have no part; a level without any other is left out.
    """
    by_level: dict[Scalar, list[Bundle]] = {}
    for trial in trials:
        fits = all(trial.treatment.get(name) == level for name, level in levels.items())
        if fits and trial.verdict != "failed":
            by_level.setdefault(trial.treatment[factor], []).append(trial.bundle)
    return {level: attribute(bundles, kinds) for level, bundles in by_level.items()}


def sentence(limits: Mapping[Scalar, Attribution], level: Scalar) -> str:
    """Return what limited at a level, in words for prose; says so where no trial can tell."""
    return limits[level].sentence if level in limits else "no trial can tell."


def limits_frame(
    limits: Mapping[Scalar, Attribution], x: str = "level", kinds: Sequence[Kind] = KINDS
) -> pl.DataFrame:
    """Return one row a level and limiter: column ``x``, then ``FRAME_COLUMNS``.

    ``share`` is in percent of the limiter's own capacity, null where it cannot be told. A limiter
    that no level can tell is left out. Rows are in the order of the kinds.
    """
    by_name = {kind.name: kind for kind in kinds}
    rank = {name: n for n, name in enumerate(by_name)}
    rows = []
    for level, attribution in limits.items():
        for use in sorted(attribution.uses, key=lambda use: (rank[use.kind], use.place)):
            kind = by_name[use.kind]
            rows.append(
                {
                    x: level,
                    "kind": kind.name,
                    "limiter": kind.say(kind.label, use),
                    "share": None if use.share is None else 100 * use.share,
                    "at_limit": kind.at_limit(use),
                    "evidence": kind.show(use),
                    "readings": use.readings,
                    "replicates": use.replicates,
                }
            )
    frame = pl.DataFrame(rows, schema_overrides=FRAME_COLUMNS)
    if frame.is_empty():
        return pl.DataFrame(schema={x: pl.Int64, **FRAME_COLUMNS})
    return frame.filter(pl.col("share").is_not_null().any().over("limiter"))


@named_plainly("x")
def limits_chart(frame: pl.DataFrame, *, x: str = "level", x_title: str) -> alt.LayerChart:
    """Return a cell a level and limiter with its share in percent; what is at its limit is framed.

    ``frame`` is what ``limits_frame`` gives. A dash stands for what cannot be told.
    """
    names = [str(name) for name in frame["limiter"].unique(maintain_order=True)]
    base = alt.Chart(frame).encode(
        x=alt.X(
            f"{x}:O",
            title=x_title,
            sort=None,
            axis=alt.Axis(labelAngle=0),
            scale=alt.Scale(paddingInner=0.05),
        ),
        y=alt.Y("limiter:N", title=None, sort=names, scale=alt.Scale(paddingInner=0.12)),
        tooltip=[
            alt.Tooltip(f"{x}:O", title=x_title),
            alt.Tooltip("limiter:N", title="limiter"),
            alt.Tooltip("evidence:N"),
            alt.Tooltip("readings:Q"),
            alt.Tooltip("replicates:Q"),
        ],
    )
    cells = base.transform_filter("isValid(datum.share)").mark_rect(
        strokeWidth=3, cornerRadius=2
    ).encode(
        color=alt.Color(
            "share:Q",
            title="share of its capacity (%)",
            scale=alt.Scale(domain=[0, 100], range=[_PALE, PALETTE[0]], clamp=True),
        ),
        stroke=alt.condition("datum.at_limit", alt.value(PALETTE[1]), alt.value("transparent")),
    )  # fmt: skip
    words = base.transform_calculate(
        words="isValid(datum.share) ? format(datum.share, '.0f') : '–'"
    )
    dark = f"isValid(datum.share) && datum.share >= {_MUCH_PERCENT}"
    text = words.mark_text(fontSize=12).encode(
        text="words:N", color=alt.condition(dark, alt.value("white"), alt.value(INK))
    )
    layers: alt.LayerChart = (cells + text).properties(
        width="container", height=_ROW_PX * max(1, len(names))
    )
    return layers


def describe_kinds(kinds: Sequence[Kind] = KINDS) -> pl.DataFrame:
    """Return the table of kinds as a page shows it: name, threshold in percent, meaning."""
    rows = [
        (kind.name, None if kind.threshold is None else 100 * kind.threshold, kind.meaning)
        for kind in kinds
    ]
    schema = {"limiter": pl.String, "threshold": pl.Float64, "meaning": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _named(kind: Kind, use: Use, also: Sequence[str], agreeing: int, replicates: int) -> str:
    text = f"The bottleneck was {kind.say(kind.subject, use)}: {kind.show(use)}"
    if replicates > 1:
        text += f", in {agreeing} of {replicates} replicates"
    return f"{text}. Also saturated: {'; '.join(also)}." if also else f"{text}."


def _unsaturated(uses: Sequence[Use], kinds: Sequence[Kind], bundle: Bundle) -> str:
    by_name = {kind.name: kind for kind in kinds if kind.threshold is not None}
    near = next((use for use in uses if use.kind in by_name), None)
    text = "Nothing was saturated"
    if near is not None:
        kind = by_name[near.kind]
        text += f" (highest use: {kind.show(near)})"
    arrivals = bundle.record.trial.load.arrivals
    if not isinstance(arrivals, ClosedLoop):
        return f"{text}: the offered load was below capacity."
    alone = arrivals.users == 1
    users = "one user" if alone else f"{arrivals.users} users"
    users = f"up to {users}" if arrivals.varies else users
    pause = "" if arrivals.think_s == 0 else " and thought between requests"
    return f"{text}: {users} with one request at a time waited for answers{pause}."


def _at_limit(uses: Iterable[Use], kinds: Sequence[Kind]) -> list[tuple[Kind, Use]]:
    """Return what is at its limit, in the order of the kinds; of one kind the fullest first."""
    uses = tuple(uses)
    return [
        (kind, use) for kind in kinds for use in uses if use.kind == kind.name
        and kind.at_limit(use)
    ]  # fmt: skip


def _means(replicates: Sequence[Sequence[Use]]) -> list[Use]:
    """Return the mean of each use over the replicates that can tell it."""
    found: dict[tuple[str, str], list[Use]] = {}
    for uses in replicates:
        for use in uses:
            found.setdefault((use.kind, use.place), []).append(use)
    return [_mean(uses) for uses in found.values()]


def _mean(uses: Sequence[Use]) -> Use:
    told = [use for use in uses if use.share is not None]
    some = told or list(uses)
    names = [name for name in some[0].numbers if all(name in use.numbers for use in some)]
    return Use(
        kind=some[0].kind,
        place=some[0].place,
        share=sum(use.share or 0.0 for use in told) / len(told) if told else None,
        numbers={name: sum(use.numbers[name] for use in some) / len(some) for name in names},
        readings=min(use.readings for use in some),
        replicates=len(some),
        reason="" if told else some[0].reason,
    )


def _sorted(uses: Iterable[Use]) -> tuple[Use, ...]:
    return tuple(sorted(uses, key=lambda use: (use.share is None, -(use.share or 0.0))))
