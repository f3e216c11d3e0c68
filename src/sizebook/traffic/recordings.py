"""What every reader gives: requests with what is known of them, and what could not be taken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal
from urllib.parse import urlsplit

from sizebook.load.kept import Kept

Pairs = tuple[tuple[str, str], ...]
Kind = Literal["session", "mix", "log"]
"""``session``: steps in their order; ``mix``: requests by weight; ``log``: requests that came at
times of their own."""
MOST_REQUESTS = 2_000_000
MOST_STEPS = 2_000


@dataclass(frozen=True)
class RecordedAnswer:
    """What came back."""

    status: int = 200
    content_type: str = ""
    body: str = ""
    cookies: Pairs = ()
    location: str = ""


@dataclass(frozen=True)
class RecordedRequest:
    """One request as a file tells it."""

    method: str
    path: str
    """From ``/`` on, with its query."""
    place: str = ""
    """Where in the file it stands, such as ``entry 3``."""
    origin: str = ""
    """Scheme, host and port, such as ``https://shop.example``; empty where the file has none."""
    name: str = ""
    """What the file itself calls it; empty: made of method and path."""
    headers: Pairs = ()
    body: str | bytes = ""
    answer: RecordedAnswer | None = None
    status: int = 200
    """Status of a good answer."""
    contains: str = ""
    begin_s: float = 0.0
    length_s: float = 0.0
    pause_s: float = 0.0
    """Think time before it."""
    group: str = ""
    """Page or folder to which it belongs."""
    weight: float = 1.0
    keep: Mapping[str, Kept] = field(default_factory=dict)

    @property
    def content_type(self) -> str:
        """Content-Type of its body, in lower case; empty if it says none."""
        return next((v.lower() for n, v in self.headers if n.lower() == "content-type"), "")


@dataclass(frozen=True)
class Omission:
    """What of a file was not taken, and why."""

    what: str
    why: str
    number: int = 1


@dataclass(frozen=True)
class Recording:
    """The requests of one file."""

    form: str
    """What it was read as, such as ``HAR of Firefox 128.0``."""
    kind: Kind
    requests: tuple[RecordedRequest, ...]
    left_out: tuple[Omission, ...] = ()
    notes: tuple[str, ...] = ()
    """What was assumed."""
    cookies: Pairs = ()
    """Cookies that a visitor brought along."""

    def having(self, **changes: object) -> Recording:
        """Return the same with other contents."""
        return replace(self, **changes)  # type: ignore[arg-type]


class Omissions:
    """Collects what is left out: equal ones are counted."""

    def __init__(self, known: Iterable[Omission] = ()) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()
        for each in known:
            self.add(each.what, each.why, each.number)

    def add(self, what: str, why: str, number: int = 1) -> None:
        """Note something that was not taken."""
        self._counts[" ".join(what.split())[:200], why] += number

    def all(self) -> tuple[Omission, ...]:
        """Return what was left out, in the order in which it was met."""
        return tuple(Omission(what, why, n) for (what, why), n in self._counts.items())


def split_url(url: str) -> tuple[str, str] | None:
    """Return origin and path with query of an http URL; None for any other."""
    try:
        parts = urlsplit(url.strip())
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return None
    if parts.scheme.lower() not in ("http", "https") or not parts.hostname:
        return None
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    path = parts.path or "/"
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.scheme.lower()}://{host}{port}", path + query
