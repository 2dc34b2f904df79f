"""An HTTP server on loopback that misbehaves on command, and what a client may be asked there."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from unpredictabench.clients import Clock, OpenAIClient, RetryPolicy
from unpredictabench.records import Answer, Message, Request, Task

if TYPE_CHECKING:
    from collections.abc import Callable

KEY = "sk-test-4fJ2secret9Qz"


@dataclass(frozen=True)
class Say:
    """One answer of the server.

    `how`: "whole"; "cut" (promises more bytes than it sends); "drip" (one byte at a time,
    without end); "reset" (breaks the connection at once); "hang" (says nothing).
    """

    body: object = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    how: str = "whole"

    def payload(self) -> bytes:
        """Return the body as bytes."""
        if isinstance(self.body, bytes):
            return self.body
        return json.dumps(self.body).encode()


def answer(*texts: object, **fields: object) -> Say:
    """Return a chat reply with one choice a text."""
    choices = [
        {"index": i, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        for i, text in enumerate(texts)
    ]
    usage = {"prompt_tokens": 11, "completion_tokens": 2 * len(texts)}
    return Say({"id": "r-1", "model": "m-0613", "choices": choices, "usage": usage} | fields)


def error(status: int, headers: dict[str, str] | None = None, **fields: object) -> Say:
    """Return an error in OpenAI's shape."""
    return Say({"error": fields}, status=status, headers=headers or {})


class Unruly:
    """The server: `says` are its answers one after the other, the last of them for ever."""

    def __init__(self, *says: Say | Callable[[dict], Say]) -> None:
        self.says = list(says)
        self.requests: list[dict] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.in_flight = self.most_in_flight = 0
        self.was_asked = asyncio.Event()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            number = len(self.requests)
            say = self.says[min(number, len(self.says) - 1)]
            request = await self._read(reader)
            await self._write(say(request) if callable(say) else say, reader, writer)
        except ConnectionError:
            pass  # the client left
        finally:
            self.in_flight -= 1
            writer.close()

    async def _read(self, reader: asyncio.StreamReader) -> dict:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        first, *lines = head.strip().split("\r\n")
        headers = {k.lower(): v for k, v in (line.split(": ", 1) for line in lines)}
        request = json.loads(await reader.readexactly(int(headers["content-length"])))
        self.paths.append(first.split()[1])
        self.headers.append(headers)
        self.requests.append(request)
        self.was_asked.set()
        return request

    async def _write(self, say: Say, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        if say.how == "reset":
            linger = struct.pack("ii", 1, 0)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            writer.transport.abort()
            return
        if say.how == "hang":
            await reader.read()  # until the client leaves
            return
        body = say.payload()
        length = len(body) + (100 if say.how in {"cut", "drip"} else 0)
        headers = {"content-type": "application/json", "connection": "close"}
        headers |= {"content-length": str(length)} | say.headers
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        writer.write(f"HTTP/1.1 {say.status} Whatever\r\n{lines}\r\n".encode())
        if say.how == "drip":
            while not reader.at_eof():
                writer.write(b" ")
                await writer.drain()
                await asyncio.sleep(0.01)
        writer.write(body)
        await writer.drain()


class FastClock:
    """A clock on which waiting takes no time; it keeps what was waited."""

    def __init__(self) -> None:
        self.waits: list[float] = []
        self._skipped = 0.0
        self.clock = Clock(now=self.now, monotonic=self.now, sleep=self.sleep)

    def now(self) -> float:
        """Return the time, waits included."""
        return time.time() + self._skipped

    async def sleep(self, seconds: float) -> None:
        """Skip the wait."""
        self.waits.append(seconds)
        self._skipped += seconds
        await asyncio.sleep(0)


def a_request(index: int = 0, *, task: str = "text-explicit/poisson/spread_out") -> Request:
    """Return a question that no target is needed for."""
    form = Answer("number", "Answer with one number only.", is_integer=True)
    asked = Task(task, "text-explicit", "poisson", "spread_out", "Draw.", form, target=None)
    return Request(asked, index, (Message("user", asked.prompt),))


def a_client(server: Unruly, clock: FastClock | None = None, **settings: object) -> OpenAIClient:
    """Return a client of the server; waits take no time."""
    settings = {"retries": RetryPolicy(max_attempts=4), "timeout_s": 20.0} | settings
    clock = clock or FastClock()
    return OpenAIClient("m", base_url=server.url, clock=clock.clock, **settings)


def asked(*says: Say | Callable[[dict], Say], n: int = 1, **settings: object):
    """Ask the server `n` slots at once; return server, clock and completions or errors."""

    async def main():
        clock = FastClock()
        async with Unruly(*says) as server:
            client = a_client(server, clock, **settings)
            slots = [client.ask(a_request(i)) for i in range(n)]
            results = await asyncio.gather(*slots, return_exceptions=True)
            await client.aclose()
        return server, clock, results

    return asyncio.run(main())
