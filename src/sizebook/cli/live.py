"""``--web``: the page that shows a measurement while it goes on."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import typer

from sizebook.cli.output import say

WEB = typer.Option(
    False, "--web", help="Show it live in a browser on this machine; the address is printed."
)
WEB_PORT = typer.Option(0, min=0, max=65535, help="Port of the live page; 0: any that is free.")


@contextlib.contextmanager
def shown_live(wanted: bool, port: int) -> Iterator[None]:
    """Serve the live page while the block runs, if that is wanted or a port is named."""
    if not (wanted or port):
        yield
        return
    from sizebook.book.live_server import live_page

    with live_page(port) as address:
        say(f"watch it run: {address}", aside=True)
        yield
