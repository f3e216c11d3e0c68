"""The harness's end of the line to a keeper on another machine (``inside.keeper``), by ssh.

Nobody is asked for a password, no host key but the given one is taken, and the user's own
configuration of ssh is not read. Secrets go through pipes, the names of user and machine through a
file: no command line has them.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import queue
import shutil
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import IO, Any, cast

from sizebook.hosts.base import HostProcess
from sizebook.hosts.cgroups import refused_limit
from sizebook.hosts.guard import Guard
from sizebook.hosts.inside import KEEPER_FILES
from sizebook.hosts.inside.groups import RefusedError
from sizebook.hosts.local import LocalHost
from sizebook.model.errors import HostLacksError, TrialError
from sizebook.model.inventory import SshHost

PROGRAM = "ssh"
_FOLDERS = "sizebook-ssh-"
_BOX = "box"
"""What the machine is called in the configuration, and so in every message of ssh."""
ANSWER_S = 30.0
SILENCE_S = 20.0
"""Without a word from here for so long the host ends itself."""
_END_S = 10.0
_LOADER = """\
import sys, types
for name, source in given[1]:
    module = sys.modules[name] = types.ModuleType(name)
    exec(compile(source, name + ".py", "exec"), module.__dict__)
sys.modules["keeper"].main()
"""
_COMMAND = (
    'exec python3 -I -S -c "import sys,json;'
    'm=json.loads(sys.stdin.buffer.readline());exec(m[0],dict(given=m))"'
)
"""What the login shell there is told: without quotes inside, so that every shell understands it."""
_CONFIGURATION = """\
Host {box}
  HostName {address}
  Port {port}
  User {user}
{key}  HostKeyAlias {box}
  UserKnownHostsFile "{folder}/known_hosts"
  GlobalKnownHostsFile /dev/null
  StrictHostKeyChecking yes
  UpdateHostKeys no
  BatchMode yes
  PreferredAuthentications publickey
  ForwardAgent no
  ForwardX11 no
  RequestTTY no
  ConnectTimeout 10
  ServerAliveInterval 5
  ServerAliveCountMax 3
  ControlMaster auto
  ControlPath "{folder}/control"
  StreamLocalBindMask 0177
  LogLevel ERROR
