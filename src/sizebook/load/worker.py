"""A load generator's process on another machine: ``python -m sizebook.load.worker PORT NUMBER``.

It is what ``load.generator`` is, but takes its orders as custom messages of Locust's protocol:
Locust's own ``WorkerRunner`` connects to the master (``load.relay``) through a port of the loopback
address here. Its heartbeat, once a second, runs in the same event loop as the users.
"""

from __future__ import annotations

import locust  # isort: skip  (first: it patches the standard library for gevent)

import hmac
import os
import signal
import sys
from collections.abc import Iterator
from typing import Any

from gevent.queue import Queue
from locust.env import Environment
from locust.event import Events

from sizebook.load.generator import GeneratorProcess, raise_open_file_limit
from sizebook.load.relay import LOOPBACK, MESSAGE
from sizebook.load.trialrun import quieten_locust

assert locust.__version__


class WorkerLine:
    """The way to the lab, through Locust's worker and master."""

    def __init__(self, port: int, number: int, token: str) -> None:
        """Connect; Locust ends the process if there is no master."""
        self._number = number
        self._token = token
        self._heard: Queue[str] = Queue()
        environment: Any = Environment(events=Events())  # type: ignore[no-untyped-call]
        self._runner = environment.create_worker_runner(LOOPBACK, port)
        self._runner.register_message(MESSAGE, self.hear)
        self.say(b"")

    def hear(self, msg: Any, **_: Any) -> None:
        """Take a line of the lab."""
        if hmac.compare_digest(str(msg.data["token"]), self._token):
            self._heard.put(msg.data["line"])

    def say(self, line: bytes) -> None:
        """Send a line to the lab."""
        data = {"token": self._token, "worker": self._number, "line": line.decode()}
        self._runner.send_message(MESSAGE, data)

    def __iter__(self) -> Iterator[str]:
        while True:
            yield self._heard.get()


def main() -> None:
    """Be a worker."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    quieten_locust()
    raise_open_file_limit()
    port, number = map(int, sys.argv[1:])
    line = WorkerLine(port, number, os.environ["SIZEBOOK_TOKEN"])
    GeneratorProcess(line, line.say).serve()


if __name__ == "__main__":
    main()
