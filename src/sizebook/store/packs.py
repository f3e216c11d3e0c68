"""Packs: the trials of a chapter in one archive, small, the same bytes for the same trials.

A bundle goes into a pack in its published form: ``trial.json`` as it is, so that its checksum is
the one that evidence cites; requests and due times left out, what was derived from them as a
digest; readings with the same content in a form that packs better; histograms of the measured
phase. Files of one kind lie beside each other, because trials of a chapter are much alike and LZMA
finds that; logs of collectors lie there by columns, and come out as they were.
"""

from __future__ import annotations

import hashlib
import io
import lzma
import re
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING

from sizebook.model.bundle import BundleRecord, FileRecord
from sizebook.model.errors import BundleError
from sizebook.store.bundles import COUNTERS, RECORD, REQUESTS, SCHEDULE, Bundle, verify_bundle
from sizebook.store.counter_file import COUNTER_FILE, write_counters
from sizebook.store.digest import DIGEST
from sizebook.store.left_out import LEFT_OUT, PHASE_HISTOGRAMS, STAND_INS, write_left_out
from sizebook.store.log_columns import LogError, read_columns, write_columns
from sizebook.store.plain_files import read_plain
from sizebook.store.record_file import MOST_RECORD_BYTES

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer as Buffer

MOST_UNPACKED_BYTES = 512 * 2**20
_MOST_FILES = 100_000
_MOST_MEMORY = 256 * 2**20
_CHUNK = 2**16
_PART = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,119}")
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 4, "pb": 0}]
"""Text and chance: a byte tells something of the one after it, and its address nothing."""
_GC_LOG = re.compile(r"(?:.*/)?gc/[^/]+\.log")
_COLUMNS = ".columns"
"""Behind the name of a log that lies in the archive by columns."""
_KEPT_LOGS = "logs/balancer-"
"""Pages read what a balancer wrote down; other logs are for whoever runs the stack."""


def left_out_of(record: BundleRecord) -> tuple[str, ...]:
    """Return the files of a whole bundle that its published form leaves out."""

    def is_out(name: str) -> bool:
        rows = name in (REQUESTS, SCHEDULE)
        return rows or (name.startswith("logs/") and not name.startswith(_KEPT_LOGS))

    return tuple(sorted(name for name in record.files if is_out(name)))


def published_files(
    bundle: Bundle, digest: bytes, histograms: bytes | None = None
) -> dict[str, bytes]:
    """Return the files of a bundle's published form, by name; raises BundleError for damage.

    ``histograms`` are those of the measured phase, which stand for those by second.
    """
    verify_bundle(bundle)
    instead: dict[str, bytes] = {}
    if COUNTERS in bundle.record.files:
        instead[COUNTER_FILE] = write_counters(bundle.counters)
    if histograms is not None:
        instead[PHASE_HISTOGRAMS] = histograms
    out = {*left_out_of(bundle.record), *(STAND_INS[name] for name in instead)}
    kept = {name: file for name, file in bundle.record.files.items() if name not in out}
    files = {name: read_plain(bundle.path / name, file.bytes) for name, file in kept.items()}
    told = {name: _record_of(data) for name, data in instead.items()}
    return {
        **files,
        **instead,
        RECORD: _record_bytes(bundle),
        LEFT_OUT: write_left_out({*bundle.left_out, *out}, told),
        DIGEST: digest,
    }


def recorded_files(bundle: Bundle, digest: bytes) -> dict[str, bytes]:
    """Return the files of a bundle of which the record alone is published, and how it was judged.

    For trials that no page shows: conditioning loads, and trials that were measured again.
    """
    verify_bundle(bundle)
    absent = {*bundle.left_out, *bundle.record.files}
    return {
        RECORD: _record_bytes(bundle),
        LEFT_OUT: write_left_out(absent, record_only=True),
        DIGEST: digest,
    }


def _record_bytes(bundle: Bundle) -> bytes:
    return read_plain(bundle.path / RECORD, MOST_RECORD_BYTES)


