"""A small book in a folder of its own, with SYNTHETIC numbers, to test the publishing side."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import altair as alt
import nbformat
import polars as pl
from great_tables import GT

from sizebook.report import calculator
from sizebook.report.page import EvidenceSource, Page
from sizebook.report.theme import treatment_scale
from sizebook.stats.sizing import MIB, Domain, Heap, Response, SizingModel

PROJECT = Path(__file__).parents[2]
HOSTILE = "<script>window.stolen = 1</script> {val}`x#y` *a* [l](javascript:1) & \"q\" 'q' $x$"
SOURCES = (
    EvidenceSource("synthetic-0001", "a" * 64, "valid"),
    EvidenceSource("synthetic-0002", "b" * 64, "noisy"),
)

TOC = """\
format: jb-book
root: index
parts:
- caption: Text
  chapters:
  - file: notes
- caption: Chapters
  numbered: true
  chapters:
  - file: chapters/alpha
  - file: chapters/beta
"""

INDEX = """\
# Synthetic sample book

## Quoted from a chapter

Atom took {val}`chapters/alpha#total-time` or, rounded, {val}`chapters/alpha#total-time:.0f`;
the prose of the chapter says {val}`chapters/alpha#ratio:.2f`. See {numref}`fig-times`,
{numref}`tab-sizes` and, in the chapter itself, {numref}`alpha-times`.

```{sbfigure} chapters/alpha#times
:name: fig-times
```

```{sbtable} chapters/alpha#sizes
:name: tab-sizes
Sizes, with *another* caption.
```
"""

NOTES = """\
# Notes

## A page without a chart

Nothing is measured here, but {cite:t}`sample2000` is quoted and {val}`chapters/beta#label` too.

```{bibliography}
```
"""

BIBLIOGRAPHY = "@misc{sample2000, author={Sample, Sam}, title={Synthetic}, year={2000}}\n"

MODEL = SizingModel(
    name="late knee",
    response=Response(231.7, 0.0031, 0.0, 0.0113, 2.3, 1.0, 1.17),
    tail=(2.81, 1.04),
    bands={"mean": 1.31, "p95": 1.47, "rate": 1.08},
    level=0.9,
    domain=Domain((0.25, 1.0), (1, 2), (9.0, 228.0), (10.0, 400.0), (1.0, None), (0.004, 2.9)),
    heap=Heap(61.3 * MIB, 151.0 * MIB, 2.1e-4, 1.7e-4, 2.6e-4, 0.05, 1.2),
)
"""Made up; no number of it was measured."""


def make_sample_book(root: Path) -> Path:
    """Write the sample book below ``root`` with the project's own configuration; give ``root``."""
    book = root / "book"
    (book / "chapters").mkdir(parents=True)
    shutil.copy(PROJECT / "_config.yml", root)
    shutil.copytree(PROJECT / "book" / "_static", book / "_static")
    (book / "_toc.yml").write_text(TOC)
    (book / "index.md").write_text(INDEX)
    (book / "notes.md").write_text(NOTES)
    (book / "references.bib").write_text(BIBLIOGRAPHY)
    write_alpha(root)
    write_beta(root)
    return root


def write_alpha(root: Path, total_time: float = 12.345) -> None:
    """Write the executed notebook with everything a chapter can publish."""
    with executed_notebook(root, "alpha", "Protocols (synthetic)") as (page, cell):
        cell(lambda: page.value("total-time", total_time, "s", digits=2), "remove-cell")
        cell(lambda: page.value("met", True), "hide-input")
        cell(
            lambda: page.figure(
                line_chart(),
                "times",
                "Total time (synthetic).",
                "Two rising lines",
                doubts=["2 of 12 trials noisy"],
            ),
            "hide-input",
        )
        cell(lambda: page.table(size_table(), "sizes", "Bytes per answer (synthetic)."))
        cell(
            lambda: page.prose(
                "The **Atom** detail is {ratio:.1f} times the JSON detail, in {n:,d} requests.",
                ratio=3.14159,
                n=4010,
            ),
            "remove-input",
        )
        cell(lambda: page.figure(bar_chart(), "bytes", "Bytes (synthetic).", "Two bars"))


