"""What an event says decides its hash: every spelling of one event is that event, and every other word is another."""

import json
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.domain.facts import Fact
from milepost.wire.events import event_body, fact_of
from milepost.wire.json import parse
from milepost.wire.problems import Rejection
from milepost.wire.texts import MARK
from tests.wire.spelling import spelled

EVENT: dict[str, Any] = {
    "eventId": "e1",
    "taskId": "k1",
    "taskType": "T",
    "taskAttempt": 1,
    "stepId": "s1",
    "operationCode": "OP",
    "stepAttempt": 1,
    "producerId": "p1",
    "sourceSeq": 5,
    "eventType": "STEP_FAILED",
    "occurredAt": "2027-01-15T08:00:00.123Z",
    "durationMs": 1000,
    "progress": {"current": 3, "total": 10, "unit": "page"},
    "message": "café / naïve",
    "error": {"category": "SYSTEM", "code": "E1", "userMessage": "é", "diagnosticsRef": "d1"},
    "data": {"schema": "S1", "value": {"ratio": 0.3, "count": 1, "names": ["a", "b"]}},
}


def fact(event: dict[str, Any] | str, epoch: int | None = 1) -> Fact:
    text = event if isinstance(event, str) else json.dumps(event)
    return fact_of(event_body(parse(text.encode("utf-8", "surrogatepass"))), "t1", epoch, 0, genuine=True)


def hashed(event: dict[str, Any] | str) -> bytes:
    return fact(event).payload_hash


def changed(**more: Any) -> dict[str, Any]:
    return {**EVENT, **more}


def refusal(**more: Any) -> Rejection:
    with pytest.raises(Rejection) as caught:
        fact({name: value for name, value in changed(**more).items() if value is not ...})
    return caught.value


@given(st.randoms(use_true_random=False))
def test_every_spelling_of_an_event_has_one_hash(chance: Random) -> None:
    assert hashed(spelled(EVENT, chance)) == hashed(EVENT)


@pytest.mark.parametrize(
    "more",
    [
        {"sourceSeq": "5"},
        {"sourceSeq": 5.0},
        {"durationMs": 1e3},
        {"occurredAt": "2027-01-15T08:00:00.123000Z"},
        {"occurredAt": "2027-01-15T08:00:00.123999Z"},
        {"occurredAt": "2027-01-15T08:00:00.123999999Z"},
        {"occurredAt": "2027-01-15T08:00:00.123+00:00"},
        {"occurredAt": "2027-01-15T09:30:00.123+01:30"},
        {"occurredAt": "2027-01-15t08:00:00.123z"},
        {
            "stage": None,
            "reason": None,
            "sourceEpoch": None,
            "failedStepId": None,
            "resultRef": None,
            "businessStatus": None,
        },
        {"ageMs": 17, "retryCount": 3, "traceId": "abc", "executionLogUrl": "https://logs/1"},
        {"error": {**EVENT["error"], "retryable": False}},
        {"data": {"value": {"names": ["a", "b"], "count": 1.0, "ratio": 3e-1}, "schema": "S1"}},
        {"progress": {"unit": "page", "total": 10.0, "current": 3e0}},
    ],
    ids=str,
)
def test_the_same_words_in_another_spelling_are_the_same_event(more: dict[str, Any]) -> None:
    assert hashed(changed(**more)) == hashed(EVENT)


@pytest.mark.parametrize(
    "more",
    [
        {"message": "cafe\u0301 / nai\u0308ve"},
        {"message": "café / naïve "},
        {"message": None},
        {"occurredAt": "2027-01-15T08:00:00.124Z"},
        {"occurredAt": "2027-01-15T08:00:00.123+01:00"},
        {"sourceSeq": 6},
        {"eventType": "STEP_COMPLETED"},
        {"durationMs": 1001},
        {"durationSource": "MONOTONIC"},
        {"error": {**EVENT["error"], "retryable": True}},
        {"error": {**EVENT["error"], "diagnosticsRef": "d2"}},
        {"data": {"schema": "S1", "value": {"ratio": 0.3, "count": True, "names": ["a", "b"]}}},
        {"data": {"schema": "S1", "value": {"ratio": 0.3, "count": "1", "names": ["a", "b"]}}},
        {"data": {"schema": "S1", "value": {"ratio": 0.1 + 0.2, "count": 1, "names": ["a", "b"]}}},
        {"data": {"schema": "S1", "value": {"ratio": 0.3, "count": 1, "names": ["b", "a"]}}},
        {"data": {"schema": "S1", "value": {"ratio": 0.3, "count": 1, "names": ["a", "b"], "more": None}}},
        {"data": {"schema": "S2", "value": EVENT["data"]["value"]}},
        {"progress": {"current": 3, "total": 10}},
        {"progress": {"current": 3, "total": 10, "unit": "Page"}},
        {"stage": "now"},
        {"sourceEpoch": 2},
        {"taskId": "K1"},
        {"producerId": "P1"},
    ],
    ids=str,
)
def test_other_words_are_another_event(more: dict[str, Any]) -> None:
    assert hashed(changed(**more)) != hashed(EVENT)


