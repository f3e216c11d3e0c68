"""Simulated runs, written as the files that other load tools write; and what their reports say.

Formats are those of JMeter 5.6, k6 1.8, Gatling 3.9, Locust 2, wrk2, HdrHistogram, oha 1.14 and
vegeta 12, checked against files that these tools wrote.
"""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime

import numpy as np
from hdrh.histogram import HdrHistogram
from numpy.typing import NDArray

from bench.queueing import SimulatedRun

EPOCH_S = 1_790_000_000.0
NAMES = ("/search", "/item", "/cart", "/pay")
JTL_COLUMNS = (
    *("timeStamp", "elapsed", "label", "responseCode", "responseMessage", "threadName"),
    *("dataType", "success", "failureMessage", "bytes", "sentBytes", "grpThreads", "allThreads"),
    *("URL", "Latency", "IdleTime", "Connect"),
)
LOCUST_PERCENTS = (50, 66, 75, 80, 90, 95, 98, 99, 99.9, 99.99, 100)
_Floats = NDArray[np.float64]


def jtl_csv(run: SimulatedRun, threads: int, *, ends: bool = False, shift_s: float = 0.0) -> bytes:
    """Return a JTL in CSV; ``ends``: its time stamps are those of the ends."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(JTL_COLUMNS)
    for at in _by_end(run):
        begin, took = _ms(run, at, shift_s)
        ok = not run.failed[at]
        users = min(threads, int(run.users[at])) if run.users.max() > 1 else threads
        message = "OK" if ok else 'Service "busy",\ntry again'
        name = NAMES[run.name[at]]
        writer.writerow(
            [begin + took if ends else begin, took, name, 200 if ok else 503, message,
             f"Users 1-{run.user[at] + 1}", "text", str(ok).lower(), "", 512, 128, users, users,
             f"http://shop.example{name}", took, 0, 0]
        )  # fmt: skip
    return out.getvalue().encode()


def jtl_xml(run: SimulatedRun, threads: int) -> bytes:
    """Return a JTL in XML."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<testResults version="1.2">']
    for at in _by_end(run):
        begin, took = _ms(run, at)
        ok = not run.failed[at]
        lines.append(
            f'<httpSample t="{took}" it="0" lt="{took}" ct="0" ts="{begin}" s="{str(ok).lower()}" '
            f'lb="{NAMES[run.name[at]]}" rc="{200 if ok else 503}" rm="OK" '
            f'tn="Users 1-{run.user[at] + 1}" dt="text" by="512" sby="128" ng="{threads}" '
            f'na="{threads}"/>'
        )
    return "\n".join([*lines, "", "</testResults>", ""]).encode()


def k6_lines(
    run: SimulatedRun, users: int, *, back_s: float = 0.0, back_at_s: float = 0.0
) -> bytes:
    """Return what ``k6 run --out json`` writes; the clock may be set back at a time."""
    lines = [
        json.dumps({"type": "Metric", "data": {"name": name, "type": kind, "contains": "default",
                    "thresholds": [], "submetrics": None}, "metric": name}, separators=(",", ":"))
        for name, kind in (("http_reqs", "counter"), ("http_req_duration", "trend"))
    ]  # fmt: skip
    events: list[tuple[float, str, float, dict[str, str]]] = []
    for at in range(run.size):
        end = float(run.start_s[at] + run.latency_s[at])
        tags = {"expected_response": str(not run.failed[at]).lower(), "method": "GET",
                "name": f"http://shop.example{NAMES[run.name[at]]}", "scenario": "default",
                "status": "503" if run.failed[at] else "200"}  # fmt: skip
        events.append((end, "http_reqs", 1, tags))
        events.append((end, "http_req_duration", float(run.latency_s[at]) * 1e3, tags))
        events.append((end, "iterations", 1, {"scenario": "default"}))
    events += [(second + 0.99, "vus", users, {}) for second in range(int(run.length_s))]
    events += [(float(at), "dropped_iterations", 1, {"scenario": "default"})
               for at in run.dropped_s]  # fmt: skip
    for end, metric, value, tags in sorted(events, key=lambda event: event[0]):
        moved = end - back_s if back_s and end >= back_at_s else end
        point = {"time": _rfc3339(moved), "value": value, "tags": tags}
        lines.append(
            json.dumps({"metric": metric, "type": "Point", "data": point}, separators=(",", ":"))
        )
    return ("\n".join(lines) + "\n").encode()


