"""The peers as they are run: their own command lines on the generator's core, one run a call."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from bench import outputs
from bench.outputs import Report
from bench.peers import Peer
from bench.rig import NullServer, Rig
from sizebook.model.errors import TrialError

HERE = Path(__file__).resolve().parent
JMETER_WARMUP_S = 4.0
PATIENCE_S = 30.0


def run_wrk(
    rig: Rig, peer: Peer, server: NullServer, seconds: float, users: int, rate_per_s: float = 0.0
) -> Report:
    """Return what wrk says, or wrk2 if there is a rate; its seconds are whole."""
    command = [*peer.command, "-t1", f"-c{users}", f"-d{max(1, round(seconds))}s", "--latency"]
    command += [f"-R{rate_per_s:.0f}"] if rate_per_s else []
    text, _ = _run(rig, peer, [*command, f"{server.url}/"], {}, seconds)
    return outputs.read_wrk(text)


def run_hey(rig: Rig, peer: Peer, server: NullServer, seconds: float, users: int) -> Report:
    """Return what hey says."""
    command = [*peer.command, "-z", f"{seconds:g}s", "-c", str(users), "-cpus", "1"]
    text, _ = _run(rig, peer, [*command, f"{server.url}/"], {}, seconds)
    return outputs.read_hey(text)


def run_k6(
    rig: Rig, peer: Peer, server: NullServer, seconds: float, users: int, rate_per_s: float = 0.0
) -> Report:
    """Return what k6 says of a closed loop, or of constant arrivals if there is a rate."""
    command = [*peer.command, "run", "--quiet", "--no-usage-report", "--no-color"]
    env = {
        "BENCH_URL": f"{server.url}/",
        "BENCH_SECONDS": f"{seconds:g}",
        "BENCH_USERS": str(users),
        "BENCH_RATE": f"{rate_per_s:.0f}",
        "BENCH_OUT": "summary.json",
    }
    _, files = _run(
        rig, peer, [*command, str(HERE / "plans" / "null.js")], env, seconds, ("summary.json",)
    )
    return outputs.read_k6(files["summary.json"])


def run_locust(
    rig: Rig,
    peer: Peer,
    server: NullServer,
    seconds: float,
    users: int,
    *,
    locustfile: str,
    rate_per_s: float = 0.0,
) -> Report:
    """Return the statistics that Locust itself prints; users are spawned at once and not counted.

    With a rate each user paces itself to its share of it.
    """
    command = [*peer.command, "-f", str(HERE / "locustfiles" / locustfile), "--headless"]
    command += ["-u", str(users), "-r", str(users), "-t", f"{max(1, round(seconds))}s"]
    command += ["-H", server.url, "--only-summary", "--reset-stats"]
    env = {"BENCH_RATE_PER_USER": f"{rate_per_s / users:.6f}"} if rate_per_s else {}
    text, _ = _run(rig, peer, command, env, seconds)
    return outputs.read_locust(text)


def run_jmeter(rig: Rig, peer: Peer, server: NullServer, seconds: float, users: int) -> Report:
    """Return what JMeter's samples say of the last ``seconds``, after a warm-up of its JVM."""
    whole_s = round(seconds + JMETER_WARMUP_S)
    folder = rig.new_folder()
    plan = (HERE / "plans" / "null.jmx").read_text()
    for name, value in {"port": server.port, "users": users, "seconds": whole_s}.items():
        plan = plan.replace(f"@{name}@", str(value))  # its functions would be one more artifact
    (folder / "plan.jmx").write_text(plan)
    command = [*peer.command, "-n", "-t", "plan.jmx", "-l", "samples.csv", "-j", "jmeter.log"]
    try:
        _finish(rig, peer, command, {}, folder, whole_s)
        return outputs.read_jmeter(folder / "samples.csv", seconds)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(
    rig: Rig,
    peer: Peer,
    command: list[str],
    env: Mapping[str, str],
    seconds: float,
    files: tuple[str, ...] = (),
) -> tuple[str, dict[str, str]]:
    """Run a tool; return what it printed and the files it wrote, as texts."""
    folder = rig.new_folder()
    try:
        text = _finish(rig, peer, command, env, folder, seconds)
        found = {name: (folder / name) for name in files}
        if absent := [name for name, path in found.items() if not path.is_file()]:
            raise _failed(peer, f"no {absent[0]}", text)
        return text, {name: path.read_text() for name, path in found.items()}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _finish(
    rig: Rig, peer: Peer, command: list[str], env: Mapping[str, str], folder: Path, seconds: float
) -> str:
    log = folder / "output.log"
    process = rig.host.start(
        peer.name,
        command,
        log=log,
        cpus=rig.placement.generator[:1],
        env={**os.environ, **peer.env, **env},
        cwd=folder,
    )
    try:
        code = process.wait(seconds + PATIENCE_S)
    finally:
        rig.host.stop(process)
    text = log.read_text(errors="replace")
    if code != 0:
        raise _failed(peer, "no end" if code is None else f"exit code {code}", text)
    return text


def _failed(peer: Peer, what: str, text: str) -> TrialError:
    last = text.strip().splitlines()[-1:] or ["nothing"]
    return TrialError(
        found=f"{what} of {peer.name}, which printed last: {last[0]}",
        expected="a run that ends in good order",
        next_step="try the tool by hand",
    )
