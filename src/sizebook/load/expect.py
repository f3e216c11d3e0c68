"""What a good answer is, stated by every request of a scenario."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sizebook.load.answer import Exchange
from sizebook.load.wire import Head

Check = Callable[[Exchange], str]
"""Returns the error class of an answer that came whole: ``status``, ``body``, or empty if good."""


@dataclass(frozen=True, slots=True)
class Expect:
    """What a good answer is: every request states it, for status 200 alone is no success."""

    status: int = 200
    content_type: bytes = b""
    """Start of the Content-Type, in lower case."""
    contains: bytes = b""
    """Bytes that the body contains."""
    length: int | None = None
    """Length of the body."""
    count: tuple[bytes, int] | None = None
    """Bytes and how often the body contains them."""

    def __call__(self, exchange: Exchange) -> str:
        """Return the error class, empty if the answer is as expected."""
        if exchange.status != self.status:
            return "status"
        body = exchange.body
        if self.length is not None and len(body) != self.length:
            return "body"
        if self.contains and self.contains not in body:
            return "body"
        if self.content_type and not (
            exchange.head is not None and exchange.head.content_type.startswith(self.content_type)
        ):
            return "body"
        if self.count is not None and body.count(self.count[0]) != self.count[1]:
            return "body"
        return ""

    def judge(self, answer: Any) -> None:
        """Fail an answer of Locust's own clients, under our error class, if it is not as expected.

        ``answer`` comes from ``FastHttpUser`` or ``HttpUser`` with ``catch_response=True``, inside
        its with-block. One that did not come, or not whole, keeps the exception that Locust has.
        """
        told = answer.request_meta["exception"]
        if answer.status_code == 0 or (told and answer.status_code == self.status):
            return
        exchange = Exchange()
        exchange.status = answer.status_code
        exchange.body = answer.content or b""
        if self.content_type:
            kind = (answer.headers.get("content-type") or "").lower().encode("latin-1")
            length = len(exchange.body)
            exchange.head = Head(exchange.status, length, False, True, kind, ())
        if error := self(exchange):
            answer.failure(error)
