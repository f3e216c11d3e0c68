"""Trials that a page of a round shows and the pack of another chapter holds, or held once."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping

from sizebook.report.page import METADATA_KEY
from sizebook.store.packs import read_pack
from sizebook.store.record_file import RECORD
from sizebook.store.rounds import PAGES, Published


def lost_loans(packs: Mapping[str, Published]) -> Counter[str]:
    """Return how many trials a page shows that no pack has any more, by its chapter.

    A chapter that is measured anew takes its old trials out of the round; the pages that borrowed
    them show what nobody can check, until they are renewed.
    """
    held: set[tuple[str, str]] = set()
    shown: set[tuple[str, str, str]] = set()
    for chapter, published in packs.items():
        for name, data in read_pack(published.path).items():
            folder, _, file = name.rpartition("/")
            if file == RECORD:
                held.add((folder, hashlib.sha256(data).hexdigest()))
            elif folder == PAGES:
                shown |= {(chapter, *trial) for trial in _cited(data)}
    return Counter(chapter for chapter, *trial in shown if tuple(trial) not in held)


def _cited(page: bytes) -> set[tuple[str, str]]:
    """Return the bundles that the results of an executed notebook name, with their checksums.

    None for what is no such notebook, of which the audit speaks (AU200).
    """
    try:
        outputs = [out for cell in json.loads(page)["cells"] for out in cell.get("outputs", [])]
        results = [out.get("metadata", {}).get(METADATA_KEY) for out in outputs]
        sources = [each["evidence"]["sources"] for each in results if each]
        return {(each["bundle"], each["sha256"]) for some in sources for each in some}
    except (ValueError, KeyError, TypeError, AttributeError):
        return set()
