"""Words stand in the glossary, and prose states no result that its data could not."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

from sizebook.model.claim import CLAIM_VERDICTS
from sizebook.model.verdict import VERDICTS

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
WORDS = (
    *("chapter", "profile", "design", "factor", "level", "treatment", "replicate", "trial"),
    *("deployment", "role", "host", "mode", "node", "layout", "load profile", "phase", "probe"),
    *("counter", "sample", "bundle", "check", "verdict", "claim", "figure", "evidence"),
    *("published", "own", "reported"),
)
"""The words that code, pages and flags share."""

_FIELD = re.compile(r"\{[^{}]*\}")
_MEASURED = re.compile(r"(?<![\w.])\d[\d.,]*\s*(?:times|ms\b|MB/s|a second|per second|requests/s)")


def glossary() -> dict[str, str]:
    """Return the terms of the glossary with what it says of each."""
    text = (ROOT / "book" / "glossary.md").read_text()
    body = text.partition("```{glossary}\n")[2].partition("```")[0]
    entries = [each.partition("\n") for each in re.split(r"\n(?=\S)", body) if each.strip()]
    return {term.strip(): words for term, _, words in entries}


def computed_prose(notebook: Path) -> list[str]:
    """Return the texts of a notebook that say what was found, without their fields."""
    found = []
    for cell in read_cells(notebook):
        if cell["cell_type"] != "code":
            continue
        for call in ast.walk(ast.parse("".join(cell["source"]))):
            if isinstance(call, ast.Call) and ast.unparse(call.func) in ("page.prose", "page.says"):
                values = [*call.args, *(each.value for each in call.keywords)]
                found += [
                    _FIELD.sub("{}", each.value)
                    for each in values
                    if isinstance(each, ast.Constant) and isinstance(each.value, str)
                ]
    return found


def calls_of(notebook: Path, name: str) -> list[ast.Call]:
    """Return the calls of one method of the page in a notebook."""
    cells = [cell for cell in read_cells(notebook) if cell["cell_type"] == "code"]
    trees = [ast.parse("".join(cell["source"])) for cell in cells]
    return [
        call
        for tree in trees
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and ast.unparse(call.func) == name
    ]


def read_cells(notebook: Path) -> list[dict[str, Any]]:
    """Return the cells of a notebook."""
    cells: list[dict[str, Any]] = json.loads(notebook.read_text())["cells"]
    return cells


def test_every_chapter_says_how_what_and_how_far() -> None:
    """Method and limits have their sections, and what was found is said by the data."""
    for notebook in NOTEBOOKS:
        about = json.loads(notebook.read_text())["metadata"]["sizebook"]
        if about["kind"] != "chapter":
            continue
        text = "\n".join(
            "".join(cell["source"])
            for cell in read_cells(notebook)
            if cell["cell_type"] == "markdown"
        )
        assert {"## Method", "## Limits"} <= set(text.splitlines()), notebook.name
        assert computed_prose(notebook), notebook.name


def test_every_figure_has_a_caption_and_words() -> None:
    """The caption is a sentence at least, the words name the kind of chart."""
    kinds = ("chart", "charts", "plot", "dots", "bars", "line", "lines", "marks", "panels")
    for notebook in NOTEBOOKS:
        for call in calls_of(notebook, "page.figure"):
            if len(call.args) < 4:
                continue
            texts = [each.value for each in call.args[2:4] if isinstance(each, ast.Constant)]
            assert all(isinstance(text, str) and text.strip() for text in texts), notebook.name
            if isinstance(call.args[2], ast.Constant):
                assert str(call.args[2].value).endswith("."), ast.unparse(call.args[2])
            if isinstance(call.args[3], ast.Constant):
                words = re.findall(r"\w+", str(call.args[3].value).lower())
                assert set(kinds) & set(words), ast.unparse(call.args[3])


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda each: each.stem)
def test_a_page_shows_no_code_but_its_parameters(notebook: Path) -> None:
    """A reader opens the rest where it is wanted; what can be set is told at once."""
    code = [cell for cell in read_cells(notebook) if cell["cell_type"] == "code"]
    tags = {cell["id"]: set(cell["metadata"].get("tags", ())) for cell in code}
    folded = {"hide-input", "remove-input", "remove-cell"}
    shown = [tags[each] for each in tags if not tags[each] & folded]
    assert code
    assert all("parameters" in each for each in shown), tags
    assert not [each for each, found in tags.items() if {"parameters", "hide-input"} <= found]


def test_the_glossary_has_every_word_in_order() -> None:
    """Each of the shared words, and each verdict, is told; terms stand in the order of letters."""
    terms = glossary()
    assert set(WORDS) <= terms.keys()
    assert list(terms) == sorted(terms)
    for verdict in (*VERDICTS, *CLAIM_VERDICTS):
        assert verdict in " ".join(terms["verdict"].split())


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda each: each.stem)
def test_no_result_is_typed(notebook: Path) -> None:
    """Where a notebook says what was found, every measured quantity is a field."""
    typed = [(text, found[0]) for text in computed_prose(notebook)
             if (found := _MEASURED.search(text))]  # fmt: skip
    assert typed == []


def test_no_result_is_typed_on_the_landing_page() -> None:
    """Its numbers are those of the chapters; what a report says may stand in words."""
    text = (ROOT / "book" / "index.md").read_text()
    assert _MEASURED.findall(re.sub(r"\{\w+\}`[^`]*`", "{}", text)) == []


def test_a_typed_result_is_found() -> None:
    """The pattern knows numbers with a unit, and leaves names, sizes and fields alone."""
    assert _MEASURED.search("It takes 3.4 times as long.")
    assert _MEASURED.search("It answers in 12 ms")
    for words in ("{} times as long", "Java 17 and 25", "100 KB", "at 95 %", "gw-size-4"):
        assert not _MEASURED.search(words)
