"""A stack kept running for trying it by hand, outside of any measurement."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType

import psutil

from sizebook.lab.bench import opened_bench
from sizebook.model.deployment import Deployment
from sizebook.model.errors import UsageError, UserError
from sizebook.store import Project

_START_TIMEOUT_S = 180.0


@dataclass(frozen=True)
class HeldStack:
    """A stack that a holder process keeps running."""

    holder_pid: int
    urls: dict[str, str]
    management: dict[str, int]
    """Node name to port of its health and metrics endpoints."""
    logs: str
    since: str


def hold_up(project: Project, deployment: Deployment) -> HeldStack:
    """Start a stack that stays after this command; raises UserError if one runs or it fails."""
    if held(project) is not None:
        raise UsageError(
            found="a stack that runs already",
            expected="none",
            next_step="'sizebook stack status' shows it, 'sizebook stack down' stops it",
        )
    log = project.state / "stack-holder.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as sink:
        holder = subprocess.Popen(
            [sys.executable, "-m", "sizebook.lab.manual_stack", deployment.model_dump_json()],
            cwd=project.root,
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=sink,
            start_new_session=True,
        )
    deadline = time.monotonic() + _START_TIMEOUT_S
    while time.monotonic() < deadline:
        if (stack := held(project)) is not None:
            return stack
        if holder.poll() is not None:
            raise UserError(
                found=f"the stack did not start: {_last_line(log)}",
                expected="a running stack",
                next_step="see 'sizebook doctor'",
            )
        time.sleep(0.1)
    holder.terminate()
    raise UserError(
        found=f"no running stack after {_START_TIMEOUT_S:g} s",
        expected="a stack within that time",
        next_step="see 'sizebook doctor', and try again on a quiet machine",
    )


def held(project: Project) -> HeldStack | None:
    """Return the stack that is being held, or None."""
    try:
        stack = HeldStack(**json.loads(_state(project).read_text()))
        command = psutil.Process(stack.holder_pid).cmdline()
    except (OSError, ValueError, TypeError, psutil.NoSuchProcess):
        return None
    return stack if "sizebook.lab.manual_stack" in command else None


def take_down(project: Project) -> bool:
    """Stop the held stack and wait until it is gone; return False if there was none."""
    stack = held(project)
    if stack is None:
        return False
    with contextlib.suppress(psutil.NoSuchProcess):
        holder = psutil.Process(stack.holder_pid)
        holder.terminate()
        holder.wait(timeout=60)
    return True


def _hold(project: Project, deployment: Deployment) -> None:
    """Be the holder: run the stack until told to stop or until one of its processes ends."""
    over = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _setter(over))
    state = _state(project)
    with (
        opened_bench(project, "a stack held by hand") as bench,
        bench.runner.running(deployment, "by-hand") as stack,
    ):
        shown = HeldStack(
            holder_pid=os.getpid(),
            urls=stack.targets(),
            management={n.name: n.management_port for n in stack.nodes if n.management_port},
            logs=str((stack.folder / "logs").relative_to(project.root)),
            since=time.strftime("%Y-%m-%d %H:%M:%S"),
        )
        partial = state.with_suffix(".new")
        partial.write_text(json.dumps(asdict(shown)))
        partial.replace(state)
        try:
            while not over.wait(0.5) and not stack.endings():
                pass
        finally:
            state.unlink(missing_ok=True)


def _setter(event: threading.Event) -> Callable[[int, FrameType | None], None]:
    return lambda _number, _frame: event.set()


def _state(project: Project) -> Path:
    return project.state / "stack.json"


def _last_line(log: Path) -> str:
    lines = log.read_text(errors="replace").strip().splitlines()
    return lines[-1] if lines else "no message"


if __name__ == "__main__":
    from sizebook.store import find_project

    try:
        _hold(find_project(), Deployment.model_validate_json(sys.argv[1]))
    except UserError as error:
        sys.exit(str(error))
