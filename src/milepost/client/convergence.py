"""The live view without its sockets: how a viewer comes to the right state and stays there.

Subscribe first, then take the snapshot, then go on reading: what is committed between the two waits in the stream and
is merged by version, so nothing can fall between them. A cut stream is resumed by its cursor; where that is impossible
the server says `reset`, and a snapshot is owed again. Another epoch empties the store first. A stream that keeps
failing is helped out by slow polling. What is known is never cleared because a connection was lost.
"""

import random
from collections.abc import Callable, Generator
from typing import Literal

import msgspec
from msgspec import Struct

from milepost.client.effects import Answer, Close, Ended, Get, Next, Open, Pause
from milepost.client.errors import ClientError, NotFound, NotReached, Refused
from milepost.client.reads import TASKS, Reads, trouble
from milepost.client.sse import ServerEvent
from milepost.client.store import Detail, Store
from milepost.domain.notices import Notice
from milepost.ports.http import Reply, Request
from milepost.wire.messages import (
    AccessGranted,
    AccessRevoked,
    Hello,
    Message,
    NoticeRead,
    Reset,
    TaskDetail,
    TaskRemoved,
    TaskSummary,
)
from milepost.wire.numbers import parse_cursor
from milepost.wire.views import TaskView

ConnectionState = Literal["LIVE", "RECOVERING", "STALE"]


class Change(Struct, frozen=True):
    """Something a viewer should show.

    SNAPSHOT: the store was brought up to date as a whole. TASK: one task is newer now. REMOVED: it is gone. STATE: the
    connection changed. NOTICE: an alert, each once and never an old one. BROADCAST: something for many. READ: another
    device read notifications. `raw` is the message as it came, where one message made the change.
    """

    kind: Literal["SNAPSHOT", "TASK", "REMOVED", "STATE", "NOTICE", "BROADCAST", "READ"]
    state: ConnectionState
    task_id: str | None = None
    task: TaskView | None = None
    detail: Detail | None = None
    raw: str | None = None
    reason: str | None = None
    notice: Notice | None = None


class Tempo(Struct, frozen=True):
    """Waiting times in seconds. `poll_after`: failures in a row before polling helps out."""

    first: float = 0.5
    longest: float = 30.0
    stale_after: float = 30.0
    poll_after: int = 3
    poll_every: float = 15.0
    pages: int = 10


_TOLD = frozenset(
    {"task.summary", "task.detail", "task.removed", "reset", "notice.read"}
    | {"broadcast.project", "broadcast.tenant", "broadcast.system"}
)

Effect = Get | Open | Next | Close | Pause | Change
Steps = Generator[Effect, Answer, None]


