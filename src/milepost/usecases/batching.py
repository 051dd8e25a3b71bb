"""Group commit: what waits is done together, with no wait added when nothing does.

A batch is what came in while the last one was written, so batches grow with the load by themselves.
"""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Generic, TypeVar

from msgspec import Struct

from milepost.ports.storage import Storage, Transaction, Unavailable
from milepost.ports.stream import Announcer, Committed
from milepost.telemetry.logs import get_logger
from milepost.wire.problems import Rejection

BATCH: Final = 128
_log = get_logger(__name__)

W = TypeVar("W")


class Batch(Struct, frozen=True):
    """How one commit went, for metrics and the join line. `seconds` is the time from its start to its answers."""

    size: int
    seconds: float
    outcomes: tuple[object, ...]
    committed: tuple[Committed, ...]


class Batcher(Generic[W]):
    """Performs items in batches, each in one transaction, and answers each by itself.

    One bad item never fails its neighbours: a batch whose transaction fails is run again item by item. Only where the
    database cannot be had at all do all of them fail at once, since each alone would only wait as long again.
    """

    def __init__(
        self,
        storage: Storage,
        perform: Callable[[Transaction, Sequence[W]], Awaitable[tuple[list[object], list[Committed]]]],
        announcer: Announcer | None = None,
        *,
        writers: int = 1,
        observe: Callable[[Batch], None] | None = None,
    ) -> None:
        self._storage = storage
        self._perform = perform
        self._announcer = announcer
        self._observe = observe
        self._waiting: deque[tuple[W, asyncio.Future[object]]] = deque()
        self._idle: list[asyncio.Future[None]] = []
        self._writers = writers
        self._tasks: list[asyncio.Task[None]] = []
        self._closing = False

    def start(self) -> None:
        """Starts the writers on the running loop."""
        self._tasks = [asyncio.create_task(self._write()) for _ in range(self._writers)]

    async def close(self) -> None:
        """Performs what waits, then stops."""
        self._closing = True
        for sleeper in self._idle:
            if not sleeper.done():
                sleeper.set_result(None)
        await asyncio.gather(*self._tasks)

    def submit(self, item: W) -> asyncio.Future[object]:
        """Queues one item; the future gives its outcome once it is committed. Outcomes may be `Rejection` values."""
        future: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        if self._closing:
            future.set_exception(Unavailable("The service is stopping."))
            return future
        self._waiting.append((item, future))
        if self._idle:
            sleeper = self._idle.pop()
            if not sleeper.done():
                sleeper.set_result(None)
        return future

    async def __call__(self, item: W) -> object:
        """Performs one item and returns its answer. Raises the `Rejection` it was answered with."""
        outcome = await self.submit(item)
        if isinstance(outcome, Rejection):
            raise outcome
        return outcome

    async def _write(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting or not self._closing:
            if not self._waiting:
                sleeper: asyncio.Future[None] = loop.create_future()
                self._idle.append(sleeper)
                await sleeper
                continue
            size = min(BATCH, len(self._waiting))
            await self._run([self._waiting.popleft() for _ in range(size)])

    async def _run(self, items: list[tuple[W, asyncio.Future[object]]]) -> None:
        started = time.perf_counter()
        try:
            works = [item for item, _ in items]
            outcomes, told = await self._storage.transaction(lambda tx: self._perform(tx, works))
        except Exception as error:
            if len(items) == 1 or isinstance(error, Unavailable):
                _fail(items, error)
                return
            for item in items:
                await self._run([item])
            return
        for (_, future), outcome in zip(items, outcomes, strict=True):
            if not future.done():  # whoever asked may have gone; the commit stands all the same
                future.set_result(outcome)
        self._tell(Batch(len(items), time.perf_counter() - started, tuple(outcomes), tuple(told)))

    def _tell(self, batch: Batch) -> None:
        # What is committed is committed: trouble in those who are told of it changes no answer and stops no writer.
        try:
            if self._announcer is not None:
                for committed in batch.committed:
                    self._announcer.announce(committed)
            if self._observe is not None:
                self._observe(batch)
        except Exception:
            _log.exception("a commit could not be announced")


def _fail(items: list[tuple[W, asyncio.Future[object]]], error: Exception) -> None:
    for _, future in items:
        if not future.done():
            future.set_exception(error)
