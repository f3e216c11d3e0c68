"""Trials that a page of a round shows and the pack of another chapter holds, or held once."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping

from sizebook.store.packs import read_pack
from sizebook.store.record_file import RECORD
from sizebook.store.rounds import BORROWED, Published


def lost_loans(packs: Mapping[str, Published]) -> Counter[tuple[str, str]]:
    """Return how many trials a page shows that no pack has any more, by its chapter and the lender.

    A chapter that is measured anew takes its old trials out of the round; the pages that borrowed
    them show what nobody can check, until they are renewed.
    """
    held: set[tuple[str, str]] = set()
    lent: list[tuple[str, str, str, str]] = []
    for chapter, published in packs.items():
        for name, data in read_pack(published.path).items():
            parts = name.split("/")
            if parts[-1] == RECORD:
                held.add((parts[-2], hashlib.sha256(data).hexdigest()))
            elif parts[0] == BORROWED:
                lent.append((chapter, parts[1], parts[2], parts[3].removesuffix(".json")))
    return Counter((page, lender) for page, lender, *trial in lent if tuple(trial) not in held)
