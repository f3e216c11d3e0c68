"""Bundles as one zip file: made to be handed on, and unpacked when somebody sent one.

An archive holds whole bundles, each in a folder with its name. What it claims is believed only as
far as each bundle's ``trial.json`` says the same: that names the files with sizes and checksums,
and nothing else is unpacked. Files are written below a hidden folder and moved to their place when
all of them have been found good.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import re
import secrets
import shutil
import stat
import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from sizebook.model.bundle import BundleRecord
from sizebook.model.errors import BundleError, UsageError
from sizebook.store.bundles import MOST_BYTES, PARTIAL, Bundle, open_bundle
from sizebook.store.digest import MOST_BYTES as MOST_DIGEST_BYTES
from sizebook.store.digest import is_digest, list_digests
from sizebook.store.left_out import LEFT_OUT, can_be_left_out, parse_left_out, write_left_out
from sizebook.store.plain_files import open_plain, read_plain
from sizebook.store.record_file import MOST_RECORD_BYTES, RECORD, parse_record
from sizebook.store.sandboxed_read import taste_bundles

MOST_ENTRIES = 20_000
"""Files in one archive."""
MOST_UNPACKED_BYTES = 16 * 2**30
MOST_RATIO = 200
"""Bytes unpacked for each byte of an archive, beside ``FREE_BYTES``. Own bundles: below 10."""
FREE_BYTES = 64 * 2**20
_MOST_AT_ONCE = 8 * 2**20
_CHUNK = 2**20
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,119}")
_MOST_PARTS = 8
_ENCRYPTED = 0x1
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_EPOCH = (1980, 1, 1, 0, 0, 0)
_STORED = (".parquet",)
"""Compressed already."""

_BROKEN = (
    zipfile.BadZipFile,
    NotImplementedError,
    EOFError,
    ValueError,
    OverflowError,
    RuntimeError,
    zlib.error,
)
"""What ``zipfile`` may raise for a damaged archive."""


def pack_bundle(bundle: Bundle, target: Path, leave_out: Collection[str] = ()) -> int:
    """Write a bundle as a zip file; return its bytes. The same bundle gives the same file.

    ``leave_out`` names files that stay away: ``requests.parquet`` and logs. ``trial.json`` stays as
    it is, with the checksum that evidence cites; ``left-out.json`` says what is not there.

    Raises BundleError if a file's checksum is not the recorded one, UsageError for a name that
    cannot be left out.
    """
    for name in leave_out:
        if not can_be_left_out(name):
            raise UsageError(
                found=f"{name!r} to be left out of a bundle",
                expected="requests.parquet, schedule.parquet, or logs in gc/ or logs/",
                next_step="leave out less",
            )
    kept = {name: file for name, file in bundle.record.files.items() if name not in leave_out}
    absent = {*bundle.left_out, *(name for name in leave_out if name in bundle.record.files)}
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f"{PARTIAL}{os.getpid()}-{secrets.token_hex(4)}")
    try:
        with zipfile.ZipFile(partial, "x") as archive:
            for name in sorted([RECORD, *kept]):
                sha256 = bundle.sha256 if name == RECORD else kept[name].sha256
                _pack_file(archive, bundle, name, sha256)
            if absent:
                said = write_left_out(absent, bundle.instead)
                archive.writestr(_entry(bundle, LEFT_OUT), said)
            for name in list_digests(bundle.path):
                data = read_plain(bundle.path / name, MOST_DIGEST_BYTES)
                archive.writestr(_entry(bundle, name), data)
        partial.rename(target)
    finally:
        partial.unlink(missing_ok=True)
    return target.stat().st_size


def is_archive(path: Path) -> bool:
    """Return whether a file is a zip file, or begins as one: one that was cut is damaged.

    One that cannot be read may be one: its reader says why not.
    """
    try:
        with io.FileIO(open_plain(path, follow=True), "rb") as file:
            return file.read(2) == b"PK" or zipfile.is_zipfile(file)
    except OSError:
        return True


def unpack_bundles(archive: Path, into: Path) -> list[Path]:
    """Unpack a zip file with bundles that somebody sent; return their folders below ``into``.

    Raises BundleError, and leaves nothing behind, if the archive holds anything but whole bundles:
    names that lead elsewhere, links, two files of one name, encrypted or unknown entries, files
    that the bundles do not name, more bytes than they state or than an archive of this size may
    hold, tables that cannot be read. A bundle that is there already is not replaced.
    """
    partial = into / f"{PARTIAL}{os.getpid()}-{secrets.token_hex(4)}"
    placed: list[Path] = []
    with _complaints(archive):
        try:
            partial.mkdir(parents=True)
            with open_archive(archive) as opened:
                sent = _look_through(opened, archive)
                for each in sent:
                    _unpack(opened, each, partial, archive)
            taste_bundles([partial / each.name for each in sent])
            for each in sent:
                if os.path.lexists(into / each.name):
                    raise _refused(archive, f"bundle {each.name}, which is there already")
            for each in sent:
                (partial / each.name).rename(into / each.name)
                placed.append(into / each.name)
        except BaseException:
            for path in placed:
                shutil.rmtree(path, ignore_errors=True)
            raise
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    return placed


@dataclass(frozen=True)
class _Sent:
    """A bundle in an archive: its record, and its files' entries by name."""

    name: str
    record: BundleRecord
    entries: Mapping[str, zipfile.ZipInfo]


