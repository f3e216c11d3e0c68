"""A queue is filled while nobody works on it, then drained into the database.

One operator, who closes the loop: has each node fill its queue (names ``fill``), starts the
consumers (``start``), looks again and again until nothing is left (``state``), and stops them
(``stop``). Think time is the pause between two looks. Filling is a pass of its own, so that the
rows of the pass with ``start`` span the drain: from the first ``start`` to the end of the last
``state``, which tells its time to the pause between two looks. The drain is over when each node has
stored as many messages as it was given. The nodes' consumers are off in between (deployment setting
``consumers=0``). With a broker process the nodes share one queue; give ``shared=true``.

Passes that begin in the warm-up are short: one chunk for each node, drained alike, their start
called ``warm start``. Each acknowledged ``fill`` leaves ``chunk`` rows in table ``messaging_row``,
so ``messages`` is a multiple of ``nodes`` times ``chunk``.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable
from time import monotonic_ns
from typing import Any, ClassVar, NoReturn

from locust.exception import StopUser

from sizebook.load.answer import Exchange
from sizebook.load.users import Check, LeanHttpUser, Setting, SetUp
from sizebook.model.errors import TrialError
from sizebook.model.load import ClosedLoop

MISDIRECTED = 421
"""Status of a node behind the balancer that is not the one that was meant."""
TRIES = 200
CLEARED_WITHIN_S = 100.0
"""Longest wait for what an earlier trial, cut off, left in the queues."""


class Operator(LeanHttpUser):
    """Fills, starts, waits, stops."""

    role = "app"
    results = "passes"
    settings: ClassVar[dict[str, Setting]] = {
        "messages": Setting(250_000),
        "bytes": Setting(1024),
        "chunk": Setting(2_000),
        "consumers": Setting(10),
        "nodes": Setting(1),
        "shared": Setting(False),
    }

    @classmethod
    def set_up(cls, setup: SetUp) -> int:
        """Return a number that tells the messages of this run from those of others.

        What an earlier trial left in the queues is drained first. Raises TrialError for messages
        that are no whole chunks for each node, and for queues that do not become empty.
        """
        messages, nodes, chunk = (
            int(setup.settings[name]) for name in ("messages", "nodes", "chunk")
        )
        if min(messages, nodes, chunk) < 1 or messages % (nodes * chunk):
            raise TrialError(
                found=f"{messages} messages for {nodes} nodes in chunks of {chunk}",
                expected=f"a multiple of {nodes * chunk}",
                next_step="correct the settings of the load profile",
            )
        clear(setup, nodes, int(setup.settings["consumers"]))
        return secrets.randbits(40) << 16

    def on_start(self) -> None:
        """Name the nodes; raises TrialError if there is another operator."""
        arrivals = self.course.load.arrivals
        if not isinstance(arrivals, ClosedLoop) or arrivals.users != 1:
            raise TrialError(
                found=f"{arrivals.users} users ({arrivals.kind})",
                expected="one operator in a closed loop",
                next_step="set the load profile's arrivals to ClosedLoop(users=1, think_s=...)",
            )
        self.pause_ns = round(arrivals.think_s * 1e9)
        self.nodes = [f"app-{number + 1}" for number in range(int(self.setting("nodes")))]
        self.fillings = 0

    def pass_once(self) -> None:
        """Fill, which is not timed, then drain. Raises TrialError if that took too long."""
        course = self.course
        self.iteration_number = course.next_iteration()
        try:
            self.whole = monotonic_ns() >= course.measured[0]
            self.given = self.fill()
            super().pass_once()
            self.command("consumers?count=0", self.nodes, "stop")
        except StopUser:
            if course.end_ns < course.measured[1]:  # ended early by order of the lab
                raise
            raise TrialError(
                found=f"a queue that was not drained {course.load.phases.drain_s:g} s after the "
                "measured phase",
                expected="an end of the drain",
                next_step="look at the nodes' logs, or give fewer messages or a longer drain_s",
            ) from None

    def fill(self) -> dict[str, int]:
        """Give each node its share of the messages; return node to messages on its queue."""
        chunk = int(self.setting("chunk"))
        share = int(self.setting("messages")) // len(self.nodes) if self.whole else chunk
        for node in self.nodes:
            for _ in range(share // chunk):
                seed = self.shared + self.fillings
                self.fillings += 1
                path = f"fill?count={chunk}&bytes={self.setting('bytes')}&seed={seed}"
                self.command(path, [node], "fill", contains=f'"count":{chunk}')
        return dict.fromkeys(self.nodes, share)

    def iteration(self) -> None:
        """Start the consumers of all nodes and wait until nothing is left."""
        before = {node: self.state(node)["stored"] for node in self.nodes}
        name = "start" if self.whole else "warm start"
        self.command(f"consumers?count={self.setting('consumers')}", self.nodes, name)
        shared, total = bool(self.setting("shared")), sum(self.given.values())
        left = list(self.nodes)
        stored = dict.fromkeys(self.nodes, 0)
        while left:
            for node in tuple(left):
                now = self.state(node)
                stored[node] = now["stored"] - before[node]
                mine = total if shared else self.given[node]
                count = sum(stored.values()) if shared else stored[node]
                if now["depth"] == 0 and count >= mine:
                    left.remove(node)
            if left:
                self.course.clock.sleep_until(monotonic_ns() + self.pause_ns)
        if sum(stored.values()) != total:
            raise TrialError(
                found=f"{sum(stored.values())} messages stored",
                expected=f"the {total} that were sent",
                next_step="look at the logs of nodes and broker",
            )

    def command(self, path: str, nodes: list[str], name: str, contains: str = "") -> None:
        """Tell each node something; raises TrialError if one refuses."""
        for node in nodes:
            self.at(node, "POST", f"/messaging/{path}&node={node}", name, contains)

    def state(self, node: str) -> dict[str, Any]:
        """Return what a node tells of its queue."""
        answer = self.at(node, "GET", f"/messaging/state?node={node}", "state", '"depth":')
        state: dict[str, Any] = json.loads(answer.body)
        return state

    def at(self, node: str, method: str, path: str, name: str, contains: str) -> Exchange:
        """Send a request until the balancer gives it to the node that it is meant for."""

        def send() -> Exchange:
            answer = self.request(method, path, name=name, check=expected(contains))
            return answer if not self.error else refuse(name, node, self.error, answer)

        return reach(send, name, node)


def reach(send: Callable[[], Exchange], name: str, node: str) -> Exchange:
    """Send until it was the node that was meant; raises TrialError if that never happens."""
    for _ in range(TRIES):
        answer = send()
        if answer.status == 200:
            return answer
    return refuse(name, node, "never reached", answer)


def refuse(name: str, node: str, error: str, answer: Exchange) -> NoReturn:
    """Raise the TrialError of a node that did not answer as it should."""
    raise TrialError(
        found=f"{name} at {node}: {error} ({answer.status})",
        expected="an answer of that node",
        next_step="give the number of app nodes as setting 'nodes'; look at the nodes' logs",
    )


def clear(setup: SetUp, nodes: int, consumers: int) -> None:
    """Drain what is left in the queues and leave them without consumers."""

    def tell(number: int, method: str, path: str) -> Exchange:
        node = f"app-{number + 1}"
        name = f"set-up ({path})"

        def send() -> Exchange:
            answer = setup.client.request(method, f"/messaging/{path}node={node}")
            error = answer.error or expected("")(answer)
            return refuse(name, node, error, answer) if error else answer

        return reach(send, name, node)

    def depth() -> int:
        return sum(int(json.loads(tell(n, "GET", "state?").body)["depth"]) for n in range(nodes))

    def hire(count: int) -> None:
        for number in range(nodes):
            tell(number, "POST", f"consumers?count={count}&")

    hire(0)
    if not depth():
        return
    hire(max(1, consumers))
    deadline = time.monotonic() + CLEARED_WITHIN_S
    while left := depth():
        if time.monotonic() > deadline:
            raise TrialError(
                found=f"{left} messages left from before after {CLEARED_WITHIN_S:g} s",
                expected="empty queues",
                next_step="give fewer messages, or trials that are not cut off",
            )
        time.sleep(0.05)
    hire(0)


def expected(contains: str) -> Check:
    """Return a check that takes an answer with this text, or that of another node."""
    text = contains.encode()

    def check(exchange: Exchange) -> str:
        if exchange.status == MISDIRECTED:
            return ""
        if exchange.status != 200:
            return "status"
        return "" if text in exchange.body else "body"

    return check
