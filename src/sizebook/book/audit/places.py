"""Where outputs stand: in the template's cells, in its order, and nothing beside them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence

from sizebook.book.audit.differences import is_same
from sizebook.book.audit.findings import AuditReport
from sizebook.book.audit.outputs import ExecutedPage, Output, tags_of
from sizebook.book.notebooks import INJECTED

HIDDEN = {"remove-cell", "remove-output", "remove_cell", "remove_output"}
"""Tags of cells whose outputs no reader sees."""
OF_THE_MOMENT = "of-the-moment"
"""Tag of a template's cell that shows the machine as it was when it ran."""


def compare_places(page: ExecutedPage, again: ExecutedPage, report: AuditReport) -> None:
    """Report results that stand elsewhere than in the replay, and outputs that it does not make.

    Results that only one of the two has are the business of others.
    """
    shown, made = _by_cell(page), _by_cell(again)
    both = {_name(each) for group in shown.values() for each in group if each.fields is not None}
    both &= {_name(each) for group in made.values() for each in group if each.fields is not None}
    for cell in sorted({*shown, *made}):
        _compare_order(page, shown[cell], made[cell], both, report)
        _compare_unrecorded(page, shown[cell], made[cell], report)


def _by_cell(page: ExecutedPage) -> dict[int, list[Output]]:
    """Return outputs by the number of their cell among the template's."""
    own = [n for n, cell in enumerate(page.cells, start=1) if INJECTED not in tags_of(cell)]
    numbers = {number: place for place, number in enumerate(own, start=1)}
    cells: dict[int, list[Output]] = defaultdict(list)
    for output in page.outputs:
        cells[numbers.get(output.cell, 0)].append(output)
    return cells


def _name(output: Output) -> tuple[str, str]:
    """Return what a result is called wherever it stands; paragraphs by what they say."""
    if output.kind != "prose":
        return output.kind, output.name
    texts = (output.fields or {}).get("texts")
    return output.kind, json.dumps(texts)


def _compare_order(
    page: ExecutedPage,
    shown: Sequence[Output],
    made: Sequence[Output],
    both: set[tuple[str, str]],
    report: AuditReport,
) -> None:
    one, other = (
        [each for each in group if each.fields is not None and _name(each) in both]
        for group in (shown, made)
    )
    names = [[_name(each) for each in group] for group in (one, other)]
    if names[0] == names[1]:
        return
    at = next(
        (n for n, pair in enumerate(zip(*names, strict=False)) if pair[0] != pair[1]),
        min(map(len, names)),
    )
    found, expected = (
        f"{group[at].kind} {group[at].name}" if at < len(group) else "nothing"
        for group in (one, other)
    )
    place = one[at] if at < len(one) else other[at]
    report.add(
        "AU307-place", place.place, f"there is {found} where the replay has {expected}",
        found=found, expected=expected,
        spoils=[page.item, *(one[at].items() if at < len(one) else ())],
    )  # fmt: skip


def _compare_unrecorded(
    page: ExecutedPage, shown: Sequence[Output], made: Sequence[Output], report: AuditReport
) -> None:
    """Report outputs without a record that a reader sees and the replay does not make."""
    extra, again = (
        [each for each in group if each.fields is None and not HIDDEN.intersection(each.tags)]
        for group in (shown, made)
    )
    moment = any(OF_THE_MOMENT in each.tags for each in [*shown, *made])
    for number in range(max(len(extra), len(again))):
        one = extra[number] if number < len(extra) else None
        other = again[number] if number < len(again) else None
        if one is None or (other is not None and is_same(_content(one), _content(other))):
            continue
        words = f"an output ({one.type}) that the replay does not make"
        report.add(
            "AU304-moment" if moment and other is not None else "AU302-missing",
            one.place, words, found=_words(one), expected=_words(other), spoils=[page.item],
        )  # fmt: skip


def _content(output: Output) -> object:
    """Return what is shown; text may be stored as a list of lines, and counts are checked apart."""
    raw = {name: each for name, each in output.raw.items() if name != "execution_count"}
    return json.loads(json.dumps(raw), object_hook=_joined)


def _joined(fields: dict[str, object]) -> dict[str, object]:
    return {
        name: "".join(each)
        if isinstance(each, list) and all(isinstance(line, str) for line in each)
        else each
        for name, each in fields.items()
    }


def _words(output: Output | None) -> str:
    if output is None:
        return "nothing"
    text = output.raw.get("text") or output.data.get("text/plain") or output.raw.get("evalue") or ""
    return f"{output.type} {''.join(text) if isinstance(text, list) else text}"[:120]