class _Reader(io.BufferedReader):
    """A file of which no more than a few megabytes are ever read at once.

    ``zipfile`` reads the whole list of contents, as long as the archive claims it to be.
    """

    def read(self, size: int | None = -1, /) -> bytes:
        wanted = _MOST_AT_ONCE + 1 if size is None or size < 0 else size
        if wanted > _MOST_AT_ONCE + 1 or len(data := super().read(wanted)) > _MOST_AT_ONCE:
            raise zipfile.BadZipFile(f"a list of contents of more than {_MOST_AT_ONCE} bytes")
        return data


def most_unpacked(archive: Path) -> int:
    """Return how many bytes an archive of this size may hold when unpacked."""
    return min(MOST_UNPACKED_BYTES, FREE_BYTES + MOST_RATIO * archive.stat().st_size)


@contextlib.contextmanager
def open_archive(archive: Path) -> Iterator[zipfile.ZipFile]:
    """Open a zip file that somebody sent; its list of contents is read up to a few megabytes.

    Raises BundleError for anything but a plain file that can be read, zipfile's own errors for a
    damaged one.
    """
    try:
        raw = io.FileIO(open_plain(archive), "rb")
    except OSError as error:
        raise _refused(archive, f"no contents that can be read ({error.strerror})") from error
    with _Reader(raw) as source, zipfile.ZipFile(source) as opened:
        yield opened


def _look_through(opened: zipfile.ZipFile, archive: Path) -> list[_Sent]:
    """Return the bundles of an archive; nothing has been written yet, and little been read."""
    entries = _plain_entries(opened, archive)
    roots = sorted(name.rpartition("/")[0] for name in entries if name.split("/")[-1] == RECORD)
    if not roots or "" in roots:
        raise _refused(archive, f"no folder with a {RECORD}")
    sent: dict[str, _Sent] = {}
    owned: set[str] = set()
    for root in roots:
        name = root.rpartition("/")[2]
        prefix = f"{root}/"
        inside = {e.removeprefix(prefix): i for e, i in entries.items() if e.startswith(prefix)}
        if name.lower() in sent:
            raise _refused(archive, f"two bundles with the name {name}")
        record = parse_record(_read_entry(opened, inside[RECORD], MOST_RECORD_BYTES), name)
        if LEFT_OUT in inside:
            data = _read_entry(opened, inside[LEFT_OUT], MOST_RECORD_BYTES)
            instead = parse_left_out(data, name, record).instead
            record = record.model_copy(update={"files": {**record.files, **instead}})
        sent[name.lower()] = _Sent(name, record, inside)
        owned |= {prefix + each for each in _wanted(opened, sent[name.lower()], archive)}
    if others := sorted(set(entries) - owned):
        raise _refused(archive, f"file {others[0]}, which no {RECORD} names")
    total = sum(
        file.bytes
        for each in sent.values()
        for name, file in each.record.files.items()
        if name in each.entries
    )
    most = most_unpacked(archive)
    if total > most:
        raise _refused(archive, f"bundles of {total} bytes, where {most} are the most")
    return list(sent.values())


def refuse_notes_of_macos(archive: Path, name: str) -> None:
    """Raise BundleError if an archive's entry is what macOS adds when it packs a folder."""
    parts = name.rstrip("/").split("/")
    if parts[0] == "__MACOSX" or parts[-1] == ".DS_Store" or parts[-1].startswith("._"):
        raise BundleError(
            found=f"archive {archive.name} with {name[:100]!r}: macOS packed its folder again, and "
            "added notes of its own",
            expected="the zip file as Sizebook made it, and nothing else in it",
            next_step="ask for that file; or unpack this one, remove every __MACOSX, .DS_Store "
            "and file whose name begins with ._, and give the folder",
        )


def _plain_entries(opened: zipfile.ZipFile, archive: Path) -> dict[str, zipfile.ZipInfo]:
    """Return the entries by name, folders left out; raise BundleError for any that is odd."""
    listed = opened.infolist()
    if len(listed) > MOST_ENTRIES:
        raise _refused(archive, f"{len(listed)} entries, where {MOST_ENTRIES} are the most")
    found: dict[str, zipfile.ZipInfo] = {}
    seen: set[str] = set()
    for info in listed:
        shown = info.orig_filename[:100]
        parts = info.filename.rstrip("/").split("/")
        refuse_notes_of_macos(archive, info.filename)
        plain = info.filename == info.orig_filename and len(parts) <= _MOST_PARTS
        if not plain or not all(_NAME.fullmatch(part) for part in parts):
            raise _refused(archive, f"the name {shown!r}, which is none of a bundle's")
        kind = stat.S_IFMT(info.external_attr >> 16)
        if kind not in (0, stat.S_IFDIR if info.is_dir() else stat.S_IFREG):
            raise _refused(archive, f"{shown!r}, which is no plain file")
        if info.flag_bits & _ENCRYPTED:
            raise _refused(archive, f"{shown!r}, which is encrypted")
        if info.compress_type not in _METHODS:
            raise _refused(archive, f"{shown!r}, packed by method {info.compress_type}")
        if info.is_dir():
            continue
        if info.filename.lower() in seen:
            raise _refused(archive, f"two files with the name {shown!r}")
        seen.add(info.filename.lower())
        found[info.filename] = info
    return found


