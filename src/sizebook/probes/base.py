"""What a probe is: one counter source with named moments."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, Protocol


class CounterSample(NamedTuple):
    """One value as a probe reads it; the sampler adds time and host."""

    source: str
    """What the value is about: ``host``, a process such as ``app/1`` or ``database``."""
    metric: str
    """A name of ``probes.registry``, with ``/`` and the label's value where it has a label."""
    value: float | None
    """None: asked for and not there; it stays missing."""


class Reading(NamedTuple):
    """One row of ``counters.parquet``."""

    time_ns: int
    """CLOCK_MONOTONIC, the middle of the time that the probe took."""
    host: str
    source: str
    metric: str
    value: float | None


class Probe(Protocol):
    """A counter source. The moments are called in the order in which they stand here."""

    name: str
    """Unique among a sampler's probes, such as ``jvm:app/1``; names its own-cost counters."""
    host: str
    interval_s: float
    asks: str
    """Who must answer before there is a reading, such as ``server/app-1``; empty: this machine's
    own files are read, which waits for nobody, or nothing is while a load runs."""

    def attach(self) -> None:
        """Find what is to be watched. Raising means: not there now; sampling tries again."""

    def sample(self) -> Iterable[CounterSample]:
        """Return what the counters say now. Raises ``Unavailable`` (or OSError) if they cannot."""

    def lacking(self) -> Mapping[str, str]:
        """Return what this machine does not tell, metric to reason, as far as it was asked."""

    def detach(self) -> None:
        """Let go of files and connections. Never raises."""

    def store(self, folder: Path) -> None:
        """Put files of the probe's own, such as a log, into a bundle's folder."""


def give_way() -> None:
    """Let the load generator run first if it waits for this CPU.

    The harness shares the generator's CPUs, and Linux lets a task finish its slice of some
    milliseconds before another gets the CPU; probes therefore yield between pieces of a reading.
    Found with one user on two CPUs: the generator's tick was 1.3 ms late (p99) without.
    """
    if hasattr(os, "sched_yield"):
        os.sched_yield()


class Unavailable(Exception):  # noqa: N818 - a state of the source, not a fault of the program
    """The counters cannot be read now; the text says why. The reading is missing."""


class QuietProbe:
    """The moments that most probes have no use for; it asks nobody."""

    asks = ""

    def attach(self) -> None:
        return None

    def lacking(self) -> Mapping[str, str]:
        return {}

    def detach(self) -> None:
        return None

    def store(self, folder: Path) -> None:  # noqa: ARG002
        return None
