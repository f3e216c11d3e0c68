"""Name spaces on another machine in which the application image is the root of all that runs.

When the first process in them ends, the kernel ends all others. Who makes them is root, or may make
user name spaces.
"""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import signal
import socket

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sizebook.hosts.inside import groups

NOBODY = 65534
NEW_MOUNTS, NEW_NAMES, NEW_IPC, NEW_USERS, NEW_PIDS = (
    *(0x20000, 0x4000000, 0x8000000, 0x10000000, 0x20000000),
)
READ_ONLY, NO_SETUID, NO_DEVICES, REMOUNT, BIND, RECURSIVE, PRIVATE = (
    *(1, 2, 4, 32, 4096, 16384, 1 << 18),
)
DEATH_SIGNAL = 1
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
LIBC = ctypes.CDLL(None, use_errno=True)


class LacksError(Exception):
    """This machine, or this user, cannot do what is asked."""


def try_spaces() -> str:
    """Return why no name spaces can be made here; empty if they can. A child tries it."""
    heard, said = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            enter_spaces()
        except (LacksError, OSError) as error:
            os.write(said, str(error).encode())
        finally:
            os._exit(0)
    os.close(said)
    with os.fdopen(heard, "rb") as pipe:
        reason = pipe.read().decode()
    os.waitpid(pid, 0)
    return reason


class Inner:
    """What the inside of a host is made of."""

    def __init__(
        self, session: str, root: str, scratch: str, command: list[str], token: str, cpus: list[int]
    ) -> None:
        self.session = session
        self.image = root
        self.scratch = scratch
        self.command = command
        self.token = token
        self.cpus = cpus


def start_agent(inner: Inner, listener: socket.socket, group: groups.Group | None) -> int:
    """Start the agent in name spaces of its own; return the process that waits for it outside."""
    heard, said = os.pipe()
    keeper = os.getpid()
    pid = os.fork()
    if pid == 0:
        os.close(heard)
        try:
            if group is not None:
                for file in group.members():
                    file.write_text(str(os.getpid()))
            elif inner.cpus:
                os.sched_setaffinity(0, inner.cpus)
            enter_spaces()
            die_with(keeper)
            become_first(inner, listener, said)
        except BaseException as error:
            os.write(said, (str(error) or repr(error)).encode())
        finally:
            os._exit(125)
    os.close(said)
    with os.fdopen(heard, "rb") as pipe:  # closed when the agent has become what it is
        failed = pipe.read().decode()
    if failed:
        os.waitpid(pid, 0)
        raise LacksError(failed)
    return pid


def enter_spaces() -> None:
    """Leave this machine's mounts, names and, for what is forked next, processes.

    Raises LacksError. Who is not root becomes the user ``nobody`` of a user name space, and has
    its own rights only.
    """
    user, team = os.geteuid(), os.getegid()
    call("unshare", NEW_MOUNTS | NEW_NAMES | NEW_IPC | NEW_PIDS | (NEW_USERS if user else 0))
    if user:
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{NOBODY} {user} 1"),
            ("gid_map", f"{NOBODY} {team} 1"),
        ):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)
    mount("none", "/", "", RECURSIVE | PRIVATE)
    socket.sethostname("sizebook")


def become_first(inner: Inner, listener: socket.socket, said: int) -> None:
    """Fork the first process of the new name space, which becomes the agent; wait for its end."""
    pid = os.fork()
    if pid == 0:
        die_with(0)  # as it sees a parent outside of its name space
        lay_out(inner)
        os.chroot(os.path.join(inner.session, "root"))
        os.chdir("/")
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        os.setsid()
        listener.set_inheritable(True)
        null = os.open("/dev/null", os.O_RDWR)
        for number in (0, 1):
            os.dup2(null, number)
        environment = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"}
        environment["SIZEBOOK_TOKEN"] = inner.token
        words = [*inner.command, "inherited", str(listener.fileno())]
        os.execve(words[0], words, environment)
    os.close(said)
    listener.close()
    _, status = os.waitpid(pid, 0)
    os._exit(status >> 8 or (1 if status else 0))


