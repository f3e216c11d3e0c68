"""Bundles that somebody prepared to lead a reader astray are refused with a message."""

from __future__ import annotations

import hashlib
import json
import os
import socket
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from synthetic_bundles import BEGIN, END, MEASURED, MakeBundle
from tampered import change_record, put_file, set_field

from sizebook.model.bundle import FileRecord
from sizebook.model.errors import BundleError
from sizebook.store import Bundle, find_bundles, open_bundle
from sizebook.store.bundles import verify_bundle, verify_file
from sizebook.store.counter_file import write_counters
from sizebook.store.left_out import LEFT_OUT, write_left_out
from sizebook.store.record_file import MOST_RECORD_BYTES, parse_record

ANY_FILE = json.dumps({"sha256": "0" * 64, "bytes": 1})
DAY = 24 * 3600 * 10**9


@pytest.fixture
def folder(make_bundle: MakeBundle) -> Path:
    """Give the folder of a good bundle, to be spoilt."""
    return make_bundle().path


def refuse(folder: Path, message: str) -> BundleError:
    with pytest.raises(BundleError, match=message) as caught:
        verify_bundle(open_bundle(folder))
    assert all((caught.value.found, caught.value.expected, caught.value.next_step))
    assert "\n" not in str(caught.value)
    return caught.value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "invalid JSON"),
        ("null", "model_?type|valid dictionary|an object"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ('{"trial":' + "[" * 500 + "]" * 500 + "}", "recursion limit"),
        ('{"format":"sizebook-bundle","format":"sizebook-bundle"}', "'format' twice"),
        ('{"version":NaN}', "NaN, which is no JSON"),
        ('{"version":-Infinity}', "-Infinity, which is no JSON"),
        ('{"version":1e999}', "beyond what a double holds"),
        ('{"version":9223372036854775808}', "beyond 64 bits"),
        ('{"version":' + "9" * 5000 + "}", "beyond 64 bits"),
        ('{"version":2,"added in version 2":1}', "version 2"),
        ('{"version":true}', "version True"),
        ('{"version":"1"}', "version 1"),
        ('{"format":"zip"}', "format 'zip'"),
        ('{"format":"\\ud800"}', r"\\ud800|surrogate|hex escape"),
        ('{"failure":"\\ud800"}', "hex escape|surrogate"),
    ],
)
def test_json_that_is_no_record(text: str, message: str) -> None:
    """Empty, deep, ambiguous, beyond 64 bits, of another version: one line each, no traceback."""
    with pytest.raises(BundleError, match=message) as caught:
        parse_record(text.encode(), "b")
    str(caught.value).encode()


def test_a_later_version_names_the_one_that_is_read(folder: Path) -> None:
    """Unknown fields of a later version do not hide that it is one."""
    change_record(folder, lambda record: record.update(version=7, colour="red"))
    error = refuse(folder, "version 7")
    assert error.expected == "'sizebook-bundle' of version 1, which this release reads"


def test_a_huge_record_is_not_read(folder: Path) -> None:
    """Its size is looked at while it is read: a file that grows is not trusted either."""
    with (folder / "trial.json").open("ab") as record:
        record.truncate(200 * MOST_RECORD_BYTES)
    refuse(folder, f"more than {MOST_RECORD_BYTES} bytes")


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("trial.replicate", -1),
        ("trial.replicate", "0"),
        ("trial.treatment", [1]),
        ("trial.treatment", {"users": {"nested": 1}}),
        ("trial.treatment", {"users": None}),
        ("trial.load.arrivals.users", 1.5),
        ("trial.load.arrivals", {"kind": "pickle"}),
        ("trial.profile", "production"),
        ("execution.monotonic_ns", -1),
        ("execution.wall_ns", 2**63 - 1),
        ("execution.position", True),
        ("execution.phases.0.begin_ns", -1),
        ("execution.phases.0.begin_ns", 2**62 + 1),
        ("execution.phases.0.name", "<b>"),
        ("execution.commands", [{"name": "a", "command": "rm -rf /", "exit_code": 0}]),
        ("generator.issued", -5),
        ("generator.issued", 2**53 + 1),
        ("generator.cpu_s", -0.1),
        ("generator.lag_max_ms", "1"),
        ("machine.logical_cpus", -2),
        ("outcome", "excellent"),
        ("files", []),
        ("versions", {"python": 3}),
    ],
)
def test_wrong_types_and_ranges(folder: Path, place: str, value: Any) -> None:
    """A value of another type, or where no trial can have one, is named by its place."""
    set_field(folder, place, value)
    refuse(folder, place.partition(".")[0])


