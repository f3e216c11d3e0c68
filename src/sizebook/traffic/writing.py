"""The files of a load: a locustfile to read and change, its data, and what became of the source."""

from __future__ import annotations

import csv
import io
import keyword
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from sizebook.load.kept import Kept
from sizebook.load.placeholders import PLACEHOLDER
from sizebook.traffic.preparing import PreparedTraffic
from sizebook.traffic.python_text import one_line, pairs_literal, plain_name, text_literal
from sizebook.traffic.recordings import Kind, Pairs, RecordedRequest
from sizebook.traffic.replayable import TARGET

LONGEST_INLINE = 200
"""Letters of a body that stands in the locustfile itself."""
_EXTENSIONS = {"json": "json", "xml": "xml", "form": "txt", "html": "html", "multipart": "txt"}
_RESERVED = (
    *("session", "iteration", "step", "pause", "send", "join", "get", "post", "request", "start"),
    *("stop", "wait", "context", "loop", "shared", "setting", "role", "folder", "cookies", "host"),
    *("client", "environment", "values", "tasks", "weight", "random", "number", "course", "error"),
    *keyword.kwlist,
)
"""Names that a part of a session must not have."""
_STEP = 12
"""Blanks before the arguments of a step."""
_HEADERS_USED = len("headers=,")


@dataclass(frozen=True)
class WrittenLoad:
    """A load as files below ``locustfiles/``, and what a notebook needs to know of it."""

    files: dict[str, str | bytes]
    """Path below ``locustfiles/`` to content."""
    kind: Kind
    length_s: float = 0.0
    """Of a visit, with its think times."""
    rate_per_s: float = 0.0
    """At which the requests of a log came, on average."""
    ready: str = "/"
    """Path that is asked to see whether the system is there."""


def write_load(prepared: PreparedTraffic, module: str, title: str) -> WrittenLoad:
    """Return the files of a load; ``module`` is the name of the locustfile without ``.py``."""
    recording, files = prepared.recording, dict[str, str | bytes]()
    known: dict[str, Any] = {
        "title": one_line(title),
        "module": module,
        "form": one_line(recording.form),
        "requests": len(recording.requests),
    }
    if prepared.users:
        files[f"{module}/users.csv"] = _csv(prepared.users[0].keys(), prepared.users)
    if recording.kind == "session":
        files[f"{module}.py"] = _session(prepared, known, files)
    else:
        files[f"{module}.py"] = _render("mix.py.j2", **known, is_log=recording.kind == "log")
        files[f"{module}/requests.csv"] = _table(prepared, module, files)
    if recording.kind == "log":
        lines = ["at_s,request", *(f"{at_s:.6f},{number}" for at_s, number in prepared.arrivals)]
        files[f"{module}/arrivals.csv"] = "\n".join(lines) + "\n"
    files[f"{module}/source.md"] = _source(prepared, known)
    return WrittenLoad(files, recording.kind, _length_s(recording.requests),
                       _rate_per_s(prepared.arrivals), _ready(recording.requests))  # fmt: skip


def _session(
    prepared: PreparedTraffic, known: dict[str, Any], files: dict[str, str | bytes]
) -> str:
    requests = prepared.recording.requests
    shared = _shared_headers(requests)
    places = {type(kept).__name__ for one in requests for kept in one.keep.values()}
    parts: list[dict[str, Any]] = []
    taken: set[str] = set()
    group: str | None = None
    for number, (one, name) in enumerate(zip(requests, prepared.names, strict=True), 1):
        if group is None or one.group != group:
            group = one.group
            parts.append(
                {
                    "name": _part_name(one, len(parts) + 1, taken),
                    "about": one_line(name),
                    "steps": [],
                }
            )
        body = _body(one, number, known["module"], files)
        parts[-1]["steps"].append(
            {
                "pause": f"{one.pause_s:.2g}" if one.pause_s else "",
                "method": text_literal(one.method),
                "path": text_literal(one.path, _STEP, 1),
                "name": text_literal(name, _STEP, 6),
                "check": _expectation(one),
                "headers": _own_headers(one, shared),
                "body": text_literal(body, _STEP, 6) if body else "",
                "keep": [
                    (text_literal(variable), _kept_literal(kept))
                    for variable, kept in one.keep.items()
                ],
            }
        )
    checks = {step["check"] for part in parts for step in part["steps"]} - {""}
    return _render(
        "session.py.j2",
        **known,
        parts=parts,
        places=sorted(places),
        has_checks=bool(checks),
        shared=pairs_literal(shared, 0, len("HEADERS = ")) if shared else "",
        cookies=[(text_literal(n), text_literal(v)) for n, v in prepared.recording.cookies],
        think_s=round(sum(one.pause_s for one in requests), 1),
    )


