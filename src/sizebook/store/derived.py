"""Functions that derive something from a bundle's rows, and answer from its digest without them.

    @derived("mean_ms")
    def mean_ms(bundle: Bundle) -> float | None: ...

    def latency_ms(quantile: float) -> Measure:
        @derived("latency_ms", quantile)
        def measure(bundle: Bundle) -> float | None: ...

What such a function returns depends on the bundle, the arguments of the call, and those that
``derived`` was given: all that it closes over. A whole bundle is computed from as ever.

Published digests answer by the name of a question, so that it stays when its function moves; no two
functions share one.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from pydantic import TypeAdapter

from sizebook.store import digest_recording
from sizebook.store.bundles import Bundle
from sizebook.store.digest import decode, encode
from sizebook.store.record_file import damaged

_P = ParamSpec("_P")
_R = TypeVar("_R")
_ADAPTERS: dict[type[Any], TypeAdapter[Any]] = {}


def derived(
    name: str, *closed_over: object, kind: type[Any] | None = None
) -> Callable[[Callable[Concatenate[Bundle, _P], _R]], Callable[Concatenate[Bundle, _P], _R]]:
    """Return a decorator for a function of a bundle, whose question has a ``name``.

    ``kind`` is the dataclass that it returns.
    """

    def mark(
        function: Callable[Concatenate[Bundle, _P], _R],
    ) -> Callable[Concatenate[Bundle, _P], _R]:
        @functools.wraps(function)
        def ask(bundle: Bundle, *args: _P.args, **named: _P.kwargs) -> _R:
            if not bundle.digest and not digest_recording.is_on():
                return function(bundle, *args, **named)
            question = _question(name, closed_over, args, named)
            return derive(bundle, question, lambda: function(bundle, *args, **named), kind)

        return cast("Callable[Concatenate[Bundle, _P], _R]", ask)

    return mark


def derive(
    bundle: Bundle,
    question: str,
    make: Callable[[], _R],
    kind: type[Any] | None = None,
    *,
    always: bool = False,
) -> _R:
    """Return the answer to a question: from the bundle's digest, else made now.

    In a rehearsal it is noted if rows were looked at, ``always`` also where they were before.
    """
    known = bundle.digest
    if question in known:
        return cast("_R", _read(bundle, known[question], kind))
    if not digest_recording.is_on():
        return make()
    with digest_recording.watched() as watch:
        value = make()
    if watch.touched or always:
        digest_recording.note(bundle.sha256, question, encode_answer(value, kind))
    return value


def _question(name: str, *parts: object) -> str:
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), default=_words)
    return f"{name} {text}"


def _words(argument: object) -> str:
    return argument.canonical_json() if hasattr(argument, "canonical_json") else repr(argument)


def encode_answer(value: object, kind: type[Any] | None = None) -> Any:
    """Return an answer as it stands in a digest; ``kind`` is the dataclass that it is."""
    if kind is None or value is None:
        return encode(value)
    return json.loads(json.dumps(_adapt(kind).dump_python(value), default=encode))


def _adapt(kind: type[Any]) -> TypeAdapter[Any]:
    """Return what checks values of a class; making it takes longer than a thousand checks."""
    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]


def _read(bundle: Bundle, data: Any, kind: type[Any] | None) -> Any:
    try:
        if kind is None or data is None:
            return decode(data)
        return _adapt(kind).validate_python(data)
    except (ValueError, TypeError, RecursionError) as error:
        first = str(error).partition("\n")[0][:100]
        raise damaged(bundle.id, f"an answer in its digest that is none ({first})") from error
