"""What commands print steers nothing, and a command that a message names can be pasted."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from sizebook.book.audit.findings import AuditReport
from sizebook.model.errors import UserError

SOURCE = Path(__file__).parents[2] / "src" / "sizebook"
_COMMAND = re.compile(r"(^|(?<![\w.\0]))(sizebook [a-z]+ |cd )")
_QUOTES = ("shlex.quote", "shlex.join")
RAW = {"guide.py": 1, "output.py": 2, "run.py": 1, "stack.py": 1}
"""Prints of the command line by file: a guide, text and JSON, a line written over, YAML."""


def unquoted(code: str) -> Iterator[str]:
    """Give the fields of commands in f-strings that are not quoted for a shell.

    A constant is no name of somebody else, nor is what begins without a blank before it: a
    number of a flag (``name={count}``), or a text of quoted words (``{more}``).
    """
    for node in ast.walk(ast.parse(code)):
        if not isinstance(node, ast.JoinedStr):
            continue
        before = ""
        for part in node.values:
            if isinstance(part, ast.Constant):
                before += part.value
                continue
            assert isinstance(part, ast.FormattedValue)
            field = part.value
            called = ast.unparse(field.func) if isinstance(field, ast.Call) else ""
            found = _COMMAND.search(before)
            command = before[found.start() :] if found else ""
            ended = re.search(r"[:;,&']", command)
            is_ours = called in _QUOTES or ast.unparse(field).isupper()
            if found and not ended and before.endswith(" ") and not is_ours:
                yield ast.unparse(field)
            before += "{}"


@pytest.mark.parametrize(
    ("code", "fields"),
    [
        ('f"sizebook run {name}"', ["name"]),
        ('f"then sizebook audit {p.name}: why"', ["p.name"]),
        ('f"sizebook run {shlex.quote(n)} --round {r}"', ["r"]),
        ('f"sizebook run {shlex.join(n)} -p replicates={r}, see {x}"', []),
        ('f"{n} of sizebook"', []),
        ('f"sizebook run {CHAPTER}"', []),
    ],
)
def test_a_field_without_quotes_is_found(code: str, fields: list[str]) -> None:
    assert list(unquoted(code)) == fields


def test_commands_in_messages_quote_what_is_somebody_elses() -> None:
    """A folder with a blank, or a chapter of somebody else's book, is one word of the shell."""
    found = {
        path.relative_to(SOURCE).as_posix(): fields
        for path in SOURCE.rglob("*.py")
        if (fields := list(unquoted(path.read_text(encoding="utf-8"))))
    }
    assert not found


def test_the_command_line_prints_by_one_function() -> None:
    """Which escapes: so no command can print a name as it came."""
    prints = {
        path.name: number
        for path in (SOURCE / "cli").glob("*.py")
        if (
            number := sum(
                isinstance(node, ast.Call) and ast.unparse(node.func) in ("print", "typer.echo")
                for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            )
        )
    }
    assert prints == RAW


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        ("no file 'a  b   c'", "no file 'a  b   c'"),
        ("chapter 'x\t y'", "chapter 'x\\t y'"),
        ("name 'a\u00a0 b'", "name 'a\u00a0 b'"),
        ("a fault in\n    line 2:\r\n  'c  d'\n", "a fault in line 2: 'c  d'"),
        (repr("a \n b"), "'a \\n b'"),
    ],
)
def test_a_message_quotes_what_it_was_given(found: str, shown: str) -> None:
    """Blanks that a name has are not the message's to tidy; only its own lines become one."""
    error = UserError(found=found, expected="another", next_step="rename it")
    assert str(error) == f"found {shown}; expected another; next: rename it"
    report = AuditReport("somewhere")
    report.add("AU101-record", "here", found, found=found, expected="another")
    assert report.findings[0].message == shown == report.findings[0].found
