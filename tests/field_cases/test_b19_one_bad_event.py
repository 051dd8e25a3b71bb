"""B19: one bad event poisons the batch, and then the worker's outbox."""

import json
from typing import Any

import pytest

from tests.field_cases.cases import EVENTS, Case
from tests.parts.reports import Reported, create

BATCH = f"{EVENTS}:batch"


def bad_ones(case: Case) -> list[tuple[str, int, str]]:
    """Items that can never be accepted: how they are written, and how each is answered."""
    good = {**case.a.event("STEP_PROGRESS", progress={"current": 1}), "sourceEpoch": 1}
    plain = json.dumps(good)
    without = {name: value for name, value in good.items() if name != "stepId"}
    expired = case.a.context["executionToken"]
    return [
        ("null", 422, "FIELD_INVALID"),
        ("1", 422, "FIELD_INVALID"),
        ('"x"', 422, "FIELD_INVALID"),
        ("true", 422, "FIELD_INVALID"),
        ("[]", 422, "FIELD_INVALID"),
        ("[[[]]]", 422, "FIELD_INVALID"),
        ("NaN", 422, "NUMBER_OUT_OF_RANGE"),
        ("1e999", 422, "NUMBER_OUT_OF_RANGE"),
        ("{}", 422, "FIELD_INVALID"),
        (json.dumps(without), 422, "FIELD_INVALID"),
        (json.dumps({**good, "sourceEpoch": None}), 422, "FIELD_INVALID"),
        (json.dumps({**good, "extra": 1}), 422, "FIELD_INVALID"),
        (json.dumps({**good, "eventId": "a b"}), 422, "ID_INVALID"),
        (json.dumps({**good, "eventId": "e\n"}), 422, "ID_INVALID"),
        (json.dumps({**good, "stepId": "s" * 2000}), 422, "ID_INVALID"),
        (json.dumps({**good, "eventType": "STEP_EXPLODED"}), 422, "EVENT_TYPE_UNKNOWN"),
        (json.dumps({**good, "businessStatus": "NOWHERE"}), 422, "BUSINESS_STATUS_UNKNOWN"),
        (json.dumps({**good, "data": {"schema": "S", "value": 1}}), 422, "SCHEMA_UNKNOWN"),
        (json.dumps({**good, "progress": {"current": float("nan")}}), 422, "PROGRESS_INVALID"),
        (json.dumps({**good, "sourceSeq": 2**63}), 422, "NUMBER_OUT_OF_RANGE"),
        (plain[:-1] + ',"taskId":"x"}', 422, "DUPLICATE_KEY"),
        (plain[:-1] + ',"executionToken":"x","executionToken":"y"}', 422, "DUPLICATE_KEY"),
        (plain[:-1] + ',"executionToken":"x","\\u0065xecutionToken":"y"}', 422, "DUPLICATE_KEY"),
        (plain[:-1] + ',"data":' + "[" * 40 + "]" * 40 + "}", 422, "FIELD_INVALID"),
        (plain[:-1] + ',"data":' + '{"a":' * 600 + "1" + "}" * 600 + "}", 422, "FIELD_INVALID"),
        (json.dumps({**good, "executionToken": "rubbish"}), 401, "TOKEN_INVALID"),
        (json.dumps({**good, "executionToken": 5}), 401, "TOKEN_INVALID"),
        (json.dumps({**good, "executionToken": expired[:-2]}), 401, "TOKEN_INVALID"),
        (json.dumps({**good, "stepId": "b", "executionToken": expired}), 403, "CONTEXT_MISMATCH"),
        (json.dumps({**good, "producerId": "p2"}), 403, "CONTEXT_MISMATCH"),
        (json.dumps({**good, "operationCode": "VIDEO.TRANSCODE"}), 403, "CONTEXT_MISMATCH"),
        (json.dumps({**good, "taskType": "OTHER"}), 403, "CONTEXT_MISMATCH"),
        (json.dumps({**good, "sourceEpoch": 9}), 403, "CONTEXT_MISMATCH"),
        (json.dumps({**good, "taskId": "nowhere"}), 404, "TASK_UNKNOWN"),
        (json.dumps({**good, "stepAttempt": 7}), 404, "ATTEMPT_UNKNOWN"),
        (json.dumps({**good, "eventType": "STEP_TIMED_OUT"}), 409, "ILLEGAL_TRANSITION"),
    ]


