"""What a site offers for download is there, can be read, and is what the page shows."""

from __future__ import annotations

import csv
import hashlib
import json
import re
import shutil
import urllib.parse
from html import unescape
from pathlib import Path
from typing import Any

import nbformat
import pytest
from sample_book import HOSTILE
from site_check import check_links
from trial_writing import write_trial_pages

from sizebook.book import downloads
from sizebook.book.cited import ProjectBundles
from sizebook.book.downloads import (
    Download,
    result_files,
    source_file,
    write_downloads,
)
from sizebook.book.records import PublishedResult, read_records
from sizebook.report.chart import MIME
from sizebook.report.evidence import hash_json
from sizebook.store import open_bundle
from sizebook.store.bundles import verify_bundle
from sizebook.store.received import unpack_bundles


@pytest.fixture(scope="module")
def root(trials_root: Path) -> Path:
    """Give the folder of the sample book with trials."""
    return trials_root


@pytest.fixture(scope="module")
def offered(root: Path) -> Path:
    """Give the folder with the downloads of its site."""
    return root / "_build" / "html" / "downloads"


def read_rows(file: Path) -> list[list[str]]:
    with file.open(encoding="utf-8", newline="") as text:
        return list(csv.reader(text))


def test_every_figure_has_its_specification_and_data(root: Path, offered: Path) -> None:
    """The JSON has the figure's checksum; the CSV has the rows that the figure draws."""
    for chapter in ("alpha", "beta"):
        records = read_records(root / "book" / "chapters" / f"{chapter}.ipynb").values()
        figures = [each for each in records if each.kind == "figure"]
        assert figures
        for each in figures:
            spec = json.loads((offered / chapter / f"{each.key}.json").read_text())
            assert each.evidence["sha256"] == hash_json(spec)
            (drawn,) = spec["datasets"].values()
            names, *rows = read_rows(offered / chapter / f"{each.key}.csv")
            expected = [
                [value if isinstance(value, str) else json.dumps(value) for value in row.values()]
                for row in drawn
            ]
            assert names == list(drawn[0])
            assert rows == expected


def test_every_table_has_its_cells(offered: Path) -> None:
    """Numbers as shown, and hostile text as text."""
    assert read_rows(offered / "alpha" / "sizes.csv")[1] == [
        "odata-atom", "2,600", "1,100,000", "valid"
    ]  # fmt: skip
    assert read_rows(offered / "beta" / "rows.csv") == [["name", "n"], [HOSTILE, "1"], ["b", "2"]]


def test_all_numbers_of_a_chapter_are_in_one_file(root: Path, offered: Path) -> None:
    """Each with value, unit, cell, checksum and the number of its evidence."""
    data = json.loads((offered / "alpha.numbers.json").read_text())
    records = read_records(root / "book" / "chapters" / "alpha.ipynb")
    numbers = {key: each for key, each in records.items() if each.kind == "value"}
    assert list(numbers) == list(data["numbers"]) == ["total-time", "met", "ratio", "n"]
    for key, number in data["numbers"].items():
        evidence = dict(numbers[key].evidence)
        assert number["value"] == numbers[key].fields["value"]
        assert number["sha256"] == evidence.pop("sha256")
        assert data["evidence"][number["evidence"]] == evidence
    assert data["numbers"]["total-time"] | {"sha256": "", "cell_id": ""} == {
        "value": 12.345, "unit": "s", "cell": 1, "cell_id": "", "sha256": "", "evidence": 0
    }  # fmt: skip
    assert data["numbers"]["ratio"]["cell"] == data["numbers"]["n"]["cell"] == 5


def test_the_notebook_is_the_executed_one(root: Path, offered: Path) -> None:
    """Byte for byte, outputs included."""
    source = root / "book" / "chapters" / "alpha.ipynb"
    assert source.read_bytes() == (offered / "alpha.ipynb").read_bytes()
    notebook: Any = nbformat.read(offered / "alpha.ipynb", as_version=4)  # type: ignore[no-untyped-call, unused-ignore]
    assert any(cell.get("outputs") for cell in notebook.cells)


def test_every_whole_bundle_can_be_taken_home(root: Path, offered: Path, tmp_path: Path) -> None:
    """The archives unpack to bundles with the cited checksum; absent and damaged ones have none."""
    archives = sorted((offered / "bundles").iterdir())
    assert [each.stem for each in archives] == ["failed-1", "slim-1", "whole-1", "whole-2"]
    for archive in archives:
        (folder,) = unpack_bundles(archive, tmp_path / "received")
        bundle = open_bundle(folder)
        verify_bundle(bundle)
        own = open_bundle(root / "data" / "runs" / "alpha" / archive.stem)
        assert (bundle.sha256, bundle.record) == (own.sha256, own.record)


def test_links_to_downloads_are_on_pages_and_lead_there(root: Path, offered: Path) -> None:
    """Every file of the folder is linked from a page, at any depth; nothing leads nowhere."""
    site = root / "_build" / "html"
    assert check_links(site) == []
    linked = set()
    for page in site.rglob("*.html"):
        for link in re.findall(r"<a href=['\"]([^'\"]+)['\"][^>]* download>", page.read_text()):
            target = page.parent / urllib.parse.unquote(unescape(link))
            linked.add(target.resolve().relative_to(offered.resolve()).as_posix())
    files = {path.relative_to(offered).as_posix() for path in offered.rglob("*") if path.is_file()}
    assert files == linked


