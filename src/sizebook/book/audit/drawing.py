"""Charts of an audited page are drawn by a process of its own, which has little to lose.

A specification of a few bytes can ask for a billion rows, for a regular expression that never ends
or for a character at which the drawing library aborts its process.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Mapping
from typing import Any

LIMIT_S = 120.0
"""A chart of the book takes less than a second; the first one waits for the start."""
_PIECE = 1 << 16


class Drawer:
    """Draws specifications one after the other, in a process that is started when needed."""

    def __init__(self, limit_s: float = LIMIT_S) -> None:
        self._limit_s = limit_s
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Drawer:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def draw(self, spec: Mapping[str, Any]) -> str:
        """Return the SVG of a specification.

        Raises ValueError, in a few words, for one that draws nothing: it is none, takes longer
        than ``limit_s``, or brings the process down.
        """
        try:
            asked = json.dumps(spec).encode() + b"\n"
        except RecursionError as error:
            raise ValueError("it is nested too deeply") from error
        try:
            answer = self._ask(asked)
        except BaseException:
            self._end()
            raise
        said: dict[str, str] = json.loads(answer)
        if "svg" not in said:
            raise ValueError(said["error"])
        return said["svg"]

    def _ask(self, asked: bytes) -> bytes:
        process = self._process = self._process or _start()
        assert process.stdin is not None and process.stdout is not None
        with contextlib.suppress(BrokenPipeError):  # its end is seen below
            process.stdin.write(asked)
            process.stdin.flush()
        end_s, answer = time.monotonic() + self._limit_s, bytearray()
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while not answer.endswith(b"\n"):
                if not selector.select(max(0.0, end_s - time.monotonic())):
                    raise ValueError(f"it takes longer than {self._limit_s:g} s to draw")
                piece = os.read(process.stdout.fileno(), _PIECE)
                if not piece:
                    raise ValueError("it brings the process that draws it down")
                answer += piece
        return bytes(answer)

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            with contextlib.suppress(BrokenPipeError):
                process.communicate()


def _start() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-I", "-m", "sizebook.book.audit.drawing"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C is the audit's business, which ends this
    )


def main() -> None:
    """Draw the specification in each line of standard input; print a line of JSON for each."""
    import resource  # noqa: PLC0415 - of the child alone

    from sizebook.report.chart import render_svg  # noqa: PLC0415 - slow, of the child alone

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for line in sys.stdin.buffer:
        try:
            answer = {"svg": render_svg(json.loads(line))}
        except ValueError as error:
            answer = {"error": str(error)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
