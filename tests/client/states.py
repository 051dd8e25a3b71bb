"""States and messages as the service would send them, for tests of what a viewer makes of them."""

from typing import Any

import msgspec

from milepost.wire.messages import Message, TaskDetail, TaskRemoved, TaskSummary
from milepost.wire.views import StepView, TaskView

AT = "2026-01-01T00:00:00.000Z"


def task(task_id: str = "k", version: int = 1, **changed: Any) -> TaskView:
    fields: dict[str, Any] = dict.fromkeys(TaskView.__struct_fields__) | {
        "id": task_id,
        "tenant_id": "t1",
        "owner_id": "u1",
        "task_type": "DOC",
        "title": "a.pdf",
        "lifecycle_status": "RUNNING",
        "business_status": "RUNNING",
        "health": "HEALTHY",
        "attempt": 1,
        "version": str(version),
        "status_definition_version": 1,
        "operation_definition_version": 1,
        "created_at": AT,
        "updated_at": AT,
        "as_of": AT,
    }
    return TaskView(**(fields | changed))


def step(step_id: str = "parse", version: int = 1, **changed: Any) -> StepView:
    fields: dict[str, Any] = dict.fromkeys(StepView.__struct_fields__) | {
        "id": step_id,
        "operation_code": "DOCUMENT.PARSE",
        "producer_id": "parser",
        "attempt": 1,
        "version": str(version),
        "lifecycle_status": "RUNNING",
        "business_status": "RUNNING",
        "health": "HEALTHY",
        "as_of": AT,
    }
    return StepView(**(fields | changed))


def summary(position: int, version: int, task_id: str = "k", epoch: str = "e", **changed: Any) -> Message:
    return TaskSummary(1, epoch, str(position), task_id, str(version), AT, task(task_id, version, **changed))


def detail(position: int, version: int, task_id: str = "k", epoch: str = "e", **changed: Any) -> Message:
    now = task(task_id, version, **changed)
    return TaskDetail(1, epoch, str(position), task_id, str(version), AT, now, (step(version=version),))


def removed(position: int, version: int, task_id: str = "k", epoch: str = "e") -> Message:
    return TaskRemoved(1, epoch, str(position), task_id, str(version), AT)


def raw(message: Message) -> str:
    return msgspec.json.encode(message).decode()