def k6_csv(run: SimulatedRun, users: int) -> bytes:
    """Return what ``k6 run --out csv`` writes: time stamps in whole seconds."""
    head = (
        "metric_name,timestamp,metric_value,check,error,error_code,expected_response,group,method,"
        "name,proto,scenario,service,status,subproto,tls_version,url,extra_tags,metadata"
    )
    rows: list[tuple[float, str]] = []
    for at in range(run.size):
        end, ok = float(run.start_s[at] + run.latency_s[at]), not run.failed[at]
        url = f"http://shop.example{NAMES[run.name[at]]}"
        rest = f",,,,{str(ok).lower()},,GET,{url},HTTP/1.1,default,,{200 if ok else 503},,,{url},,"
        stamp = int(EPOCH_S + end)
        value = float(run.latency_s[at]) * 1e3
        rows.append((end, f"http_reqs,{stamp},1.000000{rest}"))
        rows.append((end, f"http_req_duration,{stamp},{value:.6f}{rest}"))
    for second in range(int(run.length_s)):
        stamp = int(EPOCH_S + second + 0.99)
        rows.append((second + 0.99, f"vus,{stamp},{users:.6f}" + "," * 16))
    rows.sort(key=lambda row: row[0])
    return "\n".join([head, *(text for _, text in rows), ""]).encode()


def k6_summary(run: SimulatedRun, users: int, *, handled: bool = False) -> bytes:
    """Return what --summary-export writes, or what handleSummary is given."""
    ms = run.latency_s * 1e3
    length_s = _length_s(run)
    p90, p95 = np.quantile(ms, [0.9, 0.95])
    trend = {"avg": ms.mean(), "min": ms.min(), "med": np.median(ms), "max": ms.max(),
             "p(90)": p90, "p(95)": p95}  # fmt: skip
    failed = int(run.failed.sum())
    count = {"count": run.size, "rate": run.size / length_s}
    share = {"passes": failed, "fails": run.size - failed}
    most = {"value": users, "min": users, "max": users}
    if not handled:
        share["value"] = failed / run.size  # type: ignore[assignment]
        metrics = {"http_req_duration": trend, "http_reqs": count, "iterations": count,
                   "http_req_failed": share, "vus_max": most}  # fmt: skip
        return json.dumps({"metrics": metrics}, indent=4, default=float).encode()
    share["rate"] = failed / run.size  # type: ignore[assignment]
    kinds = {
        "http_req_duration": ("trend", "time", trend),
        "http_reqs": ("counter", "default", count),
        "http_req_failed": ("rate", "default", share),
        "vus_max": ("gauge", "default", most),
    }
    told = {
        name: {"type": kind, "contains": unit, "values": values}
        for name, (kind, unit, values) in kinds.items()
    }
    document = {"options": {}, "state": {"testRunDurationMs": length_s * 1e3}, "metrics": told}
    return json.dumps(document, default=float).encode()


