"""The truth, computed: delays from their law, latencies from schedule, delays and freeze.

Nothing here looks at what was measured, except for the time of the freeze, which the server tells.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

Times = NDArray[np.int64]
"""Nanoseconds."""

_GAMMA = np.uint64(0x9E3779B97F4A7C15)


def draws(seed: int, count: int) -> NDArray[np.float64]:
    """Return the first draws from (0, 1) of the server's sequence.

    SplitMix64 (Steele, Lea, Flood, OOPSLA 2014), the upper 53 bits of each output.
    """
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * _GAMMA
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    return ((z >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53


def delays_ns(law: str, seed: int, count: int) -> Times:
    """Return the delays of the server's first requests. Raises ValueError for an unknown law."""
    name, _, rest = law.partition(":")
    values = [float(word) for word in rest.split(",")]
    match name, values:
        case "constant", [delay_us]:
            return np.full(count, round(1e3 * delay_us), dtype=np.int64)
        case "lognormal", [median_us, sigma]:
            delays = 1e3 * median_us * np.exp(sigma * ndtri(draws(seed, count)))
        case "two-point", [fast_us, slow_us, slow_share]:
            delays = 1e3 * np.where(draws(seed, count) < slow_share, slow_us, fast_us)
        case _:
            raise ValueError(f"no law {law!r}")
    return np.rint(delays).astype(np.int64)


def mean_s(law: str) -> float:
    """Return the mean delay of a law in seconds. Raises ValueError for an unknown law."""
    name, _, rest = law.partition(":")
    match name, [float(word) for word in rest.split(",")]:
        case "constant", [delay_us]:
            return 1e-6 * delay_us
        case "lognormal", [median_us, sigma]:
            return float(1e-6 * median_us * np.exp(sigma**2 / 2))
        case "two-point", [fast_us, slow_us, slow_share]:
            return 1e-6 * (fast_us + slow_share * (slow_us - fast_us))
    raise ValueError(f"no law {law!r}")


def latencies_ns(
    intended_ns: Times,
    delays: Times,
    freeze_ns: tuple[int, int] | None = None,
    service_ns: float = 0.0,
) -> Times:
    """Return the latency of each arrival from its intended start; arrivals are in order.

    A request that arrives in the freeze is read when it ends; an answer due in the freeze is sent
    when it ends. ``service_ns`` is the least time between two requests on their way, one over the
    ceiling of generator and server: what waited behind a freeze comes through no faster. Zero
    means that all come through at once. The wait is Lindley's recursion (Proc. Cambridge Phil.
    Soc. 48, 1952) with constant service, as a running maximum.
    """
    read = intended_ns
    if freeze_ns is not None:
        begin, end = freeze_ns
        read = np.where((read >= begin) & (read < end), end, read)
    if service_ns:
        # start_k = max(read_k, start_(k-1) + service) = k service + max over j <= k of
        # (read_j - j service)
        lead = np.rint(np.arange(read.size) * service_ns).astype(np.int64)
        read = np.maximum.accumulate(read - lead) + lead
    answered = read + delays
    if freeze_ns is not None:
        answered = np.where((answered >= begin) & (answered < end), end, answered)
    return answered - intended_ns


def percentiles_us(latencies: Times, percentiles: tuple[float, ...]) -> list[float]:
    """Return percentiles in microseconds: each is one of the values, the higher of two."""
    found = np.quantile(latencies, np.array(percentiles) / 100, method="higher")
    return [float(value) / 1e3 for value in found]
