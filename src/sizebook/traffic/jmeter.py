"""JMeter plans (.jmx): HTTP requests with headers, timers, extractors and assertions.

Elements and properties are those of JMeter 5.6. An element counts for the samplers of its own tree,
as in JMeter. What decides at run time (controllers with conditions, scripts, functions) is left out
and named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from urllib.parse import quote
from xml.etree import ElementTree as Tree

from sizebook.load.kept import JsonField, Kept, Pattern
from sizebook.traffic.forms import FORM, MULTIPART, FormPart, encode_form, encode_parts, quote_kept
from sizebook.traffic.recordings import (
    MOST_STEPS,
    Omissions,
    Pairs,
    RecordedRequest,
    Recording,
)
from sizebook.traffic.refusals import refused

_FUNCTION = re.compile(r"\$\{__(\w+)[^}]*\}")
_VARIABLE = re.compile(r"\$\{([\w.-]+)\}")
_PROPERTY = re.compile(r"\$\{__P\([^,)}]+,([^)}]*)\)\}")
_JSON_PATH = re.compile(r"\$(?:\.[\w-]+|\[\d+\])+")
_DEEPEST = 100
_QUIET = ("TestPlan", "ThreadGroup", "SetupThreadGroup", "PostThreadGroup", "CookieManager",
          "CacheManager", "ResultCollector", "ViewResultsFullVisualizer", "TransactionController",
          "GenericController", "BackendListener", "DNSCacheManager", "Summariser",
          "RecordingController", "ProxyControl", "DebugSampler")  # fmt: skip
"""Elements that need nothing here: their requests are taken, or they only show results."""
_RATES = ("ConstantThroughputTimer", "PreciseThroughputTimer")


@dataclass(frozen=True)
class _Around:
    """What a tree's elements give to the samplers in it."""

    defaults: dict[str, str] = field(default_factory=dict)
    headers: Pairs = ()
    pause_s: float = 0.0
    keep: dict[str, Kept] = field(default_factory=dict)
    status: int = 200
    contains: str = ""
    group: str = ""


def parse_plan(data: bytes, name: str) -> Recording:
    """Return the HTTP requests of a plan in their order. Raises UsageError for broken XML."""
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise refused(name, "XML that declares entities", "name the plan that JMeter wrote")
    try:
        root = Tree.fromstring(data)
    except (Tree.ParseError, ValueError, LookupError) as error:
        raise refused(name, f"XML that breaks within ({error})", "name the whole file") from error
    reader = _Reader()
    reader.learn(root)
    requests: list[RecordedRequest] = []
    for tree in root.findall("hashTree"):
        requests += reader.requests(tree, _Around(), 0)
    requests = requests[:MOST_STEPS]
    notes = list(reader.notes)
    return Recording(
        "JMeter plan", "session", tuple(requests), reader.omissions.all(), tuple(notes)
    )


