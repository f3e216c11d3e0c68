"""Values of an answer that a later request needs: tokens, ids, hidden fields, cookies."""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:  # who only plans a load must not import gevent
    from sizebook.load.answer import Exchange
    from sizebook.load.http import HttpClient

_STEP = re.compile(r"([^.\[\]]+)|\[(\d{1,6})\]")
_TAG = re.compile(r"<(?:input|meta)\b[^>]{0,4000}>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"([\w:-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")


class Kept(Protocol):
    """Where in an answer a value is."""

    def find(self, exchange: Exchange, client: HttpClient) -> str | None:
        """Return the value; None if the answer has none."""
        ...


@dataclass(frozen=True, slots=True)
class JsonField:
    """A field of a JSON answer, such as ``data.items[0].id``."""

    path: str

    def find(self, exchange: Exchange, client: HttpClient) -> str | None:  # noqa: ARG002
        try:
            found: Any = json.loads(exchange.body)
            for name, index in _STEP.findall(self.path):
                found = found[int(index)] if index else found[name]
        except (ValueError, RecursionError, LookupError, TypeError):
            return None
        return found if isinstance(found, str) else _number(found)


@dataclass(frozen=True, slots=True)
class FormField:
    """The value of a form's field, or the content of a ``meta`` tag, by its name."""

    name: str

    def find(self, exchange: Exchange, client: HttpClient) -> str | None:  # noqa: ARG002
        return form_fields(exchange.body.decode("utf-8", "replace")).get(self.name)


@dataclass(frozen=True, slots=True)
class CookieValue:
    """The value of a cookie that the server has set, now or before."""

    name: str

    def find(self, exchange: Exchange, client: HttpClient) -> str | None:  # noqa: ARG002
        return client.cookie(self.name)


@dataclass(frozen=True, slots=True)
class Pattern:
    """What the group of a regular expression matches first: in the body, or in Location."""

    regex: str
    where: str = "body"

    def find(self, exchange: Exchange, client: HttpClient) -> str | None:  # noqa: ARG002
        text = exchange.body
        if self.where == "location":
            text = exchange.head.location if exchange.head is not None else b""
        found = re.search(self.regex, text.decode("utf-8", "replace"))
        if found is None:
            return None
        return found[1] if found.re.groups else found[0]


def form_fields(page: str) -> dict[str, str]:
    """Return name to value of the fields and ``meta`` tags of an HTML page; the first counts."""
    fields: dict[str, str] = {}
    for tag in _TAG.findall(page):
        given = {name.lower(): a or b or c for name, a, b, c in _ATTRIBUTE.findall(tag)}
        value = given.get("value", given.get("content"))
        if value is not None and (name := given.get("name")):
            fields.setdefault(html.unescape(name), html.unescape(value))
    return fields


def _number(value: Any) -> str | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return json.dumps(value)
    return None
