"""B18: the same event in another spelling is a false conflict, or another event is missed as one."""

import json
from typing import Any

import pytest

from tests.field_cases.cases import Case

WORDS = "é/naïve 😀"


def said(case: Case) -> dict[str, Any]:
    """A failure that says something in every kind of value."""
    return case.a.event(
        "STEP_FAILED",
        durationMs=1000,
        message=WORDS,
        progress={"current": 0.3, "total": 10, "unit": "page"},
        error={"category": "SYSTEM", "code": "E1", "retryable": True, "userMessage": WORDS},
    )


def spellings(event: dict[str, Any]) -> dict[str, str]:
    """The same event, spelled in many ways."""
    plain = json.dumps(event, ensure_ascii=False)
    return {
        "keys in another order": json.dumps(dict(reversed(event.items()))),
        "spaces": "\n\t " + json.dumps(event, separators=("\r\n,  ", " \t:\n")) + "\r\n",
        "no spaces": json.dumps(event, separators=(",", ":")),
        "1.0": plain.replace('"durationMs": 1000', '"durationMs": 1000.0'),
        "1e0": plain.replace('"durationMs": 1000', '"durationMs": 1E+3'),
        "3e-1": plain.replace('"current": 0.3', '"current": 3e-1'),
        "0.30": plain.replace('"current": 0.3', '"current": 0.3000'),
        "a sequence as text": plain.replace('"sourceSeq": 1', '"sourceSeq": "1"'),
        "escapes": json.dumps(event, ensure_ascii=True),
        "upper escapes": json.dumps(event, ensure_ascii=True).replace("\\ud83d\\ude00", "\\uD83D\\uDE00"),
        "escaped slash": plain.replace("é/n", "é\\/n"),
        "escaped keys": plain.replace('"message"', '"\\u006dessage"'),
        "explicit null": json.dumps({**event, "stage": None, "failedStepId": None, "data": None, "sourceEpoch": None}),
        "microseconds": plain.replace(".123Z", ".123000Z"),
        "more microseconds": plain.replace(".123Z", ".123456Z"),
        "nanoseconds": plain.replace(".123Z", ".123999999Z"),
        "offset of zero": plain.replace(".123Z", ".123+00:00"),
        "another offset": plain.replace("T08:00:00.123Z", "T13:45:00.123+05:45"),
        "delivery": json.dumps({**event, "ageMs": 9, "retryCount": 2, "traceId": "t", "executionLogUrl": "https://x"}),
    }


def others(event: dict[str, Any]) -> dict[str, str]:
    """Other events under the same id."""
    plain = json.dumps(event, ensure_ascii=False)
    return {
        "0.1+0.2": json.dumps({**event, "progress": {**event["progress"], "current": 0.1 + 0.2}}),
        "another number": plain.replace("1000", "1001"),
        "NFD": plain.replace("é", "e\u0301"),
        "one letter's case": plain.replace("naïve", "Naïve"),
        "a space": plain.replace("naïve", "naïve "),
        "a word left out": json.dumps({**event, "message": None}),
        "false for true": plain.replace("true", "false"),
        "a later time": plain.replace(".123Z", ".124Z"),
        "another offset of the same clock": plain.replace(".123Z", ".123+01:00"),
        "another sequence": plain.replace('"sourceSeq": 1', '"sourceSeq": 2'),
        "another end": plain.replace("STEP_FAILED", "STEP_CANCELLED"),
        "an epoch that was not said": json.dumps({**event, "sourceEpoch": 1}),
    }


@pytest.mark.accepts("retry of an eventId changes nothing")
async def test_every_spelling_of_one_event_is_a_duplicate(case: Case) -> None:
    event = said(case)
    first = await case.a.send(event)
    assert first["accepted"] is True
    for name, body in spellings(event).items():
        answer = await case.raw(body)
        assert answer.status_code == 200, (name, answer.text)
        assert answer.json() == {**{k: v for k, v in first.items() if k != "status_code"}, "duplicate": True}, name
    assert await case.version() == 2
    await case.is_sound()


