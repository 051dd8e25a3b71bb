"""B42: a line break in data, id or type forges events, and U+2028 breaks good ones; the routes' half of it."""

import json

import pytest

from tests.field_cases.cases import Case

FORGED = [
    'x\n\nevent: task\ndata: {"task_id":"other","status":"SUCCEEDED"}\n\n',
    "x\r\rid: 9\rdata: y\r\r",
    "x\r\n\r\nretry: 1\r\n\r\n",
    "a\u2028b\u2029c\x85d\x0be\x1cf\x1dg\x1eh",
    ":comment\n",
    "\ufeffdata: x\n\n",
    "<img src=x onerror=alert(1)>\"'&",
    "\x1b[2J\x1b]0;title\x07",
]


@pytest.mark.parametrize("text", FORGED, ids=range(len(FORGED)))
@pytest.mark.accepts("no injection by title, message, id or header into page, SSE frame, log or CSV")
async def test_a_text_with_line_breaks_arrives_intact_and_makes_one_change(case: Case, text: str) -> None:
    body = {"tenantId": "t1", "ownerId": "u1", "taskType": "T", "title": text, "taskId": "odd"}
    made = await case.stand.post("/internal/v1/tasks", case.coordinator, body)
    assert made.json()["task"]["title"] == text
    heard = len(case.stand.heard.committed)
    answer = await case.a.report(
        "STEP_FAILED",
        message=text,
        stage=text,
        error={"category": "SYSTEM", "code": f"E{text}", "userMessage": text},
        progress={"current": 1, "unit": text[:64]},
    )
    assert answer["status_code"] == 200
    assert len(case.stand.heard.committed) == heard + 1
    found = await case.step()
    assert (found["message"], found["stage"], found["error"]["userMessage"]) == (text, text, text)
    assert found["error"]["code"] == f"E{text}"
    assert (await case.log())[-1]["stage"] == text
    listed = (await case.stand.get("/api/tasks?limit=1&lifecycleStatus=PENDING", case.viewer)).json()["items"]
    assert [item["title"] for item in listed] == [text]
    await case.is_sound()


@pytest.mark.accepts("no injection by title, message, id or header into page, SSE frame, log or CSV")
async def test_no_id_and_no_type_holds_a_line_break(case: Case) -> None:
    event = case.a.event("STEP_STARTED")
    for name in (
        "eventId",
        "taskId",
        "stepId",
        "producerId",
        "operationCode",
        "taskType",
        "eventType",
        "businessStatus",
    ):
        for text in ("a\nb", "a\r", "\na", "a\u2028", "a\x00", "a\x85b"):
            answer = await case.raw(json.dumps({**event, name: text}))
            assert answer.status_code == 422, (name, text)
            assert answer.json()["errors"][0]["pointer"] == f"/{name}"
    assert await case.version() == 1


@pytest.mark.accepts("no injection by title, message, id or header into page, SSE frame, log or CSV")
async def test_no_header_is_forged_by_what_a_request_says(case: Case) -> None:
    path = f"/api/tasks/{case.task_id}"
    for value in ("x%0d%0aset-cookie:%20a=b", "%0a%0a", "%e2%80%a8"):
        for query in ("cursor", "changedAfter", "lifecycleStatus", "updatedAfter"):
            answer = await case.stand.get(f"/api/tasks?{query}={value}", case.viewer)
            assert answer.status_code == 422, (query, value)
            assert "set-cookie" not in answer.headers
        answer = await case.stand.get(f"{path}/events?afterTaskVersion={value}", case.viewer)
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/query/afterTaskVersion")
