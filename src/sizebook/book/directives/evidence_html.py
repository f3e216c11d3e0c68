"""The folds that show evidence in a page.

Folds are HTML in which every text from data is escaped.
"""

# Pygments brings no types
# mypy: disable-error-code="import-untyped"

from __future__ import annotations

import functools
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from sizebook.book.cited import (
    ProjectBundles,
    number_anchor,
    result_anchor,
    treatment_words,
    trial_file,
)
from sizebook.book.downloads import (
    FOLDER,
    bundle_file,
    notebook_file,
    numbers_file,
    result_files,
    source_file,
)
from sizebook.book.records import PublishedResult
from sizebook.book.site import TRIALS
from sizebook.model.bundle import BundleRecord
from sizebook.model.plain_text import escape_html as escape
from sizebook.report.wording import format_scalar

NUMBERS_FOLD = "sb-numbers"
"""HTML id of the fold with all numbers of a page."""

BUNDLES_FOLD = "sb-bundles"
"""HTML id of the fold with all bundles behind a page."""

Row = tuple[str, str]
"""Name and finished HTML of one line of a record."""


@dataclass(frozen=True)
class Place:
    """The page that shows a fold, by its name without ending, and the bundles it can look into."""

    page: str
    bundles: ProjectBundles

    def link(self, target: str) -> str:
        """Give the address of a file of the site as seen from this page."""
        return "../" * self.page.count("/") + quote(target)


def render_fold(record: PublishedResult, notebook: str, place: Place) -> str:
    """Give the fold below a figure, table or claim of a notebook's page.

    On the notebook's own page it has the HTML id ``evidence-<key>``.
    """
    home = f"{place.link(f'{notebook}.html')}#{quote(result_anchor(record.key))}"
    key = f"<a href='{escape(home)}'>{_code(record.key)}</a>"
    files = [
        (each.file, each.label, len(each.text.encode())) for each in result_files(record, notebook)
    ]
    rows = [("key", key), *_describe([record], notebook, place)]
    rows.append(("checksum", _code(f"sha256 {record.evidence['sha256']}")))
    rows.append(("download", _downloads(files, notebook, place)))
    return _fold("Evidence", _rows(rows), f"evidence-{record.key}" * (place.page == notebook))


def render_numbers(records: Iterable[PublishedResult], place: Place) -> str:
    """Give the fold with every number of a page, each with an anchor that links can reach."""
    listed = list(records)
    groups: dict[str, list[PublishedResult]] = {}
    for record in listed:
        origin = {name: each for name, each in record.evidence.items() if name != "sha256"}
        groups.setdefault(json.dumps(origin, sort_keys=True), []).append(record)
    parts = []
    for members in groups.values():
        rows = "".join(_number_row(each) for each in members)
        names = "".join(f"<th scope='col'>{name}</th>" for name in ("key", "value", "cell"))
        head = f"<thead><tr>{names}</tr></thead>"
        parts.append(f"<table class='sb-numbers'>{head}<tbody>{rows}</tbody></table>")
        parts.append(_rows(_describe(members, place.page, place)))
    file = numbers_file(listed, place.page)
    files = [(file.file, file.label, len(file.text.encode()))]
    parts.append(_rows([("download", _downloads(files, place.page, place))]))
    count = len(listed)
    title = f"Evidence for the {count} numbers on this page" if count > 1 else "Evidence"
    return _fold(title, "".join(parts), NUMBERS_FOLD)


def render_bundles(records: Iterable[PublishedResult], place: Place) -> str:
    """Give the fold with every bundle behind a page: its checksum, and the bundle to take home.

    Results share their trials, so the bundles stand there once. Empty for a page without any.
    """
    cited = [each for record in records for each in record.evidence["sources"]]
    sources = {(each["bundle"], each["sha256"]): each for each in cited}
    if not sources:
        return ""
    listed = "".join(_bundle_item(each, place) for each in sources.values())
    count = f"{len(sources)} bundles" if len(sources) > 1 else "bundle"
    return _fold(f"The {count} behind this page", f"<ul>{listed}</ul>", BUNDLES_FOLD)


