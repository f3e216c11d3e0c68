"""What the peers print or write, read: rates, percentiles, failures."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from sizebook.model.errors import TrialError

_UNITS_US = {"us": 1.0, "ms": 1e3, "s": 1e6, "m": 60e6}


@dataclass(frozen=True)
class Report:
    """What a tool says of one run."""

    rate_per_s: float
    requests: int
    failed: int = 0
    dropped: int = 0
    latency_us: Mapping[float, float] = field(default_factory=dict)
    """By percentile."""


def read_wrk(text: str) -> Report:
    """Return what wrk (or wrk2, with ``--latency``) printed."""
    rate = _number(r"Requests/sec:\s+([\d.]+)", text, "wrk")
    requests = _number(r"(\d+) requests in", text, "wrk")
    bad = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    # "  Socket errors: connect 0, read 3, write 0, timeout 0"
    errors = re.search(r"Socket errors: (.*)", text)
    failed = int(bad[1]) if bad else 0
    failed += sum(map(int, re.findall(r"\d+", errors[1]))) if errors else 0
    # " 99.000%    1.88s " (wrk2) or "     99%    1.88ms" (wrk); the spectrum has no per cent sign
    found = re.findall(r"^\s+([\d.]+)%\s+([\d.]+)(us|ms|s|m)\s*$", text, re.MULTILINE)
    latency = {float(p): float(value) * _UNITS_US[unit] for p, value, unit in found}
    return Report(rate, int(requests), failed, latency_us=latency)


def read_hey(text: str) -> Report:
    """Return what hey printed."""
    rate = _number(r"Requests/sec:\s+([\d.]+)", text, "hey")
    statuses = {
        int(code): int(count)
        for code, count in re.findall(r"^\s*\[(\d{3})\]\s+(\d+) responses", text, re.MULTILINE)
    }
    _, _, errors = text.partition("Error distribution:")
    failed = sum(int(n) for n in re.findall(r"^\s*\[(\d+)\]", errors, re.MULTILINE))
    failed += sum(count for code, count in statuses.items() if code != 200)
    return Report(rate, sum(statuses.values()), failed)


def read_k6(text: str) -> Report:
    """Return what k6's ``handleSummary`` was given, as JSON."""
    try:
        metrics = json.loads(text)["metrics"]
        requests = metrics["http_reqs"]["values"]
        values = metrics["http_req_duration"]["values"]
        failed = metrics["http_req_failed"]["values"]["passes"]  # "passes" of the rate "failed"
    except (ValueError, KeyError) as error:
        raise _unreadable("k6", str(error)) from error
    dropped = metrics.get("dropped_iterations", {}).get("values", {}).get("count", 0)
    latency = {
        50.0 if name == "med" else float(name[2:-1]): 1e3 * value
        for name, value in values.items()
        if name == "med" or name.startswith("p(")
    }
    return Report(
        float(requests["rate"]), int(requests["count"]), int(failed), int(dropped), latency
    )


def read_locust(text: str) -> Report:
    """Return the lines ``Aggregated`` of the two tables that Locust prints at its end.

    Its CSV is written once a second and misses the end.
    """
    stats, _, percentiles = text.partition("Response time percentiles")
    # "  Aggregated  21157  0(0.00%) |  1  0  21  1 | 7325.09  0.00"
    row = re.search(r"Aggregated\s+(\d+)\s+(\d+)\([^|]*\|[^|]*\|\s*([\d.]+)", stats)
    names = re.findall(r"([\d.]+)%", percentiles)
    values = re.search(r"Aggregated((?:\s+\d+)+)", percentiles)
    if row is None or values is None or len(values[1].split()) != len(names) + 1:
        raise _unreadable("Locust", text.strip()[-200:] or "nothing")
    latency = zip(
        map(float, names), (1e3 * float(word) for word in values[1].split()), strict=False
    )
    return Report(float(row[3]), int(row[1]), int(row[2]), latency_us=dict(latency))


def read_jmeter(path: Path, last_s: float) -> Report:
    """Return what JMeter's CSV of samples says of its last seconds: before them it warms up."""
    try:
        samples = pl.read_csv(path, columns=["timeStamp", "elapsed", "success"])
        end_ms = (samples["timeStamp"] + samples["elapsed"]).to_numpy()
        last = samples.filter(end_ms > end_ms.max() - 1e3 * last_s)
    except (OSError, ValueError, pl.exceptions.PolarsError) as error:
        raise _unreadable("JMeter", str(error)) from error
    good = last["success"].cast(pl.String).str.to_lowercase() == "true"
    return Report(last.height / last_s, last.height, last.height - int(good.sum()))


def _number(pattern: str, text: str, tool: str) -> float:
    found = re.search(pattern, text)
    if found is None:
        raise _unreadable(tool, text.strip()[-200:] or "nothing")
    return float(found[1])


def _unreadable(tool: str, words: str) -> TrialError:
    return TrialError(
        found=f"an output of {tool} that cannot be read: {words}",
        expected="its report of one run",
        next_step=f"see whether another version of {tool} is installed than the benchmark knows",
    )
