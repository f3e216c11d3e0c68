"""The rounds that come with this book: every chapter, replicated, by a profile that counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from sizebook.book.chapters import find_chapters
from sizebook.book.published.choosing import LEAST_REPLICATES, measures
from sizebook.book.published.loans import lost_loans
from sizebook.lab.profiles import PROFILES
from sizebook.store import Project
from sizebook.store.rounds import (
    MOST_PUBLISHED_BYTES,
    Published,
    Round,
    check_pack,
    find_rounds,
    newest_packs,
    published_bytes,
)

PROJECT = Project(Path(__file__).parents[2])
ROUNDS = find_rounds(PROJECT)


def test_every_chapter_that_measures_is_in_a_round():
    """A reader sees results of the whole book before measuring."""
    packs = newest_packs(ROUNDS)
    wanted = {each.id for each in find_chapters(PROJECT.root) if measures(each)}
    assert len(wanted) > 20
    assert wanted <= packs.keys()
    assert 0 < published_bytes(PROJECT) <= MOST_PUBLISHED_BYTES


@pytest.mark.parametrize("found", ROUNDS, ids=lambda found: found.name)
def test_a_round_is_whole_and_replicated(found: Round):
    """Packs are undamaged, history too; each treatment has the fresh starts that a round needs."""
    for pack in found.record.packs:
        check_pack(Published(found, pack))
    trials = [pack for pack in found.record.packs if pack.trials]
    assert {pack.chapter for pack in trials if pack.replicates < LEAST_REPLICATES} == set()
    assert all(PROFILES[pack.profile].publishable for pack in trials)
    assert found.record.replicates == min(pack.replicates for pack in trials)


def test_what_a_page_borrows_is_in_a_round():
    """A lender that was measured anew has its borrowers renewed."""
    assert lost_loans(newest_packs(ROUNDS)) == {}


def test_some_chapters_are_in_full():
    """What the short profile found is also seen at full length, where time allowed."""
    profiles = {pack.profile for found in ROUNDS for pack in found.record.packs}
    assert profiles >= {"quick", "full"}
