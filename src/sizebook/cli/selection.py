"""Which chapters, with which parameters: shared by the commands that run notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sizebook.book.chapters import (
    Chapter,
    ParameterValue,
    check_parameters,
    find_chapters,
    get_chapter,
)
from sizebook.lab.profiles import get_profile
from sizebook.model.errors import UsageError

Selected = list[tuple[Chapter, dict[str, ParameterValue]]]


def select(
    root: Path, ids: Sequence[str], profile: str, source: str, given: Sequence[str]
) -> Selected:
    """Return the named chapters (all without names) with their checked parameters.

    Everything is checked before anything runs. Raises UsageError for an unknown chapter, profile
    or parameter, and for a malformed value.
    """
    get_profile(profile)
    chapters = [get_chapter(root, name) for name in ids] or find_chapters(root)
    parameters: dict[str, str] = {}
    for name, value in map(_split, given):
        if name in parameters:
            raise UsageError(
                found=f"parameter {name!r} twice",
                expected="each parameter once",
                next_step=f"leave one out of {name}={parameters[name]} and {name}={value}",
            )
        parameters[name] = value
    selected: Selected = []
    for chapter in chapters:
        names = {parameter.name for parameter in chapter.parameters}
        common = {"profile": profile, "source": source}
        texts = {name: text for name, text in common.items() if name in names}
        selected.append((chapter, check_parameters(chapter, texts | parameters)))
    return selected


def _split(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise UsageError(
            found=f"parameter {text!r}",
            expected="name=value",
            next_step="see the names with 'sizebook chapters ID'",
        )
    return name, value
