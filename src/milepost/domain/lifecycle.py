"""The state machine as tables: which states exist, which are ends, what each event leads to.

The documentation's diagram is printed from these tables, so they are the only place where a transition is written down.
"""

from typing import Final, Literal, TypeAlias

Lifecycle: TypeAlias = Literal["PENDING", "RUNNING", "SUCCEEDED", "FAILED", "CANCELLED", "TIMED_OUT"]
Health: TypeAlias = Literal["HEALTHY", "DEGRADED", "STALE"]
FailurePolicy: TypeAlias = Literal["FAIL_TASK", "RETRY_THEN_FAIL_TASK", "CONTINUE_WITH_WARNING", "WAIT_FOR_USER"]

End: TypeAlias = Literal["SUCCEEDED", "FAILED", "CANCELLED", "TIMED_OUT"]

ENDS: Final[frozenset[str]] = frozenset({"SUCCEEDED", "FAILED", "CANCELLED", "TIMED_OUT"})
"""Terminal states: inside one attempt no ordinary event leaves them."""

STEP_LEADS_TO: Final[dict[str, Lifecycle]] = {
    "STEP_STARTED": "RUNNING",
    "STEP_PROGRESS": "RUNNING",
    "STEP_COMPLETED": "SUCCEEDED",
    "STEP_FAILED": "FAILED",
    "STEP_CANCELLED": "CANCELLED",
    "STEP_TIMED_OUT": "TIMED_OUT",
}
"""The lifecycle a step has after each step fact; a heartbeat is no fact and is not here."""

TASK_LEADS_TO: Final[dict[str, Lifecycle]] = {
    "TASK_STARTED": "RUNNING",
    "TASK_COMPLETED": "SUCCEEDED",
    "TASK_FAILED": "FAILED",
    "TASK_CANCELLED": "CANCELLED",
    "TASK_TIMED_OUT": "TIMED_OUT",
}
"""The lifecycle a task has after each task fact; TASK_STATUS_CHANGED stays inside the lifecycle it finds."""

STATUS_CHANGED: Final = "TASK_STATUS_CHANGED"
HEARTBEAT: Final = "STEP_HEARTBEAT"
STEP_FACTS: Final[frozenset[str]] = frozenset(STEP_LEADS_TO)
TASK_FACTS: Final[frozenset[str]] = frozenset(TASK_LEADS_TO) | {STATUS_CHANGED}
REPORTABLE: Final[frozenset[str]] = STEP_FACTS | TASK_FACTS | {HEARTBEAT}
"""Event types a producer or coordinator may report; every other type is made by the service itself."""

MERGEABLE: Final[frozenset[str]] = frozenset({"STEP_PROGRESS"})
"""Event types whose messages may collapse into a newer one of the same task; all others are delivered each."""

WAITING_USER_ACTION: Final = "WAITING_USER_ACTION"


def ends(event_type: str) -> bool:
    """Whether this fact is a terminal of a step or of a task."""
    return (STEP_LEADS_TO.get(event_type) or TASK_LEADS_TO.get(event_type)) in ENDS


def transitions() -> list[tuple[str, str, str]]:
    """Every legal move of a lifecycle as (from, event type, to), for the diagram in the documentation."""
    leads_to = STEP_LEADS_TO | TASK_LEADS_TO
    return sorted((start, event, to) for event, to in leads_to.items() for start in ("PENDING", "RUNNING"))