def pack(target: Path, files: Mapping[str, bytes]) -> None:
    """Write files as one archive; names are relative, with ``/`` between their parts."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name in sorted(files, key=lambda each: (each.rpartition("/")[2], each)):
            columns = write_columns(files[name]) if _GC_LOG.fullmatch(name) else None
            data = files[name] if columns is None else columns
            entry = tarfile.TarInfo(name if columns is None else name + _COLUMNS)
            entry.size, entry.mode = len(data), 0o644
            archive.addfile(entry, io.BytesIO(data))
    target.write_bytes(lzma.compress(plain.getvalue(), check=lzma.CHECK_CRC32, filters=_FILTERS))


def read_pack(archive: Path) -> dict[str, bytes]:
    """Return the files of a pack by name. Raises BundleError as ``unpack``."""
    return dict(_entries(archive))


def unpack(archive: Path, into: Path) -> None:
    """Write the files of a pack below a folder.

    Raises BundleError for anything but plain files with plain names, for one that is there already,
    and for more of them, or of their bytes, than a pack may hold.
    """
    into.mkdir(parents=True, exist_ok=True)
    for name, data in _entries(archive):
        path = into / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = path.open("xb")
        except (FileExistsError, NotADirectoryError) as error:
            raise _refused(archive, f"{name[:100]!r}, which is there already") from error
        with file:
            file.write(data)


class _Unpacked(io.RawIOBase):
    """What an xz file holds, unpacked within ``_MOST_MEMORY``.

    How much memory that takes is for the file to say, up to 4 GiB; ``lzma.open`` grants it all.
    """

    def __init__(self, packed: IO[bytes]) -> None:
        self._packed = packed
        self._unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MOST_MEMORY)

    def readable(self) -> bool:
        return True

    def readinto(self, into: Buffer, /) -> int:
        room = memoryview(into).cast("B")
        data = b""
        while not data and not self._unpacker.eof:
            more = self._packed.read(_CHUNK) if self._unpacker.needs_input else b""
            if self._unpacker.needs_input and not more:
                raise EOFError("an archive that ends too early")
            data = self._unpacker.decompress(more, len(room))
        room[: len(data)] = data
        return len(data)


def _entries(archive: Path) -> Iterator[tuple[str, bytes]]:
    total = 0
    try:
        with (
            archive.open("rb") as packed,
            io.BufferedReader(_Unpacked(packed)) as source,
            tarfile.open(fileobj=source, mode="r|", format=tarfile.USTAR_FORMAT) as opened,
        ):
            for number, entry in enumerate(opened):
                total += entry.size
                if number >= _MOST_FILES or total > MOST_UNPACKED_BYTES:
                    raise _refused(archive, "more than any pack holds")
                parts = entry.name.split("/")
                if not entry.isfile() or not all(_PART.fullmatch(part) for part in parts):
                    raise _refused(archive, f"{entry.name[:100]!r}, which is no plain file")
                file = opened.extractfile(entry)
                assert file is not None
                name, data = entry.name, file.read()
                if name.endswith(_COLUMNS):
                    name = name.removesuffix(_COLUMNS)
                    data = read_columns(data, MOST_UNPACKED_BYTES - total)
                    total += len(data)
                yield name, data
            # To the end, where the check over all of it stands; the tar is padded to records.
            if len(source.read(tarfile.RECORDSIZE + 1)) > tarfile.RECORDSIZE:
                raise _refused(archive, "more behind its last file")
    except LogError as error:
        raise _refused(archive, str(error)) from error
    except (tarfile.TarError, lzma.LZMAError, EOFError, OSError) as error:
        raise _refused(archive, f"contents that cannot be read ({str(error)[:100]})") from error


def _record_of(data: bytes) -> FileRecord:
    return FileRecord(sha256=hashlib.sha256(data).hexdigest(), bytes=len(data))


def _refused(archive: Path, what: str) -> BundleError:
    return BundleError(
        found=f"pack {archive.name} with {what}",
        expected="a pack as 'sizebook publish' writes it",
        next_step="get a fresh copy of the book",
    )
