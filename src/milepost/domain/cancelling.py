"""A request to cancel marks the task; only the coordinator's TASK_CANCELLED ends it."""

from msgspec.structs import replace

from milepost.domain.events import PublicFacts
from milepost.domain.outcomes import Accepted, Unchanged
from milepost.domain.state import Task, TaskState
from milepost.domain.trace import service_event


def request_cancel(
    state: TaskState, requested_by: str, event_id: str, now: int, reason: str | None = None
) -> Accepted | Unchanged:
    """Marks the request once; a finished task, or one with a standing request, is left as it is."""
    task = state.task
    if task.ended or task.cancel_requested_at is not None:
        return Unchanged(task)
    asked = replace(
        task, version=task.version + 1, cancel_requested_at=now, cancel_requested_by=requested_by, updated_at=now
    )
    said = PublicFacts(reason=reason)
    return Accepted(asked, (), service_event(event_id, "TASK_CANCEL_REQUESTED", asked, None, now, requested_by, said))


def due_at(task: Task) -> int | None:
    """When a standing request to cancel is to be answered by; None where none waits or its silence was told of."""
    if task.cancel_requested_at is None or task.cancel_unanswered_at is not None:
        return None
    return None if task.ended or task.deleted_at is not None else task.cancel_requested_at + task.cancel_deadline_ms
