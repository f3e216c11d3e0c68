"""``sizebook build``: the site from pages and executed notebooks."""

from __future__ import annotations

import time

from sizebook.store import find_project


def build() -> None:
    """Build the site, warnings as errors, and print where it is."""
    from sizebook.book.site import build_site

    began = time.monotonic()
    index = build_site(find_project().root)
    print(f"built in {time.monotonic() - began:.0f} s: {index}")
