"""B08: the finish arrives before the creation or the start."""

import asyncio
from itertools import permutations

import pytest

from tests.field_cases.cases import Case
from tests.parts.reports import Reported

BODY = {
    "tenantId": "t1",
    "ownerId": "u1",
    "taskType": "DOCUMENT_PROCESS",
    "title": "one",
    "steps": [{"stepId": "a", "operationCode": "OP", "producerId": "p1"}],
}


async def test_thirty_creations_of_one_task_under_one_key_make_one_task(case: Case) -> None:
    body = {**BODY, "taskId": "one"}
    sent = [case.stand.post("/internal/v1/tasks", case.coordinator, body, idempotency_key="k") for _ in range(30)]
    answers = await asyncio.gather(*sent)
    assert sorted(answer.status_code for answer in answers) == [200] * 29 + [201]
    assert len({str(answer.json()["task"]) for answer in answers}) == 1


async def test_thirty_creations_under_one_key_without_an_id_make_one_task(case: Case) -> None:
    sent = [case.stand.post("/internal/v1/tasks", case.coordinator, BODY, idempotency_key="k") for _ in range(30)]
    answers = await asyncio.gather(*sent)
    assert sorted(answer.status_code for answer in answers) == [200] * 29 + [201]
    assert len({answer.json()["task"]["id"] for answer in answers}) == 1
    listed = (await case.stand.get("/api/tasks", case.viewer)).json()["items"]
    assert len(listed) == 2


async def test_creations_of_one_id_under_other_keys_are_told_that_it_is_taken(case: Case) -> None:
    body = {**BODY, "taskId": "one"}
    sent = [
        case.stand.post("/internal/v1/tasks", case.coordinator, body, idempotency_key=f"k{number}")
        for number in range(30)
    ]
    answers = await asyncio.gather(*sent)
    assert sorted(answer.status_code for answer in answers) == [201] + [409] * 29
    assert {answer.json()["code"] for answer in answers if answer.status_code == 409} == {"TASK_ID_TAKEN"}


async def test_the_same_first_event_thirty_times_at_once_is_one_change(case: Case) -> None:
    event = case.a.event("STEP_STARTED")
    answers = await asyncio.gather(*(case.a.send(event) for _ in range(30)))
    assert {answer["status_code"] for answer in answers} == {200}
    assert sorted(answer["duplicate"] for answer in answers) == [False] + [True] * 29
    assert {answer["taskVersion"] for answer in answers} == {"2"}
    await case.is_sound()


@pytest.mark.parametrize("order", [*permutations(["STEP_STARTED", "STEP_PROGRESS", "STEP_COMPLETED"])], ids="-".join)
async def test_facts_of_a_step_in_any_order_end_the_same(case: Case, order: tuple[str, ...]) -> None:
    seqs = {"STEP_STARTED": 1, "STEP_PROGRESS": 2, "STEP_COMPLETED": 3}
    told = {"STEP_PROGRESS": {"progress": {"current": 1, "total": 2}}, "STEP_COMPLETED": {"durationMs": 10}}
    for event_type in order:
        answer = await case.a.report(event_type, sourceSeq=seqs[event_type], **told.get(event_type, {}))
        assert answer["status_code"] == 200, answer
    found = await case.step()
    assert found["lifecycleStatus"] == "SUCCEEDED"
    assert found["durationMs"] == 10
    assert found["startedAt"] is not None
    await case.is_sound()


async def test_the_late_start_of_a_finished_step_is_stale_and_moves_nothing(case: Case) -> None:
    await case.a.report("STEP_COMPLETED", sourceSeq=2, durationMs=10)
    before = await case.step()
    late = await case.a.report("STEP_STARTED", sourceSeq=1)
    assert (late["accepted"], late["stale"], late["reason"]) == (False, True, "TERMINAL")
    assert {**await case.step(), "asOf": 0} == {**before, "asOf": 0}
    log = await case.log()
    assert [item["derived"] for item in log if item["eventType"] == "STEP_COMPLETED"] == [True]
    await case.is_sound()


async def test_a_fact_for_a_task_that_is_not_there_yet_is_taken_once_it_is(case: Case) -> None:
    later = await case.stand.post("/internal/v1/tasks", case.coordinator, {**BODY, "taskId": "later"})
    known = Reported(case.stand, later.json()["contexts"][0])
    unknown = {**case.untokened(known, "STEP_STARTED"), "taskId": "soon"}
    for _ in range(2):
        (early,) = await case.batch(unknown)
        assert (early["status"], early["code"]) == (404, "TASK_UNKNOWN")
    await case.stand.post("/internal/v1/tasks", case.coordinator, {**BODY, "taskId": "soon"})
    (answer,) = await case.batch(unknown)
    assert answer["accepted"] is True
    (again,) = await case.batch(unknown)
    assert again["duplicate"] is True
    assert again["taskVersion"] == "2"


async def test_facts_and_the_creation_they_race_with_end_in_one_sound_task(case: Case) -> None:
    body = {**BODY, "taskId": "race"}
    context = {**case.a.context, "taskId": "race", "operationCode": "OP"}
    event = case.untokened(Reported(case.stand, context), "STEP_STARTED")

    async def tell() -> int:
        refused = 0
        while (await case.batch(event))[0]["status"] == 404:
            refused += 1
        return refused

    created = case.stand.post("/internal/v1/tasks", case.coordinator, body, idempotency_key="race")
    await asyncio.gather(tell(), tell(), created, tell())
    found = (await case.stand.get("/api/tasks/race", case.viewer)).json()
    assert found["task"]["version"] == "2"


async def test_a_task_fact_for_an_unknown_task_is_told_so(case: Case) -> None:
    answer = await case.task_fact("TASK_COMPLETED", taskId="nowhere")
    assert (answer.status_code, answer.json()["code"]) == (404, "TASK_UNKNOWN")


async def test_the_end_of_the_task_may_come_before_every_fact_of_its_steps(case: Case) -> None:
    assert (await case.task_fact("TASK_COMPLETED")).json()["lifecycleStatus"] == "SUCCEEDED"
    late = await case.a.report("STEP_COMPLETED", durationMs=5)
    assert late["accepted"] is True
    assert late["lifecycleStatus"] == "SUCCEEDED"
    started = await case.b.report("STEP_STARTED")
    assert started["reason"] == "TERMINAL"
    await case.is_sound()


async def test_a_repeated_end_is_a_duplicate_and_another_end_a_conflict(case: Case) -> None:
    await case.a.report("STEP_COMPLETED", durationMs=5)
    again = await case.a.report("STEP_COMPLETED", durationMs=9)
    assert (again["accepted"], again["duplicate"]) == (False, True)
    other = await case.a.report("STEP_FAILED", error={"category": "SYSTEM", "code": "E"})
    assert (other["status_code"], other["code"], other["lifecycleStatus"]) == (409, "CONFLICTING_TERMINAL", "RUNNING")
    assert (await case.step())["durationMs"] == 5
    kept = (await case.stand.get(f"/internal/v1/tasks/{case.task_id}", case.coordinator)).json()["evidence"]
    assert {item["reason"] for item in kept} == {"TERMINAL_REPEATED", "CONFLICTING_TERMINAL"}
    await case.is_sound()
