"""The benchmarks of turns in short real runs: equal stacks both ways, and a planted slowdown."""

import pytest
from bench.rig import Rig

from bench import planted, turns
from sizebook.lab.bench import opened_bench
from sizebook.lab.placement import place
from sizebook.model.errors import UserError
from sizebook.stack.build import find_build
from sizebook.store import find_project


@pytest.fixture
def rig(tmp_path):
    """A short rig of this machine, whose words are kept."""
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
        yield rig, told
        rig.clean()
    assert not (tmp_path / "work").exists()


def test_equal_stacks_are_measured_both_ways(rig):
    """A block each: both sides answered, and only turns have an error by their rounds."""
    found = turns.run(rig[0])
    assert [line.partition(", ")[2] for line in rig[1]] == ["in turns", "apart"]
    (in_turns,), (apart,) = found.turns, found.apart
    assert min(*in_turns.per_s, *apart.per_s) > 0
    assert in_turns.error is not None
    assert apart.error is None


def test_three_stacks_take_turns(rig):
    """All of them answered."""
    found = planted.run(rig[0])
    assert rig[1] == ["planted: block 1"]
    (block,) = found.blocks
    assert min(block.one_per_s, block.equal_per_s, block.slower_per_s) > 0
    assert found.found("slower") == (0, 0), "one block is no four"