@pytest.mark.parametrize(
    ("phases", "message"),
    [
        ([("measured", MEASURED, END), ("warm-up", BEGIN, MEASURED)], "follow each other"),
        ([("measured", BEGIN, END), ("measured", END, END + 1)], "follow each other"),
        ([("measured", END, BEGIN)], "'measured' ends before it begins"),
        ([("measured", BEGIN, BEGIN)], "the measured one has no length"),
        ([("warm-up", BEGIN, END), ("measured", MEASURED, END)], "begins before 'warm-up' ends"),
        ([("measured", 0, 8 * DAY)], "more than 604800 s"),
    ],
)
def test_phases_that_no_trial_ran(
    folder: Path, phases: list[tuple[str, int, int]], message: str
) -> None:
    """Out of order, twice, backwards, overlapping, or longer than windows fit into memory."""
    marks = [{"name": n, "begin_ns": begin, "end_ns": end} for n, begin, end in phases]
    set_field(folder, "execution.phases", marks)
    refuse(folder, message)


@pytest.mark.parametrize(
    "name",
    [
        "../x.json",
        "logs/../../x.log",
        "/etc/hostname",
        "..",
        "logs\\..\\x.log",
        "C:\\x.log",
        "C:x.log",
        "~/x.log",
        ".bashrc",
        "logs/.profile.log",
        "logs//x.log",
        "./x.log",
        "x.log\0.json",
        "x\n.log",
        "a/b/c/d.log",
        "x.zip",
        "x.py",
        "x.pickle",
        "x.html",
        "<script>.log",
        "x" * 200 + ".log",
        "",
        "trial.json",
        LEFT_OUT,
        "\u202egol.log",
    ],
)
def test_names_that_are_none_of_a_bundle(folder: Path, name: str) -> None:
    """Whatever leads elsewhere, hides, or is no kind of file that the format has."""
    told = {"sha256": "0" * 64, "bytes": 1}
    change_record(folder, lambda record: record["files"].__setitem__(name, told))
    refuse(folder, "file name")


def test_too_many_files_and_names_that_differ_in_case(folder: Path) -> None:
    """What a file system without case would take for one file is one."""
    told = {"sha256": "0" * 64, "bytes": 1}
    change_record(folder, lambda r: r["files"].update({"logs/A.log": told, "logs/a.log": told}))
    refuse(folder, "upper and lower case")
    change_record(folder, lambda r: r["files"].update({f"logs/{n}.log": told for n in range(1001)}))
    refuse(folder, "at most 1000")


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ({"sha256": "0" * 63, "bytes": 1}, "sha256"),
        ({"sha256": "G" * 64, "bytes": 1}, "sha256"),
        ({"sha256": "0" * 64, "bytes": -1}, "bytes"),
        ({"sha256": "0" * 64, "bytes": 2**40}, "too long to read"),
        ({"sha256": "0" * 64, "bytes": 7}, "not 7"),
        ({"sha256": "0" * 64}, "bytes"),
    ],
)
def test_sizes_and_checksums_that_lie(folder: Path, file: dict[str, Any], message: str) -> None:
    """They are compared before a byte of the file is read."""
    change_record(folder, lambda record: record["files"].__setitem__("counters.parquet", file))
    refuse(folder, message)


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # the address of a socket is short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


