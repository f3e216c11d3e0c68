"""Kernels for guests: which are found, what they must have, in which order modules are loaded."""

from __future__ import annotations

import gzip
import lzma
import shutil
import subprocess
from pathlib import Path

import pytest

from sizebook.hosts.initrd import BOOTED, SCRIPT, build_initrd, cpio
from sizebook.hosts.kernels import (
    EMULATED,
    FILE_SYSTEM,
    PARAVIRTUAL,
    Kernel,
    find_kernel,
    kernel_folder,
    module_needs,
)
from sizebook.model.errors import HostLacksError

VERSION = "6.1.0-9-amd64"


def module(needs: str = "") -> bytes:
    """Return what a module's file looks like where it says what it needs."""
    return b"\x7fELF...\0license=GPL\0depends=" + needs.encode() + b"\0retpoline=Y\0"


def write_kernel(root: Path, modules: dict[str, bytes], built_in: str = "") -> Kernel:
    """Make a kernel below a root as packages lay it out."""
    (root / "boot").mkdir(parents=True)
    (root / "boot" / f"vmlinuz-{VERSION}").write_bytes(b"MZ")
    folder = root / "lib" / "modules" / VERSION
    for name, content in modules.items():
        file = folder / "kernel" / "drivers" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "modules.builtin").write_text(built_in)
    return Kernel(VERSION, root / "boot" / f"vmlinuz-{VERSION}", folder)


def test_a_module_says_what_it_needs():
    """Names of files may have hyphens, names of modules have none."""
    assert module_needs(module("virtio,virtio-ring")) == ["virtio", "virtio_ring"]
    assert module_needs(module()) == []
    assert module_needs(b"") == []
    assert module_needs(b"depends=no\0\0xdepends=no\0") == []  # no entry of its own
    assert module_needs(b"\0depends=cut") == []


def test_modules_load_after_what_they_need_each_once(tmp_path):
    """ext4 needs two that need a third; what is built in has no file; packed files are read."""
    kernel = write_kernel(
        tmp_path,
        {
            "ext4.ko": module("jbd2,mbcache"),
            "jbd2.ko.xz": lzma.compress(module("crc-low")),
            "mbcache.ko.gz": gzip.compress(module("crc-low,libcrc")),
            "crc-low.ko": module(),
        },
        built_in="kernel/lib/libcrc.ko\n",
    )
    names = [path.name for path in kernel.load_order(["ext4", "crc_low"])]
    assert names == ["crc-low.ko", "jbd2.ko.xz", "mbcache.ko.gz", "ext4.ko"]


def test_a_kernel_without_a_driver_is_refused_by_name(tmp_path):
    """A cloud kernel has no e1000: it is not taken, and the reason names what is missing."""
    write_kernel(tmp_path, {"virtio_pci.ko": module()})
    with pytest.raises(HostLacksError, match=f"{VERSION} without the module virtio_blk"):
        find_kernel(tmp_path / "state", tmp_path)
    with pytest.raises(HostLacksError, match="no kernel for guests"):
        find_kernel(tmp_path / "state", tmp_path / "nothing")


def test_the_project_s_own_kernel_comes_first(tmp_path):
    """What set-up unpacked is taken before what is installed."""
    all_of_them = {f"{name}.ko": module() for name in (*PARAVIRTUAL, *EMULATED, *FILE_SYSTEM)}
    write_kernel(tmp_path / "system", all_of_them)
    own = write_kernel(kernel_folder(tmp_path / "state"), all_of_them)
    assert find_kernel(tmp_path / "state", tmp_path / "system") == own
    installed = find_kernel(tmp_path / "none", tmp_path / "system")
    assert installed.image.is_relative_to(tmp_path / "system")


def test_an_archive_is_what_the_kernel_s_own_format_says(tmp_path):
    """Another program unpacks it: names, modes and contents."""
    busybox = shutil.which("busybox")
    if busybox is None:
        pytest.skip("no busybox to unpack with")
    archive = b"".join(cpio([("init", b"#!/bin/sh\n"), ("modules/order", b"a.ko\n")]))
    unpack = [busybox, "cpio", "-i", "-d"]
    subprocess.run(unpack, input=archive, cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "init").read_bytes() == b"#!/bin/sh\n"
    assert (tmp_path / "init").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "modules" / "order").read_text() == "a.ko\n"
    assert (tmp_path / "new").is_dir()


def test_an_initrd_holds_the_drivers_of_its_mode_only(tmp_path):
    """A machine with emulated devices has no virtio driver at all; the archive is made once."""
    if shutil.which("busybox") is None:
        pytest.skip("no busybox for the archive")
    kernel = write_kernel(
        tmp_path, {f"{name}.ko": module() for name in (*PARAVIRTUAL, *EMULATED, *FILE_SYSTEM)}
    )
    archive = build_initrd(kernel, (*EMULATED, *FILE_SYSTEM), tmp_path / "state")
    content = gzip.decompress(archive.read_bytes())
    assert b"modules/e1000.ko\0" in content
    assert b"virtio" not in content
    assert BOOTED.encode() in SCRIPT.read_bytes()
    made = archive.stat().st_ino
    again = build_initrd(kernel, (*EMULATED, *FILE_SYSTEM), tmp_path / "state")
    assert again.stat().st_ino == made
