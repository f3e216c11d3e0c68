"""Text that somebody else wrote, shown as what it is: nothing in it steers a terminal or a page."""

from __future__ import annotations

import html
import re
import unicodedata

_LINE_END = re.compile(r"\s*[\r\n]\s*")


def steers(char: str) -> bool:
    """Return whether a character does something instead of being seen.

    Such are control characters (with them escape sequences of terminals), marks that turn the
    direction of writing, ends of lines and of paragraphs, and what Unicode has not assigned.
    """
    kind = unicodedata.category(char)
    return kind[0] == "C" or kind in ("Zl", "Zp")


def steering(text: str) -> bool:
    """Return whether something in a text does something instead of being seen."""
    return any(map(steers, text))


def show_plainly(text: str) -> str:
    """Return the text on one line, its steering characters as escapes such as ``\\x1b``.

    >>> show_plainly("a\\x1b[2Jb")
    'a\\\\x1b[2Jb'
    """
    if text.isprintable():
        return text
    return "".join(
        char.encode("unicode_escape").decode("ascii") if steers(char) else char for char in text
    )


def on_one_line(text: str) -> str:
    """Return what may have several lines as one, shown plainly; blanks within a line stay.

    A name or value that is quoted in it is seen as it is, so that it can be found again.

    >>> on_one_line("no file 'a  b':\\n  look")
    "no file 'a  b': look"
    """
    return show_plainly(_LINE_END.sub(" ", text.strip()))


def escape_html(text: str) -> str:
    """Return the text as HTML that shows it, in an element or an attribute; nothing in it acts."""
    return html.escape(show_plainly(text))
