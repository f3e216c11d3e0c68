"""Which tool wrote a file, by what is in it: never by its name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sizebook.judge import gatling, hdr_files, jmeter, k6, locust_csv, reports
from sizebook.judge.pieces import open_results, read_document, read_head
from sizebook.judge.refusals import refused
from sizebook.judge.results import ForeignResults

_PACKED = ((b"\x1f\x8b", "gzip"), (b"PK\x03\x04", "a zip archive"), (b"\x28\xb5\x2f\xfd", "zstd"))
_SPECIFIC = (
    (jmeter.is_csv, jmeter.read_csv),
    (k6.is_csv, k6.read_csv),
    (locust_csv.is_history, locust_csv.read_history),
    (locust_csv.is_stats, locust_csv.read_stats),
    (gatling.is_text, gatling.read),
    (hdr_files.is_log, hdr_files.read_log),
    (hdr_files.is_table, hdr_files.read_table),
)


def read_results(path: Path) -> ForeignResults:
    """Return the results in a file of any known tool.

    Raises UsageError for a file that cannot be read, is of no known tool, or of a version of it
    whose files cannot be read; the message says which.
    """
    if open_results(path) == 0:
        raise refused(path, "an empty file", "name the file of a run that has ended")
    head = read_head(path)
    for magic, what in _PACKED:
        if head.startswith(magic):
            raise refused(path, f"{what}, compressed", "unpack it first")
    gatling.refuse_binary(path, head)
    reports.refuse_gob(path, head)
    begin = head.lstrip()
    if begin.startswith(b"<"):
        if b"<testResults" not in head:
            raise refused(path, "XML that is no JTL", "name the JTL that JMeter wrote")
        return jmeter.read_xml(path)
    if begin.startswith(b"{"):
        return _read_json(path, begin)
    for is_of, read in _SPECIFIC:
        if is_of(head):
            return read(path)
    raise refused(path, f"no known results ({_first_words(head)})", "name a file of such results")


def _read_json(path: Path, begin: bytes) -> ForeignResults:
    first = begin.partition(b"\n")[0]
    line = _object(first)
    if line is not None and {"metric", "type"} <= line.keys():
        return k6.read_json(path)
    if line is not None and reports.is_vegeta_line(line):
        return reports.read_vegeta_lines(path)
    document = _object(read_document(path))
    if document is None:
        if first.startswith((b'{"metric":', b'{"type":"Metric"')):
            return k6.read_json(path)
        raise refused(path, "JSON that ends or breaks within", "name the whole file")
    if reports.is_oha(document):
        return reports.read_oha(path, document)
    if reports.is_vegeta(document):
        return reports.read_vegeta(path, document)
    if k6.is_summary(document):
        return k6.read_summary(path, document)
    keys = ", ".join(map(repr, list(document)[:5]))
    raise refused(path, f"JSON with {keys or 'nothing in it'}", "name a file of such results")


def _object(text: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _first_words(head: bytes) -> str:
    line = head.lstrip().partition(b"\n")[0][:60].decode("utf-8", errors="replace").strip()
    return f"it begins with {line!r}" if line else "it has no text"