def _number_row(record: PublishedResult) -> str:
    value, unit = record.fields["value"], record.fields["unit"]
    words = escape(format_scalar(value, "", unit))
    anchor = escape(number_anchor(record.key))
    cells = (_code(record.key), words, str(record.cell or ""))
    return f"<tr id='{anchor}'>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _describe(records: Sequence[PublishedResult], notebook: str, place: Place) -> list[Row]:
    """Give the lines about results of one origin: they differ in key, cell and checksum only."""
    evidence = records[0].evidence
    parameters = "<br>".join(
        _code(f"{name} = {json.dumps(value)}") for name, value in evidence["parameters"].items()
    )
    sources = evidence["sources"]
    return [
        ("chapter", escape(str(evidence["chapter"]))),
        ("notebook", _code(f"{notebook}.ipynb")),
        *_cells(records),
        ("parameters", parameters or "none"),
        ("measured in", _sources(sources, notebook, place)),
        *_conditions(sources, place),
        *_files(evidence.get("files", ()), place),
        ("commit", _code(str(evidence["commit"]))),
        ("harness", escape(str(evidence["harness"]))),
        ("make it again", _code(str(evidence["command"]))),
    ]


def _cells(records: Sequence[PublishedResult]) -> list[Row]:
    """Give the cells that made these results, each with its code in a fold of its own."""
    cells = {each.cell: each for each in records if each.cell}
    if not cells:
        return []
    parts = [
        f"<details class='sb-cell'><summary>code cell {number}"
        f"{f' ({_code(each.cell_id)})' if each.cell_id else ''}</summary>"
        f"{_highlight(each.cell_source)}</details>"
        for number, each in sorted(cells.items())
    ]
    return [("cell" if len(cells) == 1 else "cells", "".join(parts))]


@functools.lru_cache(maxsize=256)
def _highlight(source: str) -> str:
    """Give a cell's code in colours; a cell that makes many results is asked for with each."""
    return str(highlight(source, PythonLexer(), HtmlFormatter()))


def _sources(sources: Sequence[Mapping[str, str]], notebook: str, place: Place) -> str:
    """Give the trials behind a result by treatment, and the way to their bundles' checksums."""
    if not sources:
        return "no bundle: computed without a trial"
    groups: dict[str, list[tuple[int | None, Mapping[str, str]]]] = {}
    for each in sources:
        record = _find_record(each, place)
        words = "bundle not on this machine"
        if record is not None:
            words = f"{record.trial.experiment}: {treatment_words(record.trial)}"
        block = None if record is None else record.trial.replicate + 1
        groups.setdefault(words, []).append((block, each))
    page = "" if place.page == notebook else place.link(f"{notebook}.html")
    bundles = f"<p><a href='{escape(page)}#{BUNDLES_FOLD}'>bundles and checksums</a></p>"
    table = "".join(_treatment_row(words, group, place) for words, group in groups.items())
    about = "role='group' aria-label='Trials by treatment' tabindex='0'"
    grid = f"<div class='sb-grid' {about}><table><tbody>{table}</tbody></table></div>"
    return _count_trials(sources, notebook, place) + grid + bundles


def _count_trials(sources: Sequence[Mapping[str, str]], notebook: str, place: Place) -> str:
    counts = Counter(each["verdict"] for each in sources)
    words = ", ".join(f"{count} {escape(verdict)}" for verdict, count in sorted(counts.items()))
    trial = "trial" if len(sources) == 1 else "trials"
    address = f"{place.link(f'{TRIALS}/index.html')}?chapter={quote(notebook)}"
    link = f"<a class='sb-trial' href='{address}'>all of the chapter</a>"
    return f"<p>{len(sources)} {trial}: {words} ({link})</p>"


def _treatment_row(
    words: str, group: Sequence[tuple[int | None, Mapping[str, str]]], place: Place
) -> str:
    """Give one treatment with its trials, a link each; the number tells blocks apart."""
    links = []
    for block, each in sorted(group, key=lambda pair: (pair[0] or 0, pair[1]["bundle"])):
        number = f"{block}: " if block is not None and len(group) > 1 else ""
        shown = escape(number + each["verdict"])
        links.append(_trial_link(each["bundle"], shown, place, each["verdict"]))
    return f"<tr><th scope='row'>{escape(words)}</th><td>{' '.join(links)}</td></tr>"


