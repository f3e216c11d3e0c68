"""Servers that are not the reference stack's: started by a command, or found running."""

from __future__ import annotations

import hashlib
import os
import random
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sizebook.hosts import Host, HostProcess
from sizebook.model.deployment import LOCAL, ServerRole
from sizebook.model.errors import LostError, TrialError, UsageError
from sizebook.model.server import CounterSource, Filled
from sizebook.stack.endings import ending_of
from sizebook.stack.given import refusal

_LOOK_EVERY_S = 0.02
_VERSION_WITHIN_S = 10.0
_MOST_LINES = 100
_URL_OF = re.compile(r"\{url:([a-z0-9-]+)\}")
_SYLLABLES = ("ba", "co", "di", "fer", "gan", "hu", "lor", "mi", "nes", "po", "ra", "sti", "ter")


@dataclass
class Server:
    """A started server of a chapter's own."""

    name: str
    """Role and number, such as ``web-1``."""
    role: ServerRole
    process: HostProcess
    host: Host
    url: str
    counters_port: int
    """Where it tells what it counts, if it does: a port of its own, or that of its URL."""
    ready_s: float = 0.0
    """Seconds from start to readiness."""

    @property
    def counters(self) -> CounterSource | None:
        """What it tells of itself."""
        return self.role.counters

    @property
    def address(self) -> str:
        """Address at which it tells it."""
        return self.host.address

    @property
    def host_name(self) -> str:
        """Name of the host that it runs on."""
        return self.host.name

    def pid(self) -> int | None:
        """Return its process id on this machine; None if it has ended or runs inside a guest."""
        return self.process.pid if self.process.exit_code is None else None


class ServerStarter:
    """Starts the servers of one deployment that are not the reference stack's."""

    def __init__(self, root: Path, state: Path, folder: Path) -> None:
        """``root`` is the project, ``state`` has unpacked programs, ``folder`` is this start's."""
        self._root = root
        self._state = state
        self._folder = folder

    def start(
        self, role: ServerRole, host: Host, targets: Mapping[str, str], servers: list[Server]
    ) -> Server:
        """Start a server, add it to ``servers`` at once, and return it when it is ready.

        ``targets`` are the URLs of roles that run already. Raises TrialError if it ends or does not
        become ready, HostLacksError if the host has not its program, UsageError for a role or file
        that there is not.
        """
        name = f"{role.role}-1"
        own = self._folder / "data" / name
        own.mkdir(parents=True, exist_ok=True)
        texts = [text for text in role.files.values() if isinstance(text, str)]
        texts += [*role.command, *role.environment.values()]
        port = host.free_port()
        apart = any("{counters_port}" in text for text in texts)
        counters_port = host.free_port() if apart else port
        count = len(role.cpus) or host.facts().logical_cpus
        known = {"port": port, "counters_port": counters_port, "cpus": count}
        places = {"address": host.address, "folder": str(own), "project": str(self._root)}

        def put_in(text: str) -> str:
            for word, value in (*known.items(), *places.items()):
                text = text.replace(f"{{{word}}}", str(value))
            return _URL_OF.sub(lambda found: _target(found[1], targets, role.role), text)

        for path, content in role.files.items():
            file = own / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(
                made(content) if isinstance(content, Filled) else put_in(content).encode()
            )
        host.put(own, own)
        for needed in needed_files(role, self._root):
            host.put(needed, needed)
        environment = {"LC_ALL": "C.UTF-8", "TZ": "UTC", "PATH": os.environ.get("PATH", os.defpath)}
        environment |= inherited(role)
        environment |= {key: put_in(text) for key, text in role.environment.items()}
        command = [put_in(word) for word in role.command]
        began = time.monotonic()
        process = host.start(
            name,
            [self._program(command[0], host), *command[1:]],
            log=self._folder / "logs" / f"{name}.log",
            cpus=role.cpus if host.name == LOCAL else (),
            env=environment,
            cwd=own,
            stop_signal=signal.Signals[f"SIG{role.stop_signal}"],
        )
        counts_at = role.counters.port if role.counters and role.counters.port else counters_port
        server = Server(name, role, process, host, f"http://{host.address}:{port}", counts_at)
        servers.append(server)
        _wait_ready(server)
        server.ready_s = time.monotonic() - began
        return server

    def version(self, server: Server) -> str:
        """Return the first line that a server's version command prints; empty if it has none."""
        words = server.role.version
        if words is None:
            return ""
        host = server.host
        command = [self._program(words[0], host), *words[1:]]
        log = self._folder / "data" / f"{server.name}.version"
        environment = {"PATH": os.environ.get("PATH", os.defpath)}
        process = host.start(f"{server.name}-version", command, log=log, env=environment)
        process.wait(_VERSION_WITHIN_S)
        lines = process.log_tail(_MOST_LINES).splitlines()
        host.stop(process)
        return next((line.strip()[:200] for line in lines if line.strip()), "")

    def _program(self, name: str, host: Host) -> str:
        """Return where a program is: a host that shares this machine's files has unpacked ones."""
        return find_program(name, self._state) if host.shares_files else name


