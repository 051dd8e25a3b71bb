"""Corrections: by operators only, to an end only, on the version they judged, with a trace of old and new."""

import json
import sqlite3
from typing import Any

import pytest

from tests.api.test_deleting import Task, made
from tests.parts.stand import Stand


def said(lifecycle: str, version: int, **more: Any) -> dict[str, Any]:
    return {"lifecycleStatus": lifecycle, "reason": "The file was there.", "expectedVersion": str(version), **more}


async def correct(task: Task, body: dict[str, Any], *, role: str = "operator", key: str = "") -> Any:
    token = await task.service.session("op-1", roles=(role,))
    headers = {"idempotency_key": key} if key else {}
    return await task.service.post(f"/admin/v1/tasks/{task.id}:correct", token, body, **headers)


async def state(task: Task) -> dict[str, Any]:
    viewer = await task.service.session("u1")
    return (await task.service.get(f"/api/tasks/{task.id}", viewer)).json()["task"]


def audits(service: Stand) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(service.path)
    try:
        return connection.execute("SELECT tenant_id, actor, action, subject, detail FROM audit_log").fetchall()
    finally:
        connection.close()


async def test_a_correction_makes_one_version_one_event_and_one_audit_entry_with_old_and_new(service: Stand) -> None:
    task = await made(service)
    await task.end("TASK_FAILED")
    answer = await correct(task, said("SUCCEEDED", 2))
    assert answer.status_code == 200
    assert answer.json() == {
        "taskId": task.id,
        "taskVersion": "3",
        "lifecycleStatus": "SUCCEEDED",
        "businessStatus": "SUCCEEDED",
        "previous": {"lifecycleStatus": "FAILED", "businessStatus": "FAILED"},
    }
    after = await state(task)
    assert (after["version"], after["failure"], after["progress"]["percent"]) == ("3", None, 100)
    viewer = await service.session("u1")
    item = (await service.get(f"/api/tasks/{task.id}/events?afterTaskVersion=2", viewer)).json()["items"][0]
    assert (item["eventType"], item["producerId"]) == ("TASK_CORRECTED", "milepost")
    assert (item["lifecycleStatus"], item["reason"]) == ("SUCCEEDED", "The file was there.")
    [(tenant, actor, action, subject, detail)] = audits(service)
    assert (tenant, actor, action, subject) == ("t1", "op-1", "task.corrected", task.id)
    assert json.loads(detail) == {
        "old": {"lifecycleStatus": "FAILED", "businessStatus": "FAILED", "taskVersion": "2"},
        "new": {"lifecycleStatus": "SUCCEEDED", "businessStatus": "SUCCEEDED", "taskVersion": "3"},
        "reason": "The file was there.",
    }


async def test_a_correction_of_another_version_than_the_current_changes_nothing(service: Stand) -> None:
    task = await made(service)
    await task.worker.report("STEP_STARTED")
    for version in (1, 3):
        answer = await correct(task, said("FAILED", version))
        assert (answer.status_code, answer.json()["code"]) == (409, "VERSION_CONFLICT")
    assert (await state(task))["version"] == "2"
    assert audits(service) == []


async def test_a_correction_leads_to_an_end_only_and_to_one_the_type_enables(service: Stand) -> None:
    task = await made(service)
    told: list[Any] = []
    for body in (
        said("RUNNING", 1),
        said("TIMED_OUT", 1),
        said("FAILED", 1, businessStatus="NO_SUCH"),
        said("FAILED", 1, businessStatus="SUCCEEDED"),
        said("FAILED", 1, reason=""),
        {"lifecycleStatus": "FAILED", "expectedVersion": 1},
    ):
        answer = await correct(task, body)
        told.append((answer.status_code, answer.json()["code"]))
    assert told == [
        (422, "FIELD_INVALID"),
        (409, "ILLEGAL_TRANSITION"),
        (422, "BUSINESS_STATUS_UNKNOWN"),
        (422, "FIELD_INVALID"),
        (422, "FIELD_INVALID"),
        (422, "FIELD_INVALID"),
    ]
    assert (await state(task))["version"] == "1"


@pytest.mark.accepts("terminal never returns to running")
async def test_a_corrected_end_absorbs_like_any_and_only_a_new_attempt_leads_on(service: Stand) -> None:
    task = await made(service)
    started = await task.worker.report("STEP_STARTED")
    assert (await correct(task, said("FAILED", int(started["taskVersion"])))).status_code == 200
    after = await state(task)
    assert after["failure"] == {"code": "CORRECTED", "userMessage": None, "stepId": None}
    assert after["currentStep"] is None
    assert after["finishedAt"] is not None
    assert (await task.worker.report("STEP_PROGRESS", progress={"current": 1}))["reason"] == "TERMINAL"
    late = {
        "eventId": "late",
        "taskId": task.id,
        "taskType": "DOCUMENT_PROCESS",
        "taskAttempt": 1,
        "eventType": "TASK_COMPLETED",
        "occurredAt": "2027-01-15T08:00:00Z",
    }
    refused = await service.post("/internal/v1/task-events", task.boss, late)
    assert (refused.status_code, refused.json()["code"]) == (409, "CONFLICTING_TERMINAL")
    assert (await service.put(f"{task.path}/attempts/2", task.boss, {})).status_code == 200
    assert (await state(task))["failure"] is None


async def test_merged_progress_is_shown_when_a_correction_ends_the_task(service: Stand) -> None:
    task = await made(service)
    await task.worker.report("STEP_STARTED")
    await task.worker.report("STEP_PROGRESS", progress={"current": 1, "total": 100})
    merged = await task.worker.report("STEP_PROGRESS", progress={"current": 2, "total": 100})
    assert merged["merged"] is True
    assert (await correct(task, said("CANCELLED", int(merged["taskVersion"])))).status_code == 200
    viewer = await service.session("u1")
    step = (await service.get(f"/api/tasks/{task.id}", viewer)).json()["steps"][0]
    assert step["progress"]["current"] == 2


@pytest.mark.accepts("every command repeated answers the same")
async def test_the_same_key_again_answers_the_same_and_a_correction_to_what_is_changes_nothing(service: Stand) -> None:
    task = await made(service)
    first = await correct(task, said("FAILED", 1), key="k")
    again = await correct(task, said("FAILED", 1), key="k")
    assert first.json() == again.json()
    same = await correct(task, said("FAILED", 2))
    assert same.json()["taskVersion"] == "2"
    assert len(audits(service)) == 1


async def test_only_operators_of_the_tasks_own_tenant_correct_it(service: Stand) -> None:
    task = await made(service)
    for role in ("member", "admin"):
        answer = await correct(task, said("FAILED", 1), role=role)
        assert (answer.status_code, answer.json()["code"]) == (403, "FORBIDDEN")
    await service.storage.access.add_tenant("t2", service.clock.now())
    foreign = await service.session("op-2", tenant="t2", roles=("operator",))
    answer = await service.post(f"/admin/v1/tasks/{task.id}:correct", foreign, said("FAILED", 1))
    assert (answer.status_code, answer.json()["code"]) == (404, "TASK_UNKNOWN")
    assert (await state(task))["version"] == "1"
