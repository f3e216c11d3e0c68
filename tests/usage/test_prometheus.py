"""Range queries of Prometheus: from a file, from an address, and what is no such answer."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from sizebook.model.errors import UsageError
from sizebook.usage.prometheus import parse_rates
from sizebook.usage.reading import read_usage

CORPUS = Path(__file__).parents[1] / "fuzz" / "corpus" / "range-answer"
BEGIN = 1793782800.0


def answer(*series: dict[str, Any], kind: str = "matrix") -> bytes:
    data = {"resultType": kind, "result": list(series)}
    return json.dumps({"status": "success", "data": data}).encode()


@pytest.fixture
def server() -> Iterator[str]:
    """Give the address of a server that answers like Prometheus, or with an error."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            good = self.path.startswith("/api/v1/query_range?query=")
            self.send_response(200 if good else 404)
            self.end_headers()
            if good:
                self.wfile.write((CORPUS / "by-uri.json").read_bytes())

        def log_message(self, *_: Any) -> None:
            pass

    served = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=served.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{served.server_port}"
    served.shutdown()
    thread.join()
    served.server_close()


def test_series_are_summed_and_make_the_mix() -> None:
    """By time; what is no number is left out, not taken for 0."""
    found = read_usage(str(CORPUS / "by-uri.json"))
    assert found.per_s == {BEGIN: 20.0, BEGIN + 60: 20.0, BEGIN + 3600: 3.0}
    assert found.mix == pytest.approx({"/orders": 35.5 / 43, "/stock": 7.5 / 43})
    assert (found.resolution_s, found.left_out) == (60, 1)


def test_an_address_is_asked(server: str) -> None:
    """The answer is the same as from a file, and its name shows neither query nor password."""
    address = server.replace("//", "//me:secret@") + "/api/v1/query_range?query=x"
    with pytest.raises(UsageError) as caught:  # urllib takes the password for a part of the host
        read_usage(address)
    assert "secret" not in str(caught.value)
    found = read_usage(f"{server}/api/v1/query_range?query=x")
    assert found.per_s == read_usage(str(CORPUS / "by-uri.json")).per_s
    assert found.source.startswith("http://127.0.0.1/api/v1/query_range: 2 series")


def test_an_address_that_does_not_answer_is_one_line(server: str) -> None:
    """With what was answered, or that nothing was."""
    with pytest.raises(UsageError, match="HTTP 404"):
        read_usage(f"{server}/elsewhere")
    with pytest.raises(UsageError, match="next: ask for it by hand"):
        read_usage("http://127.0.0.1:9/api/v1/query_range?query=x")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ((CORPUS / "found-error.json").read_bytes(), "unclosed left parenthesis"),
        (answer(kind="vector"), "query_range, not query"),
        (answer(), "no value"),
        (answer({"metric": {"__name__": "requests_total"}, "values": [[1, "5"]]}), r"rate\("),
        (answer({"metric": {}, "values": [[1, "many"]]}), "no such answer"),
        (answer({"metric": {}, "values": [[10**400, "1"]]}), "no such answer"),
        (b"[1]", "no such answer"),
        (b"<html>", "no such answer"),
    ],
)
def test_what_is_no_rate_is_refused(data: bytes, words: str) -> None:
    """Each with what to do instead, in one line."""
    with pytest.raises(UsageError, match=words) as caught:
        parse_rates(data, "answer.json")
    assert "\n" not in str(caught.value)
