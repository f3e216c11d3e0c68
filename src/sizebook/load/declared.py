"""Settings that a locustfile declares, read from its text: nothing of it runs.

The lab plans in a process that must not import Locust, which patches sockets and threads. So what a
design gives a load is compared with the ``settings`` of the file's classes as far as these are
written out: literals, arithmetic of them, and the module's own constants. What is computed in
another way is left to the generator, which resolves the settings for good.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sizebook.load.settings import Setting

_OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.LShift: operator.lshift,
}
_FIELDS = ("default", "choices", "least", "greatest")


class _ComputedError(Exception):
    """Says that a value is not written out."""


def read_declared(locustfile: Path) -> Mapping[str, Setting] | None:
    """Return the settings that a locustfile's class declares; None if the text does not tell them.

    That is so where no class has settings written out as a mapping, or more than one has. Choices
    that are computed are left out. A text is taken apart once, however many designs use it. Raises
    OSError.
    """
    return _declared(locustfile.read_bytes())


@cache
def _declared(text: bytes) -> Mapping[str, Setting] | None:
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError):  # the generator names the line
        return None
    names = _constants(module)
    written = _mapping(module)
    if written is None:
        return None
    try:
        return MappingProxyType(
            {
                _value(key, names): _setting(value, names)
                for key, value in zip(written.keys, written.values, strict=True)
            }
        )
    except (_ComputedError, TypeError, ValueError):
        return None


def _mapping(module: ast.Module) -> ast.Dict | None:
    found: list[ast.Dict] = []
    for owner in module.body:
        for line in owner.body if isinstance(owner, ast.ClassDef) else ():
            targets: list[ast.expr] = []
            if isinstance(line, ast.Assign):
                targets = line.targets
            elif isinstance(line, ast.AnnAssign):
                targets = [line.target]
            named = any(isinstance(one, ast.Name) and one.id == "settings" for one in targets)
            if named and isinstance(line, ast.Assign | ast.AnnAssign):
                if not isinstance(line.value, ast.Dict):
                    return None
                found.append(line.value)
    return found[0] if len(found) == 1 else None


def _constants(module: ast.Module) -> dict[str, Any]:
    names: dict[str, Any] = {}
    for line in module.body:
        if not isinstance(line, ast.Assign) or len(line.targets) != 1:
            continue
        target, value = line.targets[0], line.value
        pairs = [(target, value)]
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            pairs = list(zip(target.elts, value.elts, strict=False))
        for one, of in pairs:
            if isinstance(one, ast.Name):
                names.pop(one.id, None)
                try:
                    names[one.id] = _value(of, names)
                except _ComputedError:
                    continue
    return names


def _setting(node: ast.expr | None, names: Mapping[str, Any]) -> Setting:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        raise _ComputedError
    if node.func.id != Setting.__name__ or any(isinstance(a, ast.Starred) for a in node.args):
        raise _ComputedError
    given = dict(zip(_FIELDS, node.args, strict=False))
    given |= {word.arg: word.value for word in node.keywords if word.arg}
    values: dict[str, Any] = {}
    for name, written in given.items():
        try:
            values[name] = _value(written, names)
        except _ComputedError:
            if name == "default":
                raise
    return Setting(**values)


def _value(node: ast.expr | None, names: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name) and node.id in names:
        return names[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_number(node.operand, names)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        left, right = _number(node.left, names), _number(node.right, names)
        if abs(left) > 1 << 62 or (isinstance(node.op, ast.LShift) and not 0 <= right < 63):
            raise _ComputedError
        return _OPERATORS[type(node.op)](left, right)
    if isinstance(node, ast.Tuple | ast.List):
        values: list[Any] = []
        for element in node.elts:
            if isinstance(element, ast.Starred):
                many = _value(element.value, names)
                if not isinstance(many, tuple):
                    raise _ComputedError
                values += many
            else:
                values.append(_value(element, names))
        return tuple(values)
    raise _ComputedError


def _number(node: ast.expr, names: Mapping[str, Any]) -> Any:
    value = _value(node, names)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _ComputedError
    return value
