"""How many of the trials behind a chapter's page failed, and why."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from sizebook.book.records import read_records
from sizebook.model.errors import BundleError
from sizebook.store import open_bundle

_MOST_REASONS = 3


@dataclass(frozen=True)
class Failures:
    """The trials of a chapter that its page shows: how many there are, and why some failed."""

    trials: int = 0
    reasons: tuple[tuple[str, int], ...] = ()
    """Each reason once, with the number of trials that failed for it, most frequent first."""

    @property
    def failed(self) -> int:
        """Number of failed trials."""
        return sum(count for _, count in self.reasons)

    @property
    def is_total(self) -> bool:
        """Whether there are trials, and every one of them failed."""
        return 0 < self.trials == self.failed

    @property
    def words(self) -> str:
        """What failed, in one line, each reason once; empty if nothing did."""
        if not self.reasons:
            return ""
        shown = [
            reason if len(self.reasons) == 1 else f"{count}: {reason}"
            for reason, count in self.reasons[:_MOST_REASONS]
        ]
        more = len(self.reasons) - len(shown)
        shown += [f"and {more} more reasons"] if more else []
        return f"{self.failed} of {self.trials} trials failed: {'; '.join(shown)}"


def find_failures(root: Path, chapter: str, page: Path) -> Failures:
    """Return what failed of the chapter's own trials that a page shows.

    Trials are looked up in ``data/runs``; raises UserError for a page that cannot be read.
    """
    cited = {
        str(source["bundle"])
        for record in read_records(page).values()
        for source in record.evidence.get("sources", ())
    }
    reasons: Counter[str] = Counter()
    trials = 0
    for name in sorted(cited):
        try:
            bundle = open_bundle(root / "data" / "runs" / chapter / name)
        except BundleError:
            continue
        if bundle.record.trial.purpose != "measured":
            continue
        trials += 1
        if bundle.record.outcome == "failed":
            reasons[bundle.record.failure] += 1
    return Failures(trials, tuple(reasons.most_common()))