def _trial_link(bundle: str, shown: str, place: Place, verdict: str = "") -> str:
    badge = f" sb-badge sb-is-{escape(verdict.replace(' ', '-'))}" if verdict else ""
    address = escape(place.link(f"{TRIALS}/{trial_file(bundle)}"))
    return f"<a class='sb-trial{badge}' href='{address}'>{shown}</a>"


def _bundle_item(source: Mapping[str, str], place: Place) -> str:
    bundle, sha256 = source["bundle"], source["sha256"]
    archive = ""
    if place.bundles.find_whole(bundle, sha256) is not None:
        address = escape(place.link(bundle_file(bundle)))
        about = escape(f"bundle {bundle} as zip")
        archive = f" <a href='{address}' aria-label='{about}' download>zip</a>"
    return (
        f"<li>{_trial_link(bundle, _code(bundle), place)} "
        f"<span class='sb-verdict'>{escape(source['verdict'])}</span>"
        f" <small>{_code('sha256 ' + sha256)}</small>{archive}</li>"
    )


def _conditions(sources: Sequence[Mapping[str, str]], place: Place) -> list[Row]:
    """Give machine and versions as the cited bundles have recorded them."""
    found = [record for each in sources if (record := _find_record(each, place)) is not None]
    if not found:
        return [("machine", "not known: no bundle is on this machine")] if sources else []
    missing = len(sources) - len(found)
    note = f"<p>{len(found)} of {len(sources)} bundles are on this machine:</p>" if missing else ""
    machines = _compare([each.machine.model_dump() for each in found])
    versions = _compare([dict(each.versions) for each in found])
    return [("machine", note + machines), ("versions", note + versions)]


def _compare(facts: Sequence[Mapping[str, Any]]) -> str:
    """Give each fact once; where the trials differ, each value with how many trials had it."""
    pairs = []
    for name in dict.fromkeys(name for each in facts for name in each):
        values = Counter(str(each.get(name, "absent")) for each in facts)
        words = ", ".join(
            value if len(values) == 1 else f"{value} ({count} of {len(facts)} trials)"
            for value, count in values.items()
        )
        label = escape(name.replace("_", " "))
        pairs.append(f"<span class='sb-pair'><span>{label}</span> {escape(words)}</span>")
    return " ".join(pairs)


def _files(files: Sequence[Mapping[str, str]], place: Place) -> list[Row]:
    """Give the files of the project behind a result; a link to those that the site brings."""
    parts = []
    for each in files:
        name = _code(each["file"])
        if source_file(place.bundles.root, each["file"], each["sha256"]) is not None:
            address = escape(place.link(f"{FOLDER}/{each['file']}"))
            name = f"<a href='{address}' download>{name}</a>"
        parts.append(f"<li>{name} <small>{_code('sha256 ' + each['sha256'])}</small></li>")
    return [("made from", f"<ul>{''.join(parts)}</ul>")] if parts else []


def _downloads(files: Iterable[tuple[str, str, int]], notebook: str, place: Place) -> str:
    links = [
        f"<a href='{escape(place.link(file))}' download>{escape(label)}</a>"
        f" <small>{size / 1000:.1f} kB</small>"
        for file, label, size in files
    ]
    address = escape(place.link(notebook_file(notebook)))
    links.append(f"<a href='{address}' download>notebook as executed</a>")
    return ", ".join(links)


def _find_record(source: Mapping[str, str], place: Place) -> BundleRecord | None:
    found = place.bundles.find(source["bundle"], source["sha256"]).cited
    return None if found is None else found.record


def _rows(rows: Iterable[Row]) -> str:
    listed = "".join(f"<tr><th scope='row'>{name}</th><td>{cell}</td></tr>" for name, cell in rows)
    return f"<table class='sb-record'><tbody>{listed}</tbody></table>"


def _fold(title: str, body: str, anchor: str) -> str:
    identity = f" id='{escape(anchor)}'" if anchor else ""
    summary = f"<summary>{title}</summary>"
    return f"<details class='sb-evidence'{identity}>{summary}<div>{body}</div></details>"


def _code(text: str) -> str:
    return f"<code>{escape(text)}</code>"
