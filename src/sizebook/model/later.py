"""Names of a package that are loaded when somebody first takes them."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping


def later(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """Return a ``__getattr__`` for a package that loads names from its modules when they are used.

    ``homes`` gives the module of each name; a name that is its own home is the module itself.
    Commands and plans so load what they use alone: frames, charts and drivers take longer to load
    than most answers take.
    """

    def get(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = importlib.import_module(f"{package}.{homes[name]}")
        value = module if homes[name] == name else getattr(module, name)
        setattr(sys.modules[package], name, value)
        return value

    return get
