"""What the reports printed is read whole or refused with file, row and column."""

from __future__ import annotations

import csv
import hashlib
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from sizebook.model.errors import UsageError, UserError
from sizebook.model.reported import (
    ONE_SIDED,
    REPORTS,
    Measurement,
    ReportedClaim,
    ReportedParameter,
    expected_unit,
    parse_treatment,
)
from sizebook.report import find_reported, reported
from sizebook.report.evidence import EvidenceFile, make_evidence
from sizebook.report.reported import (
    claims_frame,
    reported_claim,
    reported_claims,
    reported_ratio,
)
from sizebook.report.reported_files import evidence_files, read_reported
from sizebook.store import Project

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "data" / "reported"
FIRST = {"measurements": 2, "parameters": 2, "claims": 2}
"""Line of the first row: below the header."""

Damage = Callable[[list[list[str]]], None]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Give a project with a copy of the reported data that a test may damage."""
    shutil.copytree(DATA, tmp_path / "data" / "reported", copy_function=shutil.copyfile)
    (tmp_path / "data" / "reported").chmod(0o755)
    return Project(tmp_path)


def rewrite(project: Project, table: str, damage: Damage) -> None:
    """Write a table again after a change to its rows, the header included."""
    path = project.root / "data" / "reported" / f"{table}.csv"
    with path.open(newline="") as stream:
        rows = list(csv.reader(stream))
    damage(rows)
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows(rows)


def put(column: str, text: str, row: int = 1) -> Damage:
    """Give the damage that writes a text into one column of a row."""

    def damage(rows: list[list[str]]) -> None:
        rows[row][rows[0].index(column)] = text

    return damage


@pytest.mark.parametrize(
    ("table", "count", "kind"),
    [("measurements", 735, Measurement), ("parameters", 264, ReportedParameter),
     ("claims", 204, ReportedClaim)],
)  # fmt: skip
def test_every_row_of_the_data_is_a_record(table: str, count: int, kind: type) -> None:
    """All 735, 264 and 204 rows keep the schema; frame and records hold the same."""
    read = read_reported(table, Project(ROOT))
    assert len(read.rows) == read.frame.height == count
    assert all(isinstance(row, kind) for row in read.rows)
    assert set(read.frame.columns) == set(kind.model_fields)
    assert [row.model_dump() for row in read.rows] == read.frame.to_dicts()
    assert set(read.frame["source"]) == set(REPORTS)


def test_the_frame_holds_what_the_file_holds() -> None:
    """Nothing is changed on the way: empty is null, numbers are numbers, the rest is text."""
    for table in FIRST:
        plain = pl.read_csv(DATA / f"{table}.csv", infer_schema_length=0)
        numbers = [name for name in ("value", "reported_ratio") if name in plain.columns]
        assert reported(table, Project(ROOT)).equals(plain.with_columns(
            pl.col(name).cast(pl.Float64) for name in numbers))  # fmt: skip


def test_172_claims_may_hold_elsewhere() -> None:
    """90 yes, 82 partly, 32 no; one-sided claims are those whose relation needs no other side."""
    claims = reported_claims(Project(ROOT)).values()
    assert Counter(claim.transfer for claim in claims) == {"yes": 90, "partly": 82, "no": 32}
    assert {claim.relation for claim in claims if claim.right is None} == set(ONE_SIDED)


def test_a_file_is_checked_once_and_again_when_it_changed(project: Project) -> None:
    """The second reading gives the very same table; a changed file is read anew."""
    first = read_reported("claims", project)
    assert read_reported("claims", project) is first
    rewrite(project, "claims", lambda rows: rows.pop())
    again = read_reported("claims", project)
    assert len(again.rows) == len(first.rows) - 1
    assert again.file.sha256 != first.file.sha256


@pytest.mark.parametrize(
    ("table", "column", "text", "said"),
    [
        ("measurements", "source", "sap-2009", "'mii-2009', 'gateway-2012'"),
        ("measurements", "source_file", "../../etc/passwd", "a name such as 001_"),
        ("measurements", "locator", "", "empty"),
        ("measurements", "locator", " Table 1", "without spaces around it"),
        ("measurements", "scenario", "Sync Communication", "lower case with hyphens"),
        ("measurements", "treatment", "nodes=4;nodes=2", "each key once; 'nodes'"),
        ("measurements", "treatment", "nodes", "'nodes' is none"),
        ("measurements", "treatment", "nodes=4;", "'' is none"),
        ("measurements", "treatment", "Nodes=4", "'Nodes=4' is none"),
        ("measurements", "treatment", "", "empty"),
        ("measurements", "metric", "throughputPerS", "snake_case"),
        ("measurements", "statistic", "median", "'total', 'mean'"),
        ("measurements", "value", "1,108", "a finite number"),
        ("measurements", "value", "nan", "a finite number"),
        ("measurements", "value", "1e999", "a finite number"),
        ("measurements", "value", "", "valid number"),
        ("measurements", "unit", "kmsgs/s", "msgs/s, as the metric's name says"),
        ("measurements", "unit", "", "empty"),
        ("parameters", "component", "", "empty"),
        ("parameters", "parameter", "", "empty"),
        ("claims", "claim_id", "MII 1", "an id in lower case"),
        ("claims", "statement", "", "empty"),
        ("claims", "relation", "greater", "'gt', 'lt'"),
        ("claims", "reported_ratio", "0", "greater than 0"),
        ("claims", "reported_ratio", "two", "a finite number"),
        ("claims", "reported_ratio", "0.5", "a ratio that 'gt' allows, not 0.5"),
        ("claims", "right", "", "a right side, since the relation is 'gt'"),
        ("claims", "reported_basis", "", "empty"),
        ("claims", "transferable", "maybe: who knows", "'yes: ', 'partly: ' or 'no: '"),
        ("claims", "transferable", "yes", "and why"),
    ],
)
def test_damage_is_told_with_row_and_column(
    project: Project, table: str, column: str, text: str, said: str
) -> None:
    """One bad field: the file, row, line and column are named, and what would be right."""
    rewrite(project, table, put(column, text))
    with pytest.raises(UserError) as refused:
        read_reported(table, project)
    message = str(refused.value)
    assert f"data/reported/{table}.csv: row 1 (line 2)" in message
    assert column in message or "relation and sides" in message
    assert said in message
    assert "next: mend the rows" in message


def test_rows_are_counted_where_fields_hold_line_breaks(project: Project) -> None:
    """The line is that of an editor, the row that of the table."""

    def damage(rows: list[list[str]]) -> None:
        put("note", "two\nlines", row=1)(rows)
        put("statistic", "median", row=3)(rows)

    rewrite(project, "measurements", damage)
    with pytest.raises(UserError, match=r"row 3 \(line 5\), column statistic 'median'"):
        read_reported("measurements", project)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda rows: rows[0].__setitem__(4, "treatments"), "columns source, source_file"),
        (lambda rows: [row.append("") for row in rows], "columns source, source_file"),
        (lambda rows: [row.pop() for row in rows], "columns source, source_file"),
        (lambda rows: rows[7].pop(), r"row 7 \(line 8\) with 9 fields"),
        (lambda rows: rows[7].append("more"), r"row 7 \(line 8\) with 11 fields"),
        (lambda rows: rows.append(list(rows[1])), r"row 1, a repeated .*row 736, a repeated"),
        (lambda rows: rows.append([]), r"row 736 \(line 737\) with 0 fields"),
        (lambda rows: rows.__delitem__(slice(1, None)), "no row; expected rows below the header"),
        (put("source_file", "009_0123456789abcdef.txt", row=5), "row 5, column source_file"),
    ],
    ids=["renamed", "added", "left-out", "short", "long", "repeated", "empty", "none", "file"],
)
def test_a_damaged_table_is_refused(project: Project, damage: Damage, said: str) -> None:
    """Columns, field counts, repeated rows, and a source that changes its file."""
    rewrite(project, "measurements", damage)
    with pytest.raises(UserError, match=said):
        read_reported("measurements", project)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "no columns"),
        (b"\xff\xfe", "byte 0 is no UTF-8"),
        (b'source,"source_file\n', "no CSV"),
    ],
)
def test_what_is_no_table_is_refused(project: Project, content: bytes, said: str) -> None:
    """An empty file, another encoding, an open quote."""
    (project.root / "data" / "reported" / "claims.csv").write_bytes(content)
    with pytest.raises(UserError, match=said):
        read_reported("claims", project)


def test_a_missing_file_and_an_unknown_table_are_told(project: Project) -> None:
    """Both messages say what would be there."""
    (project.root / "data" / "reported" / "claims.csv").unlink()
    with pytest.raises(UserError, match=r"claims.csv: cannot be read"):
        read_reported("claims", project)
    with pytest.raises(UsageError, match="one of measurements, parameters, claims"):
        reported("results", project)


def test_many_problems_are_told_in_a_line(project: Project) -> None:
    """The first three by name, the others by number."""

    def damage(rows: list[list[str]]) -> None:
        for row in range(1, 11):
            put("statistic", "median", row)(rows)

    rewrite(project, "measurements", damage)
    with pytest.raises(UserError, match=r"row 3 .*; and 7 more; expected") as refused:
        read_reported("measurements", project)
    assert "row 4 " not in str(refused.value)


@pytest.mark.parametrize(
    ("metric", "unit"),
    [
        ("total_time_s", "s"), ("runtime_us", "us"), ("used_heap_mb", "MB"),
        ("throughput_mb_per_s", "MB/s"), ("request_rate_per_s", "*/s"), ("hits_per_h", "*/h"),
        ("users_per_cpu", "users/CPU"), ("initial_heap_mb_per_user", "MB/user"),
        ("http_threads_percent_of_users", "%"), ("cpu_ratio", "ratio"), ("cpus", None),
        ("users_per_security_server", None), ("s", "s"),
    ],
)  # fmt: skip
def test_names_say_units(metric: str, unit: str | None) -> None:
    """The ending of a metric's name is its unit, where it is one."""
    assert unit == expected_unit(metric)


