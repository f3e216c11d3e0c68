"""Archives of bundles: packed and unpacked the same, and nothing else ever gets out of one."""

from __future__ import annotations

import hashlib
import io
import json
import os
import stat
import struct
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from synthetic_bundles import MakeBundle
from tampered import put_file, set_field

from sizebook.model.errors import BundleError, UsageError
from sizebook.store import Bundle, open_bundle
from sizebook.store import received as module
from sizebook.store.bundles import verify_bundle
from sizebook.store.left_out import LEFT_OUT, write_left_out
from sizebook.store.received import pack_bundle, unpack_bundles

Entries = dict[str, bytes]


@pytest.fixture
def bundle(make_bundle: MakeBundle) -> Bundle:
    """Give a good bundle with a log."""
    made = make_bundle()
    put_file(made.path, "logs/app-1.log", b"started\n" * 500)
    return open_bundle(made.path)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Give a folder of its own to unpack in; nothing beside it may ever change."""
    (tmp_path / "place").mkdir()
    return tmp_path / "place" / "into"


def entries_of(bundle: Bundle, root: str = "b-1") -> Entries:
    """Return a bundle's files by their names in an archive."""
    return {
        f"{root}/{path.relative_to(bundle.path).as_posix()}": path.read_bytes()
        for path in sorted(bundle.path.rglob("*"))
        if path.is_file()
    }


