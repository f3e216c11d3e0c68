"""Which JVM generations a chapter compares."""

from __future__ import annotations

from collections.abc import Sequence

from sizebook.stack.jvms import find_jvms


def choose_platforms(wanted: Sequence[str], *, measures: bool) -> list[str]:
    """Return the JVM generations of a run, older first: of those wanted what the machine has.

    Where nothing is measured all of them; the machine's first one if it has none of them.
    """
    found = {jvm.feature for jvm in find_jvms()} if measures else {*wanted}
    return [jvm for jvm in wanted if jvm in found] or [find_jvms()[0].feature]