def test_treatments_are_taken_apart_in_order() -> None:
    """Conditions by key; an empty treatment is none."""
    assert parse_treatment("nodes=4;heap_gb=4") == {"nodes": "4", "heap_gb": "4"}
    with pytest.raises(ValueError, match="'' is none"):
        parse_treatment("")


def test_values_are_found_by_part_and_scenario() -> None:
    """Parts may stand in any order; another scenario has other values."""
    project = Project(ROOT)
    parts = "connector=jco;platform=mii-12.1"
    found = find_reported("mii-2009", "throughput_msgs_per_s", parts, project)
    assert found["value"].to_list() == [60.8, 66.3, 67.1]
    all_rates = find_reported("mii-2009", "throughput_msgs_per_s", project=project)
    queue = find_reported("mii-2009", "throughput_msgs_per_s", project=project,
                          scenario="async-messaging")  # fmt: skip
    assert (all_rates.height, queue["value"].to_list()) == (20, [10.0, 25.0])


def test_a_claim_gives_its_ratio_and_an_unknown_one_its_neighbours() -> None:
    """A printed ratio, none, and an id with a typing error."""
    project = Project(ROOT)
    assert reported_ratio("gw-size-1", project) == 3.026
    assert reported_ratio("gw-payload-1", project) is None
    assert reported_claim("mii-nodes-1", project).relation == "decreases"
    with pytest.raises(UsageError, match="gw-size-1"):
        reported_claim("gw-siz-1", project)


