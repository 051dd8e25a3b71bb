"""Commands: repeated safely, opened by number, cancelled by whom it concerns."""

import asyncio
from typing import Any

import pytest

from tests.parts.reports import Reported, create
from tests.parts.stand import Stand

EVENTS = "/internal/v1/task-events"
PLAN = "/internal/v1/tasks"
BODY: dict[str, Any] = {
    "tenantId": "t1",
    "ownerId": "u1",
    "taskType": "T",
    "title": "x",
    "steps": [{"stepId": "a", "operationCode": "OP", "producerId": "p1"}],
}


def facts(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer without what is issued anew each time."""
    fresh = ("executionToken", "expiresAt")
    contexts = [{key: value for key, value in one.items() if key not in fresh} for one in answer["contexts"]]
    return {**answer, "contexts": contexts}


async def api(service: Stand) -> str:
    return await service.credential("api", "report", "coordinate")


async def end(
    service: Stand, coordinator: str, task_id: str, event_type: str = "TASK_FAILED", attempt: int = 1
) -> None:
    said = {
        "eventId": f"{task_id}.{event_type}.{attempt}",
        "taskId": task_id,
        "taskType": "DOCUMENT_PROCESS",
        "taskAttempt": attempt,
        "eventType": event_type,
        "occurredAt": "2027-01-15T08:00:00Z",
    }
    answer = await service.post(EVENTS, coordinator, said)
    assert answer.status_code == 200, answer.text


@pytest.mark.accepts("every command repeated answers the same")
async def test_a_repeated_creation_answers_the_same_facts_with_fresh_tokens(service: Stand) -> None:
    coordinator = await api(service)
    first = await service.post(PLAN, coordinator, BODY, idempotency_key="k")
    service.clock.pass_ms(60_000)
    again = await service.post(PLAN, coordinator, BODY, idempotency_key="k")
    assert (first.status_code, again.status_code) == (201, 200)
    assert facts(first.json()) == facts(again.json())
    old, new = (answer.json()["contexts"][0] for answer in (first, again))
    assert old["executionToken"] != new["executionToken"]
    assert old["expiresAt"] < new["expiresAt"]
    assert (await Reported(service, new).report("STEP_STARTED"))["accepted"] is True
    assert first.json()["task"]["version"] == "1"
    assert first.json()["task"]["title"] == "x"


async def test_no_token_is_ever_stored(service: Stand) -> None:
    coordinator = await api(service)
    made = (await service.post(PLAN, coordinator, BODY, idempotency_key="k")).json()
    await Reported(service, made["contexts"][0]).report("STEP_STARTED")
    for file in service.path.parent.iterdir():
        held = file.read_bytes()
        assert made["contexts"][0]["executionToken"].encode() not in held
        assert made["contexts"][0]["executionToken"].rpartition(".")[2].encode() not in held
        assert coordinator.encode() not in held


async def test_another_body_under_a_key_is_a_conflict_and_another_key_on_an_id_is_too(service: Stand) -> None:
    coordinator = await api(service)
    body = {**BODY, "taskId": "k1"}
    await service.post(PLAN, coordinator, body, idempotency_key="k")
    other = await service.post(PLAN, coordinator, {**body, "title": "y"}, idempotency_key="k")
    assert (other.status_code, other.json()["code"]) == (409, "IDEMPOTENCY_KEY_CONFLICT")
    for key in ({"idempotency_key": "k2"}, {}):
        taken = await service.post(PLAN, coordinator, body, **key)
        assert (taken.status_code, taken.json()["code"]) == (409, "TASK_ID_TAKEN")
        assert taken.json()["errors"][0]["pointer"] == "/taskId"
    bad = await service.post(PLAN, coordinator, {**body, "title": 5}, idempotency_key="k")
    assert bad.status_code == 422


async def test_a_key_belongs_to_its_credential_and_its_tenant(service: Stand) -> None:
    one, two = await api(service), await api(service)
    foreign = await service.credential("api", "coordinate", tenant="t2")
    made = [await service.post(PLAN, secret, BODY, idempotency_key="k") for secret in (one, two)]
    made.append(await service.post(PLAN, foreign, {**BODY, "tenantId": "t2"}, idempotency_key="k"))
    assert [answer.status_code for answer in made] == [201, 201, 201]
    assert len({answer.json()["task"]["id"] for answer in made}) == 3


async def test_a_key_that_is_no_sensible_key_is_refused(service: Stand) -> None:
    coordinator = await api(service)
    bearer = (b"authorization", f"Bearer {coordinator}".encode())
    for key in (b"", b"k" * 129, "é".encode("latin-1"), b"a\x7f", b"\t"):
        answer = await service.http.post(PLAN, json=BODY, headers=[bearer, (b"idempotency-key", key)])
        assert answer.status_code in (201, 422), key
        if answer.status_code == 422:
            assert answer.json()["errors"][0]["pointer"] == "/headers/Idempotency-Key"
    assert (
        await service.http.post(PLAN, json=BODY, headers=[bearer, (b"idempotency-key", b"k" * 128)])
    ).status_code == 201


async def test_a_report_under_another_key_than_its_event_id_is_refused(service: Stand) -> None:
    coordinator = await api(service)
    made = (await service.post(PLAN, coordinator, BODY)).json()
    step = Reported(service, made["contexts"][0])
    event, token = step.event("STEP_STARTED"), step.context["executionToken"]
    for key in ("other", event["eventId"].upper(), f"{event['eventId']} x"):
        answer = await service.post(EVENTS, token, event, idempotency_key=key)
        assert (answer.status_code, answer.json()["code"]) == (400, "IDEMPOTENCY_KEY_MISMATCH")
    answer = await service.post(EVENTS, token, event, idempotency_key=event["eventId"])
    assert answer.json()["accepted"] is True


async def test_a_coordinator_that_lost_its_answer_finds_its_task_by_the_key(service: Stand) -> None:
    coordinator = await api(service)
    made = (await service.post(PLAN, coordinator, BODY, idempotency_key="k 1")).json()
    found = (await service.get(f"{PLAN}?idempotencyKey=k%201", coordinator)).json()
    assert found["task"]["id"] == made["task"]["id"]
    assert found["evidence"] == []
    assert (await service.get(f"{PLAN}?idempotencyKey=k2", coordinator)).json()["code"] == "NOT_FOUND"
    assert (await service.get(PLAN, coordinator)).json()["errors"][0]["pointer"] == "/query/idempotencyKey"
    assert (await service.get(f"{PLAN}?idempotencyKey=k%201", await api(service))).json()["code"] == "NOT_FOUND"


async def test_a_creation_names_what_it_cannot_have(service: Stand) -> None:
    coordinator = await api(service)
    step = BODY["steps"][0]
    for more, code, pointer in (
        ({"summaryData": {"schema": "S", "value": 1}}, "SCHEMA_UNKNOWN", "/summaryData/schema"),
        (
            {"steps": [step, {**step, "stepId": "b", "data": {"schema": "S", "value": 1}}]},
            "SCHEMA_UNKNOWN",
            "/steps/1/data/schema",
        ),
        ({"steps": [step, step]}, "FIELD_INVALID", "/steps/1/stepId"),
        ({"steps": [{**step, "onFailure": "RETRY"}]}, "FIELD_INVALID", "/steps/0/onFailure"),
        ({"steps": [{**step, "extra": 1}]}, "FIELD_INVALID", "/steps/0/extra"),
        ({"statusDefinitionVersion": 2}, "FIELD_INVALID", "/statusDefinitionVersion"),
        ({"operationDefinitionVersion": 9}, "FIELD_INVALID", "/operationDefinitionVersion"),
        ({"title": None}, "FIELD_INVALID", "/title"),
        ({"steps": {}}, "FIELD_INVALID", "/steps"),
    ):
        answer = await service.post(PLAN, coordinator, {**BODY, **more})
        assert (answer.status_code, answer.json()["code"]) == (422, code), more
        assert answer.json()["errors"][0]["pointer"] == pointer


async def test_attempts_of_a_task_open_by_number(service: Stand) -> None:
    coordinator = await api(service)
    made = await create(service, coordinator, ("a", "OP", "p1"), ("b", "OP", "p1"), taskId="k1")
    a, b = (Reported(service, context) for context in made["contexts"])
    await a.report("STEP_COMPLETED", durationMs=1)
    await b.report("STEP_FAILED", error={"category": "SYSTEM", "code": "E"})
    path = f"{PLAN}/k1/attempts"
    unfinished = await service.put(f"{path}/2", coordinator, {})
    assert (unfinished.status_code, unfinished.json()["code"]) == (409, "ATTEMPT_UNFINISHED")
    await end(service, coordinator, "k1")
    skipped = await service.put(f"{path}/3", coordinator, {})
    assert (skipped.status_code, skipped.json()["code"]) == (409, "ATTEMPT_NOT_NEXT")
    opened = await service.put(f"{path}/2", coordinator, {})
    assert opened.status_code == 200
    assert [(one["stepId"], one["stepAttempt"], one["taskAttempt"]) for one in opened.json()["contexts"]] == [
        ("b", 2, 2)
    ]
    assert opened.json()["task"]["lifecycleStatus"] == "PENDING"
    assert opened.json()["task"]["failure"] is None
    again = await service.put(f"{path}/2", coordinator)
    assert facts(again.json()) == facts(opened.json())
    older = await service.put(f"{path}/1", coordinator, {})
    assert (older.status_code, older.json()["code"]) == (409, "ATTEMPT_SUPERSEDED")
    late = await b.report("STEP_COMPLETED", durationMs=1)
    assert (late["stale"], late["reason"]) == (True, "ATTEMPT_SUPERSEDED")
    assert late["directives"]["attemptSuperseded"] is True
    named = await service.put(f"{path}/3", coordinator, {"abandon": True, "steps": ["a", "x"]})
    assert (named.status_code, named.json()["errors"][0]["pointer"]) == (422, "/steps/1")


@pytest.mark.accepts("every command repeated answers the same")
async def test_thirty_openings_of_one_number_are_one_attempt(service: Stand) -> None:
    coordinator = await api(service)
    await create(service, coordinator, ("a", "OP", "p1"), taskId="k1")
    await end(service, coordinator, "k1")
    answers = await asyncio.gather(*(service.put(f"{PLAN}/k1/attempts/2", coordinator, {}) for _ in range(30)))
    assert {answer.status_code for answer in answers} == {200}
    assert {answer.json()["task"]["version"] for answer in answers} == {"3"}


async def test_attempts_of_a_step_open_by_number(service: Stand) -> None:
    coordinator = await api(service)
    made = await create(service, coordinator, ("a", "OP", "p1"), taskId="k1")
    a = Reported(service, made["contexts"][0])
    await a.report("STEP_FAILED", error={"category": "SYSTEM", "code": "E", "retryable": True})
    path = f"{PLAN}/k1/steps/a/attempts"
    opened = (await service.put(f"{path}/2", coordinator, {})).json()
    retried = Reported(service, opened["contexts"][0])
    assert (await retried.report("STEP_COMPLETED", durationMs=1))["accepted"] is True
    missing = await service.put(f"{PLAN}/k1/steps/zz/attempts/2", coordinator, {})
    assert (missing.status_code, missing.json()["code"]) == (404, "NOT_FOUND")
    for number in ("0", "-1", "x", "1.5", "²", "1" * 10, "%00"):
        assert (await service.put(f"{path}/{number}", coordinator, {})).json()["code"] == "NOT_FOUND", number
    await end(service, coordinator, "k1", "TASK_COMPLETED")
    finished = await service.put(f"{path}/3", coordinator, {"abandon": True})
    assert (finished.status_code, finished.json()["code"]) == (409, "TASK_FINISHED")


async def test_a_standing_request_to_cancel_stops_a_new_attempt_unless_it_is_overridden(service: Stand) -> None:
    coordinator = await api(service)
    await create(service, coordinator, ("a", "OP", "p1"), taskId="k1")
    await service.post(f"{PLAN}/k1:requestCancel", coordinator)
    for path in (f"{PLAN}/k1/attempts/2", f"{PLAN}/k1/steps/a/attempts/2"):
        stopped = await service.put(path, coordinator, {"abandon": True})
        assert (stopped.status_code, stopped.json()["code"]) == (409, "CANCEL_PENDING")
    opened = await service.put(f"{PLAN}/k1/attempts/2", coordinator, {"abandon": True, "overrideCancel": True})
    assert opened.json()["task"]["cancelRequestedAt"] is None


async def test_a_fresh_token_is_given_for_any_attempt_that_is_known(service: Stand) -> None:
    coordinator = await api(service)
    made = await create(service, coordinator, ("a", "OP", "p1"), taskId="k1")
    a = Reported(service, made["contexts"][0])
    await a.report("STEP_FAILED", error={"category": "SYSTEM", "code": "E"})
    await service.put(f"{PLAN}/k1/steps/a/attempts/2", coordinator, {})
    path = f"{PLAN}/k1/steps/a/token"
    assert (await service.post(path, coordinator)).json()["stepAttempt"] == 2
    old = (await service.post(path, coordinator, {"stepAttempt": 1})).json()
    assert old["stepAttempt"] == 1
    assert (await Reported(service, old).report("STEP_PROGRESS", sourceSeq=9))["reason"] == "ATTEMPT_SUPERSEDED"
    unknown = await service.post(path, coordinator, {"stepAttempt": 3})
    assert (unknown.status_code, unknown.json()["code"]) == (404, "ATTEMPT_UNKNOWN")
    superseded = await service.post(path, coordinator, {"stepAttempt": 1, "newSource": True})
    assert (superseded.status_code, superseded.json()["code"]) == (409, "ATTEMPT_SUPERSEDED")


@pytest.mark.accepts("a redelivered worker fences its predecessor and its end is never lost")
async def test_a_new_source_fences_the_older_one_and_counts_from_one_again(service: Stand) -> None:
    coordinator = await api(service)
    made = await create(service, coordinator, ("a", "OP", "p1"), taskId="k1")
    old = Reported(service, made["contexts"][0])
    for number in range(5):
        await old.report("STEP_PROGRESS", stage=f"s{number}")
    fresh = (await service.post(f"{PLAN}/k1/steps/a/token", coordinator, {"newSource": True})).json()
    assert fresh["sourceEpoch"] == 2
    new = Reported(service, fresh)
    assert (await new.report("STEP_PROGRESS", stage="again"))["accepted"] is True
    late = await old.report("STEP_COMPLETED", durationMs=1)
    assert (late["stale"], late["reason"], late["directives"]["fenced"]) == (True, "SOURCE_FENCED", True)
    assert (await new.report("STEP_COMPLETED", durationMs=1))["accepted"] is True


@pytest.mark.accepts("every command repeated answers the same")
async def test_a_request_to_cancel_marks_the_task_once_and_ends_nothing(service: Stand) -> None:
    coordinator, owner = await api(service), await service.session("u1")
    await create(service, coordinator, ("a", "OP", "p1"), taskId="k1")
    first = await service.post("/api/tasks/k1:requestCancel", owner, {"reason": "wrong file"}, idempotency_key="c")
    assert first.json() == {"accepted": True, "lifecycleStatus": "PENDING", "taskVersion": "2"}
    for answer in (
        await service.post("/api/tasks/k1:requestCancel", owner, {"reason": "wrong file"}, idempotency_key="c"),
        await service.post("/api/tasks/k1:requestCancel", owner),
        await service.post(f"{PLAN}/k1:requestCancel", coordinator),
    ):
        assert answer.json() == first.json()
    other = await service.post("/api/tasks/k1:requestCancel", owner, {"reason": "other"}, idempotency_key="c")
    assert (other.status_code, other.json()["code"]) == (409, "IDEMPOTENCY_KEY_CONFLICT")
    found = (await service.get(f"{PLAN}/k1", coordinator)).json()
    assert (found["cancelRequested"], found["cancelRequestedBy"]) == (True, "u1")
    asked = (await service.get("/api/tasks/k1/events", owner)).json()["items"][-1]
    assert (asked["eventType"], asked["reason"]) == ("TASK_CANCEL_REQUESTED", "wrong file")
    await end(service, coordinator, "k1", "TASK_CANCELLED")
    late = await service.post("/api/tasks/k1:requestCancel", owner)
    assert late.json() == {"accepted": False, "lifecycleStatus": "CANCELLED", "taskVersion": "3"}
    assert (await service.get(f"{PLAN}/k1", coordinator)).json()["cancelRequested"] is False


async def test_only_the_owner_and_administrators_ask_for_an_end(service: Stand) -> None:
    coordinator = await api(service)
    await create(service, coordinator, ("a", "OP", "p1"), taskId="k1", projectId="pr")
    path = "/api/tasks/k1:requestCancel"
    member = await service.post(path, await service.session("u2", "pr"))
    assert (member.status_code, member.json()["code"]) == (403, "FORBIDDEN")
    stranger = await service.post(path, await service.session("u3"))
    assert (stranger.status_code, stranger.json()["code"]) == (404, "NOT_FOUND")
    assert (await service.post(path, await service.session("boss", roles=("admin",)))).json()["accepted"] is True
    assert (await service.post(f"{PLAN}/zz:requestCancel", coordinator)).json()["code"] == "TASK_UNKNOWN"


async def test_cancel_and_end_at_once_leave_one_end_and_an_honest_answer(service: Stand) -> None:
    coordinator, owner = await api(service), await service.session("u1")
    for number in range(10):
        task_id = f"k{number}"
        await create(service, coordinator, ("a", "OP", "p1"), taskId=task_id)
        asked, _ = await asyncio.gather(
            service.post(f"/api/tasks/{task_id}:requestCancel", owner),
            end(service, coordinator, task_id, "TASK_COMPLETED"),
        )
        assert asked.status_code == 200
        found = (await service.get(f"/api/tasks/{task_id}", owner)).json()["task"]
        assert found["lifecycleStatus"] == "SUCCEEDED"
        assert asked.json()["accepted"] is (asked.json()["lifecycleStatus"] == "PENDING")
