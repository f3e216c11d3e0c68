"""What ``sizebook run --locustfile`` refuses: by name, in one line, before anything is started."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from sizebook.cli.main import app
from sizebook.model.errors import UserError
from sizebook.store import find_bundles

STYLES = Path(__file__).parent / "styles"
USER = """
from locust import HttpUser, LoadTestShape, events, task

class Reader(HttpUser):
    {more}

    @task
    def read(self):
        self.client.get("/")
"""
SHAPE = USER.format(more="pass") + "\nclass Shape(LoadTestShape):\n    def tick(self):\n        "
ARGUMENT = """
@events.init_command_line_parser.add_listener
def add(parser):
    parser.add_argument("--key", type=int, required=True)
"""


@pytest.fixture
def refused(outside, shop):
    """Return the message of a command that is refused; nothing is stored."""

    def ask(text, *options, host=True):
        words = ["run"]
        if text is not None:
            (outside / "asked.py").write_text(text)
            words += ["-f", "asked.py"]
        at = ["--host", shop.url] if host else []
        done = CliRunner().invoke(app, [*words, *at, *options])
        assert isinstance(done.exception, UserError), (done.output, done.exception)
        assert not list(find_bundles(outside))
        return str(done.exception)

    return ask


@pytest.mark.parametrize(
    ("text", "options", "told"),
    [
        ("import nowhere_to_be_found\n", (), "no package nowhere_to_be_found, which asked.py, l"),
        ("from . import x\n", (), "ImportError while loading asked.py"),
        ("x = 1\n", (), "no user class in asked.py"),
        ("def (\n", (), "SyntaxError while loading asked.py"),
        ("import sys\nsys.exit(4)\n", (), "exit (4) while loading asked.py, line 2"),
        ("import os\nos._exit(4)\n", (), "ended the process with code 4"),
        (USER.format(more="pass") + ARGUMENT, (), "required: --key"),
        (USER.format(more="pass") + ARGUMENT, ("-p", "key=x"), "invalid int value: 'x'"),
        (USER.format(more="pass"), ("-p", "nix=1"), "setting 'nix' for asked.py"),
        (USER.format(more="pass"), ("--user-class", "Nix"), "user class 'Nix'; expected one of as"),
        (USER.format(more="pass"), ("--workers", "99"), "10 users are fewer than 99 workers"),
        (USER.format(more="pass"), ("--out", "/proc/no"), "/proc/no, which cannot be written"),
        (USER.format(more="pass"), ("--host", "https://x"), "HTTPS is not supported"),
        (
            USER.format(more="pass"),
            ("--host", "127.0.0.1:1"),
            "URL '127.0.0.1:1'; expected http://",
        ),
        (USER.format(more="pass"), ("--host", "http://127.0.0.1:1"), "no server at http://127.0.0"),
        (USER.format(more="pass"), ("--host", "http://no.invalid"), "no address for 'no.invalid'"),
        (USER.format(more="pass"), ("some-chapter",), "chapters beside --locustfile"),
        (USER.format(more="pass"), ("--profile", "full"), "--profile beside --locustfile"),
        (SHAPE + "return self.runner.stats.total and None", (), "it asks for runner.stats"),
        (
            SHAPE + "return (5, 1)",
            ("-t", "3", "--users", "3"),
            "--users beside LoadTestShape",
        ),
    ],
)
def test_what_cannot_run_is_refused_by_name(refused, text, options, told):
    """With what was expected, and the next step."""
    said = refused(text, *options, host="--host" not in options)
    assert told in said
    assert "; next: " in said


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (USER.format(more="pass"), "no host in asked.py, and no --host"),
        (USER.format(more="host = 'http://shop.example'"), "say so: --host http://shop.example"),
        (
            USER.format(more="host = 'http://127.0.0.1:1'")
            + "class Other(Reader):\n    host = 'http://127.0.0.1:2'\n",
            "several hosts: http://127.0.0.1:1, http://127.0.0.1:2",
        ),
        (
            "import socket\nsocket.create_connection(('127.0.0.1', 9), 1)\n",
            "a connection to 127.0.0.1:9, in asked.py, line 2, while it is imported",
        ),
    ],
)
def test_a_target_is_named_by_whoever_starts_the_load(refused, text, told):
    """A locustfile alone sends nothing to another machine."""
    assert told in refused(text, host=False)


def test_tags_that_leave_no_task_are_refused(refused):
    """With the tags that there are."""
    text = (STYLES / "tagged.py").read_text()
    assert "no task of Tagged in asked.py with these tags" in refused(text, "--tags", "tag9")
    assert "expected tags of its tasks: tag1, tag2" in refused(text, "--tags", "tag9")


@pytest.mark.parametrize("words", [["-f", "absent.py"], ["-f", "."], ["-f", "some.txt"]])
def test_a_file_that_is_none_is_refused(refused, outside, words):
    """It may be absent, a folder, or no Python file."""
    (outside / "some.txt").touch()
    assert "found locustfile " in refused(None, *words)


@pytest.mark.parametrize(
    "words", [["--users", "3"], ["--seconds", "3"], ["--tags", "a"], ["--warmup", "0"], ["--json"]]
)
def test_options_of_a_locustfile_need_one(refused, words):
    """They would say nothing to chapters."""
    assert f"found {words[0]} without --locustfile" in refused(None, *words, host=False)
