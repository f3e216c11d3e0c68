"""Values that an answer gave and a later request sent: tokens, ids, hidden fields.

A value counts as carried over if it was seen in an answer before any request had it, and if it is
long enough to be no coincidence. Cookies need nothing: the client keeps them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from urllib.parse import unquote

from sizebook.load.kept import CookieValue, FormField, JsonField, Kept, Pattern, form_fields
from sizebook.traffic.recordings import RecordedAnswer, RecordedRequest, Recording
from sizebook.traffic.sites import RequestValue, json_leaves, list_sites, put

_TOKEN_NAME = re.compile(r"token|csrf|xsrf|nonce|session|ticket|state|verifier|viewstate", re.I)
_ID_NAME = re.compile(
    r"(?:^|_|-)(?:id|ids|number|no|ref|key|uuid|guid)$|[a-z](?:Id|ID|Number|Ref)$", re.I
)
_NAMES_OF_HEADERS = ("user-agent", "accept", "accept-language", "content-type", "origin", "referer")
LONG, MIDDLE, SHORTEST_TOKEN = 20, 6, 4
RESERVED = ("user", "pass", "target")


@dataclass(frozen=True)
class CarriedValue:
    """A value that is taken out of an answer at run time."""

    name: str
    source: str
    """Method and path of the request whose answer gives it."""
    place: str
    """Where in the answer, in words."""
    used: int = 1
    """Requests that send it."""


@dataclass
class _Source:
    request: int
    key: str
    kept: Kept
    place: str
    name: str = ""
    used: int = 0


def carry_over(recording: Recording) -> tuple[Recording, tuple[CarriedValue, ...]]:
    """Return a session whose requests take carried values from answers, and which these are."""
    sources: dict[str, _Source] = {}
    sent: set[str] = set()
    names = {name for one in recording.requests for name in one.keep} | set(RESERVED)
    requests = list(recording.requests)
    for number, request in enumerate(requests):
        changed = request
        for site in list_sites(request):
            source = sources.get(site.value)
            if source is None or not _is_meant(site, source):
                continue
            source.name = source.name or _new_name(source.key or site.key, names)
            source.used += 1
            changed = put(changed, site, f"{{{{{source.name}}}}}")
        requests[number] = changed
        sent |= {site.value for site in list_sites(request)}
        for value, source in _given(request.answer, number):
            if value not in sent:
                sources.setdefault(value, source)
    used = [source for source in sources.values() if source.used]
    for source in used:
        one = requests[source.request]
        requests[source.request] = replace(one, keep={**one.keep, source.name: source.kept})
    carried = tuple(_told(source, requests[source.request]) for source in used)
    return recording.having(requests=tuple(requests)), carried


def _given(answer: RecordedAnswer | None, number: int) -> Iterator[tuple[str, _Source]]:
    """Give the values of an answer, with where they are."""
    if answer is None:
        return
    for name, value in answer.cookies:
        if value:
            yield unquote(value), _Source(number, name, CookieValue(name), f"cookie {name}")
    for path, key, value in json_leaves(answer.body):
        yield value, _Source(number, key, JsonField(path), f"field {path}")
    if "html" in answer.content_type or answer.body.lstrip()[:1] == "<":
        for name, value in form_fields(answer.body).items():
            yield value, _Source(number, name, FormField(name), f"form field {name}")
    parts = re.split(r"[/?&=#]", re.sub(r"^\w+://[^/]*", "", answer.location))
    for part in parts:
        if part:
            regex = _in_location(answer.location, part)
            kept = Pattern(regex, "location")
            yield unquote(part), _Source(number, "", kept, "header Location")


def _in_location(location: str, value: str) -> str:
    before = location[: location.rindex(value)]
    known = re.search(r"[/?&=]?[^/?&=]*[/?&=]\Z", before)
    return re.escape(known[0] if known else "") + r"([^/?&#]+)"


def _is_meant(site: RequestValue, source: _Source) -> bool:
    """Return whether an equal value is hardly a coincidence."""
    value = site.value
    if " " in value or (site.where == "header" and site.key.lower() in _NAMES_OF_HEADERS):
        return False
    has_digit = any(letter.isdigit() for letter in value)
    if len(value) >= LONG or (has_digit and len(value) >= MIDDLE):
        return True
    if len(value) >= SHORTEST_TOKEN and _TOKEN_NAME.search(source.key or site.key):
        return True
    return value.isdecimal() and _are_ids(site, source)


def _are_ids(site: RequestValue, source: _Source) -> bool:
    """Return whether a short number is called an id where it came from and where it goes."""
    if site.where == "path":
        return bool(_ID_NAME.search(source.key)) or (not source.key and bool(site.key))
    return bool(_ID_NAME.search(source.key) and _ID_NAME.search(site.key))


def _new_name(key: str, taken: set[str]) -> str:
    plain = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key)
    plain = re.sub(r"[^A-Za-z0-9]+", "_", plain).strip("_").lower()[:40]
    plain = plain if plain[:1].isalpha() else f"value_{plain}".rstrip("_")
    name, number = plain, 2
    while name in taken:
        name, number = f"{plain}_{number}", number + 1
    taken.add(name)
    return name


def _told(source: _Source, request: RecordedRequest) -> CarriedValue:
    asked = f"{request.method} {request.path.partition('?')[0]}"
    return CarriedValue(source.name, asked, source.place, source.used)
