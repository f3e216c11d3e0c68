"""What a JVM uses memory for besides its heap: its own account, Native Memory Tracking."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from sizebook.probes.attach import ask_jvm, wake_listener
from sizebook.probes.base import CounterSample, QuietProbe, Unavailable
from sizebook.probes.process import PidSource

TRACKING = "-XX:NativeMemoryTracking=summary"
"""The flag that a JVM must be started with; it costs each allocation outside the heap some bytes
and time: a few per cent by HotSpot's documentation."""
METRIC = "native_bytes"

USES = {
    "Java Heap": "heap",
    "Class": "class",
    "Metaspace": "metaspace",
    "Shared class space": "archive",
    "Thread": "thread",
    "Code": "code",
    "GC": "gc",
    "GCCardSet": "gc",
    "Compiler": "compiler",
}
"""The JVM's categories and our labels; what is in none of them is ``other``. ``class`` and
``metaspace`` are what was made at run time, ``archive`` the class-data archive that JVMs share."""
OTHER = "other"
LABELS = (*dict.fromkeys(USES.values()), OTHER)

_COMMAND = "VM.native_memory summary"
_SELDOM_S = 3600.0
_TOTAL = re.compile(r"^Total: reserved=[0-9]+KB, committed=([0-9]{1,15})KB", re.MULTILINE)
_PART = re.compile(
    r"^-\s+(\S[^(\n]*?) \(reserved=[0-9]+KB, committed=([0-9]{1,15})KB", re.MULTILINE
)


def is_tracked(command: Sequence[str]) -> bool:
    """Return whether a JVM that was started so keeps an account of its native memory."""
    flags = [word for word in command if word.startswith("-XX:NativeMemoryTracking=")]
    return bool(flags) and not flags[-1].endswith("=off")


def parse_summary(text: str) -> dict[str, int]:
    """Return the bytes committed for each of ``LABELS``, from the answer in kB of Java 17 or later.

    They add up to the JVM's total. Raises ValueError for any other text.
    """
    total = _TOTAL.search(text)
    if total is None:
        raise ValueError(" ".join(text.split())[:100] or "an empty answer")
    uses = dict.fromkeys(LABELS, 0)
    for name, committed_kb in _PART.findall(text):
        if name in USES:
            uses[USES[name]] += int(committed_kb) * 1024
    uses[OTHER] = max(0, int(total[1]) * 1024 - sum(uses.values()))
    return uses


class NativeMemoryProbe(QuietProbe):
    """Memory that one HotSpot JVM has committed, by use; it must have been started with TRACKING.

    Committed is what it may touch without asking: a heap whose initial and greatest size are alike
    counts in full, touched or not; ``rss_bytes`` says what is resident. Asked before and after a
    trial, in under a millisecond, and not while its load runs.
    """

    interval_s = _SELDOM_S

    def __init__(
        self,
        source: str,
        pid: PidSource,
        *,
        host: str = "local",
        proc: Path = Path("/proc"),
    ) -> None:
        self.name = f"native:{source}"
        self.host = host
        self._source = source
        self._pid = pid
        self._proc = proc

    def attach(self) -> None:
        """Have the JVM listen, so that the readings find it ready."""
        wake_listener(self._running(), self._proc)

    def sample(self) -> list[CounterSample]:
        answer = ask_jvm(self._running(), _COMMAND, self._proc)
        try:
            uses = parse_summary(answer)
        except ValueError as error:
            raise Unavailable(f"native memory of {self._source}: {error}") from error
        return [CounterSample(self._source, f"{METRIC}/{use}", float(n)) for use, n in uses.items()]

    def _running(self) -> int:
        pid = self._pid()
        if pid is None:
            raise Unavailable(f"no process {self._source}")
        return pid