@pytest.mark.accepts("a retry after an outage is the same event, not a conflict")
def test_the_epoch_that_only_the_token_carried_is_no_part_of_what_was_said() -> None:
    assert fact(EVENT, 1).payload_hash == fact(EVENT, 2).payload_hash
    assert fact(EVENT, 2).source_epoch == 2
    assert fact(changed(sourceEpoch=1), 2).source_epoch == 1


def test_when_it_arrived_is_no_part_of_what_was_said() -> None:
    body = event_body(dict(EVENT))
    assert fact_of(body, "t1", 1, 5, genuine=True).payload_hash == fact_of(body, "t1", 1, 9, genuine=False).payload_hash


@pytest.mark.parametrize("name", ["eventId", "occurredAt", "stepId", "operationCode", "stepAttempt", "sourceSeq"])
def test_a_step_fact_without_one_of_its_fields_is_told_which(name: str) -> None:
    rejection = refusal(**{name: ...})
    assert rejection.code == "FIELD_INVALID"
    assert rejection.errors[0].pointer == f"/{name}"


@pytest.mark.parametrize("name", ["taskId", "taskType", "taskAttempt", "eventType"])
def test_an_event_without_one_of_its_fields_is_told_which(name: str) -> None:
    rejection = refusal(**{name: ...})
    assert rejection.code == "FIELD_INVALID"
    assert rejection.errors[0].pointer == f"/{name}"


@pytest.mark.parametrize("name", ["stepId", "operationCode", "stepAttempt", "sourceEpoch"])
def test_a_task_fact_names_no_step(name: str) -> None:
    task_fact = {"stepId": ..., "operationCode": ..., "stepAttempt": ..., "eventType": "TASK_FAILED"}
    assert fact({key: value for key, value in changed(**task_fact).items() if value is not ...})
    rejection = refusal(**{**task_fact, name: EVENT.get(name, 1)})
    assert rejection.errors[0].pointer == f"/{name}"


def test_a_heartbeat_needs_neither_id_nor_sequence() -> None:
    beat = {
        key: value for key, value in EVENT.items() if key not in ("eventId", "sourceSeq", "occurredAt", "error", "data")
    }
    assert event_body({**beat, "eventType": "STEP_HEARTBEAT"}).event_id is None


@pytest.mark.parametrize(
    "event_type", ["STEP_HEALTH_CHANGED", "TASK_CREATED", "TASK_CANCEL_REQUESTED", "step_started", "", "X"]
)
def test_only_reportable_types_are_taken(event_type: str) -> None:
    rejection = refusal(eventType=event_type)
    assert rejection.code == "EVENT_TYPE_UNKNOWN"
    assert rejection.errors[0].pointer == "/eventType"


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), -float("inf"), -5, -1e-9, "50", True, False, None, [1], {"a": 1}], ids=str
)
def test_progress_that_is_no_amount_is_told_so(value: Any) -> None:
    for told in ({"current": value, "total": 10}, {"current": value}):
        rejection = refusal(progress=told)
        assert rejection.code == "PROGRESS_INVALID"
        assert rejection.errors[0].pointer == "/progress/current"


@pytest.mark.parametrize("value", [float("nan"), -1, "9", True, []], ids=str)
def test_a_total_that_is_no_amount_is_told_so(value: Any) -> None:
    rejection = refusal(progress={"current": 1, "total": value})
    assert rejection.code == "PROGRESS_INVALID"
    assert rejection.errors[0].pointer == "/progress/total"


@pytest.mark.parametrize("value", [2**53, 10**30, 1e300])
def test_progress_beyond_what_json_keeps_is_out_of_range(value: float) -> None:
    assert refusal(progress={"current": value}).code == "NUMBER_OUT_OF_RANGE"


