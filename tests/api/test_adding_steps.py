"""Adding steps: while the task runs, behind the others, once a key, with contexts to work in."""

from typing import Any

import pytest

from tests.api.test_deleting import Task, made
from tests.parts.reports import Reported, create
from tests.parts.stand import Stand


def plan(*names: str) -> dict[str, Any]:
    return {"steps": [{"stepId": name, "operationCode": "OP." + name, "producerId": "p1"} for name in names]}


async def test_added_steps_stand_behind_the_others_and_can_be_worked_on_at_once(service: Stand) -> None:
    task = await made(service)
    answer = await service.post(f"{task.path}/steps", task.boss, plan("b", "a"))
    assert answer.status_code == 201
    body = answer.json()
    assert [step["id"] for step in body["steps"]] == ["02_parse", "b", "a"]
    assert [context["stepId"] for context in body["contexts"]] == ["b", "a"]
    assert body["task"]["version"] == "2"
    assert (await Reported(service, body["contexts"][1]).report("STEP_STARTED"))["accepted"] is True
    viewer = await service.session("u1")
    items = (await service.get(f"/api/tasks/{task.id}/events", viewer)).json()["items"]
    assert [(item["eventType"], item["producerId"]) for item in items[:2]] == [
        ("TASK_CREATED", "milepost"),
        ("STEPS_ADDED", "milepost"),
    ]


async def test_the_percentage_falls_when_steps_are_added_and_only_then(service: Stand) -> None:
    boss = await service.credential("api", "report", "coordinate")
    task = Task(service, boss, await create(service, boss, ("a", "OP.a", "p1"), ("b", "OP.b", "p1")))
    await task.worker.report("STEP_STARTED")
    await task.worker.report("STEP_COMPLETED")
    viewer = await service.session("u1")
    path = f"/api/tasks/{task.id}"
    assert (await service.get(path, viewer)).json()["task"]["progress"]["percent"] == 50
    await service.post(f"{task.path}/steps", boss, plan("c", "d"))
    progress = (await service.get(path, viewer)).json()["task"]["progress"]
    assert (progress["percent"], progress["current"], progress["total"]) == (25, 1, 4)


@pytest.mark.accepts("every command repeated answers the same")
async def test_the_same_key_again_answers_the_same_contexts_with_fresh_tokens(service: Stand) -> None:
    task = await made(service)
    path = f"{task.path}/steps"
    first = await service.post(path, task.boss, plan("b"), idempotency_key="k")
    service.clock.pass_ms(60_000)
    again = await service.post(path, task.boss, plan("b"), idempotency_key="k")
    other = await service.post(path, task.boss, plan("c"), idempotency_key="k")
    assert (first.status_code, again.status_code, other.status_code) == (201, 200, 409)
    assert other.json()["code"] == "IDEMPOTENCY_KEY_CONFLICT"
    assert first.json()["task"] == again.json()["task"]
    tokens = {answer.json()["contexts"][0]["executionToken"] for answer in (first, again)}
    assert len(tokens) == 2


async def test_a_step_id_is_taken_once_and_a_task_has_five_hundred_steps_at_most(service: Stand) -> None:
    task = await made(service)
    path = f"{task.path}/steps"
    told: list[Any] = []
    for names in (["b", "02_parse"], ["b", "b"], [f"s{n}" for n in range(500)]):
        answer = await service.post(path, task.boss, plan(*names))
        told.append((answer.status_code, answer.json()["errors"][0]["pointer"]))
    assert told == [(422, "/steps/1/stepId"), (422, "/steps/1/stepId"), (422, "/steps")]
    assert (await service.post(path, task.boss, plan(*(f"s{n}" for n in range(499))))).status_code == 201
    assert (await service.post(path, task.boss, plan("one-more"))).status_code == 422
    assert (await service.post(path, task.boss, {"steps": []})).status_code == 422


async def test_nothing_is_added_to_a_finished_task_and_by_nobody_but_its_coordinator(service: Stand) -> None:
    task = await made(service)
    path = f"{task.path}/steps"
    other = await service.credential("other", "coordinate")
    assert (await service.post(path, other, plan("b"))).json()["code"] == "CONTEXT_MISMATCH"
    await task.end()
    answer = await service.post(path, task.boss, plan("b"))
    assert (answer.status_code, answer.json()["code"]) == (409, "TASK_FINISHED")
    opened = (await service.put(f"{task.path}/attempts/2", task.boss, {})).json()
    added = (await service.post(path, task.boss, plan("b"))).json()
    assert opened["task"]["attempt"] == 2
    context = added["contexts"][0]
    assert (context["taskAttempt"], context["stepAttempt"]) == (2, 1)
    assert (await Reported(service, context).report("STEP_STARTED"))["accepted"] is True
