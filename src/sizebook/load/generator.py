"""The load generator's process: ``python -m sizebook.load.generator``, one JSON line an order.

It serves any number of trials one after the other, because starting Python with Locust takes a
second. It ends when its standard input ends, or at SIGTERM, which is left to the system's default:
nothing here is worth saving from a trial that nobody waits for.
"""

from __future__ import annotations

import locust  # isort: skip  (first: it patches the standard library for gevent)

import os
import resource
import signal
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import gevent
from gevent.fileobject import FileObjectPosix
from gevent.queue import Queue

from sizebook.load.data_files import FileWatch
from sizebook.load.plain import left_by_exit
from sizebook.load.protocol import (
    Failure,
    Go,
    Order,
    Read,
    Ready,
    Tick,
    decode,
    encode,
)
from sizebook.load.together import run_together
from sizebook.load.trialrun import TrialRun, quieten_locust, versions
from sizebook.load.vitals import OnSecond
from sizebook.model.errors import TrialError, UserError
from sizebook.model.records import Record

assert locust.__version__


class GeneratorProcess:
    """Takes words from one way and says words into another."""

    def __init__(self, source: Iterable[str | bytes], say: Callable[[bytes], None]) -> None:
        """``source`` gives one line after the other; ``say`` sends one."""
        self._source = source
        self._send = say
        self._words: Queue[tuple[str, str]] = Queue()
        self._trials: list[TrialRun] = []
        self._files = FileWatch()

    def serve(self) -> None:
        """Serve orders until the source ends, which ends the process."""
        gevent.spawn(self._listen)
        self._say("ready", Ready(versions=versions()))
        while True:
            word, content = self._words.get()
            try:
                self._obey(word, content)
            except UserError as error:
                self._drop_trials()
                self._tell_read()
                self._say("error", Failure.of(error))
            except SystemExit as error:
                self._drop_trials()
                self._tell_read()
                self._say("error", Failure.of(left_by_exit(error, "the locustfile")))
            except Exception as error:
                self._drop_trials()
                self._tell_read()
                sys.excepthook(type(error), error, error.__traceback__)
                self._say("error", Failure.of(_unexpected(error)))

    def _obey(self, word: str, content: str) -> None:
        if word == "order":
            order = Order.model_validate_json(content)
            if not order.beside:
                self._drop_trials()
            Path(order.out).mkdir(parents=True, exist_ok=True)
            self._files.begin(Path(order.locustfile))
            self._trials.append(TrialRun(order))
            self._tell_read()
            self._say("prepared", self._trials[-1].prepared())
        elif word == "go":
            if not self._trials:
                raise _misplaced(word, "an order before it")
            start_ns = Go.model_validate_json(content).start_ns
            every = run_together(self._trials, start_ns, self._sum_up())
            self._drop_trials()
            self._tell_read()
            for done in every:
                self._say("done", done)
        elif word != "stop":  # a stop that comes when all is over is no mistake
            raise _misplaced(word, "order, go or stop")

    def _listen(self) -> None:
        for line in self._source:
            try:
                word, content = decode(line)
            except ValueError as error:
                self._say("error", Failure.of(_misplaced(str(error), "a line of the protocol")))
                continue
            if word == "stop" and self._trials:
                for trial in self._trials:
                    trial.stop()
            else:
                self._words.put((word, content))
        os._exit(0)

    def _sum_up(self) -> Callable[[int], OnSecond]:
        """Return what gives for each trial what tells the lab of a second, of all of them."""
        latest: dict[int, tuple[int, int, int]] = {}

        def listener(trial: int) -> OnSecond:
            def tell(requests: int, failed: int, users: int, elapsed_s: float) -> None:
                latest[trial] = requests, failed, users
                requests, failed, users = (sum(each) for each in zip(*latest.values(), strict=True))
                tick = Tick(
                    elapsed_s=elapsed_s,
                    requests=requests,
                    failed=failed,
                    users=users,
                    latency_ms=self._trials[trial].latency_ms,
                )
                self._say("tick", tick)

            return tell

        return listener

    def _tell_read(self) -> None:
        if news := self._files.news():
            self._say("read", Read(files=news))

    def _drop_trials(self) -> None:
        trials, self._trials = self._trials, []
        for trial in trials:
            trial.close()

    def _say(self, word: str, content: Record) -> None:
        self._send(encode(word, content).encode())


def _misplaced(found: str, expected: str) -> TrialError:
    return TrialError(
        found=f"{found!r} on the generator's input",
        expected=expected,
        next_step="let sizebook.load.control talk to the generator",
    )


def _unexpected(error: Exception) -> TrialError:
    return TrialError(
        found=f"{type(error).__name__} in the load generator: {error}",
        expected="a trial without exceptions",
        next_step="read the traceback in the generator's log; this is a bug worth reporting",
    )


def raise_open_file_limit() -> None:
    """Let this process open as many files as the system allows it: one a connection."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def main() -> None:
    """Be a generator on standard input and output."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    quieten_locust()
    raise_open_file_limit()
    # What a locustfile prints must not get between the lines of the protocol.
    sink_fd = os.dup(1)
    os.dup2(2, 1)

    def say(line: bytes) -> None:
        while line:
            line = line[os.write(sink_fd, line) :]

    GeneratorProcess(FileObjectPosix(os.dup(0), "rb"), say).serve()


if __name__ == "__main__":
    main()
