"""Locust's master, which carries words between the lab and workers on other machines.

``python -m sizebook.load.relay PORT`` listens on the loopback address; what leads there from other
machines is their host's business. Workers are Locust's own ``WorkerRunner`` (``load.worker``),
words are custom messages of Locust's protocol. When requests start is not decided here: the lab's
orders say it, and each worker keeps its own schedule.

One JSON object a line: ``{"to": 3, "line": ...}`` comes in, ``{"from": 3, "line": ...}`` goes out;
the first that goes out is ``{"from": -1, "line": ""}``. A message without the secret of this run
(``SIZEBOOK_TOKEN``) is not heard. It ends when its standard input ends.
"""

from __future__ import annotations

import locust  # isort: skip  (first: it patches the standard library for gevent)

import hmac
import json
import os
import sys
from typing import Any

import gevent
from gevent.fileobject import FileObjectPosix
from locust.env import Environment
from locust.event import Events

from sizebook.load.trialrun import quieten_locust

MESSAGE = "sizebook"
"""Type of the custom messages."""
LOOPBACK = "127.0.0.1"
READY = -1

assert locust.__version__


class Relay:
    """Knows which client of Locust's master is which worker."""

    def __init__(self, port: int, token: str, sink_fd: int) -> None:
        self._token = token
        self._sink_fd = sink_fd
        self._clients: dict[int, str] = {}
        environment: Any = Environment(events=Events())  # type: ignore[no-untyped-call]
        self._runner = environment.create_master_runner(LOOPBACK, port)
        self._runner.register_message(MESSAGE, self.hear)
        self.tell(READY, "")

    def hear(self, msg: Any, **_: Any) -> None:
        """Hand a worker's line to the lab; its first one only says who it is."""
        data = msg.data
        if not isinstance(data, dict) or not hmac.compare_digest(
            str(data.get("token", "")), self._token
        ):
            return
        worker, line = int(data["worker"]), str(data["line"])
        self._clients[worker] = msg.node_id
        if line:
            self.tell(worker, line)

    def serve(self, source: Any) -> None:
        """Hand the lab's lines to their workers until there are no more."""
        for text in source:
            said = json.loads(text)
            data = {"token": self._token, "line": said["line"]}
            self._runner.send_message(MESSAGE, data, self._clients.get(said["to"], "nobody"))

    def tell(self, worker: int, line: str) -> None:
        """Say something to the lab."""
        text = json.dumps({"from": worker, "line": line}).encode() + b"\n"
        while text:
            text = text[os.write(self._sink_fd, text) :]


def main() -> None:
    """Be the relay."""
    quieten_locust()
    sink_fd = os.dup(1)
    os.dup2(2, 1)
    relay = Relay(int(sys.argv[1]), os.environ["SIZEBOOK_TOKEN"], sink_fd)
    gevent.spawn(relay.serve, FileObjectPosix(os.dup(0), "rb")).join()
    os._exit(0)


if __name__ == "__main__":
    main()