def write_beta(root: Path) -> None:
    """Write the executed notebook whose data try to break out of the page."""
    with executed_notebook(root, "beta", "Hostile text (synthetic)") as (page, cell):
        frame = pl.DataFrame({"name": [HOSTILE, "b"], "n": [1, 2]})
        chart = alt.Chart(frame).mark_bar().encode(x="n:Q", y="name:N")
        cell(lambda: page.value("label", HOSTILE))
        cell(lambda: page.figure(chart, "bars", HOSTILE, HOSTILE, doubts=[HOSTILE]), "remove-input")
        cell(lambda: page.table(GT(frame), "rows", HOSTILE, doubts=[HOSTILE]), "remove-input")
        cell(lambda: page.prose("It said {words} and **{count:d}**.", words=HOSTILE, count=2))


def write_sized(root: Path) -> None:
    """Write the executed notebook with a calculator."""
    with executed_notebook(root, "sized", "Sizing (synthetic)") as (page, cell):
        asked = calculator.questions(MODEL, (0.05, 0.5))
        cell(
            lambda: calculator.publish(
                page, MODEL, asked, "calculator", f"Synthetic. {HOSTILE}", trials=[]
            )
        )


@contextmanager
def executed_notebook(
    root: Path, chapter: str, title: str
) -> Iterator[tuple[Page, Callable[..., None]]]:
    """Give a page and a way to run its calls as cells; the notebook is written at the end."""
    parameters = {"profile": "smoke", "note": HOSTILE, "levels": [1, 5]}
    page = Page(chapter, parameters, sources=SOURCES, command=f"sizebook run {chapter}")
    notebook = nbformat.v4.new_notebook(
        metadata={
            "kernelspec": {"name": "python3", "display_name": "Python 3"},
            "language_info": {"name": "python", "pygments_lexer": "ipython3"},
        }
    )
    notebook.cells.append(nbformat.v4.new_markdown_cell(f"# {title}\n\n## Results"))

    def cell(call: Callable[[], None], *tags: str) -> None:
        source = f"page.publish()  # {HOSTILE}"
        code = nbformat.v4.new_code_cell(source, metadata={"tags": list(tags)})
        code.outputs = capture(call)
        code.execution_count = len(notebook.cells)
        notebook.cells.append(code)

    yield page, cell
    nbformat.write(notebook, root / "book" / "chapters" / f"{chapter}.ipynb")


def capture(call: Callable[[], None]) -> list[Any]:
    """Give the outputs that a call displays, as a notebook stores them."""
    outputs = []

    def store(bundle: dict[str, Any], raw: bool, metadata: dict[str, Any]) -> None:
        assert raw
        outputs.append(nbformat.v4.new_output("display_data", data=bundle, metadata=metadata))

    with mock.patch("IPython.display.display", store):
        call()
    return outputs


def line_chart() -> alt.Chart:
    """Give a line chart of two treatments over four levels."""
    names = ["odata-atom", "rest-json"]
    rows = [
        {"users": users, "seconds": users * (index + 1) / 3 + 1, "treatment": name}
        for index, name in enumerate(names)
        for users in (1, 5, 10, 20)
    ]
    colour = alt.Color("treatment:N", title="treatment", scale=treatment_scale(names))
    return (
        alt.Chart(pl.DataFrame(rows))
        .mark_line(point=True)
        .encode(
            x=alt.X("users:Q", title="concurrency"),
            y=alt.Y("seconds:Q", title="total time (s)"),
            color=colour,
            tooltip=["treatment", "users", "seconds"],
        )
    )


def bar_chart() -> alt.Chart:
    """Give a bar chart whose width its author has set."""
    frame = pl.DataFrame({"format": ["JSON", "Atom"], "bytes": [846, 2600]})
    return (
        alt.Chart(frame)
        .mark_bar()
        .encode(x=alt.X("bytes:Q", title="size (bytes)"), y=alt.Y("format:N", title=None))
        .properties(width=400, height=90)
    )


def size_table() -> GT:
    """Give a table with a spanner, a fill of one cell, and a missing number."""
    frame = pl.DataFrame(
        {
            "treatment": ["odata-atom", "rest-json"],
            "detail": [2600.0, 846.0],
            "list": [1_100_000.0, 111_745.0],
            "verdict": ["valid", "noisy"],
        }
    )
    table = GT(frame, rowname_col="treatment").fmt_number(["detail", "list"], decimals=0)
    return table.tab_spanner("size (bytes)", ["detail", "list"])
