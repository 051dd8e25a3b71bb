"""Threads that own a connection and run jobs on it, one after another, for event loops that must not wait."""

import asyncio
import contextvars
import queue
import sqlite3
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from milepost.ports.storage import Unavailable
from milepost.telemetry.logs import get_logger

_log = get_logger(__name__)

T = TypeVar("T")
Run = Callable[[sqlite3.Connection], Any]
_Job = tuple[Run, "asyncio.Future[Any]", contextvars.Context]


class Lane:
    """Jobs in the order they came, served by one thread per connection."""

    def __init__(self, name: str, connections: list[sqlite3.Connection], idle: Callable[[], float | None]) -> None:
        """`idle` is called by the thread between two jobs; it says after how many seconds it wants to be called."""
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._idle = idle
        self._open = True
        self._threads = [
            threading.Thread(target=self._serve, args=(connection,), name=f"{name}-{index}", daemon=True)
            for index, connection in enumerate(connections)
        ]
        for thread in self._threads:
            thread.start()

    async def do(self, run: Callable[[sqlite3.Connection], T]) -> T:
        """Runs a job in its turn. A caller that is cancelled before its turn is skipped."""
        if not self._open:
            raise Unavailable("The database is closed.")
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._jobs.put((run, future, contextvars.copy_context()))
        return await future

    def close(self) -> None:
        """Serves what was asked before, then ends the threads. Blocks."""
        self._open = False
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join()

    def _serve(self, connection: sqlite3.Connection) -> None:
        while True:
            job = self._next()
            if job is None:
                return
            run, future, context = job
            if future.cancelled():
                continue
            try:
                answer = context.run(run, connection)
            except BaseException as error:
                _tell(future, None, error)
            else:
                _tell(future, answer, None)
            del job, run, future, context

    def _next(self) -> _Job | None:
        while True:
            try:
                return self._jobs.get(timeout=self._seconds())
            except queue.Empty:
                continue

    def _seconds(self) -> float | None:
        try:
            return self._idle()
        except Exception:
            # Whoever waits for this thread would wait for ever if it ended.
            _log.exception("what the thread does between two jobs failed")
            return None


def _tell(future: "asyncio.Future[Any]", answer: object, error: BaseException | None) -> None:
    try:
        future.get_loop().call_soon_threadsafe(_settle, future, answer, error)
    except RuntimeError:
        # The loop was closed while its job ran: nobody is left to be told.
        return


def _settle(future: "asyncio.Future[Any]", answer: object, error: BaseException | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(answer)
    else:
        future.set_exception(error)
