"""Where in a request values stand: path, query, headers, the fields of its body."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal, NamedTuple
from urllib.parse import unquote, unquote_plus

from sizebook.traffic.forms import FORM
from sizebook.traffic.recordings import RecordedRequest

MOST_LEAVES = 5_000
LONGEST = 8_192
_ELEMENT = re.compile(r"<([\w:.-]{1,100})(?:\s[^<>]{0,500})?>([^<>]{1,2000})</")
_PART = re.compile(
    r"name=\"([^\"\r\n]{1,100})\"(?:\r?\n[^\r\n]+)*\r?\n\r?\n([^\r\n]{1,2000})\r?\n--"
)
_SCHEME = re.compile(r"(?:Bearer|Token|JWT|ApiKey|Basic)\s+", re.IGNORECASE)

Where = Literal["path", "query", "header", "json", "form", "element", "part"]


class RequestValue(NamedTuple):
    """A value in a request."""

    where: Where
    key: str
    """What stands before it in a path, else the name of field, parameter or header."""
    value: str
    """Decoded."""
    number: int = 0
    """Which one of its kind."""


def list_sites(request: RecordedRequest) -> list[RequestValue]:
    """Return the values of a request, those with a placeholder left out."""
    found = [*_in_path(request), *_in_headers(request), *_in_body(request)]
    return [site for site in found if site.value and "{{" not in site.value]


def json_leaves(text: str) -> Iterator[tuple[str, str, str]]:
    """Give path, key and text of the leaves of a JSON text; none for what is none."""
    if text.lstrip()[:1] not in ("{", "["):
        return
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return
    waiting: list[tuple[str, str, Any]] = [("", "", document)]
    given = 0
    while waiting and given < MOST_LEAVES:
        path, key, value = waiting.pop()
        if isinstance(value, dict):
            inner = [(f"{path}.{name}".lstrip("."), name, each) for name, each in value.items()]
            waiting += inner[::-1]
        elif isinstance(value, list):
            waiting += [(f"{path}[{n}]", key, each) for n, each in enumerate(value)][::-1]
        elif isinstance(value, str) and len(value) <= LONGEST:
            given += 1
            yield path, key, value
        elif isinstance(value, int | float) and not isinstance(value, bool):
            given += 1
            yield path, key, json.dumps(value)


def put(request: RecordedRequest, site: RequestValue, placeholder: str) -> RecordedRequest:
    """Return the request with a placeholder, such as ``{{token}}``, instead of a value."""
    if site.where == "path":
        path, mark, query = request.path.partition("?")
        parts = path.split("/")
        parts[site.number] = placeholder
        return replace(request, path="/".join(parts) + mark + query)
    if site.where == "query":
        path, _, query = request.path.partition("?")
        return replace(request, path=f"{path}?{_put_pair(query, site.number, placeholder)}")
    if site.where == "header":
        name, value = request.headers[site.number]
        scheme = _SCHEME.match(value)
        kept = scheme[0] if scheme and value[scheme.end() :] == site.value else ""
        if site.key.lower() == "authorization" and kept.lower().startswith("basic"):
            kept = "Basic "
        headers = list(request.headers)
        headers[site.number] = (name, kept + placeholder)
        return replace(request, headers=tuple(headers))
    body = request.body
    if not isinstance(body, str):
        return request
    if site.where == "form":
        return replace(request, body=_put_pair(body, site.number, placeholder))
    return replace(request, body=_put_in_text(body, site, placeholder))


def _in_path(request: RecordedRequest) -> Iterator[RequestValue]:
    path, _, query = request.path.partition("?")
    parts = path.split("/")
    for index, part in enumerate(parts):
        if part:
            yield RequestValue("path", parts[index - 1] if index else "", unquote(part), index)
    yield from _in_pairs("query", query)


def _in_pairs(where: Where, text: str) -> Iterator[RequestValue]:
    for index, pair in enumerate(text.split("&")):
        name, equals, value = pair.partition("=")
        if equals:
            yield RequestValue(where, unquote_plus(name), unquote_plus(value), index)


def _in_headers(request: RecordedRequest) -> Iterator[RequestValue]:
    for index, (name, value) in enumerate(request.headers):
        scheme = _SCHEME.match(value)
        yield RequestValue("header", name, value[scheme.end() :] if scheme else value, index)


def _in_body(request: RecordedRequest) -> Iterator[RequestValue]:
    body, kind = request.body, request.content_type
    if not isinstance(body, str) or not body:
        return
    if kind.startswith("multipart/"):
        for index, found in enumerate(_PART.finditer(body)):
            yield RequestValue("part", found[1], found[2], index)
    elif kind.startswith(FORM) and not body.lstrip().startswith(("{", "<")):
        yield from _in_pairs("form", body)
    elif body.lstrip().startswith("<"):
        for index, found in enumerate(_ELEMENT.finditer(body)):
            yield RequestValue("element", found[1].rpartition(":")[2], found[2].strip(), index)
    else:
        for _, key, value in json_leaves(body):
            yield RequestValue("json", key, value)


def _put_pair(text: str, index: int, placeholder: str) -> str:
    pairs = text.split("&")
    pairs[index] = f"{pairs[index].partition('=')[0]}={placeholder}"
    return "&".join(pairs)


def _put_in_text(body: str, site: RequestValue, placeholder: str) -> str:
    raw = {
        json.dumps(site.value)[1:-1],
        json.dumps(site.value, ensure_ascii=False)[1:-1],
        site.value,
    }
    value = "|".join(re.escape(each) for each in sorted(raw, key=len, reverse=True))
    if site.where == "part":
        pattern = rf"(\r?\n\r?\n)(?:{value})(\r?\n--)"
    elif site.where == "element":
        pattern = rf"(<[^<>]*\b{re.escape(site.key)}(?:\s[^<>]*)?>\s*)(?:{value})(\s*</)"
    else:
        pattern = rf"([:\[,]\s*\"?)(?:{value})(\"?\s*[,}}\]])"
        keyed = rf"(\"{re.escape(site.key)}\"\s*:\s*\"?)(?:{value})(\"?\s*[,}}\]])"
        if site.key and re.search(keyed, body):
            pattern = keyed
    return re.sub(pattern, lambda m: f"{m[1]}{placeholder}{m[2]}", body)
