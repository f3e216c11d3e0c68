"""The files of a crate: copied in with their checksums, or looked at where they are."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from sizebook.book.crate.describe import StoredFile
from sizebook.book.crate.gather import RunBundle
from sizebook.model.errors import BundleError, UsageError
from sizebook.store.bundles import RECORD, REQUESTS
from sizebook.store.digest import list_digests
from sizebook.store.fingerprints import fingerprint_file
from sizebook.store.left_out import LEFT_OUT, write_left_out
from sizebook.store.plain_files import open_plain


class CrateFiles:
    """The files of the crate: each is copied in once, its checksum taken on the way."""

    def __init__(self, folder: Path, private: Sequence[str] = ()) -> None:
        """Copy into ``folder``; texts with one of the ``private`` paths in them are refused."""
        self.folder = folder
        self._private = [path.encode() for path in private if len(path) > 1]
        self.stored: dict[str, StoredFile] = {}

    def copy(self, source: Path, path: str) -> StoredFile:
        """Copy a file to ``path`` in the crate and return what is there now."""
        if path not in self.stored:
            place = self.folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            total, size = hashlib.sha256(), 0
            with os.fdopen(open_plain(source), "rb") as given, place.open("wb") as taken:
                while chunk := given.read(2**20):
                    total.update(chunk)
                    size += taken.write(chunk)
            self.stored[path] = StoredFile(path, total.hexdigest(), size)
            if place.suffix != ".parquet":
                self._refuse_private(place.read_bytes(), path)
        return self.stored[path]

    def _refuse_private(self, text: bytes, path: str) -> None:
        if any(private in text for private in self._private):
            raise UsageError(
                found=f"{path} with a path of this machine in it",
                expected="files that do not tell where, or by whom, they were made",
                next_step="run the chapter again, with a --source that is relative to the project",
            )

    def write(self, path: str, data: bytes) -> StoredFile:
        """Write a file that the project does not have and return it."""
        (self.folder / path).write_bytes(data)
        self.stored[path] = StoredFile(path, hashlib.sha256(data).hexdigest(), len(data))
        return self.stored[path]

    def copy_bundle(self, each: RunBundle, *, slim: bool) -> list[StoredFile]:
        """Copy a bundle's recorded files; BundleError if one is not what its record says."""
        bundle, record = each.bundle, each.bundle.record.files
        stored = [self.copy(bundle.path / RECORD, f"{each.place}/{RECORD}")]
        without = {*bundle.left_out, *({REQUESTS} & record.keys() if slim else ())}
        if without:
            said = write_left_out(without, bundle.instead)
            stored.append(self.write(f"{each.place}/{LEFT_OUT}", said))
        stored += [
            self.copy(bundle.path / name, f"{each.place}/{name}")
            for name in list_digests(bundle.path)
        ]
        for name in sorted(record.keys() - without):
            file = self.copy(bundle.path / name, f"{each.place}/{name}")
            if (file.sha256, file.bytes) != (record[name].sha256, record[name].bytes):
                raise BundleError(
                    found=f"{name} of bundle {bundle.id} with another checksum than recorded",
                    expected="a whole bundle as Sizebook writes it",
                    next_step="remove the bundle's folder and run its chapter again",
                )
            stored.append(file)
        return stored


class FilesInPlace(CrateFiles):
    """The files of a crate that is there already: nothing is written."""

    def copy(self, source: Path, path: str) -> StoredFile:
        if path not in self.stored:
            size = source.stat().st_size
            self.stored[path] = StoredFile(path, fingerprint_file(source), size)
        return self.stored[path]

    def write(self, path: str, data: bytes) -> StoredFile:
        self.stored[path] = StoredFile(path, hashlib.sha256(data).hexdigest(), len(data))
        return self.stored[path]
