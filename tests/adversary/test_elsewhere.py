"""Lies beside the pages that an audit looks at: in the contents, the site, copies."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from audited_book import audit, bundle_of, change_page, change_record, found, result

from sizebook.book.audit.site import _list
from sizebook.model.bundle import BundleRecord
from sizebook.model.errors import UserError
from sizebook.store import cache_key

CONTENTS = {
    "another name of a page": "root: index\nchapters:\n- file: ./chapters/tiny\n",
    "a way round": "root: index\nchapters:\n- file: notes/../chapters/tiny\n",
    "a page elsewhere": "root: index\nchapters:\n- file: ../chapters/tiny\n",
    "a pattern": "root: index\nchapters:\n- glob: chapters/t*\n",
    "no list": "root: index\nchapters:\n",
    "no map": "- index\n",
    "no YAML": "a: [\n",
    "a loop": "root: index\nchapters: &all\n- chapters: *all\n",
    "an object": "root: !!python/object/apply:os.getcwd []\n",
}


@pytest.mark.parametrize("what", CONTENTS)
def test_contents_that_hide_a_page_are_refused(book: Path, what: str) -> None:
    """What the site shows, and the audit would not find there, is told in one message."""
    (book / "book" / "_toc.yml").write_text(CONTENTS[what])
    with pytest.raises(UserError, match="table of contents that cannot be read"):
        audit(book)


@pytest.mark.parametrize("key", ["chapters", "subtrees"])
def test_a_notebook_beside_the_chapters_is_looked_at(book: Path, key: str) -> None:
    """Wherever it lies and whatever the contents call its place, it is a page with results."""
    shutil.copy(book / "book" / "chapters" / "tiny.ipynb", book / "book" / "extra.ipynb")
    contents = f"root: index\n{key}:\n- file: notes\n- file: chapters/tiny\n- file: extra\n"
    (book / "book" / "_toc.yml").write_text(contents)
    report = audit(book)
    assert {one.place for one in report.findings if one.rule == "AU306-no-template"} == {"extra"}


def test_a_folder_of_the_site_that_is_a_link_is_listed(tmp_path: Path) -> None:
    """No build makes it, and a reader who follows it is elsewhere."""
    site, other = tmp_path / "site", tmp_path / "other"
    site.mkdir()
    other.mkdir()
    (other / "index.html").write_text("500 answers")
    (site / "index.html").write_text("400 answers")
    (site / "more").symlink_to(other)
    assert _list(site) == {"index.html", "more"}


def test_a_replicate_that_is_another_ones_copy_is_found(book: Path) -> None:
    """With a number, a start, a key and a name of its own it still has the same requests."""
    shutil.copytree(bundle_of(book), bundle_of(book, "json-3"))

    def change(record: dict[str, Any]) -> None:
        record["trial"]["replicate"] = 3
        record["execution"] |= {
            "wall_ns": record["execution"]["wall_ns"] + 3600 * 10**9,
            "started_utc": "2026-09-21T15:13:20Z",
            "session": "session-3",
        }
        changed = BundleRecord.model_validate(record, strict=False)
        record["key"] = cache_key(changed.trial, changed.fingerprints)

    change_record(bundle_of(book, "json-3"), change)
    report = audit(book)
    [same] = [one for one in report.findings if one.rule == "AU109-same-trial"]
    assert "has the same requests.parquet as" in same.message
    assert report.counts()["bundles"].verified <= 5


def test_an_own_page_without_its_value_is_no_page(book: Path) -> None:
    """A result whose record is no map is an output without a record, and no number."""

    def change(page: dict[str, Any]) -> None:
        result(page, "value")["metadata"]["sizebook"] = ["certified"]

    change_page(book, change)
    report = audit(book)
    assert "AU212" in found(report, "warning")
    assert json.dumps(report.as_json())
