"""The results as tidy frames, for the book's page."""

from __future__ import annotations

from math import expm1
from typing import Any

import polars as pl

from bench.ceiling import OURS
from bench.pairs import paired_ratio
from bench.records import (
    PLANTED_SIDES,
    Ceiling,
    Inference,
    PercentileRow,
    Planted,
    Repeated,
    Summary,
    Truth,
    TruthRun,
    Turns,
)
from sizebook.stats.quantiles import is_supported

WITHIN_SHARE, WITHIN_US = 0.01, 50.0
"""What a recorded percentile may be off: the larger of 1 % and 50 us."""
LEAST_BEYOND = 50
"""Requests beyond a percentile, of all rounds, without which it is not judged. Truth and record
are of the same requests, so what chance does to so few it does to both."""
TRUTHS = {"law": "the law alone", "way": "law and way", "server": "the server's clock"}
"""What recorded percentiles are compared with."""


def ceiling_frame(found: Ceiling) -> pl.DataFrame:
    """Return one row a tool, fastest first.

    Columns: ``tool``, ``kind`` (ours or peer), ``median``, ``low``, ``high`` in requests per
    second and core, ``ratio``, ``ratio_low``, ``ratio_high`` (ours over the tool, within rounds;
    null for ours), ``server_cpu`` (percent of one CPU).
    """
    ours = found.requests_per_s[OURS]
    rows = []
    for tool, rate in sorted(found.requests_per_s.items(), key=lambda each: -each[1].median):
        ratio = None if tool == OURS else paired_ratio(ours, rate)
        rows.append(
            {
                "tool": tool,
                "kind": "ours" if tool == OURS else "peer",
                **_spread(rate),
                "ratio": ratio and ratio.median,
                "ratio_low": ratio and ratio.low,
                "ratio_high": ratio and ratio.high,
                "server_cpu": 100 * found.server_cpu_share[tool].median,
            }
        )
    return pl.DataFrame(rows, infer_schema_length=None)


def truth_frame(found: Truth) -> pl.DataFrame:
    """Return one row a law, server, tool, share of the ceiling and percentile.

    Columns: ``law``, ``server``, ``tool``, ``share`` (percent), ``rate``, ``achieved`` (per
    second), ``percentile``; in ms ``recorded``, ``truth``, ``answered`` (until the server sent the
    answer, by its own clock; null for peers). Then what was recorded less each of three truths, in
    us, the median of the rounds: ``law_error`` (schedule, law and freeze alone), ``way_error``
    (with the way to the server and back added), ``server_error`` (the server's own clock, of the
    same requests); null where a truth is not known. ``error_low`` and ``error_high`` are the
    smallest and the largest ``law_error`` of a round, ``error_percent`` is in percent of the truth.
    ``allowed`` is the larger of 1 % of the truth and 50 us, ``within_law``, ``within_way`` and
    ``within_server`` tell whether an error keeps it: null where ``requests`` (of all rounds) are
    too few for the percentile. ``rounds``, ``dropped``, ``connections``, ``peak`` (most under way
    at once), ``contradictions`` (of all rounds).
    """
    rows = []
    for (law, share, server, tool), runs in truth_groups(found).items():
        requests = sum(run.requests for run in runs)
        peaks = [run.peak_in_flight for run in runs if run.peak_in_flight is not None]
        for place, first in enumerate(runs[0].rows):
            rows.append(
                {
                    "law": law,
                    "server": server,
                    "tool": tool,
                    "share": 100 * share,
                    "rate": runs[0].rate_per_s,
                    "achieved": _median([run.achieved_per_s for run in runs]),
                    "percentile": first.percentile,
                    **_errors(
                        [run.rows[place] for run in runs],
                        enough=is_supported(first.percentile, requests, LEAST_BEYOND),
                    ),
                    "rounds": len(runs),
                    "requests": requests,
                    "dropped": sum(run.dropped for run in runs),
                    "connections": runs[0].connections,
                    "peak": max(peaks, default=None),
                    "contradictions": sum(run.contradictions or 0 for run in runs),
                }
            )
    return pl.DataFrame(rows, infer_schema_length=None)


def parts_frame(found: Truth) -> pl.DataFrame:
    """Return what recorded latency is made of besides the law's delay, a row a part.

    Columns: ``law``, ``share`` (percent), ``rate``, ``part``, ``p50``, ``p99``, ``p99.9`` in us,
    medians of the rounds. Ours on the servers with a law; empty for results of version 1.
    """
    rows: list[dict[str, Any]] = []
    for (law, share, server, _), runs in truth_groups(found).items():
        if server != "law":
            continue
        for part, values in runs[0].parts_us.items():
            rows.append(
                {
                    "law": law,
                    "share": 100 * share,
                    "rate": runs[0].rate_per_s,
                    "part": part,
                    **{
                        f"p{name}": _median([run.parts_us[part][name] for run in runs])
                        for name in values
                    },
                }
            )
    return pl.DataFrame(rows, infer_schema_length=None)


def within_counts(frame: pl.DataFrame) -> dict[str, tuple[int, int]]:
    """Return for each of the ``TRUTHS`` how many percentiles keep what is allowed, of how many.

    ``frame`` is rows of ``truth_frame``; those that are not judged are not among the latter.
    """
    return {
        name: (int(judged.sum()), judged.len())
        for name in TRUTHS
        for judged in (frame[f"within_{name}"].drop_nulls().cast(pl.Boolean),)
    }


