"""A test client sends large XML documents, one after the other: the load of chapter 3.

Every document is transformed in one of three ways, or in ``all`` of them in turn, and leaves one
row in the database. Rows and total in the answer must be those that the document was made with.
Documents are made from the seed before anything is counted; their ids are new in each trial, so
that each leaves a row.
"""

from __future__ import annotations

from typing import ClassVar

from sizebook.load.documents import OrdersDocument, production_orders
from sizebook.load.users import Expect, LeanHttpUser, Setting, SetUp

XML = (("Content-Type", "application/xml"),)
WAYS = ("xslt", "xslt-jdk", "actions")


class DocumentSender(LeanHttpUser):
    """Sends the next document and checks what was found in it."""

    role = "app"
    settings: ClassVar[dict[str, Setting]] = {
        "way": Setting("xslt", (*WAYS, "all")),
        "bytes": Setting(1_000_000),
        "documents": Setting(4),
    }

    @classmethod
    def set_up(cls, setup: SetUp) -> list[OrdersDocument]:
        """Return the documents that are sent in turn."""
        size, count = int(setup.settings["bytes"]), int(setup.settings["documents"])
        return [production_orders(size, setup.seed + number) for number in range(count)]

    def iteration(self) -> None:
        """Send one document."""
        number, way = self.iteration_number, self.setting("way")
        if way == "all":
            way = WAYS[number % len(WAYS)]
        document = self.shared[number % len(self.shared)]
        name = f"{self.course.start_ns:x}-{number}"
        answer = (
            f'"id":"{name}","way":"{way}","rows":{document.rows},"total":{document.total},'
            f'"bytesIn":{len(document.body)},'
        )
        self.post(
            f"/xml/transform/{way}?id={name}",
            document.body,
            name="transform",
            check=Expect(contains=answer.encode()),
            headers=XML,
        )
