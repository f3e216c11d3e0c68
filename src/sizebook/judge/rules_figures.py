"""Rules on the figures: errors, time-outs, percentiles that a sample supports, averages of them."""

from __future__ import annotations

import numpy as np

from sizebook.judge.facts import ForeignCase
from sizebook.judge.findings import ForeignFinding, ForeignRule, Unknowable, Weight
from sizebook.judge.results import MS_NS, Totals, TotalsRow
from sizebook.judge.wording import say_percentile, say_time
from sizebook.stats.quantiles import highest_supported, is_supported, least_samples

ERRORS = ForeignRule(
    "FR401-errors",
    "Errors are few, and not among the latencies",
    "Find the cause of the errors; compute latencies from successful requests, errors beside them.",
)
TIMEOUTS = ForeignRule(
    "FR402-timeouts",
    "No time-out cuts the tail",
    "Raise the client's time-out, or quote no percentile above the share that ran into it.",
)
PERCENTILES = ForeignRule(
    "FR501-percentiles",
    "The sample supports the percentiles",
    "Quote only the percentiles named here; for higher ones make more requests.",
)
AVERAGED = ForeignRule(
    "FR502-averaged",
    "No percentile is an average of percentiles",
    "Merge histograms or single requests; never average percentiles of names, workers or windows.",
)
MOST_ERRORS = 0.01
MOVED = 0.05
NEAR_MOST = 0.99
PINNED_SHARE = 0.001
PINNED_LEAST = 5
FAR = 5.0
ROUNDED = 0.06
"""By which a percentile of Locust may be off: two digits."""
ALIKE = 0.03
_USUAL = (50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99, 99.999)


def errors(case: ForeignCase) -> ForeignFinding:
    """Judge the share of failed requests, and what they do to the percentiles."""
    failed, requests = case.failed, case.requests
    if failed is None:
        raise Unknowable("how many requests failed", "the file does not say")
    if "errors are not known" in " ".join(case.results.notes):
        raise Unknowable("how many requests failed", "the JTL has no column success")
    share = failed / max(1, requests)
    numbers = {"failed": float(failed), "share": share}
    if failed == 0:
        return ForeignFinding(ERRORS.id, "fine", "no request failed", numbers)
    words = f"{failed:,} of {requests:,} requests failed ({share:.2%})"
    moved = _moved(case)
    if moved is None:
        words += ", and the file does not say how fast"
    else:
        p, every, good, bad = moved
        words += (
            f"; their median is {say_time(bad)}. With them {say_percentile(p)} is "
            f"{say_time(every)}, without them {say_time(good)} ({every / good - 1:+.0%})"
        )
        numbers |= {"percentile": p, "with_ns": every, "without_ns": good}
    much = moved is not None and abs(moved[1] / moved[2] - 1) > MOVED
    weight: Weight = "wrong" if share > MOST_ERRORS or much else "caution"
    return ForeignFinding(ERRORS.id, weight, words, numbers)


def _moved(case: ForeignCase) -> tuple[float, float, float, float] | None:
    """Return the percentile that errors move most, with and without them; and their median."""
    table = case.table
    if table is None or table.failed.all():
        return None
    good, bad = table.latency_ns[~table.failed], table.latency_ns[table.failed]
    asked = [p for p in (50.0, 90.0, 95.0, 99.0) if is_supported(p, good.size)] or [50.0]
    every, kept = (np.quantile(x, np.array(asked) / 100) for x in (case.ordered_ns, good))
    change = np.abs(np.log(np.maximum(every, 1) / np.maximum(kept, 1)))
    at = int(change.argmax())
    return asked[at], float(every[at]), max(1.0, float(kept[at])), float(np.median(bad))


def timeouts(case: ForeignCase) -> ForeignFinding:
    """Judge whether many latencies end at one value, far above the others."""
    found = _ends(case)
    if found is None:
        raise Unknowable("whether a time-out cuts the tail", "the file has no single latencies")
    most, median, at_most, below, size = found
    numbers = {"at_most": float(at_most), "most_ns": most}
    pinned = at_most >= max(PINNED_LEAST, PINNED_SHARE * size)
    if pinned and most > FAR * median and below < at_most / 3:
        words = (
            f"{at_most:,} requests ({at_most / size:.2%}) took {say_time(most)}, within 1 %, and "
            f"{below:,} a little less: the client gave up then, and the true tail is longer"
        )
        return ForeignFinding(TIMEOUTS.id, "wrong", words, numbers)
    words = f"latencies thin out towards the longest, {say_time(most)}"
    return ForeignFinding(TIMEOUTS.id, "fine", words, numbers)


