"""The page of reported numbers shows all of them, from the files alone."""

from __future__ import annotations

import hashlib
import html
import json
import re
from pathlib import Path
from typing import Any
from unittest import mock

import nbformat
import pytest

from sizebook.book.chapters import get_chapter
from sizebook.chapters.reported.printed import with_words
from sizebook.model.reported import REPORTS
from sizebook.report.reported import reported
from sizebook.store import Project

ROOT = Path(__file__).resolve().parents[2]
TABLES = ("measurements", "parameters", "claims")

Output = tuple[dict[str, Any], dict[str, Any]]


@pytest.fixture(scope="module")
def outputs() -> list[Output]:
    """Run the notebook's code in this process; give what it shows, as bundle and record."""
    shown: list[Output] = []

    def store(bundle: dict[str, Any], raw: bool, metadata: dict[str, Any]) -> None:
        assert raw
        json.dumps(metadata, allow_nan=False)
        shown.append((bundle, metadata["sizebook"]))

    notebook = nbformat.read(get_chapter(ROOT, "reported").notebook, as_version=4)
    namespace: dict[str, Any] = {}
    with mock.patch("IPython.display.display", store), pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        patch.setenv("SIZEBOOK_ROOT", str(ROOT))
        for cell in notebook.cells:
            if cell.cell_type == "code":
                exec(compile(cell.source, cell.id, "exec"), namespace)
    return shown


def test_every_report_has_settings_figures_rest_and_claims(outputs: list[Output]) -> None:
    """Keys are used once; each report has its tables and at least two figures."""
    keys = [(record["kind"], record["key"]) for _, record in outputs if record["kind"] != "prose"]
    assert len(keys) == len(set(keys))
    for source in REPORTS:
        name = source.split("-")[0]
        assert {("table", f"{name}-{part}") for part in ("hardware", "parameters", "rest",
                                                         "claims")} <= set(keys)  # fmt: skip
        assert sum(kind == "figure" and key.startswith(name) for kind, key in keys) >= 2


def test_every_number_stands_in_a_table(outputs: list[Output]) -> None:
    """All measurements with their marks, all settings and all claims are on the page."""
    project = Project(ROOT)
    shown: dict[str, str] = dict.fromkeys(REPORTS, "")
    for bundle, record in outputs:
        if record["kind"] == "table":
            for source in REPORTS:
                if record["key"].startswith(source.split("-")[0] + "-"):
                    text = re.sub(r"<[^>]+>", "\n", bundle["text/html"])
                    shown[source] += html.unescape(text)
    numbers = with_words(reported("measurements", project))
    missing = [
        (row["source"], row["metric"], row["words"])
        for row in numbers.iter_rows(named=True)
        if not re.search(rf"(?<![\d,.]){re.escape(row['words'])}(?![\d,.])", shown[row["source"]])
    ]
    assert missing == []
    for row in reported("claims", project).iter_rows(named=True):
        assert row["statement"] in shown[row["source"]]
    for row in reported("parameters", project).iter_rows(named=True):
        assert row["parameter"] in shown[row["source"]]


def test_the_counts_are_the_data_s(outputs: list[Output]) -> None:
    """735, 264 and 204, as numbers that other pages can quote."""
    numbers = {
        number["key"]: number["value"]
        for _, record in outputs
        if record["kind"] == "prose"
        for number in record["numbers"]
    }
    assert [numbers[name] for name in TABLES] == [735, 264, 204]


def test_evidence_has_the_files_and_no_bundle(outputs: list[Output]) -> None:
    """Every result names the three files with the checksums that they have."""
    files = []
    for name in TABLES:
        content = (ROOT / "data" / "reported" / f"{name}.csv").read_bytes()
        sha256 = hashlib.sha256(content).hexdigest()
        files.append({"file": f"data/reported/{name}.csv", "sha256": sha256})
    assert outputs
    for _, record in outputs:
        assert record["evidence"]["files"] == files
        assert record["evidence"]["sources"] == []


def test_figures_say_what_to_see_and_have_titled_axes(outputs: list[Output]) -> None:
    """A caption of a sentence or more, an alternative text, and a title on each value axis."""
    figures = [(bundle, record) for bundle, record in outputs if record["kind"] == "figure"]
    assert len(figures) >= 15
    for bundle, record in figures:
        assert len(record["caption"]) > 60
        assert len(record["alt"]) > 30
        spec = next(value for key, value in bundle.items() if "vegalite" in key)
        for view in spec.get("concat", [spec]):
            for part in view.get("layer", [view]):
                for axis in ("x", "y"):
                    channel = part["encoding"].get(axis, {})
                    if channel.get("type") == "quantitative":
                        assert channel["title"], record["key"]


def test_the_data_can_be_downloaded() -> None:
    """The page links the data: three tables and what their columns hold."""
    source = get_chapter(ROOT, "reported").notebook.read_text()
    for name in (*(f"{table}.csv" for table in TABLES), "README.md"):
        assert f"../../data/reported/{name}" in source
        assert (ROOT / "data" / "reported" / name).exists()
