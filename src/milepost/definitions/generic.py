"""The built-in definition of every task type that nobody defined: business status = lifecycle status."""

from collections.abc import Iterable
from typing import Final

from milepost.domain.lifecycle import WAITING_USER_ACTION, Lifecycle
from milepost.domain.rules import BusinessStatus, ProgressRules, StatusScope, TaskRules

LIFECYCLES: Final[tuple[Lifecycle, ...]] = ("PENDING", "RUNNING", "SUCCEEDED", "FAILED", "CANCELLED")
"""The lifecycles that every task type has."""

_BOTH: Final[frozenset[StatusScope]] = frozenset({"task", "step"})
_TASK: Final[frozenset[StatusScope]] = frozenset({"task"})


def built_in(optional: Iterable[Lifecycle] = ()) -> dict[str, BusinessStatus]:
    """The statuses that every task type has: one named after each of its lifecycles, and waiting for the user."""
    statuses = {code: BusinessStatus(code, code, _BOTH) for code in (*LIFECYCLES, *optional)}
    return {**statuses, WAITING_USER_ACTION: BusinessStatus(WAITING_USER_ACTION, "RUNNING", _TASK)}


def generic(task_type: str, progress: ProgressRules | None = None) -> TaskRules:
    """The rules of a type without a definition: any operation by its step's producer, weighted progress, version 1."""
    return TaskRules(
        task_type=task_type,
        version=1,
        mode="WEIGHTED",
        statuses=built_in(),
        enabled=frozenset(LIFECYCLES),
        default_status={code: code for code in LIFECYCLES},
        progress=progress or ProgressRules(),
    )
