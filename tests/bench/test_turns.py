"""The benchmark of turns in a short real run: two equal stacks, both ways."""

import pytest
from bench.rig import Rig

from bench import turns
from sizebook.lab.bench import opened_bench
from sizebook.lab.placement import place
from sizebook.model.errors import UserError
from sizebook.stack.build import find_build
from sizebook.store import find_project


def test_equal_stacks_are_measured_both_ways(tmp_path):
    """A block each: both sides answered, and only turns have an error by their rounds."""
    project = find_project()
    try:
        find_build(project)
    except UserError as error:
        pytest.skip(str(error))
    if not place().separate:
        pytest.skip("one CPU: generator and server cannot be apart")
    told = []
    with opened_bench(project, "a test of make bench") as bench:
        rig = Rig(bench, tmp_path / "work", place(), {}, short=True, tell=told.append)
        found = turns.run(rig)
        rig.clean()
    assert [line.partition(", ")[2] for line in told] == ["in turns", "apart"]
    (in_turns,), (apart,) = found.turns, found.apart
    assert min(*in_turns.per_s, *apart.per_s) > 0
    assert in_turns.error is not None
    assert apart.error is None
    assert not (tmp_path / "work").exists()
