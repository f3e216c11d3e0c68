"""Examples of JSON schemas: what a document gives, else the least that fits; also of cycles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

DEEPEST = 8
MOST_NODES = 2_000
_BY_FORMAT = {
    "date": "2024-01-15",
    "date-time": "2024-01-15T10:00:00Z",
    "time": "10:00:00Z",
    "email": "user@example.com",
    "uuid": "00000000-0000-4000-8000-000000000001",
    "uri": "http://example.com/",
    "url": "http://example.com/",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "byte": "ZXhhbXBsZQ==",
    "binary": "example",
    "password": "password-1",
}


class NoExampleError(ValueError):
    """A schema asks for itself, so that no example of it ends."""


class Examples:
    """Makes examples of the schemas of one document; references lead into it alone."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document
        self._nodes = 0

    def resolve(self, given: Any) -> Mapping[str, Any]:
        """Return what an object or a reference to one is; empty for what leads nowhere."""
        seen: set[str] = set()
        while isinstance(given, dict) and isinstance(given.get("$ref"), str):
            reference = given["$ref"]
            if reference in seen or not reference.startswith("#/"):
                return {}
            seen.add(reference)
            given = self._document
            for part in reference[2:].split("/"):
                name = part.replace("~1", "/").replace("~0", "~").replace("%7B", "{")
                name = name.replace("%7D", "}")
                given = given.get(name) if isinstance(given, dict) else None
        return given if isinstance(given, dict) else {}

    def value(self, holder: Mapping[str, Any]) -> Any:
        """Return the example of a parameter or a media type: its own, or one of its schema."""
        if "example" in holder:
            return holder["example"]
        named = holder.get("examples")
        for each in named.values() if isinstance(named, dict) else ():
            found = self.resolve(each)
            if "value" in found:
                return found["value"]
        self._nodes = 0
        return self._make(holder.get("schema"), (), 0)

    def _make(self, given: Any, above: tuple[str, ...], depth: int) -> Any:
        """Return an example. Raises NoExampleError where the schema cannot end."""
        self._nodes += 1
        reference = given.get("$ref") if isinstance(given, dict) else None
        if isinstance(reference, str):
            if reference in above:
                raise NoExampleError(reference)
            above = (*above, reference)
        if depth > DEEPEST or self._nodes > MOST_NODES:
            raise NoExampleError("too deep or too large")
        schema = self.resolve(given)
        for name in ("example", "default", "const"):
            if name in schema:
                return schema[name]
        for name in ("examples", "enum"):
            if isinstance(schema.get(name), list) and schema[name]:
                return schema[name][0]
        return self._composed(schema, above, depth)

    def _composed(self, schema: Mapping[str, Any], above: tuple[str, ...], depth: int) -> Any:
        parts = schema.get("allOf")
        if isinstance(parts, list) and parts:
            merged = [self._make(part, above, depth + 1) for part in parts]
            merged.append(self._plain({**schema, "type": "object"}, above, depth))
            objects = [each for each in merged if isinstance(each, dict)]
            return {k: v for each in objects for k, v in each.items()} if objects else merged[0]
        for name in ("oneOf", "anyOf"):
            choices = schema.get(name)
            for choice in choices if isinstance(choices, list) else ():
                try:
                    return self._make(choice, above, depth + 1)
                except NoExampleError:
                    continue
        return self._plain(schema, above, depth)

    def _plain(self, schema: Mapping[str, Any], above: tuple[str, ...], depth: int) -> Any:
        kind = schema.get("type")
        if isinstance(kind, list):  # OpenAPI 3.1
            kind = next((each for each in kind if each != "null"), "null")
        if kind == "object" or (kind is None and "properties" in schema):
            return self._object(schema, above, depth)
        if kind == "array":
            return self._array(schema, above, depth)
        if kind in ("integer", "number"):
            least = schema.get("minimum", schema.get("exclusiveMinimum"))
            number = least if isinstance(least, int | float) and not isinstance(least, bool) else 1
            return number + 1 if schema.get("exclusiveMinimum") else number
        if kind == "boolean":
            return True
        if kind == "null":
            return None
        return _text(schema)

    def _object(self, schema: Mapping[str, Any], above: tuple[str, ...], depth: int) -> Any:
        """Return an object with all properties that have an example; required ones must have."""
        given, required = schema.get("properties"), schema.get("required")
        needed = (
            {each for each in required if isinstance(each, str)}
            if isinstance(required, list)
            else set()
        )
        made = {}
        for name, each in given.items() if isinstance(given, dict) else ():
            if isinstance(each, dict) and each.get("readOnly") is True:
                continue
            try:
                made[str(name)] = self._make(each, above, depth + 1)
            except NoExampleError:
                if name in needed:
                    raise
        return made

    def _array(self, schema: Mapping[str, Any], above: tuple[str, ...], depth: int) -> Any:
        try:
            return [self._make(schema.get("items"), above, depth + 1)]
        except NoExampleError:
            least = schema.get("minItems")
            if isinstance(least, int) and least > 0:
                raise
            return []


def _text(schema: Mapping[str, Any]) -> str:
    text = _BY_FORMAT.get(str(schema.get("format")), "example")
    least, most = schema.get("minLength"), schema.get("maxLength")
    if isinstance(least, int) and len(text) < min(least, 10_000):
        text = text.ljust(min(least, 10_000), "x")
    return text[:most] if isinstance(most, int) and most >= 0 else text
