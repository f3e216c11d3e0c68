"""The folds that show evidence in a page, as HTML in which every text from data is escaped."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from sizebook.book.records import Record
from sizebook.report.wording import format_scalar


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


def _number_row(record: Record) -> str:
    value, unit = record.fields["value"], record.fields["unit"]
    words = escape(format_scalar(value, "", unit))
    return f"<tr id='{number_anchor(record.key)}'><td>{_code(record.key)}</td><td>{words}</td></tr>"


def _describe(evidence: Mapping[str, Any], notebook: str) -> list[tuple[str, str]]:
    parameters = "<br>".join(
        _code(f"{name} = {json.dumps(value)}") for name, value in evidence["parameters"].items()
    )
    return [
        ("chapter", escape(str(evidence["chapter"]))),
        ("notebook", _code(f"{notebook}.ipynb")),
        ("parameters", parameters or "none"),
        ("measured in", _sources(evidence["sources"])),
        ("commit", _code(str(evidence["commit"]))),
        ("harness", escape(str(evidence["harness"]))),
        ("make it again", _code(str(evidence["command"]))),
    ]


def _sources(sources: Sequence[Mapping[str, str]]) -> str:
    if not sources:
        return "no bundle: computed from the chapter's parameters alone"
    listed = "".join(
        f"<li>{_code(each['bundle'])} <span class='sb-verdict'>{escape(each['verdict'])}</span>"
        f" <small>{_code('sha256 ' + each['sha256'])}</small></li>"
        for each in sources
    )
    return f"<ul>{listed}</ul>"


def _rows(rows: Iterable[tuple[str, str]]) -> str:
    listed = "".join(f"<tr><th scope='row'>{name}</th><td>{cell}</td></tr>" for name, cell in rows)
    return f"<table class='sb-record'><tbody>{listed}</tbody></table>"


def _fold(title: str, body: str) -> str:
    return f"<details class='sb-evidence'><summary>{title}</summary><div>{body}</div></details>"


def _code(text: str) -> str:
    return f"<code>{escape(text)}</code>"
