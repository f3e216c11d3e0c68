"""A crate that somebody sent as an archive: unpacked without being led astray or flooded."""

from __future__ import annotations

import os
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote

from sizebook.book.crate.audit import MOST_METADATA_BYTES, is_a, parse_metadata
from sizebook.book.crate.gather import is_plain
from sizebook.book.crate.preview import PREVIEW
from sizebook.book.crate.rules import METADATA
from sizebook.model.errors import BundleError, UserError
from sizebook.store.received import most_unpacked, open_archive, refuse_notes_of_macos

MOST_FILES = 100_000
_CHUNK = 2**20


def is_crate_archive(path: Path) -> bool:
    """Return whether a file is a zip archive with a crate's metadata at its top."""
    try:
        with open_archive(path) as packed:
            return METADATA in packed.namelist()
    except (BundleError, OSError, ValueError, zipfile.BadZipFile):
        return False


def unpack_crate(archive: Path, folder: Path) -> None:
    """Write a crate's files below an empty folder, nothing outside of it.

    Only plain files that the metadata describe, up to the size that they state, are written.
    Raises UserError for anything else in the archive; the folder may then hold a part of it.
    """
    with _complaints(archive), open_archive(archive) as packed:
        entries = [each for each in packed.infolist() if not each.is_dir()]
        names = [each.filename for each in entries]
        if len(entries) > MOST_FILES or len({name.lower() for name in names}) != len(names):
            raise ValueError(f"more than {MOST_FILES:,} files, or one name twice")
        _, graph = parse_metadata(_read(packed, METADATA, MOST_METADATA_BYTES + 1))
        sizes = {
            unquote(name): int(entity["contentSize"])
            for name, entity in graph.items()
            if is_a(entity, "File")
        } | {METADATA: MOST_METADATA_BYTES, PREVIEW: MOST_METADATA_BYTES}
        for each in entries:
            _check_entry(archive, each, sizes)
        if sum(each.file_size for each in entries) > (most := most_unpacked(archive)):
            raise ValueError(f"more than {most:,} bytes")
        for each in entries:
            _write(packed, each, folder / each.filename)


def _check_entry(archive: Path, entry: zipfile.ZipInfo, sizes: dict[str, int]) -> None:
    name = entry.filename
    refuse_notes_of_macos(archive, name)
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if not is_plain(name) or name not in sizes:
        raise ValueError(f"file {name[:100]!r}, which is none of a crate's")
    if kind not in (0, stat.S_IFREG) or entry.flag_bits & 0x1:
        raise ValueError(f"{name}, which is a link, a device or encrypted")
    if entry.file_size > sizes[name]:
        raise ValueError(f"{name} of {entry.file_size} bytes, not {sizes[name]}")


def _read(packed: zipfile.ZipFile, name: str, most_bytes: int) -> bytes:
    with packed.open(name) as source:
        return source.read(most_bytes)


def _write(packed: zipfile.ZipFile, entry: zipfile.ZipInfo, path: Path) -> None:
    """Write one file; ValueError if it holds more than the archive's table says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    left = entry.file_size
    with packed.open(entry) as source, os.fdopen(os.open(path, flags, 0o644), "wb") as target:
        while chunk := source.read(_CHUNK):
            left -= len(chunk)
            if left < 0:
                raise ValueError(f"{entry.filename} of more bytes than it says")
            target.write(chunk)


@contextmanager
def _complaints(archive: Path) -> Iterator[None]:
    try:
        yield
    except (
        EOFError,
        KeyError,
        NotImplementedError,
        OSError,
        RecursionError,
        RuntimeError,
        TypeError,
        ValueError,
        zipfile.BadZipFile,
        zlib.error,
    ) as error:
        raise UserError(
            found=f"archive {archive.name} with {error or type(error).__name__}",
            expected="a crate as 'sizebook export' packs it",
            next_step="do not use it; ask for a fresh one",
        ) from error