class Convergence:
    """One live view: of the list, or of one task with its steps."""

    def __init__(
        self, reads: Reads, store: Store, task_id: str | None, tempo: Tempo, monotonic: Callable[[], float]
    ) -> None:
        self.state: ConnectionState = "RECOVERING"
        self.store = store
        self._reads = reads
        self._task_id = task_id
        self._tempo = tempo
        self._monotonic = monotonic
        self._failures = 0
        self._fresh_at = monotonic()
        self._owed = True
        self._read_at = ""

    def run(self) -> Steps:
        """Never ends by itself; raises when the session is over, or the watched task may not be seen."""
        while True:
            try:
                reason, server_pause = yield from self._connection()
            except ClientError as error:
                if not _passes(error):
                    raise
                reason, server_pause = str(error), 0.0
            yield Close()
            self._failures += 1
            stale = self._monotonic() - self._fresh_at > self._tempo.stale_after
            yield from self._turn("STALE" if stale else "RECOVERING", reason)
            if self._failures >= self._tempo.poll_after:
                yield from self._poll()
            yield Pause(max(server_pause, self._backoff()))

    # One connection

    def _connection(self) -> Generator[Effect, Answer, tuple[str, float]]:
        path = "/api/stream" if self._task_id is None else f"{TASKS}/{self._task_id}/stream"
        headers = self._reads.headers | {"accept": "text/event-stream"}
        if self.store.cursor is not None and not self._owed:
            headers["last-event-id"] = self.store.cursor
        opened = yield Open(Request("GET", path, None, headers))
        if not (isinstance(opened, Reply) and opened.status == 200):
            return trouble(opened)
        while True:
            event = yield Next()
            if isinstance(event, Ended):
                return (event.reason, (event.retry_ms or 0) / 1000)
            if isinstance(event, ServerEvent):
                yield from self._event(event)

    def _event(self, event: ServerEvent) -> Steps:
        self._fresh_at = self._monotonic()
        if not event.data:
            self._alive(event.id)
            return
        if event.kind == "hello":
            yield from self._hello(event)
        elif event.kind.startswith("access."):
            yield from self._snapshot("the access changed")
            self.store.moved(event.id)
        elif event.kind in _TOLD:
            yield from self._message(event)
        # Other kinds are of a newer service, and nothing here would show them.

    def _hello(self, event: ServerEvent) -> Steps:
        try:
            hello = msgspec.json.decode(event.data, type=_Hello)
        except msgspec.DecodeError:
            return
        if hello.epoch != self.store.epoch or not hello.resumed:
            self._owed = True
        if self._owed:
            yield from self._snapshot("subscribed")
        self.store.moved(hello.cursor)
        yield from self._turn("LIVE", None)

    def _message(self, event: ServerEvent) -> Steps:
        try:
            message = msgspec.json.decode(event.data, type=Message)
        except msgspec.DecodeError:
            # A shape we do not know carries a state we cannot show; the snapshot is read by the same rules.
            return
        self._failures = 0
        if isinstance(message, Reset):
            if not self._covers(message.cursor):
                yield from self._snapshot(f"reset: {message.reason}")
            self.store.moved(message.cursor)
            return
        if isinstance(message, Hello | AccessGranted | AccessRevoked):
            return
        yield from self._alerts(message, event.data)
        effect = self.store.apply(message)
        if effect in ("FOREIGN", "REFETCH"):
            yield from self._snapshot("another epoch" if effect == "FOREIGN" else "too large for a message")
        elif isinstance(message, TaskSummary | TaskDetail | TaskRemoved):
            if effect == "REMOVED":
                yield Change("REMOVED", self.state, message.task_id, raw=event.data)
            elif effect == "CHANGED":
                yield self._changed(message.task_id, event.data)
        self.store.moved(event.id)

    def _alerts(self, message: Message, raw: str) -> Steps:
        notice = self.store.alert(message)
        if notice is not None and isinstance(message, TaskSummary):
            yield Change("NOTICE", self.state, message.task_id, message.task, raw=raw, notice=notice)
        if self.store.broadcast(message) is not None:
            yield Change("BROADCAST", self.state, raw=raw)
        if isinstance(message, NoticeRead):
            yield Change("READ", self.state, raw=raw)

    def _covers(self, cursor: str) -> bool:
        # The snapshot that was taken on `hello` may be newer than the reset that follows it.
        known, told = parse_cursor(self._read_at), parse_cursor(cursor)
        return known is not None and told is not None and known[0] == told[0] and known[1] >= told[1]

    def _alive(self, cursor: str) -> None:
        self._failures = 0
        self.store.moved(cursor)

    # Snapshots

    def _snapshot(self, reason: str) -> Steps:
        if self._task_id is None:
            gone = yield from self._list()
        else:
            gone = yield from self._detail(self._task_id)
        self._owed = False
        for task_id in gone:
            yield Change("REMOVED", self.state, task_id)
        yield Change("SNAPSHOT", self.state, self._task_id, *self._shown(self._task_id), reason=reason)

    def _list(self) -> Generator[Get | Pause, Answer, list[str]]:
        first = page = yield from self._reads.tasks({"limit": 100})
        items = list(page.items)
        for _ in range(self._tempo.pages - 1):
            if page.next_cursor is None:
                break
            page = yield from self._reads.tasks({"limit": 100, "cursor": page.next_cursor})
            items += page.items
        gone = self.store.take_list(first.epoch, first.stream_cursor, items, complete=page.next_cursor is None)
        self._read_to(first.stream_cursor)
        return gone

    def _detail(self, task_id: str) -> Generator[Get | Pause, Answer, list[str]]:
        try:
            found = yield from self._reads.task(task_id)
        except NotFound:
            if not self.store.forget(task_id):
                raise
            return [task_id]
        self.store.take_detail(found.epoch, found.task, found.steps)
        self._read_to(found.stream_cursor)
        return []

    def _poll(self) -> Steps:
        try:
            yield from self._snapshot("polled")
            self._fresh_at = self._monotonic()
        except ClientError as error:
            if not _passes(error):
                raise

    # Small things

    def _read_to(self, cursor: str) -> None:
        self._read_at = cursor
        self.store.moved(cursor)

    def _shown(self, task_id: str | None) -> tuple[TaskView | None, Detail | None]:
        if task_id is None:
            return (None, None)
        detail = self.store.detail(task_id)
        return (self.store.task(task_id) or (detail.task if detail else None), detail)

    def _changed(self, task_id: str, raw: str) -> Change:
        task, detail = self._shown(task_id)
        return Change("TASK", self.state, task_id, task, detail, raw)

    def _turn(self, state: ConnectionState, reason: str | None) -> Steps:
        if state != self.state:
            self.state = state
            yield Change("STATE", state, reason=reason)

    def _backoff(self) -> float:
        if self._failures >= self._tempo.poll_after:
            return self._tempo.poll_every * (0.7 + 0.6 * random.random())
        return min(self._tempo.longest, self._tempo.first * 2.0**self._failures) * (0.5 + random.random() / 2)


class _Hello(Struct):
    epoch: str
    resumed: bool
    cursor: str


def _passes(error: ClientError) -> bool:
    # What was not said by the service itself (a proxy's page, silence) says nothing about the session.
    return isinstance(error, NotReached) or (
        isinstance(error, Refused) and (error.code.startswith("HTTP_") or error.code == "NOT_OUR_ANSWER")
    )
