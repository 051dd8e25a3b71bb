"""A client on a bare socket: it can be cut anywhere, stop reading, and be told nothing but bytes."""

import asyncio
import json
import socket
from typing import Any

from tests.gateway.sse import Parser, Seen

READ = 4096


class Refused(Exception):
    def __init__(self, status: int, headers: dict[str, str], body: dict[str, Any]) -> None:
        super().__init__(status, body)
        self.status, self.headers, self.body = status, headers, body


class Closed(Exception):
    """The stream has ended."""


class Browser:
    """One open stream. `last_id` is what the next connection would send."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self.parser = Parser()
        self.headers: dict[str, str] = {}
        self.waiting: list[Seen] = []
        self.ended = False

    @property
    def last_id(self) -> str:
        return self.parser.last_id

    @classmethod
    async def open(
        cls,
        port: int,
        path: str,
        token: str | None,
        *,
        last_id: str | None = None,
        small: bool = False,
        method: str = "GET",
        cookie: bool = False,
        origin: str | None = None,
    ) -> "Browser":
        sock = socket.socket()
        if small:
            # With the loopback's segments, larger than such a buffer, the kernel itself would stall for seconds.
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 1_400)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16_384)
        sock.setblocking(False)
        await asyncio.get_running_loop().sock_connect(sock, ("127.0.0.1", port))
        reader, writer = await asyncio.open_connection(sock=sock, limit=2**14 if small else 2**20)
        lines = [f"{method} {path} HTTP/1.1", "Host: milepost.test"]
        if token is not None:
            lines.append(f"Cookie: milepost_session={token}" if cookie else f"Authorization: Bearer {token}")
        if origin is not None:
            lines.append(f"Origin: {origin}")
        if last_id is not None:
            lines.append(f"Last-Event-ID: {last_id}")
        writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
        browser = cls(reader, writer)
        await browser._head()
        return browser

    async def _head(self) -> None:
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *rest = head.strip().split("\r\n")
        self.headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in rest)}
        status = int(first.split(" ")[1])
        if status != 200:
            body = await self.reader.readexactly(int(self.headers["content-length"]))
            self.writer.close()
            raise Refused(status, self.headers, json.loads(body))

    async def chunk(self) -> list[Seen]:
        """The events of the next piece. Raises Closed at the end of the response."""
        try:
            size = int(await self.reader.readuntil(b"\r\n"), 16)
            data = await self.reader.readexactly(size + 2)
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise Closed("cut") from error
        if size == 0:
            self.ended = True
            self.writer.close()
            raise Closed("ended")
        return self.parser.feed(data[:-2])

    async def next(self, seconds: float = 15.0) -> Seen:
        """The next event."""
        async with asyncio.timeout(seconds):
            while not self.waiting:
                self.waiting.extend(await self.chunk())
        return self.waiting.pop(0)

    async def message(self, seconds: float = 15.0) -> dict[str, Any]:
        """The next event's data, with its place under `@id`."""
        seen = await self.next(seconds)
        data = json.loads(seen.data)
        assert data["kind"] == seen.event
        return {**data, "@id": seen.last_id}

    async def until_closed(self, seconds: float = 15.0) -> list[Seen]:
        """Everything that still comes; Closed ends it."""
        seen, self.waiting = self.waiting, []
        async with asyncio.timeout(seconds):
            while True:
                try:
                    seen.extend(await self.chunk())
                except Closed:
                    return seen

    async def until_id(self, last_id: str, seconds: float = 15.0) -> None:
        """Reads on until the last event id is this one; what came waits."""
        async with asyncio.timeout(seconds):
            while self.parser.last_id != last_id:
                self.waiting.extend(await self.chunk())

    def cut(self) -> None:
        """Gone without a word."""
        self.writer.transport.abort()
