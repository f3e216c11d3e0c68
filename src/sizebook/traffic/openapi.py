"""OpenAPI 3: each operation with example values, all equally often.

Examples are the document's own where it has some, else the least that its schemas allow. Operations
that delete have weight 0: which of the objects there are may go, no document tells.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, urlencode

from sizebook.traffic.fields import map_of, maps_of, text_of
from sizebook.traffic.forms import FORM, MULTIPART, FormPart, encode_form, encode_parts
from sizebook.traffic.recordings import (
    MOST_STEPS,
    Omissions,
    Pairs,
    RecordedAnswer,
    RecordedRequest,
    Recording,
    split_url,
)
from sizebook.traffic.refusals import refused
from sizebook.traffic.schema_examples import Examples, NoExampleError

METHODS = ("get", "put", "post", "delete", "options", "head", "patch")


def is_openapi(document: Mapping[str, Any]) -> bool:
    """Return whether a document is one of OpenAPI."""
    return "openapi" in document


def parse_openapi(document: Mapping[str, Any], name: str) -> Recording:
    """Return a request for each operation. Raises UsageError for another version than 3."""
    version = text_of(document, "openapi")
    if not version.startswith("3"):
        raise refused(name, f"OpenAPI {version[:20]!r}", "convert it to OpenAPI 3")
    reader = _Reader(document)
    requests = tuple(reader.requests())
    title = text_of(map_of(document, "info"), "title", "a system")
    notes = ["paths and bodies are examples: put ids that the system has into requests.csv"]
    if any(not one.weight for one in requests):
        notes.append("operations that delete have weight 0: raise it where objects may go")
    if reader.secured:
        notes.append("operations need credentials: fill in users.csv")
    form = f"OpenAPI {version[:10]} of {' '.join(title.split())[:60]}"
    return Recording(form, "mix", requests, reader.omissions.all(), tuple(notes))


class _Reader:
    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document
        self._examples = Examples(document)
        self.omissions = Omissions()
        self.secured = False
        servers = maps_of(document, "servers")
        url = text_of(servers[0], "url") if servers else ""
        for name, given in map_of(servers[0] if servers else {}, "variables").items():
            url = url.replace(f"{{{name}}}", text_of(given, "default"))
        split = split_url(url)
        self._origin = split[0] if split else ""
        self._base = (split[1] if split else url if url.startswith("/") else "").rstrip("/")

    def requests(self) -> Iterator[RecordedRequest]:
        """Give a request for each operation that can be made."""
        number = 0
        for path, given in map_of(self._document, "paths").items():
            item = self._examples.resolve(given)
            for method in METHODS:
                operation = item.get(method)
                if not isinstance(operation, dict) or not isinstance(path, str):
                    continue
                number += 1
                what = f"{method.upper()} {path}"
                if number > MOST_STEPS:
                    self.omissions.add("further operations", f"there are more than {MOST_STEPS:,}")
                    return
                try:
                    yield self._request(method, path, item, operation)
                except NoExampleError:
                    self.omissions.add(what, "its schema asks for itself: no example of it ends")
                except (ValueError, TypeError, RecursionError):
                    self.omissions.add(what, "its example cannot be written as it asks for")

    def _request(
        self, method: str, path: str, item: Mapping[str, Any], operation: Mapping[str, Any]
    ) -> RecordedRequest:
        if "webhook" in operation:
            raise ValueError("no request of a client")
        where: dict[str, dict[str, str]] = {"path": {}, "query": {}, "header": {}, "cookie": {}}
        for holder in (item, operation):
            for given in maps_of(holder, "parameters"):
                one = self._examples.resolve(given)
                place, name = text_of(one, "in"), text_of(one, "name")
                needed = one.get("required") is True or "example" in one or place == "path"
                if place in where and name and needed:
                    holds = next(iter(map_of(one, "content").values()), one)
                    where[place][name] = _text(
                        self._examples.value(holds if isinstance(holds, dict) else one)
                    )
        filled = path
        for name, value in where["path"].items():
            filled = filled.replace(f"{{{name}}}", quote(value, safe=""))
        if "{" in filled.replace("{{", ""):
            raise ValueError(f"a parameter of {path} is not described")
        query = f"?{urlencode(where['query'])}" if where["query"] else ""
        kind, body = self._body(operation)
        headers: Pairs = (("Content-Type", kind),) if kind else ()
        headers += tuple(where["header"].items())
        if where["cookie"]:
            headers += (("Cookie", "; ".join(f"{k}={v}" for k, v in where["cookie"].items())),)
        secured, extra = self._credentials(operation)
        if extra:
            query += ("&" if query else "?") + extra
        status, answer_type = self._answer(operation)
        accept: Pairs = (("Accept", answer_type),) if answer_type else ()
        return RecordedRequest(
            method=method.upper(),
            path=quote(self._base + filled, safe="/%{}:@!$&'()*+,;=~-._") + query,
            origin=self._origin,
            place=text_of(operation, "operationId") or f"{method.upper()} {path}",
            name=f"{method.upper()} {self._base}{path}",
            headers=(*accept, *headers, *secured),
            body=body,
            status=status,
            answer=RecordedAnswer(status, answer_type),
            weight=0.0 if method == "delete" else 1.0,
        )

    def _body(self, operation: Mapping[str, Any]) -> tuple[str, str]:
        """Return Content-Type and example body; JSON first, then forms, then what is left."""
        content = map_of(self._examples.resolve(operation.get("requestBody")), "content")
        kinds = sorted(content, key=lambda kind: ("json" not in kind, "form" not in kind, kind))
        if not kinds:
            return "", ""
        kind, media = kinds[0], content[kinds[0]]
        value = self._examples.value(media if isinstance(media, dict) else {})
        if "json" in kind:
            return kind, json.dumps(value, ensure_ascii=False)
        if kind == FORM and isinstance(value, dict):
            return kind, encode_form((str(k), _text(v)) for k, v in value.items())
        if kind.startswith("multipart/") and isinstance(value, dict):
            return MULTIPART, encode_parts(FormPart(str(k), _text(v)) for k, v in value.items())
        return ("text/plain" if "*" in kind else kind), _text(value)

    def _answer(self, operation: Mapping[str, Any]) -> tuple[int, str]:
        """Return status and Content-Type of the answer that is hoped for."""
        responses = map_of(operation, "responses")
        known = sorted(str(code) for code in responses if str(code)[:1] in ("2", "3"))
        code = known[0] if known else ""
        status = int(code) if code.isdecimal() and len(code) == 3 else 200
        given: Any = next((v for k, v in responses.items() if str(k) == code), {})
        kinds = [k for k in map_of(self._examples.resolve(given), "content") if isinstance(k, str)]
        json_first = sorted(kinds, key=lambda kind: "json" not in kind)
        return status, json_first[0] if json_first and "*" not in json_first[0] else ""

    def _credentials(self, operation: Mapping[str, Any]) -> tuple[Pairs, str]:
        """Return headers and a query that stand for the credentials which an operation needs."""
        asked = operation.get("security", self._document.get("security"))
        first = asked[0] if isinstance(asked, list) and asked and isinstance(asked[0], dict) else {}
        schemes = map_of(map_of(self._document, "components"), "securitySchemes")
        headers: list[tuple[str, str]] = []
        query = ""
        for name in first:
            scheme = self._examples.resolve(schemes.get(name))
            kind, place = text_of(scheme, "type"), text_of(scheme, "in")
            key = text_of(scheme, "name", "key")
            if kind == "http" and text_of(scheme, "scheme").lower() == "basic":
                headers.append(("Authorization", "Basic {{basic_credentials}}"))
            elif kind in ("http", "oauth2", "openIdConnect"):
                headers.append(("Authorization", "Bearer {{bearer_token}}"))
            elif kind == "apiKey" and place == "header":
                headers.append((key, "{{api_key}}"))
            elif kind == "apiKey" and place == "query":
                query = f"{quote(key)}={{{{api_key}}}}"
            elif kind == "apiKey":
                headers.append(("Cookie", f"{key}={{{{api_key}}}}"))
            else:
                continue
            self.secured = True
        return tuple(headers), query


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(not isinstance(each, dict | list) for each in value):
        return ",".join(map(_text, value))
    return json.dumps(value, ensure_ascii=False)
