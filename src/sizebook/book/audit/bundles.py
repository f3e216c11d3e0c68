"""Each bundle by itself: record, files, tables, counts, histograms; judged once for all."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sizebook.book.audit.facts import contradictions, recomputed
from sizebook.book.audit.findings import AuditedItem, AuditReport
from sizebook.book.audit.outcomes import other_outcome
from sizebook.book.audit.targets import AuditTarget
from sizebook.book.processes import map_shared
from sizebook.checks import judge
from sizebook.lab.calibration import CHAPTER as CALIBRATION
from sizebook.model.bundle import BundleRecord
from sizebook.model.errors import BundleError
from sizebook.model.verdict import Judgement
from sizebook.stats.histograms import write_interval_log
from sizebook.store import Bundle, cache_key, open_bundle
from sizebook.store.bundles import HISTOGRAMS, RECORD, verify_file
from sizebook.store.counter_file import COUNTER_FILE
from sizebook.store.digest import list_digests
from sizebook.store.fingerprints import fingerprint_machine
from sizebook.store.left_out import LEFT_OUT
from sizebook.store.sandboxed_read import taste_bundles
from sizebook.store.tables import COUNTERS, REQUESTS, SCHEDULE, UNREADABLE, TableError, count_rows

TABLES = (REQUESTS, COUNTERS, SCHEDULE)
EXACT_RULES = ("SB101-accounting", "SB102-clock")
"""Rules that no honest trial breaks: the others fail when a measurement went wrong."""

OnDone = Callable[[int, int], None]

_AT_A_TIME = 8


@dataclass(frozen=True)
class Problem:
    """What a rule of the audit found in one bundle."""

    rule: str
    message: str
    found: str
    expected: str


@dataclass(frozen=True)
class AuditedBundle:
    """A bundle that could be opened, with what the checks say of it."""

    bundle: Bundle
    place: str
    judgement: Judgement | None
    """None where the bundle is too damaged to be judged."""

    @property
    def item(self) -> AuditedItem:
        """What is counted."""
        return AuditedItem("bundles", self.place)


@dataclass(frozen=True)
class BundleLook:
    """What looking at one folder brought so far."""

    path: Path
    bundle: Bundle | None
    problems: tuple[Problem, ...]
    sound: bool
    """Whether the files are those of the record, so that they may be read."""
    judgement: Judgement | None = None


Told = tuple[tuple[Problem, ...], Judgement | None]
"""What a bundle's tables tell beyond its record and files."""


def audit_bundles(target: AuditTarget, report: AuditReport, on_done: OnDone) -> list[AuditedBundle]:
    """Look at every bundle of the target and give those that could be opened.

    Many bundles are read by a process for each CPU: most of the work is Python's own.
    Findings come in the order of the bundles. Bundles from elsewhere are read by a process of its
    own first. Raises UserError if one of these processes is killed.
    """
    audited = []
    looks = [look for look in map(look_at, target.bundles) if _is_wanted(look, target)]
    if target.foreign:
        looks = _taste(looks)
    for count, look in enumerate(_read_all(looks), start=1):
        place = target.place(look.path)
        item = AuditedItem("bundles", place)
        report.check(item)
        for each in look.problems:
            report.add(
                each.rule, place, each.message,
                found=each.found, expected=each.expected, spoils=[item],
            )  # fmt: skip
        if look.bundle is not None:
            audited.append(AuditedBundle(look.bundle, place, look.judgement))
        on_done(count, len(looks))
    for path in target.headless:
        place = target.place(path)
        report.check(AuditedItem("bundles", place))
        report.add(
            "AU101-record", place, f"tables without {RECORD}",
            found=f"no {RECORD}", expected="a whole bundle", spoils=[AuditedItem("bundles", place)],
        )  # fmt: skip
    return audited


def _read_all(looks: Sequence[BundleLook]) -> Iterator[BundleLook]:
    records = [look.bundle.record for look in looks if look.bundle is not None and look.sound]
    told = map_shared(
        _read_at,
        [look.path for look in looks if look.sound],
        "reading bundles",
        data_bytes=sum(file.bytes for record in records for file in record.files.values()),
        at_a_time=_AT_A_TIME,
    )
    return (_with(look, next(told)) if look.sound else look for look in looks)


def _read_at(path: Path) -> Told:
    """Return what reading a bundle tells, in another process; its files are sound."""
    return _read(open_bundle(path))


def _is_wanted(look: BundleLook, target: AuditTarget) -> bool:
    """Tell whether a bundle is of a chapter to audit; the calibration belongs to every page."""
    if not target.chapters or look.bundle is None:
        return True
    more = (CALIBRATION,) if target.pages else ()
    wanted = (*target.chapters, *target.lenders, *more)
    return look.bundle.record.trial.chapter in wanted


def look_at(path: Path) -> BundleLook:
    """Return what a bundle's record, files and checksums tell; no table is read."""
    try:
        bundle = open_bundle(path)
    except BundleError as error:
        problem = Problem("AU101-record", error.found, error.found, error.expected)
        return BundleLook(path, None, (problem,), sound=False)
    broken = tuple(_broken_files(bundle))
    wrong = (*contradictions(bundle.record, path.name), *other_outcome(bundle.record))
    own = map(_problem, wrong)
    problems = (*_unnamed(bundle), *_contradictions(bundle.record), *own, *broken)
    return BundleLook(path, bundle, problems, sound=not broken)


