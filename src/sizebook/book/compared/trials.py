"""The trials that a run's results cite, as far as they are at hand: opened, checked, measured."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from sizebook.book.compared.pages import ChapterResults
from sizebook.lab.calibration import CHAPTER as CALIBRATION
from sizebook.model.bundle import BundleRecord
from sizebook.model.errors import BundleError
from sizebook.report.counter_increase import risen
from sizebook.stats.hdr import percentiles_ns
from sizebook.stats.histograms import (
    Interval,
    IntervalLogError,
    merge_intervals,
    read_interval_log,
)
from sizebook.store import Bundle, find_bundles, open_bundle
from sizebook.store.sandboxed_read import taste_bundles

CPU = ("cpu_user_s", "cpu_system_s")
_PERCENTS: Mapping[str, float] = {"latency_p50_ms": 50.0, "latency_p95_ms": 95.0}
_LEAST_FOR_TAIL = 200
"""Good answers below which a 95th percentile rests on fewer than ten of them."""


@dataclass(frozen=True)
class ReadTrial:
    """A cited trial that is at hand, with the verdict that the page gives it."""

    bundle: Bundle
    verdict: str

    @property
    def record(self) -> BundleRecord:
        """What its ``trial.json`` holds."""
        return self.bundle.record

    @property
    def measures(self) -> bool:
        """Whether its times are a result: measured, and found valid.

        A stale one was valid with the sources of its day: what differs since is said elsewhere.
        """
        return self.record.trial.purpose == "measured" and self.verdict in ("valid", "stale")

    def processor_ms(self) -> dict[str, float]:
        """Return the processor time of each role by request in ms, as far as it was counted.

        Over the whole trial: counters are read before its first request and after its last one.
        """
        facts = self.record.generator
        answered = facts.completed + facts.failed if facts is not None else 0
        if not answered or not self.bundle.has_counters:
            return {}
        roles = dict.fromkeys(role.role for role in self.record.trial.deployment.roles)
        spent = {role: risen(f"process/{role}-", *CPU)(self.bundle) for role in roles}
        return {role: 1e3 * used / answered for role, used in spent.items() if used is not None}


def absolute(bundle: Bundle) -> dict[str, float]:
    """Return throughput and latencies of the good answers of the measured phase, by metric.

    Read from the histograms, so that trials without their requests have them too. Empty where
    single requests are not what the load is about, and where there are no histograms. Raises
    BundleError for damaged ones.
    """
    facts, phase = bundle.record.generator, bundle.record.execution.phase("measured")
    if facts is None or phase is None or facts.results != "requests":
        return {}
    path = bundle.open_histograms()
    if path is None or phase.end_ns <= phase.begin_ns:
        return {}
    whole = merge_intervals(_intervals(bundle, path))
    count = int(whole.get_total_count())
    found = {"throughput_per_s": count / ((phase.end_ns - phase.begin_ns) / 1e9)}
    percents = [p for p in _PERCENTS.values() if p <= 50 or count >= _LEAST_FOR_TAIL]
    if count:
        values = percentiles_ns(whole, percents) / 1e6
        found |= dict(zip(_PERCENTS, map(float, values), strict=False))
    return found


def _intervals(bundle: Bundle, path: Path) -> list[Interval]:
    try:
        return read_interval_log(path)
    except (IntervalLogError, OSError) as error:
        raise BundleError(
            found=f"{path.name} of bundle {bundle.id}: {error}",
            expected="a whole bundle as Sizebook writes it",
            next_step="sizebook audit says more about it",
        ) from error


@dataclass(frozen=True)
class CitedTrials:
    """The cited trials of a run by chapter, and how many are cited and not at hand."""

    by_chapter: Mapping[str, tuple[ReadTrial, ...]]
    missing: int

    def records(self, chapter: str) -> list[BundleRecord]:
        """Return the records of a chapter's own trials, the calibration's left out."""
        return [each.record for each in self.by_chapter.get(chapter, ())]


def read_trials(
    results: Mapping[str, ChapterResults], places: Iterable[Path], *, foreign: bool
) -> CitedTrials:
    """Return the trials that results cite and that lie below ``places``, by checksum.

    ``foreign`` ones are first read by a process of their own with limits. A trial that a chapter
    borrowed belongs to the chapter that measured it where that one is there too, and the
    calibration's to none but its own. Raises BundleError for a damaged bundle.
    """
    wanted: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for chapter, found in results.items():
        for each in found.cited.values():
            wanted[each.bundle, each.sha256].append((chapter, each.verdict))
    names = {name for name, _ in wanted}
    opened: dict[tuple[str, str], Bundle] = {}
    for path in _walk(places, names):
        bundle = open_bundle(path)
        opened.setdefault((bundle.id, bundle.sha256), bundle)
    at_hand = {key: bundle for key, bundle in opened.items() if key in wanted}
    if foreign:
        taste_bundles([bundle.path for bundle in at_hand.values()])
    by_chapter: dict[str, list[ReadTrial]] = defaultdict(list)
    for key, bundle in sorted(at_hand.items()):
        measured_by = bundle.record.trial.chapter
        for chapter, verdict in wanted[key]:
            if chapter == measured_by or (
                measured_by not in results and measured_by != CALIBRATION
            ):
                by_chapter[chapter].append(ReadTrial(bundle, verdict))
    kept = {chapter: tuple(trials) for chapter, trials in by_chapter.items()}
    return CitedTrials(kept, len(wanted) - len(at_hand))


def _walk(places: Iterable[Path], names: set[str]) -> Iterator[Path]:
    for place in places:
        yield from (path for path in find_bundles(place) if path.name in names)
