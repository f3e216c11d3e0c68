"""Where the time of a book's trials went, by chapter, and what they decided."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sizebook.book.directives.time_spent import time_words
from sizebook.book.ledger.rows import read_ledger
from sizebook.book.time_spent import TimeSpent, find_time_spent, time_of_session
from sizebook.store import find_bundles, open_bundle


def execution(started: str, conditioned_s: float, **phases_s: float) -> dict[str, Any]:
    """Return how a trial went: phases one after the other, from 100 s on."""
    begin, marks = 100.0, []
    for name, seconds in phases_s.items():
        end = begin + seconds
        marks.append({"name": name.replace("_", "-"), "begin_ns": int(begin * 1e9),
                      "end_ns": int(end * 1e9)})  # fmt: skip
        begin = end
    return {
        "started_utc": f"2026-01-01T00:{started}Z",
        "session": "s",
        "facts": {"setup_s": 20.0, "conditioned_s": conditioned_s, "lacks": "words"},
        "phases": marks,
    }


def test_the_time_of_a_start_adds_up() -> None:
    """A pause between trials is in the rest; what was conditioned first is not warm-up."""
    spent = time_of_session(
        [
            execution("01:30", 45.0, warm_up=5, measured=10, drain=1),
            execution("02:00", 45.0, warm_up=5, measured=10, drain=1),
        ]
    )
    assert spent == TimeSpent(2, 1, 20.0, 45.0, 10.0, 20.0, pytest.approx(16.0))
    assert spent.all_s == pytest.approx(20 + 45 + 30 + 16)


def test_treatments_that_take_turns_share_their_time() -> None:
    """They begin together; their own phases add up to the time that both took."""
    turns = [execution("01:30", 0.0, warm_up=4, measured=20, drain=0) for _ in range(2)]
    spent = time_of_session(turns)
    assert (spent.warm_up_s, spent.measured_s, spent.rest_s) == (8.0, 40.0, 0.0)
    assert spent.all_s == pytest.approx(68.0)


def test_chapters_add_up_and_say_what_they_decided(audited_root: Path) -> None:
    """The trials that a page shows, from their bundles; claims are the ledger's."""
    pages = ["index", "chapters/tiny", "chapters/absent"]
    rows = [replace(row, state="confirmed") for row in read_ledger(audited_root, pages)]
    found, own = find_time_spent(audited_root, pages, rows)
    assert list(found) == ["chapters/tiny"] and own
    spent = found["chapters/tiny"]
    records = [open_bundle(path).record for path in find_bundles(audited_root / "data" / "runs")]
    assert spent.trials == len(records) > 1
    measured = sum(
        (mark.end_ns - mark.begin_ns) * 1e-9
        for record in records
        for mark in record.execution.phases
        if mark.name == "measured"
    )
    assert spent.measured_s == pytest.approx(measured)
    of_page = [row for row in rows if row.evidence and row.evidence.page == "chapters/tiny"]
    assert spent.decided == len(of_page) == 1
    words = time_words(found, spent, own=own)
    assert words.startswith(f"{spent.trials} trials of 1 chapters took ")
    assert "on this machine" in words and words.endswith(
        f"They decide 1 claims, {spent.decided_per_h:.1f} an hour."
    )


def test_a_record_that_cannot_be_read_is_no_time(audited_root: Path, tmp_path: Path) -> None:
    """Nothing rests on it: the page is about time alone."""
    page = tmp_path / "book" / "chapters" / "tiny.ipynb"
    page.parent.mkdir(parents=True)
    page.write_bytes((audited_root / "book" / "chapters" / "tiny.ipynb").read_bytes())
    assert find_time_spent(tmp_path, ["chapters/tiny"], []) == ({}, True)
    name = next(iter(find_bundles(audited_root / "data" / "runs" / "tiny"))).name
    folder = tmp_path / "data" / "runs" / "tiny" / name
    folder.mkdir(parents=True)
    for text in ("", "[]", json.dumps({"trial": {}})):
        (folder / "trial.json").write_text(text)
        assert find_time_spent(tmp_path, ["chapters/tiny"], []) == ({}, True)
    assert TimeSpent().decided_per_h == 0
