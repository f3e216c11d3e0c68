"""Values that bring a reader down, hold it for ever, or mean two things: each one finding."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from audited_book import audit, bundle_of, change_page, found, result

from sizebook.book.audit.drawing import Drawer
from sizebook.report.chart import MIME

Page = dict[str, Any]


def in_record(kind: str, **fields: Any) -> Callable[[Page], None]:
    return lambda page: result(page, kind)["metadata"]["sizebook"].update(fields)


def in_data(kind: str, mime_type: str, content: Any) -> Callable[[Page], None]:
    return lambda page: result(page, kind)["data"].update({mime_type: content})


def in_parameters(**fields: Any) -> Callable[[Page], None]:
    return lambda page: page["metadata"]["sizebook_run"]["parameters"].update(fields)


def title_of_chart(page: Page) -> None:
    result(page, "figure")["data"][MIME]["title"] = "a\0b"


def count_of_claim(page: Page) -> None:
    result(page, "claim")["metadata"]["sizebook"]["claim"].update(effect=10**400)


PAGES: dict[str, tuple[Callable[[Page], None], str]] = {
    "half a character in a table": (in_data("table", "text/html", "\ud800"), "AU200"),
    "half a character in a paragraph": (in_record("prose", texts=["\udfff"]), "AU200"),
    "half a character in a parameter": (in_parameters(source="\ud800"), "AU200"),
    "a number of 400 digits": (in_record("value", value=10**400), "AU200"),
    "a number of 400 digits in a claim": (count_of_claim, "AU200"),
    "an infinite number": (in_record("value", value=float("inf")), "AU200"),
    "no number": (in_record("value", value=float("nan")), "AU200"),
    "a letter that there is not": (in_record("value", value=10**10, format="c"), "AU205"),
    "a profile that is a list": (in_parameters(profile=[]), "AU219"),
    "a folder with a zero byte": (in_parameters(source="a\0b"), "AU219"),
    "a character that ends the drawing": (title_of_chart, "AU206"),
}


@pytest.mark.parametrize("what", PAGES)
def test_a_page_with_a_strange_value_is_found(book: Path, what: str) -> None:
    """One error that names it, and an audit that goes on to its end."""
    tamper, rule = PAGES[what]
    change_page(book, tamper)
    report = audit(book)
    assert rule in found(report)
    assert report.counts()["pages"].verified == 0
    assert report.counts()["bundles"].verified == 6


def test_a_key_twice_in_a_page_is_found(book: Path) -> None:
    """One reader would take the first, another one the last."""
    page = book / "book" / "chapters" / "tiny.ipynb"
    page.write_text(page.read_text().replace('"cells":', '"cells": [],\n "cells":', 1))
    assert "AU200" in found(audit(book))


RECORDS: dict[str, tuple[tuple[str | int, ...], Any]] = {
    "a phase without end": (("trial", "load", "phases", "measured_s"), 1e300),
    "a billion replicates": (("trial", "replicate"), 10**9),
    "a billion trials in a session": (("execution", "position"), 10**12),
    "half a character": (("trial", "treatment", "format"), "\ud800"),
}


@pytest.mark.parametrize("what", RECORDS)
def test_a_record_with_a_strange_value_is_refused(book: Path, what: str) -> None:
    """The bundle is damaged; nothing is made for each of a billion."""
    (*where, last), value = RECORDS[what]
    file = bundle_of(book) / "trial.json"
    record = place = json.loads(file.read_text())
    for name in where:
        place = place[name]
    place[last] = value
    file.write_text(json.dumps(record))
    assert "AU101" in found(audit(book))


def test_a_version_of_a_million_digits_is_no_version(book: Path) -> None:
    """It is told, not converted."""
    file = bundle_of(book) / "trial.json"
    record = json.loads(file.read_text())
    record["versions"]["sizebook"] = "1" * 10**6
    file.write_text(json.dumps(record))
    assert "AU115" in found(audit(book))


ENDLESS = {
    "rows": {"data": {"sequence": {"start": 0, "stop": 1e9}}, "mark": "point"},
    "expression": {
        "data": {"values": [{"a": "a" * 40 + "!"}]},
        "transform": [{"calculate": "test(/^(a+)+$/, datum.a)", "as": "b"}],
        "mark": "point",
        "encoding": {"x": {"field": "b", "type": "nominal"}},
    },
}
POINT = {"data": {"values": [{"a": 1}]}, "mark": "point"}


@pytest.mark.parametrize("what", ENDLESS)
def test_a_chart_that_is_never_done_is_given_up(what: str) -> None:
    """The next one is drawn."""
    words = r"takes longer|brings the process"
    with Drawer(limit_s=5.0) as drawer, pytest.raises(ValueError, match=words):
        drawer.draw(ENDLESS[what])
    with Drawer() as drawer:
        assert drawer.draw(POINT).startswith("<svg")


def test_a_chart_that_ends_its_process_ends_no_audit() -> None:
    """The one before and the one after are drawn, by another process."""
    with Drawer() as drawer:
        drawn = drawer.draw(POINT)
        with pytest.raises(ValueError, match="brings the process"):
            drawer.draw({**POINT, "title": "a\0b"})
        with pytest.raises(ValueError):
            drawer.draw({"mark": 7})
        assert drawer.draw(POINT) == drawn