async def test_a_bad_item_of_any_kind_is_answered_alone_and_its_neighbours_are_committed_once(case: Case) -> None:
    version = 1
    case.b.seq = 100
    for bad, status, code in bad_ones(case):
        items: list[Any] = []
        for number in range(4):
            case.stand.clock.pass_ms(3_000)  # no progress is merged
            items.append(
                case.untokened(case.b, "STEP_PROGRESS", progress={"current": number}, stage=f"{version}-{number}")
            )
        items.insert(2, bad)
        results = await case.batch(*items)
        assert [result["status"] for result in results] == [200, 200, status, 200, 200], (bad[:200], results[2])
        assert results[2]["code"] == code, (bad[:200], results[2])
        version += 4
        assert [result["taskVersion"] for result in results if "taskVersion" in result] == [
            str(version - 3 + number) for number in range(4)
        ]
        again = await case.batch(*items)
        assert again[2] == results[2]
        assert [result.get("duplicate") for result in again] == [True, True, None, True, True]
    assert await case.version() == version
    await case.is_sound()


async def test_a_place_in_an_item_is_told_from_the_item_on(case: Case) -> None:
    good = case.untokened(case.a, "STEP_STARTED")
    results = await case.batch(good, {**good, "progress": {"current": -1}})
    assert results[1]["errors"][0]["pointer"] == "/progress/current"


async def test_the_same_event_twice_in_one_batch_is_one_change(case: Case) -> None:
    event = case.untokened(case.a, "STEP_STARTED")
    results = await case.batch(event, event, event)
    assert [result["duplicate"] for result in results] == [False, True, True]
    assert {result["taskVersion"] for result in results} == {"2"}
    await case.is_sound()


async def test_of_two_events_with_one_id_in_a_batch_the_first_stands(case: Case) -> None:
    event = case.untokened(case.a, "STEP_PROGRESS", message="one")
    results = await case.batch(event, {**event, "message": "two"}, event)
    assert [result["status"] for result in results] == [200, 409, 200]
    assert results[1]["code"] == "EVENT_ID_CONFLICT"
    assert results[2]["duplicate"] is True
    assert (await case.step())["message"] == "one"


async def test_two_events_with_one_sequence_in_a_batch_are_a_conflict(case: Case) -> None:
    event = case.untokened(case.a, "STEP_STARTED")
    results = await case.batch(event, {**event, "eventId": "other", "eventType": "STEP_PROGRESS"})
    assert [result.get("code") for result in results] == [None, "SOURCE_SEQ_CONFLICT"]


async def test_contradicting_ends_in_one_batch_leave_the_first(case: Case) -> None:
    done = case.untokened(case.a, "STEP_COMPLETED", durationMs=1)
    failed = case.untokened(case.a, "STEP_FAILED", error={"category": "SYSTEM", "code": "E"})
    results = await case.batch(done, failed)
    assert [result.get("code") for result in results] == [None, "CONFLICTING_TERMINAL"]
    assert (await case.step())["lifecycleStatus"] == "SUCCEEDED"
    await case.is_sound()


async def test_what_a_refused_item_said_can_be_said_again_rightly(case: Case) -> None:
    event = case.untokened(case.a, "STEP_STARTED")
    results = await case.batch({**event, "producerId": "p2"}, event)
    assert [result["status"] for result in results] == [403, 200]


