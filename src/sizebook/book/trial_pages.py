"""A page of its own for each trial behind a published result, and one that lists them all.

The pages are plain HTML from templates, not documents of Sphinx: a book has hundreds of trials.
They use the site's own style sheets and scripts, ask nobody for anything, and follow from the
bundles alone. A page holds a stamp over all that it was made from, so that the next build leaves
it as it is.
"""

from __future__ import annotations

import functools
import hashlib
import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
import yaml

import sizebook
from sizebook.book.cited import (
    Cited,
    Found,
    ProjectBundles,
    find_cited,
    treatment_words,
    trial_file,
)
from sizebook.book.downloads import bundle_file, find_left_out
from sizebook.book.site import TRIALS
from sizebook.book.trial_words import (
    done_words,
    ending,
    host_words,
    network_words,
    phase_words,
)
from sizebook.checks import RULES, judge
from sizebook.checks.rules import DoesNotApply
from sizebook.checks.steady import steady_of
from sizebook.model.errors import BundleError
from sizebook.model.plain_text import show_plainly
from sizebook.model.verdict import VERDICTS
from sizebook.report import trial_charts
from sizebook.report.evidence import hash_json
from sizebook.report.gc_logs import gc_logs
from sizebook.report.trial_counters import Counters, draw_counters, natural_order
from sizebook.report.trial_gc import GROUP, draw_gc_logs
from sizebook.report.trial_windows import (
    Span,
    distribute,
    find_span,
    follow_course,
    make_frame,
    read_requests,
)
from sizebook.store import Bundle

ABSENT = "not on this machine"

_TEMPLATES = Path(__file__).parent / "templates"
_SHEETS = ("styles/theme.css", "styles/pydata-sphinx-theme.css", "styles/sphinx-book-theme.css",
           "sizebook.css", "trials.css")  # fmt: skip
_RULES_DIRECTIVE = "{sbregistry} rules"
_STAMP = re.compile(r'<meta name="sizebook-stamp" content="([0-9a-f]{64})">')
_STAMP_WITHIN = 600
_ORDER = ("chapter", "experiment", "label", "block", "file")


@dataclass(frozen=True)
class Look:
    """What all pages take from the site: title, style sheets, scripts, where the rules stand."""

    book: str
    sheets: Sequence[str]
    logo: str
    icon: str
    vega: str
    rules: str


def write_trial_pages(root: Path, site: Path, pages: Iterable[str], bundles: ProjectBundles) -> int:
    """Write ``trials/`` of a built site: a page for each bundle that a result of ``pages`` names.

    Returns how many files were made anew; the others were up to date.

    A bundle that is not on this machine, or is damaged, has a page that says so. Pages of trials
    that nothing names any more are removed.
    """
    listed = list(pages)
    cited = find_cited(root / "book", listed)
    folder = site / TRIALS
    if not cited:
        _remove_others(folder, set())
        return 0
    folder.mkdir(exist_ok=True)
    look = find_look(root, site, listed)
    base = hash_json([_code_stamp(), vars(look)])
    rows, made = [], 0
    for each in cited.values():
        found = bundles.find(each.bundle, each.sha256)
        whole = bundles.find_whole(each.bundle, each.sha256) is not None
        name = trial_file(each.bundle)
        made += _write(folder / name, base, each, found, look, root, whole)
        rows.append(_index_row(name, each, found))
    made += _write_index(folder / "index.html", base, rows, look)
    _remove_others(folder, {trial_file(bundle) for bundle in cited} | {"index.html"})
    return made


def find_look(root: Path, site: Path, pages: Iterable[str]) -> Look:
    """Return what the built site offers to its trial pages; what it lacks is left empty."""
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    static = site / "_static"
    there = [sheet for sheet in _SHEETS if (static / sheet).exists()]
    vega = [file.name for file in sorted(static.glob("sizebook-vega-*.js"))]
    return Look(
        book=str(config.get("title", "Sizebook")),
        sheets=there,
        logo="logo.svg" if (static / "logo.svg").exists() else "",
        icon="favicon.svg" if (static / "favicon.svg").exists() else "",
        vega=vega[-1] if vega else "",
        rules=next((f"{page}.html" for page in pages if _shows_rules(root, page)), ""),
    )


