"""The reporter for event loops: the same delivery, carried by one task."""

import asyncio
import logging
import random
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx

from milepost.clock import Clock, SystemClock
from milepost.worker.context import Context
from milepost.worker.delivery import Delivery, Limits, Send
from milepost.worker.errors import ErrorRule, StepCancelled, StepError
from milepost.worker.outbox import Dead
from milepost.worker.reporter import IDLE, new_id
from milepost.worker.step import Desk, Execution, Report
from milepost.worker.stream import Stream
from milepost.worker.transport import AsyncTransport

log = logging.getLogger("milepost.worker")


class AsyncReporter:
    """`Reporter` with its names awaited. It belongs to the event loop on which it is first used."""

    def __init__(
        self,
        url: str,
        *,
        credential: str,
        limits: Limits | None = None,
        flush_timeout: float = 1.0,
        errors: Mapping[type[BaseException], ErrorRule] | None = None,
        on_dead: Callable[[Dead], None] | None = None,
        clock: Clock | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        delivery = Delivery(credential, limits or Limits(), chance=random.random, new_id=new_id)
        delivery.on_dead = on_dead
        self._desk = Desk(delivery, clock or SystemClock())
        self._transport = AsyncTransport(url, transport)
        self._flush_timeout = flush_timeout
        self._errors = errors or {}
        self._news = asyncio.Event()
        self._emptied = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def step(self, context: Context) -> AsyncGenerator["AsyncStep"]:
        """Reports STARTED now, and COMPLETED, FAILED or CANCELLED by how the block ends; exceptions pass through.

        `StepCancelled` ends the block quietly: it is the work's answer to `step.cancelled`.
        """
        step = AsyncStep(self, context)
        try:
            yield step
        except StepCancelled as stopped:
            await step.leave(stopped)
        except BaseException as raised:
            await step.leave(raised)
            raise
        else:
            await step.leave(None)

    @property
    def dead(self) -> tuple[Dead, ...]:
        """The newest reports that the service refused for good."""
        return tuple(self._desk.delivery.dead)

    async def flush(self, timeout: float) -> bool:  # noqa: ASYNC109 (the promise is the same as the sync one's)
        """Waits up to `timeout` seconds until everything was delivered; whether it was."""
        try:
            async with asyncio.timeout(timeout):
                while self._desk.delivery.waiting:
                    self._emptied.clear()
                    await self._emptied.wait()
        except TimeoutError:
            return False
        return True

    async def close(self, timeout: float = 5.0) -> bool:  # noqa: ASYNC109
        """Sends what waits, for up to `timeout` seconds, and stops; whether everything was delivered."""
        delivered = await self.flush(timeout)
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        await self._transport.aclose()
        if not delivered:
            log.warning("%d reports were not delivered", self._desk.delivery.waiting)
        return delivered

    async def __aenter__(self) -> "AsyncReporter":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # For AsyncStep

    def now(self) -> float:
        """Monotonic seconds."""
        return self._desk.now()

    def open(self, context: Context) -> tuple[Stream, Execution]:
        """Begins an execution."""
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="milepost-reporter")
        now = self._desk.now()
        return self._desk.delivery.open(context, now), Execution(now, self._errors)

    def hand_in(self, stream: Stream, report: Report | None) -> asyncio.Event | None:
        """Takes a report for the sender; the event tells of its delivery."""
        item = self._desk.hand_in(stream, report)
        self._news.set()
        if item is None:
            return None
        delivered = asyncio.Event()
        item.settled = delivered.set
        return delivered

    async def settled(self, delivered: asyncio.Event | None) -> None:
        """Waits up to `flush_timeout` for a delivery."""
        if delivered is None:
            return
        try:
            async with asyncio.timeout(self._flush_timeout):
                await delivered.wait()
        except TimeoutError:
            return

    # The sender

    async def _run(self) -> None:
        while True:
            self._news.clear()
            now = self._desk.now()
            action = self._desk.delivery.next(now, self._desk.wall())
            if isinstance(action, Send):
                outcome = await self._transport.carry(action.request)
                try:
                    self._desk.delivery.answered(action, outcome, self._desk.now())
                except Exception:
                    # A callback of the caller, or a mistake of ours, must not end the only sender.
                    log.exception("an answer could not be taken in")
                self._emptied.set()
                continue
            pause = IDLE if action.until is None else min(IDLE, max(0.0, action.until - now))
            await self._pause(pause)

    async def _pause(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._news.wait()
        except TimeoutError:
            return


class AsyncStep:
    """`Step` with its names awaited."""

    def __init__(self, reporter: AsyncReporter, context: Context) -> None:
        self.context = context
        self._reporter = reporter
        self._stream, self._execution = reporter.open(context)
        reporter.hand_in(self._stream, Report("STEP_STARTED", {}))

    async def progress(self, current: float, total: float | None = None, *, unit: str | None = None) -> None:
        """How far the work is: `current` of `total` units. Cheap; only the newest value needs to go out."""
        self._reporter.hand_in(self._stream, self._execution.progress(current, total, unit))

    async def stage(self, name: str) -> None:
        """The part of the work that begins now."""
        self._reporter.hand_in(self._stream, self._execution.stage(name))

    async def status(self, code: str) -> None:
        """A business status that the task type's definition registers for steps; it stands until another is said."""
        self._reporter.hand_in(self._stream, self._execution.status(code))

    async def message(self, text: str) -> None:
        """A line for people."""
        self._reporter.hand_in(self._stream, self._execution.message(text))

    async def data(self, schema: str, value: Any) -> None:
        """The typed result, sent with the end of the step."""
        self._execution.data(schema, value)

    @property
    def cancelled(self) -> bool:
        """Whether somebody asked for the task to be cancelled; as fresh as the last answer or heartbeat."""
        return self._stream.directives.cancel_requested

    @property
    def superseded(self) -> bool:
        """Whether another attempt, or another run of this one, has taken over: nothing said here counts any more."""
        return self._stream.directives.fenced or self._stream.directives.attempt_superseded

    async def check(self) -> None:
        """Raises `StepCancelled` if the work should stop: cancelled, or superseded."""
        if self.cancelled or self.superseded:
            raise StepCancelled

    async def complete(self) -> None:
        """Reports success before the block ends."""
        await self._end(self._execution.end("STEP_COMPLETED", self._now()))

    async def fail(self, error: StepError) -> None:
        """Reports this failure before the block ends."""
        await self._end(self._execution.end("STEP_FAILED", self._now(), error))

    async def cancel(self) -> None:
        """Reports that the work stopped because it was asked to."""
        await self._end(self._execution.end("STEP_CANCELLED", self._now()))

    async def leave(self, raised: BaseException | None) -> None:
        """Reports the end by how the block was left."""
        await self._end(self._execution.left(raised, self._now()))

    def _now(self) -> float:
        return self._reporter.now()

    async def _end(self, report: Report | None) -> None:
        await self._reporter.settled(self._reporter.hand_in(self._stream, report))
