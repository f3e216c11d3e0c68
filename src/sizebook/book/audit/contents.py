"""Each result by itself: what is shown against its checksum, its words, and its drawing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sizebook.book.audit.outputs import (
    CalculatorResult,
    ClaimResult,
    FigureResult,
    Output,
    ProseResult,
    TableResult,
    ValueResult,
)
from sizebook.model.claim import OWN, Claim, ClaimOutcome, own_claim
from sizebook.report import calculator, claim_card, wording
from sizebook.report.chart import MIME
from sizebook.report.evidence import hash_json, hash_text
from sizebook.stats.sizing import Demanded, SizingModel

LookUp = Callable[[str], Claim | None]
"""Gives a report's claim by its id, None if there is none or it is not known here."""

Draw = Callable[[Mapping[str, Any]], str]
"""Gives the SVG of a chart's specification; ValueError for one that draws nothing."""

SVG = "image/svg+xml"
_COUNTED = re.compile(r"\b(clip|gradient_)\d+\b")


@dataclass(frozen=True)
class WrongResult:
    """What a rule found in one result."""

    rule: str
    message: str
    found: str
    expected: str


def check_content(output: Output, look_up: LookUp, draw: Draw) -> Iterator[WrongResult]:
    """Yield what is wrong with one result, as far as it tells by itself.

    ``look_up`` finds a report's claim by its id, ``draw`` gives the SVG of a specification.
    """
    try:
        result = output.read()
    except ValueError as error:
        yield WrongResult(
            "AU214-result", f"its record cannot be read: {error}", str(error), "a record"
        )
        return
    match result:
        case FigureResult():
            yield from _figure(output, result, draw)
        case TableResult():
            yield from _sum(result.evidence.sha256, hash_text(output.text("text/html")), "table")
            plain = f"Table {result.key}: {result.caption}"
            yield from _words(output, "text/plain", plain)
        case CalculatorResult():
            yield from _calculator(output, result)
        case ValueResult():
            yield from _sum(result.evidence.sha256, _hash(result.value), "value")
            words = _format(result.value, result.format, result.unit)
            yield from _words(output, "text/plain", f"{result.key} = {words}")
        case ProseResult():
            yield from _prose(output, result)
        case ClaimResult():
            yield from _claim(output, result, look_up)


def plain_svg(svg: str) -> str:
    """Return an SVG with its clip paths and gradients numbered from 1.

    vl-convert counts on in one process.
    """
    numbers: dict[str, str] = {}
    return _COUNTED.sub(
        lambda name: numbers.setdefault(name[0], f"{name[1]}{len(numbers) + 1}"), svg
    )


def _figure(output: Output, result: FigureResult, draw: Draw) -> Iterator[WrongResult]:
    spec = output.data.get(MIME)
    yield from _sum(result.evidence.sha256, _hash(spec), "chart's specification")
    yield from _words(output, "text/plain", f"Figure {result.key}: {result.alt}")
    if not isinstance(spec, dict):
        yield WrongResult("AU206-picture", "the figure has no specification", "none", MIME)
        return
    try:
        drawn = draw(spec)
    except ValueError as error:
        yield WrongResult("AU206-picture", "its specification draws nothing", str(error), "an SVG")
        return
    shown, again = plain_svg(output.text(SVG)), plain_svg(drawn)
    if shown != again:
        first, second = first_difference(shown, again)
        yield WrongResult(
            "AU206-picture", f"the SVG shows {first!r}, its data {second!r}", first, second
        )


def _calculator(output: Output, result: CalculatorResult) -> Iterator[WrongResult]:
    """Check that the table answers the recorded questions as the recorded model does."""
    yield from _sum(result.evidence.sha256, _hash(result.model), "calculator's model")
    try:
        model = SizingModel.from_record(result.model)
        asked = [Demanded(**each) for each in result.questions]
        html = calculator.render(model, asked, result.key, result.doubts)
    except (ValueError, TypeError, KeyError, ArithmeticError) as error:
        yield WrongResult(
            "AU214-result", f"its model answers nothing: {error}", str(error), "answers"
        )
        return
    yield from _words(output, "text/html", html)
    plain = f"Calculator {result.key}: {result.caption}"
    yield from _words(output, "text/plain", plain)


def _prose(output: Output, result: ProseResult) -> Iterator[WrongResult]:
    said = wording.Sentence(result.texts, ())
    words = [number.words for number in result.numbers]
    yield from _sum(result.evidence.sha256, hash_text(said.join(words)), "paragraph")
    for number in result.numbers:
        expected = _format(number.value, number.format)
        if number.words != expected:
            yield WrongResult(
                "AU205-words",
                f"{number.key} reads {number.words!r}, its value makes {expected!r}",
                number.words,
                expected,
            )
    markdown = said.join([wording.escape_markdown(word) for word in words])
    yield from _words(output, "text/markdown", markdown)
    yield from _words(output, "text/plain", said.join(words))


def _claim(output: Output, result: ClaimResult, look_up: LookUp) -> Iterator[WrongResult]:
    yield from _sum(result.evidence.sha256, _hash(result.claim), "claim")
    try:
        outcome = ClaimOutcome.from_record(result.claim)
        plain = claim_card.render_text(outcome)
        known = look_up(outcome.claim_id)
        if outcome.source == OWN:
            name = outcome.claim_id.removeprefix("own-")
            known = own_claim(name, outcome.statement, outcome.relation)
        card = claim_card.render_card(outcome, known) if known else None
    except (ValueError, TypeError, AttributeError, ArithmeticError) as error:
        yield WrongResult(
            "AU214-result", f"its claim cannot be read: {error}", str(error), "a claim"
        )
        return
    if outcome.claim_id != result.key:
        yield WrongResult(
            "AU205-words", f"claim {outcome.claim_id} under another key", result.key,
            outcome.claim_id,
        )  # fmt: skip
    yield from _words(output, "text/plain", plain)
    if card is not None:
        yield from _words(output, "text/html", card)


def _sum(said: str, computed: str | None, what: str) -> Iterator[WrongResult]:
    if said != computed:
        yield WrongResult(
            "AU204-content",
            f"the {what} shown is not the one whose checksum was recorded",
            f"SHA-256 {computed}",
            f"SHA-256 {said}",
        )


def _words(output: Output, mime_type: str, expected: str) -> Iterator[WrongResult]:
    shown = output.text(mime_type)
    if shown != expected:
        first, second = first_difference(shown, expected)
        yield WrongResult(
            "AU205-words",
            f"its {mime_type} reads {first!r}, its record makes {second!r}",
            first,
            second,
        )


def _format(value: Any, spec: str, unit: str = "") -> str:
    try:
        return wording.format_scalar(value, spec, unit)
    except (ValueError, TypeError, OverflowError) as error:
        return f"nothing ({error})"


def _hash(data: Any) -> str | None:
    try:
        return hash_json(data)
    except (ValueError, TypeError, RecursionError):  # NaN, or what no JSON holds
        return None


def first_difference(one: str, other: str, around: int = 24, most: int = 80) -> tuple[str, str]:
    """Return both texts from a little before where they begin to differ, cut to a line."""
    at = next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )
    begin = max(0, at - around)
    return tuple(text[begin : begin + most] for text in (one, other))  # type: ignore[return-value]
