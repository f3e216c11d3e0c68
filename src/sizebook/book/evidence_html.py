"""The folds that show evidence in a page, and the trials that a book's evidence names.

Folds are HTML in which every text from data is escaped.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sizebook.book.records import Record, read_records
from sizebook.model.bundle import BundleRecord
from sizebook.model.errors import BundleError
from sizebook.model.trial import TrialSpec
from sizebook.model.verdict import VERDICTS
from sizebook.report.wording import format_scalar
from sizebook.store import Project, find_bundles, open_bundle

ROOT_VARIABLE = "SIZEBOOK_ROOT"
"""Environment variable with the project's folder: without it folds name no treatments."""

FOLDER = "trials"
"""Folder of a built site with the trials' pages."""

_SAFE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,119}")
_TITLE = re.compile(r"^#\s+(.+?)\s*$", re.MULTILINE)
_TRIAL_LINK = re.compile(r"(<a class='sb-trial[^']*' href=')(?:\.\./)*trials/")


@dataclass(frozen=True)
class Chapter:
    """A page of the book that was made from a notebook."""

    page: str
    title: str


@dataclass
class Cited:
    """One bundle as the results of the book name it."""

    bundle: str
    sha256: str
    verdict: str
    chapters: dict[str, Chapter] = field(default_factory=dict)
    results: dict[str, dict[str, str]] = field(default_factory=dict)
    numbers: dict[str, dict[str, str]] = field(default_factory=dict)
    commands: dict[str, None] = field(default_factory=dict)


def render_fold(record: Record, notebook: str) -> str:
    """Give the fold below a figure or table; ``notebook`` is the page's name without ending."""
    rows = [("key", _code(record.key)), *_describe(record.evidence, notebook)]
    rows.append(("checksum of this", _code(str(record.evidence["sha256"]))))
    return _fold("Evidence", _rows(rows))


def render_numbers(records: Iterable[Record], notebook: str) -> str:
    """Give the fold with every number of a page, each with an anchor that links can reach."""
    groups: dict[str, list[Record]] = {}
    for record in records:
        origin = {name: each for name, each in record.evidence.items() if name != "sha256"}
        groups.setdefault(json.dumps(origin, sort_keys=True), []).append(record)
    parts = []
    for members in groups.values():
        listed = "".join(_number_row(each) for each in members)
        head = "<tr><th scope='col'>key</th><th scope='col'>value</th></tr>"
        parts.append(
            f"<table class='sb-numbers'><thead>{head}</thead><tbody>{listed}</tbody></table>"
        )
        parts.append(_rows(_describe(members[0].evidence, notebook)))
    count = sum(len(members) for members in groups.values())
    title = f"Evidence for the {count} numbers on this page" if count > 1 else "Evidence"
    return _fold(title, "".join(parts))


def number_anchor(key: str) -> str:
    """Give the HTML id of a number's row."""
    return f"number-{key}"


def trial_file(bundle: str) -> str:
    """Give the name of a trial's page in ``trials/``; a name unfit for a file is hashed."""
    if _SAFE_NAME.fullmatch(bundle) and bundle != "index":
        return f"{bundle}.html"
    return f"trial-{hashlib.sha256(bundle.encode()).hexdigest()[:20]}.html"


def find_cited(book: Path, pages: Iterable[str]) -> dict[str, Cited]:
    """Return the bundles that the notebooks behind these pages name as evidence, by id."""
    cited: dict[str, Cited] = {}
    for page in pages:
        notebook = book / f"{page}.ipynb"
        if not notebook.exists():
            continue
        chapter = Chapter(page, _read_title(notebook))
        for record in read_records(notebook).values():
            for source in record.evidence["sources"]:
                _cite(cited, source, chapter, record)
    return dict(sorted(cited.items()))


def mend_links(site: Path) -> None:
    """Make links to trials right on pages at another depth than the notebook that brought them."""
    for page in sorted(site.rglob("*.html")):
        depth = len(page.relative_to(site).parts) - 1
        if page.parent == site / FOLDER or page.relative_to(site).parts[0].startswith("_"):
            continue
        text = page.read_text(encoding="utf-8")
        mended = _TRIAL_LINK.sub(rf"\g<1>{'../' * depth}{FOLDER}/", text)
        if mended != text:
            page.write_text(mended, encoding="utf-8")


def list_folders(root: Path) -> dict[str, list[Path]]:
    """Give the folders of all bundles of a project by their names; own ones come first."""
    project = Project(root)
    found: dict[str, list[Path]] = {}
    for place in (project.runs, project.published):
        for path in find_bundles(place):
            found.setdefault(path.name, []).append(path)
    return found


def treatment_words(trial: TrialSpec) -> str:
    """Give the levels of a trial's factors in words; the experiment where there is no factor."""
    words = [f"{name} {_level(value)}" for name, value in trial.treatment.items()]
    return ", ".join(words) or trial.experiment


def _cite(
    cited: dict[str, Cited], source: Mapping[str, str], chapter: Chapter, record: Record
) -> None:
    known = cited.setdefault(
        source["bundle"], Cited(source["bundle"], source["sha256"], source["verdict"])
    )
    known.verdict = min(known.verdict, source["verdict"], key=_rank)
    known.chapters.setdefault(chapter.page, chapter)
    known.commands.setdefault(str(record.evidence["command"]))
    where = f"{chapter.page}#{record.key}"
    if record.kind in ("figure", "table"):
        caption = f"{record.kind.capitalize()}: {record.fields['caption']}"
        anchor = f"result-{record.key}"
        known.results[where] = {"page": chapter.page, "anchor": anchor, "title": caption}
    else:
        anchor = number_anchor(record.key)
        known.numbers[where] = {"page": chapter.page, "anchor": anchor, "title": record.key}


