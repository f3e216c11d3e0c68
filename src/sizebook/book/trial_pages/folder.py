"""The folder of the trials' pages: which there are, which are up to date, a list of all.

A page holds a stamp over all that it was made from, and the checksum of each is kept beside the
site, so that the next build leaves it as it is, unless somebody else wrote in it.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sizebook
from sizebook.book.cited import (
    Cited,
    Found,
    ProjectBundles,
    find_cited,
    treatment_words,
    trial_file,
)
from sizebook.book.site import TRIALS
from sizebook.book.stamps import list_harness
from sizebook.book.trial_pages.pages import (
    TEMPLATES,
    PageFrame,
    PageToMake,
    find_look,
    load_templates,
    write_pages,
)
from sizebook.model.verdict import VERDICTS
from sizebook.report.evidence import hash_json
from sizebook.report.trial_counters import natural_order
from sizebook.store.fingerprints import fingerprint_file
from sizebook.store.plain_files import read_plain

ABSENT = "not on this machine"

_INDEX = "index.html"
_STAMP = re.compile(r'<meta name="sizebook-stamp" content="([0-9a-f]{64})">')
_STAMP_WITHIN = 600
_ORDER = ("chapter", "experiment", "label", "block", "file")
_MOST_SUMS_BYTES = 64 * 2**20
_AT_A_TIME = 40
"""Pages that a process makes before it takes others; their GC logs are read together."""


@dataclass(frozen=True)
class Plan:
    """What ``trials/`` of a site is to hold, and which pages of it are to be made for that."""

    root: Path
    folder: Path
    look: PageFrame
    base: str
    rows: list[dict[str, Any]]
    due: list[PageToMake]
    kept: dict[str, str]
    """Checksums of the pages that stay as they are, by name."""

    def start(self, pool: Executor) -> Iterator[None]:
        """Let other processes make the pages; what is given ends when all are made."""
        return pool.map(self._write, self._portions())

    def make(self) -> None:
        """Make the pages here, some at a time."""
        for portion in self._portions():
            self._write(portion)

    @property
    def _write(self) -> Callable[[Sequence[PageToMake]], None]:
        return functools.partial(write_pages, look=self.look, root=self.root)

    def _portions(self) -> list[list[PageToMake]]:
        return [self.due[n : n + _AT_A_TIME] for n in range(0, len(self.due), _AT_A_TIME)]

    def finish(self) -> int:
        """Write the list, remove pages of trials that nothing names any more.

        Returns how many files were made anew; the others were up to date.
        """
        if not self.rows:
            _remove_others(self.folder, set())
            return 0
        index = self.folder / _INDEX
        is_new = _write_index(index, self.base, self.rows, self.look, self.kept)
        _remove_others(self.folder, {row["file"] for row in self.rows} | {_INDEX})
        made = [*(todo.file for todo in self.due), *([index] if is_new else [])]
        sums = self.kept | {file.name: fingerprint_file(file) for file in made}
        _sums_file(self.folder).write_text(json.dumps(sums, indent=0, sort_keys=True))
        return len(made)


def plan_trial_pages(
    root: Path, site: Path, pages: Iterable[str], bundles: ProjectBundles, statics: Sequence[Path]
) -> Plan:
    """Plan ``trials/`` of a site that gets its style sheets and scripts from folders ``statics``.

    There is a page for each bundle that a result of ``pages`` names. A bundle that is not on this
    machine, or is damaged, has a page that says so.
    """
    listed = list(pages)
    folder = site / TRIALS
    look = find_look(root, statics, listed)
    base = hash_json([_code_stamp(), vars(look)])
    rows, due = [], []
    sums = _read_sums(folder)
    kept = {}
    for each in find_cited(root / "book", listed).values():
        found = bundles.find(each.bundle, each.sha256)
        whole = bundles.find_whole(each.bundle, each.sha256) is not None
        file = folder / trial_file(each.bundle)
        stamp = _make_stamp(base, each, found, whole)
        if _is_as_made(file, stamp, sums):
            kept[file.name] = sums[file.name]
        else:
            place = found.bundle.path if found.bundle else None
            due.append(PageToMake(file, stamp, each, place, found.trouble, whole))
        rows.append(_index_row(file.name, each, found))
    if rows:
        folder.mkdir(parents=True, exist_ok=True)
    if _INDEX in sums:
        kept[_INDEX] = sums[_INDEX]
    return Plan(root, folder, look, base, rows, due, kept)


def _make_stamp(base: str, cited: Cited, found: Found, whole: bool) -> str:
    disk = found.bundle.sha256 if found.bundle else ""
    about = [cited.sha256, cited.verdict, cited.results, cited.numbers, list(cited.commands)]
    chapters = [vars(chapter) for chapter in cited.chapters.values()]
    return hash_json([base, disk, whole, found.trouble, about, chapters])


def _index_row(name: str, cited: Cited, found: Found) -> dict[str, Any]:
    chapter = next(iter(cited.chapters.values()))
    row: dict[str, Any] = {
        "file": name,
        "verdict": cited.verdict if found.bundle else ABSENT,
        "chapter": chapter.page,
        "chapter_title": chapter.title,
        "label": cited.bundle,
        "experiment": "",
        "block": "",
        "profile": "",
        "requests": None,
        "started": "",
    }
    if found.bundle is not None:
        record = found.bundle.record
        row |= {
            "label": treatment_words(record.trial),
            "experiment": record.trial.experiment,
            "block": record.trial.replicate + 1,
            "profile": record.trial.profile,
            "requests": record.generator.issued if record.generator else None,
            "started": record.execution.started_utc.replace("T", " ").removesuffix("Z"),
        }
    return row


def _write_index(
    file: Path, base: str, rows: list[dict[str, Any]], look: PageFrame, sums: Mapping[str, str]
) -> bool:
    rows.sort(key=lambda row: [natural_order(str(row[name])) for name in _ORDER])
    stamp = hash_json([base, rows])
    if _is_as_made(file, stamp, sums):
        return False
    names = [*VERDICTS, ABSENT]
    counts = {name: sum(row["verdict"] == name for row in rows) for name in names}
    text = (
        load_templates()
        .get_template("trial_index.html.j2")
        .render(
            stamp=stamp,
            look=look,
            title="Trials",
            rows=rows,
            chapters={row["chapter"]: row["chapter_title"] for row in rows},
            verdicts={name: count for name, count in counts.items() if count},
        )
    )
    file.unlink(missing_ok=True)
    file.write_text(text, encoding="utf-8")
    return True


def _is_as_made(file: Path, stamp: str, sums: Mapping[str, str]) -> bool:
    """Return whether a page is of its present sources, and nobody changed it since."""
    if _read_stamp(file) != stamp:
        return False
    try:
        return fingerprint_file(file) == sums.get(file.name)
    except OSError:
        return False


def _sums_file(folder: Path) -> Path:
    """Return where the checksums of the pages stand: beside the site, which is handed on."""
    return folder.parent.with_name(f"{folder.parent.name}-{folder.name}.json")


def _read_sums(folder: Path) -> dict[str, str]:
    """Return the checksums of pages as the last build made them; none if it left no such list."""
    try:
        sums = json.loads(read_plain(_sums_file(folder), _MOST_SUMS_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    return sums if isinstance(sums, dict) else {}


def _read_stamp(file: Path) -> str:
    try:
        head = read_plain(file, _STAMP_WITHIN).decode("utf-8", errors="replace")
    except OSError:
        return ""
    found = _STAMP.search(head)
    return found[1] if found else ""


def _remove_others(folder: Path, names: set[str]) -> None:
    for file in folder.glob("*.html"):
        if file.name not in names:
            file.unlink()


@functools.lru_cache(maxsize=1)
def _code_stamp() -> str:
    """Return a checksum over what a page is made with: templates and the harness."""
    package = Path(sizebook.__file__).parent
    total = hashlib.sha256()
    for file in sorted([*list_harness(), *TEMPLATES.iterdir()]):
        total.update(f"{file.relative_to(package).as_posix()}\0".encode() + file.read_bytes())
    return total.hexdigest()