def _ends(case: ForeignCase) -> tuple[float, float, int, int, int] | None:
    """Return greatest and median latency, how many are next to it and below that, and of all."""
    if case.table is not None:
        values = case.ordered_ns
        most = float(values[-1])
        near, wide = np.searchsorted(values, [NEAR_MOST * most, 0.9 * most])
        size = int(values.size)
        return most, float(values[size // 2]), size - int(near), int(near - wide), size
    spectrum = case.results.spectrum
    if spectrum is None or case.results.cut:
        return None
    most = float(spectrum.values_ns[-1])
    near = spectrum.values_ns >= NEAR_MOST * most
    wide = (spectrum.values_ns >= 0.9 * most) & ~near
    at_most, below = (int(spectrum.counts[part].sum()) for part in (near, wide))
    return most, spectrum.quantile_ns(50), at_most, below, spectrum.size


def percentiles(case: ForeignCase) -> ForeignFinding:
    """Judge the percentiles that the tool prints against the number of requests."""
    number = case.requests
    highest = highest_supported(number)
    usual = [p for p in _USUAL if highest is not None and p <= highest]
    reach = f"{say_percentile(usual[-1])} and lower" if usual else "no percentile"
    numbers = {"requests": float(number)} | ({"highest": highest} if highest else {})
    printed = [p for p in case.results.prints if 0 < p < 100]
    short = [p for p in printed if not is_supported(p, number)]
    words = f"{number:,} requests support {reach}"
    if short:
        names = ", ".join(map(say_percentile, short))
        words += (
            f"; the tool prints {names}, and {say_percentile(short[0])} alone needs "
            f"{least_samples(short[0]):,}"
        )
        weight: Weight = "wrong" if min(short) <= 99 else "caution"
        return ForeignFinding(PERCENTILES.id, weight, words, numbers)
    few = _few(case)
    if few:
        words += f"; but {few[0]} of its names have fewer than {few[1]:,}, which {few[2]} needs"
        return ForeignFinding(PERCENTILES.id, "caution", words, numbers)
    return ForeignFinding(PERCENTILES.id, "fine", words, numbers)


def _few(case: ForeignCase) -> tuple[int, int, str] | None:
    """Return how many names have too few requests for the highest usual percentile printed."""
    usual = [p for p in case.results.prints if 50 < p <= 99]
    if not usual:
        return None
    need = least_samples(max(usual))
    if case.table is not None:
        sizes = [int(n) for n in np.bincount(case.table.name) if n]
    else:
        totals = case.results.totals
        sizes = [part.requests for part in totals.parts if part.requests] if totals else []
    few = sum(size < need for size in sizes)
    return (few, need, say_percentile(max(usual))) if few and len(sizes) > 1 else None


def averaged(case: ForeignCase) -> ForeignFinding:
    """Judge whether a percentile of all can be one, by the percentiles of the parts."""
    results = case.results
    if results.windowed:
        words = (
            "percentiles of the history are those of ten seconds each: their mean, or their mean "
            "over rows, is no percentile of the run"
        )
        return ForeignFinding(AVERAGED.id, "caution", words)
    if results.totals is None or results.spectrum is not None:
        words = "percentiles are computed here from all requests together"
        return ForeignFinding(AVERAGED.id, "fine", words)
    totals = results.totals
    parts = [part for part in totals.parts if part.percentiles_ns and part.requests]
    if len(parts) < 2:
        words = f"{results.tool} computes them from all requests of the run that it knows"
        return ForeignFinding(AVERAGED.id, "fine", words)
    for p, value in totals.whole.percentiles_ns.items():
        if not 50 <= p <= 99.5 or value <= 0:
            continue
        low, high = _share_below(parts, value)
        slack = 100 / max(1, totals.whole.requests)
        if low - slack <= p <= high + slack:
            continue
        name = say_percentile(p)
        words = (
            f"{name} of all is given as {say_time(value)}, and by the rows {low:.1f} to "
            f"{high:.1f} % of the requests are that fast: it is no {name}"
        )
        how = _as_mean(totals, parts, p, value)
        words += f", but {how}" if how else ""
        numbers = {"percentile": p, "value_ns": value, "low": low, "high": high}
        return ForeignFinding(AVERAGED.id, "wrong", words, numbers)
    words = "percentiles of all fit those of the rows"
    return ForeignFinding(AVERAGED.id, "fine", words)


def _share_below(parts: list[TotalsRow], value: float) -> tuple[float, float]:
    """Return between which shares, in percent, of all parts together lie at or below a value."""
    low = high = 0.0
    total = sum(part.requests for part in parts)
    for part in parts:
        ladder = [*part.percentiles_ns.items()]
        if part.most_ns is not None:
            ladder.append((100.0, part.most_ns))
        below = [p for p, each in ladder if each <= value * (1 - ROUNDED)]
        above = [p for p, each in ladder if each > value * (1 + ROUNDED)]
        is_less = part.least_ns is not None and value * (1 + ROUNDED) < part.least_ns
        low += part.requests / total * max(below, default=0.0)
        high += part.requests / total * (0.0 if is_less else min(above, default=100.0))
    return low, high


def _as_mean(totals: Totals, parts: list[TotalsRow], p: float, value: float) -> str:
    """Return which mean of the rows' percentiles a value is; empty if it is none."""
    known = [(part.requests, part.percentiles_ns[p]) for part in parts if p in part.percentiles_ns]
    if len(known) < len(parts):
        return ""
    weights, values = np.array(known).T
    for mean, name in (
        (float(np.average(values, weights=weights)), "the mean of the rows' by their requests"),
        (float(values.mean()), "the plain mean of the rows'"),
    ):
        if abs(mean - value) <= max(ALIKE * value, MS_NS):
            return f"{name} ({totals.whole.requests:,} requests in {len(parts)} rows)"
    return ""
