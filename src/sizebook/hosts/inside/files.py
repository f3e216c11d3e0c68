"""Files to and from the host: JSON lines with chunks of raw bytes between them."""

from __future__ import annotations

import json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO, Any

CHUNK = 1 << 20


def make_folder(path: str, user: int | None) -> None:
    """Make a folder and those above it; what is new belongs to the user."""
    if os.path.isdir(path):
        return
    make_folder(os.path.dirname(path), user)
    os.mkdir(path)
    if user is not None:
        os.chown(path, user, user)


def send(stream: IO[bytes], message: dict[str, Any]) -> None:
    """Write a line of JSON."""
    stream.write(json.dumps(message).encode() + b"\n")
    stream.flush()


def receive(stream: IO[bytes]) -> None:
    """Write the files, folders and links that come, until the sender says that this was all."""
    folders = []
    while True:
        item = json.loads(stream.readline())
        if "end" in item:
            break
        path, owner = item["path"], item["owner"]
        make_folder(os.path.dirname(path), None)
        if item["kind"] == "folder":
            make_folder(path, None)
            folders.append((path, item))
        else:
            if os.path.lexists(path):
                os.unlink(path)
            if item["kind"] == "link":
                os.symlink(item["to"], path)
            else:
                receive_file(stream, path)
                os.chmod(path, item["mode"])
        if owner is not None:
            os.chown(path, owner, owner, follow_symlinks=False)
        if item["kind"] != "link":
            os.utime(path, ns=(item["mtime_ns"], item["mtime_ns"]))
    for path, item in reversed(folders):
        os.chmod(path, item["mode"])
        os.utime(path, ns=(item["mtime_ns"], item["mtime_ns"]))


def receive_file(stream: IO[bytes], path: str) -> None:
    """Write the chunks that come; the one of no bytes is the last."""
    with open(path, "wb") as file:
        while size := json.loads(stream.readline())["bytes"]:
            chunk = stream.read(size)
            if len(chunk) < size:
                raise ValueError(f"{path}: the connection was lost")
            file.write(chunk)


def send_changes(stream: IO[bytes], top: str, have: dict[str, list[int]]) -> None:
    """Send what below a folder is new or has changed, of a file that has grown what was added.

    ``have`` says for each path below it how it was when it was sent last.
    """
    for folder, _, names in os.walk(top):
        for name in sorted(names):
            path = os.path.join(folder, name)
            try:
                if not os.path.isfile(path) or os.path.islink(path):
                    continue
                with open(path, "rb") as file:
                    send_file(stream, file, os.path.relpath(path, top), have)
            except FileNotFoundError:  # ended meanwhile, as temporary files do
                continue


def send_file(stream: IO[bytes], file: IO[bytes], path: str, have: dict[str, list[int]]) -> None:
    """Send what is new of one file."""
    stat = os.fstat(file.fileno())
    state = [stat.st_ino, stat.st_size, stat.st_mtime_ns]
    before = have.get(path, [0, 0, 0])
    if before == state:
        return
    grown = before[0] == state[0] and before[1] < state[1]
    begin = before[1] if grown else 0
    send(stream, {"path": path, "begin": begin, "state": state, "mode": stat.st_mode & 0o7777})
    file.seek(begin)
    left = stat.st_size - begin
    while chunk := file.read(min(CHUNK, left)):
        send(stream, {"bytes": len(chunk)})
        stream.write(chunk)
        left -= len(chunk)
    send(stream, {"bytes": 0})
