"""Values made once: by the first thread that asks, and again only if making them failed."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from sizebook.store.thread_cache import Once


def test_threads_that_ask_together_get_one_value():
    """All eight ask before any value is there; it is made once, and all get the same."""
    together, made = threading.Barrier(8), []
    values = Once[str, object]()

    def ask(_):
        together.wait()
        return values.get("key", lambda: made.append(0) or object())

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(ask, range(8)))) == len(made) == 1


def test_a_value_may_ask_for_another():
    """Keys do not wait for one another."""
    values = Once[str, int]()
    assert values.get("whole", lambda: values.get("half", lambda: 2) * 2) == 4
    assert values.get("half", lambda: 7) == 2


def test_what_failed_is_tried_again():
    """An error belongs to the one who asked; the next one may be luckier."""
    values = Once[str, float]()
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            values.get("share", lambda: 1 / 0)
    assert values.get("share", lambda: 0.5) == 0.5