def _wanted(opened: zipfile.ZipFile, each: _Sent, archive: Path) -> set[str]:
    """Return the names of a bundle's files in the archive; all that it needs must be there."""
    wanted = {RECORD, *each.record.files}
    if LEFT_OUT in each.entries:
        data = _read_entry(opened, each.entries[LEFT_OUT], MOST_RECORD_BYTES)
        wanted -= set(parse_left_out(data, each.name, each.record).files)
        wanted |= {LEFT_OUT, *filter(is_digest, each.entries)}
    if absent := sorted(wanted - set(each.entries)):
        raise _refused(archive, f"bundle {each.name} without {absent[0]}")
    for name, file in each.record.files.items():
        if file.bytes > MOST_BYTES[Path(name).suffix]:
            raise _refused(archive, f"{name} of {file.bytes} bytes, which is too long to read")
    return wanted


def _read_entry(opened: zipfile.ZipFile, info: zipfile.ZipInfo, most_bytes: int) -> bytes:
    """Return what an entry holds, up to one byte more than ``most_bytes``."""
    with opened.open(info) as source:
        return source.read(most_bytes + 1)


def _unpack(opened: zipfile.ZipFile, each: _Sent, partial: Path, archive: Path) -> None:
    folder = partial / each.name
    folder.mkdir()
    for name in (RECORD, LEFT_OUT, *filter(is_digest, each.entries)):
        if name in each.entries:
            data = _read_entry(opened, each.entries[name], MOST_DIGEST_BYTES)
            _write(folder / name, iter([data]))
    for name, file in each.record.files.items():
        if name not in each.entries:
            continue
        with opened.open(each.entries[name]) as source:
            sha256 = _write(folder / name, _at_most(source, file.bytes, name, archive))
        if sha256 != file.sha256:
            raise _refused(archive, f"{name} of {each.name}, not of the recorded checksum")
    open_bundle(folder)


def _at_most(source: IO[bytes], most_bytes: int, name: str, archive: Path) -> Iterator[bytes]:
    """Yield what an entry holds, piece by piece; raise BundleError as soon as it is too long."""
    done = 0
    while piece := source.read(min(_CHUNK, most_bytes - done + 1)):
        done += len(piece)
        if done > most_bytes:
            raise _refused(archive, f"{name} of more than the recorded {most_bytes} bytes")
        yield piece


def _write(path: Path, pieces: Iterator[bytes]) -> str:
    """Write a new file that nobody may run; return its checksum."""
    path.parent.mkdir(parents=True, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    total = hashlib.sha256()
    with os.fdopen(os.open(path, flags, 0o644), "wb") as target:
        for piece in pieces:
            total.update(piece)
            target.write(piece)
    return total.hexdigest()


def _pack_file(archive: zipfile.ZipFile, bundle: Bundle, name: str, sha256: str) -> None:
    total = hashlib.sha256()
    entry = _entry(bundle, name)
    with (
        os.fdopen(open_plain(bundle.path / name), "rb") as source,
        archive.open(entry, "w", force_zip64=os.fstat(source.fileno()).st_size >= 2**31) as packed,
    ):
        while piece := source.read(_CHUNK):
            total.update(piece)
            packed.write(piece)
    if total.hexdigest() != sha256:
        raise BundleError(
            found=f"{name} of bundle {bundle.id} whose checksum is not the recorded one",
            expected="a whole bundle as Sizebook writes it",
            next_step="remove the bundle's folder and measure again",
        )


def _entry(bundle: Bundle, name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(f"{bundle.id}/{name}", _EPOCH)
    entry.create_system = 3  # Unix, wherever it is packed
    entry.external_attr = (stat.S_IFREG | 0o644) << 16
    stored = Path(name).suffix in _STORED
    entry.compress_type = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
    return entry


@contextlib.contextmanager
def _complaints(archive: Path) -> Iterator[None]:
    try:
        yield
    except _BROKEN as error:
        raise _refused(archive, f"contents that cannot be unpacked: {str(error)[:200]}") from error
    except OSError as error:
        raise _refused(archive, f"contents that cannot be stored: {error.strerror}") from error


def _refused(archive: Path, what: str) -> BundleError:
    return BundleError(
        found=f"archive {archive.name} with {what}",
        expected="a zip file with whole bundles, a folder each, as Sizebook packs them",
        next_step="do not use it; ask for a fresh one",
    )