def test_a_large_bundle_goes_without_its_requests(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The archive is still a bundle; the trial's page says what is not in it and where it lies."""
    monkeypatch.setattr(downloads, "BUNDLE_LIMIT_BYTES", 1000)
    site = tmp_path / "html"
    shutil.copytree(root / "_build" / "html" / "_static", site / "_static")
    bundles = ProjectBundles(root)
    write_downloads(root, site, ["chapters/alpha"], bundles)
    write_trial_pages(root, site, ["chapters/alpha"], bundles)
    (folder,) = unpack_bundles(site / "downloads" / "bundles" / "whole-1.zip", tmp_path / "in")
    assert not (folder / "requests.parquet").exists()
    own = open_bundle(root / "data" / "runs" / "alpha" / "whole-1")
    assert open_bundle(folder).sha256 == own.sha256
    page = (site / "trials" / "whole-1.html").read_text()
    size = f"{own.record.files['requests.parquet'].bytes / 1e6:.2f} MB"
    assert f"without requests.parquet of {size}, which stays in" in page
    assert "<code>data/runs/alpha/whole-1</code>" in page
    slim = (site / "trials" / "slim-1.html").read_text()
    assert ">the bundle as zip</a></td>" in slim


def test_a_bundle_whose_table_was_edited_is_not_offered(root: Path, tmp_path: Path) -> None:
    """One byte in a table: no archive of it, and its page has no link to one."""
    book = Path(shutil.copytree(root, tmp_path / "copy", symlinks=True))
    table = book / "data" / "runs" / "alpha" / "whole-1" / "counters.parquet"
    content = bytearray(table.read_bytes())
    content[len(content) // 2] ^= 1
    table.write_bytes(content)
    bundles, site = ProjectBundles(book), book / "_build" / "html"
    write_downloads(book, site, ["chapters/alpha"], bundles)
    write_trial_pages(book, site, ["chapters/alpha"], bundles)
    assert not (site / "downloads" / "bundles" / "whole-1.zip").exists()
    assert "bundles/whole-1.zip" not in (site / "trials" / "whole-1.html").read_text()
    assert (site / "downloads" / "bundles" / "whole-2.zip").exists()


def test_old_downloads_go(root: Path, tmp_path: Path) -> None:
    """A page that is no longer in the book leaves nothing behind."""
    site = tmp_path / "html"
    write_downloads(root, site, ["chapters/alpha", "chapters/beta"], ProjectBundles(root))
    assert (site / "downloads" / "beta" / "bars.csv").exists()
    write_downloads(root, site, ["notes"], ProjectBundles(root))
    assert not (site / "downloads").exists()


@pytest.mark.parametrize("key", ["../../escape", "/etc/passwd", "index", "a'b", "x" * 300])
def test_a_key_that_is_no_file_name_is_hashed(key: str) -> None:
    """Whatever a notebook calls its result, the file lies in the chapter's folder."""
    spec = {"data": {"values": [{"a": 1}]}, "mark": "bar"}
    record = PublishedResult("figure", key, {}, {MIME: spec})
    names = [each.file for each in result_files(record, "chapters/alpha")]
    stem = f"downloads/alpha/figure-{hashlib.sha256(key.encode()).hexdigest()[:20]}"
    assert names == [f"{stem}.csv", f"{stem}.json"]


def test_a_claim_has_its_comparisons() -> None:
    """The claim's record as it is; a number has no file of its own."""
    claim = {"claim_id": "c-1", "verdict": "confirmed", "comparisons": []}
    record = PublishedResult("claim", "c-1", {"claim": claim}, {})
    (file,) = result_files(record, "chapters/alpha")
    assert file.file == "downloads/alpha/c-1.json"
    assert json.loads(file.text) == claim
    expected: list[Download] = []
    assert expected == result_files(
        PublishedResult("value", "n", {"value": 1}, {}), "chapters/alpha"
    )


def test_only_files_of_the_project_that_are_meant_for_it_are_given(tmp_path: Path) -> None:
    """Reported data with the right checksum; nothing else, however it is named."""
    root = tmp_path / "root"
    for name in ("data/reported/claims.csv", "data/runs/secret.csv", "secret.csv"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")
    (root / "data" / "reported" / "link.csv").symlink_to(root / "secret.csv")
    good = hashlib.sha256(b"x").hexdigest()
    given = source_file(root, "data/reported/claims.csv", good)
    assert given == (root / "data" / "reported" / "claims.csv").resolve()
    assert source_file(root, "data/reported/claims.csv", "0" * 64) is None
    for name in (
        "data/runs/secret.csv",
        "secret.csv",
        "data/reported/../../secret.csv",
        "data/reported/x/../claims.csv",
        "data/reported/link.csv",
        "data/reported",
        "data/reported/gone.csv",
        str(root / "secret.csv"),
        "",
    ):
        assert source_file(root, name, good) is None, name
