"""A caller hands documents in, or asks for data, and waits for what the way of calling gives back.

``sync``: the document is transformed and stored before the answer comes; ``async``: it is queued on
disk, the answer is a receipt, it is stored later. ``data``: a query whose rows are the answer;
``receipt``: the same query, and the answer only says that it was done (HEAD). Closed loop or open
arrivals as the order says. Shows how long a call keeps a request thread, and what it sends back.
Names are those of the ways.
"""

from __future__ import annotations

from typing import ClassVar

from sizebook.load.documents import OrdersDocument, production_orders
from sizebook.load.users import Expect, LeanHttpUser, Setting, SetUp

XML = (("Content-Type", "application/xml"),)
JSON = (("Accept", "application/json"),)


class Caller(LeanHttpUser):
    """Makes one call after the other in one way."""

    role = "app"
    settings: ClassVar[dict[str, Setting]] = {
        "call": Setting("sync", ("sync", "async", "data", "receipt")),
        "bytes": Setting(100_000),
        "documents": Setting(4),
    }

    @classmethod
    def set_up(cls, setup: SetUp) -> list[OrdersDocument]:
        """Return the documents that are sent in turn."""
        size, count = int(setup.settings["bytes"]), int(setup.settings["documents"])
        return [production_orders(size, setup.seed + number) for number in range(count)]

    def iteration(self) -> None:
        """Make one call."""
        call = str(self.setting("call"))
        if call == "data":
            rows = Expect(content_type=b"application/json", contains=b'"carrid":')
            self.get("/rest/flights", name=call, check=rows, headers=JSON)
            return
        if call == "receipt":
            done = Expect(content_type=b"application/json", length=0)
            self.request("HEAD", "/rest/flights", name=call, check=done, headers=JSON)
            return
        document = self.shared[self.iteration_number % len(self.shared)]
        name = f"{self.course.start_ns:x}-{self.iteration_number}"
        if call == "sync":
            path = f"/xml/transform/xslt?id={name}"
            found = f'"rows":{document.rows},"total":{document.total},'
        else:
            path = f"/messaging/messages?id={name}"
            found = f'"bytes":{len(document.body)}'
        good = Expect(contains=found.encode())
        self.post(path, document.body, name=call, check=good, headers=XML)
