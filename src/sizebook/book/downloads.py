"""What a reader can take home from a built site: notebooks as executed, data, numbers, bundles.

All of it lies in ``downloads/`` of the site and follows from the book's sources and bundles alone,
so that the same sources give the same files, byte for byte.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sizebook.book.cited import ProjectBundles, file_stem, find_cited
from sizebook.book.flat_data import find_datasets, make_rows, read_table, write_csv
from sizebook.book.records import PublishedResult, read_records
from sizebook.report.chart import MIME
from sizebook.store import Bundle
from sizebook.store.bundles import REQUESTS
from sizebook.store.fingerprints import fingerprint_file
from sizebook.store.received import pack_bundle

FOLDER = "downloads"
BUNDLE_LIMIT_BYTES = 4_000_000
"""A bundle of more is offered without its requests, as published ones are."""

_OPEN_FOLDERS = ("data/reported", "bench/results")
"""Where files that a result names as its source may lie; no other is copied into a site."""


@dataclass(frozen=True)
class Download:
    """One file of ``downloads/``, what it is, and its text."""

    file: str
    label: str
    text: str


def result_files(record: PublishedResult, page: str) -> list[Download]:
    """Give the files of one result of a notebook's page, empty for a number.

    A figure has its specification and each data set that it draws; a table its cells; a claim its
    comparisons and verdict.
    """
    stem = f"{_chapter(page)}/{file_stem(record.key, record.kind)}"
    match record.kind:
        case "figure":
            spec = record.bundle[MIME]
            files = [
                Download(f"{stem}{_nth(index)}.csv", "data (CSV)", write_csv(make_rows(rows)))
                for index, rows in enumerate(find_datasets(spec))
            ]
            return [*files, Download(f"{stem}.json", "chart (Vega-Lite)", _json(spec))]
        case "table":
            cells = write_csv(read_table(record.text("text/html")))
            return [Download(f"{stem}.csv", "cells (CSV)", cells)]
        case "calculator":
            cells = write_csv(read_table(record.text("text/html")))
            return [
                Download(f"{stem}.csv", "standard answers (CSV)", cells),
                Download(f"{stem}.json", "model (JSON)", _json(record.fields["model"])),
            ]
        case "claim":
            claim = _json(record.fields["claim"])
            return [Download(f"{stem}.json", "comparisons and verdict (JSON)", claim)]
        case _:
            return []


def numbers_file(records: Sequence[PublishedResult], page: str) -> Download:
    """Give the file with all numbers of a notebook's page, each with cell, checksum, evidence."""
    origins: dict[str, int] = {}
    numbers = {}
    for each in records:
        evidence = dict(each.evidence)
        sha256 = evidence.pop("sha256")
        origin = origins.setdefault(json.dumps(evidence), len(origins))
        numbers[each.key] = {
            "value": each.fields["value"],
            "unit": each.fields["unit"],
            "cell": each.cell,
            "cell_id": each.cell_id,
            "sha256": sha256,
            "evidence": origin,
        }
    data = {
        "notebook": f"{page}.ipynb",
        "numbers": numbers,
        "evidence": list(map(json.loads, origins)),
    }
    return Download(f"{_chapter(page)}.numbers.json", "numbers (JSON)", _json(data))


def notebook_file(page: str) -> str:
    """Give where the executed notebook of a page lies in the site."""
    return f"{_chapter(page)}.ipynb"


def bundle_file(bundle: str) -> str:
    """Give where the archive of a bundle lies in the site."""
    return f"{FOLDER}/bundles/{file_stem(bundle, 'bundle')}.zip"


def find_left_out(bundle: Bundle) -> tuple[str, ...]:
    """Give the files that the archive of a bundle does without: its requests, when it is large."""
    total = sum(file.bytes for file in bundle.record.files.values())
    return (REQUESTS,) if total > BUNDLE_LIMIT_BYTES and REQUESTS in bundle.record.files else ()


def source_file(root: Path, file: str, sha256: str) -> Path | None:
    """Give a file of the project that a result was made from, None unless it is that very file.

    Only files with reported data and results of benchmarks are given: a notebook from elsewhere
    may name anything.
    """
    path = (root / file).resolve()
    folders = [(root / each).resolve() for each in _OPEN_FOLDERS]
    inside = any(path.is_relative_to(folder) for folder in folders)
    if not inside or ".." in Path(file).parts or not path.is_file():
        return None
    return path if fingerprint_file(path) == sha256 else None


def write_downloads(root: Path, site: Path, pages: Iterable[str], bundles: ProjectBundles) -> None:
    """Write ``downloads/`` of a built site anew, for the notebooks behind these pages."""
    listed = list(pages)
    shutil.rmtree(site / FOLDER, ignore_errors=True)
    for page in listed:
        notebook = root / "book" / f"{page}.ipynb"
        if notebook.exists():
            _write_chapter(root, site, page, notebook)
    for each in find_cited(root / "book", listed).values():
        bundle = bundles.find_whole(each.bundle, each.sha256)
        if bundle is not None:
            target = _make_place(site / bundle_file(each.bundle))
            pack_bundle(bundle, target, leave_out=find_left_out(bundle))


def _write_chapter(root: Path, site: Path, page: str, notebook: Path) -> None:
    shutil.copyfile(notebook, _make_place(site / notebook_file(page)))
    records = list(read_records(notebook).values())
    files = [each for record in records for each in result_files(record, page)]
    numbers = [record for record in records if record.kind == "value"]
    if numbers:
        files.append(numbers_file(numbers, page))
    for each in files:
        _make_place(site / each.file).write_text(each.text, encoding="utf-8", newline="\n")
    for record in records:
        for source in record.evidence.get("files", ()):
            path = source_file(root, source["file"], source["sha256"])
            target = site / FOLDER / source["file"]
            if path is not None and not target.exists():
                shutil.copyfile(path, _make_place(target))


def _chapter(page: str) -> str:
    return f"{FOLDER}/{page.removeprefix('chapters/')}"


def _nth(index: int) -> str:
    return f".{index + 1}" if index else ""


def _json(data: Any) -> str:
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def _make_place(file: Path) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    return file
