"""Where two results begin to differ, in words."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sizebook.book.audit.contents import SVG, first_difference, plain_svg
from sizebook.book.audit.outputs import Output
from sizebook.model.measurand import FIELD as MEASURAND
from sizebook.report.chart import MIME

_OF_THE_RUN = ("commit", "harness", "sha256")
"""Fields of the evidence that say how it was made, or follow from what is compared anyway."""
_LETTERS = 80
_LAST_BITS = 1e-12
"""Share by which numbers may differ: a sum depends on the order of its terms, and that on the file
in which they lie."""


@dataclass(frozen=True)
class FirstDifference:
    """The first place at which two results differ, and what each has there."""

    where: str
    shown: str
    made: str


def find_difference(shown: Output, made: Output) -> FirstDifference | None:
    """Return how a page's result differs from its replay, None if it does not.

    Compared are the record, everything that is shown, and the evidence but for the commit, the
    version and the folder that the bundles came from. Numbers may differ in their last bits.
    """
    fields, *rest = _parts(made)
    known = without_newer(shown.fields, fields)
    for part, one, other in zip(
        ("", "shown as ", "evidence "), _parts(shown), (known, *rest), strict=True
    ):
        found = _first(one, other, "")
        if found is not None:
            return FirstDifference(part + found.where, found.shown, found.made)
    return None


def without_newer(shown: Any, made: Any) -> Any:
    """Return a record of the replay without what a number is of, where the page's does not say it.

    Records have the field since a version that many published pages are older than.
    """
    if not isinstance(shown, dict) or not isinstance(made, dict):
        return made
    known = {n: each for n, each in made.items() if n != MEASURAND or MEASURAND in shown}
    theirs, ours = shown.get("numbers"), made.get("numbers")
    if isinstance(theirs, list) and isinstance(ours, list):
        said = {str(each.get("key")): each for each in theirs if isinstance(each, dict)}
        known["numbers"] = [
            without_newer(said.get(str(each.get("key"))), each) if isinstance(each, dict) else each
            for each in ours
        ]
    return known


def is_same(one: Any, other: Any) -> bool:
    """Return whether two JSON values are the same, but for the last bits of numbers."""
    return _first(one, other, "") is None


def _parts(output: Output) -> tuple[Any, Any, Any]:
    fields = dict(output.fields or {})
    evidence = fields.pop("evidence", None)
    if isinstance(evidence, dict):
        evidence = {name: each for name, each in evidence.items() if name not in _OF_THE_RUN}
        parameters = evidence.get("parameters")
        if isinstance(parameters, dict):
            evidence["parameters"] = {n: v for n, v in parameters.items() if n != "source"}
    data = {name: _as_shown(name, output) for name in output.data}
    return fields, data, evidence


def _as_shown(mime_type: str, output: Output) -> Any:
    if mime_type == SVG:
        return plain_svg(output.text(SVG))
    content = output.data[mime_type]
    if mime_type == MIME and isinstance(content, dict):
        return _with_plain_names(content)
    return content if isinstance(content, dict) else output.text(mime_type)


def _with_plain_names(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return a chart with its data sets first and in order: they are named after checksums."""
    datasets = spec.get("datasets")
    known = datasets if isinstance(datasets, dict) else {}
    rest = json.dumps({name: each for name, each in spec.items() if name != "datasets"})
    ordered = sorted(known, key=lambda name: (rest.find(name), name))
    for number, name in enumerate(ordered, start=1):
        rest = rest.replace(json.dumps(name), f'"data-{number}"')
    return {"data": [known[name] for name in ordered], "chart": json.loads(rest)}


def _first(one: Any, other: Any, where: str) -> FirstDifference | None:
    """Return the first difference of two JSON values, depth first."""
    match one, other:
        case dict(), dict():
            return _first_of_maps(one, other, where)
        case list(), list():
            return _first_of_lists(one, other, where)
        case str(), str() if one != other:
            return FirstDifference(where, *first_difference(one, other))
        case float(), float() if math.isclose(one, other, rel_tol=_LAST_BITS):
            return None
    if type(one) is type(other) and one == other:
        return None
    return FirstDifference(where, _words(one), _words(other))


def _first_of_lists(one: list[Any], other: list[Any], where: str) -> FirstDifference | None:
    for number, pair in enumerate(zip(one, other, strict=False), start=1):
        if found := _first(*pair, f"{where}[{number}]"):
            return found
    if len(one) == len(other):
        return None
    return FirstDifference(f"length of {where}", str(len(one)), str(len(other)))


def _first_of_maps(
    one: Mapping[str, Any], other: Mapping[str, Any], where: str
) -> FirstDifference | None:
    for name in one:
        if name in other:
            inner = f"{where}.{name}" if where else name
            if found := _first(one[name], other[name], inner):
                return found
    return _names(one, other, where)


def _names(one: Mapping[str, Any], other: Mapping[str, Any], where: str) -> FirstDifference | None:
    if one.keys() == other.keys():
        return None
    own, theirs = sorted(set(one) - set(other)), sorted(set(other) - set(one))
    return FirstDifference(
        where or "fields", ", ".join(own) or "nothing", ", ".join(theirs) or "nothing"
    )


def _words(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LETTERS else f"{text[: _LETTERS - 1]}…"
