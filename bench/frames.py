"""The results as tidy frames, for the book's page."""

from __future__ import annotations

import polars as pl

from bench.ceiling import OURS
from bench.pairs import paired_ratio
from bench.records import Ceiling, Inference, PercentileRow, Repeated, Summary, Truth, TruthRun

WITHIN_SHARE, WITHIN_US = 0.01, 50.0
"""What a recorded percentile may be off: the larger of 1 % and 50 us."""


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
    """Return one row a server, tool, share of the ceiling and percentile.

    Columns: ``server``, ``tool``, ``share`` (percent), ``rate``, ``achieved`` (per second),
    ``percentile``; in ms ``recorded``, ``truth``, ``answered`` (until the server sent the answer,
    by its own clock; null for peers); in us ``error``, ``net`` (both the medians of
    the rounds, net with the way to the server and back added to the truth), ``error_low``,
    ``error_high`` (smallest and largest of the rounds); ``error_percent``, ``net_percent``;
    ``within``: whether the net error, or the error where there is no net, keeps 1 % or 50 us;
    ``rounds``, ``requests`` of one round, ``dropped``.
    """
    groups: dict[tuple[float, str, str], list[TruthRun]] = {}
    for run in found.runs:
        groups.setdefault((run.share, run.server, run.tool), []).append(run)
    rows = []
    for (share, server, tool), runs in groups.items():
        for place, first in enumerate(runs[0].rows):
            same = [run.rows[place] for run in runs]
            rows.append(
                {
                    "server": server,
                    "tool": tool,
                    "share": 100 * share,
                    "rate": runs[0].rate_per_s,
                    "achieved": Repeated(values=tuple(r.achieved_per_s for r in runs)).median,
                    "percentile": first.percentile,
                    **_errors(same),
                    "rounds": len(runs),
                    "requests": runs[0].requests,
                    "dropped": sum(run.dropped for run in runs),
                }
            )
    return pl.DataFrame(rows, infer_schema_length=None)


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


def _spread(rate: Repeated) -> dict[str, float]:
    return {"median": rate.median, "low": rate.low, "high": rate.high}


def _errors(rows: list[PercentileRow]) -> dict[str, float | bool | None]:
    truth = _median([row.computed_us for row in rows])
    errors = [row.recorded_us - row.computed_us for row in rows]
    nets = [row.recorded_us - row.expected_us for row in rows if row.expected_us is not None]
    answered = [row.answered_us for row in rows if row.answered_us is not None]
    error, net = _median(errors), _median(nets) if nets else None
    allowed = max(WITHIN_US, WITHIN_SHARE * truth)
    return {
        "recorded": _median([row.recorded_us for row in rows]) / 1e3,
        "truth": truth / 1e3,
        "answered": _median(answered) / 1e3 if answered else None,
        "error": error,
        "error_low": min(errors),
        "error_high": max(errors),
        "error_percent": 100 * error / truth if truth else None,
        "net": net,
        "net_percent": 100 * net / truth if net is not None and truth else None,
        "within": abs(error if net is None else net) <= allowed,
    }


def _median(values: list[float]) -> float:
    return Repeated(values=tuple(values)).median
