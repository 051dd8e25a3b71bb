"""Deleting: finished tasks only, once, for everybody, and told to those who watch."""

import sqlite3
from typing import Any

import pytest

from tests.parts.reports import Reported, create
from tests.parts.stand import Stand

EVENTS = "/internal/v1/task-events"


class Task:
    """A task of one step, in the hands of its coordinator."""

    def __init__(self, service: Stand, boss: str, made: dict[str, Any]) -> None:
        self.service = service
        self.boss = boss
        self.id = made["task"]["id"]
        self.path = f"/internal/v1/tasks/{self.id}"
        self.worker = Reported(service, made["contexts"][0])

    async def end(self, event_type: str = "TASK_COMPLETED") -> None:
        said = {
            "eventId": f"{self.id}.end",
            "taskId": self.id,
            "taskType": "DOCUMENT_PROCESS",
            "taskAttempt": 1,
            "eventType": event_type,
            "occurredAt": "2027-01-15T08:00:00Z",
        }
        assert (await self.service.post(EVENTS, self.boss, said)).status_code == 200

    async def delete(self, token: str | None = None) -> Any:
        headers = {"authorization": f"Bearer {token or self.boss}"}
        return await self.service.http.delete(self.path, headers=headers)


async def made(service: Stand, boss: str | None = None) -> Task:
    boss = boss or await service.credential("api", "report", "coordinate")
    return Task(service, boss, await create(service, boss, ("02_parse", "DOCUMENT.PARSE", "document-parser")))


async def test_only_a_finished_task_can_be_deleted(service: Stand) -> None:
    task = await made(service)
    refused = await task.delete()
    assert (refused.status_code, refused.json()["code"]) == (409, "TASK_UNFINISHED")
    await task.worker.report("STEP_STARTED")
    assert (await task.delete()).status_code == 409
    viewer = await service.session("u1")
    assert (await service.get(f"/api/tasks/{task.id}", viewer)).json()["task"]["lifecycleStatus"] == "RUNNING"


@pytest.mark.accepts("every command repeated answers the same")
async def test_a_deletion_takes_one_version_and_again_answers_the_same(service: Stand) -> None:
    task = await made(service)
    await task.end()
    first = await task.delete()
    service.clock.pass_ms(60_000)
    again = await task.delete()
    assert (first.status_code, again.status_code) == (200, 200)
    assert first.json() == again.json()
    assert first.json() == {"taskId": task.id, "taskVersion": "3", "deletedAt": first.json()["deletedAt"]}
    with sqlite3.connect(service.path) as connection:
        events = connection.execute("SELECT task_version, event_type, producer_id FROM task_event_log").fetchall()
    connection.close()
    assert events[-1] == (3, "TASK_REMOVED", "milepost")
    assert len(events) == 3


async def test_the_stream_says_once_that_the_task_is_gone(service: Stand) -> None:
    task = await made(service)
    await task.end()
    await task.delete()
    await task.delete()
    entries = [logged.entry for committed in service.heard.committed for logged in committed.entries]
    assert [entry.kind for entry in entries] == ["task", "task", "task.removed"]
    gone = entries[-1]
    assert (gone.task_id, gone.task_version, gone.audience_user, gone.mergeable) == (task.id, 3, "u1", False)


async def test_nobody_sees_a_deleted_task_any_more(service: Stand) -> None:
    task = await made(service)
    kept = await made(service, task.boss)
    await task.end()
    viewer = await service.session("u1")
    before = (await service.get("/api/tasks", viewer)).json()["streamCursor"]
    await task.delete()
    assert [item["id"] for item in (await service.get("/api/tasks", viewer)).json()["items"]] == [kept.id]
    changed = (await service.get(f"/api/tasks?changedAfter={before}", viewer)).json()
    assert (changed["items"], changed["removed"]) == ([], [task.id])
    asked = {"taskIds": [task.id, kept.id], "knownVersions": {}, "view": "detail"}
    newer = (await service.post("/api/tasks/status:batchGet", viewer, asked)).json()
    assert newer["gone"] == [task.id]
    for path in (f"/api/tasks/{task.id}", f"/api/tasks/{task.id}/events"):
        answer = await service.get(path, viewer)
        assert (answer.status_code, answer.json()["code"]) == (410, "TASK_DELETED")


async def test_facts_and_commands_for_a_deleted_task_are_gone_for_good(service: Stand) -> None:
    task = await made(service)
    started = task.worker.event("STEP_STARTED")
    assert (await task.worker.send(started))["accepted"] is True
    await task.end()
    await task.delete()
    for event in (started, task.worker.event("STEP_COMPLETED"), _heartbeat(task)):
        answer = await task.worker.send(event)
        assert (answer["status_code"], answer["code"]) == (410, "TASK_DELETED")
    for answer in (
        await service.put(f"{task.path}/attempts/2", task.boss, {}),
        await service.post(f"{task.path}:requestCancel", task.boss, {}),
        await service.post(f"{task.path}/steps/02_parse/token", task.boss, {}),
        await service.get(task.path, task.boss),
    ):
        assert (answer.status_code, answer.json()["code"]) == (410, "TASK_DELETED")


def _heartbeat(task: Task) -> dict[str, Any]:
    event = task.worker.event("STEP_HEARTBEAT")
    return {name: value for name, value in event.items() if name not in ("eventId", "sourceSeq")}


async def test_the_id_of_a_deleted_task_is_not_given_again(service: Stand) -> None:
    task = await made(service)
    await task.end()
    await task.delete()
    body = {"tenantId": "t1", "ownerId": "u2", "taskType": "T", "title": "x", "taskId": task.id, "steps": []}
    answer = await service.post("/internal/v1/tasks", task.boss, body)
    assert (answer.status_code, answer.json()["code"]) == (409, "TASK_ID_TAKEN")


async def test_only_the_tasks_own_coordinator_deletes_it(service: Stand) -> None:
    task = await made(service)
    await task.end()
    other = await service.credential("other", "coordinate")
    producer = await service.credential("document-parser")
    foreign = await service.credential("api", "coordinate", tenant="t2")
    told = [((await task.delete(token)).status_code) for token in (other, producer, foreign)]
    assert told == [403, 403, 404]
    assert (await task.delete()).status_code == 200
    assert (await task.delete(other)).status_code == 403
