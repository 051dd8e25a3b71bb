"""One stream: the reports of one execution of one step attempt, in order, under one sequence."""

from collections.abc import Callable
from typing import Any, Literal

from milepost.worker.answers import Directives
from milepost.worker.context import Context
from milepost.worker.outbox import Item, MemoryOutbox, Outbox

Wants = Literal["NOTHING", "SOURCE", "TOKEN"]


class Stream:
    """The state of one stream. Not safe for threads by itself: its owner holds a lock."""

    def __init__(self, context: Context, *, progress_every: float, new_id: Callable[[], str]) -> None:
        self.context = context
        self.outbox: Outbox = MemoryOutbox()
        # This process cannot know whether another one ran this attempt before it, so it begins with a source of its
        # own, which fences the older run. It asks when its first report is due, not when the work begins.
        self.wants: Wants = "SOURCE"
        self.directives = Directives()
        self.closed = False
        self.hold_until = 0.0
        self.slow_tries = 0
        self.renewals = 0
        self.last_sign = 0.0
        self._new_id = new_id
        self._progress_every = progress_every
        self._progress_due = 0.0
        self._progress: tuple[dict[str, Any], int, float] | None = None
        self._seq = 0

    @property
    def key(self) -> tuple[str, str, str, int]:
        """Tenant, task, step, step attempt."""
        at = self.context
        return (at.tenant_id, at.task_id, at.step_id, at.step_attempt)

    def put(self, event_type: str, says: dict[str, Any], wall: int, now: float) -> Item:
        """Adds a report; progress that waits goes before it."""
        self.ripen(now, at_once=True)
        return self._add(event_type, says, wall, now)

    def progress(self, says: dict[str, Any], wall: int, now: float) -> None:
        """Keeps the newest progress until it is due; what older ones said about other things stays."""
        merged = {**self._progress[0], **says} if self._progress else says
        self._progress = (merged, wall, now)
        if "stage" in says:
            self._progress_due = now

    def ripen(self, now: float, *, at_once: bool = False) -> None:
        """Turns waiting progress into a report if its time has come."""
        if self._progress is None or not (at_once or now >= self._progress_due):
            return
        says, wall, made_at = self._progress
        self._progress = None
        self._progress_due = now + self._progress_every
        self._add("STEP_PROGRESS", says, wall, made_at)

    def due(self, heartbeat_every: float) -> float | None:
        """When this stream next has something to send (monotonic seconds), or None."""
        heartbeat_every = min(heartbeat_every, self.context.heartbeat_interval_ms / 1000)
        times: list[float] = []
        if len(self.outbox):
            times.append(0.0)
        if self._progress is not None:
            times.append(self._progress_due)
        if not self.closed:
            times.append(self.last_sign + heartbeat_every)
        return max(min(times), self.hold_until) if times else None

    def bare(self, item: Item, pointers: tuple[str, ...]) -> Item:
        """The same end without the content that was refused, under a new id and sequence."""
        kept = {key: item.says[key] for key in ("durationMs", "durationSource", "error") if key in item.says}
        error = kept.get("error")
        if error is not None:
            refused = item.bare > 0 or any(pointer.startswith("/error") for pointer in pointers)
            kept["error"] = (
                {"category": "SYSTEM", "code": "DATA_REFUSED"}
                if refused
                else {"category": error["category"], "code": error["code"]}
            )
        fresh = self._item(item.event_type, kept, item.occurred_at, item.made_at)
        fresh.bare = item.bare + 1
        fresh.settled, item.settled = item.settled, None
        return fresh

    def _add(self, event_type: str, says: dict[str, Any], wall: int, made_at: float) -> Item:
        item = self._item(event_type, says, wall, made_at)
        self.outbox.add(item)
        self.closed = self.closed or item.ends
        return item

    def _item(self, event_type: str, says: dict[str, Any], wall: int, made_at: float) -> Item:
        self._seq += 1
        return Item(self._new_id(), event_type, wall, made_at, self._seq, says)
