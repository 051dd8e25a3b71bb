"""The reporter for ordinary code: one sender thread carries what the work hands in."""

import atexit
import logging
import os
import random
import secrets
import threading
import weakref
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx

from milepost.clock import Clock, SystemClock
from milepost.worker.context import Context
from milepost.worker.delivery import Delivery, Limits, Send
from milepost.worker.errors import ErrorRule, StepCancelled, StepError
from milepost.worker.outbox import Dead
from milepost.worker.step import Desk, Execution, Report
from milepost.worker.stream import Stream
from milepost.worker.transport import SyncTransport

log = logging.getLogger("milepost.worker")

IDLE = 60.0


def new_id() -> str:
    """A fresh event id."""
    return secrets.token_urlsafe(15)


class Reporter:
    """Reports what a worker does, without ever stopping or failing the work.

    Reports wait in memory and are sent by a thread, in order for each step. What was not delivered when the process
    dies is lost: `close()`, or use as a context manager, sends what waits. Without a service the newest
    `limits.waiting` reports are kept; progress is given up first and ends never.
    """

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
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._flush_timeout = flush_timeout
        self._errors = errors or {}

        def begin() -> tuple[Desk, SyncTransport]:
            delivery = Delivery(credential, limits or Limits(), chance=random.random, new_id=new_id)
            delivery.on_dead = on_dead
            return Desk(delivery, clock or SystemClock()), SyncTransport(url, transport)

        self._begin = begin
        self._reset()
        atexit.register(_close_at_exit, weakref.ref(self))

    @contextmanager
    def step(self, context: Context) -> Generator["Step"]:
        """Reports STARTED now, and COMPLETED, FAILED or CANCELLED by how the block ends; exceptions pass through.

        `StepCancelled` ends the block quietly: it is the work's answer to `step.cancelled`.
        """
        step = Step(self, context)
        try:
            yield step
        except StepCancelled as stopped:
            step.leave(stopped)
        except BaseException as raised:
            step.leave(raised)
            raise
        else:
            step.leave(None)

    @property
    def dead(self) -> tuple[Dead, ...]:
        """The newest reports that the service refused for good."""
        with self._changed:
            return tuple(self._desk.delivery.dead)

    def flush(self, timeout: float) -> bool:
        """Waits up to `timeout` seconds until everything was delivered; whether it was."""
        with self._changed:
            return self._changed.wait_for(lambda: self._desk.delivery.waiting == 0, timeout)

    def close(self, timeout: float = 5.0) -> bool:
        """Sends what waits, for up to `timeout` seconds, and stops; whether everything was delivered."""
        delivered = self.flush(timeout)
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(timeout=1.0)
        self._transport.close()
        if not delivered:
            log.warning("%d reports were not delivered", self._desk.delivery.waiting)
        return delivered

    def close_at_exit(self) -> None:
        """Closes a reporter that nobody closed; only in the process that used it."""
        if self._thread is not None and not self._stopping and self._pid == os.getpid():
            self.close(timeout=2.0)

    def __enter__(self) -> "Reporter":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # For Step

    def now(self) -> float:
        """Monotonic seconds."""
        return self._desk.now()

    def open(self, context: Context) -> tuple[Stream, Execution]:
        """Begins an execution."""
        if self._pid != os.getpid():
            # A fork took the memory along, but neither the sender nor the right to its connections; what waited there
            # is the parent's to send.
            self._reset()
        with self._changed:
            self._start()
            now = self._desk.now()
            return self._desk.delivery.open(context, now), Execution(now, self._errors)

    def hand_in(self, stream: Stream, report: Report | None, *, wait: bool = False) -> None:
        """Takes a report for the sender; `wait` waits up to `flush_timeout` for its delivery."""
        delivered = threading.Event()
        with self._changed:
            item = self._desk.hand_in(stream, report)
            if wait and item is not None:
                item.settled = delivered.set
            self._changed.notify_all()
        if wait and item is not None:
            delivered.wait(self._flush_timeout)

    # The sender

    def _reset(self) -> None:
        self._pid = os.getpid()
        self._desk, self._transport = self._begin()
        self._changed = threading.Condition()
        self._stopping = False
        self._thread: threading.Thread | None = None

    def _start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="milepost-reporter", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while True:
            send = self._next()
            if send is None:
                return
            outcome = self._transport.carry(send.request)
            with self._changed:
                try:
                    self._desk.delivery.answered(send, outcome, self._desk.now())
                except Exception:
                    # A callback of the caller, or a mistake of ours, must not end the only sender.
                    log.exception("an answer could not be taken in")
                self._changed.notify_all()

    def _next(self) -> Send | None:
        with self._changed:
            while not self._stopping:
                now = self._desk.now()
                action = self._desk.delivery.next(now, self._desk.wall())
                if isinstance(action, Send):
                    return action
                pause = IDLE if action.until is None else max(0.0, action.until - now)
                self._changed.wait(min(pause, IDLE))
            return None


def _close_at_exit(held: "weakref.ref[Reporter]") -> None:
    reporter = held()
    if reporter is not None:
        reporter.close_at_exit()


class Step:
    """One execution of a step, as the work sees it. Every method returns at once; none of them raises."""

    def __init__(self, reporter: Reporter, context: Context) -> None:
        self.context = context
        self._reporter = reporter
        self._stream, self._execution = reporter.open(context)
        self._say(Report("STEP_STARTED", {}))

    def progress(self, current: float, total: float | None = None, *, unit: str | None = None) -> None:
        """How far the work is: `current` of `total` units. Cheap; only the newest value needs to go out."""
        self._say(self._execution.progress(current, total, unit))

    def stage(self, name: str) -> None:
        """The part of the work that begins now."""
        self._say(self._execution.stage(name))

    def status(self, code: str) -> None:
        """A business status that the task type's definition registers for steps; it stands until another is said."""
        self._say(self._execution.status(code))

    def message(self, text: str) -> None:
        """A line for people."""
        self._say(self._execution.message(text))

    def data(self, schema: str, value: Any) -> None:
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

    def check(self) -> None:
        """Raises `StepCancelled` if the work should stop: cancelled, or superseded."""
        if self.cancelled or self.superseded:
            raise StepCancelled

    def complete(self) -> None:
        """Reports success before the block ends."""
        self._end(self._execution.end("STEP_COMPLETED", self._now()))

    def fail(self, error: StepError) -> None:
        """Reports this failure before the block ends."""
        self._end(self._execution.end("STEP_FAILED", self._now(), error))

    def cancel(self) -> None:
        """Reports that the work stopped because it was asked to."""
        self._end(self._execution.end("STEP_CANCELLED", self._now()))

    def leave(self, raised: BaseException | None) -> None:
        """Reports the end by how the block was left."""
        self._end(self._execution.left(raised, self._now()))

    def _now(self) -> float:
        return self._reporter.now()

    def _say(self, report: Report | None) -> None:
        self._reporter.hand_in(self._stream, report)

    def _end(self, report: Report | None) -> None:
        self._reporter.hand_in(self._stream, report, wait=True)
