"""k6 scripts: the requests that are written out in them. Nothing of a script runs.

Read are calls of ``http.get``, ``post``, ``put``, ``patch``, ``del``, ``head``, ``options`` and
``request`` whose URL is a text or a template of constants, their bodies and headers as far as they
are literals, ``sleep`` and ``status``. Other calls, and what surrounds them, are named by line.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any, NamedTuple

from sizebook.load.kept import JsonField, Kept
from sizebook.traffic.forms import FORM, encode_form
from sizebook.traffic.js_literals import Computed, NotLiteralError, read_literal, skip_call
from sizebook.traffic.recordings import (
    MOST_STEPS,
    Omissions,
    RecordedRequest,
    Recording,
    split_url,
)

_CALL = re.compile(
    r"\b(?:http\.(get|post|put|patch|del|head|options|request|batch|asyncRequest)|(sleep))\s*\("
)
_CONSTANT = re.compile(r"\b(?:const|let|var)\s+([A-Za-z_$][\w$]*)\s*=\s*")
_TAKEN = re.compile(
    r"\b(?:const|let|var)\s+([A-Za-z_]\w*)\s*=\s*([A-Za-z_$][\w$]*)\.json\(\s*"
    r"(?:['\"]([\w.\[\]-]+)['\"])?\s*\)((?:\.\w+|\[\d+\])*)"
)
"""A field of an answer that is put into a variable: ``const token = res.json('data.token')``."""
_ASSIGNED = re.compile(r"\b(?:const|let|var)?\s*([A-Za-z_$][\w$]*)\s*=\s*$")
_STATUS = re.compile(r"\.status\s*===?\s*(\d{3})")
_COMMENT = re.compile(
    r"(?P<keep>\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)|//[^\n]*|/\*.*?\*/",
    re.DOTALL,
)
_FLOW = re.compile(
    r"^\s*(if|for|while|switch)\s*\(|\b(group)\s*\(|^\s*(scenarios|executor)\s*:", re.MULTILINE
)
_BODY_METHODS = ("POST", "PUT", "PATCH", "DELETE")


class _Call(NamedTuple):
    method: str
    arguments: list[Any]
    at: int
    end: int


def parse_script(text: str) -> Recording:
    """Return the requests of a script in the order in which they are written."""
    bare = _COMMENT.sub(lambda m: m["keep"] if m["keep"] else re.sub(r"[^\n]", " ", m[0]), text)
    omissions = Omissions()
    taken = {found[1]: found for found in _TAKEN.finditer(bare)}
    constants = _constants(bare) | {name: f"{{{{{name}}}}}" for name in taken}
    requests: list[RecordedRequest] = []
    pause_s, last_end = 0.0, 0
    for call in _calls(bare, constants):
        place = f"line {bare.count(chr(10), 0, call.at) + 1}"
        if call.method == "sleep":
            length = call.arguments[0] if call.arguments else None
            if isinstance(length, int | float) and 0 <= length < 1e6:
                pause_s += float(length)
            else:
                omissions.add(f"sleep in {place}", "its length is computed")
            continue
        if requests and (told := _STATUS.search(bare, last_end, call.at)):
            requests[-1] = _expecting(requests[-1], int(told[1]))
        last_end = call.end
        request = _request(call, place, pause_s, omissions)
        assigned = _ASSIGNED.search(bare, max(0, call.at - 100), call.at)
        if request is not None and assigned:
            request = replace(request, keep=_kept(taken, assigned[1], call.end))
        if request is not None and len(requests) < MOST_STEPS:
            requests.append(request)
            pause_s = 0.0
    if requests and (told := _STATUS.search(bare, last_end)):
        requests[-1] = _expecting(requests[-1], int(told[1]))
    for found in _FLOW.finditer(bare):
        word = next(each for each in found.groups() if each)
        if word not in ("group",):
            line = bare.count("\n", 0, found.start(found.lastindex or 0)) + 1
            omissions.add(
                f"{word} in line {line}",
                "a script's course is not followed: requests are taken as written",
            )
    notes = ["requests are taken in the order in which the script has them"]
    return Recording("k6 script", "session", tuple(requests), omissions.all(), tuple(notes))


def _kept(taken: dict[str, re.Match[str]], answer: str, end: int) -> dict[str, Kept]:
    """Return what a script takes out of the answer that it has put into a variable."""
    return {
        name: JsonField(f"{found[3] or ''}{found[4]}".lstrip("."))
        for name, found in taken.items()
        if found[2] == answer and found.start() >= end and (found[3] or found[4])
    }


def _constants(text: str) -> dict[str, Any]:
    """Return the script's constants as far as they are literals."""
    known: dict[str, Any] = {}
    for found in _CONSTANT.finditer(text):
        try:
            value, _ = read_literal(text, found.end(), known)
        except NotLiteralError:
            continue
        known.setdefault(found[1], value)
    return known