def test_evidence_names_files_with_their_checksums() -> None:
    """The record lists them only where there are some; a result's own come before the page's."""
    files = evidence_files("claims", project=Project(ROOT))
    sha256 = hashlib.sha256((DATA / "claims.csv").read_bytes()).hexdigest()
    assert files == (EvidenceFile("data/reported/claims.csv", sha256),)
    evidence = make_evidence("reported", {}, (), "sizebook run reported")
    assert "files" not in evidence.as_record("0" * 64)
    record = evidence.with_files(files).as_record("0" * 64)
    assert record["files"] == [{"file": "data/reported/claims.csv", "sha256": sha256}]
    other = EvidenceFile("data/reported/other.csv", "a" * 64)
    assert evidence.with_files(files).as_record("0" * 64, files=[other])["files"] == [
        {"file": "data/reported/other.csv", "sha256": "a" * 64}
    ]
    with pytest.raises(ValueError, match="no SHA-256"):
        EvidenceFile("x", "abc")


def test_claims_as_a_frame() -> None:
    """One row a claim in the order asked for, with the fields that a page shows of it."""
    frame = claims_frame(["wps-pools-1", "mii-tuning-1"], id="claim_id", report="source")
    assert frame.rows() == [("wps-pools-1", "wps-2011"), ("mii-tuning-1", "mii-2009")]
    assert claims_frame([], id="claim_id").schema == {"id": pl.String}
    with pytest.raises(UsageError):
        claims_frame(["wps-pools-x"], id="claim_id")
