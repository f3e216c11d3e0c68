"""JVM generations: those of the machine where it measures, all where trials are read."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from sizebook.lab import generations


@pytest.mark.parametrize(("measures", "usable"), [(True, ["17"]), (False, ["17", "99"])])
def test_a_generation_that_the_machine_lacks(
    monkeypatch: pytest.MonkeyPatch, measures: bool, usable: list[str]
) -> None:
    """It is left out, unless the trials are somebody else's; the order is the chapter's."""
    installed = [SimpleNamespace(feature="25"), SimpleNamespace(feature="17")]
    monkeypatch.setattr(generations, "find_jvms", lambda: installed)
    lab: Any = SimpleNamespace(measures=measures)
    assert generations.usable_jvms(lab, ["17", "99"]) == usable
    assert generations.usable_jvms(lab, ["17", "25"]) == ["17", "25"]
