"""Which events are told to people as an alert, and how: one policy, in one table.

A notice says nothing the state does not say; it only makes sure that somebody who looks at no detail hears of trouble
and of the end. Lasting ones are kept for the owner in the notification centre.
"""

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from milepost.domain.events import Event
from milepost.domain.lifecycle import STATUS_CHANGED, WAITING_USER_ACTION, Lifecycle
from milepost.domain.state import Step, Task

NoticeType: TypeAlias = Literal[
    "step.retrying",
    "step.failed",
    "step.warning",
    "step.stale",
    "step.stale.long",
    "action.required",
    "cancel.unanswered",
    "task.succeeded",
    "task.failed",
    "task.cancelled",
    "task.timed_out",
]
Level: TypeAlias = Literal["INFO", "WARNING", "ERROR"]
Action: TypeAlias = Literal["DECIDE", "OPEN_RESULT"]

CANCEL_UNANSWERED: Final = "CANCEL_UNANSWERED"
"""The reason of a TASK_HEALTH_CHANGED that says: nobody answered the request to cancel in time."""


class Notice(Struct, frozen=True, rename="camel"):
    """One alert; clients show each id once. `message` is plain text, `actions` what its reader may do about it."""

    id: str
    type: NoticeType
    level: Level
    title: str
    message: str
    operation_code: str | None
    error_code: str | None
    retryable: bool
    requires_action: bool
    actions: tuple[Action, ...]


class Rule(NamedTuple):
    """How one type is told: its level, whether it is kept for the owner, and its words where nobody gave better."""

    level: Level
    lasts: bool
    words: str


RULES: Final[Mapping[NoticeType, Rule]] = {
    "step.retrying": Rule("WARNING", False, "A step failed and may be tried again."),
    "step.failed": Rule("ERROR", False, "A step failed."),
    "step.warning": Rule("WARNING", False, "A step failed that the task can do without."),
    "step.stale": Rule("WARNING", False, "A step gives no sign of life; its state is to be confirmed."),
    "step.stale.long": Rule("WARNING", True, "A step has given no sign of life for long."),
    "action.required": Rule("WARNING", True, "The task waits for a decision."),
    "cancel.unanswered": Rule("WARNING", True, "The request to cancel was not answered in time."),
    "task.succeeded": Rule("INFO", True, "The task succeeded."),
    "task.failed": Rule("ERROR", True, "The task failed."),
    "task.cancelled": Rule("INFO", True, "The task was cancelled."),
    "task.timed_out": Rule("ERROR", True, "The task took too long and was ended."),
}

_ENDINGS: Final[Mapping[Lifecycle, NoticeType]] = {
    "SUCCEEDED": "task.succeeded",
    "FAILED": "task.failed",
    "CANCELLED": "task.cancelled",
    "TIMED_OUT": "task.timed_out",
}


class Seen(NamedTuple):
    """A task with the step an event is about, before or after it."""

    task: Task
    step: Step | None


def notice_of(epoch: str, event: Event, before: Seen | None, after: Seen) -> Notice | None:
    """The notice of a committed event, or None. What comes late, after a task's end, gives none."""
    kind = None if before is None else _kind(event, before, after)
    if kind is None:
        return None
    rule = RULES[kind]
    error = event.public.error
    failure = after.task.failure if kind in _ENDINGS.values() else None
    told = error.user_message if error else None
    operation = after.step.operation_code if after.step else None
    return Notice(
        id=f"{epoch}:{after.task.task_id}:{after.task.version}:{kind}",
        type=kind,
        level=rule.level,
        title=after.task.title,
        message=told or (failure.user_message if failure else None) or rule.words,
        operation_code=event.operation_code or operation,
        error_code=error.code if error else (failure.code if failure else None),
        retryable=bool(error and error.retryable),
        requires_action=kind == "action.required",
        actions=_actions(kind, after.task),
    )


def lasts(notice: Notice) -> bool:
    """Whether it is kept for the owner: ends, whatever somebody has to act on, and escalations."""
    return RULES[notice.type].lasts


def for_members(notice: Notice) -> Notice | None:
    """What members of the task's project learn: trouble, in our own words, and nothing they should act on."""
    if notice.level == "INFO":
        return None
    return replace(notice, message=RULES[notice.type].words, requires_action=False, actions=())


def _kind(event: Event, before: Seen, after: Seen) -> NoticeType | None:
    task = after.task
    if task.ended:
        return _ENDINGS[task.lifecycle] if task.lifecycle != before.task.lifecycle else None
    if event.event_type in ("STEP_FAILED", "STEP_TIMED_OUT") and after.step is not None:
        return _failed(after.step)
    if event.event_type == "STEP_HEALTH_CHANGED" and after.step is not None and after.step.health == "STALE":
        # A version of its own that finds the step STALE already is the escalation.
        return "step.stale.long" if before.step is not None and before.step.health == "STALE" else "step.stale"
    if event.event_type == "TASK_HEALTH_CHANGED" and event.public.reason == CANCEL_UNANSWERED:
        return "cancel.unanswered"
    waits = task.business_status == WAITING_USER_ACTION != before.task.business_status
    return "action.required" if event.event_type == STATUS_CHANGED and waits else None


def _failed(step: Step) -> NoticeType:
    if step.on_failure == "WAIT_FOR_USER":
        return "action.required"
    if step.on_failure == "CONTINUE_WITH_WARNING":
        return "step.warning"
    again = step.error is None or step.error.retryable
    return "step.retrying" if step.on_failure == "RETRY_THEN_FAIL_TASK" and again else "step.failed"


def _actions(kind: NoticeType, task: Task) -> tuple[Action, ...]:
    if kind == "action.required":
        return ("DECIDE",)
    return ("OPEN_RESULT",) if kind == "task.succeeded" and task.result_ref is not None else ()


LEVELS: Final[tuple[Level, ...]] = ("INFO", "WARNING", "ERROR")
"""Levels by rising weight."""


class Preferences(Struct, frozen=True):
    """What a user wants to be told of: nothing below a level, and no muted type. They filter reading, not writing."""

    min_level: Level = "INFO"
    muted: frozenset[NoticeType] = frozenset()

    @property
    def types(self) -> tuple[NoticeType, ...]:
        """The types this user is told of."""
        least = LEVELS.index(self.min_level)
        return tuple(
            kind for kind, rule in RULES.items() if LEVELS.index(rule.level) >= least and kind not in self.muted
        )


class Notification(Struct, frozen=True):
    """A lasting notice as it is kept for one user. `position` is that of the stream entry it came with."""

    tenant_id: str
    user_id: str
    position: int
    notice_id: str
    task_id: str
    task_version: int
    project_id: str | None
    type: NoticeType
    level: Level
    title: str
    message: str
    operation_code: str | None
    error_code: str | None
    retryable: bool
    requires_action: bool
    actions: tuple[Action, ...]
    created_at: int
    read_at: int | None = None


def kept(notice: Notice, task: Task, now: int) -> Notification:
    """The owner's row of a lasting notice; storage gives it its position."""
    return Notification(
        tenant_id=task.tenant_id,
        user_id=task.owner_id,
        position=0,
        notice_id=notice.id,
        task_id=task.task_id,
        task_version=task.version,
        project_id=task.project_id,
        type=notice.type,
        level=notice.level,
        title=notice.title,
        message=notice.message,
        operation_code=notice.operation_code,
        error_code=notice.error_code,
        retryable=notice.retryable,
        requires_action=notice.requires_action,
        actions=notice.actions,
        created_at=now,
    )
