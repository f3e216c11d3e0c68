"""Literals of JavaScript: texts, templates, numbers, objects, lists, and constants of them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

DEEPEST = 30
_SPACE = re.compile(r"\s*")
_NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?")
_STRING = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*")
_ENVIRONMENT = re.compile(r"__ENV\.(\w+)(?:\s*\|\|\s*)?")
_STRINGIFY = re.compile(r"JSON\.stringify\s*\(\s*")
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|(\r?\n)|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "0": "\0"}
_SPLIT = re.compile(r"\$\{\s*([^{}]*?)\s*\}")
_WORDS = {"true": True, "false": False, "null": None, "undefined": None}


class Computed:
    """Stands for a value that only running the script would tell."""


class NotLiteralError(ValueError):
    """What stands here is worked out when the script runs."""


def read_literal(text: str, at: int, known: Mapping[str, Any], depth: int = 0) -> tuple[Any, int]:
    """Return the value that begins here, and where it ends. Raises NotLiteralError."""
    value, at = _one(text, at, known, depth)
    while (plus := re.compile(r"\s*\+\s*").match(text, at)) and isinstance(value, str):
        other, at = _one(text, plus.end(), known, depth)
        value += other if isinstance(other, str) else json.dumps(other)
    after = _SPACE.match(text, at)
    end = after.end() if after else at
    if end < len(text) and text[end] not in ",;)]}:\n" and "\n" not in text[at:end]:
        raise NotLiteralError(text[end : end + 20])
    return value, at


def skip_call(text: str, at: int) -> int:
    """Return what comes after the bracket that ends a call whose arguments begin here."""
    depth = 1
    while at < len(text):
        if text[at] in "\"'`" and (found := _STRING.match(text, at)):
            at = found.end()
            continue
        depth += (text[at] in "([{") - (text[at] in ")]}")
        at += 1
        if depth == 0:
            break
    return at


def _one(text: str, at: int, known: Mapping[str, Any], depth: int) -> tuple[Any, int]:
    space = _SPACE.match(text, at)
    at = space.end() if space else at
    if depth > DEEPEST or at >= len(text):
        raise NotLiteralError("too deep, or at the end")
    if text[at] in "{[":
        read = _object if text[at] == "{" else _list
        return read(text, at + 1, known, depth)
    return _plain(text, at, known) or _worked_out(text, at, known, depth)


def _plain(text: str, at: int, known: Mapping[str, Any]) -> tuple[Any, int] | None:
    """Return a text, a template or a number; None if none of them begins here."""
    if found := _STRING.match(text, at):
        inner = found[0][1:-1]
        return (_template(inner, known) if found[0][0] == "`" else _unescaped(inner)), found.end()
    if found := _NUMBER.match(text, at):
        number = float(found[0])
        return (int(number) if number.is_integer() else number), found.end()
    return None


def _worked_out(text: str, at: int, known: Mapping[str, Any], depth: int) -> tuple[Any, int]:
    """Return what is a literal after all: JSON of one, a setting, a constant."""
    if found := _STRINGIFY.match(text, at):
        value, end = read_literal(text, found.end(), known, depth + 1)
        close = re.compile(r"\s*\)").match(text, end)
        if close is None or _has_computed(value):
            raise NotLiteralError("JSON.stringify")
        return json.dumps(value, ensure_ascii=False), close.end()
    if found := _ENVIRONMENT.match(text, at):
        if found[0].rstrip().endswith("||"):
            return _one(text, found.end(), known, depth + 1)
        return f"{{{{{found[1]}}}}}", found.end()
    return _named(text, at, known)


def _named(text: str, at: int, known: Mapping[str, Any]) -> tuple[Any, int]:
    found = _NAME.match(text, at)
    if found is None or text[found.end() : found.end() + 1] in ("(", "["):
        raise NotLiteralError(text[at : at + 20])
    return _look_up(found[0], known), found.end()


def _look_up(name: str, known: Mapping[str, Any]) -> Any:
    if name in _WORDS:
        return _WORDS[name]
    value: Any = known
    for part in name.split("."):
        if not isinstance(value, Mapping) or part not in value:
            raise NotLiteralError(name)
        value = value[part]
    if value is Computed:
        raise NotLiteralError(name)
    return value


def _object(text: str, at: int, known: Mapping[str, Any], depth: int) -> tuple[Any, int]:
    made: dict[str, Any] = {}
    key = re.compile(
        r"\s*,?\s*(?:(\}})|([A-Za-z_$][\w$]*)|(\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'))".replace(
            "}}", "}"
        )
    )
    while found := key.match(text, at):
        at = found.end()
        if found[1]:
            return made, at
        name = found[2] or _unescaped(found[3][1:-1])
        colon = re.compile(r"\s*:").match(text, at)
        if colon is None:
            made[name] = known.get(name, Computed)
            continue
        try:
            made[name], at = read_literal(text, colon.end(), known, depth + 1)
        except NotLiteralError:
            made[name], at = Computed, _end_of_value(text, colon.end())
    raise NotLiteralError("an object that does not end")


def _list(text: str, at: int, known: Mapping[str, Any], depth: int) -> tuple[Any, int]:
    made: list[Any] = []
    while True:
        gap = re.compile(r"\s*,?\s*(\])?").match(text, at)
        at = gap.end() if gap else at
        if gap and gap[1]:
            return made, at
        value, at = read_literal(text, at, known, depth + 1)
        made.append(value)


def _end_of_value(text: str, at: int) -> int:
    depth = 0
    while at < len(text):
        if text[at] in "\"'`" and (found := _STRING.match(text, at)):
            at = found.end()
            continue
        if depth == 0 and text[at] in ",}":
            return at
        depth += (text[at] in "([{") - (text[at] in ")]}")
        at += 1
    return at


def _template(text: str, known: Mapping[str, Any]) -> str:
    parts = _SPLIT.split(text)
    if "${" in "".join(parts[::2]):
        raise NotLiteralError(text[:20])
    found = []
    for number, part in enumerate(parts):
        if number % 2 == 0:
            found.append(_unescaped(part))
            continue
        environment = _ENVIRONMENT.fullmatch(part)
        value = f"{{{{{environment[1]}}}}}" if environment else _counter(part, known)
        found.append(value if isinstance(value, str) else json.dumps(value))
    return "".join(found)


def _counter(name: str, known: Mapping[str, Any]) -> Any:
    """Return a constant's value; k6's own counters are ours."""
    if name in ("__VU", "exec.vu.idInTest"):
        return "{{user}}"
    if name in ("__ITER", "exec.vu.iterationInScenario"):
        return "{{pass}}"
    value = _look_up(name, known)
    if isinstance(value, dict | list):
        raise NotLiteralError(name)
    return value


def _unescaped(text: str) -> str:
    def plain(found: re.Match[str]) -> str:
        code = found[1] or found[2]
        if code:
            return chr(int(code, 16)).encode("utf-8", "replace").decode()
        return "" if found[3] else _ESCAPED.get(found[4], found[4])

    return _ESCAPE.sub(plain, text) if "\\" in text else text


def _has_computed(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_has_computed(each) for each in value.values())
    if isinstance(value, list):
        return any(_has_computed(each) for each in value)
    return value is Computed
