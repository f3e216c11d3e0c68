"""A headless Chromium driven over its DevTools protocol, with no name but this machine.

Only what the tests of the site need: open a page, ask it, emulate, take a picture. No test sleeps;
:meth:`Browser.wait_for` lets the page itself report when a condition holds.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Any

import websocket

from sizebook.book.paper import find_chromium

_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--hide-scrollbars",
    "--remote-debugging-port=0",
    "--remote-allow-origins=*",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--window-size=1400,1000",
)
_START_S = 60.0
_ANSWER_S = 45.0


class BrowserError(RuntimeError):
    """The browser did not start, or a script in the page failed."""


class Browser:
    """One page in a browser of its own: free port, own profile, all gone at the end.

    Use it as a context manager. ``requests`` and ``complaints`` belong to the page that was opened
    last: addresses asked for; uncaught exceptions, failed loads, console errors and warnings.
    """

    def __init__(self, answer_s: float = _ANSWER_S) -> None:
        """Start it; a command that is not answered within ``answer_s`` seconds is an error."""
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self._count = 0
        self._loaded = False
        self._profile = Path(tempfile.mkdtemp(prefix="sizebook-browser-"))
        self._process = subprocess.Popen(
            [find_chromium(), *_FLAGS, f"--user-data-dir={self._profile}", "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._socket: websocket.WebSocket | None = None
        try:
            self._socket = websocket.create_connection(self._find_target(), timeout=answer_s)
            for domain in ("Page", "Network", "Runtime", "Log"):
                self.command(f"{domain}.enable")
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the browser with all its processes and remove its profile."""
        if self._socket is not None:
            self._socket.close()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(timeout=10)
        shutil.rmtree(self._profile, ignore_errors=True)

    def command(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send one DevTools command and give its result; events on the way are kept."""
        assert self._socket is not None
        self._count += 1
        number = self._count
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv())
            if message.get("id") == number:
                if "error" in message:
                    raise BrowserError(f"{method}: {message['error']['message']}")
                result: dict[str, Any] = message["result"]
                return result
            self._keep(message)

    def run(self, script: str) -> Any:
        """Give the value of a JavaScript expression; a promise is waited for."""
        answer = self.command(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise BrowserError(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    def wait_for(self, condition: str, limit_s: float = 40.0) -> None:
        """Return when a JavaScript condition holds, looked at once a frame. Raises BrowserError."""
        held = self.run(
            f"new Promise(resolve => {{ const end = performance.now() + {limit_s * 1000};"
            f"const look = () => {{ if ({condition}) resolve(true);"
            "else if (performance.now() > end) resolve(false);"
            "else setTimeout(look, 16); }; look(); })"
        )
        if not held:
            raise BrowserError(f"not within {limit_s:g} s: {condition}")

    def open(self, address: str) -> None:
        """Open an address and return when the page and all it loads are there."""
        self._navigate("about:blank")  # else another anchor of the same page loads nothing
        self.requests.clear()
        self.complaints.clear()
        self._navigate(address)

    def follow(self, script: str) -> None:
        """Run a script that leaves the page, and return when the next page is there."""
        self._loaded = False
        self.run(f"void setTimeout(() => {{ {script} }})")
        self._wait_until_loaded()

    def set_size(self, width: int, height: int = 1000) -> None:
        """Give the page a size in CSS pixels."""
        self.command(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def set_media(self, media: str) -> None:
        """Show the page as on ``"print"`` or ``"screen"``."""
        self.command("Emulation.setEmulatedMedia", media=media)

    def take_picture(self, file: Path, *, whole: bool = True) -> None:
        """Store a picture of the page, the whole of it or what fits the window."""
        options: dict[str, Any] = {}
        if whole:
            size = self.command("Page.getLayoutMetrics")["cssContentSize"]
            clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 8000)}
            options = {"clip": {**clip, "scale": 1}, "captureBeyondViewport": True}
        picture = self.command("Page.captureScreenshot", format="png", **options)
        file.write_bytes(base64.b64decode(picture["data"]))

    def _navigate(self, address: str) -> None:
        self._loaded = False
        answer = self.command("Page.navigate", url=address)
        if "errorText" in answer:
            raise BrowserError(f"{address}: {answer['errorText']}")
        self._wait_until_loaded()

    def _wait_until_loaded(self) -> None:
        assert self._socket is not None
        while not self._loaded:
            self._keep(json.loads(self._socket.recv()))

    def _find_target(self) -> str:
        """Give the address of the blank page's socket, on the port that Chromium has chosen."""
        end = time.monotonic() + _START_S
        announced = self._profile / "DevToolsActivePort"
        while time.monotonic() < end:
            if self._process.poll() is not None:
                raise BrowserError(f"Chromium ended with {self._process.returncode} at its start")
            try:
                port = int(announced.read_text().split()[0])
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list") as answer:
                    targets = json.load(answer)
            except (OSError, ValueError, IndexError):
                time.sleep(0.05)
                continue
            for target in targets:
                if target["type"] == "page" and target["url"] == "about:blank":
                    return str(target["webSocketDebuggerUrl"])
            time.sleep(0.05)
        raise BrowserError(f"Chromium showed no page within {_START_S:g} s")

    def _keep(self, event: dict[str, Any]) -> None:
        method, parameters = event.get("method"), event.get("params", {})
        if method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            text = details.get("exception", {}).get("description", details["text"])
            self.complaints.append(str(text))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.complaints.append(parameters["entry"]["text"])
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning"):
            words = [str(each.get("value", each.get("description"))) for each in parameters["args"]]
            self.complaints.append(" ".join(words))
