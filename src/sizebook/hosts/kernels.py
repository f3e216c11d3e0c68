"""Kernels for guests: Linux with its modules for virtual machines, and Linux as a program (UML).

A virtual machine boots a kernel of the distribution, either one that is installed here or one that
was downloaded as a package and unpacked into the project's state folder. None is ever installed:
what this machine boots next is not touched.
"""

from __future__ import annotations

import contextlib
import gzip
import lzma
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sizebook.hosts.mortal import mortal
from sizebook.model.errors import HostLacksError, UserError

PARAVIRTUAL = ("virtio_pci", "virtio_blk", "virtio_net")
"""Drivers of a virtual machine whose devices are made for being virtual."""
EMULATED = ("ata_piix", "ahci", "sd_mod", "e1000")
"""Drivers of a virtual machine whose devices are those of a real one."""
FILE_SYSTEM = ("crc32c_generic", "ext4")
"""ext4 asks for its checksum by a name that no module states."""

_ARCHITECTURES = {"x86_64": "amd64"}
_DEPENDS = b"\0depends="
"""In a module's ``.modinfo``: ``depends=mbcache,jbd2,crc16``."""
_IMAGE_PACKAGE = re.compile(r"^\s*\|?Depends: (linux-image-\d\S+)$", re.MULTILINE)
"""Line of ``apt-cache depends linux-image-amd64``."""
_SUFFIXES = (".ko", ".ko.xz", ".ko.gz")
_KINDS = ("drivers", "fs", "lib", "crypto", "arch", "net", "block")
_NOT_FOR_GUESTS = ("drivers/gpu", "drivers/media", "drivers/infiniband", "drivers/staging")


@dataclass(frozen=True)
class Kernel:
    """One Linux kernel with its modules."""

    version: str
    image: Path
    """What a boot loader loads, ``vmlinuz``."""
    modules: Path
    """Folder ``lib/modules/VERSION``."""

    def load_order(self, names: Sequence[str]) -> list[Path]:
        """Return the files of these modules and of all they need, in the order of loading.

        What is built into the kernel has no file. Raises HostLacksError for one that is neither.
        """
        files = {_name(path): path for path in self._files()}
        built_in = self._built_in()
        order: dict[str, Path] = {}

        def add(name: str) -> None:
            if name in order or name in built_in:
                return
            if name not in files:
                raise HostLacksError(
                    found=f"kernel {self.version} without the module {name}",
                    expected=f"a kernel with {', '.join(names)}",
                    next_step="run 'make setup', which brings one (Debian), or install a kernel "
                    "for general hardware with its modules (not a 'cloud' one)",
                )
            for needed in module_needs(read_module(files[name])):
                add(needed)
            order[name] = files[name]

        for name in names:
            add(name)
        return list(order.values())

    def _files(self) -> Iterator[Path]:
        # os.walk, since Path.rglob takes five times as long over the folders of a kernel
        for folder, _, names in os.walk(self.modules):
            for name in names:
                if name.endswith(_SUFFIXES):
                    yield Path(folder, name)

    def _built_in(self) -> set[str]:
        try:
            lines = (self.modules / "modules.builtin").read_text().splitlines()
        except OSError:
            return set()
        return {_name(Path(line)) for line in lines}


def module_needs(module: bytes) -> list[str]:
    """Return the names of the modules that a module needs, from its own ``.modinfo``."""
    _, stated, rest = module.partition(_DEPENDS)
    names, ended, _ = rest.partition(b"\0")
    if not stated or not ended:
        return []
    return [name.replace("-", "_") for name in names.decode().split(",") if name]


def read_module(path: Path) -> bytes:
    """Return a module as the kernel takes it, unpacked."""
    packed = path.read_bytes()
    if path.suffix == ".xz":
        return lzma.decompress(packed)
    return gzip.decompress(packed) if path.suffix == ".gz" else packed


def find_kernel(state: Path, root: Path = Path("/")) -> Kernel:
    """Return a kernel that can drive both kinds of virtual machines.

    The one in the state folder comes first, then those installed below ``root``. Raises
    HostLacksError, with the reason for each that was refused.
    """
    reasons = []
    for kernel in (*_kernels(kernel_folder(state)), *_kernels(root)):
        try:
            kernel.load_order((*PARAVIRTUAL, *EMULATED, *FILE_SYSTEM))
        except HostLacksError as error:
            reasons.append(error.found)
        else:
            return kernel
    raise HostLacksError(
        found="; ".join(reasons) or "no kernel for guests",
        expected="a Linux kernel with drivers for virtual and for real devices",
        next_step="run 'make setup' on Debian; elsewhere install a kernel package for general "
        "hardware, readable for this user",
    )


