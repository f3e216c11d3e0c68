"""Which JVM generations a chapter compares."""

from __future__ import annotations

from collections.abc import Sequence

from sizebook.lab.chapter_lab import ChapterLab
from sizebook.stack.jvms import find_jvms


def usable_jvms(lab: ChapterLab, wanted: Sequence[str]) -> list[str]:
    """Return those of the ``wanted`` generations that can be had, in their order.

    Where the lab measures these are the machine's, else all: the trials say which there were.
    """
    if not lab.measures:
        return list(wanted)
    found = {jvm.feature for jvm in find_jvms()}
    return [jvm for jvm in wanted if jvm in found]
