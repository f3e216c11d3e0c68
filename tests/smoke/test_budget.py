"""A book within a given time: stopped at any moment it is whole, and asked again it goes on."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from tests.waiting import children_of, still_alive

from sizebook.book.audit.auditing import Options, run_audit
from sizebook.book.audit.targets import own_target
from sizebook.book.notebooks import SO_FAR, STAMP
from sizebook.store import Project, find_bundles, open_bundle

CHAPTERS = ("rules-of-thumb", "nginx")
"""They are measured in a minute, by few JVMs."""
PUBLISHED = (*CHAPTERS, "xml")
"""Chapters that the rounds of this book have: a site with the trials of all takes minutes of CPU,
and is built at each begin and end of a run."""
OPTIONS = ("--profile", "smoke", "--budget", "60")


@pytest.fixture(scope="module")
def small_book(copied_project):
    """A copy of the project of whose rounds some chapters are left; the others' pages say so."""
    for file in (copied_project.root / "data" / "published").glob("*/round.json"):
        record = json.loads(file.read_text())
        record["packs"] = [pack for pack in record["packs"] if pack["chapter"] in PUBLISHED]
        file.write_text(json.dumps(record))
    return copied_project


def stamp(copy, chapter):
    return json.loads(copy.page(chapter).read_text())["metadata"][STAMP]


def measured(copy):
    """Return the keys of all trials that were measured for the chapters."""
    paths = [path for name in CHAPTERS for path in find_bundles(copy.runs(name))]
    records = [open_bundle(path).record for path in paths]
    return [record.key for record in records if record.trial.purpose == "measured"]


def test_ctrl_c_leaves_a_whole_book_and_the_next_goes_on(small_book):
    """What was measured has its page, the rest the published one; no trial is measured twice."""
    process = subprocess.Popen(
        [sys.executable, "-m", "sizebook.cli", "book", *CHAPTERS, *OPTIONS],
        cwd=small_book.root,
        env={**os.environ, "SIZEBOOK_ROOT": str(small_book.root)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while not measured(small_book) and process.poll() is None:
        time.sleep(0.05)  # until a site is built, however long that takes: see tests/lanes.py
    family = children_of(process.pid)
    process.send_signal(signal.SIGINT)
    printed, said = process.communicate()
    assert (process.returncode, "Traceback" in said) == (130, False), said
    assert still_alive(family) == []
    assert "to read meanwhile" in printed and "the book:" in printed
    assert "finished trials are kept" in said
    begun = [name for name in CHAPTERS if stamp(small_book, name).get(SO_FAR)]
    assert begun and all(f"{name}: ran in" in printed for name in begun)
    assert SO_FAR not in stamp(small_book, "xml") and not small_book.bundles("xml")
    before = measured(small_book)
    done = small_book.sizebook("book", *CHAPTERS, *OPTIONS, check=0)
    after = measured(small_book)
    assert len(after) == len(set(after)) > len(before) > 0
    assert set(before) < set(after)
    assert all(stamp(small_book, name)[SO_FAR] for name in CHAPTERS)
    plans = json.loads(
        small_book.sizebook("plan", *CHAPTERS, "--profile", "smoke", "--json", check=0).stdout
    )
    assert [plan["missing"] for plan in plans] == [0, 0]
    assert f"of {len(CHAPTERS)} chapters" in done.stdout
    target = own_target(Project(small_book.root), [*CHAPTERS, "xml"])
    report = run_audit(target, options=Options(site=False))
    assert [str(each) for each in report.findings if each.severity == "error"] == []


@pytest.mark.parametrize("budget", ["0", "soon", "-1"])
def test_another_budget_is_one_message(copied_project, budget):
    """Before anything is brought, built or measured."""
    done = copied_project.sizebook("book", "--budget", budget, check=1)
    assert f"budget '{budget}'" in done.stderr and "Traceback" not in done.stderr
