"""What a viewer is sent before it goes live: the hello, a reset where it cannot be resumed, else the log it missed.

Replay sends, per entry, the *current* state of its task: newer than the entry, which a version gate makes harmless.
Entries that may be merged collapse into the last one of their task. Every message keeps the position of its entry, so a
viewer cut in the middle of a replay resumes there.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from msgspec import Struct

from milepost.gateway.limits import ResetReason, StreamMetrics
from milepost.gateway.message import Current, Encoder, Material, Message
from milepost.gateway.sources import Sources, load_events, load_states, newest_of_each, read_log
from milepost.gateway.tail import Tail
from milepost.gateway.viewer import Interest, Viewer
from milepost.ports.reading import Scope
from milepost.ports.stream import Logged

CHUNK = 64
Cursor = tuple[str, int]


class Desk(Struct, frozen=True):
    """What replays are made with; `look` compares all tops with a statement that begins after the call."""

    sources: Sources
    encoder: Encoder
    metrics: StreamMetrics
    max_replay: int
    look: Callable[[], Awaitable[None]]


class Replay(Struct, frozen=True):
    """The beginning of one stream: `opening` first, then `chunks`."""

    opening: tuple[Message, ...]
    rows: Sequence[Logged]
    epoch: str
    viewer: Viewer
    desk: Desk

    async def chunks(self) -> AsyncIterator[tuple[Message, ...]]:
        """The missed log in order, a bounded piece at a time; ends early when the viewer or its epoch does."""
        for start in range(0, len(self.rows), CHUNK):
            rows = [row for row in self.rows[start : start + CHUNK] if concerns(self.viewer.interest, row)]
            material = await self._material(rows)
            if self.viewer.interrupted is not None or self.viewer.end is not None:
                return
            # A project may have been lost since this was planned: then its current states are none of the viewer's.
            seen = [row for row in rows if concerns(self.viewer.interest, row)]
            messages = tuple(message for row in seen if (message := self._message(row, material)) is not None)
            if messages:
                yield messages

    async def _material(self, rows: Sequence[Logged]) -> Material:
        interest = self.viewer.interest
        detail = interest.task_id is not None
        reading = self.desk.sources.reading
        ids = [row.entry.task_id for row in rows if row.entry.kind == "task" and row.entry.task_id is not None]
        loaded = await load_states(self.desk.sources, interest.tenant_id, ids, steps=detail)
        if loaded.epochs - {self.epoch}:
            await self.desk.look()
        return Material(loaded.states, await load_events(reading, rows) if detail else {})

    def _message(self, row: Logged, material: Material) -> Message | None:
        entry, encoder, interest = row.entry, self.desk.encoder, self.viewer.interest
        if entry.kind == "task.removed":
            return encoder.removed(self.epoch, row, replayed=True)
        if entry.kind in ("access.granted", "access.revoked"):
            return encoder.access(self.epoch, row, replayed=True)
        if entry.kind == "notice.read":
            return encoder.read(self.epoch, row, replayed=True)
        if entry.kind == "broadcast":
            return encoder.broadcast(self.epoch, row, replayed=True)
        current: Current | None = material.states.get(entry.task_id or "")
        if current is None or current.task.deleted_at is not None:
            return None
        if interest.task_id is not None:
            event = material.events.get((interest.task_id, entry.task_version or 0))
            return encoder.detail(self.epoch, row, current, event, replayed=True)
        wide = entry.audience_user == interest.user_id
        projection = "USER_SUMMARY" if wide else "PROJECT_BROADCAST"
        return encoder.summary(self.epoch, row, current.task, projection, replayed=True)


async def plan(desk: Desk, tail: Tail, viewer: Viewer, after: Cursor | None, scope: Scope) -> Replay:
    """What this viewer, which has joined, is sent first; `scope` is what it may learn from the log."""
    epoch, joined = tail.epoch, viewer.joined
    if after is None:
        return _fresh(desk, tail, viewer, None)
    reason = verdict(tail, joined, after, desk.max_replay)
    if reason is not None:
        return _fresh(desk, tail, viewer, reason)
    rows: list[Logged] = []
    if after[1] < joined:
        rows = await read_log(desk.sources.log, tail.tenant_id, after[1], joined, scope)
        # Retention may have taken from the low end while it was read: judged again by a statement that began later.
        await desk.look()
    if viewer.interrupted is not None or after[1] < tail.window.floor:
        return _fresh(desk, tail, viewer, "FLOOR")
    if not len(viewer.queue):
        # What it missed may concern others only: then a heartbeat must take it up to where it joined.
        viewer.told = after[1]
    mine = newest_of_each([row for row in rows if concerns(viewer.interest, row)])
    desk.metrics.replayed(len(mine))
    return Replay((desk.encoder.hello(epoch, after[1], resumed=True),), mine, epoch, viewer, desk)


def verdict(tail: Tail, joined: int, after: Cursor, max_replay: int) -> ResetReason | None:
    """Why a cursor cannot be resumed, or None if it can."""
    epoch, position = after
    if epoch != tail.epoch:
        return "EPOCH"
    if position > max(joined, tail.window.top):
        return "FUTURE"
    if position < tail.window.floor:
        return "FLOOR"
    return "BEHIND" if joined - position > max_replay else None


def concerns(interest: Interest, row: Logged) -> bool:
    """Whether an entry belongs into this viewer's stream."""
    entry = row.entry
    if interest.task_id is not None:
        return entry.task_id == interest.task_id
    if interest.personal and entry.audience_user == interest.user_id:
        return True
    if entry.audience_project is None:
        return interest.personal and entry.audience_user is None
    return entry.audience_project in interest.project_ids


def scope_of(interest: Interest) -> Scope:
    """The part of the log that a personal or project stream may show."""
    return Scope(interest.tenant_id, interest.user_id if interest.personal else "", interest.project_ids)


def _fresh(desk: Desk, tail: Tail, viewer: Viewer, reason: ResetReason | None) -> Replay:
    # A viewer whose epoch ended while it joined has its reset in the queue already; the hello starts where that stands.
    at = viewer.joined if viewer.interrupted is None else viewer.interrupted
    opening = [desk.encoder.hello(tail.epoch, at, resumed=False)]
    if reason is not None and viewer.interrupted is None:
        desk.metrics.reset(reason)
        opening.append(desk.encoder.reset(tail.epoch, at, reason))
    return Replay(tuple(opening), (), tail.epoch, viewer, desk)
