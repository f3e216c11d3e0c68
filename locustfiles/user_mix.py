"""Users click through pages while documents come in the background: the load of chapter 6.

Users are in groups, each with a pace of its own, as the load profile says. Those of the groups
named ``clerks`` log in when they join, then they click: a click is a page, for each of its four or
five parts the query, its display, and the binary data of its chart, one after the other over the
user's connection and session. A user of a group named ``background`` sends a document of 100 kB.
The report has half of the clerks click every 10 s, half every 30 s, and a document come every 5 s.

Clicks have due times that are fixed by the seed, whatever the server does; the latency of a click's
first request counts from there. One that is overdue starts as soon as the user's last one is done.
"""

from __future__ import annotations

import random
import struct
from typing import Any, ClassVar

from sizebook.load.documents import OrdersDocument, production_orders
from sizebook.load.users import Expect, LeanHttpUser, Setting, SetUp

CLERKS, BACKGROUND = "clerks", "background"
XML = (("Content-Type", "application/xml"),)
PAGES = 10
"""Pages of the stack; odd ones have five parts, even ones four."""


class MixedUser(LeanHttpUser):
    """A clerk who clicks at fixed times, or the background that sends documents."""

    role = "app"
    groups = (CLERKS, BACKGROUND)
    settings: ClassVar[dict[str, Setting]] = {
        "document_bytes": Setting(100_000),
        "chart_bytes": Setting(8192),
    }

    @classmethod
    def set_up(cls, setup: SetUp) -> list[OrdersDocument]:
        """Return the documents that are sent in turn."""
        size = int(setup.settings["document_bytes"])
        return [production_orders(size, setup.seed + number) for number in range(4)]

    def __init__(self, environment: Any) -> None:
        super().__init__(environment)
        self.random = random.Random(f"{self.course.load.seed} {self.number}")
        self.name = f"u{self.number}"
        self.known = False
        self.sent = 0

    def join(self) -> None:
        """Log in, if this is a clerk."""
        if self.group_name == CLERKS:
            self.log_in()

    def iteration(self) -> None:
        """Send a document, or click."""
        if self.group_name == BACKGROUND:
            self.send_document()
        else:
            self.click()

    def send_document(self) -> None:
        document = self.shared[self.sent % len(self.shared)]
        name = f"{self.course.start_ns:x}-{self.number}-{self.sent}"
        self.sent += 1
        found = f'"id":"{name}","rows":{document.rows},"total":{document.total},'
        self.post(
            f"/pages/documents?id={name}",
            document.body,
            name="document",
            check=Expect(contains=found.encode()),
            headers=XML,
        )

    def log_in(self) -> None:
        good = Expect(contains=f'"user":"{self.name}"'.encode())
        self.post(f"/pages/login?user={self.name}", b"", name="login", check=good)
        self.known = not self.error

    def click(self) -> None:
        """Ask for all parts of a page, in order; log in before if there is no session any more."""
        if not self.known:
            self.log_in()
            if not self.known:
                return
        page = self.random.randrange(1, PAGES + 1)
        for part in range(1, 6 if page % 2 else 5):
            if not self.ask_part(page, part):
                return

    def ask_part(self, page: int, part: int) -> bool:
        """Send the three requests of a part; return whether the session is still there."""
        path = f"/pages/{page}/parts/{part}/"
        rows = f'"page":{page},"part":{part},"user":"{self.name}",'.encode()
        table = f'id="page-{page}-part-{part}" data-user="{self.name}"'.encode()
        chart = b"RCHT" + struct.pack(">ii", page, part)
        size = int(self.setting("chart_bytes"))
        for name, good in (
            ("query", Expect(contains=rows)),
            ("display", Expect(content_type=b"text/html", contains=table)),
            ("data", Expect(length=size, contains=chart)),
        ):
            answer = self.get(path + name, name=name, check=good)
            if answer.status == 401:
                self.known = False
                return False
        return True