def make_link(path: Path) -> None:
    other = path.with_name("elsewhere")
    path.rename(other) if path.exists() else other.touch()
    path.symlink_to(other)


def make_folder(path: Path) -> None:
    path.mkdir()


def link_to_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("make", [make_pipe, make_socket, make_link, make_folder, link_to_device])
@pytest.mark.parametrize("name", ["trial.json", "counters.parquet", "requests.parquet", LEFT_OUT])
def test_what_is_no_plain_file_is_not_opened(folder: Path, name: str, make: Any) -> None:
    """A named pipe does not hang the reader, a link and a device lead nowhere."""
    if make is not make_link:
        (folder / name).unlink(missing_ok=True)
    make(folder / name)
    refuse(folder, f"no (file|readable) {name}")


def test_a_pipe_that_replaces_a_file_later_is_refused(folder: Path) -> None:
    """Between opening the bundle and reading the file, too."""
    bundle = open_bundle(folder)
    (folder / "counters.parquet").unlink()
    os.mkfifo(folder / "counters.parquet")
    with pytest.raises(BundleError, match="no readable counters"):
        verify_file(bundle, "counters.parquet")
    with pytest.raises(BundleError, match="no readable counters"):
        _ = bundle.counters


def test_a_linked_folder_inside_leads_nowhere(folder: Path, tmp_path: Path) -> None:
    """The last part of a name being a plain file is not enough."""
    put_file(folder, "logs/app-1.log", b"secret")
    (tmp_path / "outside").mkdir()
    (folder / "logs" / "app-1.log").rename(tmp_path / "outside" / "app-1.log")
    (folder / "logs").rmdir()
    (folder / "logs").symlink_to(tmp_path / "outside")
    refuse(folder, "no file logs/app-1.log")


def test_unnamed_files_are_not_looked_at(folder: Path) -> None:
    """What the record does not name is no part of the bundle, whatever it is."""
    (folder / "sitecustomize.py").write_text("raise SystemExit")
    os.mkfifo(folder / "pipe.log")
    verify_bundle(open_bundle(folder))


def test_folders_with_names_that_mean_something(make_bundle: MakeBundle) -> None:
    """Patterns and key=value are names like others: no file of another folder is read."""
    good, other = make_bundle(), make_bundle(counters={("host", "swap_in_bytes"): 7.0})
    for name in ("[ab]", "*", "a=b", "{a,b}", "s3:"):
        renamed = good.path.rename(good.path.with_name(name))
        bundle = open_bundle(renamed)
        assert bundle.requests.equals(other.requests)
        assert not bundle.counters.equals(other.counters)
        assert bundle.columns.height == bundle.requests.height
        renamed.rename(good.path)


def test_links_and_depth_do_not_keep_the_search_busy(folder: Path, tmp_path: Path) -> None:
    """A link to the folder above, thousands of levels, hidden folders: found is what is there."""
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "loop").symlink_to(tmp_path)
    here = Path.cwd()
    os.chdir(tmp_path)
    try:
        for _ in range(1500):
            Path("d").mkdir()
            os.chdir("d")
    finally:
        os.chdir(here)
    assert list(find_bundles(tmp_path)) == [folder]
    linked = tmp_path / "given"
    linked.symlink_to(folder)
    assert list(find_bundles(linked)) == [linked]
    os.chdir(tmp_path)
    try:
        while Path("d").exists():
            os.chdir("d")
        while Path.cwd() != tmp_path.resolve():
            os.chdir("..")
            Path("d").rmdir()
    finally:
        os.chdir(here)


def test_a_pipe_as_record_is_found_and_refused(folder: Path) -> None:
    """Such a folder is not passed over silently."""
    (folder / "trial.json").unlink()
    os.mkfifo(folder / "trial.json")
    assert list(find_bundles(folder.parent)) == [folder]
    refuse(folder, "not a plain file")


