"""A page of its own for each trial behind a published result.

The pages are plain HTML from templates, not documents of Sphinx: a book has hundreds of trials.
They use the site's own style sheets and scripts, ask nobody for anything, and follow from the
bundles alone.
"""

from __future__ import annotations

import functools
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
import yaml

from sizebook.book.cited import Cited, treatment_words
from sizebook.book.downloads import bundle_file, find_left_out
from sizebook.book.trial_pages.words import (
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
from sizebook.report import trial_charts
from sizebook.report.gc_logs import gc_logs, read_ahead
from sizebook.report.trial_counters import Counters, draw_counters
from sizebook.report.trial_frame import Span, find_span, make_frame
from sizebook.report.trial_gc import GROUP, draw_gc_logs
from sizebook.report.trial_windows import show_requests
from sizebook.store import Bundle, open_bundle

TEMPLATES = Path(__file__).parents[1] / "templates"
_SHEETS = ("styles/theme.css", "styles/pydata-sphinx-theme.css", "styles/sphinx-book-theme.css",
           "sizebook.css", "trials.css")  # fmt: skip
_RULES_DIRECTIVE = "{sbregistry} rules"


@dataclass(frozen=True)
class PageFrame:
    """What all pages take from the site: title, style sheets, scripts, where the rules stand."""

    book: str
    sheets: Sequence[str]
    logo: str
    icon: str
    vega: str
    rules: str


@dataclass(frozen=True)
class PageToMake:
    """A trial whose page is to be made."""

    file: Path
    stamp: str
    """Over all that the page is made from."""
    cited: Cited
    folder: Path | None
    """Where its bundle is, None if it is not on this machine."""
    trouble: str
    """What is not right with the bundle."""
    whole: bool
    """Whether the checksums of all its files hold."""


def find_look(root: Path, statics: Sequence[Path], pages: Iterable[str]) -> PageFrame:
    """Return what a site that is made from these folders offers to its trial pages.

    What they lack is left empty.
    """
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))

    def offered(name: str) -> bool:
        return any((folder / name).exists() for folder in statics)

    vega = sorted(file.name for folder in statics for file in folder.glob("sizebook-vega-*.js"))
    return PageFrame(
        book=str(config.get("title", "Sizebook")),
        sheets=[sheet for sheet in _SHEETS if offered(sheet)],
        logo="logo.svg" if offered("logo.svg") else "",
        icon="favicon.svg" if offered("favicon.svg") else "",
        vega=vega[-1] if vega else "",
        rules=next((f"{page}.html" for page in pages if _shows_rules(root, page)), ""),
    )


def write_pages(due: Sequence[PageToMake], look: PageFrame, root: Path) -> None:
    """Write the pages of trials; what is odd about a bundle stands at its page's head."""
    bundles = [open_bundle(todo.folder) if todo.folder is not None else None for todo in due]
    read_ahead(bundle for bundle in bundles if bundle is not None)
    for todo, bundle in zip(due, bundles, strict=True):
        _write_page(todo, bundle, look, root)


def _write_page(todo: PageToMake, bundle: Bundle | None, look: PageFrame, root: Path) -> None:
    page, notes = None, [todo.trouble] if todo.trouble else []
    cited = todo.cited
    if bundle is not None:
        page, more = _describe(bundle, cited.verdict, root)
        notes += more
    text = (
        load_templates()
        .get_template("trial.html.j2")
        .render(
            stamp=todo.stamp,
            look=look,
            title=treatment_words(bundle.record.trial) if bundle else cited.bundle,
            verdict=cited.verdict,
            page=page,
            notes=notes,
            config=trial_charts.page_config(),
            archive=_describe_archive(bundle, root) if bundle and todo.whole else None,
            bundle=cited.bundle,
            sha256=cited.sha256,
            chapters=list(cited.chapters.values()),
            commands=list(cited.commands),
            results=list(cited.results.values()),
            numbers=list(cited.numbers.values()),
        )
    )
    todo.file.unlink(missing_ok=True)  # whatever stands there: nothing is written through it
    todo.file.write_text(text, encoding="utf-8")


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
    requests = show_requests(bundle, span, _counts_from(bundle, crop_ns))
    course, distribution = requests.course, requests.distribution
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


def ask_requests(bundle: Bundle) -> None:
    """Ask of a trial's requests what its page shows, so that a rehearsal notes it."""
    if (span := find_span(bundle)) is not None:
        show_requests(bundle, span, _counts_from(bundle, _steady(bundle)[1]))


def _counts_from(bundle: Bundle, crop_ns: int | None) -> int:
    measured = bundle.record.execution.phase("measured")
    return max(crop_ns or 0, measured.begin_ns if measured else 0)


def _counters(bundle: Bundle, span: Span) -> tuple[Counters, str]:
    try:
        counters = draw_counters(bundle, bundle.readings, span)
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


def _shows_rules(root: Path, page: str) -> bool:
    file = root / "book" / f"{page}.md"
    return file.exists() and _RULES_DIRECTIVE in file.read_text(encoding="utf-8")


def _megabytes(bundle: Bundle, files: Iterable[str]) -> str:
    return f"{sum(bundle.record.files[name].bytes for name in files) / 1e6:.2f} MB"


def _inside(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name


@functools.lru_cache(maxsize=1)
def load_templates() -> jinja2.Environment:
    """Return the templates of trials' pages; text from data stands in them as text."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: show_plainly(value) if type(value) is str else value,
    )
    environment.policies["json.dumps_kwargs"] = {"sort_keys": True, "separators": (",", ":")}
    return environment