"""


class KeeperConnection:
    """One ssh process with a keeper at its far end; closed, it leaves nothing here or there."""

    def __init__(self, place: SshHost, name: str, local: LocalHost, guard: Guard) -> None:
        """Start it. Raises HostLacksError where there is no ssh, or the key file is missing."""
        self._name = name
        self._place = place
        self._local = local
        self._guard = guard
        self._numbers = itertools.count(1)
        self._asking = threading.Lock()
        self._told: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._over = threading.Event()
        self._process: HostProcess | None = None
        self._chatter = ""
        self.folder = Path(tempfile.mkdtemp(prefix=_FOLDERS))  # short enough for a UNIX socket
        self._promise = guard.promise(["rm", "-rf", str(self.folder)])
        try:
            self._ssh = find_ssh()
            _configure(self.folder, place, name)
            process = local.start(
                f"ssh {name}", self._words(_COMMAND), log=self.folder / "ssh.log", talk=True
            )
            self._process = process
            threading.Thread(target=self._pump, args=(process.stdout,), daemon=True).start()
            sources = [[path.stem, path.read_text()] for path in KEEPER_FILES]
            self.tell([_LOADER, sources])
        except BaseException:
            self.close()
            raise

    @property
    def stream(self) -> IO[bytes]:
        """The raw way to the keeper, for files."""
        assert self._process is not None
        return cast(Any, self._process.stdin).buffer  # type: ignore[no-any-return]

    def tell(self, message: Any) -> None:
        """Send a line; nobody hears it where the connection is gone."""
        with contextlib.suppress(OSError, ValueError):
            self.stream.write(json.dumps(message).encode() + b"\n")
            self.stream.flush()

    def hear(self, timeout_s: float) -> dict[str, Any]:
        """Return the keeper's next line. Raises HostLacksError or TrialError if there is none."""
        deadline = time.monotonic() + timeout_s
        while True:
            try:
                line = self._told.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise self._silent(f"no answer within {timeout_s:g} s") from None
            if line is None:
                raise self._silent(self._last_words())
            try:
                message = json.loads(line)
            except ValueError:  # what a login shell there prints by itself
                self._chatter = line.strip()
                continue
            if isinstance(message, dict):
                return self._checked(message)

    def ask(self, what: str, **words: Any) -> Any:
        """Return the answer to an order of a host that is open."""
        with self._asking:
            number = next(self._numbers)
            self.tell({"id": number, "do": what, **words})
            while True:
                answer = self.hear(ANSWER_S)
                if answer.get("id") == number:
                    return answer["ok"]
                if "ended" in answer:
                    self._told.put(None)

    def keep_alive(self) -> None:
        """From now on say something now and then: a keeper that hears nothing ends its host."""

        def beat() -> None:
            while not self._over.wait(SILENCE_S / 4):
                with contextlib.suppress(TrialError, HostLacksError):
                    self.ask("beat")

        threading.Thread(target=beat, name=f"beat of {self._name}", daemon=True).start()

    def forward(self, there: str) -> Path:
        """Return a socket here that leads to one there."""
        here = self.folder / "agent"
        self._forward("-L", f"{here}:{there}")
        return here

    def forward_back(self, port: int) -> int:
        """Return a port of the loopback address there that leads to one of this machine's."""
        said = self._forward("-R", f"127.0.0.1:0:127.0.0.1:{port}")
        if not said.isdecimal():
            raise self._lacks(f"a forwarded port that ssh does not name: {said!r}")
        return int(said)

    def _forward(self, kind: str, what: str) -> str:
        words = [self._ssh, "-F", str(self.folder / "config"), "-O", "forward", kind, what, _BOX]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise self._lacks(f"nothing is forwarded: {done.stderr.strip()}")
        return done.stdout.strip()

    def why_ended(self) -> str | None:
        """Return why the connection is gone, None while it is there."""
        process = self._process
        return None if process is not None and process.exit_code is None else self._last_words()

    def close(self) -> None:
        """End the keeper and wait until it has cleaned up, as far as it can be reached."""
        self._over.set()
        process, self._process = self._process, None
        if process is not None:
            if process.stdin is not None:
                with contextlib.suppress(OSError, ValueError):
                    process.stdin.close()
            process.wait(_END_S)
            self._local.stop(process, grace_s=2.0)
        shutil.rmtree(self.folder, ignore_errors=True)
        self._guard.keep(self._promise)

    def _words(self, command: str) -> list[str]:
        return [self._ssh, "-F", str(self.folder / "config"), _BOX, command]

    def _pump(self, source: IO[str]) -> None:
        with contextlib.suppress(OSError, ValueError):
            for line in source:
                self._told.put(line)
        self._told.put(None)

    def _checked(self, message: dict[str, Any]) -> dict[str, Any]:
        if "refused" in message:
            raise refused_limit(f"of host {self._name}", RefusedError(*message["refused"]))
        if "error" in message:
            if message.get("lacks"):
                raise self._lacks(message["error"])
            raise TrialError(
                found=f"host {self._name}: {message['error']}",
                expected="a machine that can do what it is asked",
                next_step="look at it with 'sizebook doctor --inventory FILE'",
            )
        return message

    def _last_words(self) -> str:
        if self._process is None:
            return "the connection was closed"
        code = self._process.wait(2.0)
        said = (self._process.log_tail(2) or self._chatter).replace("\n", "; ")
        return f"ssh ended with {code}: {self._nameless(said) or 'not a word'}"

    def _nameless(self, text: str) -> str:
        """Return what ssh said without the names of user and machine, which go into no bundle."""
        for word, shown in (
            (f"{self._place.user}@{self._place.address}", self._name),
            (self._place.ssh_address or self._place.address, self._name),
            (self._place.address, self._name),
        ):
            text = text.replace(word, shown)
        return text

    def _silent(self, reason: str) -> TrialError:
        return TrialError(
            found=f"host {self._name} is not there ({reason})",
            expected="a machine that lets this user in by key, with python3 on it",
            next_step="look at it with 'sizebook doctor --inventory FILE'",
        )

    def _lacks(self, reason: str) -> HostLacksError:
        return HostLacksError(
            found=f"host {self._name}: {self._nameless(reason)}",
            expected="a Linux machine with Python 3.8 or later, a user who may make name spaces, "
            "and control groups (which only root can make) for limits",
            next_step="look at it with 'sizebook doctor --inventory FILE'",
        )


def find_ssh() -> str:
    """Return the path of ssh. Raises HostLacksError."""
    found = shutil.which(PROGRAM)
    if found is None:
        raise HostLacksError(
            found="no ssh on the path",
            expected="OpenSSH's client, for hosts that are other machines",
            next_step="run 'make setup', or install it (Debian: apt-get install openssh-client)",
        )
    return found


def _configure(folder: Path, place: SshHost, name: str) -> None:
    """Write the configuration of ssh, and the one key that the machine may have."""
    key = Path(place.key).expanduser()
    if place.key and not key.is_file():
        raise HostLacksError(
            found=f"no file {place.key} with the key of host {name}",
            expected="a private key that the machine knows",
            next_step="correct 'key' in the inventory, or leave it out and use an ssh agent",
        )
    lines = f'  IdentityFile "{key}"\n  IdentitiesOnly yes\n' if place.key else ""
    text = _CONFIGURATION.format(
        box=_BOX,
        address=place.ssh_address or place.address,
        port=place.port,
        user=place.user,
        key=lines,
        folder=folder,
    )
    (folder / "config").write_text(text)
    (folder / "known_hosts").write_text(f"{_BOX} {place.host_key}\n")
