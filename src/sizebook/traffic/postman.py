"""Postman collections, format 2.0 and 2.1: their requests one after the other, as the runner does.

``{{variables}}`` that the collection gives are filled in; others are columns of ``users.csv``.
Scripts do not run. Of them are read: that a field of the answer is stored in a variable, and which
status is expected.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from sizebook.load.kept import JsonField, Kept
from sizebook.load.placeholders import PLACEHOLDER
from sizebook.traffic.fields import header_of, map_of, maps_of, text_of
from sizebook.traffic.forms import (
    FORM,
    MULTIPART,
    FormPart,
    encode_form,
    encode_parts,
    quote_kept,
)
from sizebook.traffic.recordings import (
    MOST_STEPS,
    Omissions,
    Pairs,
    RecordedRequest,
    Recording,
    split_url,
)
from sizebook.traffic.refusals import refused

DEEPEST = 40
_SET = re.compile(
    r"(?:pm|postman)\.(?:environment|globals|variables|collectionVariables|setEnvironmentVariable|"
    r"setGlobalVariable)(?:\.set)?\(\s*['\"]([\w.-]{1,64})['\"]\s*,\s*([^;\n]{1,300}?)\s*\)\s*;?\s*$",
    re.MULTILINE,
)
_ANSWER = re.compile(r"(?:pm\.response\.json\(\)|JSON\.parse\(responseBody\))((?:\.\w+|\[\d+\])+)")
_PARSED = re.compile(
    r"(?:var|let|const)\s+(\w+)\s*=\s*(?:pm\.response\.json\(\)|JSON\.parse\(responseBody\))"
)
_STATUS = re.compile(r"to\.have\.status\((\d{3})\)|responseCode\.code\s*===?\s*(\d{3})")
_UNIQUE = "00000000-0000-4000-8000-{{user}}{{pass}}"
_DYNAMIC = {"$guid": _UNIQUE, "$randomUUID": _UNIQUE, "$randomInt": "{{pass}}",
            "$timestamp": "{{pass}}"}  # fmt: skip
_DYNAMIC_NAME = re.compile(r"\{\{(\$\w+)\}\}")


def is_collection(document: Mapping[str, Any]) -> bool:
    """Return whether a JSON document is a collection, also one that the API has wrapped."""
    inner = map_of(document, "collection") or document
    return isinstance(inner.get("item"), list) and isinstance(inner.get("info"), dict)


def parse_collection(document: Mapping[str, Any], name: str) -> Recording:
    """Return the requests of a collection in their order."""
    inner = map_of(document, "collection") or document
    schema = text_of(map_of(inner, "info"), "schema")
    if "/v1." in schema:
        raise refused(name, "a Postman collection of format 1", "export it as Collection v2.1")
    reader = _Reader(inner)
    requests = tuple(reader.requests(inner, "", map_of(inner, "auth"), 0))
    title = " ".join(text_of(map_of(inner, "info"), "name", "a collection").split())[:60]
    notes = ["the requests follow each other without think times: the collection has none"]
    return Recording(
        f"Postman collection {title}", "session", requests[:MOST_STEPS], reader.omissions.all(),
        tuple(notes),
    )  # fmt: skip


class _Reader:
    def __init__(self, collection: Mapping[str, Any]) -> None:
        self.omissions = Omissions()
        self._variables = {
            text_of(each, "key") or text_of(each, "id"): text_of(each, "value")
            for each in maps_of(collection, "variable")
            if each.get("disabled") is not True
        }
        self._variables = {k: v for k, v in self._variables.items() if v}

    def requests(
        self, folder: Mapping[str, Any], group: str, auth: Mapping[str, Any], depth: int
    ) -> Iterator[RecordedRequest]:
        """Give the requests of a folder and of those within it."""
        if depth > DEEPEST:
            self.omissions.add(f"folder {group}", f"it lies {DEEPEST} folders deep")
            return
        for number, item in enumerate(maps_of(folder, "item"), 1):
            title = " ".join(text_of(item, "name", f"request {number}").split())
            own = map_of(item, "auth") or auth
            if isinstance(item.get("item"), list):
                self._scripts(item, f"folder {title}")
                yield from self.requests(item, title, own, depth + 1)
            elif isinstance(given := item.get("request"), dict | str):
                request = self._request(
                    {"url": given, "method": "GET"} if isinstance(given, str) else given,
                    item, title, group, own,
                )  # fmt: skip
                if request is not None:
                    yield request

    def _request(
        self, given: Mapping[str, Any], item: Mapping[str, Any], title: str, group: str,
        auth: Mapping[str, Any],
    ) -> RecordedRequest | None:  # fmt: skip
        url = self._filled(_url(given.get("url")))
        if url and "://" not in url.partition("?")[0]:
            url = f"http://{url.lstrip('/')}"
        origin, path = self._target(url)
        method = text_of(given, "method", "GET").upper()
        if not path:
            self.omissions.add(title, f"its URL {url[:100]!r} leads nowhere")
            return None
        headers = tuple(
            (self._filled(text_of(each, "key")), self._filled(text_of(each, "value")))
            for each in maps_of(given, "header")
            if each.get("disabled") is not True and text_of(each, "key")
        )
        kind, body = self._body(map_of(given, "body"), title)
        if kind and (not header_of(headers, "content-type") or kind == MULTIPART):
            headers = tuple(pair for pair in headers if pair[0].lower() != "content-type")
            headers += (("Content-Type", kind),)
        extra, query = self._auth(map_of(given, "auth") or auth, title)
        if query:
            path += ("&" if "?" in path else "?") + query
        keep, status = self._scripts(item, title)
        return RecordedRequest(
            method=method, path=path, origin=origin, place=title, name=f"{method} {title}",
            headers=(*headers, *extra), body=body, status=status, group=group, keep=keep,
        )  # fmt: skip

    def _target(self, url: str) -> tuple[str, str]:
        """Return origin and path; a URL that begins with a variable has no origin."""
        scheme, _, rest = url.partition("://")
        host, slash, path = rest.partition("/")
        if "?" in host:
            host, _, query = host.partition("?")
            slash, path = "/", f"?{query}"
        path = quote(f"/{path}" if slash else "/", safe="/?&=%+:;,@!$'()*~-._{}#").partition("#")[0]
        if "{{" in host:
            return "", path
        split = split_url(f"{scheme}://{host}/")
        return (split[0], path) if split else ("", "")

    def _body(self, given: Mapping[str, Any], title: str) -> tuple[str, str]:
        mode = text_of(given, "mode")
        if not given or given.get("disabled") is True:
            return "", ""
        if mode == "raw":
            language = text_of(map_of(map_of(given, "options"), "raw"), "language")
            text = self._filled(text_of(given, "raw"))
            kinds = {"json": "application/json", "xml": "application/xml", "html": "text/html"}
            guess = "application/json" if text.lstrip()[:1] in ("{", "[") else "text/plain"
            return (kinds.get(language, guess), text) if text else ("", "")
        fields = [e for e in maps_of(given, mode) if e.get("disabled") is not True]
        if mode == "urlencoded":
            return FORM, encode_form(
                (self._filled(text_of(e, "key")), self._filled(text_of(e, "value"))) for e in fields
            )
        if mode == "formdata":
            for each in fields:
                if text_of(each, "type") == "file":
                    self.omissions.add(f"a file of {title}", "a collection has no files in it")
            return MULTIPART, encode_parts(
                FormPart(text_of(e, "key"), self._filled(text_of(e, "value")),
                         "file" if text_of(e, "type") == "file" else "")
                for e in fields
            )  # fmt: skip
        if mode == "graphql":
            inner = map_of(given, "graphql")
            variables = text_of(inner, "variables").strip()
            query = json.dumps(text_of(inner, "query"))
            return "application/json", self._filled(
                f'{{"query": {query}, "variables": {variables or "{}"}}}'
            )
        self.omissions.add(f"the body of {title}", f"mode {mode!r} has none in the collection")
        return "", ""

    def _auth(self, given: Mapping[str, Any], title: str) -> tuple[Pairs, str]:
        """Return headers and a query that give the credentials."""
        kind = text_of(given, "type")
        entries = given.get(kind)
        values = (
            {str(k): str(v) for k, v in entries.items()} if isinstance(entries, dict)
            else {text_of(e, "key"): text_of(e, "value") for e in maps_of(given, kind)}
        )  # fmt: skip
        values = {k: self._filled(v) for k, v in values.items()}
        if kind == "bearer":
            return (("Authorization", f"Bearer {values.get('token', '')}"),), ""
        if kind == "basic":
            pair = f"{values.get('username', '')}:{values.get('password', '')}"
            if "{{" in pair:
                return (("Authorization", "Basic {{basic_credentials}}"),), ""
            return (("Authorization", f"Basic {base64.b64encode(pair.encode()).decode()}"),), ""
        if kind == "apikey":
            key, value = values.get("key", "key"), values.get("value", "")
            if values.get("in") == "query":
                return (), f"{quote(key)}={quote_kept(value)}"
            return ((key, value),), ""
        if kind not in ("", "noauth"):
            self.omissions.add(f"authorization of {title}", f"{kind!r} is worked out by Postman")
        return (), ""

    def _scripts(self, item: Mapping[str, Any], title: str) -> tuple[dict[str, Kept], int]:
        """Return what a request's scripts keep, and the status that they expect."""
        keep: dict[str, Kept] = {}
        status = 200
        for event in maps_of(item, "event"):
            lines = map_of(event, "script").get("exec")
            script = "\n".join(map(str, lines)) if isinstance(lines, list) else str(lines or "")
            if not script.strip():
                continue
            if text_of(event, "listen") == "test":
                parsed = {found[1] for found in _PARSED.finditer(script)}
                for variable, source in _SET.findall(script):
                    found = _ANSWER.fullmatch(source)
                    name, _, rest = source.partition(".")
                    if found:
                        keep[variable] = JsonField(found[1].lstrip("."))
                    elif name in parsed and re.fullmatch(r"(?:\w+|\[\d+\]|\.)+", rest):
                        keep[variable] = JsonField(rest)
                told = _STATUS.search(script)
                status = int(told[1] or told[2]) if told else status
                if keep or told:
                    continue
            self.omissions.add(f"a script of {title}", "scripts do not run here")
        for name in keep:
            self._variables.pop(name, None)
        return keep, status

    def _filled(self, text: str) -> str:
        """Return a text with the collection's own variables, which may contain each other."""
        for _ in range(5):
            before = text
            text = PLACEHOLDER.sub(lambda m: self._variables.get(m[1], m[0]), text)[:1_000_000]
            if text == before:
                break
        return _DYNAMIC_NAME.sub(lambda m: _DYNAMIC.get(m[1], "example"), text)


def _url(given: Any) -> str:
    """Return a URL, out of its parts if need be; ``:name`` of a path is filled in."""
    if not isinstance(given, dict):
        return given if isinstance(given, str) else ""
    raw = text_of(given, "raw")
    if not raw:
        host, path = given.get("host"), given.get("path")
        name = ".".join(map(str, host)) if isinstance(host, list) else str(host or "")
        port = f":{given['port']}" if text_of(given, "port") else ""
        parts = path if isinstance(path, list) else [path or ""]
        where = "/".join(text_of(e, "value") if isinstance(e, dict) else str(e) for e in parts)
        asked = [e for e in maps_of(given, "query") if e.get("disabled") is not True]
        query = "&".join(f"{text_of(e, 'key')}={text_of(e, 'value')}" for e in asked)
        raw = f"{text_of(given, 'protocol', 'http')}://{name}{port}/{where}"
        raw += f"?{query}" if query else ""
    for each in maps_of(given, "variable"):
        key, value = text_of(each, "key"), text_of(each, "value")
        if key:
            plain = value.replace("\\", r"\\")
            raw = re.sub(rf"/:{re.escape(key)}(?=[/?#]|$)", f"/{plain}", raw)
    return raw.strip()
