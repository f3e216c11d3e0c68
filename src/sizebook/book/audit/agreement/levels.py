"""What is said to stay level, against the trends that the same page prints."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sizebook.book.audit.agreement.claimed import outcomes_of
from sizebook.book.audit.agreement.disagreement import Disagreement, Disagreements
from sizebook.book.audit.agreement.prose import NumberInProse, numbers_in, sentences_of
from sizebook.book.audit.agreement.shown import Measurands, leading_number
from sizebook.book.audit.outputs import ExecutedPage, Output
from sizebook.model.claim import ClaimOutcome
from sizebook.model.measurand import FIELD, Levels, Measurand
from sizebook.stats.steady import TOLERANCE

RULE = "AU803-not-level"
_STATE = "level|steady|constant|stable|flat|unchanged|the same"
_LEVEL = re.compile(
    rf"\b(?:stay|stays|stayed|remain|remains|remained|keep|keeps|kept|is|are|was|were)"
    rf"(?: (?:all|both|quite|nearly|almost|fairly))? (?:{_STATE})\b|\blevels? off\b"
)
_OPEN = re.compile(
    r"\b(?:if|when|whether|unless|would|should|must|could|may|might|until|not|never|no|cannot|than|"
    r"where|as long as|tested|claim|reported?)\b",
    re.IGNORECASE,
)
"""Words of sentences that ask, deny or make conditions, and of those that tell of a report."""
_WORD = re.compile(r"[A-Za-z]{3,}")
_COMMON = frozenset(
    {"the", "and", "over", "from", "with", "per", "trial", "trials", "phase", "measured"}
    | {"significant", "trend", "largest", "changes", "change", "share", "level", "where", "not"}
    | {"are", "its", "each"}
)


@dataclass(frozen=True)
class _Trend:
    number: NumberInProse
    share: float
    about: frozenset[str]
    """Nouns that name its quantity."""
    levels: Levels
    """Treatment that it is of; empty where it is of any."""


def check_levels(page: ExecutedPage, measurands: Measurands) -> Disagreements:
    """Yield sentences, and confirmed claims, that call level what a trend of the page changes.

    A trend counts from the change on that the checks do not take for level (``stats.steady``), and
    where it is of a treatment that the sentence or claim is about.
    """
    outcomes = {outcome.claim_id: outcome for _, _, outcome in outcomes_of(page)}
    for trend in _trends(page, measurands):
        for place, words, levels in _said_level(page, outcomes):
            if trend.about & _nouns(words) and _may_be_one(trend.levels, levels):
                yield Disagreement(
                    RULE, trend.number.place,
                    f"it changes by {trend.share:+.1%}; {place or 'the page'} says: {words[:200]}",
                    f"{trend.share:+.1%}", f"at most {TOLERANCE:.0%} either way", place,
                )  # fmt: skip


def _trends(page: ExecutedPage, measurands: Measurands) -> Iterator[_Trend]:
    """Yield numbers that say that they are trends, or whose sentence does."""
    for number in numbers_in(page):
        known = Measurand.from_record(number.record.get(FIELD))
        known = known or measurands.get((page.file.name, number.key))
        says = "trend" in number.sentence.lower() and "%" in str(number.record.get("format"))
        share = leading_number(number.value)
        is_trend = known.statistic == "trend" if known is not None else says
        if is_trend and share is not None and abs(share) > TOLERANCE:
            names = known.measure.split("_") if known is not None else []
            about = _nouns(" ".join([number.before, number.key, *names]))
            levels = known.levels if known is not None else {}
            yield _Trend(number, share, about, levels)


def _said_level(
    page: ExecutedPage, outcomes: dict[str, ClaimOutcome]
) -> Iterator[tuple[str, str, tuple[Levels, ...]]]:
    """Yield place, words and treatments of what is said to be level; no treatments: of all."""
    for output, sentence in sentences_of(page):
        if _LEVEL.search(sentence) and not _OPEN.search(sentence):
            yield output.place if output else "", sentence, _treatments(output, outcomes)
    for outcome in outcomes.values():
        if outcome.verdict == "confirmed" and outcome.relation == "level":
            pairs = tuple(pair.left for pair in outcome.comparisons)
            yield f"{page.file.name}#{outcome.claim_id}", outcome.statement, pairs


def _treatments(output: Output | None, outcomes: dict[str, ClaimOutcome]) -> tuple[Levels, ...]:
    named = (output.fields or {}).get("claims") if output else None
    known = [outcomes[each] for each in named or () if each in outcomes]
    return tuple(pair.left for outcome in known for pair in outcome.comparisons)


def _may_be_one(levels: Levels, others: tuple[Levels, ...]) -> bool:
    """Return whether a treatment is among others, as far as their levels say."""
    return not others or any(
        all(levels.get(name, level) == level for name, level in other.items()) for other in others
    )


def _nouns(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(text)) - _COMMON