def truth_groups(found: Truth) -> dict[tuple[str, float, str, str], list[TruthRun]]:
    """Return the rounds of each law, share, server and tool: laws and shares in their order."""
    groups: dict[tuple[str, float, str, str], list[TruthRun]] = {}
    for run in found.runs:
        key = (run.law or found.law, run.share, run.server, run.tool)
        groups.setdefault(key, []).append(run)
    laws = list(dict.fromkeys(law for law, *_ in groups))
    return dict(sorted(groups.items(), key=lambda item: (laws.index(item[0][0]), item[0][1])))


def summary_frame(found: Summary) -> pl.DataFrame:
    """Return one row a size, and one for JMeter's dashboard where there is one.

    Columns: ``what``, ``requests``, ``wall_s``, ``wall_low``, ``wall_high``, ``cpu_s``,
    ``peak_mib``, ``per_s`` (requests per second of wall time).
    """
    rows = [
        {
            "what": "Sizebook",
            "requests": run.requests,
            "wall_s": run.wall_s.median,
            "wall_low": run.wall_s.low,
            "wall_high": run.wall_s.high,
            "cpu_s": run.cpu_s.median,
            "peak_mib": run.peak_rss_mib.median,
            "per_s": run.requests / run.wall_s.median,
        }
        for run in found.runs
    ]
    wall, samples = found.dashboard_wall_s, found.dashboard_samples
    if wall is not None and samples is not None:
        rows.append(
            {
                "what": "JMeter's dashboard",
                "requests": samples,
                "wall_s": wall.median,
                "wall_low": wall.low,
                "wall_high": wall.high,
                "cpu_s": found.dashboard_cpu_s and found.dashboard_cpu_s.median,
                "peak_mib": None,
                "per_s": samples / wall.median,
            }
        )
    return pl.DataFrame(rows, infer_schema_length=None)


def summary_ratio(found: Summary) -> Repeated | None:
    """Return our requests per second over JMeter's samples per second, within rounds."""
    wall, samples = found.dashboard_wall_s, found.dashboard_samples
    ours = next((run for run in found.runs if run.requests == found.beside_requests), None)
    if wall is None or samples is None or ours is None:
        return None
    scale = ours.requests / samples
    pairs = zip(ours.wall_s.values, wall.values, strict=True)
    return Repeated(values=tuple(scale * theirs / own for own, theirs in pairs))


def rates_frame(found: Inference) -> pl.DataFrame:
    """Return one row a simulated case: ``method``, ``name``, ``share``, ``stated``, ``trials``.

    Shares are in percent.
    """
    return pl.DataFrame(
        {
            "method": [rate.method for rate in found.rates],
            "name": [rate.name for rate in found.rates],
            "share": [100 * rate.share for rate in found.rates],
            "stated": [f"{rate.bound} {rate.nominal:.0%}" for rate in found.rates],
            "trials": [rate.trials for rate in found.rates],
        }
    )


WAYS = ("in turns", "one after the other")
"""How two equal stacks were compared."""


def turns_frame(found: Turns) -> pl.DataFrame:
    """Return one row a block and way: ``block``, ``way`` (``WAYS``), and in percent the rest.

    ``difference`` of the rates of two equal stacks, ``by_rounds`` its standard error by the rounds
    of turns alone (null where there were none), ``speed`` the standard deviation of the machine's
    speed meanwhile (null where it was not told).
    """
    rows = [
        {
            "block": number,
            "way": way,
            "difference": 100 * expm1(block.log_ratio),
            "by_rounds": None if block.error is None else 100 * block.error,
            "speed": None if block.speed_sd is None else 100 * block.speed_sd,
        }
        for way, blocks in zip(WAYS, (found.turns, found.apart), strict=True)
        for number, block in enumerate(blocks, 1)
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def planted_frame(found: Planted) -> pl.DataFrame:
    """Return one row a side that is compared with the first stack.

    Columns: ``side`` in words, ``ratio`` of its rate over the first's with its 95 % interval over
    all blocks, ``low`` and ``high``, and ``told`` of ``choices`` of four blocks whose interval
    leaves 1 out.
    """
    words = {"equal": "equal", "slower": f"{found.more:.0%} more work"}
    rows = []
    for side in PLANTED_SIDES:
        ratio, (told, choices) = found.ratio(side), found.found(side)
        rows.append(
            {
                "side": words[side],
                "ratio": ratio.estimate,
                "low": ratio.low,
                "high": ratio.high,
                "told": told,
                "choices": choices,
            }
        )
    return pl.DataFrame(rows, infer_schema_length=None)


def _spread(rate: Repeated) -> dict[str, float]:
    return {"median": rate.median, "low": rate.low, "high": rate.high}


def _errors(rows: list[PercentileRow], *, enough: bool) -> dict[str, float | bool | None]:
    truth = _median([row.computed_us for row in rows])
    allowed = max(WITHIN_US, WITHIN_SHARE * truth)
    by_law = [row.recorded_us - row.computed_us for row in rows]
    by_way = [row.recorded_us - row.expected_us for row in rows if row.expected_us is not None]
    answered = [row.answered_us for row in rows if row.answered_us is not None]
    by_server = [row.recorded_us - row.answered_us for row in rows if row.answered_us is not None]
    errors = {
        name: _median(values) if values else None
        for name, values in (("law", by_law), ("way", by_way), ("server", by_server))
    }
    error = _median(by_law)
    return {
        "recorded": _median([row.recorded_us for row in rows]) / 1e3,
        "truth": truth / 1e3,
        "answered": _median(answered) / 1e3 if answered else None,
        **{f"{name}_error": value for name, value in errors.items()},
        "error_low": min(by_law),
        "error_high": max(by_law),
        "error_percent": 100 * error / truth if truth else None,
        "allowed": allowed,
        **{
            f"within_{name}": None if value is None or not enough else abs(value) <= allowed
            for name, value in errors.items()
        },
    }


def _median(values: list[float]) -> float:
    return Repeated(values=tuple(values)).median