def gatling_log(run: SimulatedRun, *, users: bool) -> bytes:
    """Return a simulation.log of Gatling 3.9; ``users``: one begins with each first request."""
    lines = [f"RUN\tshop.Simulation\tsimulation\t{int(EPOCH_S * 1e3)}\t \t3.9.5"]
    events: list[tuple[int, str]] = []
    for user in np.unique(run.user):
        mine = np.flatnonzero(run.user == user) if users else np.array([user])
        first, last = _ms(run, mine[0]), _ms(run, mine[-1])
        events.append((first[0], f"USER\tshop\tSTART\t{first[0]}"))
        events.append((sum(last), f"USER\tshop\tEND\t{sum(last)}"))
    for at in range(run.size):
        begin, took = _ms(run, at)
        state = "KO\tstatus.find.is(200), but actually found 503" if run.failed[at] else "OK\t "
        name = NAMES[run.name[at]]
        events.append((begin + took, f"REQUEST\t\t{name}\t{begin}\t{begin + took}\t{state}"))
    events.sort(key=lambda event: event[0])
    return "\n".join([*lines, *(text for _, text in events), ""]).encode()


def locust_rounded(ms: _Floats) -> _Floats:
    """Return response times as Locust keeps them: two digits from 100 ms on."""
    digits = np.where(ms < 100, 1, np.where(ms < 1000, 10, np.where(ms < 10_000, 100, 1000)))
    return np.round(ms / digits) * digits


def locust_percentiles(ms: _Floats) -> list[float]:
    """Return the percentiles of its table: the value below which at most so many lie."""
    kept = np.sort(locust_rounded(ms))
    ranks = [max(1, round(p / 100 * kept.size)) for p in LOCUST_PERCENTS]
    return [float(kept[min(rank, kept.size) - 1]) for rank in ranks]


def locust_stats(run: SimulatedRun, *, averaged: bool = False) -> bytes:
    """Return ``_stats.csv``; ``averaged``: a script made the last row's percentiles by a mean."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(
        ["Type", "Name", "Request Count", "Failure Count", "Median Response Time",
         "Average Response Time", "Min Response Time", "Max Response Time", "Average Content Size",
         "Requests/s", "Failures/s", *(f"{p:g}%" for p in LOCUST_PERCENTS)]
    )  # fmt: skip
    ladders, weights = [], []
    ms, length_s = run.latency_s * 1e3, _length_s(run)
    for name in np.unique(run.name):
        mine = run.name == name
        ladders.append(locust_percentiles(ms[mine]))
        weights.append(int(mine.sum()))
        writer.writerow(["GET", NAMES[name], *_locust_sums(ms[mine], run.failed[mine], length_s),
                         *map(int, ladders[-1])])  # fmt: skip
    whole = locust_percentiles(ms)
    if averaged:
        whole = [float(x) for x in np.average(ladders, axis=0, weights=weights)]
    row = ["", "Aggregated", *_locust_sums(ms, run.failed, length_s), *map(int, whole)]
    writer.writerow(row)
    return out.getvalue().encode()


def _locust_sums(ms: _Floats, failed: NDArray[np.bool_], length_s: float) -> list[float]:
    number, bad = ms.size, int(failed.sum())
    return [number, bad, float(np.median(locust_rounded(ms))), float(ms.mean()), float(ms.min()),
            float(ms.max()), 512.0, number / length_s, bad / length_s]  # fmt: skip


def locust_history(run: SimulatedRun, *, count_share: float = 1.0) -> bytes:
    """Return ``_stats_history.csv``; ``count_share`` of the users are counted in it."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(
        ["Timestamp", "User Count", "Type", "Name", "Requests/s", "Failures/s",
         *(f"{p:g}%" for p in LOCUST_PERCENTS), "Total Request Count", "Total Failure Count",
         "Total Median Response Time", "Total Average Response Time", "Total Min Response Time",
         "Total Max Response Time", "Total Average Content Size"]
    )  # fmt: skip
    ends = run.start_s + run.latency_s
    order = np.argsort(ends)
    ends, ms, failed = ends[order], run.latency_s[order] * 1e3, run.failed[order]
    for second in range(int(run.length_s) + 1):
        done = int(np.searchsorted(ends, second))
        begun = int(np.searchsorted(run.start_s, second))
        users = int(run.users[begun - 1] * count_share) if begun else 0
        past = int(np.searchsorted(ends, max(0, second - 10)))
        rate = (done - past) / min(10, max(second, 1))
        head = [int(EPOCH_S) + second, users, "", "Aggregated", f"{rate:2f}", "0.000000"]
        if not done:
            writer.writerow([*head, *["N/A"] * len(LOCUST_PERCENTS), 0, 0, 0, 0.0, 0, 0, 0])
            continue
        seen = ms[:done]
        writer.writerow(
            [*head, *map(int, locust_percentiles(seen)), done, int(failed[:done].sum()),
             int(np.median(locust_rounded(seen))), float(seen.mean()), float(seen.min()),
             float(seen.max()), 512.0]
        )  # fmt: skip
    return out.getvalue().encode()