def find_program(name: str, state: Path) -> str:
    """Return the path of a program: on the path, or unpacked by set-up; its name if it is nowhere.

    Set-up unpacks what would be started, and stay, if it were installed.
    """
    if os.sep in name or (found := shutil.which(name)) is None:
        unpacked = sorted(state.glob(f"programs/*/usr/*bin/{name}")) if os.sep not in name else []
        return str(unpacked[0]) if unpacked else name
    return found


def needed_files(role: ServerRole, root: Path) -> list[Path]:
    """Return the files and folders of the project that a server needs. Raises UsageError."""
    found = [root / path for path in role.needs]
    for path, needed in zip(role.needs, found, strict=True):
        if not needed.exists():
            raise UsageError(
                found=f"role {role.role}, which needs {path}",
                expected="a file or folder of this project",
                next_step="correct 'needs' in the notebook, or add the file",
            )
    return found


def inherited(role: ServerRole) -> dict[str, str]:
    """Return the variables that a server gets from here. Raises UsageError if one is not set."""
    for name in role.inherits:
        if name not in os.environ:
            raise UsageError(
                found=f"role {role.role}, which needs the environment variable {name}",
                expected="a value of it",
                next_step=f"set {name} before the run",
            )
    return {name: os.environ[name] for name in role.inherits}


def server_fingerprint(role: ServerRole, root: Path, state: Path) -> str:
    """Return the SHA-256 of a server's version and of the files that it needs.

    Empty if neither is known here, such as where its program is missing.
    """
    total = hashlib.sha256()
    for needed in needed_files(role, root):
        inner = sorted(needed.rglob("*")) if needed.is_dir() else [needed]
        for file in (each for each in inner if each.is_file()):
            digest = hashlib.sha256(file.read_bytes()).hexdigest()
            total.update(f"{file.relative_to(root).as_posix()}\0{digest}\n".encode())
    if role.version is not None:
        command = [find_program(role.version[0], state), *role.version[1:]]
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=_VERSION_WITHIN_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return ""
        total.update(done.stdout)
    return total.hexdigest() if role.needs or role.version else ""


def made(filled: Filled) -> bytes:
    """Return contents of a file: made-up words, of which a compressor leaves about a third."""
    chance = random.Random(filled.seed)
    words = ["".join(chance.choices(_SYLLABLES, k=chance.randint(1, 4))) for _ in range(2000)]
    parts: list[str] = []
    length = 0
    while length < filled.size_bytes:
        line = " ".join(chance.choices(words, k=12)) + "\n"
        parts.append(line)
        length += len(line)
    return "".join(parts).encode()[: filled.size_bytes]


def _target(role: str, targets: Mapping[str, str], own: str) -> str:
    if role not in targets:
        raise UsageError(
            found=f"{{url:{role}}} for role {own}, and no role {role} that was started before",
            expected=f"one of {', '.join(targets) or 'none: it is the first'}",
            next_step="correct the name, or the order of the roles",
        )
    return targets[role]


def _wait_ready(server: Server) -> None:
    """Wait until a server answers; raise TrialError if it ends or takes too long."""
    deadline = time.monotonic() + server.role.ready_within_s
    while (reason := refusal(server.url, server.role.ready)) is not None:
        ending = ending_of(server.process)
        if ending is not None:
            kind = LostError if ending.is_killed else TrialError
            raise kind(
                found=f"{server.name} ended with {ending.exit_code} before it was ready: "
                f"{ending.last_words or 'it printed nothing'}",
                expected="a server that stays in the foreground and listens on {port}",
                next_step="run its command by hand, and correct the role in the notebook",
            )
        if time.monotonic() > deadline:
            raise TrialError(
                found=f"{server.name} not ready in {server.role.ready_within_s:g} s ({reason}): "
                f"{server.process.log_tail(3) or 'it printed nothing'}",
                expected=f"an answer with a status below 300 at {server.role.ready}",
                next_step="correct command, 'ready' or 'ready_within_s' of the role",
            )
        time.sleep(_LOOK_EVERY_S)
