"""Every option of every command answers bad values by one message; none by a traceback."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import typer.main
from test_calculator import MODEL
from typer.testing import CliRunner

from sizebook.cli import size, trial
from sizebook.cli.main import app
from sizebook.hosts import preparing
from sizebook.lab import equipment
from sizebook.model.errors import BundleError, UserError
from sizebook.store.received import unpack_bundles

STEERS = ("\x1b[2J", "\x9b31m", "a\u202eb", "\udcff", "a\nb")
NASTY = ("", "-5", "nan", "inf", "1e999", "1_0", "x:inf", "p95:inf", *STEERS, "no/such")
"""For an option or argument of any type."""


def _commands(group: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, (*words, name))
        else:
            yield (*words, name), command


COMMANDS = dict(_commands(typer.main.get_command(app)))


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a project without a chapter, in which nothing can be measured."""
    (tmp_path / "_config.yml").touch()
    (tmp_path / "notebooks").mkdir()
    monkeypatch.setenv("SIZEBOOK_ROOT", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(equipment, "examine_modes", lambda *_: ())  # would make hosts
    monkeypatch.setattr(preparing, "prepare_hosts", lambda *_, **__: ())  # would fetch a kernel
    monkeypatch.setattr(size, "_model", lambda *_: MODEL)
    return tmp_path


def _asked(words: tuple[str, ...], texts: Sequence[str] = NASTY) -> Iterator[list[str]]:
    for parameter in COMMANDS[words].params:
        flag = [name for name in parameter.opts if name.startswith("--")]
        if getattr(parameter, "is_flag", False) or parameter.name == "help":
            continue
        for text in texts:
            yield [*words, f"{flag[0]}={text}"] if flag else [*words, "--", text]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_bad_values_are_one_message(root: Path, words: tuple[str, ...]) -> None:
    """Typer refuses it (2), the command does (UserError), or it does its work."""
    for arguments in _asked(words):
        done = CliRunner().invoke(app, arguments)
        error = done.exception
        allowed = error is None or isinstance(error, SystemExit | UserError)
        assert allowed, f"{arguments}: {error!r}"
        if isinstance(error, UserError):
            assert str(error).isprintable(), arguments
            assert "next: " in str(error)
        assert all(map(str.isprintable, (done.stdout + done.stderr).splitlines())), arguments


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_nothing_is_no_value(root: Path, words: tuple[str, ...]) -> None:
    """Of any option or argument: it must not stand for all, nor for what is done without."""
    for arguments in _asked(words, ("", " ")):
        error = CliRunner().invoke(app, arguments).exception
        assert isinstance(error, UserError), arguments
        told = "an argument that is empty" if "--" in arguments else "nothing behind --"
        assert told in str(error)
        parted = [word for word in arguments[-1].partition("=") if word != "="]
        error = CliRunner().invoke(app, [*arguments[:-1], *parted]).exception
        assert isinstance(error, UserError), parted


@pytest.mark.parametrize("text", STEERS)
@pytest.mark.parametrize(
    "words",
    [
        ["{}"],
        ["--{}"],
        ["new", "{}"],
        ["doctor", "{}"],
        ["trial", "--{}"],
        ["trial", "--{}=1"],
        ["trial", "--users={}"],
        ["stack", "manifests", "--image", "a", "--{}"],
    ],
    ids=" ".join,
)
def test_what_the_parser_refuses_is_shown_as_escapes(words: list[str], text: str) -> None:
    """Unknown commands and options, values too many or of another type: as told by Typer."""
    done = CliRunner().invoke(app, [word.format(text) for word in words])
    lines = done.stderr.splitlines()
    assert done.exit_code == 2
    assert all(map(str.isprintable, lines))
    assert len([line for line in lines if line.startswith("Error: ")]) == 1


def test_the_name_of_the_program_steers_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link to it may have any name."""
    monkeypatch.setattr("sys.argv", ["/bin/\x1b[31msizebook", "nothing"])
    with pytest.raises(SystemExit):
        app()
    told = capsys.readouterr().err
    assert told.startswith("Usage: sizebook [OPTIONS]")
    assert all(map(str.isprintable, told.splitlines()))


@pytest.mark.parametrize(
    "arguments",
    [
        ["--users", "inf"],
        ["--users", "nan"],
        ["--users", "0"],
        ["--rate", "inf"],
        ["--rate", "-1"],
        ["--users", "10", "--think", "-1"],
        ["--users", "10", "--think", "inf"],
        ["--users", "10", "--criterion", "mean:inf"],
        ["--users", "10", "--criterion", "p95:nan"],
        ["--users", "10", "--criterion", "p95:-1"],
        ["--users", "10", "--criterion", "p95:0"],
        ["--users", "10", "--criterion", "p95"],
    ],
    ids=" ".join,
)
def test_a_demand_without_sense_is_refused(root: Path, arguments: list[str]) -> None:
    """The option is named that is wrong, no other, and no library speaks."""
    found = CliRunner().invoke(app, ["size", *arguments]).exception
    assert isinstance(found, UserError), found
    criterion = arguments[-1] if "--criterion" in arguments else ""
    wrong = f"--criterion {criterion}" if criterion else " ".join(arguments[-2:])
    assert found.found == wrong
    assert not any(word in str(found) for word in ("None", "float", "convert"))


@pytest.mark.parametrize("text", ["users=nan", "users=inf", "users=-Infinity", "users=1e999"])
def test_a_setting_is_a_finite_number(text: str) -> None:
    with pytest.raises(UserError, match="a finite number"):
        trial.parse_settings([text])


def test_a_command_to_go_on_with_can_be_pasted(root: Path) -> None:
    """A folder with blanks and quotes is one word of the shell."""
    done = CliRunner().invoke(app, ["new", "book", "it's a book"])
    assert done.exit_code == 0, done.exception
    assert """cd 'it'"'"'s a book' && make""" in done.stdout


def test_an_archive_that_macos_packed_again_is_told_apart(tmp_path: Path) -> None:
    """Its notes are no attack: the message says where they come from and what to do."""
    for name in ("__MACOSX/run/._trial.json", "run/.DS_Store", "run/._trial.json"):
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w") as packed:
            packed.writestr(name, b"")
        archive = tmp_path / "run.zip"
        archive.write_bytes(data.getvalue())
        with pytest.raises(BundleError, match=r"macOS .* remove every __MACOSX"):
            unpack_bundles(archive, tmp_path / "into")
