"""Claims that sentences of the book's own pages quote, against the measure that they are about.

The landing page quotes a claim's effect by its id, so that the number is the claim's. What the
sentence says of it is typed: how many times *faster*, or the *median* of what.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from sizebook.book.audit.agreement.claimed import outcomes_of
from sizebook.book.audit.agreement.claims import RULE
from sizebook.book.audit.agreement.disagreement import Disagreement, Disagreements
from sizebook.book.audit.agreement.prose import NumberInProse, numbers_in, sentences_in
from sizebook.book.audit.agreement.sides import against
from sizebook.book.audit.outputs import ExecutedPage
from sizebook.model.claim import ClaimOutcome
from sizebook.store.plain_files import read_plain

_EFFECT = re.compile(r"\{effect\}`\s*([\w-]+)(:inverse)?\s*`")
_STATISTICS = {
    r"\bmedian\b": ("p50", "median"),
    r"\b95th percentile\b|\bp95\b": ("p95",),
    r"\b99th percentile\b|\bp99\b": ("p99",),
}
"""Words for a statistic, and what the name of a measure of it has in it."""
_MOST_BYTES = 2**20


def check_quoted(folder: Path, pages: Sequence[ExecutedPage]) -> Disagreements:
    """Yield sentences of Markdown pages in a folder that say another thing than their claims.

    A sentence about a median quotes a claim about a median, and what is some times faster is not
    slower.
    """
    outcomes = {outcome.claim_id: outcome for page in pages for _, _, outcome in outcomes_of(page)}
    for path in sorted(folder.glob("*.md")):
        try:
            text = read_plain(path, _MOST_BYTES).decode("utf-8")
        except (OSError, ValueError):  # told by the build of the site
            continue
        for sentence in sentences_in(text):
            for found in _EFFECT.finditer(sentence):
                if found[1] in outcomes:
                    place = f"{path.name}#{found[1]}"
                    yield from _quoted(place, sentence, found, outcomes[found[1]])


def check_statistics(page: ExecutedPage) -> Disagreements:
    """Yield paragraphs about a claim that name another statistic than its measure."""
    outcomes = {outcome.claim_id: outcome for _, _, outcome in outcomes_of(page)}
    for number, outcome in _effects(page, outcomes):
        yield from _statistic(number.place, number.sentence, outcome)


def _effects(
    page: ExecutedPage, outcomes: Mapping[str, ClaimOutcome]
) -> Iterator[tuple[NumberInProse, ClaimOutcome]]:
    for number in numbers_in(page):
        claim_id, _, name = number.key.rpartition("-")
        if claim_id in outcomes and name in ("measured", "effect"):
            yield number, outcomes[claim_id]


def _quoted(
    place: str, sentence: str, found: re.Match[str], outcome: ClaimOutcome
) -> Disagreements:
    effect = outcome.effect
    if effect:
        value = 1 / effect if found[2] else effect
        yield from against(place, value, sentence[found.end() :], sentence)
    yield from _statistic(place, _clause(sentence, found.start()), outcome)


def _statistic(place: str, sentence: str, outcome: ClaimOutcome) -> Disagreements:
    for words, names in _STATISTICS.items():
        said = re.search(words, sentence, re.IGNORECASE)
        if said and not any(name in outcome.metric for name in names):
            yield Disagreement(
                RULE, place,
                f"{outcome.claim_id} is about {outcome.metric}, the sentence says {said[0]}: "
                f"{sentence[:160]}",
                said[0], outcome.metric,
            )  # fmt: skip


def _clause(sentence: str, at: int) -> str:
    """Return the clause around a place: between semicolons and other quoted numbers."""
    edges = [found.start() for found in re.finditer(r"\{\w+\}`|;", sentence)]
    begin = max((each for each in edges if each < at), default=0)
    return sentence[begin : min((each for each in edges if each > at), default=len(sentence))]
