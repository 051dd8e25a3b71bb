"""The built-in definition of every task type that nobody defined: business status = lifecycle status."""

from typing import Final, Literal

from milepost.domain.lifecycle import WAITING_USER_ACTION, Lifecycle
from milepost.domain.rules import BusinessStatus, ProgressRules, TaskRules

_LIFECYCLES: Final[tuple[Lifecycle, ...]] = ("PENDING", "RUNNING", "SUCCEEDED", "FAILED", "CANCELLED")
_BOTH: Final[frozenset[Literal["task", "step"]]] = frozenset({"task", "step"})


def generic(task_type: str, progress: ProgressRules | None = None) -> TaskRules:
    """The rules of a type without a definition: any operation by its step's producer, weighted progress, version 1."""
    statuses = {code: BusinessStatus(code, code, _BOTH) for code in _LIFECYCLES}
    waiting = BusinessStatus(WAITING_USER_ACTION, "RUNNING", frozenset[Literal["task", "step"]]({"task"}))
    return TaskRules(
        task_type=task_type,
        version=1,
        mode="WEIGHTED",
        statuses={**statuses, WAITING_USER_ACTION: waiting},
        enabled=frozenset(_LIFECYCLES),
        default_status={code: code for code in _LIFECYCLES},
        progress=progress or ProgressRules(),
    )
