"""One notebook kernel of the running interpreter, and papermill's run of a notebook in it."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import papermill
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from nbclient.exceptions import CellTimeoutError
from papermill.engines import NBClientEngine, NotebookExecutionManager, papermill_engines

_POLL_S = 0.1
_ENGINE = "sizebook"
_ERRORS = "errors.txt"

# Asked to end, ipykernel 7.4 now and then flushes a stream whose thread has ended, and waits 10 s.
# jupyter_client terminates it after 2.5 s, before what the notebook registered with atexit ran.
_QUICK_END = (
    "--IPKernelApp.exec_lines="
    "import sys; sys.stdout.flush_timeout = sys.stderr.flush_timeout = 0.5; del sys"
)

# None in sys.modules makes an import fail: https://docs.python.org/3/reference/import.html
_NO_MEASURING = (
    "--IPKernelApp.exec_lines=import sys; sys.modules['sizebook.lab.bench'] = None; del sys"
)


_SILENT_S = 120
"""How long a cell that has ended may leave its outputs out; nbclient's 4 s are too few where
other programs keep the CPUs busy."""


class NotebookLostError(Exception):
    """A notebook was not run to its end, for a reason that lies in none of its cells; says it."""


class _StopError(Exception):
    """The run was told to stop between two cells."""


class _SparingEngine(NBClientEngine):  # type: ignore[misc, unused-ignore]
    """Papermill's own, but the notebook is written when the run has begun and when it is over.

    Papermill writes it before and after each cell, with all outputs so far: a third of the time
    that a page of many charts takes. What a run measures is in its bundles.
    """

    @classmethod
    def execute_managed_notebook(
        cls, nb_man: NotebookExecutionManager, kernel_name: str, **settings: Any
    ) -> None:
        file, nb_man.output_path = nb_man.output_path, None
        try:
            super().execute_managed_notebook(nb_man, kernel_name, **settings)
        finally:
            nb_man.output_path = file


papermill_engines.register(_ENGINE, _SparingEngine)


class NotebookRun:
    """Runs one notebook in a thread, so that the caller can watch it and stop it.

    The kernel is always ``sys.executable -m ipykernel_launcher`` with an IPython folder of its
    own: neither an installed kernel specification nor the user's start-up files take part. It
    talks over local sockets in a temporary folder instead of TCP, and what its process writes to
    its error stream beside the cells' outputs (asked to end, ipykernel may trip over a stream that
    is closed already) is kept there: only a kernel that dies is asked for its last words.
    """

    def __init__(
        self,
        template: Path,
        output: Path,
        parameters: Mapping[str, Any],
        *,
        folder: Path,
        environment: Mapping[str, str],
        may_measure: bool = True,
    ) -> None:
        """Say what to run, where to, and from which folder.

        Without ``may_measure`` the machinery of measuring cannot be imported in the kernel: a
        notebook that asks for a measurement fails instead.
        """
        self._template = template
        self._output = output
        self._parameters = dict(parameters)
        self._folder = folder
        self._environment = dict(environment)
        self._flags = [_QUICK_END] if may_measure else [_QUICK_END, _NO_MEASURING]
        self._stopping = threading.Event()
        self._pid: int | None = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="papermill", daemon=True)

    def finish(self, while_running: Callable[[], None], stop_grace_s: float) -> None:
        """Start, call ``while_running`` ten times a second, and return when the run is over.

        Raises PapermillExecutionError for a cell that failed. A kernel that died, could not start
        or fell silent, and a disk that is full, are a NotebookLostError. Whatever else ends the
        waiting, Ctrl-C above all, interrupts the kernel first, so that the notebook's own clean-up
        runs; a kernel that is still busy after ``stop_grace_s``, or at a second Ctrl-C, is
        terminated.
        """
        self._thread.start()
        try:
            while self._thread.is_alive():
                self._thread.join(_POLL_S)
                while_running()
        except BaseException:
            self._stop(stop_grace_s)
            raise
        if self._error is not None:
            raise self._error

    def _stop(self, grace_s: float) -> None:
        self._stopping.set()
        # a second Ctrl-C cuts one wait short: on to the next, harder step
        for sign, wait_s in ((signal.SIGINT, grace_s), (signal.SIGTERM, 5.0), (signal.SIGKILL, 5)):
            self._send(sign)
            with contextlib.suppress(KeyboardInterrupt):
                self._join(wait_s)
            if not self._thread.is_alive():
                return

    def _join(self, wait_s: float) -> None:
        end = time.monotonic() + wait_s
        while self._thread.is_alive() and time.monotonic() < end:
            self._thread.join(_POLL_S)

    def _send(self, sign: signal.Signals) -> None:
        """Signal the kernel alone: what it started is the notebook's own to end."""
        if self._pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, sign)

    def _run(self) -> None:
        try:
            # the name of a socket has little room, so the folder's is short
            with tempfile.TemporaryDirectory(prefix="sb-") as sockets:
                try:
                    self._execute(Path(sockets))
                except RuntimeError as error:  # jupyter_client's, and nbclient's DeadKernelError
                    words = _read_last_words(Path(sockets)) or str(error)
                    raise NotebookLostError(
                        f"the notebook's process ended unexpectedly ({words}); "
                        "was it short of memory?"
                    ) from error
        except CellTimeoutError:
            words = f"the notebook's process told nothing for {_SILENT_S} s; is the machine busy?"
            self._error = NotebookLostError(words)
        except OSError as error:
            self._error = NotebookLostError(cannot_write(error))
        except BaseException as error:  # handed to the thread that waits
            self._error = error

    def _execute(self, sockets: Path) -> None:
        def look_at_stop(**_: Any) -> None:
            if self._stopping.is_set():
                raise _StopError

        papermill.execute_notebook(
            str(self._template),
            str(self._output),
            self._parameters,
            engine_name=_ENGINE,
            kernel_name="python3",
            language="python",
            progress_bar=False,
            iopub_timeout=_SILENT_S,
            kernel_manager_class=self._make_manager_class(sockets),
            resources={"metadata": {"path": str(self._folder)}},
            on_cell_start=look_at_stop,
        )

    def _make_manager_class(self, sockets: Path) -> type[AsyncKernelManager]:
        run = self
        environment = {**os.environ, **self._environment, "IPYTHONDIR": str(sockets / "ipython")}

        class InterpreterKernelManager(AsyncKernelManager):  # type: ignore[misc, unused-ignore]
            """Starts ``sys.executable`` whatever kernels are installed."""

            def __init__(self, **settings: Any) -> None:
                super().__init__(**settings)
                self.transport = "ipc"
                self.ip = str(sockets / "k")
                self.connection_file = str(sockets / "kernel.json")

            @property
            def kernel_spec(self) -> KernelSpec:
                """The kernel of the running interpreter, without a history file."""
                start = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
                return KernelSpec(
                    argv=[*start, "--HistoryManager.enabled=False", *run._flags],
                    display_name="Python 3",
                    language="python",
                )

            async def _async_start_kernel(self, **settings: Any) -> None:
                with (sockets / _ERRORS).open("wb") as errors:
                    await super()._async_start_kernel(env=environment, stderr=errors, **settings)
                run._pid = getattr(self.provisioner, "pid", None)
                if run._stopping.is_set():
                    raise _StopError

            start_kernel = _async_start_kernel

            async def _async_interrupt_kernel(self) -> None:
                """Do nothing: before it asks an idle kernel to end, jupyter_client interrupts it.

                All that does is to print "KeyboardInterrupt caught in kernel".
                """

        return InterpreterKernelManager


def cannot_write(error: OSError) -> str:
    """Say why a notebook, or what it is made of, could not be written or read."""
    return f"files of the notebook cannot be written or read ({error.strerror or error})"


def _read_last_words(folder: Path) -> str:
    """Give the last line that a kernel's process wrote to its error stream, or nothing."""
    try:
        lines = (folder / _ERRORS).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return next((line.strip() for line in reversed(lines) if line.strip()), "")
