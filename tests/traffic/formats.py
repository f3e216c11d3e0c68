"""Samples of each form, for a shop at a given place; they are the fuzzers' corpus, too."""

from __future__ import annotations

import json
from typing import Any

from tests.fuzz.hunting import CORPUS

PLACE = b"http://127.0.0.1:8080"


def sample(form: str, name: str, url: str = "") -> bytes:
    """Return a sample of a form, whose requests lead to a place."""
    data = (CORPUS / f"traffic-{form}" / name).read_bytes()
    if not url:
        return data
    return data.replace(PLACE, url.encode()).replace(
        b">8080<", f">{url.rpartition(':')[2]}<".encode()
    )


def log_lines(number: int = 100) -> list[str]:
    """Return lines as nginx writes them, two a second."""
    asked = [
        "GET /products/mug-1 HTTP/1.1",
        "GET /search?q=mug&email=jane@mail.test HTTP/1.1",
        "GET /static/app.js HTTP/2.0",
        "HEAD /products/4711 HTTP/1.1",
    ]
    return [
        f"203.0.113.{n % 7} - jane [02/Mar/2026:09:{30 + n // 120}:{n // 2 % 60:02} +0000] "
        f'"{asked[n % 4]}" 200 512 "http://shop.test/" "Mozilla/5.0"'
        for n in range(number)
    ]


def dumped(document: dict[str, Any]) -> bytes:
    """Return a document as JSON."""
    return json.dumps(document).encode()
