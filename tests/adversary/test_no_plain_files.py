"""Pipes, sockets, devices, folders where a file is expected: refused at once, not waited for."""

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from audited_book import audit, make_audited_book

from sizebook.model.errors import UsageError
from sizebook.store.plain_files import need_plain, open_plain

KINDS = {
    "pipe": "a named pipe",
    "socket": "a socket",
    "folder": "a folder",
    "device": "a device",
    "link to a pipe": "a named pipe",
}


def put(kind, path, elsewhere):
    """Put something at a path that is no plain file; return the words for it."""
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        here = Path.cwd()
        os.chdir(path.parent)  # the name of a socket has little room
        try:
            with socket.socket(socket.AF_UNIX) as made:
                made.bind(path.name)
        finally:
            os.chdir(here)
    elif kind == "folder":
        path.mkdir()
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        os.mkfifo(elsewhere / "pipe")
        path.symlink_to(elsewhere / "pipe")
    return KINDS[kind]


@pytest.fixture(params=KINDS)
def odd(request, tmp_path):
    """Something that is no plain file, and the words for it."""
    path = tmp_path / "odd"
    return path, put(request.param, path, tmp_path)


def test_what_a_user_names_is_told_for_what_it_is(odd):
    """One message: what it is, what is expected, what to do."""
    path, words = odd
    with pytest.raises(UsageError, match=rf"which is {words}; expected a log in a plain file"):
        need_plain(path, "a log")
    for follow in (False, True):
        with pytest.raises(OSError):
            os.close(open_plain(path, follow=follow))


@pytest.mark.parametrize(
    "words",
    [
        ("gc", "{odd}"),
        ("audit", "{odd}"),
        ("compare", "{odd}", "{odd}"),
        ("reproductions", "{odd}"),
        ("doctor", "--inventory", "{odd}"),
        ("trial", "--inventory", "{odd}"),
        ("trial", "--locustfile", "{odd}"),
    ],
    ids=lambda words: " ".join(words[:2]).removesuffix(" {odd}"),
)
def test_commands_refuse_a_pipe_with_one_line(tmp_path, words):
    """Nobody writes into it; the command does not wait for that."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    given = [word.replace("{odd}", str(pipe)) for word in words]
    done = subprocess.run(
        [sys.executable, "-m", "sizebook.cli", *given],
        capture_output=True,
        text=True,
        timeout=120,  # else it hangs
        check=False,
    )
    assert done.returncode in (1, 2), done.stdout
    assert done.stderr.count("next:") == 1, done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture(scope="module")
def untouched(tmp_path_factory):
    """An audited book, without its site."""
    return make_audited_book(tmp_path_factory.mktemp("odd") / "book", measured=True)


PLACES = {
    "page": "book/chapters/tiny.ipynb",
    "record": "data/runs/tiny/{bundle}/trial.json",
    "table": "data/runs/tiny/{bundle}/requests.parquet",
    "added": "data/runs/tiny/{bundle}/more",
    "reported": "data/reported/claims.csv",
}


@pytest.mark.parametrize(
    ("place", "kind"),
    [*((place, "pipe") for place in PLACES), ("page", "device"), ("record", "link to a pipe")],
)
def test_the_audit_finds_it_and_goes_on(untouched, tmp_path, place, kind):
    """As a page, a record, a table, a file beside them, a table of reports."""
    book = shutil.copytree(untouched, tmp_path / "book", symlinks=True)
    bundle = min((book / "data" / "runs" / "tiny").iterdir()).name
    path = book / PLACES[place].format(bundle=bundle)
    path.unlink(missing_ok=True)
    put(kind, path, tmp_path)
    report = audit(book)
    assert report.number_of("error") > 0
    assert report.counts()["bundles"].checked >= 5


def test_a_template_that_is_a_pipe_is_told(untouched, tmp_path):
    """Its chapter is not left out in silence, and nobody waits for a writer."""
    book = shutil.copytree(untouched, tmp_path / "book", symlinks=True)
    path = book / "notebooks" / "10-tiny.ipynb"
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(UsageError, match="a named pipe"):
        audit(book)
