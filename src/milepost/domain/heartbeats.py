"""Judges a bare sign of life: it can be stale or foreign, but it never moves a version."""

from milepost.domain.facts import Heartbeat
from milepost.domain.outcomes import Refused, Stale
from milepost.domain.state import TaskState
from milepost.domain.steps import fenced, foreign, superseded


def judge(state: TaskState, beat: Heartbeat) -> Stale | Refused | None:
    """Why this heartbeat counts for nothing, or None where it does count."""
    if state.task.deleted_at is not None:
        return Refused("TASK_DELETED", "The task was deleted.")
    step = state.steps.get(beat.step_id)
    early = foreign(state.task, step, beat) or superseded(state.task, step, beat) or fenced(step, beat)
    if step is None or early is not None:
        return early or Refused("ATTEMPT_UNKNOWN", "This step is not known here.")
    return Stale("TERMINAL") if step.ended or state.task.ended else None
