"""Sentences of a page, and the numbers in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sizebook.book.audit.outputs import ExecutedPage, Output, source_of

_END = re.compile(r"(?<=[.!?;:])\s+(?=[A-Z0-9`*])|\n\s*\n")
_FOLD = re.compile(r"^(```|:{3}|\{|\|).*$|^:\w+:.*$", re.MULTILINE)


@dataclass(frozen=True)
class NumberInProse:
    """A number of a paragraph with the words of its sentence around it."""

    output: Output
    key: str
    value: object
    record: Mapping[str, Any]
    before: str
    """From the number before it, or from the sentence's begin."""
    after: str
    """To the next number, or to the sentence's end."""
    sentence: str

    @property
    def place(self) -> str:
        """How findings name it."""
        return f"{self.output.page}#{self.key}"


def numbers_in(page: ExecutedPage) -> Iterator[NumberInProse]:
    """Yield the numbers of a page's paragraphs, each with the words around it."""
    for output in page.results:
        fields = output.fields or {}
        texts, numbers = fields.get("texts"), fields.get("numbers")
        if output.kind != "prose" or not isinstance(texts, list) or not isinstance(numbers, list):
            continue
        sound = all(isinstance(one, dict) for one in numbers) and all(
            isinstance(one, str) for one in texts
        )
        if not sound or len(texts) != len(numbers) + 1:  # told by the audit of its contents
            continue
        words = [str(one.get("words", "")) for one in numbers]
        whole = "".join(f"{text}{word}" for text, word in zip(texts, [*words, ""], strict=True))
        at = 0
        for number, word, before, after in zip(numbers, words, texts[:-1], texts[1:], strict=True):
            at += len(before)
            begin, end = _sentence(whole, at)
            yield NumberInProse(
                output, str(number.get("key")), number.get("value"), number,
                before[max(0, len(before) - (at - begin)):], after[: max(0, end - at - len(word))],
                whole[begin:end],
            )  # fmt: skip
            at += len(word)


def sentences_of(page: ExecutedPage) -> Iterator[tuple[Output | None, str]]:
    """Yield what a page says in sentences: paragraphs and captions, and its own words (None)."""
    for cell in page.cells:
        if cell["cell_type"] == "markdown":
            yield from ((None, each) for each in sentences_in(source_of(cell)))
    for output in page.results:
        said = output.text("text/plain") if output.kind == "prose" else ""
        caption = (output.fields or {}).get("caption")
        for each in split(said or (caption if isinstance(caption, str) else "")):
            yield output, each


def sentences_in(markdown: str) -> list[str]:
    """Return the sentences of a page in Markdown, without its directives and tables."""
    return split(_FOLD.sub("", markdown))


def split(text: str) -> list[str]:
    """Return the sentences of a text, each on one line."""
    return [" ".join(each.split()) for each in _END.split(text) if each.strip()]


def _sentence(text: str, at: int) -> tuple[int, int]:
    """Return where the sentence around a place begins and ends."""
    ends = [found.start() for found in _END.finditer(text)]
    begins = [found.end() for found in _END.finditer(text)]
    begin = max((each for each in begins if each <= at), default=0)
    return begin, min((each for each in ends if each >= at), default=len(text))
