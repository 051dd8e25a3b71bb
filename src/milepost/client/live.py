"""The live iterators: they carry a convergence and give its changes."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator

from milepost.client.convergence import Change, ConnectionState, Convergence
from milepost.client.effects import Answer, Close, Get, Next, Open, Pause
from milepost.client.store import Store
from milepost.client.transport import AsyncStream, AsyncTransport, SyncStream, SyncTransport
from milepost.ports.http import Reply


class Live:
    """An endless iterator of changes; `store` holds the state they led to. `close()` may come from another thread."""

    def __init__(self, convergence: Convergence, transport: SyncTransport) -> None:
        self._convergence = convergence
        self._transport = transport
        self._stream: SyncStream | None = None
        self._stop = threading.Event()
        self._changes = self._run()

    @property
    def store(self) -> Store:
        """What is known by now."""
        return self._convergence.store

    @property
    def state(self) -> ConnectionState:
        """LIVE, RECOVERING, or STALE: what is shown may be old."""
        return self._convergence.state

    def __iter__(self) -> Iterator[Change]:
        return self

    def __next__(self) -> Change:
        return next(self._changes)

    def __enter__(self) -> "Live":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the iteration."""
        self._stop.set()
        stream = self._stream
        if stream is not None:
            stream.close()

    def _run(self) -> Iterator[Change]:
        steps = self._convergence.run()
        told: Answer = None
        try:
            while not self._stop.is_set():
                effect = steps.send(told)
                told = None
                if isinstance(effect, Change):
                    yield effect
                else:
                    told = self._carry(effect)
        finally:
            steps.close()
            self._close_stream()

    def _carry(self, effect: Get | Open | Next | Close | Pause) -> Answer:
        if isinstance(effect, Get):
            return self._transport.carry(effect.request)
        if isinstance(effect, Open):
            opened = self._transport.open(effect.request)
            if not isinstance(opened, SyncStream):
                return opened
            self._stream = opened
            return Reply(200)
        if isinstance(effect, Next):
            return self._stream.next() if self._stream is not None else None
        if isinstance(effect, Close):
            self._close_stream()
        else:
            self._stop.wait(effect.seconds)
        return None

    def _close_stream(self) -> None:
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.close()


class AsyncLive:
    """`Live` for event loops. Leaving the iteration early needs `close()`, or use as a context manager."""

    def __init__(self, convergence: Convergence, transport: AsyncTransport) -> None:
        self._convergence = convergence
        self._transport = transport
        self._stream: AsyncStream | None = None
        self._changes = self._run()

    @property
    def store(self) -> Store:
        """What is known by now."""
        return self._convergence.store

    @property
    def state(self) -> ConnectionState:
        """LIVE, RECOVERING, or STALE: what is shown may be old."""
        return self._convergence.state

    def __aiter__(self) -> AsyncIterator[Change]:
        return self

    async def __anext__(self) -> Change:
        return await anext(self._changes)

    async def __aenter__(self) -> "AsyncLive":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Ends the iteration."""
        await self._changes.aclose()

    async def _run(self):
        steps = self._convergence.run()
        told: Answer = None
        try:
            while True:
                effect = steps.send(told)
                told = None
                if isinstance(effect, Change):
                    yield effect
                else:
                    told = await self._carry(effect)
        finally:
            steps.close()
            await self._close_stream()

    async def _carry(self, effect: Get | Open | Next | Close | Pause) -> Answer:
        if isinstance(effect, Get):
            return await self._transport.carry(effect.request)
        if isinstance(effect, Open):
            opened = await self._transport.open(effect.request)
            if not isinstance(opened, AsyncStream):
                return opened
            self._stream = opened
            return Reply(200)
        if isinstance(effect, Next):
            return await self._stream.next() if self._stream is not None else None
        if isinstance(effect, Close):
            await self._close_stream()
        else:
            await asyncio.sleep(effect.seconds)
        return None

    async def _close_stream(self) -> None:
        stream, self._stream = self._stream, None
        if stream is not None:
            await stream.close()