async def test_facts_of_steps_tasks_and_heartbeats_go_into_one_batch(case: Case) -> None:
    started = case.untokened(case.a, "STEP_STARTED")
    with_token = {**case.b.event("STEP_STARTED"), "executionToken": case.b.context["executionToken"]}
    beat = {name: value for name, value in started.items() if name not in ("eventId", "sourceSeq", "occurredAt")}
    results = await case.batch(started, {**beat, "eventType": "STEP_HEARTBEAT"}, with_token)
    assert [result["status"] for result in results] == [200, 200, 200]
    assert "stepId" in results[1]
    assert await case.version() == 3


async def test_five_hundred_items_are_taken_and_one_more_is_too_many(case: Case) -> None:
    items = [case.untokened(case.a, "STEP_PROGRESS", stage=f"s{number}") for number in range(501)]
    answer = await case.raw(json.dumps({"events": items}), case.worker, BATCH)
    assert (answer.status_code, answer.json()["code"]) == (413, "TOO_LARGE")
    assert answer.json()["errors"][0]["pointer"] == "/events"
    assert await case.version() == 1
    results = await case.batch(*items[:500])
    assert {result["status"] for result in results} == {200}
    assert [result["taskVersion"] for result in results] == [str(number + 2) for number in range(500)]


async def test_a_batch_is_limited_in_bytes_and_nothing_of_a_larger_one_is_done(case: Case) -> None:
    event = case.untokened(case.a, "STEP_STARTED")
    body = json.dumps({"events": [event]}).encode()
    answer = await case.raw(body + b" " * (4 * 1024 * 1024 + 1 - len(body)), case.worker, BATCH)
    assert (answer.status_code, answer.json()["code"]) == (413, "TOO_LARGE")
    assert await case.version() == 1
    answer = await case.raw(body + b" " * (4 * 1024 * 1024 - len(body)), case.worker, BATCH)
    assert answer.json()["results"][0]["accepted"] is True


@pytest.mark.parametrize(
    "body", ["[]", "null", "1", '"x"', "{}", '{"events":{}}', '{"events":null}', '{"events":[],"x":1}', '{"Events":[]}']
)
async def test_a_body_that_is_no_batch_is_refused_whole(case: Case, body: str) -> None:
    answer = await case.raw(body, case.worker, BATCH)
    assert (answer.status_code, answer.json()["code"]) == (422, "FIELD_INVALID")
    assert answer.json()["errors"][0]["pointer"] == "/events"


async def test_a_doubled_list_of_events_is_refused_whole(case: Case) -> None:
    event = json.dumps(case.untokened(case.a, "STEP_STARTED"))
    answer = await case.raw(f'{{"events":[{event}],"events":[]}}', case.worker, BATCH)
    assert (answer.status_code, answer.json()["code"]) == (422, "DUPLICATE_KEY")
    assert answer.json()["errors"][0]["pointer"] == "/events"
    assert await case.version() == 1


@pytest.mark.parametrize("tail", ["x", "\x00", "{}", ",", "]"])
async def test_a_batch_with_rubbish_behind_it_is_refused_whole(case: Case, tail: str) -> None:
    event = json.dumps(case.untokened(case.a, "STEP_STARTED"))
    answer = await case.raw(f'{{"events":[{event}]}}{tail}', case.worker, BATCH)
    assert (answer.status_code, answer.json()["code"]) == (400, "JSON_INVALID")
    assert await case.version() == 1


async def test_an_empty_batch_has_no_results(case: Case) -> None:
    assert await case.batch() == []


async def test_a_batch_in_many_tasks_keeps_the_order_of_each(case: Case) -> None:
    made = [await create(case.stand, case.coordinator, (f"s{number}", "OP", "p1")) for number in range(5)]
    steps = [Reported(case.stand, one["contexts"][0]) for one in made]
    items: list[Any] = [case.untokened(step, "STEP_STARTED") for step in steps]
    items += [case.untokened(step, "STEP_COMPLETED", durationMs=number) for number, step in enumerate(steps)]
    items[3] = "null"
    results = await case.batch(*items)
    assert [result["status"] for result in results] == [200, 200, 200, 422, 200, 200, 200, 200, 200, 200]
    assert [result["taskVersion"] for result in results if result["status"] == 200] == list("222233323")
    await case.is_sound()