def fetch_kernel(state: Path) -> Kernel:
    """Download Debian's kernel package and unpack what guests need into the state folder.

    Needs no root where the lists of packages are up to date. Raises HostLacksError where apt
    cannot do it.
    """
    target = kernel_folder(state)
    partial = target.with_name(f"{target.name}.{os.getpid()}")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        archive = _download(partial)
        _unpack_kernel(archive, partial)
        archive.unlink()
        _keep_only(partial, (*PARAVIRTUAL, *EMULATED, *FILE_SYSTEM))
        shutil.rmtree(target, ignore_errors=True)
        partial.rename(target)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return find_kernel(state)


def kernel_folder(state: Path) -> Path:
    """Return the folder of the project's own kernel."""
    return state / "hosts" / "kernel"


@dataclass(frozen=True)
class UserModeLinux:
    """A Linux kernel that is a program."""

    program: Path
    version: str


def find_user_mode_linux() -> UserModeLinux:
    """Return the user-mode kernel of this machine. Raises HostLacksError if there is none."""
    for name in ("linux.uml", "linux"):
        program = shutil.which(name)
        if program is None:
            continue
        said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
        if re.fullmatch(r"\d+\.\d+\S*", said.stdout.strip()):
            return UserModeLinux(Path(program), said.stdout.strip())
    raise HostLacksError(
        found="no user-mode Linux on the path",
        expected="linux.uml",
        next_step="install it (Debian: apt-get install user-mode-linux)",
    )


def _kernels(root: Path) -> Iterator[Kernel]:
    """Yield the kernels below a root whose image can be read and whose modules are there."""
    with contextlib.suppress(OSError):
        for image in sorted((root / "boot").glob("vmlinuz-*"), reverse=True):
            version = image.name.removeprefix("vmlinuz-")
            for modules in (root / "lib/modules" / version, root / "usr/lib/modules" / version):
                if modules.is_dir() and os.access(image, os.R_OK):
                    yield Kernel(version, image, modules)
                    break


def _name(path: Path) -> str:
    return path.name.split(".ko")[0].replace("-", "_")


def _download(folder: Path) -> Path:
    """Return the kernel's package; as root the lists are brought up to date if that is needed."""
    try:
        _run(["apt-get", "download", _image_package()], folder)
    except HostLacksError:
        if os.geteuid() != 0 or shutil.which("apt-get") is None:
            raise
        _run(["apt-get", "update"], folder)
        _run(["apt-get", "download", _image_package()], folder)
    [archive] = folder.glob("*.deb")
    return archive


def _image_package() -> str:
    machine = _ARCHITECTURES.get(platform.machine(), platform.machine())
    said = _run(["apt-cache", "depends", f"linux-image-{machine}"], Path("/"))
    package = _IMAGE_PACKAGE.search(said)
    if package is None:
        raise HostLacksError(
            found=f"apt, which knows no package linux-image-{machine}",
            expected="Debian's kernel among the packages of this system",
            next_step="run 'apt-get update', or install a kernel for general hardware",
        )
    return package[1]


def _unpack_kernel(archive: Path, target: Path) -> None:
    """Unpack image and modules of the kinds that guests use."""
    wanted = [f"./lib/modules/*/kernel/{kind}" for kind in _KINDS]
    wanted += ["./boot/vmlinuz-*", "./lib/modules/*/modules.builtin"]
    with subprocess.Popen(
        mortal(["dpkg-deb", "--fsys-tarfile", str(archive)]), stdout=subprocess.PIPE
    ) as tar:
        unpack = ["tar", "-x", "-C", str(target), "--wildcards", "--no-same-owner"]
        unpack += [f"--exclude=*/{name}/*" for name in _NOT_FOR_GUESTS]
        done = subprocess.run(
            mortal([*unpack, *wanted]),
            stdin=tar.stdout,
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode != 0 and not list(target.glob("boot/vmlinuz-*")):
        raise UserError(
            found=f"a kernel package that could not be unpacked: {done.stderr.strip()[-200:]}",
            expected="image and modules",
            next_step="make room on the disk of the state folder, then run 'make setup' again",
        )


def _keep_only(root: Path, names: Sequence[str]) -> None:
    """Remove the modules that no guest loads."""
    for kernel in _kernels(root):
        kept = set(kernel.load_order(names))
        for path in kernel.modules.rglob("*.ko*"):
            if path not in kept:
                path.unlink()


def _run(command: list[str], folder: Path) -> str:
    if shutil.which(command[0]) is None:
        raise HostLacksError(
            found=f"no {command[0]} on this system",
            expected="Debian or a system like it, to download a kernel for guests",
            next_step="install a kernel package for general hardware",
        )
    done = subprocess.run(mortal(command), cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise HostLacksError(
            found=f"{' '.join(command)} ended with {done.returncode}: {done.stderr.strip()[-200:]}",
            expected="a downloaded package",
            next_step="run 'apt-get update' and try again",
        )
    return done.stdout
