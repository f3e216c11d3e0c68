"""Packs that somebody prepared: refused in one line."""

import io
import lzma
import tarfile

import pytest

from sizebook.model.errors import BundleError
from sizebook.store import packs
from sizebook.store.packs import pack, read_pack, unpack


def write_tar(path, names):
    """Write an archive with these files, as a pack is packed."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name in names:
            entry = tarfile.TarInfo(name)
            entry.size = 5
            archive.addfile(entry, io.BytesIO(b"hello"))
    path.write_bytes(lzma.compress(plain.getvalue()))
    return path


@pytest.mark.parametrize("names", [["a/b", "a/b"], ["a", "a/b"], ["a/b", "a"]])
def test_two_files_in_one_place_are_refused(tmp_path, names):
    """One name twice, or a file where another one needs a folder."""
    with pytest.raises(BundleError, match="which is there already"):
        unpack(write_tar(tmp_path / "pack", names), tmp_path / "into")


def test_memory_beyond_the_bound_is_refused(tmp_path, monkeypatch):
    """How much the unpacking takes is for the archive to say."""
    pack(tmp_path / "pack", {"a/b": b"hello"})
    assert read_pack(tmp_path / "pack") == {"a/b": b"hello"}
    monkeypatch.setattr(packs, "_MOST_MEMORY", 2**20)
    with pytest.raises(BundleError, match=r"[Mm]emory"):
        read_pack(tmp_path / "pack")


@pytest.mark.parametrize("left", [0, 1, 40, -1, -20])
def test_a_pack_that_is_cut_off_is_refused(tmp_path, left):
    pack(tmp_path / "pack", {"a/b": bytes(range(256)) * 9})
    (tmp_path / "cut").write_bytes((tmp_path / "pack").read_bytes()[:left])
    with pytest.raises(BundleError, match="cannot be read"):
        read_pack(tmp_path / "cut")
