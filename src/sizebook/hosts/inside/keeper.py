"""What runs on another machine, for as long as somebody at the far end of its pipes wants it.

It comes through the ssh connection and needs nothing there but Python 3.8: no file of its own is
written. It keeps the application image there, once for the same contents, and makes the host in
name spaces of its own: the image is its root, so that every path is what it is on the harness's
machine, and when its first process ends, the kernel ends all others with it. For that the user is
root, or may make user name spaces. Limits need control groups, which only root can make.

JSON lines come in and go out. The first order is ``look`` or ``open``; after ``open`` the agent
listens, and further orders are answered until the far end is silent for too long, its pipe is
closed, or the agent has ended. Nothing but the image is left then.
"""

from __future__ import annotations

import fcntl
import json
import os
import platform
import select
import shutil
import signal
import socket
import sys
import tempfile
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO, Any

    from sizebook.hosts.inside import files, groups, senses, spaces
else:
    import files
    import groups
    import senses
    import spaces

UNUSED_S = 7 * 24 * 3600.0


def main() -> None:
    """Do what the first line says."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    source = sys.stdin.buffer
    asked = json.loads(source.readline())
    try:
        if asked.pop("do") == "look":
            say(out, {"ok": look(**asked)})
        else:
            Keeper(source, out).open(**asked)
    except (spaces.LacksError, OSError, ValueError) as error:
        say(out, {"lacks": isinstance(error, spaces.LacksError), "error": str(error)})


def say(out: IO[str], message: dict[str, Any]) -> None:
    """Write a line of JSON."""
    out.write(json.dumps(message) + "\n")
    out.flush()


def look(folder: str, image: str, address: str) -> dict[str, Any]:
    """Return what this machine is and can do, and change nothing."""
    top = os.path.expanduser(folder)
    there = top
    while not os.path.isdir(there):
        there = os.path.dirname(there)
    found = dict(senses.facts())
    found["python"] = platform.python_version()
    found["free_bytes"] = shutil.disk_usage(there).free
    found["image"] = bool(image) and os.path.isdir(os.path.join(top, "images", image))
    found["spaces"] = spaces.try_spaces()
    found["groups"] = why_no_groups()
    found["address"] = why_not_here(address)
    return found


def why_no_groups() -> str:
    """Return why this user cannot make control groups; empty if it can."""
    try:
        hierarchies = groups.find_hierarchies(groups.MOUNTS.read_text())
        groups.Group("sb-look", hierarchies)
    except (LookupError, OSError) as error:
        return str(error.args[0])
    for hierarchy in hierarchies.values():
        if not os.access(hierarchy.top, os.W_OK):
            return f"{hierarchy.top} is not writable for this user"
    return ""


def why_not_here(address: str) -> str:
    """Return why no server can listen at an address here; empty if one can."""
    try:
        family, kind, number, _, where = socket.getaddrinfo(address, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, number) as probe:
            probe.bind(where)
    except OSError as error:
        return str(error.strerror or error)
    return ""


class Keeper:
    """One host on this machine, from ``open`` to its end."""

    def __init__(self, source: IO[bytes], out: IO[str]) -> None:
        self.source = source
        self.out = out
        self.group: groups.Group | None = None
        self.no_group = ""
        self.first = 0
        """Process that waits for the agent, outside of its name space."""

    def open(
        self,
        folder: str,
        name: str,
        image: str,
        token: str,
        python: str,
        agent: str,
        scratch: str,
        cpus: list[int],
        address: str,
        silence_s: float,
    ) -> None:
        """Make the host, serve orders until it is over, and leave nothing but the image.

        Without a word for ``silence_s`` the far end is gone, though its connection may look alive.
        """
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, lambda *_: sys.exit(0))
        if reason := why_not_here(address):
            raise spaces.LacksError(f"its address, at which no server can listen there: {reason}")
        top = os.path.expanduser(folder)
        runs, images = os.path.join(top, "run"), os.path.join(top, "images")
        for each in (runs, images):
            os.makedirs(each, mode=0o700, exist_ok=True)
        remove_dead(runs)
        session = os.path.join(runs, name)
        os.mkdir(session, 0o700)
        with open(os.path.join(session, "lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            try:
                root = self.have_image(images, image)
                self.make_group(name, cpus)
                line = os.path.join(make_short_folder(session), "agent")
                listener = socket.socket(socket.AF_UNIX)
                listener.bind(line)
                listener.listen(16)
                self.first = spaces.start_agent(
                    spaces.Inner(session, root, scratch, [python, "-I", "-S", agent], token, cpus),
                    listener,
                    self.group,
                )
                listener.close()
                say(self.out, {"line": line, "no_groups": self.no_group})
                self.serve(silence_s)
            finally:
                self.end()
                if self.group is not None:
                    self.group.remove()
                remove_session(session)

    def have_image(self, images: str, image: str) -> str:
        """Return the image's root; it is brought now unless it is here."""
        root = os.path.join(images, image)
        with open(os.path.join(images, "lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            missing = not os.path.isdir(root)
            partial = root + ".partial"
            say(self.out, {"bring": partial if missing else ""})
            if missing:
                remove_old(images)
                remove_tree(partial)
                try:
                    files.receive(self.source)
                    os.rename(partial, root)
                except BaseException:
                    remove_tree(partial)
                    raise
            os.utime(root)
        return root

    def make_group(self, name: str, cpus: list[int]) -> None:
        """Have a control group, if this user may."""
        self.no_group = why_no_groups()
        if self.no_group:
            if unknown := set(cpus) - os.sched_getaffinity(0):
                raise spaces.LacksError(f"no CPUs {sorted(unknown)} for this user")
            return
        group = groups.Group(name, groups.find_hierarchies(groups.MOUNTS.read_text()))
        self.group = group
        try:
            group.make()
        except OSError as error:
            group.remove()
            self.group, self.no_group = None, str(error)

    def serve(self, silence_s: float) -> None:
        """Answer orders until there are no more, or the agent has ended."""
        wake, ring = os.pipe()
        for each in (wake, ring):
            os.set_blocking(each, False)
        signal.set_wakeup_fd(ring, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        pending = b""
        heard_s = time.monotonic()
        while time.monotonic() - heard_s < silence_s:
            ready, _, _ = select.select([0, wake], [], [], 1.0)
            if wake in ready:
                os.read(wake, 4096)
            pid, status = os.waitpid(self.first, os.WNOHANG)
            if pid:
                self.first = 0
                say(self.out, {"ended": status})
                return
            if 0 not in ready:
                continue
            read = os.read(0, 1 << 16)
            if not read:
                return
            heard_s = time.monotonic()
            *lines, pending = (pending + read).split(b"\n")
            for line in lines:
                self.obey(json.loads(line))

    def obey(self, asked: dict[str, Any]) -> None:
        """Carry out one order and answer it."""
        number, what = asked.pop("id"), asked.pop("do")
        try:
            answer = {"id": number, "ok": getattr(self, "do_" + what)(**asked)}
        except groups.RefusedError as error:
            answer = {"id": number, "refused": list(error.args)}
        except spaces.LacksError as error:
            answer = {"id": number, "lacks": True, "error": str(error)}
        except (OSError, ValueError, TypeError, AttributeError) as error:
            answer = {"id": number, "error": str(error)}
        say(self.out, answer)

    def do_beat(self) -> None:
        """Nothing: that something came is all."""

    def do_limit_cpu(self, limit: float | None, weight: int | None, cpus: list[int]) -> None:
        """Limit the host from now on."""
        if self.group is not None:
            self.group.limit_cpu(limit, weight, cpus)
        elif limit is not None or weight is not None or cpus:
            raise spaces.LacksError(self.no_group)

    def do_limit_memory(self, mib: int) -> None:
        """Limit the host from now on."""
        if self.group is None:
            raise spaces.LacksError(self.no_group)
        self.group.limit_memory(mib)

    def do_usage(self) -> dict[str, Any]:
        """Return what the host has cost this machine; without a group what its processes tell."""
        if self.group is not None:
            return self.group.usage()
        user_s, system_s, rss, *_ = senses.view_family(self.first)
        return {"cpu_user_s": user_s, "cpu_system_s": system_s, "memory_bytes": rss}

    def end(self) -> None:
        """End the agent, and with it all that it started."""
        if self.first:
            for pid in (*children(self.first), self.first):
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            os.waitpid(self.first, 0)
            self.first = 0


def children(pid: int) -> list[int]:
    """Return the children of a process."""
    return [int(one) for one in senses.try_read(f"/proc/{pid}/task/{pid}/children").split()]


def remove_dead(runs: str) -> None:
    """Remove what hosts left whose keeper was killed: nobody holds their lock any more."""
    for name in os.listdir(runs):
        folder = os.path.join(runs, name)
        try:
            with open(os.path.join(folder, "lock")) as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                try:
                    groups.remove_group(name)
                except OSError:
                    pass
                remove_session(folder)
        except OSError:
            continue


def make_short_folder(session: str) -> str:
    """Make a folder whose path is short enough for a UNIX socket; the session's leads to it."""
    folder = tempfile.mkdtemp(prefix="sizebook-")
    os.symlink(folder, os.path.join(session, "short"))
    return folder


def remove_session(session: str) -> None:
    """Remove all files of a host."""
    short = os.path.join(session, "short")
    if os.path.islink(short):
        remove_tree(os.readlink(short))
    remove_tree(session)


def remove_old(images: str) -> None:
    """Remove images that nobody has used for a week."""
    for name in os.listdir(images):
        path = os.path.join(images, name)
        if os.path.isdir(path) and time.time() - os.stat(path).st_mtime > UNUSED_S:
            remove_tree(path)


def remove_tree(path: str) -> None:
    """Remove a folder, with folders in it that even their owner may not write to."""
    if not os.path.isdir(path):
        return
    for folder, _, _ in os.walk(path):
        try:
            os.chmod(folder, 0o700)
        except OSError:
            pass
    shutil.rmtree(path, ignore_errors=True)