def test_a_bundle_may_come_without_its_requests(folder: Path) -> None:
    """``left-out.json`` says so; the checksum of ``trial.json`` stays, other files may not go."""
    whole = open_bundle(folder)
    put_file(folder, "logs/app-1.log", b"said")
    (folder / "requests.parquet").unlink()
    (folder / "logs" / "app-1.log").unlink()
    refuse(folder, "no file requests.parquet")
    names = ["requests.parquet", "logs/app-1.log"]
    (folder / LEFT_OUT).write_bytes(write_left_out(names))
    slim = open_bundle(folder)
    verify_bundle(slim)
    assert slim.left_out == ("logs/app-1.log", "requests.parquet")
    assert set(slim.record.files) == {"counters.parquet"}
    assert slim.record.generator == whole.record.generator
    with pytest.raises(BundleError, match=r"without requests\.parquet"):
        _ = slim.requests
    assert slim.counters.equals(whole.counters)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"files":["counters.parquet"]}', "without counters.parquet"),
        ('{"files":["../x"]}', "unknown to trial.json"),
        ('{"files":["requests.parquet"]}', "says is not there"),
        ('{"files":["requests.parquet"],"more":1}', "extra inputs"),
        ('{"files":[],"instead":{"counters.steps":' + ANY_FILE + "}}", "stands for no other file"),
        ('{"files":["requests.parquet"],"instead":{"x.json":' + ANY_FILE + "}}", "for no other"),
        ('{"version":2,"files":[]}', "version"),
        ("{", "json"),
        ("[" * 100_000, "nested too deeply"),
        ('{"files":[],"files":["requests.parquet"]}', "'files' twice"),
    ],
)
def test_what_may_not_be_left_out(folder: Path, text: str, message: str) -> None:
    """Counters, unknown names, and a file that is there nevertheless."""
    (folder / LEFT_OUT).write_text(text)
    refuse(folder, message)


def test_readings_may_come_in_another_form(folder: Path) -> None:
    """With their own checksum, and values and times that are looked at as ever."""
    whole = open_bundle(folder)
    counters = whole.counters
    put = _stand_in(folder, write_counters(counters))
    verify_bundle(put)
    assert put.has_counters
    assert put.left_out == ("counters.parquet",)
    assert set(put.record.files) == {"counters.steps", "requests.parquet"}
    assert put.counters.sort("metric", "time_ns").equals(counters.sort("metric", "time_ns"))
    (folder / "counters.steps").write_bytes(write_counters(counters).replace(b"1", b"2"))
    with pytest.raises(BundleError, match=r"counters\.steps whose checksum is not the recorded"):
        _ = open_bundle(folder).counters
    for rows, message in (
        (counters.with_columns(pl.col("time_ns") * 0 + 2**61), "time_ns from"),
        (counters.with_columns(metric=pl.lit("x" * 501, pl.Categorical)), "a word of 501"),
    ):
        odd = _stand_in(folder, write_counters(rows))
        with pytest.raises(BundleError, match=message):
            _ = odd.counters
    with pytest.raises(BundleError, match="no form that is known"):
        _ = _stand_in(folder, b"{}").counters


def _stand_in(folder: Path, data: bytes) -> Bundle:
    """Return the bundle with a ``counters.steps`` instead of its table."""
    (folder / "counters.parquet").unlink(missing_ok=True)
    (folder / "counters.steps").write_bytes(data)
    file = FileRecord(sha256=hashlib.sha256(data).hexdigest(), bytes=len(data))
    (folder / LEFT_OUT).write_bytes(write_left_out(["counters.parquet"], {"counters.steps": file}))
    return open_bundle(folder)


def test_what_an_error_says_steers_no_terminal(folder: Path) -> None:
    """Names and keys of a hostile record come as escapes, on one line."""
    change_record(folder, lambda r: r.__setitem__("\x1b[2J\u202ex\nverdict: valid", json.dumps({})))
    shown = str(refuse(folder, "extra inputs"))
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert r"\x1b[2J" in shown
