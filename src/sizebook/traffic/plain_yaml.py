"""YAML of others: no objects, no aliases that make a small file a large one."""

from __future__ import annotations

from typing import Any

import yaml

MOST_ALIASES = 1_000
MOST_NODES = 2_000_000


class _PlainLoader(yaml.SafeLoader):
    """Reads texts, numbers, lists and mappings; dates stay texts, and aliases are counted."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._aliases = 0
        self._nodes = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        self._nodes += 1
        if self.check_event(yaml.AliasEvent):
            self._aliases += 1
        if self._aliases > MOST_ALIASES or self._nodes > MOST_NODES:
            raise yaml.YAMLError(f"more than {MOST_ALIASES} aliases or {MOST_NODES} nodes")
        return super().compose_node(parent, index)


_PlainLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in found if tag != "tag:yaml.org,2002:timestamp"]
    for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def load_yaml(text: str) -> Any:
    """Return a document. Raises yaml.YAMLError, ValueError, RecursionError."""
    return yaml.load(text, Loader=_PlainLoader)
