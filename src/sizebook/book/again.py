"""Which trials of a page that is up to date the next run measures again, and which not any more."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from sizebook.book.records import read_records
from sizebook.lab.measurement_cache import MOST_TRIES, has_present_data
from sizebook.load.data_files import print_files
from sizebook.model.errors import BundleError
from sizebook.store import Bundle, Project, open_bundle
from sizebook.store.bundles import RECORD

_WORTH_READING = re.compile(rb'"outcome":\s*"failed"|"data":\s*\{')
"""What ``trial.json`` of a trial contains that may be due again; few do."""


@dataclass(frozen=True)
class Again:
    """What has to be measured again of a page's own trials."""

    failed: int = 0
    """Trials that failed and are tried again."""
    given_up: int = 0
    """Trials that failed so often that nothing but ``--force`` tries them again."""
    changed: tuple[str, ...] = ()
    """Files that load profiles read and that are others now."""

    @property
    def due(self) -> bool:
        """Whether a run has something to measure again."""
        return bool(self.failed or self.changed)

    @property
    def words(self) -> str:
        """What a run says of it; empty if there is nothing to say."""
        said = []
        if self.changed:
            said.append(f"{', '.join(self.changed)} changed since the trials that read it")
        if self.failed:
            said.append(f"{_trials(self.failed)} that failed: tried again")
        if self.given_up:
            said.append(
                f"{_trials(self.given_up)} failed {MOST_TRIES} times each: not tried again until "
                "something changes, or with --force"
            )
        return "; ".join(said)


def find_again(root: Path, chapter: str, page: Path) -> Again:
    """Return what is to be measured again of the trials that a page was made from."""
    project = Project(root)
    failed, changed = 0, set()
    given_up = 0
    for bundle in _worth_reading(project.runs / chapter, page):
        if not has_present_data(project, bundle):
            read = bundle.record.fingerprints.data
            now = print_files(root, read)
            changed |= {name for name in read if now[name] != read[name]}
        elif bundle.record.outcome == "failed":
            tried = len(list(bundle.path.parent.glob(f"*-{bundle.record.key[:12]}-*")))
            given_up += tried >= MOST_TRIES
            failed += tried < MOST_TRIES
    return Again(failed, given_up, tuple(sorted(changed)))


def _worth_reading(folder: Path, page: Path) -> list[Bundle]:
    records = read_records(page).values()
    names = {source["bundle"] for record in records for source in record.evidence["sources"]}
    found = []
    for path in (folder / name for name in sorted(names)):
        try:
            if _WORTH_READING.search((path / RECORD).read_bytes()):
                found.append(open_bundle(path))
        except (OSError, BundleError):  # of another chapter, or for the audit to name
            continue
    return found


def _trials(number: int) -> str:
    return f"{number} trial{'' if number == 1 else 's'}"
