"""The verdicts of the health reconciler, each a compare-and-set on what was seen. None of them moves a lifecycle."""

from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from milepost.domain.cancelling import due_at
from milepost.domain.events import PublicFacts
from milepost.domain.health import LONG, heard, last_sign, patience_of
from milepost.domain.listening import Listening
from milepost.domain.outcomes import Accepted, Unchanged
from milepost.domain.state import Step, Task, TaskState
from milepost.domain.steps import health_of
from milepost.domain.trace import service_event

Verdict: TypeAlias = Literal["SILENT", "STALE_LONG", "HEARD"]
"""The reason of a STEP_HEALTH_CHANGED: a step turned STALE, stayed so for long, or gave a sign of life again."""


class Seen(Struct, frozen=True):
    """One attempt of a step as the scan saw it: its last sign of life and the one a STALE verdict rests on."""

    step_id: str
    attempt: int
    sign: int
    silent_since: int | None

    @classmethod
    def of(cls, step: Step) -> "Seen":
        """What is seen of this step."""
        return cls(step.step_id, step.attempt, last_sign(step), step.silent_since)


def verdict_on(task: Task, step: Step, listening: Listening, now: int) -> Verdict | None:
    """What there is to say about a step's silence, or None. Steps of an ended task are not watched."""
    if task.ended or task.deleted_at is not None or not step.current or step.lifecycle != "RUNNING":
        return None
    sign, limit = last_sign(step), step.stale_after_ms
    if step.silent_since is None:
        return "SILENT" if listening.long_enough(sign, patience_of(step), limit, now) else None
    if sign > step.silent_since:
        return "HEARD"
    long = not step.escalated and listening.long_enough(sign, LONG * limit, limit, now)
    return "STALE_LONG" if long else None


def pronounce(state: TaskState, seen: Seen, verdict: Verdict, event_id: str, now: int) -> Accepted | Unchanged:
    """The verdict as a version of its own, if the locked step is still what was seen; nothing otherwise."""
    step = state.steps.get(seen.step_id)
    if step is None or state.task.ended or state.task.deleted_at is not None:
        return Unchanged(state.task)
    if step.lifecycle != "RUNNING" or Seen.of(step) != seen or (verdict == "STALE_LONG" and step.escalated):
        return Unchanged(state.task)
    after = replace(_after(step, verdict, now), version=step.version + 1, updated_at=now)
    task = _touched(state, {**state.steps, step.step_id: after}, now)
    said = PublicFacts(reason=verdict)
    return Accepted(task, (after,), service_event(event_id, "STEP_HEALTH_CHANGED", task, after, now, public=said))


def cancel_unanswered(state: TaskState, asked_at: int, event_id: str, now: int) -> Accepted | Unchanged:
    """TASK_HEALTH_CHANGED for a request to cancel, made at `asked_at`, that nobody answered in time; once."""
    task = state.task
    if due_at(task) is None or task.cancel_requested_at != asked_at:
        return Unchanged(task)
    noted = TaskState(replace(task, cancel_unanswered_at=now), state.steps)
    after = _touched(noted, dict(state.steps), now)
    said = PublicFacts(reason="CANCEL_UNANSWERED")
    return Accepted(after, (), service_event(event_id, "TASK_HEALTH_CHANGED", after, None, now, public=said))


def cancel_is_overdue(task: Task, listening: Listening, now: int) -> bool:
    """Whether a request to cancel was left without an answer for longer than the task's type allows."""
    asked = task.cancel_requested_at
    if asked is None or due_at(task) is None:
        return False
    return listening.long_enough(asked, task.cancel_deadline_ms, task.cancel_deadline_ms, now)


def _after(step: Step, verdict: Verdict, now: int) -> Step:
    if verdict == "HEARD":
        return heard(step, now)
    if verdict == "STALE_LONG":
        return replace(step, escalated=True)
    return replace(step, health="STALE", silent_since=last_sign(step))


def _touched(state: TaskState, steps: dict[str, Step], now: int) -> Task:
    task = state.task
    health = health_of(steps, task.attempt, unanswered=task.cancel_unanswered_at is not None)
    return replace(task, version=task.version + 1, health=health, updated_at=now)


def storm(turning: int, watched: int, *, percent: int, least: int) -> bool:
    """Whether so many steps would turn STALE at once that our own hearing is the likelier cause.

    Below `least` steps it is never one: of a few workers all may really be gone.
    """
    return turning >= least and turning * 100 > watched * percent
