"""Several questions about one bundle, large ones on all CPUs at the same time.

Numpy and polars let go of Python's lock while they work, and a bundle's columns are read once
whoever asks first (``store.thread_cache``): the questions of a check and of a table share nothing
else.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from sizebook.store.bundles import REQUESTS, Bundle

_Answer = TypeVar("_Answer")

LARGE_BYTES = 4 * 2**20
"""Of stored requests, about 300 000, from which on threads save more than they cost."""
THREADS_A_CPU = 2
"""So that a CPU has work while one thread waits for a column that another one reads."""


def ask_all(
    questions: Iterable[Callable[[Bundle], _Answer]], bundle: Bundle, threads: int | None = None
) -> list[_Answer]:
    """Return what each question answers about the bundle, in the order of the questions.

    ``threads`` is how many are asked at a time; None: as many as keep the CPUs busy that this
    process may use, and one where the bundle is small. If questions raise, the error of the first
    of them comes out.
    """
    threads = _threads_for(bundle) if threads is None else threads
    if threads == 1:
        return [question(bundle) for question in questions]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda question: question(bundle), questions))


def _threads_for(bundle: Bundle) -> int:
    stored = bundle.record.files.get(REQUESTS)
    cpus = len(os.sched_getaffinity(0))
    return THREADS_A_CPU * cpus if cpus > 1 and stored and stored.bytes >= LARGE_BYTES else 1
