"""B22: the error text is too long, or emoji, and the task stays "running"."""

import json

import pytest

from milepost.wire.texts import MARK
from tests.field_cases.cases import Case
from tests.parts.reports import Reported

PLAN = "/internal/v1/tasks"
BODY = {"tenantId": "t1", "ownerId": "u1", "taskType": "T", "title": "x"}


@pytest.mark.parametrize("letter", ["é", "🚀", "x", "\u0301", '"', "\\"])
async def test_a_megabyte_of_traceback_in_a_batch_ends_the_step_with_a_cut_text(case: Case, letter: str) -> None:
    long = letter * (1024 * 1024 // len(letter.encode()))
    error = {"category": "SYSTEM", "code": "E", "userMessage": long[: len(long) // 4]}
    text = json.dumps(case.untokened(case.a, "STEP_FAILED", message=long, error=error), ensure_ascii=False)
    (answer,) = await case.batch(text)
    assert answer["status"] == 200, answer
    assert answer["step"]["lifecycleStatus"] == "FAILED"
    found = await case.step()
    assert found["message"] == letter * (2_000 - len(MARK)) + MARK
    assert found["error"]["userMessage"] == letter * (500 - len(MARK)) + MARK
    (again,) = await case.batch(text)
    assert again == {**answer, "duplicate": True}
    await case.is_sound()


async def test_a_body_above_the_limit_is_too_large_for_good_and_a_shorter_one_is_taken(case: Case) -> None:
    event = case.a.event("STEP_FAILED", message="é" * 1024 * 1024, error={"category": "SYSTEM", "code": "E"})
    for _ in range(2):
        answer = await case.a.send(event)
        assert (answer["status_code"], answer["code"]) == (413, "TOO_LARGE")
    assert await case.version() == 1
    body = json.dumps({**event, "message": ""}).encode()
    filled = body.replace(b'"message": ""', b'"message": "' + b"x" * (256 * 1024 - len(body)) + b'"')
    assert len(filled) == 256 * 1024
    assert (await case.raw(filled.replace(b'"x', b'"xx', 1))).status_code == 413
    assert (await case.raw(filled)).json()["step"]["lifecycleStatus"] == "FAILED"


async def test_every_long_word_of_a_failure_is_cut_and_none_costs_the_end(case: Case) -> None:
    long = "🚀" * 5_000
    answer = await case.a.report(
        "STEP_FAILED",
        stage=long,
        reason=long,
        traceId=long,
        executionLogUrl=long,
        error={"category": "SYSTEM", "code": long, "userMessage": long},
        progress={"current": 1, "unit": long},
    )
    assert answer["status_code"] == 200, answer
    found = await case.step()
    assert [len(text) for text in (found["stage"], found["error"]["code"], found["progress"]["unit"])] == [200, 128, 64]
    ended = await case.task_fact("TASK_FAILED", error={"category": "SYSTEM", "code": long, "userMessage": long})
    assert ended.json()["lifecycleStatus"] == "FAILED"
    failure = (await case.shown())["task"]["failure"]
    assert [len(failure["code"]), len(failure["userMessage"])] == [128, 500]
    await case.is_sound()


@pytest.mark.parametrize("count, title", [(300, "🚀" * 300), (301, "🚀" * (300 - len(MARK)) + MARK)])
async def test_a_title_has_three_hundred_characters_whatever_they_are(case: Case, count: int, title: str) -> None:
    answer = await case.stand.post(PLAN, case.coordinator, {**BODY, "title": "🚀" * count})
    assert answer.status_code == 201
    assert answer.json()["task"]["title"] == title


async def test_five_hundred_steps_with_the_longest_ids_run_to_their_end(case: Case) -> None:
    steps = [
        {"stepId": f"{number:03}" + "s" * 125, "operationCode": "O" * 128, "producerId": "p" * 128}
        for number in range(500)
    ]
    body = {**BODY, "taskId": "k" * 128, "steps": steps}
    made = await case.raw(json.dumps(body, separators=(",", ":")), case.coordinator, PLAN)
    assert made.status_code == 201, made.text[:500]
    contexts = made.json()["contexts"]
    assert len(contexts) == 500
    for context in (contexts[0], contexts[-1]):
        step = Reported(case.stand, context)
        event = {**step.event("STEP_STARTED"), "eventId": context["stepId"]}
        assert (await step.send(event))["status_code"] == 200
    found = (await case.stand.get(f"/api/tasks/{'k' * 128}", case.viewer)).json()
    assert len(found["steps"]) == 500
    assert found["task"]["version"] == "3"


async def test_one_step_more_is_refused_with_its_place(case: Case) -> None:
    steps = [{"stepId": f"s{number}", "operationCode": "O", "producerId": "p"} for number in range(501)]
    answer = await case.stand.post(PLAN, case.coordinator, {**BODY, "steps": steps})
    assert (answer.status_code, answer.json()["code"]) == (422, "FIELD_INVALID")
    assert answer.json()["errors"][0]["pointer"] == "/steps"


async def test_an_id_is_never_cut(case: Case) -> None:
    steps = [{"stepId": "s" * 2_000, "operationCode": "O", "producerId": "p"}]
    answer = await case.stand.post(PLAN, case.coordinator, {**BODY, "steps": steps})
    assert (answer.status_code, answer.json()["code"]) == (422, "ID_INVALID")
    assert answer.json()["errors"][0]["pointer"] == "/steps/0/stepId"


async def test_data_above_its_limit_is_too_large_with_its_place(case: Case) -> None:
    answer = await case.a.report("STEP_COMPLETED", data={"schema": "S", "value": ["x" * 70_000]})
    assert (answer["status_code"], answer["code"]) == (413, "TOO_LARGE")
    assert answer["errors"][0]["pointer"] == "/data/value"


async def test_a_name_as_long_as_the_body_is_not_echoed(case: Case) -> None:
    body = json.dumps({**case.a.event("STEP_STARTED"), "n" * 200_000: 1})
    answer = await case.raw(body)
    assert answer.status_code == 422
    assert len(answer.content) < 2_000
