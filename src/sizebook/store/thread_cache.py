"""Values that are made when first asked for, once, however many threads ask."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")


class Once(Generic[_Key, _Value]):
    """Values by key, each made by the first thread that asks while others wait for it.

    A value that could not be made is tried again by the next one that asks. Making a value may
    ask for others, as long as these do not ask back.

    >>> arrays = Once[str, NDArray[Any]]()
    >>> arrays.get("start_ns", lambda: read("start_ns"))
    """

    def __init__(self) -> None:
        """Begin without any value."""
        self._values: dict[_Key, _Value] = {}
        self._locks: dict[_Key, threading.Lock] = {}

    def get(self, key: _Key, make: Callable[[], _Value]) -> _Value:
        """Return the key's value, made now if there is none; passes on what ``make`` raises."""
        if key not in self._values:
            with self._locks.setdefault(key, threading.Lock()):
                if key not in self._values:
                    self._values[key] = make()
        return self._values[key]