def _write(
    file: Path, base: str, cited: Cited, found: Found, look: Look, root: Path, whole: bool
) -> bool:
    """Write a trial's page unless the one there has the same stamp; tell whether it was."""
    disk = found.bundle.sha256 if found.bundle else ""
    about = [cited.sha256, cited.verdict, cited.results, cited.numbers, list(cited.commands)]
    chapters = [vars(chapter) for chapter in cited.chapters.values()]
    stamp = hash_json([base, disk, whole, found.trouble, about, chapters])
    if _read_stamp(file) == stamp:
        return False
    page, notes = None, [found.trouble] if found.trouble else []
    if found.bundle is not None:
        page, more = _describe(found.bundle, cited.verdict, root)
        notes += more
    text = (
        _templates()
        .get_template("trial.html.j2")
        .render(
            stamp=stamp,
            look=look,
            title=treatment_words(found.bundle.record.trial) if found.bundle else cited.bundle,
            verdict=cited.verdict,
            page=page,
            notes=notes,
            config=trial_charts.page_config(),
            archive=_describe_archive(found.bundle, root) if found.bundle and whole else None,
            bundle=cited.bundle,
            sha256=cited.sha256,
            chapters=list(cited.chapters.values()),
            commands=list(cited.commands),
            results=list(cited.results.values()),
            numbers=list(cited.numbers.values()),
        )
    )
    file.write_text(text, encoding="utf-8")
    return True


def _describe(bundle: Bundle, verdict: str, root: Path) -> tuple[dict[str, Any], list[str]]:
    """Return what the template shows of a bundle, and notes on what is odd about it."""
    record = bundle.record
    judgement = judge(bundle)
    notes = [f"The trial failed: {record.failure}"] if record.failure else []
    if verdict not in (judgement.verdict, "stale"):
        notes.append(
            f"Judged anew while this page was made, the trial is {judgement.verdict}; the results "
            f"were made when it was {verdict}."
        )
    rules = {rule.id: rule for rule in RULES}
    page: dict[str, Any] = {
        "record": record,
        "trial": record.trial,
        "generator": record.generator,
        "findings": [
            {
                "finding": each,
                "title": rules[each.rule].title if each.rule in rules else "",
                "known": each.rule in rules,
                "message": each.message.removeprefix("does not apply: "),
            }
            for each in judgement.findings
        ],
        "arrivals": record.trial.load.arrivals.model_dump(),
        "phases": phase_words(record.trial.load, record.execution),
        "allowance": record.trial.allowance.model_dump(),
        "stores": {
            table: f"{filled.each} for each {' or '.join(filled.requests)}"
            for table, filled in record.trial.stored().items()
        },
        "done": done_words(record.execution),
        "machine": record.machine.model_dump(),
        "hosts": host_words(record.trial.deployment, record.execution, record.trial.load.hosts),
        "network": network_words(record.trial.deployment),
        "fingerprints": record.fingerprints.model_dump(),
        "commands": [
            (each.name, shlex.join(each.command), ending(each.exit_code))
            for each in record.execution.commands
        ],
        "size": _megabytes(bundle, record.files),
        "folder": _inside(bundle.path, root),
    }
    return page | _charts(bundle), notes


def _describe_archive(bundle: Bundle, root: Path) -> dict[str, Any]:
    """Return where the bundle's archive lies in the site, and what it does without."""
    left_out = find_left_out(bundle)
    return {
        "file": bundle_file(bundle.id),
        "left_out": ", ".join(left_out),
        "left_out_size": _megabytes(bundle, left_out),
        "folder": _inside(bundle.path, root),
    }


