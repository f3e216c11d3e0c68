"""Results files: strict, without paths, read back as written, the newest found."""

import json

import pytest
from bench.records import RESULTS, newest_results, read_results, write_results
from bench_results import make_results

from sizebook.model.errors import UserError


def test_results_come_back_as_written(tmp_path):
    """A file holds all that was measured, under date and machine."""
    results = make_results()
    path = write_results(results, folder=tmp_path)
    assert path.name == "2026-01-02-0123abcd.json"
    assert read_results(path) == results
    assert list(tmp_path.iterdir()) == [path]


def test_the_newest_results_are_found(tmp_path):
    """By the time of making, not by the name."""
    assert newest_results(tmp_path) is None
    for machine, made in (("f" * 64, "2026-01-02T03:04:05Z"), ("0" * 64, "2026-01-02T09:00:00Z")):
        write_results(make_results(machine_sha256=machine, made_utc=made), folder=tmp_path)
    assert newest_results(tmp_path).machine_sha256 == "0" * 64


def test_benchmarks_of_several_runs_on_a_machine_are_put_together(tmp_path):
    """The newest of each; what was run on another machine is not mixed in; days are told."""
    assert newest_results(tmp_path) is None
    old = make_results(made_utc="2026-01-02T03:04:05Z", seconds={"ceiling": 1.0, "turns": 2.0})
    some = {"ceiling": None, "made_utc": "2026-01-03T03:04:05Z", "seconds": {"turns": 9.0}}
    new = make_results(**some, failures={"turns": "a node was gone"}, turns=None)
    other = make_results(made_utc="2026-01-01T00:00:00Z", machine_sha256="f" * 64)
    write_results(old, folder=tmp_path)
    write_results(other, folder=tmp_path)
    path = write_results(new, ("turns", "probe_cost"), tmp_path)
    assert path.name == "2026-01-03-0123abcd-turns-probe-cost.json"
    found = newest_results(tmp_path)
    assert found.ceiling == old.ceiling
    assert found.turns is None and found.failures == {"turns": "a node was gone"}
    assert found.made_on == {"ceiling": "2026-01-02"}
    assert found.seconds == {"ceiling": 1.0, "turns": 9.0}
    assert found.made_utc == new.made_utc


@pytest.mark.parametrize(
    "change",
    [{"surprise": 1}, {"version": 3}, {"ceiling": {"connections": 1}}, {"machine": None}],
)
def test_what_is_no_results_file_is_refused(tmp_path, change):
    """Unknown fields, versions and missing parts are errors with a next step."""
    path = write_results(make_results(), folder=tmp_path)
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(UserError, match="make bench"):
        read_results(path)


def test_text_that_is_no_json_is_refused(tmp_path):
    """So is anything else."""
    (tmp_path / "2026-01-01-x.json").write_text("{")
    with pytest.raises(UserError):
        newest_results(tmp_path)


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.json")), ids=lambda path: path.name)
def test_committed_results_are_valid(path):
    """What the book shows can be read, was a full run, and names no place on a disk."""
    results = read_results(path)
    assert not results.short
    assert path.name.startswith(f"{results.made_utc[:10]}-{results.machine_sha256[:8]}")
    assert results.made_on == {}, "of one run"
    for word in ("/home/", "/tmp/", "/usr/", "/opt/"):
        assert word not in path.read_text()