class _Reader:
    def __init__(self) -> None:
        self.omissions = Omissions()
        self.notes: list[str] = []
        self._variables: dict[str, str] = {}

    def learn(self, root: Tree.Element) -> None:
        """Note the plan's own variables, wherever they stand."""
        for each in root.iter("elementProp"):
            if each.get("elementType") == "Argument":
                self._variables.setdefault(
                    _prop(each, "Argument.name"), _prop(each, "Argument.value")
                )
        self._variables.pop("", None)

    def requests(
        self, tree: Tree.Element, around: _Around, depth: int
    ) -> Iterator[RecordedRequest]:
        """Give the requests of a tree: elements, each followed by the tree of what is in it."""
        if depth > _DEEPEST:
            self.omissions.add("elements of the plan", f"they lie more than {_DEEPEST} deep")
            return
        elements = self._pairs(tree)
        for element, _ in elements:
            around = self._added(around, element)
        for element, inner in elements:
            kind, title = element.tag, element.get("testname", element.tag)
            if kind in ("HTTPSamplerProxy", "HTTPSampler"):
                request = self._request(element, inner, around, title)
                if request is not None:
                    yield request
            elif kind in _QUIET or kind == "LoopController":
                if kind.endswith("ThreadGroup"):
                    self._threads(element, title)
                yield from self.requests(inner, replace(around, group=title), depth + 1)
            elif kind.endswith("Controller"):
                self.omissions.add(
                    f"{kind} {title}", "what it decides at run time: its requests are taken once"
                )
                yield from self.requests(inner, around, depth + 1)
            elif kind.endswith(("Sampler", "SamplerProxy")) or not self._is_known(kind):
                self.omissions.add(f"{kind} {title}", "it is no HTTP request, or runs a script")

    def _pairs(self, tree: Tree.Element) -> list[tuple[Tree.Element, Tree.Element]]:
        """Return the enabled elements of a tree, each with its own tree."""
        children = list(tree)
        found = []
        for at, element in enumerate(children):
            if element.tag == "hashTree":
                continue
            follows = at + 1 < len(children) and children[at + 1].tag == "hashTree"
            inner = children[at + 1] if follows else Tree.Element("hashTree")
            if element.get("enabled") == "false":
                self.omissions.add(f"{element.tag} {element.get('testname', '')}", "it is disabled")
            else:
                found.append((element, inner))
        return found

    def _is_known(self, kind: str) -> bool:
        return kind in ("HeaderManager", "ConfigTestElement", "Arguments", "RegexExtractor",
                        "JSONPostProcessor", "ResponseAssertion", "CSVDataSet", *_RATES) or (
            kind.endswith("Timer"))  # fmt: skip

    def _added(self, around: _Around, element: Tree.Element) -> _Around:
        """Return what samplers get, with what this element adds."""
        kind, title = element.tag, element.get("testname", element.tag)
        if kind == "ConfigTestElement":
            own = {each.get("name", ""): each.text or "" for each in element.findall("stringProp")}
            return replace(
                around, defaults={**around.defaults, **{k: v for k, v in own.items() if v}}
            )
        if kind == "HeaderManager":
            given = (
                each for each in element.iter("elementProp") if each.get("elementType") == "Header"
            )
            headers = tuple(
                (self._text(_prop(one, "Header.name")), self._text(_prop(one, "Header.value")))
                for one in given
            )
            return replace(around, headers=(*around.headers, *headers))
        if kind in _RATES:
            self.omissions.add(f"{kind} {title}", "the load profile says the rate")
        elif kind.endswith("Timer"):
            delay, span = _prop(element, "ConstantTimer.delay"), _prop(element, "RandomTimer.range")
            pause_ms = _number(self._text(delay)) + (
                _number(self._text(span)) / 2 if "Uniform" in kind else 0
            )
            return replace(around, pause_s=around.pause_s + min(pause_ms, 6e5) / 1e3)
        if kind in ("RegexExtractor", "JSONPostProcessor"):
            return replace(around, keep={**around.keep, **self._kept(element, title)})
        if kind == "ResponseAssertion":
            return self._asserted(around, element, title)
        if kind == "CSVDataSet":
            names = self._text(_prop(element, "variableNames")) or "those of its first line"
            self.notes.append(f"give the data of {title} with --data: columns {names[:100]}")
        return around

    def _kept(self, element: Tree.Element, title: str) -> dict[str, Kept]:
        if element.tag == "RegexExtractor":
            name, regex = (
                _prop(element, "RegexExtractor.refname"),
                _prop(element, "RegexExtractor.regex"),
            )
            try:
                re.compile(regex)
            except re.error:
                regex = ""
            if name and regex and _prop(element, "RegexExtractor.template") in ("$1$", ""):
                return {_name(name): Pattern(regex)}
            self.omissions.add(
                f"RegexExtractor {title}", "its expression or template cannot be read"
            )
            return {}
        names = _prop(element, "JSONPostProcessor.referenceNames").split(";")
        paths = _prop(element, "JSONPostProcessor.jsonPathExprs").split(";")
        found: dict[str, Kept] = {}
        for name, path in zip(names, paths, strict=False):
            if name.strip() and _JSON_PATH.fullmatch(path.strip()):
                found[_name(name.strip())] = JsonField(path.strip()[1:].lstrip("."))
            else:
                self.omissions.add(
                    f"JSONPostProcessor {title}", f"path {path.strip()[:60]!r} is more than fields"
                )
        return found

    def _asserted(self, around: _Around, element: Tree.Element, title: str) -> _Around:
        place = _prop(element, "Assertion.test_field")
        wanted = [
            each.text or "" for holder in element.findall("collectionProp") for each in holder
        ]
        kind = int(_number(_prop(element, "Assertion.test_type")))
        if place == "Assertion.response_code" and wanted and wanted[0].isdecimal():
            return replace(around, status=int(wanted[0]) % 1000 or 200)
        if place == "Assertion.response_data" and wanted and kind in (2, 16):
            return replace(around, contains=self._text(wanted[0]))
        self.omissions.add(
            f"ResponseAssertion {title}", "it is no status and no text that is contained"
        )
        return around

    def _threads(self, element: Tree.Element, title: str) -> None:
        users = self._text(_prop(element, "ThreadGroup.num_threads"))
        self.notes.append(
            f"{title} had {users[:20] or '?'} threads; the notebook says how many users"
        )

    def _request(
        self, element: Tree.Element, inner: Tree.Element, around: _Around, title: str
    ) -> RecordedRequest | None:
        for child, _ in self._pairs(inner):
            around = self._added(around, child)
        self._others_in(inner, title)

        def prop(name: str) -> str:
            own = _prop(element, f"HTTPSampler.{name}")
            return self._text(own or around.defaults.get(f"HTTPSampler.{name}", ""))

        path = prop("path") or "/"
        if path.startswith(("http://", "https://")):
            scheme, _, rest = path.partition("://")
            host, _, path = rest.partition("/")
            origin = f"{scheme}://{host}"
        else:
            host, port, scheme = prop("domain"), prop("port"), prop("protocol") or "http"
            origin = f"{scheme}://{host}" + (f":{port}" if port else "") if host else ""
        path = f"/{path.lstrip('/')}"
        method = (prop("method") or "GET").upper()
        headers = around.headers
        kind, body, query = self._arguments(element, method, title)
        if query:
            path += ("&" if "?" in path else "?") + query
        has_kind = any(name.lower() == "content-type" for name, _ in headers)
        if kind and (kind == MULTIPART or not has_kind):
            headers = (
                *(p for p in headers if p[0].lower() != "content-type"),
                ("Content-Type", kind),
            )
        return RecordedRequest(
            method=method, path=quote(path, safe="/?&=%+:;,@!$'()*~-._{}"),
            origin="" if "{{" in origin else origin, place=title, name=f"{method} {title}",
            headers=headers, body=body, status=around.status, contains=around.contains,
            pause_s=around.pause_s, group=around.group, keep=around.keep,
        )  # fmt: skip

    def _others_in(self, inner: Tree.Element, title: str) -> None:
        for child, _ in self._pairs(inner):
            if not self._is_known(child.tag) and child.tag not in _QUIET:
                what = f"{child.tag} {child.get('testname', '')} of {title}"
                self.omissions.add(what, "scripts and this kind of element do not run here")

    def _arguments(self, element: Tree.Element, method: str, title: str) -> tuple[str, str, str]:
        """Return Content-Type, body and query."""
        raw = _prop(element, "HTTPSampler.postBodyRaw") == "true"
        given = [
            (self._text(_prop(each, "Argument.name")), self._text(_prop(each, "Argument.value")))
            for each in element.iter("elementProp")
            if each.get("elementType") == "HTTPArgument"
        ]
        files = [e for e in element.iter("elementProp") if e.get("elementType") == "HTTPFileArg"]
        for each in files:
            self.omissions.add(
                f"file {_prop(each, 'File.path')[:80]} of {title}", "a plan has no files in it"
            )
        if raw:
            return "", "".join(value for _, value in given), ""
        if method in ("GET", "HEAD", "DELETE", "OPTIONS"):
            return "", "", "&".join(f"{quote_kept(k)}={quote_kept(v)}" for k, v in given)
        if files or _prop(element, "HTTPSampler.DO_MULTIPART_POST") == "true":
            return MULTIPART, encode_parts(FormPart(k, v) for k, v in given), ""
        return (FORM, encode_form(given), "") if given else ("", "", "")

    def _text(self, text: str) -> str:
        """Return a text with the plan's variables; others become placeholders."""
        for _ in range(5):
            before = text
            text = _PROPERTY.sub(lambda m: m[1], text)
            text = _VARIABLE.sub(self._value, text)[:1_000_000]
            if text == before:
                break
        for function in _FUNCTION.findall(text):
            self.omissions.add(
                f"function __{function}", "functions are not worked out: {{pass}} stands for it"
            )
        return _FUNCTION.sub("{{pass}}", text)

    def _value(self, found: re.Match[str]) -> str:
        if found[1].startswith("__"):
            return found[0]
        value = self._variables.get(found[1])
        if value is None or value == found[0]:
            return f"{{{{{_name(found[1])}}}}}"
        return value


def _prop(element: Tree.Element, name: str) -> str:
    for each in element:
        if each.get("name") == name:
            return each.text or ""
    return ""


def _name(name: str) -> str:
    plain = re.sub(r"[^A-Za-z0-9_.-]", "_", name)[:60]
    return plain if plain[:1].isalpha() or plain[:1] == "_" else f"v_{plain}"


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        return 0.0
    return number if 0 <= number < 1e9 else 0.0
