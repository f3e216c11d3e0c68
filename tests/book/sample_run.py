"""A project with one executed chapter and SYNTHETIC trials, to export and to break."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import nbformat
from sample_book import HOSTILE, capture
from synthetic_bundles import closed_rows, write_synthetic

from sizebook.book.notebooks import STAMP
from sizebook.model.bundle import BundleRecord
from sizebook.report.page import EvidenceSource, Page
from sizebook.store import Bundle, BundleWriter
from sizebook.store.fingerprints import fingerprint_file

PARAMETERS = 'profile = "smoke"  # how long\nlevels = [1, 5]  # users\nseed = 1  # of arrivals'
TITLE = f"Alpha {HOSTILE}"


def make_sample_run(root: Path) -> Path:
    """Write the project below ``root``: a chapter with three trials, a page without any."""
    for folder in ("notebooks", "locustfiles", "env", "book/chapters"):
        (root / folder).mkdir(parents=True)
    (root / "Makefile").write_text("book:\n\tsizebook run\n")
    (root / "_config.yml").write_text("title: Synthetic\n")
    (root / "pyproject.toml").write_text('[project]\nname = "synthetic"\n')
    (root / "env" / "requirements.lock").write_text("nothing==1\n")
    (root / "locustfiles" / "synthetic.py").write_text('"""Synthetic."""\n')
    trials = [
        write_trial(root, "t-0", "conditioning", replicate=0),
        write_trial(root, "t-1", "measured", replicate=0),
        write_trial(root, "t-2", "measured", replicate=1, failure="it did not start"),
    ]
    write_trial(root, "t-9", "measured", replicate=9, session="another")
    write_chapter(root, "alpha", TITLE, trials[1:], order=1)
    write_chapter(root, "beta", "Beta, which measures nothing", [], order=2)
    return root


def write_trial(
    root: Path,
    name: str,
    purpose: str,
    *,
    replicate: int,
    failure: str = "",
    session: str = "one",
) -> Bundle:
    """Write a bundle of the chapter alpha, with hostile text wherever text may stand."""
    folder = root / "data" / "runs" / "alpha"
    rows = closed_rows()
    draft = write_synthetic(folder, f"{name}-draft", rows=rows)
    shutil.rmtree(draft.path)
    record = change(
        draft.record,
        trial={
            "chapter": "alpha",
            "purpose": purpose,
            "replicate": replicate,
            "treatment": {"format": HOSTILE},
        },
        fingerprints={"locustfile": fingerprint_file(root / "locustfiles" / "synthetic.py")},
        execution={"started_utc": f"2026-01-01T00:0{replicate}:00Z", "session": session},
        machine={"cpu_model": HOSTILE},
    )
    record = record.model_copy(
        update={
            "versions": {"python": "3.11.7", "jvm app": HOSTILE},
            "outcome": "failed" if failure else "completed",
            "failure": failure,
        }
    )
    with BundleWriter(folder, name) as writer:
        writer.table("requests.parquet", rows)
        (writer.path / "logs").mkdir()
        (writer.path / "logs" / "app-1.log").write_text(f"{HOSTILE}\n")
        return writer.commit(record)


def change(record: BundleRecord, **parts: dict[str, Any]) -> BundleRecord:
    """Return the record with some fields of its parts changed."""
    changed = {name: getattr(record, name).model_copy(update=to) for name, to in parts.items()}
    return record.model_copy(update=changed)


def write_chapter(root: Path, name: str, title: str, trials: list[Bundle], *, order: int) -> None:
    """Write a chapter's template and the notebook that a run would have made of it."""
    about = {
        "id": name,
        "title": title,
        "part": "Test",
        "order": order,
        "sources": [],
        "kind": "chapter",
    }
    template = nbformat.v4.new_notebook(metadata={"sizebook": about})
    template.cells = [
        nbformat.v4.new_markdown_cell(f"# {name}", id="title"),
        nbformat.v4.new_code_cell(PARAMETERS, metadata={"tags": ["parameters"]}, id="parameters"),
        nbformat.v4.new_code_cell("page.value('total', 12.5)", id="total"),
    ]
    nbformat.write(template, root / "notebooks" / f"{order:02d}-{name}.ipynb")
    values = {"profile": "smoke", "levels": [1, 5, 10], "seed": 1}
    sources = [EvidenceSource(each.id, each.sha256, "valid") for each in trials]
    page = Page(name, values, sources=sources, command=f"sizebook run {name}")
    page_notebook = nbformat.from_dict(json.loads(nbformat.writes(template)))
    page_notebook.cells[2].outputs = capture(lambda: page.value("total", 12.5))
    injected = nbformat.v4.new_code_cell("levels = [1, 5, 10]", id="injected-parameters")
    injected.metadata["tags"] = ["injected-parameters"]
    page_notebook.cells.insert(2, injected)
    page_notebook.metadata[STAMP] = {
        "stamp": "0" * 64,
        "template": f"{order:02d}-{name}.ipynb",
        "parameters": values,
        "commit": "c" * 40,
        "harness": "0.1.0",
    }
    nbformat.write(page_notebook, root / "book" / "chapters" / f"{name}.ipynb")
