"""A headless Chromium for tests, driven by its own protocol over a pipe: no driver, no network.

`Page` loads a file, evaluates, clicks, and keeps what the page wrote to its console and asked of the
network. Requests other than for the file itself are refused and remembered.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-dev-shm-usage", "--force-prefers-reduced-motion", "--remote-debugging-pipe"),
)
SECONDS = 60.0


@cache
def chromium() -> str | None:
    """The browser; None where there is none that starts."""
    for path in filter(None, map(shutil.which, ("chromium", "chromium-browser"))):
        try:
            said = subprocess.run([path, "--version"], capture_output=True, timeout=SECONDS)
        except (OSError, subprocess.TimeoutExpired):
            continue
        if said.returncode == 0:
            return path
    return None


@dataclass
class Page:
    """One page. Times are in seconds, places in pixels of the page."""

    writer: int
    reader: int
    session: str = ""
    last: int = 0
    pending: bytes = b""
    console: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def call(self, method: str, **params: Any) -> Any:
        """A command of the protocol, and its answer."""
        self.last += 1
        message = {"id": self.last, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.writer, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + SECONDS
        while True:
            found = self._next(deadline)
            if found.get("id") == message["id"]:
                assert "error" not in found, f"{method}: {found['error']}"
                return found["result"]
            self._heard(found)

    def _next(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self.pending:
            ready, _, _ = select.select(
                [self.reader], [], [], max(0.0, deadline - time.monotonic())
            )
            assert ready, "the browser does not answer"
            part = os.read(self.reader, 1 << 20)
            assert part, "the browser has gone"
            self.pending += part
        one, _, self.pending = self.pending.partition(b"\0")
        found: dict[str, Any] = json.loads(one)
        return found

    def _heard(self, event: dict[str, Any]) -> None:
        params = event.get("params", {})
        match event.get("method"):
            case "Runtime.consoleAPICalled":
                self.console.append(" ".join(str(a.get("value")) for a in params["args"]))
            case "Runtime.exceptionThrown":
                details = params["exceptionDetails"]
                self.console.append(details.get("exception", {}).get("description", str(details)))
            case "Log.entryAdded":
                self.console.append(params["entry"]["text"])
            case "Network.requestWillBeSent":
                self.asked.append(params["request"]["url"])

    def load(self, url: str) -> None:
        """Go there, and wait until the page's own script has run."""
        self.call("Page.navigate", url=url)
        self.until("document.readyState === 'complete'")

    def do(self, expression: str) -> Any:
        """The value of an expression of JavaScript."""
        found = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def until(self, expression: str) -> None:
        """Wait until an expression is true."""
        deadline = time.monotonic() + SECONDS
        while not self.do(expression):
            assert time.monotonic() < deadline, expression
            time.sleep(0.02)

    def mouse(self, kind: str, x: float, y: float) -> None:
        """``mouseMoved``, ``mousePressed`` or ``mouseReleased`` at a place in the window."""
        down = {} if kind == "mouseMoved" else {"button": "left", "clickCount": 1}
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **down)

    def click(self, x: float, y: float) -> None:
        """At a place in the window."""
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.mouse(kind, x, y)

    def key(self, name: str) -> None:
        """Press and release a key."""
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name, code=name)

    def place(self, selector: str) -> tuple[float, float]:
        """The middle of an element, scrolled into the window."""
        found = self.do(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            "e.scrollIntoView({block: 'center'}); const b = e.getBoundingClientRect();"
            "return [b.x + b.width / 2, b.y + b.height / 2]; })()"
        )
        return found[0], found[1]

    def resize(self, width: int, height: int = 1000, scheme: str = "light") -> None:
        """The window, and whether the user likes it dark."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        likes = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", features=likes)

    def screenshot(self, path: Path) -> None:
        """The whole page as a PNG file."""
        made = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(made["data"]))


@contextmanager
def opened(profile: Path) -> Iterator[Page]:
    """A browser with one page, its profile in a new folder."""
    command = chromium()
    assert command is not None
    to_browser, from_us = os.pipe()
    to_us, from_browser = os.pipe()

    def wire() -> None:  # the protocol's pipe: the browser reads 3 and writes 4
        copies = [fcntl.fcntl(end, fcntl.F_DUPFD, 100) for end in (to_browser, from_browser)]
        os.dup2(copies[0], 3)
        os.dup2(copies[1], 4)

    process = subprocess.Popen(
        [command, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
        close_fds=False, preexec_fn=wire, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(to_browser)
    os.close(from_browser)
    page = Page(from_us, to_us)
    try:
        targets = page.call("Target.getTargets")["targetInfos"]
        mine = next(t["targetId"] for t in targets if t["type"] == "page")
        page.session = page.call("Target.attachToTarget", targetId=mine, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.call(f"{domain}.enable")
        yield page
    finally:
        process.terminate()
        process.wait(timeout=30)
        os.close(from_us)
        os.close(to_us)
