"""JVM generations: those of the machine where it measures, all where trials are read."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from sizebook.lab import generations


@pytest.mark.parametrize(("measures", "chosen"), [(True, ["17"]), (False, ["17", "99"])])
def test_a_generation_that_the_machine_lacks(
    monkeypatch: pytest.MonkeyPatch, measures: bool, chosen: list[str]
) -> None:
    """It is left out, unless the trials are somebody else's; the order is the chapter's."""
    installed = [SimpleNamespace(feature="25"), SimpleNamespace(feature="17")]
    monkeypatch.setattr(generations, "find_jvms", lambda: installed)
    assert generations.choose_platforms(["17", "99"], measures=measures) == chosen
    assert generations.choose_platforms(["17", "25"], measures=measures) == ["17", "25"]


def test_one_generation_is_always_there() -> None:
    """The machine's first one, where it has none of those that are wanted."""
    (chosen,) = generations.choose_platforms(["1"], measures=True)
    assert chosen != "1"