@pytest.mark.accepts("same eventId with other content refused")
async def test_other_words_under_the_same_id_are_a_conflict_each(case: Case) -> None:
    event = said(case)
    await case.a.send(event)
    for name, body in others(event).items():
        answer = await case.raw(body)
        assert (answer.status_code, answer.json()["code"]) == (409, "EVENT_ID_CONFLICT"), name
    assert await case.version() == 2
    assert (await case.step())["message"] == WORDS
    await case.is_sound()


async def test_a_value_of_another_type_is_refused_for_what_it_is(case: Case) -> None:
    event = said(case)
    await case.a.send(event)
    for more, pointer in (
        ({"durationMs": "1000"}, "/durationMs"),
        ({"durationMs": True}, "/durationMs"),
        ({"taskAttempt": "1"}, "/taskAttempt"),
        ({"error": {**event["error"], "retryable": 1}}, "/error/retryable"),
        ({"message": 5}, "/message"),
    ):
        answer = await case.raw(json.dumps({**event, **more}))
        assert answer.status_code == 422, more
        assert answer.json()["errors"][0]["pointer"] == pointer


async def test_a_key_that_stands_twice_is_refused_even_with_equal_values(case: Case) -> None:
    event = said(case)
    plain = json.dumps(event)
    for body, pointer in (
        (plain[:-1] + ', "message": "other"}', "/message"),
        (plain[:-1] + f', "eventId": "{event["eventId"]}"}}', "/eventId"),
        (plain[:-1] + ', "\\u0065ventId": "x"}', "/eventId"),
        (plain.replace('"unit"', '"total": 10, "unit"'), "/progress/total"),
        (plain.replace('"code"', '"code" : "E1", "code"'), "/error/code"),
    ):
        answer = await case.raw(body)
        assert (answer.status_code, answer.json()["code"]) == (422, "DUPLICATE_KEY"), body
        assert answer.json()["errors"][0]["pointer"] == pointer
    assert await case.version() == 1


@pytest.mark.accepts("duplicate returns the first version")
async def test_the_first_answer_is_given_again_though_the_task_went_on(case: Case) -> None:
    event = case.a.event("STEP_STARTED")
    first = await case.a.send(event)
    await case.a.report("STEP_COMPLETED", durationMs=1)
    again = await case.a.send(event)
    assert again == {**first, "duplicate": True}


async def test_the_directives_of_a_repeat_are_those_of_now(case: Case) -> None:
    event = case.a.event("STEP_STARTED")
    first = await case.a.send(event)
    assert first["directives"]["cancelRequested"] is False
    await case.stand.post(f"/api/tasks/{case.task_id}:requestCancel", case.viewer)
    assert (await case.a.send(event))["directives"]["cancelRequested"] is True


async def test_commands_know_their_repeats_by_the_same_rule(case: Case) -> None:
    body = {"tenantId": "t1", "ownerId": "u1", "taskType": "T", "title": WORDS, "steps": [], "projectId": None}
    path = "/internal/v1/tasks"
    first = await case.stand.post(path, case.coordinator, body, idempotency_key="k")
    assert first.status_code == 201
    headers = {"authorization": f"Bearer {case.coordinator}", "idempotency-key": "k"}
    for text in (json.dumps(dict(reversed(body.items())), indent=1), json.dumps({**body, "product": None})):
        again = await case.stand.http.post(path, content=text, headers=headers)
        assert again.status_code == 200
        assert again.json()["task"] == first.json()["task"]
    for more in ({"title": WORDS.replace("é", "e\u0301")}, {"projectId": "p"}, {"ownerId": "U1"}):
        other = await case.stand.http.post(path, content=json.dumps({**body, **more}), headers=headers)
        assert (other.status_code, other.json()["code"]) == (409, "IDEMPOTENCY_KEY_CONFLICT"), more
