"""Messages ready to be sent: each is encoded once per projection, however many viewers get it."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from milepost.clock import Clock
from milepost.domain.events import Event, StreamEntry
from milepost.domain.notices import Notice, for_members
from milepost.domain.rules import TaskRules
from milepost.domain.state import Step, Task
from milepost.gateway import framing
from milepost.gateway.limits import ResetReason, StreamMetrics
from milepost.ports.notices import Broadcast
from milepost.ports.stream import Logged
from milepost.wire.messages import (
    SCHEMA_VERSION,
    AccessGranted,
    AccessRevoked,
    BroadcastProject,
    BroadcastSystem,
    BroadcastTenant,
    Hello,
    NoticeRead,
    Reset,
    TaskDetail,
    TaskRemoved,
    TaskSummary,
    trigger,
)
from milepost.wire.messages import Message as Body
from milepost.wire.notifications import AccessBody, BroadcastBody, ReadBody
from milepost.wire.numbers import cursor, instant
from milepost.wire.views import Projection, step_view, task_view


class Current(NamedTuple):
    """The state of a task as far as messages need it; `steps` is empty where nobody looks at the detail."""

    task: Task
    steps: tuple[Step, ...]


class Material(NamedTuple):
    """What turns log entries into messages: current states by task id, and the events behind (task, version)."""

    states: Mapping[str, Current]
    events: Mapping[tuple[str, int], Event]


class Message:
    """One encoded message. `merge_key` names what a newer message of the same task and kind may replace.

    A message of no epoch has no position either, and no place a client could resume from.
    """

    __slots__ = ("_sse", "body", "kind", "merge_key", "mergeable", "place", "position")

    def __init__(
        self, kind: str, body: bytes, epoch: str, position: int, task_id: str | None = None, *, mergeable: bool = False
    ) -> None:
        self.kind = kind
        self.body = body
        self.place = cursor(epoch, position) if epoch else None
        self.position = position
        self.merge_key = None if task_id is None else (kind, task_id)
        self.mergeable = mergeable
        self._sse: bytes | None = None

    @property
    def sse(self) -> bytes:
        """The message as one server-sent event, framed once."""
        if self._sse is None:
            self._sse = framing.event(self.kind, self.body, self.place)
        return self._sse

    @property
    def size(self) -> int:
        """Bytes it takes in a queue."""
        return len(self.body)


_read_notice = msgspec.json.Decoder(Notice).decode


def _notice(entry: StreamEntry, projection: Projection) -> Notice | None:
    if entry.body is None:
        return None
    notice = _read_notice(entry.body)
    return for_members(notice) if projection == "PROJECT_BROADCAST" else notice


def project_of(entry: StreamEntry) -> str:
    """The project that an `access.*` entry is about."""
    return msgspec.json.decode(entry.body or "{}", type=AccessBody).project_id


class Encoder:
    """Turns entries and states into messages."""

    def __init__(
        self,
        clock: Clock,
        metrics: StreamMetrics,
        max_message: int,
        rules_of: Callable[[Task], TaskRules],
    ) -> None:
        self._clock = clock
        self._metrics = metrics
        self._max_message = max_message
        self._rules_of = rules_of
        self._json = msgspec.json.Encoder()

    def summary(
        self, epoch: str, logged: Logged, task: Task, projection: Projection, *, replayed: bool = False
    ) -> Message:
        """`task.summary` in one projection."""
        view = task_view(task, self._clock.now(), self._rules_of(task), projection=projection)
        body = TaskSummary(
            schema_version=SCHEMA_VERSION,
            epoch=epoch,
            position=str(logged.position),
            task_id=task.task_id,
            version=str(task.version),
            committed_at=instant(logged.entry.committed_at),
            task=view,
            notice=_notice(logged.entry, projection),
            replayed=replayed,
        )
        return self._message("task.summary", body, epoch, logged)

    def detail(
        self, epoch: str, logged: Logged, current: Current, event: Event | None, *, replayed: bool = False
    ) -> Message:
        """`task.detail`; without its steps if it would be larger than one message may be."""
        task = current.task
        now = self._clock.now()
        rules = self._rules_of(task)
        whole = TaskDetail(
            schema_version=SCHEMA_VERSION,
            epoch=epoch,
            position=str(logged.position),
            task_id=task.task_id,
            version=str(task.version),
            committed_at=instant(logged.entry.committed_at),
            task=task_view(task, now, rules, projection="TASK_DETAIL"),
            steps=tuple(step_view(step, now, rules) for step in current.steps),
            trigger_event=trigger(event, rules) if event else None,
            replayed=replayed,
        )
        message = self._message("task.detail", whole, epoch, logged)
        if message.size <= self._max_message:
            return message
        return self._message("task.detail", replace(whole, steps=None, refetch=True), epoch, logged)

    def removed(self, epoch: str, logged: Logged, *, replayed: bool = False) -> Message:
        """`task.removed`."""
        entry = logged.entry
        body = TaskRemoved(
            schema_version=SCHEMA_VERSION,
            epoch=epoch,
            position=str(logged.position),
            task_id=entry.task_id or "",
            version=str(entry.task_version or 0),
            committed_at=instant(entry.committed_at),
            replayed=replayed,
        )
        return self._message("task.removed", body, epoch, logged)

    def access(self, epoch: str, logged: Logged, *, replayed: bool = False) -> Message:
        """`access.granted` or `access.revoked`."""
        shape = AccessGranted if logged.entry.kind == "access.granted" else AccessRevoked
        project_id = project_of(logged.entry)
        at = instant(logged.entry.committed_at)
        body = shape(SCHEMA_VERSION, epoch, str(logged.position), at, project_id, replayed)
        return self._message(logged.entry.kind, body, epoch, logged)

    def read(self, epoch: str, logged: Logged, *, replayed: bool = False) -> Message:
        """`notice.read`."""
        said = msgspec.json.decode(logged.entry.body or "{}", type=ReadBody)
        at = instant(logged.entry.committed_at)
        body = NoticeRead(SCHEMA_VERSION, epoch, str(logged.position), at, said.ids, said.up_to, replayed)
        return self._message("notice.read", body, epoch, logged)

    def broadcast(self, epoch: str, logged: Logged, *, replayed: bool = False) -> Message:
        """`broadcast.project` or `broadcast.tenant`, by the entry's audience."""
        said = msgspec.json.decode(logged.entry.body or "{}", type=BroadcastBody)
        project_id = logged.entry.audience_project
        told = (said.id, said.level, said.title, said.message, said.valid_until, replayed)
        head = (SCHEMA_VERSION, epoch, str(logged.position), instant(logged.entry.committed_at))
        if project_id is not None:
            return self._message("broadcast.project", BroadcastProject(*head, project_id, *told), epoch, logged)
        return self._message("broadcast.tenant", BroadcastTenant(*head, *told), epoch, logged)

    def system(self, said: Broadcast) -> Message:
        """`broadcast.system`, which has no position."""
        until = instant(said.valid_until)
        body = BroadcastSystem(SCHEMA_VERSION, said.broadcast_id, said.level, said.title, said.message, until)
        self._metrics.encoded("broadcast.system")
        return Message("broadcast.system", self._json.encode(body), "", 0)

    def hello(self, epoch: str, position: int, *, resumed: bool) -> Message:
        """`hello`, at the cursor the stream goes on from."""
        body = Hello(SCHEMA_VERSION, epoch, resumed, cursor(epoch, position))
        return Message("hello", self._json.encode(body), epoch, position)

    def reset(self, epoch: str, position: int, reason: ResetReason) -> Message:
        """`reset`, at the cursor the stream goes on from after the snapshot."""
        body = Reset(SCHEMA_VERSION, epoch, cursor(epoch, position), reason)
        return Message("reset", self._json.encode(body), epoch, position)

    def _message(self, kind: str, body: Body, epoch: str, logged: Logged) -> Message:
        self._metrics.encoded(kind)
        entry = logged.entry
        return Message(kind, self._json.encode(body), epoch, logged.position, entry.task_id, mergeable=entry.mergeable)
