"""Callers, and senders who do not wait, over one binding: the load of chapter 9.

Every user asks for one call after the other (``way``), the receiver does ``work`` for each: adding
up a payload so many times is CPU time, a statement or a row of the database is time to wait for.
With ``one_way`` nobody waits for that: a message is acknowledged (202) when it is queued. Messages
of a user are numbered, so that the receiver can tell which were done in another order.

The first ``flood`` users do something else: they send one-way messages over JMS with
``flood_work`` as fast as they are taken, while the others call. Acknowledged messages are recorded
as ``one-way``; with work that stores a row, each is a row of table ``binding_message``.

``way="all"`` takes every way in turn, with and without waiting: the load that conditions a node.

``pools`` are the limits that the node's pools get before anything is counted, such as
``web?threads=10;bindings-rpc?threads=5&grows=true``; those not named stay as they are.
"""

from __future__ import annotations

import secrets
from typing import ClassVar

from sizebook.load.users import Expect, LeanHttpUser, Setting, SetUp
from sizebook.model.errors import UsageError

WAYS = ("direct", "queue", "jms", "rpc")
WITH_QUEUE = ("queue", "jms")
ALL = "all"
TURNS = (*((way, False) for way in WAYS), *((way, True) for way in WITH_QUEUE))
MESSAGE = "one-way"
BINARY = (("Content-Type", "application/octet-stream"),)


class Caller(LeanHttpUser):
    """Asks for one call, or sends one message, and checks the answer."""

    role = "app"
    settings: ClassVar[dict[str, Setting]] = {
        "way": Setting("direct", (*WAYS, ALL)),
        "bytes": Setting(1024),
        "work": Setting(""),
        "one_way": Setting(False),
        "flood": Setting(0),
        "flood_work": Setting("row"),
        "pools": Setting(""),
    }

    @classmethod
    def set_up(cls, setup: SetUp) -> str:
        """Set the pools; return what the ids of this run begin with."""
        given = setup.settings
        if given["one_way"] and given["way"] not in WITH_QUEUE:
            raise UsageError(
                found=f"one_way over {given['way']} for pools.py",
                expected=f"one of {', '.join(WITH_QUEUE)}: the others have no queue",
                next_step="correct the load profile's settings",
            )
        for pool in filter(None, str(given["pools"]).split(";")):
            name = pool.partition("?")[0]
            setup.post(
                f"/bindings-pools/{pool}", check=Expect(contains=f'"pool":"{name}"'.encode())
            )
        return secrets.token_hex(4)

    def on_start(self) -> None:
        """Settle what this user asks for, in turn."""
        self.sender = f"{self.shared}.{self.number}"
        self.sequence = 0
        way, work, one_way = self.setting("way"), self.setting("work"), self.setting("one_way")
        if self.number < int(self.setting("flood")):
            way, work, one_way = "jms", self.setting("flood_work"), True
        turns = TURNS if way == ALL else ((str(way), bool(one_way)),)
        self.turns = [self.asking(*turn, str(work)) for turn in turns]

    def asking(self, way: str, one_way: bool, work: str) -> tuple[str, str, str, int, str]:
        """Return path and query, the beginning of the answer, its status, the request's name."""
        size = int(self.setting("bytes"))
        query = f"bytes={size}&work={work}" + ("&one-way=true" if one_way else "")
        told = f'"way":"{way}","bytes":{size},'
        return f"/bindings/{way}", query, told, 202 if one_way else 200, MESSAGE if one_way else way

    def iteration(self) -> None:
        """Ask once."""
        path, query, told, status, name = self.turns[self.sequence % len(self.turns)]
        self.sequence += 1
        identity = f"{self.sender}-{self.sequence}"
        self.post(
            f"{path}?id={identity}&{query}",
            b"",
            name=name,
            check=Expect(status=status, contains=f'"id":"{identity}",{told}'.encode()),
            headers=BINARY,
        )
