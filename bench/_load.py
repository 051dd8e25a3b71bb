"""A load client that costs little: raw HTTP/1.1 over asyncio, requests built before the clock starts."""

import asyncio
import time
from collections.abc import Iterator
from functools import partial
from typing import cast

import uvloop

_BAD = (b'"accepted":false', b'"code":"')
"""What no answer of a measurement may hold: every event must be a change."""


class Connection(asyncio.Protocol):
    """Sends the next request when the answer to the last one is whole."""

    def __init__(
        self, requests: Iterator[bytes], done: "asyncio.Future[None]", seen: list[float], bad: list[bytes]
    ) -> None:
        self._requests = requests
        self._done = done
        self._seen = seen
        self._bad = bad
        self._buffer = b""
        self._sent = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._next()

    def _next(self) -> None:
        request = next(self._requests, None)
        if request is None:
            self._transport.close()
            return
        self._sent = time.perf_counter()
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head = self._buffer.find(b"\r\n\r\n")
        if head < 0:
            return
        start = self._buffer.lower().index(b"content-length:") + 15
        length = int(self._buffer[start : self._buffer.index(b"\r", start)])
        if len(self._buffer) < head + 4 + length:
            return
        self._seen.append(time.perf_counter() - self._sent)
        if not self._buffer.startswith(b"HTTP/1.1 200") or any(mark in self._buffer for mark in _BAD):
            self._bad.append(self._buffer)
        self._buffer = b""
        self._next()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._done.done():
            self._done.set_result(None)


def closed_loop(port: int, per_connection: list[list[bytes]]) -> tuple[float, list[float]]:
    """Sends every list over a connection of its own; seconds for all of it, and seconds per call."""
    seen: list[float] = []
    bad: list[bytes] = []

    async def run() -> float:
        loop = asyncio.get_running_loop()
        ends: list[asyncio.Future[None]] = []
        started = time.perf_counter()
        for requests in per_connection:
            end: asyncio.Future[None] = loop.create_future()
            ends.append(end)
            await loop.create_connection(partial(Connection, iter(requests), end, seen, bad), "127.0.0.1", port)
        await asyncio.wait_for(asyncio.gather(*ends), 120)
        return time.perf_counter() - started

    took = uvloop.run(run())
    if bad or len(seen) != sum(map(len, per_connection)):
        raise RuntimeError(f"{len(bad)} bad answers, {len(seen)} answers in all; the first: {bad[:1]}")
    return took, seen