def read_through(look: BundleLook) -> BundleLook:
    """Return the look with what its tables tell and how the bundle is judged."""
    if look.bundle is None or not look.sound:
        return look
    # read by an object of its own, which takes the tables that it read with it
    return _with(look, _read(replace(look.bundle)))


def _with(look: BundleLook, told: Told) -> BundleLook:
    more, judgement = told
    return replace(look, problems=(*look.problems, *more), judgement=judgement)


def _read(bundle: Bundle) -> Told:
    if wrong := tuple(_wrong_tables(bundle)):
        return wrong, None
    judgement = judge(bundle)
    facts = map(_problem, recomputed(bundle))
    return (*_miscounted(bundle, judgement), *_histogram(bundle), *facts), judgement


def _problem(wrong: tuple[str, str, str, str]) -> Problem:
    rule, what, found, expected = wrong
    message = f"{what}: the record says {found}, its rest {expected}"
    return Problem(rule, message, found, expected)


def _taste(looks: Sequence[BundleLook]) -> list[BundleLook]:
    """Return the looks; bundles that cannot be read within limits are not sound."""
    try:
        taste_bundles([look.path for look in looks if look.sound])
    except BundleError:
        return [_taste_one(look) if look.sound else look for look in looks]
    return list(looks)


def _taste_one(look: BundleLook) -> BundleLook:
    try:
        taste_bundles([look.path])
    except BundleError as error:
        problem = Problem("AU104-table", error.found, error.found, error.expected)
        return replace(look, problems=(*look.problems, problem), sound=False)
    return look


def _unnamed(bundle: Bundle) -> Iterator[Problem]:
    named = {RECORD, *bundle.record.files}
    if bundle.left_out:
        named |= {LEFT_OUT, *list_digests(bundle.path)}
    for path in sorted(bundle.path.rglob("*")):
        name = path.relative_to(bundle.path).as_posix()
        if name not in named and (path.is_symlink() or not path.is_dir()):
            yield Problem(
                "AU103-unnamed-file",
                f"{name} is not in the record",
                f"a file {name}",
                f"{len(named)} files: {RECORD} and those that it names",
            )


def _contradictions(record: BundleRecord) -> Iterator[Problem]:
    seconds = min(record.execution.wall_ns / 1e9, 2.0**37)
    started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
    machine = fingerprint_machine(record.machine)
    pairs = {
        "key": (record.key, cache_key(record.trial, record.fingerprints)),
        "fingerprint of the machine": (record.fingerprints.machine, machine),
        "start in UTC": (record.execution.started_utc, started),
    }
    for name, (said, computed) in pairs.items():
        if said != computed:
            yield Problem(
                "AU105-identity",
                f"the {name} is not what the record's other fields make it",
                said[:80],
                computed,
            )


def _broken_files(bundle: Bundle) -> Iterator[Problem]:
    for name, file in bundle.record.files.items():
        try:
            verify_file(bundle, name)
        except BundleError:
            yield Problem(
                "AU102-checksum",
                f"{name} is not the file that was recorded",
                f"{name} with another checksum",
                f"SHA-256 {file.sha256}",
            )


def _wrong_tables(bundle: Bundle) -> Iterator[Problem]:
    """Yield tables of another form, and those with values that cannot be."""
    files = bundle.record.files
    wrong: dict[str, str] = {}
    for name in TABLES:
        if name in files:
            try:
                count_rows(bundle.path / name, files[name].bytes)
            except (TableError, *UNREADABLE) as error:
                wrong[name] = str(error)
    reads: dict[str, Callable[[], object]] = {
        COUNTERS: lambda: bundle.counters,
        COUNTER_FILE: lambda: bundle.counters,
        SCHEDULE: lambda: bundle.schedule,
        REQUESTS: lambda: bundle.requests,
    }
    for name, read in reads.items():
        if name in files and name not in wrong:
            try:
                read()
            except BundleError as error:
                wrong[name] = error.found
    for name, words in wrong.items():
        expected = "the columns, types and values that this version writes"
        yield Problem("AU104-table", f"{name} cannot be read: {words}", words, expected)


def _miscounted(bundle: Bundle, judgement: Judgement) -> Iterator[Problem]:
    if bundle.record.outcome != "completed":
        return
    for finding in judgement.failed():
        if finding.rule in EXACT_RULES:
            yield Problem(
                "AU106-accounting",
                f"{finding.rule}: {finding.message}",
                finding.message,
                "rows that agree with the record",
            )


def _histogram(bundle: Bundle) -> Iterator[Problem]:
    if not {REQUESTS, HISTOGRAMS} <= bundle.record.files.keys():
        return
    with tempfile.TemporaryDirectory(prefix="sizebook-audit-") as folder:
        again = Path(folder) / HISTOGRAMS
        try:
            write_interval_log(again, bundle.requests, bundle.record.execution.monotonic_ns)
            same = again.read_bytes() == (bundle.path / HISTOGRAMS).read_bytes()
        except ValueError as error:
            words = str(error)
        else:
            words = "" if same else f"another {HISTOGRAMS}"
    if words:
        yield Problem(
            "AU107-histogram",
            f"{HISTOGRAMS} is not that of {REQUESTS}",
            words,
            "the histograms of the requests",
        )