def hgrm(latency_s: _Floats) -> bytes:
    """Return a table of percentiles as HdrHistogram prints it, in ms."""
    histogram = _histogram(latency_s)
    out = io.BytesIO()
    histogram.output_percentile_distribution(out, 1e6)
    return out.getvalue()


def wrk2(run: SimulatedRun, connections: int, rate_per_s: float) -> bytes:
    """Return what wrk2 prints with --latency."""
    table = hgrm(run.latency_s).decode()
    mean = float(run.latency_s.mean()) * 1e3
    seconds = round(run.length_s)
    return (
        f"Running {seconds}s test @ http://shop.example/\n"
        f"  2 threads and {connections} connections\n"
        f"  Thread calibration: mean lat.: {mean:.3f}ms, rate sampling interval: 10ms\n"
        "  Thread Stats   Avg      Stdev     Max   +/- Stdev\n"
        f"    Latency    {mean:.2f}ms    1.00ms  {run.latency_s.max() * 1e3:.2f}ms   68.00%\n"
        f"    Req/Sec   {rate_per_s / 2:.2f}     20.00   600.00     70.00%\n"
        "  Latency Distribution (HdrHistogram - Recorded Latency)\n"
        f" 50.000%  {np.median(run.latency_s) * 1e3:.2f}ms\n\n"
        f"  Detailed Percentile spectrum:\n{table}"
        "----------------------------------------------------------\n"
        f"  {run.size} requests in {run.length_s:.2f}s, 12.00MB read\n"
        f"Requests/sec: {run.size / run.length_s:9.2f}\nTransfer/sec:    240.00KB\n"
    ).encode()


def hlog(run: SimulatedRun) -> bytes:
    """Return an interval log with a histogram a second, by when requests ended."""
    lines = [
        "#[Histogram log format version 1.3]",
        f"#[StartTime: {EPOCH_S:.3f} (seconds since epoch), Mon Sep 21 2026]",
        '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"',
    ]
    ends = run.start_s + run.latency_s
    for second in range(int(run.length_s)):
        mine = run.latency_s[(ends >= second) & (ends < second + 1)]
        histogram = _histogram(mine)
        most = float(mine.max()) * 1e3 if mine.size else 0.0
        lines.append(f"{second:.3f},1.000,{most:.3f},{histogram.encode().decode()}")
    return ("\n".join(lines) + "\n").encode()


def oha(run: SimulatedRun) -> bytes:
    """Return what ``oha --output-format json`` writes."""
    length_s, good = _length_s(run), int((~run.failed).sum())
    percents = (10, 25, 50, 75, 90, 95, 99, 99.9, 99.99)
    values = np.quantile(run.latency_s, np.array(percents) / 100)
    summary = {"successRate": 1.0, "total": length_s, "slowest": run.latency_s.max(),
               "fastest": run.latency_s.min(), "average": run.latency_s.mean(),
               "requestsPerSec": run.size / length_s, "totalData": 512 * run.size,
               "sizePerRequest": 512, "sizePerSec": 512 * run.size / length_s}  # fmt: skip
    counts, edges = np.histogram(run.latency_s, bins=10)
    document = {
        "summary": summary,
        "responseTimeHistogram": {str(e): int(n) for e, n in zip(edges, counts, strict=False)},
        "latencyPercentiles": {f"p{p:g}": v for p, v in zip(percents, values, strict=True)},
        "rps": {"mean": run.size / length_s, "stddev": 1.0, "max": 1.0, "min": 1.0,
                "percentiles": {}},
        "details": {},
        "statusCodeDistribution": {"200": good} | ({"503": run.size - good} if good < run.size
                                                   else {}),
        "errorDistribution": {},
    }  # fmt: skip
    return json.dumps(document, indent=2, default=float).encode()


