"""Trials that last until what they are for has happened, however busy the machine is."""

from __future__ import annotations

import threading
from collections.abc import Callable

from sizebook.load.collect import Collected
from sizebook.load.control import GeneratorClient
from sizebook.load.protocol import Tick

LONG_S = 600.0
"""Of a measured phase that ends by itself only where a test would fail."""


def run_until(own: GeneratorClient, enough: Callable[[], bool]) -> Collected:
    """Run the prepared trial until something holds, and at most for its phases."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.02):
            if enough():
                own.stop_trial()
                return

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        return own.run()
    finally:
        over.set()
        watching.join()


def run_until_asked(own: GeneratorClient) -> Collected:
    """Run the prepared trial until a request was recorded, as the generator's ticks tell."""

    def look(tick: Tick) -> None:
        if tick.requests:
            own.stop_trial()

    return own.run(look)