def _rank(verdict: str) -> int:
    return VERDICTS.index(verdict) if verdict in VERDICTS else -1


def _read_title(notebook: Path) -> str:
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "markdown" and (found := _TITLE.search("".join(cell["source"]))):
            return found[1]
    return notebook.stem


def _level(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _number_row(record: Record) -> str:
    value, unit = record.fields["value"], record.fields["unit"]
    words = escape(format_scalar(value, "", unit))
    return f"<tr id='{number_anchor(record.key)}'><td>{_code(record.key)}</td><td>{words}</td></tr>"


def _describe(evidence: Mapping[str, Any], notebook: str) -> list[tuple[str, str]]:
    parameters = "<br>".join(
        _code(f"{name} = {json.dumps(value)}") for name, value in evidence["parameters"].items()
    )
    trials = "../" * notebook.count("/") + FOLDER
    return [
        ("chapter", escape(str(evidence["chapter"]))),
        ("notebook", _code(f"{notebook}.ipynb")),
        ("parameters", parameters or "none"),
        ("measured in", _sources(evidence["sources"], trials, notebook)),
        ("commit", _code(str(evidence["commit"]))),
        ("harness", escape(str(evidence["harness"]))),
        ("make it again", _code(str(evidence["command"]))),
    ]


def _sources(sources: Sequence[Mapping[str, str]], trials: str, notebook: str) -> str:
    """Give the trials behind a result: by treatment, then each bundle with its checksum."""
    if not sources:
        return "no bundle: computed from the chapter's parameters alone"
    groups: dict[str, list[tuple[int | None, Mapping[str, str]]]] = {}
    for each in sources:
        record = _read_record(each["bundle"], each["sha256"])
        words = "bundle not on this machine"
        if record is not None:
            words = f"{record.trial.experiment}: {treatment_words(record.trial)}"
        block = None if record is None else record.trial.replicate + 1
        groups.setdefault(words, []).append((block, each))
    listed = "".join(
        f"<li>{_trial_link(each['bundle'], _code(each['bundle']), trials)} "
        f"<span class='sb-verdict'>{escape(each['verdict'])}</span>"
        f" <small>{_code('sha256 ' + each['sha256'])}</small></li>"
        for each in sources
    )
    bundles = f"<details><summary>bundles and checksums</summary><ul>{listed}</ul></details>"
    table = "".join(_treatment_row(words, group, trials) for words, group in groups.items())
    grid = f"<div class='sb-grid'><table><tbody>{table}</tbody></table></div>"
    return _count_trials(sources, trials, notebook) + grid + bundles


def _count_trials(sources: Sequence[Mapping[str, str]], trials: str, notebook: str) -> str:
    counts = Counter(each["verdict"] for each in sources)
    words = ", ".join(f"{count} {escape(verdict)}" for verdict, count in sorted(counts.items()))
    trial = "trial" if len(sources) == 1 else "trials"
    address = f"{trials}/index.html?chapter={quote(notebook)}"
    link = f"<a class='sb-trial' href='{address}'>all of the chapter</a>"
    return f"<p>{len(sources)} {trial}: {words} ({link})</p>"


def _treatment_row(
    words: str, group: Sequence[tuple[int | None, Mapping[str, str]]], trials: str
) -> str:
    """Give one treatment with its trials, a link each; the number tells blocks apart."""
    links = []
    for block, each in sorted(group, key=lambda pair: (pair[0] or 0, pair[1]["bundle"])):
        number = f"{block}: " if block is not None and len(group) > 1 else ""
        shown = escape(number + each["verdict"])
        links.append(_trial_link(each["bundle"], shown, trials, each["verdict"]))
    return f"<tr><td>{escape(words)}</td><td>{' '.join(links)}</td></tr>"


def _trial_link(bundle: str, shown: str, trials: str, verdict: str = "") -> str:
    """Give the link to a trial's page; its class is what finds it again (``trial_pages``)."""
    badge = f" sb-badge sb-is-{escape(verdict.replace(' ', '-'))}" if verdict else ""
    address = escape(f"{trials}/{trial_file(bundle)}")
    return f"<a class='sb-trial{badge}' href='{address}'>{shown}</a>"


@functools.lru_cache(maxsize=4096)
def _read_record(bundle: str, sha256: str) -> BundleRecord | None:
    """Give the record of a cited bundle, None if this very bundle is not on this machine."""
    root = os.environ.get(ROOT_VARIABLE)
    for path in _folders(root).get(bundle, ()) if root else ():
        try:
            found = open_bundle(path)
        except BundleError:
            continue
        if found.sha256 == sha256:
            return found.record
    return None


@functools.lru_cache(maxsize=1)
def _folders(root: str) -> dict[str, list[Path]]:
    return list_folders(Path(root))


def _rows(rows: Iterable[tuple[str, str]]) -> str:
    listed = "".join(f"<tr><th scope='row'>{name}</th><td>{cell}</td></tr>" for name, cell in rows)
    return f"<table class='sb-record'><tbody>{listed}</tbody></table>"


def _fold(title: str, body: str) -> str:
    return f"<details class='sb-evidence'><summary>{title}</summary><div>{body}</div></details>"


def _code(text: str) -> str:
    return f"<code>{escape(text)}</code>"