def _calls(text: str, constants: dict[str, Any]) -> list[_Call]:
    calls = []
    for found in _CALL.finditer(text):
        at, arguments = found.end(), []
        end = skip_call(text, at)
        while at < end - 1:
            try:
                value, at = read_literal(text, at, constants)
            except NotLiteralError:
                value, at = Computed, _next_argument(text, at, end)
            arguments.append(value)
            rest = re.compile(r"\s*,?\s*").match(text, at)
            at = rest.end() if rest else end
        calls.append(_Call(found[1] or "sleep", arguments, found.start(), end))
    return calls


def _next_argument(text: str, at: int, end: int) -> int:
    """Return where the argument that begins here ends."""
    depth = 0
    for place in range(at, end - 1):
        if text[place] in "([{":
            depth += 1
        elif text[place] in ")]}":
            depth -= 1
        elif text[place] == "," and depth == 0:
            return place
    return end - 1


def _request(
    call: _Call, place: str, pause_s: float, omissions: Omissions
) -> RecordedRequest | None:
    arguments = list(call.arguments)
    method = {"del": "DELETE"}.get(call.method, call.method.upper())
    if call.method in ("batch", "asyncRequest"):
        omissions.add(f"http.{call.method} in {place}", "several requests at once cannot be read")
        return None
    if call.method == "request":
        method = arguments.pop(0) if arguments and isinstance(arguments[0], str) else ""
        method = method.upper()
    url = arguments[0] if arguments else Computed
    url = re.sub(r"^\{\{\w+\}\}(?=/)", "", url) if isinstance(url, str) else url
    target = split_url(url) if isinstance(url, str) else None
    if target is None and isinstance(url, str) and url.startswith("/"):
        target = ("", url)
    if target is None or not method.isalpha():
        omissions.add(f"http.{call.method} in {place}", "its URL is computed")
        return None
    has_body = method in _BODY_METHODS
    given = arguments[1] if has_body and len(arguments) > 1 else None
    options = arguments[1 + has_body] if len(arguments) > 1 + has_body else None
    headers = options.get("headers") if isinstance(options, dict) else None
    pairs = (
        tuple((str(k), str(v)) for k, v in (headers or {}).items() if v is not Computed)
        if isinstance(headers, dict)
        else ()
    )
    if (
        options is Computed
        or headers is Computed
        or (isinstance(headers, dict) and Computed in headers.values())
    ):
        omissions.add(f"headers in {place}", "they are computed")
    body = ""
    if isinstance(given, dict):
        body = encode_form((str(k), str(v)) for k, v in given.items())
        pairs = (
            pairs
            if any(k.lower() == "content-type" for k, _ in pairs)
            else (*pairs, ("Content-Type", FORM))
        )
    elif isinstance(given, str):
        body = given
    elif given is Computed:
        omissions.add(f"the body in {place}", "it is computed")
    elif given is not None:
        body = json.dumps(given)
    return RecordedRequest(
        method=method, path=target[1], origin=target[0], place=place, headers=pairs, body=body,
        pause_s=min(pause_s, 600.0),
    )  # fmt: skip


def _expecting(request: RecordedRequest, status: int) -> RecordedRequest:
    return replace(request, status=status)
