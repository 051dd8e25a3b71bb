"""How a refusal of the domain is told: the same code, with the place where a body is at fault."""

from milepost.domain.outcomes import Refused
from milepost.domain.state import TaskState
from milepost.wire.problems import FieldError, Rejection


def rejection(refused: Refused, state: TaskState | None = None) -> Rejection:
    """The problem that answers a refusal, with the current state where a transition is at fault."""
    errors = (FieldError(refused.pointer, refused.code, refused.detail),) if refused.pointer else ()
    if refused.code in ("ILLEGAL_TRANSITION", "CONFLICTING_TERMINAL") and state is not None:
        task = state.task
        return Rejection(
            refused.code,
            refused.detail,
            errors,
            lifecycle_status=task.lifecycle,
            business_status=task.business_status,
        )
    return Rejection(refused.code, refused.detail, errors)