def vegeta_lines(run: SimulatedRun) -> bytes:
    """Return what ``vegeta encode --to json`` writes."""
    lines = []
    for seq in range(run.size):
        url = f"http://shop.example{NAMES[run.name[seq]]}"
        lines.append(
            json.dumps(
                {"attack": "", "seq": seq, "code": 503 if run.failed[seq] else 200,
                 "timestamp": _rfc3339(float(run.start_s[seq])),
                 "latency": round(float(run.latency_s[seq]) * 1e9), "bytes_out": 0,
                 "bytes_in": 2, "error": "503 Service Unavailable" if run.failed[seq] else "",
                 "body": "b2s=", "method": "GET", "url": url,
                 "headers": {"Content-Length": ["2"]}}, separators=(",", ":"))
        )  # fmt: skip
    return ("\n".join(lines) + "\n").encode()


def vegeta_report(run: SimulatedRun) -> bytes:
    """Return what ``vegeta report -type json`` writes."""
    ns = run.latency_s * 1e9
    duration = float(run.start_s[-1] - run.start_s[0])
    names = {"50th": 0.5, "90th": 0.9, "95th": 0.95, "99th": 0.99}
    latencies = {
        "total": int(ns.sum()),
        "mean": int(ns.mean()),
        "max": int(ns.max()),
        "min": int(ns.min()),
        **{name: int(np.quantile(ns, q)) for name, q in names.items()},
    }
    ends = run.start_s + run.latency_s
    document = {
        "latencies": latencies,
        "bytes_in": {"total": 2 * run.size, "mean": 2},
        "bytes_out": {"total": 0, "mean": 0},
        "earliest": _rfc3339(float(run.start_s[0])),
        "latest": _rfc3339(float(run.start_s[-1])),
        "end": _rfc3339(float(ends.max())),
        "duration": round(duration * 1e9),
        "wait": round(float(ends.max() - run.start_s[-1]) * 1e9),
        "requests": run.size,
        "rate": run.size / duration,
        "throughput": run.size / duration,
        "success": float((~run.failed).mean()),
        "status_codes": {"200": int((~run.failed).sum())},
        "errors": [],
    }
    return json.dumps(document).encode()


def _by_end(run: SimulatedRun) -> list[int]:
    return [int(at) for at in np.argsort(run.start_s + run.latency_s, kind="stable")]


def _ms(run: SimulatedRun, at: int, shift_s: float = 0.0) -> tuple[int, int]:
    """Return begin and length in whole ms, both cut as clocks of milliseconds cut them."""
    begin = EPOCH_S + shift_s + float(run.start_s[at])
    return int(begin * 1e3), int(float(run.latency_s[at]) * 1e3)


def _length_s(run: SimulatedRun) -> float:
    return float((run.start_s + run.latency_s).max() - run.start_s[0])


def _rfc3339(at_s: float) -> str:
    whole = int(EPOCH_S + at_s)
    fraction = round((EPOCH_S - int(EPOCH_S) + at_s - int(at_s)) * 1e9) % 1_000_000_000
    return f"{datetime.fromtimestamp(whole, UTC):%Y-%m-%dT%H:%M:%S}.{fraction:09d}Z"


def _histogram(latency_s: _Floats) -> HdrHistogram:
    histogram = HdrHistogram(1, 3_600_000_000_000, 3)
    for value in np.round(latency_s * 1e9).astype(np.int64).tolist():
        histogram.record_value(max(1, value))
    return histogram