def _shared_headers(requests: Sequence[RecordedRequest]) -> Pairs:
    """Return the headers that more than half of the requests have alike, two at least."""
    counts: dict[tuple[str, str], int] = {}
    for one in requests:
        for pair in dict.fromkeys(one.headers):
            counts[pair] = counts.get(pair, 0) + 1
    least = max(2, len(requests) // 2 + 1)
    return tuple(
        pair
        for pair, number in counts.items()
        if number >= least and not PLACEHOLDER.search(pair[1].replace(TARGET, ""))
    )


def _own_headers(one: RecordedRequest, shared: Pairs) -> str:
    own = tuple(pair for pair in one.headers if pair not in shared)
    if not shared or any(pair not in one.headers for pair in shared):
        return pairs_literal(one.headers, _STEP, _HEADERS_USED) if one.headers else ""
    return pairs_literal(own, _STEP, _HEADERS_USED, "*HEADERS") if own else "HEADERS"


def _body(one: RecordedRequest, number: int, module: str, files: dict[str, str | bytes]) -> str:
    """Return a body, or the name of the file into which it was put."""
    body = one.body
    if (
        isinstance(body, str)
        and len(body) <= LONGEST_INLINE
        and not body.startswith("@")
        and "\r" not in body
    ):
        return body
    kind = one.content_type
    found = (ending for word, ending in _EXTENSIONS.items() if word in kind)
    ending = next(found, "txt") if isinstance(body, str) else "bin"
    where = plain_name(one.path.partition("?")[0])[:30] or "body"
    name = f"bodies/{number:03d}-{where.replace('_', '-')}.{ending}"
    files[f"{module}/{name}"] = body
    return f"@{name}"


def _expectation(one: RecordedRequest) -> str:
    """Return the arguments of ``Expect``; empty where status 200 is all that is known."""
    said = [f"status={one.status}"] if one.status != 200 else []
    kind = one.answer.content_type.partition(";")[0].strip() if one.answer else ""
    if (
        kind.isascii()
        and kind.isprintable()
        and "/" in kind
        and one.answer
        and one.answer.status == one.status
    ):
        said.append(f"content_type=b{text_literal(kind.lower())}")
    if one.contains and one.contains.isascii():
        said.append(f"contains=b{text_literal(one.contains)}")
    return ", ".join(said)


def _kept_literal(kept: Kept) -> str:
    values = [getattr(kept, name) for name in kept.__slots__]  # type: ignore[attr-defined]
    values = values[:1] if values[1:] == ["body"] else values
    return f"{type(kept).__name__}({', '.join(map(text_literal, values))})"


def _part_name(one: RecordedRequest, number: int, taken: set[str]) -> str:
    path = one.path.partition("?")[0]
    name = plain_name(one.group) if one.name and one.group else plain_name(f"open {path}")
    while name in taken or name in _RESERVED:
        name = f"{name}_{number}"
    taken.add(name)
    return name


def _table(prepared: PreparedTraffic, module: str, files: dict[str, str | bytes]) -> str:
    """Return the requests as a table, for a spreadsheet."""
    rows = []
    for number, (one, name) in enumerate(
        zip(prepared.recording.requests, prepared.names, strict=True), 1
    ):
        answer = one.answer.content_type.partition(";")[0] if one.answer else ""
        rows.append(
            {
                "weight": f"{one.weight:g}",
                "name": name,
                "method": one.method,
                "path": one.path,
                "status": str(one.status),
                "answer_type": answer if "/" in answer else "",
                "contains": one.contains,
                "headers": "\n".join(f"{key}: {value}" for key, value in one.headers),
                "body": _body(one, number, module, files),
            }
        )
    kept = [key for key in rows[0] if key in ("weight", "name", "method", "path", "status")
            or any(row[key] for row in rows)]  # fmt: skip
    return _csv(kept, rows)


def _source(prepared: PreparedTraffic, known: dict[str, Any]) -> str:
    recording = prepared.recording
    return _render(
        "source.md.j2",
        **known,
        kind=recording.kind,
        number=len(prepared.arrivals) or len(recording.requests),
        endpoints=len(set(prepared.names)),
        length_s=_length_s(recording.requests),
        notes=[one_line(each) for each in recording.notes],
        replaced=[
            (each.kind.replace("_", " "), one_line(each.place), each.column)
            for each in prepared.replaced
        ],
        carried=[
            (each.name, one_line(each.source), one_line(each.place), each.used)
            for each in prepared.carried
        ],
        left_out=[(one_line(each.what), each.why, each.number) for each in recording.left_out],
    )


def _length_s(requests: Sequence[RecordedRequest]) -> float:
    """Return how long a visit takes: think times, and answers as they were recorded."""
    return sum(one.pause_s + min(one.length_s, 60.0) for one in requests)


def _rate_per_s(arrivals: Sequence[tuple[float, int]]) -> float:
    if len(arrivals) < 2:
        return 0.0
    return (len(arrivals) - 1) / max(arrivals[-1][0] - arrivals[0][0], 1e-3)


def _ready(requests: Sequence[RecordedRequest]) -> str:
    """Return a path that answers without credentials, as far as can be told."""
    good = (one.path for one in requests if one.method == "GET" and one.status < 300
            and "{{" not in one.path + "".join(v for _, v in one.headers))  # fmt: skip
    return next(good, "/")


def _csv(columns: Iterable[str], rows: Sequence[dict[str, str]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(columns), extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _render(template: str, **known: Any) -> str:
    environment = Environment(
        loader=PackageLoader("sizebook.traffic", "templates"),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(**known)
