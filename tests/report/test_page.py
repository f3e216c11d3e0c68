"""What a notebook publishes carries all that the book and the audit need."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Iterator
from typing import Any
from unittest import mock

import altair as alt
import numpy as np
import polars as pl
import pytest
from great_tables import GT

import sizebook
from sizebook.report.chart import MIME, WIDTH_PX, prepare_chart
from sizebook.report.evidence import EvidenceSource, find_commit, hash_json
from sizebook.report.page import Page

FRAME = pl.DataFrame({"x": [1, 2], "y": [3.0, 4.0]})
SOURCE = EvidenceSource("synthetic-0001", "a" * 64, "noisy")


@pytest.fixture
def shown() -> Iterator[list[tuple[dict[str, Any], dict[str, Any]]]]:
    """Give the list of outputs, each as bundle and record, that a page displays."""
    outputs: list[tuple[dict[str, Any], dict[str, Any]]] = []

    def store(bundle: dict[str, Any], raw: bool, metadata: dict[str, Any]) -> None:
        assert raw
        json.dumps(metadata, allow_nan=False)
        outputs.append((bundle, metadata["sizebook"]))

    with mock.patch("IPython.display.display", store):
        yield outputs


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Page:
    """Give a page of a chapter with one source."""
    monkeypatch.setenv("SIZEBOOK_COMMIT", "c0ffee")
    return Page(
        "alpha",
        {"profile": "smoke", "levels": (1, 5)},
        sources=[SOURCE],
        command="sizebook run alpha",
    )


def line() -> alt.Chart:
    """Give a small chart."""
    return alt.Chart(FRAME).mark_line().encode(x="x:Q", y="y:Q")


def test_figure_is_live_static_and_text(page: Page, shown: list[Any]) -> None:
    """A figure has a fixed width in the notebook, an SVG, a text, and its evidence."""
    page.figure(line(), "times", "Total time.", "A line rises")
    [(bundle, record)] = shown
    assert (bundle[MIME]["width"], record["fluid"]) == (WIDTH_PX, True)
    assert bundle["image/svg+xml"].startswith("<svg")
    assert bundle["text/plain"] == "Figure times: A line rises"
    assert (record["kind"], record["key"], record["alt"]) == ("figure", "times", "A line rises")
    assert record["caption"] == "Total time."
    assert record["evidence"] == {
        "chapter": "alpha",
        "parameters": {"profile": "smoke", "levels": [1, 5]},
        "sources": [{"bundle": "synthetic-0001", "sha256": "a" * 64, "verdict": "noisy"}],
        "command": "sizebook run alpha",
        "commit": "c0ffee",
        "harness": sizebook.__version__,
        "sha256": hash_json(bundle[MIME]),
    }


def test_doubts_are_in_chart_caption_and_picture(page: Page, shown: list[Any]) -> None:
    """A doubt is legible in the specification, in the static picture and in the caption."""
    page.figure(
        line().properties(title="Own"), "a", "Caption.", "alt", doubts=["2 of 12 trials noisy"]
    )
    [(bundle, record)] = shown
    assert bundle[MIME]["title"] == {"text": "Own", "subtitle": ["\u26a0 2 of 12 trials noisy"]}
    assert "2 of 12 trials noisy" in bundle["image/svg+xml"]
    assert record["caption"] == "Caption. \u26a0 2 of 12 trials noisy."


def test_doubts_need_no_title(page: Page, shown: list[Any]) -> None:
    """A chart without title shows its doubts all the same."""
    page.figure(line(), "a", "Caption.", "alt", doubts=["one trial stale"])
    assert "one trial stale" in shown[0][0]["image/svg+xml"]


@pytest.mark.parametrize(
    ("chart", "fluid"),
    [
        (line(), True),
        (line().properties(width="container"), True),
        (line() + line(), True),
        (line().properties(width=300), False),
        (line() | line(), False),
        (line().facet("x:O"), False),
    ],
)
def test_only_single_charts_become_fluid(chart: Any, fluid: bool) -> None:
    """A width that an author set, and charts of several views, stay as they are."""
    spec, is_fluid = prepare_chart(chart)
    assert is_fluid is fluid
    assert spec.get("width") != "container"


def test_table_carries_its_doubts(page: Page, shown: list[Any]) -> None:
    """A table has one id for one key, doubts below the rows, and a checksum of its HTML."""
    table = GT(FRAME)
    before = copy.deepcopy(table)
    page.table(table, "sizes", "Sizes.", doubts=["one trial stale"])
    page.table(before, "sizes", "Sizes.", doubts=["one trial stale"])
    (bundle, record), (again, _) = shown
    assert bundle == again
    assert "\u26a0 one trial stale" in bundle["text/html"]
    assert record["caption"] == "Sizes. \u26a0 one trial stale."
    expected = hashlib.sha256(bundle["text/html"].encode()).hexdigest()
    assert record["evidence"]["sha256"] == expected


@pytest.mark.parametrize(
    ("value", "digits", "text", "stored"),
    [
        (np.float64(9.876), 1, "p99 = 9.9\u202fms", 9.876),
        (1234.5, ",.0f", "p99 = 1,234\u202fms", 1234.5),
        (7, None, "p99 = 7\u202fms", 7),
        (float("nan"), 1, "p99 = not measured", None),
    ],
)
def test_value_is_stored_as_it_is(
    page: Page, shown: list[Any], value: Any, digits: Any, text: str, stored: Any
) -> None:
    """The record holds the whole number, the text the rounded one."""
    page.value("p99", value, "ms", digits)
    [(bundle, record)] = shown
    assert (bundle["text/plain"], record["value"]) == (text, stored)
    assert (record["kind"], record["unit"]) == ("value", "ms")


def test_prose_records_its_numbers(page: Page, shown: list[Any]) -> None:
    """Each number of a paragraph is recorded under a key that other pages can quote."""
    page.prose(
        "**Atom** took {ratio_p50:.1f} times as long; {name}.", ratio_p50=3.14159, name="<b>"
    )
    [(bundle, record)] = shown
    assert bundle["text/markdown"] == "**Atom** took 3.1 times as long; &#60;b&#62;."
    assert record["texts"] == ["**Atom** took ", " times as long; ", "."]
    assert record["numbers"] == [
        {"key": "ratio-p50", "value": 3.14159, "words": "3.1", "format": ".1f"},
        {"key": "name", "value": "<b>", "words": "<b>", "format": ""},
    ]


def test_one_name_for_two_numbers_gets_a_suffix(page: Page, shown: list[Any]) -> None:
    """The same name with another value is another number; with the same value it is the same."""
    for value in (1.0, 2.0, 1.0):
        page.prose("{ratio}", ratio=value)
    keys = [record["numbers"][0]["key"] for _, record in shown]
    assert keys == ["ratio", "ratio-2", "ratio"]


@pytest.mark.parametrize("key", ["", "A", "a_b", "a b", "1a", "a-", "a#b", "a:b", "<a>"])
def test_keys_are_plain_words(page: Page, key: str) -> None:
    """A key that could not stand in a role or an address is refused."""
    with pytest.raises(ValueError, match="is no key"):
        page.value(key, 1)


def test_source_needs_a_checksum() -> None:
    """What is no SHA-256 is refused when the source is made."""
    with pytest.raises(ValueError, match="no SHA-256"):
        EvidenceSource("b", "abc", "valid")


def test_commit_is_the_runner_s(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """The runner's commit comes first; a folder without history is unknown."""
    monkeypatch.setenv("SIZEBOOK_COMMIT", "c0ffee")
    assert find_commit(tmp_path) == "c0ffee"
    monkeypatch.delenv("SIZEBOOK_COMMIT")
    assert find_commit(tmp_path) == "unknown"
