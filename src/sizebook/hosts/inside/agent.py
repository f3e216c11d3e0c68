"""The first program on every host but this machine: starts and watches what the harness asks for.

Run as ``python3 -I -S agent.py ADDRESS PORT [COMMAND ...]`` with a secret in ``SIZEBOOK_TOKEN``;
with ``inherited`` for ADDRESS, PORT is the number of a socket that listens already. It listens
there for one owner, who sends JSON lines and gets JSON lines back; files travel on further
connections, each served by a child. When the owner's connection is lost, or nobody has come within
two minutes, everything it started is killed and COMMAND is executed in its place; without one it
exits, which ends a container and, by its kernel's panic, a guest.

Nothing but the standard library and little of that: under emulation each import takes a tenth of a
second. One thread, so that forking is safe.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import sys
import time
from _operator import _compare_digest as same  # hmac would bring hashlib along

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sizebook.hosts.inside import files, senses
else:
    import files
    import senses

PATIENCE_S = 120.0
GREETING_S = 5.0
STALLED_S = 60.0
CHUNK = 1 << 20


class Agent:
    """Serves one owner until that one is gone."""

    def __init__(self, listener: socket.socket, token: str) -> None:
        self.listener = listener
        self.token = token
        self.owner: socket.socket | None = None
        self.running: dict[int, int] = {}
        self.pending = b""
        self.over = False

    def serve(self) -> None:
        """Return when there is nothing more to do here."""
        wake, ring = os.pipe()
        os.set_blocking(wake, False)
        os.set_blocking(ring, False)
        signal.set_wakeup_fd(ring, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, lambda *_: setattr(self, "over", True))
        poll = select.poll()
        poll.register(wake, select.POLLIN)
        poll.register(self.listener, select.POLLIN)
        alone_until = time.monotonic() + PATIENCE_S
        while not self.over:
            for descriptor, _ in poll.poll(None if self.owner else 1000):
                if descriptor == wake:
                    os.read(wake, 4096)
                elif descriptor == self.listener.fileno():
                    if (owner := self.greet()) is not None:
                        poll.register(owner, select.POLLIN)
                elif self.owner is not None:
                    self.hear(self.owner)
            self.reap()
            if self.owner is None and time.monotonic() > alone_until:
                self.over = True
        for pid in self.running:
            kill_group(pid)

    def greet(self) -> socket.socket | None:
        """Accept a connection if its first line holds the secret; return it if it is the owner."""
        connection, _ = self.listener.accept()
        connection.settimeout(GREETING_S)
        stream = connection.makefile("rwb")
        try:
            first = json.loads(stream.readline(CHUNK))
            purpose = first["do"]
            if not same(first.pop("token"), self.token):
                raise ValueError("not the secret of this host")
            connection.settimeout(STALLED_S)
            if purpose == "own" and self.owner is None:
                if connection.family != socket.AF_UNIX:
                    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self.owner = connection
                self.tell({"ok": senses.facts()})
                return connection
            if purpose in ("put", "bring"):
                self.carry(purpose, first, stream)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            pass
        stream.close()
        connection.close()
        return None

    def carry(self, purpose: str, first: dict[str, Any], stream: Any) -> None:
        """Serve a connection that carries files, in a child."""
        if os.fork():
            return
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            self.listener.close()
            if self.owner is not None:
                self.owner.close()
            error = ""
            try:
                if purpose == "put":
                    files.receive(stream)
                else:
                    files.send_changes(stream, first["folder"], first["have"])
            except (OSError, ValueError, KeyError, TypeError) as failed:
                error = str(failed) or type(failed).__name__
                while purpose == "put" and stream.read(CHUNK):
                    pass  # what is not read would reset the connection, answer and all
            files.send(stream, {"error": error} if error else {"end": True})
        finally:
            os._exit(0)

    def hear(self, owner: socket.socket) -> None:
        """Do what the owner says."""
        try:
            read = owner.recv(1 << 16)
        except OSError:
            read = b""
        if not read:
            self.over = True
            return
        *lines, self.pending = (self.pending + read).split(b"\n")
        for line in lines:
            asked = json.loads(line)
            number, what = asked.pop("id"), asked.pop("do")
            try:
                answer = {"id": number, "ok": getattr(self, "do_" + what)(**asked)}
            except (OSError, ValueError, TypeError, AttributeError) as error:
                answer = {"id": number, "error": str(error) or type(error).__name__}
            self.tell(answer)

    def tell(self, message: dict[str, Any]) -> None:
        """Send the owner a line."""
        assert self.owner is not None
        try:
            self.owner.sendall(json.dumps(message).encode() + b"\n")
        except OSError:
            self.over = True

    def reap(self) -> None:
        """Tell the owner which of its processes have ended; orphans are just buried."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            key = self.running.pop(pid, None)
            if key is not None:
                self.tell({"ended": key, "code": os.waitstatus_to_exitcode(status)})

    def do_start(
        self,
        key: int,
        command: list[str],
        log: str,
        env: dict[str, str],
        cwd: str,
        cpus: list[int],
        user: int | None,
    ) -> int:
        """Start a process in a session of its own; return its id. Its end is told by ``key``."""
        program = find_program(command[0], env.get("PATH", os.defpath))
        for folder in (os.path.dirname(log), cwd):
            files.make_folder(folder, user)
        heard, said = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                become(program, command, log, env, cwd, cpus, user)
            except BaseException as error:
                os.write(said, str(error).encode())
            finally:
                os._exit(127)
        os.close(said)
        with open(heard, "rb") as pipe:  # closed by a successful exec
            failed = pipe.read()
        if failed:
            os.waitpid(pid, 0)
            raise OSError(failed.decode(errors="replace"))
        self.running[pid] = key
        return pid

    def do_signal(self, pid: int, number: int, group: bool) -> bool:
        """Signal a process that was started here, or all of its group, if it still runs."""
        if pid not in self.running:
            return False
        if group:
            kill_group(pid, number)
        else:
            os.kill(pid, number)
        return True

    def do_pin(self, pid: int, cpus: list[int]) -> None:
        """Move all threads of a process to these CPUs."""
        moved: set[int] = set()
        while rest := set(senses.threads(pid)) - moved:
            for thread in rest:
                try:
                    os.sched_setaffinity(thread, cpus)
                except ProcessLookupError:
                    continue
            moved |= rest
        if not moved:
            raise ProcessLookupError(f"no process {pid}")

    def do_renice(self, pid: int, names: str, nice: int | None) -> bool:
        """Give the threads whose names begin so a priority; return whether there are any.

        None is the usual one: that of this agent.
        """
        nice = os.getpriority(os.PRIO_PROCESS, os.getpid()) if nice is None else nice
        found, seen = False, set[int]()
        while rest := set(senses.threads(pid)) - seen:
            for thread in rest:
                try:
                    if senses.read(f"/proc/{pid}/task/{thread}/comm").startswith(names):
                        if os.getpriority(os.PRIO_PROCESS, thread) != nice:
                            os.setpriority(os.PRIO_PROCESS, thread, nice)
                        found = True
                except FileNotFoundError:
                    continue
            seen |= rest
        return found

    def do_free(self, address: str, port: int) -> int:
        """Return a port (for 0 the system's choice) if it is free, else 0."""
        with socket.socket() as probe:
            try:
                probe.bind((address, port))
            except OSError:
                return 0
            found: int = probe.getsockname()[1]
            return found

    def do_tail(self, path: str, size: int) -> str:
        """Return the end of a file, at most so many bytes; empty if there is none."""
        try:
            with open(path, "rb") as file:
                file.seek(max(0, os.fstat(file.fileno()).st_size - size))
                return file.read(size).decode(errors="replace")
        except FileNotFoundError:
            return ""

    def do_facts(self) -> dict[str, Any]:
        """Return what can be found out here about the machine, now."""
        return senses.facts()

    def do_clock(self) -> list[int]:
        """Return monotonic and wall clock in ns."""
        return [time.monotonic_ns(), time.time_ns()]

    def do_shift_clock(self, by_ns: int) -> None:
        """Set the wall clock that much ahead: a machine's own tells no more than seconds."""
        time.clock_settime_ns(time.CLOCK_REALTIME, time.time_ns() + by_ns)

    def do_view(self, pids: dict[str, int]) -> dict[str, Any]:
        """Return what the kernel here tells of itself and of these processes."""
        monotonic, wall = self.do_clock()
        return {"monotonic_ns": monotonic, "wall_ns": wall, **senses.view_all(pids)}

    def do_halt(self) -> None:
        """End everything here, after the answer is sent."""
        self.over = True


