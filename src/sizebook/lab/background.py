"""What goes on beside a load, each in a thread of its own, and ends with it."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor


@contextlib.contextmanager
def alongside(tasks: Sequence[Callable[[threading.Event], None]]) -> Iterator[None]:
    """Run each task in a thread; when the context is left, wait until all have returned.

    A task is given the event of that leaving, after which it begins nothing new. Raises what the
    first of the tasks that failed has raised, unless the context itself raises.
    """
    over = threading.Event()
    with ThreadPoolExecutor(max(1, len(tasks)), thread_name_prefix="sizebook-beside") as threads:
        running = [threads.submit(task, over) for task in tasks]
        try:
            yield
        finally:
            over.set()
    for each in running:
        each.result()
