"""B03: a slow worker writes back an old snapshot and revives a finished task."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from milepost.usecases.flushing import flush_due
from tests.field_cases.cases import EVENTS, Case, made_case
from tests.parts.stand import Stand, stand

ROUNDS = 20


@pytest.fixture
async def two(tmp_path: Path) -> AsyncIterator[tuple[Stand, Stand]]:
    """Two services over one database, each with a writer of its own."""
    async with stand(tmp_path) as first, stand(tmp_path, first.clock) as second:
        yield first, second


async def sent(service: Stand, token: str, event: dict[str, Any]) -> dict[str, Any]:
    answer = await service.post(EVENTS, token, event)
    return {**answer.json(), "status_code": answer.status_code}


async def is_sound(case: Case) -> None:
    """The timeline is 1…n and its last word is what the task shows."""
    log = await case.log()
    assert [int(item["taskVersion"]) for item in log] == list(range(1, len(log) + 1))
    assert await case.version() == len(log)


@pytest.mark.accepts("terminal never returns to running")
async def test_progress_that_crosses_the_end_in_another_service_never_revives_the_step(two: tuple[Stand, Stand]):
    first, second = two
    for _ in range(ROUNDS):
        case = await made_case(first)
        token, named = case.a.context["executionToken"], f"{case.task_id}."
        await case.a.report("STEP_STARTED", eventId=f"{named}1")
        slow = case.a.event(
            "STEP_PROGRESS", eventId=f"{named}2", progress={"current": 60, "total": 100}, stage="old copy"
        )
        end = case.a.event("STEP_COMPLETED", eventId=f"{named}3")
        _, ended = await asyncio.gather(sent(first, token, slow), sent(second, token, end))
        assert ended.get("accepted") is True, ended
        assert (await case.step())["lifecycleStatus"] == "SUCCEEDED"
        await sent(first, token, slow)
        assert (await case.step())["lifecycleStatus"] == "SUCCEEDED"
        await is_sound(case)


@pytest.mark.parametrize("end", ["TASK_COMPLETED", "TASK_FAILED", "TASK_CANCELLED"])
async def test_whatever_is_told_late_leaves_the_end_of_a_task(two: tuple[Stand, Stand], end: str):
    first, second = two
    case = await made_case(first)
    token = case.a.context["executionToken"]
    await case.a.report("STEP_STARTED")
    late = [
        case.a.event("STEP_PROGRESS", progress={"current": 1, "total": 2}),
        case.a.event("STEP_COMPLETED"),
    ]
    said = {"eventId": f"{case.task_id}.end", "taskId": case.task_id, "taskType": "DOCUMENT_PROCESS"}
    said |= {"taskAttempt": 1, "eventType": end, "occurredAt": "2027-01-15T08:00:01Z"}
    start = {**said, "eventId": f"{case.task_id}.start", "eventType": "TASK_STARTED"}
    await asyncio.gather(
        sent(second, case.coordinator, said),
        *(sent(first, token, event) for event in late),
        sent(first, case.coordinator, start),
    )
    terminal = {"TASK_COMPLETED": "SUCCEEDED", "TASK_FAILED": "FAILED", "TASK_CANCELLED": "CANCELLED"}[end]
    assert (await case.shown())["task"]["lifecycleStatus"] == terminal
    ends = [item for item in await case.log() if item["eventType"] == end]
    assert len(ends) == 1
    listed = (await second.get("/api/tasks", case.viewer)).json()["items"]
    assert [item["lifecycleStatus"] for item in listed if item["id"] == case.task_id] == [terminal]
    await is_sound(case)


async def test_merged_progress_that_still_waits_is_never_written_over_the_end(two: tuple[Stand, Stand]):
    first, second = two
    case = await made_case(first)
    token = case.a.context["executionToken"]
    await case.a.report("STEP_STARTED")
    for current in (50, 51):
        merged = await case.a.report("STEP_PROGRESS", progress={"current": current, "total": 100})
    assert merged["merged"] is True
    assert (await sent(second, token, case.a.event("STEP_FAILED")))["accepted"] is True
    version = await case.version()
    first.clock.pass_ms(60_000)
    services = first.services
    assert await flush_due(services.reading, services.commit, services.rulebook, first.clock) == 0
    assert (await case.step())["lifecycleStatus"] == "FAILED"
    assert await case.version() == version
    await is_sound(case)


async def test_the_old_attempt_of_a_step_writes_nothing_into_the_new_one(two: tuple[Stand, Stand]):
    first, second = two
    case = await made_case(first)
    old = case.a.context["executionToken"]
    await case.a.report("STEP_FAILED")
    late = [case.a.event("STEP_PROGRESS", progress={"current": 9, "total": 9}), case.a.event("STEP_COMPLETED")]
    path = f"/internal/v1/tasks/{case.task_id}/steps/a/attempts/2"
    opening = asyncio.ensure_future(second.put(path, case.coordinator))
    await asyncio.gather(opening, *(sent(first, old, event) for event in late))
    assert opening.result().status_code in (200, 201), opening.result().text
    step = await case.step()
    assert (step["attempt"], step["lifecycleStatus"], step["progress"]) == (2, "PENDING", None)
    for event in late:
        answer = await sent(first, old, event)
        assert answer["status_code"] == 200
    assert (await case.step())["lifecycleStatus"] == "PENDING"
    await is_sound(case)
