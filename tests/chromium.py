"""A headless Chromium driven over its DevTools socket, for tests of pages."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import aiohttp

FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
    "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-extensions", "--disable-sync", "--hide-scrollbars", "--remote-debugging-port=0",
)  # fmt: skip
PATIENCE_S = 60


class Page:
    """One page: evaluates expressions and keeps every event that it sends."""

    def __init__(self, socket):
        self.socket, self.events, self.waiting, self.n_sent = socket, [], {}, 0
        self.loaded = asyncio.Event()

    async def listen(self):
        """Sort what comes: answers to those who wait, events to the list."""
        async for message in self.socket:
            data = json.loads(message.data)
            if "id" in data:
                self.waiting.pop(data["id"]).set_result(data)
                continue
            self.events.append(data)
            if data["method"] == "Page.loadEventFired":
                self.loaded.set()
            if data["method"] == "Page.javascriptDialogOpening":
                self.n_sent += 1
                answer = {"accept": True}
                call = {
                    "id": self.n_sent,
                    "method": "Page.handleJavaScriptDialog",
                    "params": answer,
                }
                self.waiting[self.n_sent] = asyncio.get_running_loop().create_future()
                await self.socket.send_json(call)

    async def call(self, method, **params):
        """Send one command and return its result."""
        self.n_sent += 1
        future = asyncio.get_running_loop().create_future()
        self.waiting[self.n_sent] = future
        await self.socket.send_json({"id": self.n_sent, "method": method, "params": params})
        found = await asyncio.wait_for(future, PATIENCE_S)
        assert "error" not in found, found
        return found["result"]

    async def value(self, expression):
        """Evaluate an expression, awaiting it where it is a promise."""
        found = await self.call(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True,
            allowUnsafeEvalBlockedByCSP=False,
        )  # fmt: skip
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    async def open(self, path, *, width=1280, height=900, dark=False, fragment=""):
        """Load a file at a size and wait until it has loaded; return the seconds it took."""
        address = Path(path).absolute().as_uri()  # noqa: ASYNC240 - no disk is touched
        for domain in ("Page", "Network", "Runtime", "Log", "Accessibility"):
            await self.call(f"{domain}.enable")
        await self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=width < 500,
        )  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        await self.call("Emulation.setEmulatedMedia", features=[scheme])
        start = time.perf_counter()
        await self.call("Page.navigate", url=f"{address}{fragment}")
        await asyncio.wait_for(self.loaded.wait(), PATIENCE_S)
        return time.perf_counter() - start

    async def draw(self, *ids):
        """Open tasks and wait until they are drawn."""
        for name in ids:
            await self.value(
                f"""new Promise((done) => {{
                  const task = document.getElementById({name!r});
                  if (task.querySelector(".detail")) return done();
                  task.addEventListener("drawn", () => done());
                  task.open = true;
                }})"""
            )

    async def picture(self):
        """Take a picture of the window and return it as PNG."""
        found = await self.call("Page.captureScreenshot")
        return base64.b64decode(found["data"])

    async def pdf(self):
        """Print to PDF and return its bytes."""
        return base64.b64decode((await self.call("Page.printToPDF"))["data"])

    def seen(self, method):
        """Return the events of a kind."""
        return [event["params"] for event in self.events if event["method"] == method]

    def requested(self):
        """Return the addresses asked for, but not those of the page itself or inside it."""
        found = [each["request"]["url"] for each in self.seen("Network.requestWillBeSent")]
        return [url for url in found if not url.startswith(("file:///", "data:", "blob:"))]

    def complaints(self):
        """Return exceptions and console errors, breaches of the policy included."""
        thrown = [each["exceptionDetails"]["text"] for each in self.seen("Runtime.exceptionThrown")]
        logged = [each["entry"]["text"] for each in self.seen("Log.entryAdded")]
        return thrown + logged


@contextlib.asynccontextmanager
async def opened():
    """Start Chromium and give its page; fail where it is not installed."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    assert program, "Chromium is missing: apt-get install chromium"
    # A browser that was told to end may still write into its profile.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(  # noqa: ASYNC220 - it starts at once
            [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            port = await _port(Path(profile) / "DevToolsActivePort", process)
            async with (
                aiohttp.ClientSession() as session,
                session.get(f"http://127.0.0.1:{port}/json/list") as reply,
            ):
                targets = await reply.json(content_type=None)
                address = next(t for t in targets if t["type"] == "page")["webSocketDebuggerUrl"]
                async with session.ws_connect(address, max_msg_size=0) as socket:
                    page = Page(socket)
                    listener = asyncio.create_task(page.listen())
                    yield page
                    listener.cancel()
        finally:
            process.terminate()
            process.wait(PATIENCE_S)


async def _port(file, process):
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end and process.poll() is None:
        if file.exists() and (lines := file.read_text().splitlines()):
            return int(lines[0])
        await asyncio.sleep(0.05)
    raise AssertionError("Chromium did not start")
