"""Carries requests and streams with httpx, and turns every way to fail into a value."""

import httpx

from milepost.client.effects import Ended
from milepost.client.sse import Parser, ServerEvent, TooLong
from milepost.ports.http import Outcome, Reply, Request, Unreachable

TIMEOUT = httpx.Timeout(10.0, connect=3.0)
# The server sends a sign of life at least every 15 s: a stream that is silent for three times as long is dead.
STREAM_TIMEOUT = httpx.Timeout(10.0, connect=3.0, read=45.0)
FAILURES = (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError)


class SyncTransport:
    """Carries the requests of one client, and one stream at a time."""

    def __init__(self, url: str, transport: httpx.BaseTransport | None = None) -> None:
        self._client = httpx.Client(base_url=url, timeout=TIMEOUT, transport=transport, trust_env=False)

    def carry(self, request: Request) -> Outcome:
        """The reply, or why there is none."""
        try:
            reply = self._client.request(
                request.method, request.path, content=request.body, headers=dict(request.headers)
            )
        except FAILURES as error:
            return Unreachable(reason_of(error))
        return Reply(reply.status_code, reply.content, dict(reply.headers))

    def open(self, request: Request) -> "SyncStream | Outcome":
        """An open stream, or the reply that refused it, or why there is none."""
        try:
            sent = self._client.build_request(
                request.method, request.path, headers=dict(request.headers), timeout=STREAM_TIMEOUT
            )
            reply = self._client.send(sent, stream=True)
            if reply.status_code == 200:
                return SyncStream(reply)
            reply.read()
            reply.close()
        except FAILURES as error:
            return Unreachable(reason_of(error))
        return Reply(reply.status_code, reply.content, dict(reply.headers))

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()


class SyncStream:
    """One open stream."""

    def __init__(self, reply: httpx.Response) -> None:
        self._reply = reply
        self._bytes = reply.iter_raw()
        self._parser = Parser()
        self._ready: list[ServerEvent] = []

    def next(self) -> ServerEvent | Ended:
        """The next event; it may be a long wait."""
        while not self._ready:
            try:
                portion = next(self._bytes, None)
                if portion is None:
                    return Ended("the server closed the stream", self._parser.retry_ms)
                self._ready = list(self._parser.feed(portion))[::-1]
            except (*FAILURES, TooLong) as error:
                return Ended(reason_of(error), self._parser.retry_ms)
        return self._ready.pop()

    def close(self) -> None:
        """Closes the connection."""
        self._reply.close()


class AsyncTransport:
    """The same on an event loop."""

    def __init__(self, url: str, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._client = httpx.AsyncClient(base_url=url, timeout=TIMEOUT, transport=transport, trust_env=False)

    async def carry(self, request: Request) -> Outcome:
        """The reply, or why there is none."""
        try:
            reply = await self._client.request(
                request.method, request.path, content=request.body, headers=dict(request.headers)
            )
        except FAILURES as error:
            return Unreachable(reason_of(error))
        return Reply(reply.status_code, reply.content, dict(reply.headers))

    async def open(self, request: Request) -> "AsyncStream | Outcome":
        """An open stream, or the reply that refused it, or why there is none."""
        try:
            sent = self._client.build_request(
                request.method, request.path, headers=dict(request.headers), timeout=STREAM_TIMEOUT
            )
            reply = await self._client.send(sent, stream=True)
            if reply.status_code == 200:
                return AsyncStream(reply)
            await reply.aread()
            await reply.aclose()
        except FAILURES as error:
            return Unreachable(reason_of(error))
        return Reply(reply.status_code, reply.content, dict(reply.headers))

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.aclose()


class AsyncStream:
    """One open stream."""

    def __init__(self, reply: httpx.Response) -> None:
        self._reply = reply
        self._bytes = reply.aiter_raw()
        self._parser = Parser()
        self._ready: list[ServerEvent] = []

    async def next(self) -> ServerEvent | Ended:
        """The next event; it may be a long wait."""
        while not self._ready:
            try:
                portion = await anext(self._bytes, None)
                if portion is None:
                    return Ended("the server closed the stream", self._parser.retry_ms)
                self._ready = list(self._parser.feed(portion))[::-1]
            except (*FAILURES, TooLong) as error:
                return Ended(reason_of(error), self._parser.retry_ms)
        return self._ready.pop()

    async def close(self) -> None:
        """Closes the connection."""
        await self._reply.aclose()


def reason_of(error: Exception) -> str:
    """An error in a line."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
