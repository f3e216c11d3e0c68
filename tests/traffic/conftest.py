"""The shop, as a process of its own, and a generator that runs what was written for it."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest

from sizebook.hosts.guard import Guard
from sizebook.hosts.local import LocalHost
from sizebook.load.control import GeneratorClient
from sizebook.model.load import Arrivals, ClosedLoop, LoadProfile, Phases
from sizebook.traffic.preparing import PreparedTraffic
from sizebook.traffic.writing import write_load

SERVER = Path(__file__).parent / "shop_server.py"


class RunningShop:
    """A shop that runs."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        self.port = int(process.stdout.readline())
        self.url = f"http://127.0.0.1:{self.port}"

    def answers(self) -> dict[str, int]:
        """Return how often it gave which answer."""
        with urllib.request.urlopen(f"{self.url}/answers") as answer:
            told: dict[str, int] = json.load(answer)
        return told


@pytest.fixture
def shop() -> Iterator[RunningShop]:
    command = [sys.executable, str(SERVER)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        yield RunningShop(process)
        assert process.stdin is not None
        process.stdin.close()


@pytest.fixture
def measured(
    tmp_path: Path,
) -> Iterator[Callable[[PreparedTraffic, str, Arrivals | None], pl.DataFrame]]:
    """Write a load, run it for some tenths of a second, return its requests."""
    guard = Guard(tmp_path / "ledger")
    locustfiles = tmp_path / "locustfiles"

    def measure(
        prepared: PreparedTraffic, url: str, arrivals: Arrivals | None = None
    ) -> pl.DataFrame:
        written = write_load(prepared, "shop", "Shop")
        for name, text in written.files.items():
            path = locustfiles / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        settings = {"think_share": 0.0} if written.kind == "session" else {}
        load = LoadProfile(
            locustfile="shop.py",
            arrivals=arrivals or ClosedLoop(users=2),
            phases=Phases(warmup_s=0.0, measured_s=0.6, drain_s=20.0),
            settings=settings,
        )
        (tmp_path / "out").mkdir(exist_ok=True)
        client = GeneratorClient(
            LocalHost(guard), sys.executable, tmp_path, locustfiles=locustfiles
        )
        with client as running:
            running.prepare(load, {"system": url}, tmp_path / "out")
            found = running.run().requests
        return found.with_columns(pl.col("name", "error", "phase").cast(pl.String))

    yield measure
    guard.close()