def write_zip(path: Path, entries: Sequence[tuple[str | zipfile.ZipInfo, bytes]]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries:
            archive.writestr(name, data)
    return path


def refuse(archive: Path, place: Path, message: str) -> None:
    """Expect an archive to be refused, with nothing left below the folder around ``place``."""
    outside = place.parent.parent
    before = sorted(path for path in outside.rglob("*") if place not in path.parents)
    with pytest.raises(BundleError, match=message) as caught:
        unpack_bundles(archive, place)
    assert caught.value.next_step and "\n" not in str(caught.value)
    after = sorted(path for path in outside.rglob("*") if place not in path.parents)
    assert [path for path in after if path != place] == [path for path in before if path != place]
    assert not place.exists() or list(place.iterdir()) == []


def test_what_is_packed_is_unpacked(bundle: Bundle, place: Path, tmp_path: Path) -> None:
    """The same record, checksum and tables; plain files that nobody may run."""
    (bundle.path / "requests.parquet").chmod(0o755)
    size = pack_bundle(bundle, tmp_path / "new" / "b.zip")
    assert size == (tmp_path / "new" / "b.zip").stat().st_size
    (folder,) = unpack_bundles(tmp_path / "new" / "b.zip", place)
    assert folder == place / bundle.id
    found = open_bundle(folder)
    verify_bundle(found)
    assert (found.record, found.sha256, found.left_out) == (bundle.record, bundle.sha256, ())
    assert found.requests.equals(bundle.requests)
    files = [path for path in place.rglob("*") if path.is_file()]
    assert not any(path.stat().st_mode & 0o111 for path in files)
    assert len(files) == len(bundle.record.files) + 1


def test_the_same_bundle_gives_the_same_archive(bundle: Bundle, tmp_path: Path) -> None:
    """Neither times nor modes nor the order of folders are in it; tables are stored as they are."""
    pack_bundle(bundle, tmp_path / "1.zip")
    for path in bundle.path.rglob("*"):
        os.utime(path, (1e9, 1e9))
        path.chmod(0o700)
    pack_bundle(bundle, tmp_path / "2.zip")
    assert (tmp_path / "1.zip").read_bytes() == (tmp_path / "2.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "1.zip") as archive:
        kinds = {each.filename: each.compress_type for each in archive.infolist()}
    assert kinds[f"{bundle.id}/requests.parquet"] == zipfile.ZIP_STORED
    assert kinds[f"{bundle.id}/trial.json"] == zipfile.ZIP_DEFLATED
    assert list(kinds) == sorted(kinds)


def test_a_slim_archive_opens_and_packs_again(bundle: Bundle, place: Path, tmp_path: Path) -> None:
    """Requests and logs left out: the cited checksum stays, the rest is verified as ever."""
    whole = pack_bundle(bundle, tmp_path / "whole.zip")
    slim = pack_bundle(bundle, tmp_path / "slim.zip", ["requests.parquet", "logs/app-1.log", "gc/"])
    assert slim < whole
    (folder,) = unpack_bundles(tmp_path / "slim.zip", place)
    found = open_bundle(folder)
    verify_bundle(found)
    assert found.sha256 == bundle.sha256
    assert found.left_out == ("logs/app-1.log", "requests.parquet")
    pack_bundle(found, tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == (tmp_path / "slim.zip").read_bytes()


def test_what_no_bundle_can_do_without_stays(bundle: Bundle, tmp_path: Path) -> None:
    """A wrong name is a usage error, a damaged file is never handed on; nothing is left."""
    with pytest.raises(UsageError, match=r"counters\.parquet"):
        pack_bundle(bundle, tmp_path / "x" / "b.zip", ["counters.parquet"])
    size = bundle.record.files["logs/app-1.log"].bytes
    (bundle.path / "logs" / "app-1.log").write_bytes(b"x" * size)
    with pytest.raises(BundleError, match="checksum"):
        pack_bundle(bundle, tmp_path / "x" / "b.zip")
    assert list((tmp_path / "x").iterdir()) == []


def test_several_bundles_at_any_depth(
    bundle: Bundle, make_bundle: MakeBundle, place: Path, tmp_path: Path
) -> None:
    """A folder of runs zipped by hand unpacks to its bundles, folder entries and all."""
    entries = {**entries_of(bundle, "runs/alpha/b-2"), **entries_of(make_bundle(), "runs/b-1")}
    listed = [("runs/", b""), ("runs/alpha/", b""), *entries.items()]
    found = unpack_bundles(write_zip(tmp_path / "a.zip", listed), place)
    assert found == [place / "b-2", place / "b-1"]
    assert sorted(path.name for path in place.iterdir()) == ["b-1", "b-2"]


def named(name: str) -> Callable[[Bundle], list[tuple[str | zipfile.ZipInfo, bytes]]]:
    """Return what adds an entry of this name to a good archive."""
    return lambda bundle: [*entries_of(bundle).items(), (raw_entry(name), b"x")]


def raw_entry(name: str, mode: int = 0) -> zipfile.ZipInfo:
    """Return an entry whose name ``zipfile`` has not made harmless."""
    entry = zipfile.ZipInfo("x")
    entry.filename = name
    entry.create_system = 3
    entry.external_attr = mode << 16
    return entry


@pytest.mark.parametrize(
    "name",
    [
        "../evil.json",
        "b-1/../../evil.json",
        "/tmp/evil.json",
        "//evil.json",
        "b-1/./evil.json",
        "b-1//evil.json",
        "b-1\\..\\..\\evil.json",
        "C:/evil.json",
        "..",
        ".partial-1-a/evil.json",
        "b-1/.hidden.json",
        "b-1/evil\n.json",
        "b-1/\x1b[2J.json",
        "b-1/\u202enosj.json",
        "b-1/" + "a/" * 20 + "evil.json",
        "b-1/" + "a" * 300 + ".json",
        "",
    ],
)
def test_names_that_lead_elsewhere(bundle: Bundle, place: Path, tmp_path: Path, name: str) -> None:
    """Up, absolute, with drives and backslashes, hidden, steering, endless: refused unread."""
    refuse(write_zip(tmp_path / "a.zip", named(name)(bundle)), place, "the name|unpacked")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("b-1/evil.py", r"evil\.py, which no trial\.json names"),
        ("b-1/inner.zip", r"inner\.zip, which no trial\.json names"),
        ("README.json", r"README\.json, which no trial\.json names"),
        ("other/counters.parquet", "which no trial.json names"),
        ("b-1/TRIAL.JSON", "two files with the name"),
        ("B-1/trial.json", "two files with the name"),
        ("b-1/trial.json", "two files with the name"),
        ("b-1/logs/App-1.log", "two files with the name"),
        ("deep/B-1/trial.json", "two bundles with the name|invalid JSON"),
        ("trial.json", r"no folder with a trial\.json"),
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_entries_that_are_no_part_of_a_bundle(
    bundle: Bundle, place: Path, tmp_path: Path, name: str, message: str
) -> None:
    """Unknown files, archives in archives, one name twice: the whole archive is refused."""
    refuse(write_zip(tmp_path / "a.zip", named(name)(bundle)), place, message)


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFDIR])
def test_links_and_devices(bundle: Bundle, place: Path, tmp_path: Path, kind: int) -> None:
    """An entry that says it is anything but a plain file is refused, whatever it is named."""
    entries = entries_of(bundle)
    entries.pop("b-1/logs/app-1.log")
    link = (raw_entry("b-1/logs/app-1.log", kind | 0o777), b"/etc/passwd")
    archive = write_zip(tmp_path / "a.zip", [*entries.items(), link])
    refuse(archive, place, "no plain file")


def flip(data: bytearray, signature: bytes, offset: int, value: int) -> None:
    """Set 16 bits in every header with this signature."""
    at = data.find(signature)
    while at >= 0:
        struct.pack_into("<H", data, at + offset, value)
        at = data.find(signature, at + 4)


@pytest.mark.parametrize(
    ("local", "central", "value", "message"),
    [(6, 8, 1, "encrypted"), (8, 10, 14, "method 14"), (8, 10, 99, "method 99")],
)
def test_encrypted_and_unusual_entries(
    bundle: Bundle, place: Path, tmp_path: Path, local: int, central: int, value: int, message: str
) -> None:
    """Nothing is asked for a password; only the two common ways of packing are unpacked."""
    archive = write_zip(tmp_path / "a.zip", list(entries_of(bundle).items()))
    data = bytearray(archive.read_bytes())
    flip(data, b"PK\3\4", local, value)
    flip(data, b"PK\1\2", central, value)
    archive.write_bytes(data)
    refuse(archive, place, message)


def test_more_bytes_than_stated(bundle: Bundle, place: Path, tmp_path: Path) -> None:
    """A file is unpacked up to the size that ``trial.json`` states, whatever the headers say."""
    entries = entries_of(bundle)
    entries["b-1/logs/app-1.log"] = b"\0" * 30_000_000
    refuse(write_zip(tmp_path / "a.zip", list(entries.items())), place, "more than the recorded")
    entries["b-1/logs/app-1.log"] = b"started\n"
    refuse(write_zip(tmp_path / "a.zip", list(entries.items())), place, "checksum")
    entries["b-1/logs/app-1.log"] = b"STARTED\n" * 500
    refuse(write_zip(tmp_path / "a.zip", list(entries.items())), place, "checksum")


def test_a_record_that_unpacks_to_gigabytes(bundle: Bundle, place: Path, tmp_path: Path) -> None:
    """The first file that is read is bounded, too."""
    for name in ("trial.json", LEFT_OUT):
        entries = entries_of(bundle)
        entries[f"b-1/{name}"] = b" " * 100_000_000
        refuse(write_zip(tmp_path / "a.zip", list(entries.items())), place, f"{name} of more than")


def test_too_much_for_its_size(
    bundle: Bundle, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bytes, ratio and entries are bounded; what is stated is added up before it is unpacked."""
    data = b"\0" * 2**20
    put_file(bundle.path, "logs/app-1.log", data)
    archive = write_zip(tmp_path / "a.zip", list(entries_of(bundle).items()))
    monkeypatch.setattr(module, "FREE_BYTES", 0)
    monkeypatch.setattr(module, "MOST_RATIO", 5)
    refuse(archive, place, "bundles of [0-9]+ bytes, where")
    monkeypatch.undo()
    monkeypatch.setattr(module, "MOST_UNPACKED_BYTES", 2**20)
    refuse(archive, place, "where 1048576 are the most")
    monkeypatch.undo()
    monkeypatch.setattr(module, "MOST_ENTRIES", 3)
    refuse(archive, place, "4 entries, where 3 are the most")
    monkeypatch.undo()
    set_field(bundle.path, "files", {"x.log": {"sha256": "0" * 64, "bytes": 2**40}})
    entries = {"b-1/trial.json": (bundle.path / "trial.json").read_bytes(), "b-1/x.log": b"x"}
    refuse(write_zip(tmp_path / "a.zip", list(entries.items())), place, "too long to read")


def test_a_list_of_contents_that_fills_the_memory(
    bundle: Bundle, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is refused before ``zipfile`` reads it, which would read all that it claims to be."""
    archive = pack_to(tmp_path / "a.zip", bundle)
    monkeypatch.setattr(module, "_MOST_AT_ONCE", 200)
    refuse(archive, place, "a list of contents of more than 200 bytes")


def pack_to(path: Path, bundle: Bundle) -> Path:
    pack_bundle(bundle, path)
    return path


def test_overlapping_entries(bundle: Bundle, place: Path, tmp_path: Path) -> None:
    """Entries that share their bytes, as the best zip bombs do, are no two files of a bundle."""
    archive = write_zip(tmp_path / "a.zip", list(entries_of(bundle).items()))
    data = bytearray(archive.read_bytes())
    first = data.find(b"PK\1\2")
    second = data.find(b"PK\1\2", first + 4)
    data[second + 42 : second + 46] = data[first + 42 : first + 46]
    archive.write_bytes(data)
    refuse(archive, place, "cannot be unpacked")


@pytest.mark.parametrize("data", [b"", b"PK\5\6", b"PK\5\6" + b"\xff" * 18, b"no archive" * 100])
def test_what_is_no_archive(place: Path, tmp_path: Path, data: bytes) -> None:
    """Empty files and broken ends are a message."""
    (tmp_path / "a.zip").write_bytes(data)
    refuse(tmp_path / "a.zip", place, "archive a.zip")


def test_an_empty_archive_a_pipe_and_nothing(place: Path, tmp_path: Path) -> None:
    """No bundle in it, no file, or none that ends."""
    refuse(write_zip(tmp_path / "a.zip", []), place, "no folder with a trial.json")
    refuse(tmp_path / "absent.zip", place, "No such file")
    os.mkfifo(tmp_path / "pipe.zip")
    refuse(tmp_path / "pipe.zip", place, "not a plain file")


def test_every_cut_and_many_flips(bundle: Bundle, place: Path, tmp_path: Path) -> None:
    """A damaged archive is unpacked rightly or refused; it never leaves anything."""
    good = pack_to(tmp_path / "good.zip", bundle).read_bytes()
    archive = tmp_path / "a.zip"
    for number in range(60):
        data = bytearray(good[: len(good) * number // 60])
        archive.write_bytes(data)
        refuse(archive, place, "archive a.zip|bundle")
    tail = good.find(b"PK\1\2")
    for at in range(tail, len(good), 7):
        data = bytearray(good)
        data[at] ^= 0xFF
        archive.write_bytes(data)
        try:
            (folder,) = unpack_checked(archive, place)
        except BundleError:
            assert not place.exists() or list(place.iterdir()) == []
        else:
            verify_bundle(open_bundle(folder))
            for path in sorted(folder.rglob("*"), reverse=True):
                path.unlink() if path.is_file() else path.rmdir()
            folder.rmdir()


def unpack_checked(archive: Path, place: Path) -> list[Path]:
    """Unpack without the taster, which takes a second each time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "taste_bundles", lambda folders: None)
        return unpack_bundles(archive, place)


def test_bundles_that_the_reader_refuses(bundle: Bundle, place: Path, tmp_path: Path) -> None:
    """Unknown versions, missing files, bad tables: the same messages as for a folder."""
    entries = entries_of(bundle)
    archive = tmp_path / "a.zip"
    for change, message in (
        ({"b-1/trial.json": b"[" * 10_000}, "nested too deeply"),
        ({"b-1/trial.json": b'{"version":9}'}, "version 9"),
        ({f"b-1/{LEFT_OUT}": write_left_out(["counters.parquet"])}, "without counters"),
        ({f"b-1/{LEFT_OUT}": write_left_out(["requests.parquet"])}, "no trial.json names"),
    ):
        refuse(write_zip(archive, list((entries | change).items())), place, message)
    without = {name: data for name, data in entries.items() if "counters" not in name}
    refuse(write_zip(archive, list(without.items())), place, r"without counters\.parquet")
    put_file(bundle.path, "requests.parquet", b"PAR1 no table PAR1")
    refuse(write_zip(archive, list(entries_of(bundle).items())), place, "cannot be read")


def test_what_is_there_is_not_replaced(bundle: Bundle, place: Path, tmp_path: Path) -> None:
    """A bundle of that name stays as it was, and no other of the archive is added."""
    archive = pack_to(tmp_path / "a.zip", bundle)
    entries = {**entries_of(bundle, "a-0"), **entries_of(bundle, bundle.id)}
    two = write_zip(tmp_path / "two.zip", list(entries.items()))
    (folder,) = unpack_bundles(archive, place)
    digest = hashlib.sha256((folder / "trial.json").read_bytes()).hexdigest()
    with pytest.raises(BundleError, match="which is there already"):
        unpack_bundles(two, place)
    assert [path.name for path in place.iterdir()] == [bundle.id]
    assert digest == hashlib.sha256((folder / "trial.json").read_bytes()).hexdigest()
    (place / "linked").mkdir()
    (place / "linked" / bundle.id).symlink_to(tmp_path)
    with pytest.raises(BundleError, match="which is there already"):
        unpack_bundles(archive, place / "linked")


def test_a_folder_that_cannot_be_made(bundle: Bundle, tmp_path: Path) -> None:
    """A file in the way is a message, too."""
    (tmp_path / "file").touch()
    with pytest.raises(BundleError, match="cannot be stored"):
        unpack_bundles(pack_to(tmp_path / "a.zip", bundle), tmp_path / "file" / "into")


def test_a_name_that_zipfile_would_shorten(bundle: Bundle, place: Path, tmp_path: Path) -> None:
    """A NUL ends a name for ``zipfile``; what follows it is looked at all the same."""
    entries = entries_of(bundle)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in entries.items():
            archive.writestr(name.replace("app-1.log", "app-1.log@evil"), data)
    (tmp_path / "a.zip").write_bytes(buffer.getvalue().replace(b".log@evil", b".log\0evil"))
    assert json.loads(entries["b-1/trial.json"])
    refuse(tmp_path / "a.zip", place, "the name")
