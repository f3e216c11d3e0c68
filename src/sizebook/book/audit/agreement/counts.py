"""Counts of trials that a result prints, against the trials that it cites."""

from __future__ import annotations

import re
from collections import Counter

from sizebook.book.audit.agreement.disagreement import Disagreement, Disagreements
from sizebook.book.audit.agreement.numbers import RULE
from sizebook.book.audit.outputs import ExecutedPage, Output, cited_by
from sizebook.book.flat_data import read_columns
from sizebook.model.verdict import VERDICTS

_WARNING = re.compile(rf"(\d+) of (\d+) trials ({'|'.join(map(re.escape, VERDICTS))})\b")
_SOUND = ("valid", "failed")


def check_counts(page: ExecutedPage) -> Disagreements:
    """Yield counts in captions, and sums of tables of validity, that the cited trials refute."""
    for output in page.results:
        cited = Counter(source.verdict for source in cited_by(output))
        if not cited:
            continue
        caption = str((output.fields or {}).get("caption", ""))
        for number, of, verdict in _WARNING.findall(caption):
            if (int(number), int(of)) != (cited[verdict], cited.total()):
                said = f"{number} of {of} trials {verdict}"
                found = f"{cited[verdict]} of {cited.total()}"
                yield Disagreement(
                    RULE, output.place, f"the caption says {said}; it cites {found}", said, found
                )
        if output.kind == "table":
            yield from _validity(output, cited)


def _validity(output: Output, cited: Counter[str]) -> Disagreements:
    names, rows = read_columns(output.text("text/html"), output.name)
    doubtful = sum(count for verdict, count in cited.items() if verdict not in _SOUND)
    due = {"run": cited.total(), "valid": cited["valid"], "doubtful": doubtful,
           "failed": cited["failed"]}  # fmt: skip
    if not due.keys() <= set(names):
        return
    for name, expected in due.items():
        cells = [row[names.index(name)].replace(",", "") for row in rows]
        if all(cell.isdecimal() for cell in cells) and sum(map(int, cells)) != expected:
            found = str(sum(map(int, cells)))
            yield Disagreement(
                RULE, output.place,
                f"column {name} adds up to {found}; the table cites {expected} such trials",
                found, str(expected),
            )  # fmt: skip
