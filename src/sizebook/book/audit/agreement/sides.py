"""Words that say on which side of "as much" a number lies, against the number."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sizebook.book.audit.agreement.claims import RULE
from sizebook.book.audit.agreement.disagreement import Disagreement, Disagreements, digits
from sizebook.book.audit.agreement.prose import numbers_in, split
from sizebook.book.audit.agreement.shown import leading_number
from sizebook.book.audit.outputs import ExecutedPage, source_of

_MORE = (
    "faster|slower|more|less|fewer|larger|smaller|higher|lower|longer|shorter|cheaper|dearer|"
    "sooner|later|better|worse"
)
_TIMES = re.compile(rf"\s*times (?:{_MORE})\b")
_PERCENT = re.compile(rf"\s*(?:%|percent) (?:{_MORE})\b")
_QUOTED = re.compile(r"\{val\}`\s*chapters/([\w-]+)#([\w-]+?)\s*`")


def check_sides(page: ExecutedPage) -> Disagreements:
    """Yield "0.8 times faster", which is slower, and "-5 % more", which is less."""
    for one in numbers_in(page):
        yield from against(one.place, one.value, one.after, one.sentence)
    yield from _in_own_words(page)


def _in_own_words(page: ExecutedPage) -> Disagreements:
    """Look at numbers of the page that its own words quote, such as those of the answer."""
    known = dict(_values(page))
    for cell in page.cells:
        if cell["cell_type"] != "markdown":
            continue
        text = source_of(cell)
        for found in _QUOTED.finditer(text):
            if found[1] == page.file.chapter and found[2] in known:
                after = " ".join(text[found.end() : found.end() + 80].split())
                place = f"{page.file.name}#{found[2]}"
                yield from against(place, known[found[2]], after, split(after)[0] if after else "")


def _values(page: ExecutedPage) -> Iterator[tuple[str, object]]:
    yield from ((one.key, one.value) for one in numbers_in(page))
    for output in page.results:
        if output.kind == "value":
            yield output.name, (output.fields or {}).get("value")


def against(place: str, value: object, after: str, sentence: str) -> Disagreements:
    """Yield a number that the words after it turn into its opposite; ``sentence`` is for readers.

    ``value`` may be a number, words that begin with one, or anything else, which is none.
    """
    number = leading_number(value)
    if number is None:
        return
    for pattern, least in ((_TIMES, 1.0), (_PERCENT, 0.0)):
        said = pattern.match(after)
        if said and number < least:
            words = f"{digits(number)}{'' if said[0][:1] == ' ' else ' '}{said[0]}"
            yield Disagreement(
                RULE, place, f"{words!r} is the opposite: {sentence[:160]}",
                words, f"a number of at least {least:g}, or other words",
            )  # fmt: skip