def _charts(bundle: Bundle) -> dict[str, Any]:
    span = find_span(bundle)
    steady, crop_ns = _steady(bundle)
    shown: dict[str, Any] = {
        "steady": steady, "course": [], "distribution": None, "counters": {}, "zero": (),
        "no_course": "The trial never came to its first phase.",
        "no_counters": "The trial never came to its first phase.",
    }  # fmt: skip
    if span is None:
        return shown
    requests = read_requests(bundle)
    course = follow_course(requests, span)
    measured = bundle.record.execution.phase("measured")
    from_ns = max(crop_ns or 0, measured.begin_ns if measured else 0)
    distribution = distribute(requests, from_ns)
    counters, trouble = _counters(bundle, span)
    times = [
        t
        for panels in counters.groups.values()
        for drawn in panels
        for points in drawn.series.values()
        for t in (points[0][0], points[-1][0])
    ]
    frame = make_frame(span, bundle.record.execution.phases, crop_ns, times)
    shown["no_course"] = f"No request to show: {requests.trouble or 'there was none'}."
    shown["no_counters"] = trouble or "There are no readings."
    shown["course"] = trial_charts.course_charts(course, frame) if course else []
    shown["distribution"] = trial_charts.distribution_chart(distribution) if distribution else None
    if course and not distribution:
        shown["no_course"] = ""
    shown["counters"] = trial_charts.counter_charts(counters, frame)
    shown["zero"] = counters.zero
    return shown


def _counters(bundle: Bundle, span: Span) -> tuple[Counters, str]:
    try:
        counters = draw_counters(bundle, bundle.counters, span)
    except BundleError as error:
        return Counters({}), f"The readings cannot be shown: {error.found}."
    groups = dict(counters.groups)
    if panels := draw_gc_logs(gc_logs(bundle), span):
        groups[GROUP] = [*groups.get(GROUP, ()), *panels]
    return Counters(groups, counters.zero), ""


def _steady(bundle: Bundle) -> tuple[str, int | None]:
    """Return what the steady-state check says, in words, and from when results count (ns)."""
    try:
        found = steady_of(bundle)
    except (DoesNotApply, BundleError):
        return "", None
    measured = bundle.record.execution.phase("measured")
    cut_s = (found.crop_ns - measured.begin_ns) / 1e9 if measured else 0.0
    reasons = "; ".join(found.reasons)
    words = {
        True: "Throughput and latency show no trend and no shift that chance does not explain.",
        False: f"The trial had not reached a steady state: {reasons}.",
        None: f"Whether the trial had reached a steady state cannot be told: {reasons}.",
    }[found.steady]
    where = f"{cut_s:.3g} s into the measured phase" if cut_s > 0 else "the measured phase's begin"
    return f"{words} Results count from {where} on: the dashed line.", found.crop_ns


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


def _write_index(file: Path, base: str, rows: list[dict[str, Any]], look: Look) -> bool:
    rows.sort(key=lambda row: [natural_order(str(row[name])) for name in _ORDER])
    stamp = hash_json([base, rows])
    if _read_stamp(file) == stamp:
        return False
    names = [*VERDICTS, ABSENT]
    counts = {name: sum(row["verdict"] == name for row in rows) for name in names}
    text = (
        _templates()
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
    file.write_text(text, encoding="utf-8")
    return True


def _shows_rules(root: Path, page: str) -> bool:
    file = root / "book" / f"{page}.md"
    return file.exists() and _RULES_DIRECTIVE in file.read_text(encoding="utf-8")


def _megabytes(bundle: Bundle, files: Iterable[str]) -> str:
    return f"{sum(bundle.record.files[name].bytes for name in files) / 1e6:.2f} MB"


def _inside(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name


def _read_stamp(file: Path) -> str:
    try:
        with file.open(encoding="utf-8") as page:
            found = _STAMP.search(page.read(_STAMP_WITHIN))
    except (OSError, UnicodeDecodeError):
        return ""
    return found[1] if found else ""


def _remove_others(folder: Path, names: set[str]) -> None:
    for file in folder.glob("*.html"):
        if file.name not in names:
            file.unlink()


@functools.lru_cache(maxsize=1)
def _code_stamp() -> str:
    """Return a checksum over what a page is made with: templates and the package."""
    package = Path(sizebook.__file__).parent
    total = hashlib.sha256()
    for file in sorted([*package.rglob("*.py"), *_TEMPLATES.iterdir()]):
        total.update(f"{file.relative_to(package).as_posix()}\0".encode() + file.read_bytes())
    return total.hexdigest()


@functools.lru_cache(maxsize=1)
def _templates() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: show_plainly(value) if type(value) is str else value,
    )
    environment.policies["json.dumps_kwargs"] = {"sort_keys": True, "separators": (",", ":")}
    return environment
