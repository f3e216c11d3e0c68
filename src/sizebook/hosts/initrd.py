"""The first file system of a virtual machine: a shell, drivers, a script that finds the root."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from sizebook.hosts.image import find_busybox
from sizebook.hosts.kernels import Kernel, read_module

SCRIPT = Path(__file__).parent / "inside" / "initrd.sh"
BOOTED = "sizebook: kernel "
"""What the script prints first, with the seconds since the kernel started."""
_FOLDERS = ("bin", "proc", "sys", "dev", "new", "modules")
_FOLDER, _FILE = 0o040755, 0o100755


def build_initrd(kernel: Kernel, modules: Sequence[str], state: Path) -> Path:
    """Return the archive with these modules and what they need, made once.

    Raises HostLacksError if the kernel lacks one, or there is no static busybox.
    """
    files = kernel.load_order(modules)
    busybox = find_busybox()
    parts = [SCRIPT.read_text(), kernel.version, *map(_stamp, [busybox, *files])]
    name = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
    target = state / "hosts" / "initrd" / f"{name}.gz"
    if not target.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        loaded = [(path.name.split(".ko")[0] + ".ko", path) for path in files]
        order = "".join(f"{name}\n" for name, _ in loaded)
        entries = [
            ("init", SCRIPT.read_bytes()),
            ("bin/busybox", busybox.read_bytes()),
            ("modules/order", order.encode()),
            *((f"modules/{name}", read_module(path)) for name, path in loaded),
        ]
        partial = target.with_suffix(".partial")
        partial.write_bytes(gzip.compress(b"".join(cpio(entries)), compresslevel=1, mtime=0))
        partial.rename(target)
    return target


def cpio(files: Sequence[tuple[str, bytes]]) -> Iterator[bytes]:
    """Yield an archive as the kernel unpacks it (newc): the folders that a start needs, then files.

    Format: Documentation/driver-api/early-userspace/buffer-format.rst of the kernel.
    """
    entries = [(name, _FOLDER, b"") for name in _FOLDERS]
    entries += [(name, _FILE, content) for name, content in files]
    for number, (name, mode, content) in enumerate([*entries, ("TRAILER!!!", 0, b"")], 1):
        numbers = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0)
        head = b"070701" + b"".join(b"%08X" % value for value in numbers) + name.encode() + b"\0"
        yield head + bytes(-len(head) % 4) + content + bytes(-len(content) % 4)


def _stamp(path: Path) -> str:
    stat = path.stat()
    return f"{path} {stat.st_size} {stat.st_mtime_ns}"
