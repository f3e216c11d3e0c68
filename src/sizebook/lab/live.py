"""What a trial tells whoever watches it: each of its seconds, and what it is worth.

Nothing is computed, or written, where nobody watches. Where somebody does, a second costs this
process two sums over readings that are there already, and one line.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sizebook.checks import judge
from sizebook.lab.live_file import is_watched, tell_watchers
from sizebook.lab.recording import TrialRecord
from sizebook.load.protocol import Tick
from sizebook.model.trial import TrialSpec, treatment_words
from sizebook.probes.sampler import Sampler
from sizebook.probes.sets import GENERATOR
from sizebook.store import Bundle

_CPU = ("cpu_user_s", "cpu_system_s")


def tell_seconds(record: TrialRecord) -> Callable[[Tick], None]:
    """Return what tells watchers of each second of a trial; nothing where nobody watches."""
    if not is_watched():
        return _pass_over
    spec = record.spec
    tell_watchers("trial", **_names(spec), planned_s=spec.load.phases.planned_s)
    before = Tick(elapsed_s=0.0, requests=0, failed=0, users=0)
    in_turns = spec.load.phases.turns is not None  # whose probes are read at its own turns alone
    cpu = _CpuShares(None if in_turns else record.sampler)

    def tell(tick: Tick) -> None:
        nonlocal before
        length_s = tick.elapsed_s - before.elapsed_s
        if length_s > 0:
            tell_watchers(
                "second",
                elapsed_s=tick.elapsed_s,
                rate_per_s=(tick.requests - before.requests) / length_s,
                failed_per_s=(tick.failed - before.failed) / length_s,
                latency_ms=tick.latency_ms,
                users=tick.users,
                **cpu.since_last(length_s),
            )
        before = tick

    return tell


def tell_stored(bundle: Bundle) -> None:
    """Tell watchers what a trial is worth; it is judged for that before the next one begins."""
    if not is_watched():
        return
    spec, failure = bundle.record.trial, bundle.record.failure
    if spec.purpose != "measured":
        return
    judged = judge(bundle)
    reasons = [one.message for one in judged.findings if one.verdict == judged.verdict != "valid"]
    tell_watchers(
        "stored", **_names(spec), verdict=judged.verdict, reason=failure or next(iter(reasons), "")
    )


class _CpuShares:
    """CPU time of the stack and of the generator, in CPUs, by what the probes have read."""

    def __init__(self, sampler: Sampler | None) -> None:
        self._sampler = sampler
        self._before = self._read()

    def since_last(self, length_s: float) -> dict[str, float | None]:
        """Return the CPUs used since this was asked last; None where no probe tells."""
        now, before = self._read(), self._before
        self._before = now
        return {
            f"{name}_cpus": (end - begin) / length_s if None not in (end, begin) else None
            for name, end, begin in zip(("stack", "generator"), now, before, strict=True)
        }

    def _read(self) -> tuple[Any, Any]:
        if self._sampler is None:
            return None, None
        generator = [self._sampler.latest(f"process/{GENERATOR}", metric) for metric in _CPU]
        every = [self._sampler.latest("process/", metric) for metric in _CPU]
        if None in every:
            return None, None
        own = sum(value or 0.0 for value in generator)
        return sum(value or 0.0 for value in every) - own, own


def _names(spec: TrialSpec) -> dict[str, Any]:
    return {
        "chapter": spec.chapter,
        "experiment": spec.experiment,
        "block": spec.replicate + 1,
        "purpose": spec.purpose,
        "treatment": treatment_words(spec.treatment),
    }


def _pass_over(_tick: Tick) -> None:
    """Tell nobody."""
