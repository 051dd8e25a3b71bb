"""Removes a finished task: a last version, its event, and a tombstone that every later reader meets."""

from msgspec.structs import replace

from milepost.domain.outcomes import Accepted, Refused, Unchanged
from milepost.domain.state import TaskState
from milepost.domain.trace import service_event


def remove(state: TaskState, event_id: str, now: int) -> Accepted | Unchanged | Refused:
    """The tombstone of a task; one that is removed already is left as it is, an unfinished one is refused."""
    task = state.task
    if task.deleted_at is not None:
        return Unchanged(task)
    if not task.ended:
        return Refused("TASK_UNFINISHED", "Only a finished task can be deleted.")
    gone = replace(task, version=task.version + 1, deleted_at=now, updated_at=now)
    return Accepted(gone, (), service_event(event_id, "TASK_REMOVED", gone, None, now))