def become(
    program: str,
    command: list[str],
    log: str,
    env: dict[str, str],
    cwd: str,
    cpus: list[int],
    user: int | None,
) -> None:
    """Turn this child into the command; returns only by an error."""
    os.setsid()
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)
    os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(out, 1)
    os.dup2(out, 2)
    if cpus:
        os.sched_setaffinity(0, cpus)
    if user is not None and user != os.getuid():
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
    os.chdir(cwd)
    os.execve(program, command, env)


def find_program(name: str, path: str) -> str:
    """Return where a program is. ``os.execvpe`` would import, perhaps as a user who cannot."""
    places = [name] if "/" in name else [f"{folder}/{name}" for folder in path.split(":")]
    for place in places:
        if os.path.isfile(place) and os.access(place, os.X_OK):
            return place
    raise FileNotFoundError("no such program")


def kill_group(pid: int, number: int = signal.SIGKILL) -> None:
    """Signal a process group; one that is gone needs none."""
    try:
        os.killpg(pid, number)
    except ProcessLookupError:
        pass


def main(address: str, port: str, *command: str) -> None:
    """Be the agent."""
    token = os.environ.pop("SIZEBOOK_TOKEN")
    if address == "inherited":
        listener = socket.socket(fileno=int(port))
    else:
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, int(port)))
        listener.listen(16)
    Agent(listener, token).serve()
    sys.stdout.flush()
    if command:
        os.execv(command[0], command)


if __name__ == "__main__":
    main(*sys.argv[1:])
