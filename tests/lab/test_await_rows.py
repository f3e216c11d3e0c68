"""Rows that are stored later than acknowledged: how many are waited for, and for how long."""

import json
from types import SimpleNamespace

import polars as pl
import pytest
from pydantic import ValidationError

from sizebook.lab import await_rows
from sizebook.model.deployment import Deployment, JvmRole
from sizebook.model.load import ClosedLoop, LoadProfile, Phases
from sizebook.model.trial import Stored, TrialSpec


def spec(stores, within_s=0.3):
    return TrialSpec(
        chapter="synthetic",
        experiment="synthetic",
        profile="smoke",
        treatment={},
        replicate=0,
        deployment=Deployment(roles=(JvmRole(role="app"),)),
        load=LoadProfile(
            locustfile="synthetic.py",
            arrivals=ClosedLoop(users=1),
            phases=Phases(warmup_s=0.0, measured_s=1.0),
        ),
        stores=stores,
        stored_within_s=within_s,
    )


def collected(*requests):
    """Return what was collected: rows of (name, error, status)."""
    frame = pl.DataFrame(requests, schema=["name", "error", "status"], orient="row")
    return SimpleNamespace(requests=frame)


FILLED = collected(
    ("fill", "", 200), ("fill", "", 421), ("fill", "status", 503), ("state", "", 200)
)


@pytest.fixture
def counts(monkeypatch):
    """Return a list of what counting finds in turn; the last one stays. Time passes in sleep."""
    told, now_s = [], 100.0

    def sleep(seconds):
        nonlocal now_s
        now_s += seconds

    clock = SimpleNamespace(monotonic=lambda: now_s, sleep=sleep)
    monkeypatch.setattr(await_rows, "time", clock)
    monkeypatch.setattr(
        await_rows, "count_rows", lambda *_: told.pop(0) if len(told) > 1 else dict(told[0])
    )
    return told


def test_as_many_rows_are_waited_for_as_acknowledged_requests_leave(counts):
    """One fill of 50 rows was acknowledged; two others, refused or misdirected, were not."""
    counts += [{"thing": 10}, {"thing": 59}, {"thing": 60}, {"thing": 99}]
    chunked = spec({"thing": Stored(request="fill", each=50)})
    facts = await_rows.await_stored(None, chunked, {"thing": 10}, FILLED)
    assert facts["stored_wait_s"] == pytest.approx(2 * await_rows._LOOK_EVERY_S)
    assert counts == [{"thing": 99}]


def test_a_name_alone_stands_for_one_row_each(counts):
    counts += [{"thing": 3}, {"thing": 4}, {"thing": 99}]
    await_rows.await_stored(None, spec({"thing": "fill"}), {"thing": 3}, FILLED)
    assert counts == [{"thing": 99}]


def test_waiting_is_given_up_when_no_row_comes(counts):
    """Whether all came is for the checks to say; nothing is made up."""
    counts += [{"thing": 0}]
    chunked = spec({"thing": Stored(request="fill", each=50)}, within_s=0.15)
    assert await_rows.await_stored(None, chunked, {"thing": 0}, FILLED) == {"stored_wait_s": 0.0}
    assert await_rows.await_stored(None, spec({}), {}, FILLED) == {}


def test_what_fills_a_table_is_kept_as_it_was_said():
    """A plain name stays one, in JSON too, so that bundles from before are the same trials."""
    old, new = spec({"thing": "fill"}), spec({"thing": Stored(request="fill", each=2)})
    assert json.loads(old.canonical_json())["stores"] == {"thing": "fill"}
    assert old.stored() == {"thing": Stored(request="fill", each=1)}
    for one in (old, new):
        assert TrialSpec.model_validate_json(one.canonical_json()) == one
    both = spec({"b": "fill", "a": Stored(request="send", each=3)})
    assert list(both.stored()) == ["a", "b"]
    with pytest.raises(TypeError):
        both.stores["c"] = "other"


@pytest.mark.parametrize("bad", [{"each": 0}, {"each": 1.5}, {"request": ""}, {"rows": 3}])
def test_what_leaves_no_rows_is_refused(bad):
    with pytest.raises(ValidationError):
        Stored(**{"request": "fill", **bad})