@pytest.mark.parametrize("told", [{}, {"total": 3}, {"current": 1, "percent": 50}, [1, 2], "50%", 50])
def test_progress_of_another_shape_is_refused_below_its_place(told: Any) -> None:
    assert refusal(progress=told).errors[0].pointer.startswith("/progress")


def test_progress_is_stored_as_the_number_it_is() -> None:
    for current, kept in ((-0.0, 0), (1e-9, 1e-9), (100.0000001, 100.0000001), (5.0, 5)):
        found = fact(changed(progress={"current": current, "total": 0})).progress
        assert found is not None
        assert (found.current, type(found.current)) == (kept, type(kept))
        assert 0 <= found.fraction <= 1


@pytest.mark.parametrize(
    "more, pointer",
    [
        ({"sourceSeq": 0}, "/sourceSeq"),
        ({"sourceSeq": -1}, "/sourceSeq"),
        ({"sourceSeq": 1.5}, "/sourceSeq"),
        ({"sourceSeq": True}, "/sourceSeq"),
        ({"sourceSeq": "05"}, "/sourceSeq"),
        ({"sourceSeq": "5\n"}, "/sourceSeq"),
        ({"sourceSeq": "٥"}, "/sourceSeq"),
        ({"sourceSeq": "1" * 17}, "/sourceSeq"),
        ({"taskAttempt": 0}, "/taskAttempt"),
        ({"taskAttempt": "1"}, "/taskAttempt"),
        ({"stepAttempt": 1.5}, "/stepAttempt"),
        ({"durationMs": -1}, "/durationMs"),
        ({"ageMs": -1}, "/ageMs"),
        ({"occurredAt": "yesterday"}, "/occurredAt"),
        ({"occurredAt": "2027-01-15T08:00:00"}, "/occurredAt"),
        ({"occurredAt": 1_800_000_000}, "/occurredAt"),
        ({"occurredAt": "2027-13-15T08:00:00Z"}, "/occurredAt"),
        ({"error": {"category": "OOPS", "code": "x"}}, "/error/category"),
        ({"error": {"category": "SYSTEM"}}, "/error/code"),
        ({"error": "boom"}, "/error"),
        ({"data": {"value": 1}}, "/data/schema"),
        ({"data": {"schema": "S", "value": "x" * 70_000}}, "/data/value"),
        ({"resultRef": {"id": "a/b"}}, "/resultRef/id"),
        ({"unknown": 1}, "/unknown"),
        ({"executionToken": "x"}, "/executionToken"),
        ({"eventId": "a b"}, "/eventId"),
        ({"eventId": "e1\n"}, "/eventId"),
        ({"eventId": ""}, "/eventId"),
        ({"stepId": "s" * 2000}, "/stepId"),
    ],
    ids=lambda item: str(item)[:40],
)
def test_a_field_that_is_not_valid_is_told_with_its_place(more: dict[str, Any], pointer: str) -> None:
    assert refusal(**more).errors[0].pointer == pointer


def test_texts_that_are_too_long_are_cut_and_never_refused() -> None:
    long = "🚀" * 5_000
    told = fact(
        changed(
            message=long,
            stage=long,
            reason=long,
            traceId=long,
            executionLogUrl=long,
            progress={"current": 1, "unit": long},
            error={"category": "SYSTEM", "code": long, "userMessage": long, "diagnosticsRef": long},
            resultRef={"id": "r", "title": long, "mediaType": long},
        )
    )
    assert told.error
    assert told.progress
    assert told.result_ref
    texts = {
        told.message: 2_000,
        told.stage: 200,
        told.error.user_message: 500,
        told.error.code: 128,
        told.result_ref.title: 300,
        told.progress.unit: 64,
    }
    for text, limit in texts.items():
        assert text is not None
        assert len(text) == limit
        assert text.endswith(MARK)
        assert set(text[: -len(MARK)]) == {"🚀"}


def test_what_a_text_says_beyond_the_cut_makes_no_other_event() -> None:
    assert hashed(changed(message="x" * 3_000)) == hashed(changed(message="x" * 4_000))


@pytest.mark.parametrize(
    "year", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59.999-14:00", "1969-12-31T23:59:59.999Z"]
)
def test_an_implausible_time_is_kept(year: str) -> None:
    assert isinstance(fact(changed(occurredAt=year)).occurred_at, int)
