"""A file of unknown form: what it is, by what is in it, and its recording."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import yaml

from sizebook.store.plain_files import need_plain, read_plain
from sizebook.traffic import access_log, har, jmeter, k6_script, openapi, postman, request_csv
from sizebook.traffic.plain_yaml import load_yaml
from sizebook.traffic.recordings import Recording
from sizebook.traffic.refusals import refused

MOST_BYTES = 1 << 30
MOST_DOCUMENT_BYTES = 1 << 28
"""Of a file that is read as one document; browsers write some hundred MB at most."""
_YAML = re.compile(r"^(?:openapi|swagger)\s*:", re.MULTILINE)
_SCRIPT = re.compile(r"^\s*(?:import\b[^\n]*['\"]k6(?:/|['\"])|export\s+default\b)", re.MULTILINE)
_HEAD = 1 << 16


def read_traffic(path: Path) -> Recording:
    """Return what a file says of a system's traffic. Raises UsageError for anything else."""
    need_plain(path, "recorded or described traffic")
    try:
        data = read_plain(path, MOST_BYTES, follow=True)
    except OSError as error:
        raise refused(path.name, f"it cannot be read ({error.strerror})", "correct it") from error
    if len(data) > MOST_BYTES:
        raise refused(path.name, "more than 1 GiB", "name a part of it, such as the busiest hour")
    return parse_traffic(data, path.name)


def parse_traffic(data: bytes, name: str) -> Recording:
    """Return what a file's bytes say; ``name`` is what errors call it."""
    data = _decoded(data)
    head = data[:_HEAD].lstrip()
    if head.startswith((b"{", b"<")):
        recording = _parse_marked(data, head, name)
    else:
        recording = _parse_text(data, head.decode("utf-8", "replace"), name)
    if not recording.requests:
        why = "; ".join(f"{each.what}: {each.why}" for each in recording.left_out[:3])
        found = f"{recording.form} without a request that can be sent"
        raise refused(name, f"{found} ({why})" if why else found, "name another file")
    return recording


def _parse_marked(data: bytes, head: bytes, name: str) -> Recording:
    """Return what JSON or XML says."""
    if head.startswith(b"{"):
        document = _json(data, name)
        if document is not None:
            return _parse_document(document, name)
        if access_log.is_log(head.decode("utf-8", "replace")):
            return access_log.parse_log(data.decode("utf-8", "replace"))
        raise refused(name, "JSON that ends or breaks within", "name the whole file")
    if b"<jmeterTestPlan" in head:
        return jmeter.parse_plan(data, name)
    # A line of syslog begins with its priority: <190>.
    text = data.decode("utf-8", "replace")
    if access_log.is_log(text[:_HEAD]):
        return access_log.parse_log(text)
    raise refused(name, "XML that is no JMeter plan", "name another file")


def _parse_text(data: bytes, start: str, name: str) -> Recording:
    """Return what YAML, a script, a log or a table says."""
    text = data.decode("utf-8", "replace")
    if _YAML.search(start):
        try:
            return _parse_document(load_yaml(text), name)
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            words = " ".join(str(error).split())[:120]
            raise refused(name, f"YAML that breaks within ({words})", "correct it") from error
    if _SCRIPT.search(start):
        return k6_script.parse_script(text)
    if access_log.is_log(start):
        return access_log.parse_log(text)
    if request_csv.is_table(start):
        return request_csv.parse_table(text, name)
    line = start.partition("\n")[0][:60].strip()
    raise refused(name, f"it begins with {line!r}" if line else "it has no text", "name another")


def _parse_document(document: Any, name: str) -> Recording:
    if isinstance(document, dict):
        if har.is_har(document):
            return har.parse_har(document)
        if openapi.is_openapi(document):
            return openapi.parse_openapi(document, name)
        if postman.is_collection(document):
            return postman.parse_collection(document, name)
        if access_log.is_entry(document):
            return access_log.parse_log(json.dumps(document))
        if "swagger" in document:
            raise refused(name, "Swagger 2.0", "convert it to OpenAPI 3, then name that")
        keys = ", ".join(map(repr, list(document)[:5])) or "nothing in it"
        raise refused(name, f"JSON or YAML with {keys[:100]}", "name another file")
    raise refused(name, "JSON or YAML that is no object", "name another file")


def _json(data: bytes, name: str) -> Any:
    """Return a JSON document, None if it is none; more than one (JSON lines) is none."""
    if len(data) > MOST_DOCUMENT_BYTES:
        if data.find(b"\n", 0, _HEAD) > 0 and access_log.is_log(
            data[:_HEAD].decode("utf-8", "replace")
        ):
            return None
        most = MOST_DOCUMENT_BYTES >> 20
        raise refused(name, f"one document of more than {most} MiB", "record less at a time")
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _decoded(data: bytes) -> bytes:
    """Return UTF-8 without a mark before it; some tools on Windows write UTF-16."""
    for mark in (b"\xff\xfe", b"\xfe\xff"):
        if data.startswith(mark):
            return data.decode("utf-16", "replace").encode("utf-8", "replace")
    return data.removeprefix(b"\xef\xbb\xbf")