def lay_out(inner: Inner) -> None:
    """Mount the host's root: the image's parts, read-only, and what a program expects beside.

    The image is not the root itself: what it has in /tmp, such as a project that is there, could
    not be reached any more once something is mounted on it.
    """
    root, scratch = os.path.join(inner.session, "root"), os.path.join(inner.session, "scratch")
    for folder in (root, scratch):
        os.mkdir(folder, 0o755)
    mount("tmpfs", root, "tmpfs", NO_SETUID | NO_DEVICES, "mode=755")
    for name in sorted(os.listdir(inner.image)):
        source, target = os.path.join(inner.image, name), os.path.join(root, name)
        if os.path.islink(source):
            os.symlink(os.readlink(source), target)
            continue
        os.mkdir(target, 0o755)
        if name == "tmp":
            mount("tmpfs", target, "tmpfs", NO_SETUID | NO_DEVICES, "mode=1777")
            for each in sorted(os.listdir(source)):
                make_place(os.path.join(source, each), os.path.join(target, each))
                bind(os.path.join(source, each), os.path.join(target, each), read_only=True)
        elif name not in ("proc", "dev", "sys"):
            bind(source, target, read_only=True)
    mount("proc", root + "/proc", "proc", NO_SETUID | NO_DEVICES)
    bind("/sys", root + "/sys", RECURSIVE)
    lay_out_devices(root + "/dev")
    bind(scratch, root + inner.scratch)
    own = os.path.realpath("/etc/os-release")
    if os.path.isfile(own) and os.path.isfile(root + "/etc/os-release"):
        bind(own, os.path.realpath(root + "/etc/os-release"), read_only=True)


def lay_out_devices(folder: str) -> None:
    """Mount the few devices that a program without hardware needs."""
    mount("tmpfs", folder, "tmpfs", NO_SETUID, "mode=755,size=65536k")
    for name in DEVICES:
        make_place("/dev/" + name, os.path.join(folder, name))
        bind("/dev/" + name, os.path.join(folder, name))
    os.mkdir(folder + "/shm")
    mount("tmpfs", folder + "/shm", "tmpfs", NO_SETUID | NO_DEVICES, "mode=1777")
    for name, target in (("fd", "fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        os.symlink("/proc/self/" + target, os.path.join(folder, name))


def make_place(source: str, target: str) -> None:
    """Make something of the same kind on which a file or folder can be shown."""
    if os.path.isdir(source):
        os.mkdir(target)
    else:
        with open(target, "w"):
            pass


def bind(source: str, target: str, how: int = 0, *, read_only: bool = False) -> None:
    """Show a file or folder at another place."""
    mount(source, target, "", BIND | how)
    if read_only:
        kept = os.statvfs(target).f_flag & (NO_SETUID | NO_DEVICES | 8 | 1024 | 2048 | 4096)
        # ST_NOATIME and its like have other numbers as flags of a mount.
        flags = kept & (NO_SETUID | NO_DEVICES | 8)
        flags |= (kept & 1024 and 1024) | (kept & 2048 and 2048) | (kept & 4096 and 1 << 21)
        mount("none", target, "", BIND | REMOUNT | READ_ONLY | flags)


def mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    """Mount. Raises LacksError that says what and where."""
    words = [text.encode() or None for text in (source, target, kind)]
    call("mount", *words, ctypes.c_ulong(flags), data.encode() or None, where=target)


def die_with(parent: int) -> None:
    """Have this process killed when its parent ends; at once if that has ended already."""
    call("prctl", DEATH_SIGNAL, int(signal.SIGKILL))
    if os.getppid() != parent:
        os._exit(125)


def call(name: str, *words: Any, where: str = "") -> None:
    """Call the C library. Raises LacksError."""
    if getattr(LIBC, name)(*words) != 0:
        number = ctypes.get_errno()
        told = f"{name}{' ' + where if where else ''}: {os.strerror(number)}"
        if number == errno.EPERM and os.geteuid() != 0:
            told += " (this user is not root, and may make no user name spaces)"
        raise LacksError(told)
