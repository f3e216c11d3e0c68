"""What links carried, and what that cost: bytes, frames, CPU time, from the counters of a trial."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from sizebook.lab.trials import Measure
from sizebook.model.deployment import Deployment
from sizebook.report.counter_increase import rises
from sizebook.report.phase_counters import Window, open_window
from sizebook.store import Bundle

SHARED = "shared"
"""What a host's link to the shared network leads to."""
_BYTES = ("link_sent_bytes", "link_received_bytes")
_FRAMES = ("link_sent_frames", "link_received_frames")


def carried_mb(host: str, peer: str) -> Measure:
    """Return a measure: millions of bytes that a link carried in the trial, both ways.

    ``host`` is one of its ends, ``peer`` what it leads to: another host, or ``SHARED``.
    """

    def measure(bundle: Bundle) -> float | None:
        risen = _risen(bundle, host, peer, _BYTES)
        return None if risen is None else risen / 1e6

    return measure


def frames_per_mb(host: str, peer: str) -> Measure:
    """Return a measure: frames for each million bytes that a link carried, both ways.

    Acknowledgements are frames, too. With offloads a frame is what was handed over in one piece.
    """
    carried = carried_mb(host, peer)

    def measure(bundle: Bundle) -> float | None:
        frames, mb = _risen(bundle, host, peer, _FRAMES), carried(bundle)
        return frames / mb if frames is not None and mb else None

    return measure


def lost_frames(host: str, peer: str) -> Measure:
    """Return a measure: frames that were discarded or broken at a host's end, in the trial."""
    return lambda bundle: _risen(bundle, host, peer, ("link_lost_frames",))


def cpu_ms_per_mb(hosts: Sequence[str], host: str, peer: str) -> Measure:
    """Return a measure: CPU time of some hosts for each million bytes that a link carried, in ms.

    Over the whole trial; the hosts' control groups count all of it, the kernel's work with packets
    included as far as it was done for them.
    """
    carried = carried_mb(host, peer)

    def measure(bundle: Bundle) -> float | None:
        taken = [_exactly(bundle, "cgroup_cpu_s", f"cgroup/{name}") for name in hosts]
        told, mb = [one for one in taken if one is not None], carried(bundle)
        return 1e3 * sum(told) / mb if mb and len(told) == len(hosts) else None

    return measure


def core_ms_per_mb(kind: str, cpus: Sequence[int], host: str, peer: str) -> Measure:
    """Return a measure: time of a kind on some CPUs for each million bytes of a link, in ms.

    ``kind`` is ``user``, ``system`` or ``irq`` (hard and soft interrupts), as the machine counts it
    in ticks of 10 ms: whoever runs there then.
    """
    carried = carried_mb(host, peer)

    def measure(bundle: Bundle) -> float | None:
        mb = carried(bundle)
        found = rises(bundle, f"core_{kind}_s", "host")
        seconds = found.filter(pl.col("label").is_in([str(cpu) for cpu in cpus]))["rise"]
        return 1e3 * float(seconds.sum()) / mb if mb and len(seconds) else None

    return measure


def mb_per_s(host: str, peer: str) -> Measure:
    """Return a measure: millions of bytes a second over a link while measured, both ways."""

    def measure(bundle: Bundle) -> float | None:
        if (window := open_window(bundle)) is None:
            return None
        ways = [_rate(window, host, peer, metric) for metric in _BYTES]
        told = [one for one in ways if one is not None]
        return sum(told) / 1e6 if len(told) == len(ways) else None

    return measure


def utilization_percent(host: str, peer: str, rate_mbit_per_s: float | None = None) -> Measure:
    """Return a measure: share of a link's rate that its busier way carried while measured, in %.

    The rate is the deployment's, unless one is given; None where there is none.
    """

    def measure(bundle: Bundle) -> float | None:
        rate = rate_mbit_per_s or rate_of(bundle.record.trial.deployment, host, peer)
        if rate is None or (window := open_window(bundle)) is None:
            return None
        ways = [_rate(window, host, peer, metric) for metric in _BYTES]
        told = [one for one in ways if one is not None]
        return 100.0 * max(told) * 8 / 1e6 / rate if len(told) == len(ways) else None

    return measure


def rate_of(deployment: Deployment, host: str, peer: str) -> float | None:
    """Return the rate of a link in Mbit/s each way, as the deployment says; None without any."""
    if deployment.network is None:
        return None
    if peer == SHARED:
        return deployment.network.rate_mbit_per_s
    links = deployment.network.links
    return next((one.rate_mbit_per_s for one in links if set(one.ends) == {host, peer}), None)


def _risen(bundle: Bundle, host: str, peer: str, metrics: Sequence[str]) -> float | None:
    found = [_exactly(bundle, f"{metric}/{peer}", f"link/{host}") for metric in metrics]
    told = [one for one in found if one is not None]
    return sum(told) if len(told) == len(found) else None


def _exactly(bundle: Bundle, metric: str, source: str) -> float | None:
    """Return the rise of one counter of one source; None where it is not there."""
    found = rises(bundle, metric, source).filter(pl.col("source") == source)["rise"]
    return float(found.sum()) if len(found) else None


def _rate(window: Window, host: str, peer: str, metric: str) -> float | None:
    growth = window.growth((host, f"link/{host}", f"{metric}/{peer}"))
    return None if growth is None else growth.per_s
