"""A small book with claims: of reports, of its own, decided or not (SYNTHETIC numbers)."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import nbformat
import polars as pl
from sample_book import HOSTILE, PROJECT, capture, make_sample_book

from sizebook.model.claim import own_claim
from sizebook.model.verdict import Judgement
from sizebook.report.page import Page
from sizebook.store import Project

CLAIMS = ("gw-threads-1", "gw-size-1", "gw-odata-1", "mii-connectors-1", "ita-timeout-1")
"""Decided, decided, not transferable, of a chapter that is not written, undecidable."""
PAGES = ("index", "notes", "chapters/alpha", "chapters/beta", "chapters/gamma")
WRITTEN, BEGAN = "2026-01-01T10:00:00Z", "20260101T100001Z"
"""When the book's own claim was written down, and when its trials began."""
INDEX = """\
# Synthetic book of claims

## Ledger

More threads: {claim}`gw-threads-1`; {confirmed}`they help <gw-threads-1>`, and
{contradicted}`own claims fail <own-hostile>`.

```{claims-ledger}
```
"""


def make_claims_book(root: Path) -> Path:
    """Write the sample book with a third chapter that decides claims; give ``root``."""
    make_sample_book(root)
    (root / "notebooks").mkdir()
    book = root / "book"
    (book / "index.md").write_text(INDEX)
    with (book / "_toc.yml").open("a") as toc:
        toc.write("  - file: chapters/gamma\n")
    write_tables(root)
    write_gamma(root)
    return root


def write_tables(root: Path, claims: Sequence[str] = CLAIMS) -> None:
    """Write five of the reports' claims and where they are put to the test."""
    for folder in ("reported", "claims"):
        (root / "data" / folder).mkdir(parents=True, exist_ok=True)
    with (PROJECT / "data" / "reported" / "claims.csv").open(newline="") as stream:
        reader = csv.DictReader(stream)
        rows = [row for row in reader if row["claim_id"] in claims]
        names = list(reader.fieldnames or ())
    with (root / "data" / "reported" / "claims.csv").open("w", newline="") as stream:
        writer = csv.DictWriter(stream, names)
        writer.writeheader()
        writer.writerows(rows)
    tables = root / "data" / "claims"
    (tables / "chapters.csv").write_text(
        "source,scenario,claim_id,chapter\n"
        "gateway-2012,flight-list-and-details,,gamma\n"
        "mii-2009,sync-communication,,delta\n"
        "itanium-2010,,ita-timeout-1,gamma\n"
    )
    (tables / "planned.csv").write_text(
        "chapter,part,title\ngamma,I Test,Claims\ndelta,II Later,Not there\n"
    )
    (tables / "undecidable.csv").write_text("claim_id,reason\nita-timeout-1,no such disk\n")
    (tables / "own.csv").write_text(
        f"claim_id,written_utc,relation,statement\nown-hostile,{WRITTEN},level,hostile\n"
    )


def write_gamma(root: Path, faster: float = 0.5, leave_out: Sequence[str] = ()) -> None:
    """Write the executed chapter: one claim at a ratio of ``faster``, one open, one hostile."""
    page = Page("gamma", {}, command="sizebook run gamma", project=Project(root))
    notebook = nbformat.v4.new_notebook(
        metadata={
            "kernelspec": {"name": "python3", "display_name": "Python 3"},
            "language_info": {"name": "python", "pygments_lexer": "ipython3"},
        }
    )
    notebook.cells.append(nbformat.v4.new_markdown_cell("# Claims (synthetic)\n\n## Results"))
    values = {"many": [faster, faster * 1.01, faster * 0.99], "one": [1.0, 1.01, 1.0], "few": [2.0]}
    frame = frame_of(values)
    calls = {
        "gw-threads-1": lambda: page.claim(
            "gw-threads-1", frame, "total_time_s", {"users": "many"}, {"users": "one"}, least=1.1,
            trials=[],
        ),
        "says": lambda: page.says(
            "gw-threads-1", confirmed="Faster: {measured}.", contradicted="Slower: {measured}."
        ),
        "gw-size-1": lambda: page.claim(
            "gw-size-1", frame, "total_time_s", trials=[], note=HOSTILE,
            pairs=[({"users": "few"}, {"users": "one"}), ({"users": "few"}, {"users": "many"})],
        ),
        "own-hostile": lambda: page.claim(
            own_claim("hostile", HOSTILE, "level"), frame, "total_time_s", {"users": "many"},
            {"users": "one"}, trials=[],
        ),
    }  # fmt: skip
    with mock.patch("sizebook.report.page.claims.gather", return_value=trials_of(frame)):
        for name, call in calls.items():
            if name not in leave_out:
                code = nbformat.v4.new_code_cell("page.publish()")
                code.outputs = capture(call)
                code.execution_count = len(notebook.cells)
                notebook.cells.append(code)
    nbformat.write(notebook, root / "book" / "chapters" / "gamma.ipynb")


def frame_of(values: dict[str, list[float]]) -> pl.DataFrame:
    """Return one row a trial."""
    return pl.DataFrame(
        [
            {"users": name, "replicate": number, "verdict": "valid",
             "bundle": f"{BEGAN}-synthetic-{name}-{number}", "total_time_s": value}
            for name, each in values.items()
            for number, value in enumerate(each)
        ]
    )  # fmt: skip


def trials_of(frame: pl.DataFrame) -> list[Any]:
    """Return stand-ins for the trials behind the frame, all of one machine and build."""
    prints = SimpleNamespace(machine="m", stack="s", locustfile="l", capture_version=1, data={})
    trial = SimpleNamespace(profile="quick", load=SimpleNamespace(locustfile="x.py", arrivals=None))
    record = SimpleNamespace(trial=trial, fingerprints=prints, generator=None)
    return [
        SimpleNamespace(
            verdict=verdict,
            judgement=Judgement(verdict, ()),
            bundle=SimpleNamespace(id=bundle, sha256="a" * 64, record=record),
        )
        for bundle, verdict in frame.select("bundle", "verdict").iter_rows()
    ]


def edit_claim(root: Path, claim_id: str, **changes: Any) -> None:
    """Change fields of a claim's record in the executed chapter."""
    path = root / "book" / "chapters" / "gamma.ipynb"
    notebook = json.loads(path.read_text())
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            record = output["metadata"]["sizebook"]
            if record["key"] == claim_id:
                record["claim"] |= changes
    path.write_text(json.dumps(notebook))
