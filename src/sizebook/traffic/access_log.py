"""Access logs: which requests came, and when.

nginx writes a line, and its time, when the answer is sent. Apache writes it then, too, but with the
time at which the request came, so that its lines are not in the order of their times.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from sizebook.traffic.log_lines import LogLine, parse_entry, parse_line
from sizebook.traffic.recordings import (
    MOST_REQUESTS,
    Omissions,
    RecordedRequest,
    Recording,
    split_url,
)

WITHOUT_BODY = ("GET", "HEAD", "OPTIONS")
LOOKED_AT = 50
_PATH = re.compile(r"/[\x21-\x7e]*\Z")
_AS_USUAL = {304: 200, 206: 200, 499: 200}
"""Answers that another client's cache, range or patience brought about, and what a new one gets."""


def is_log(head: str) -> bool:
    """Return whether a text begins like an access log: one line of its first ones in two is one."""
    lines = [line for line in head.splitlines()[:LOOKED_AT] if line.strip()]
    if not lines:
        return False
    good = sum(not isinstance(parse_line(line), str) for line in lines)
    return good >= max(1, len(lines) // 3)


def is_entry(document: Mapping[str, Any]) -> bool:
    """Return whether a JSON document is a single line of a log."""
    return not isinstance(parse_entry(document), str)


def parse_log(text: str) -> Recording:
    """Return the requests of a log in the order in which they came."""
    omissions = Omissions()
    lines: list[tuple[int, LogLine]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        found = parse_line(line)
        if isinstance(found, str):
            omissions.add(found, "they cannot be read")
        elif len(lines) == MOST_REQUESTS:
            omissions.add("later lines", f"a log has at most {MOST_REQUESTS:,} requests here")
        else:
            lines.append((number, found))
    begins, notes = _begins([line for _, line in lines])
    came = sorted(zip(begins, lines, strict=True), key=lambda one: one[0])
    first_s = came[0][0] if came else 0.0
    requests = []
    for begin_s, (number, logged) in came:
        request = _request(logged, number, begin_s - first_s, omissions)
        if request is not None:
            requests.append(request)
    form = "access log, JSON lines" if text.lstrip().startswith("{") else "access log"
    return Recording(form, "log", tuple(requests), omissions.all(), tuple(notes))


def _begins(lines: list[LogLine]) -> tuple[list[float], list[str]]:
    """Return when each request came, in seconds, and what was assumed."""
    notes = []
    backwards = any(a.time_s > b.time_s for a, b in itertools.pairwise(lines))
    of_ends = [line.is_of_end if line.is_of_end is not None else not backwards for line in lines]
    known = [line.length_s for line in lines if line.length_s is not None]
    if any(of_ends):
        if known:
            notes.append("times are of the answers; a request came its request time earlier")
        else:
            notes.append(
                "times may be of the answers, without request times: requests came earlier"
            )
    elif lines:
        notes.append("times run backwards between lines: they are those at which requests came")
    begins = [
        line.time_s - (line.length_s or 0.0) if ended else line.time_s
        for line, ended in zip(lines, of_ends, strict=True)
    ]
    if any(line.whole_seconds for line in lines):
        notes.append(
            "times are in whole seconds: requests of a second are spread over it at random"
        )
        chance = random.Random("times within a second")
        begins = [
            begin_s + chance.random() if line.whole_seconds else begin_s
            for begin_s, line in zip(begins, lines, strict=True)
        ]
    return begins, notes


def _request(
    line: LogLine, number: int, begin_s: float, omissions: Omissions
) -> RecordedRequest | None:
    target = line.target
    if not target.startswith("/") and (url := split_url(target)) is not None:
        target = url[1]
    path = target.partition("#")[0]
    if not path.isascii():
        path = quote(path, safe="/?&=%+:;,@!$'()*~-._[]")
    why = ""
    if line.method not in WITHOUT_BODY:
        why = "an access log has no bodies"
    elif not _PATH.match(path):
        why = "it has no path that can be asked for"
    elif line.status >= 500 or line.status in (400, 408):
        why = f"it was answered with {line.status}"
    if why:
        omissions.add(f"{line.method} requests", why)
        return None
    return RecordedRequest(
        method=line.method,
        path=path,
        place=f"line {number}",
        status=_AS_USUAL.get(line.status, line.status),
        begin_s=begin_s,
        length_s=line.length_s or 0.0,
    )
