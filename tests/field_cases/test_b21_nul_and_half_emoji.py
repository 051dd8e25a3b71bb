"""B21: a NUL byte or half an emoji in an error text loses the final event."""

import json
from typing import Any

import pytest

from tests.field_cases.cases import Case

# As they stand inside a JSON text, and what is left of them.
TEXTS: list[tuple[bytes, str]] = [
    (rb"a\u0000b", "a\ufffdb"),
    (rb"\u0000", "\ufffd"),
    (rb"\ud83d", "\ufffd"),
    (rb"\udc80", "\ufffd"),
    (rb"\ud83d\ud83d\ude00", "\ufffd😀"),
    (rb"\ude00\ud83d", "\ufffd\ufffd"),
    (rb"\ufffe\uffff\ufdd0", "\ufffe\uffff\ufdd0"),
    (rb"\ufeffbom", "\ufeffbom"),
    (b"\xed\xa0\x80raw", "\ufffdraw"),
    (b"\xed\xb0\x80", "\ufffd"),
    (rb"\u202egnp.exe", "\u202egnp.exe"),
    (rb"\u0001\u001b[2J\u007f", "\x01\x1b[2J\x7f"),
    (b"e" + "\u0301".encode() * 1_000, "e" + "\u0301" * 1_000),
    ("\U0010ffff\U000e0001".encode(), "\U0010ffff\U000e0001"),
    (rb"\u2028\u2029\u0085\u000b\u001c", "\u2028\u2029\x85\x0b\x1c"),
]
NOT_UTF8 = [b"\xc0\xaf", b"\xe0\x80\xaf", b"\xff", b"\xe9", b"\xf4\x90\x80\x80", b"\xe2\x82", b"\xf8\x88\x80\x80\x80"]


def failing(case: Case, text: bytes) -> bytes:
    """The failure of step `a` with this text in every place that people read."""
    event = case.a.event(
        "STEP_FAILED",
        message="@",
        stage="@",
        reason="@",
        error={"category": "SYSTEM", "code": "x@", "userMessage": "@", "diagnosticsRef": "@"},
        progress={"current": 1, "total": 2, "unit": "@"},
        traceId="@",
        executionLogUrl="@",
    )
    return json.dumps(event).encode().replace(b"@", text)


async def test_a_failure_with_any_text_is_committed_and_its_text_cleaned(case: Case) -> None:
    for number, (text, left) in enumerate(TEXTS, 2):
        if number > 2:
            await case.stand.put(f"/internal/v1/tasks/{case.task_id}/steps/a/attempts/{number - 1}", case.coordinator)
            fresh = await case.stand.post(f"/internal/v1/tasks/{case.task_id}/steps/a/token", case.coordinator)
            case.a.context, case.a.seq = fresh.json(), 0
        body = failing(case, text)
        answer = await case.raw(body)
        assert answer.status_code == 200, (text, answer.text)
        assert answer.json()["step"]["lifecycleStatus"] == "FAILED"
        found = await case.step()
        cut_unit = left if len(left) <= 64 else left[:51] + "… [truncated]"
        assert found["progress"]["unit"] == cut_unit
        assert found["error"]["userMessage"] == (left if len(left) <= 500 else left[:487] + "… [truncated]")
        assert found["message"] == left
        assert (await case.log())[-1]["message"] == left
        again = await case.raw(body)
        assert again.json() == {**answer.json(), "duplicate": True}
    await case.is_sound()


async def test_cleaned_and_uncleaned_spellings_are_one_event(case: Case) -> None:
    body = failing(case, rb"a\u0000b")
    first = await case.raw(body)
    again = await case.raw(body.replace(rb"\u0000", "\ufffd".encode()))
    assert again.json() == {**first.json(), "duplicate": True}


async def test_five_thousand_combining_marks_are_cut_and_marked(case: Case) -> None:
    answer = await case.raw(failing(case, b"e" + "\u0301".encode() * 5_000))
    assert answer.status_code == 200
    message = (await case.step())["message"]
    assert message == "e" + "\u0301" * 1_986 + "… [truncated]"
    assert len(message) == 2_000


async def test_bytes_that_are_no_text_are_no_json_and_change_nothing(case: Case) -> None:
    for text in NOT_UTF8:
        answer = await case.raw(failing(case, text))
        assert (answer.status_code, answer.json()["code"]) == (400, "JSON_INVALID"), text
    assert await case.version() == 1


@pytest.mark.parametrize(
    "name", ["eventId", "taskId", "stepId", "producerId", "operationCode", "taskType", "failedStepId"]
)
async def test_such_a_text_is_no_id(case: Case, name: str) -> None:
    event = case.a.event("STEP_STARTED")
    for text in (rb"a\u0000b", rb"\ud83d", b"\xed\xa0\x80", rb"a\n", rb"\ufeffa", rb"a\u202e", rb"\u0430"):
        body = json.dumps({**event, name: "@"}).encode().replace(b"@", text)
        answer = await case.raw(body)
        assert (answer.status_code, answer.json()["code"]) == (422, "ID_INVALID"), text
        assert answer.json()["errors"][0]["pointer"] == f"/{name}"


async def test_a_name_that_holds_half_an_emoji_is_told_without_breaking_the_answer(case: Case) -> None:
    plain = json.dumps(case.a.event("STEP_STARTED")).encode()
    for more in (
        rb'"\ud83d":1',
        rb'"\u0000":1',
        rb'"\ud83d":NaN',
        rb'"\ud83d":1,"\ud83d":2',
        rb'"\ud83d":{"\udc00":[NaN]}',
    ):
        answer = await case.raw(plain[:-1] + b"," + more + b"}")
        assert answer.status_code == 422, more
        assert answer.json()["errors"][0]["pointer"].startswith("/\ufffd"), more


async def test_a_title_and_a_cancel_reason_are_cleaned_too(case: Case) -> None:
    body: dict[str, Any] = {"tenantId": "t1", "ownerId": "u1", "taskType": "T", "title": "@", "taskId": "odd"}
    text = json.dumps(body).encode().replace(b"@", rb"\ud83d \u0000 \ud83d\ude00")
    answer = await case.raw(text, case.coordinator, "/internal/v1/tasks")
    assert answer.status_code == 201
    assert answer.json()["task"]["title"] == "\ufffd \ufffd 😀"
    answer = await case.raw(rb'{"reason":"\ud83d\u0000"}', case.viewer, "/api/tasks/odd:requestCancel")
    assert answer.json()["accepted"] is True
    listed = (await case.stand.get("/api/tasks?q=%EF%BF%BD", case.viewer)).json()["items"]
    assert [item["id"] for item in listed] == ["odd"]


async def test_a_search_may_hold_anything(case: Case) -> None:
    for text in ("%00", "%ED%A0%80", "%FF", "%25", "_", "%F0%9F%98%80", "%0A", "%5C", "'%22;--"):
        assert (await case.stand.get(f"/api/tasks?q={text}", case.viewer)).status_code == 200
