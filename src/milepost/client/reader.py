"""The client: what a session may read, and the live view."""

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Iterator
from typing import Self, TypeVar

import httpx

from milepost.client.convergence import Convergence, Tempo
from milepost.client.effects import Answer, Get, Read
from milepost.client.live import AsyncLive, Live
from milepost.client.reads import PAGE, Reads
from milepost.client.store import Store
from milepost.client.transport import AsyncTransport, SyncTransport
from milepost.wire.answers import CancelAnswer, TaskList, TaskSnapshot
from milepost.wire.messages import TimelineItem
from milepost.wire.notifications import NotificationList

T = TypeVar("T")


class Client:
    """Reads on behalf of one session. Calls raise `ClientError`; `patience`: seconds of waiting one call may cost."""

    def __init__(
        self,
        url: str,
        *,
        token: str | None,
        patience: float = 10.0,
        tempo: Tempo | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._reads = Reads(token, patience)
        self._tempo = tempo or Tempo()
        self._transport = SyncTransport(url, transport)

    def tasks(
        self,
        *,
        lifecycle: str | None = None,
        type: str | None = None,  # noqa: A002 (the word of the vocabulary)
        project: str | None = None,
        text: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> TaskList:
        """One page of tasks, newest created first; `next_cursor` of the answer leads to the next."""
        filters = listing(lifecycle, type, project, text, cursor, limit)
        return self._run(self._reads.tasks(filters))

    def task(self, task_id: str, *, all_attempts: bool = False) -> TaskSnapshot:
        """One task with its steps."""
        return self._run(self._reads.task(task_id, all_attempts=all_attempts))

    def timeline(self, task_id: str, *, after: int = 0) -> Iterator[TimelineItem]:
        """The events of a task with a version above `after`, in order."""
        while True:
            page = self._run(self._reads.timeline(task_id, after, PAGE))
            yield from page.items
            if page.next_after_task_version is None:
                return
            after = int(page.next_after_task_version)

    def request_cancel(self, task_id: str) -> CancelAnswer:
        """Asks for a task to be cancelled; not accepted where it has ended."""
        return self._run(self._reads.request_cancel(task_id, secrets.token_urlsafe(15)))

    def notifications(self, *, unread: bool = False, cursor: str | None = None, limit: int = PAGE) -> NotificationList:
        """One page of the notification centre, newest first, with the count of all that are unread."""
        return self._run(self._reads.notifications(unread, cursor, limit))

    def mark_read(self, *ids: str, up_to: str | None = None) -> int:
        """Marks notifications as read: those named, or all up to a list's `stream_cursor`; how many were unread."""
        return self._run(self._reads.mark_read(ids, up_to)).marked

    def live(self, task_id: str | None = None) -> Live:
        """The changes of all one's tasks, or of one task with its steps, from a snapshot on, without an end."""
        core = Convergence(self._reads, Store(), task_id, self._tempo, time.monotonic)
        return Live(core, self._transport)

    def close(self) -> None:
        """Closes the connections."""
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self, read: Read[T]) -> T:
        told: Answer = None
        while True:
            try:
                effect = read.send(told)
            except StopIteration as done:
                return done.value
            told = None
            if isinstance(effect, Get):
                told = self._transport.carry(effect.request)
            else:
                time.sleep(effect.seconds)


class AsyncClient:
    """`Client` with its names awaited; `timeline` and `live` are iterated with `async for`."""

    def __init__(
        self,
        url: str,
        *,
        token: str | None,
        patience: float = 10.0,
        tempo: Tempo | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._reads = Reads(token, patience)
        self._tempo = tempo or Tempo()
        self._transport = AsyncTransport(url, transport)

    async def tasks(
        self,
        *,
        lifecycle: str | None = None,
        type: str | None = None,  # noqa: A002 (the word of the vocabulary)
        project: str | None = None,
        text: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> TaskList:
        """One page of tasks, newest created first; `next_cursor` of the answer leads to the next."""
        filters = listing(lifecycle, type, project, text, cursor, limit)
        return await self._run(self._reads.tasks(filters))

    async def task(self, task_id: str, *, all_attempts: bool = False) -> TaskSnapshot:
        """One task with its steps."""
        return await self._run(self._reads.task(task_id, all_attempts=all_attempts))

    async def timeline(self, task_id: str, *, after: int = 0) -> AsyncIterator[TimelineItem]:
        """The events of a task with a version above `after`, in order."""
        while True:
            page = await self._run(self._reads.timeline(task_id, after, PAGE))
            for item in page.items:
                yield item
            if page.next_after_task_version is None:
                return
            after = int(page.next_after_task_version)

    async def request_cancel(self, task_id: str) -> CancelAnswer:
        """Asks for a task to be cancelled; not accepted where it has ended."""
        return await self._run(self._reads.request_cancel(task_id, secrets.token_urlsafe(15)))

    async def notifications(
        self, *, unread: bool = False, cursor: str | None = None, limit: int = PAGE
    ) -> NotificationList:
        """One page of the notification centre, newest first, with the count of all that are unread."""
        return await self._run(self._reads.notifications(unread, cursor, limit))

    async def mark_read(self, *ids: str, up_to: str | None = None) -> int:
        """Marks notifications as read: those named, or all up to a list's `stream_cursor`; how many were unread."""
        return (await self._run(self._reads.mark_read(ids, up_to))).marked

    def live(self, task_id: str | None = None) -> AsyncLive:
        """The changes of all one's tasks, or of one task with its steps, from a snapshot on, without an end."""
        core = Convergence(self._reads, Store(), task_id, self._tempo, time.monotonic)
        return AsyncLive(core, self._transport)

    async def close(self) -> None:
        """Closes the connections."""
        await self._transport.close()

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _run(self, read: Read[T]) -> T:
        told: Answer = None
        while True:
            try:
                effect = read.send(told)
            except StopIteration as done:
                return done.value
            told = None
            if isinstance(effect, Get):
                told = await self._transport.carry(effect.request)
            else:
                await asyncio.sleep(effect.seconds)


def listing(
    lifecycle: str | None,
    task_type: str | None,
    project: str | None,
    text: str | None,
    cursor: str | None,
    limit: int | None,
) -> dict[str, str | int | None]:
    """The filters of a list in the names of the wire."""
    return {
        "lifecycleStatus": lifecycle,
        "taskType": task_type,
        "projectId": project,
        "q": text,
        "cursor": cursor,
        "limit": limit,
    }
