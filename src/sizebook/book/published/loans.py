"""Trials that a page of a round shows and the pack of another chapter holds, or held once."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Mapping
from pathlib import Path

from sizebook.book.audit.outputs import cited_by, read_page
from sizebook.book.audit.targets import PageFile
from sizebook.store.record_file import RECORD
from sizebook.store.rounds import PAGES, Published


def lost_loans(packs: Mapping[str, Published]) -> dict[str, int]:
    """Return how many trials a page shows that no pack has any more, by its chapter.

    A chapter that is measured anew takes its old trials out of the round; the pages that borrowed
    them show what nobody can check, until they are renewed.
    """
    held: set[tuple[str, str]] = set()
    shown: dict[str, set[tuple[str, str]]] = {}
    with tempfile.TemporaryDirectory(prefix="sizebook-loans-") as scratch:
        for chapter, published in packs.items():
            for name, data in published.read().items():
                folder, _, file = name.rpartition("/")
                if file == RECORD:
                    held.add((folder, hashlib.sha256(data).hexdigest()))
                elif folder == PAGES:
                    shown[chapter] = _cited(chapter, data, Path(scratch))
    lost = {chapter: len(trials - held) for chapter, trials in shown.items()}
    return {chapter: trials for chapter, trials in lost.items() if trials}


def _cited(chapter: str, page: bytes, folder: Path) -> set[tuple[str, str]]:
    """Return the bundles that the results of an executed notebook name, with their checksums.

    Empty for what is no such notebook, of which the audit speaks (AU200).
    """
    path = folder / f"{chapter}.ipynb"
    path.write_bytes(page)
    try:
        results = read_page(PageFile(chapter, path)).results
    except ValueError:
        return set()
    return {(each.bundle, each.sha256) for out in results for each in cited_by(out)}
