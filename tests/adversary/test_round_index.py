"""What ``round.json`` says of its packs, changed field by field; nobody signed the round."""

import json
import shutil

import pytest
from audited_book import make_audited_book

from sizebook.book import processes
from sizebook.book.audit.auditing import Options, audit_published
from sizebook.book.chapters import get_chapter
from sizebook.book.published import publishing
from sizebook.store import Project
from sizebook.store.rounds import ROUND

NAME = "2026-03-05"
PLAIN = Options(replay=False)


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """A book with one published chapter of six trials."""
    root = make_audited_book(tmp_path_factory.mktemp("index") / "book", measured=True)
    publishing.publish(Project(root), [get_chapter(root, "tiny")], NAME)
    return root


@pytest.fixture
def change(published, tmp_path):
    """Return what audits a copy of the book whose index was changed."""
    project = Project(shutil.copytree(published, tmp_path / "copy", symlinks=True))
    index = project.published / NAME / ROUND

    def audit(act):
        told = json.loads(index.read_text())
        act(told, told["packs"][0])
        index.write_text(json.dumps(told))
        report = audit_published(project, options=PLAIN)
        return [each for each in report.findings if each.severity == "error"]

    return audit


FIELDS = {
    "trials": 7,
    "profile": "full",
    "replicates": 9,
    "machine": "0" * 64,
    "stack": "1" * 64,
    "jvm": "Debian 21.0.1",
    "harness": "0.0.9",
    "capture_version": 1,
    "first_utc": "2026-01-01T00:00:00Z",
    "last_utc": "2026-12-31T00:00:00Z",
    "left_out": [],
    "commit": "c" * 40,
}
FACTS = {
    "system": "Debian GNU/Linux 13",
    "kernel": "7.0",
    "architecture": "riscv64",
    "cpu_model": "a faster one",
    "logical_cpus": 64,
    "memory_mib": 1_000_000,
    "virtualization": "none",
    "idle": "polls 1 ms",
}


def test_an_index_as_it_was_published_says_what_its_packs_hold(change):
    """Nothing is found in it."""
    assert change(lambda told, pack: None) == []


@pytest.mark.parametrize("name", [*FIELDS, *FACTS])
def test_a_field_of_a_pack_that_its_trials_contradict_is_named(change, name):
    """Numbers, dates, versions, and each fact of the machine."""
    place = (lambda pack: pack["facts"]) if name in FACTS else (lambda pack: pack)
    errors = change(lambda told, pack: place(pack).update({name: (FIELDS | FACTS)[name]}))
    assert {each.rule for each in errors} == {"AU707-index"}
    assert any(each.message.startswith(f"{name} of tiny is ") for each in errors)


def test_the_trick_list_has_every_field():
    """A field that a pack's record gets later has its trick here."""
    from sizebook.model.bundle import MachineFacts
    from sizebook.store.rounds import ArchiveRecord, PackRecord

    known = {*ArchiveRecord.model_fields, "page", "chapter", "facts"}
    assert {*PackRecord.model_fields} - known == {*FIELDS}
    assert {*MachineFacts.model_fields} == {*FACTS}


def test_a_machine_without_facts_and_replicates_of_the_whole_round_are_named(change):
    """Facts taken out; the round's own number."""

    def act(told, pack):
        pack["facts"], told["replicates"] = None, 10

    messages = [each.message for each in change(act)]
    assert any(words.startswith("facts of tiny is nothing") for words in messages)
    assert "replicates are 10, of its chapters 3" in messages


def test_many_processes_find_what_one_finds(change, monkeypatch):
    """Packs and bundles are read by others where that pays."""
    monkeypatch.setattr(processes, "WORTH_BYTES", 0)
    assert [each.rule for each in change(lambda told, pack: pack.update(trials=7))] == [
        "AU707-index"
    ]
