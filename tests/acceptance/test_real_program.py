"""The real program: hostile texts stay inside their log line, merged progress outlives a kill, facts can be traced."""

import json
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from tests.parts.program import Program, program

TEXTS = [
    'x\n{"time":"2027-01-15T08:00:00.000Z","level":"error","logger":"forged","message":"forged"}\n',
    "x\r\nlevel=error forged",
    "\u2028forged\u2029\x85\x0b\x0c\x1c\x1e",
    "\x1b[2J\x1b]0;forged\x07\x9b31m",
    '","level":"error","forged":"',
    "%s %(levelname)s {0} {forged} ${jndi:ldap://forged} \\u000a",
    "\u202egol\u2066",
    "<script>forged</script>",
    "=HYPERLINK(forged)",
]
BOUND = ("taskId", "taskType", "taskAttempt", "stepId", "operationCode", "stepAttempt", "producerId")


def created(server: Program, secret: str, task_id: str, title: str = "a.pdf") -> dict[str, Any]:
    body: dict[str, Any] = {"tenantId": "t1", "taskId": task_id, "ownerId": "u1", "taskType": "DOC", "title": title}
    body["steps"] = [{"stepId": "parse", "operationCode": "DOC.PARSE", "producerId": "parser"}]
    with server.client(secret) as http:
        answer = http.post("/internal/v1/tasks", json=body)
    assert answer.status_code == 201, answer.text
    return answer.json()["contexts"][0]


def told(server: Program, context: dict[str, Any], seq: int, event_type: str, **more: Any) -> httpx.Response:
    event = {name: context[name] for name in BOUND}
    event |= {"eventId": f"{context['taskId']}.{seq}", "eventType": event_type, "sourceSeq": seq}
    event |= {"occurredAt": "2027-01-15T08:00:00.123Z", **more}
    with server.client(context["executionToken"]) as http:
        return http.post("/internal/v1/task-events", json=event)


@pytest.mark.accepts("no injection by title, message, id or header into page, SSE frame, log or CSV")
def test_every_line_of_the_log_is_the_programs_own_whatever_people_say(tmp_path: Path) -> None:
    with program(tmp_path) as server:
        secret, viewer = server.credential("api", "report,coordinate"), server.session("u1")
        for number, text in enumerate(TEXTS):
            context = created(server, secret, f"k{number}", text)
            failure = {"category": "SYSTEM", "code": f"E{text}", "userMessage": text, "diagnosticsRef": text}
            said = {"message": text, "stage": text, "traceId": text, "reason": text, "executionLogUrl": text}
            answer = told(server, context, 1, "STEP_FAILED", error=failure, **said)
            assert answer.status_code == 200, answer.text
            for name in ("eventId", "taskType", "businessStatus", "eventType"):
                refused = told(server, context, 2, "STEP_STARTED", **{name: text})
                assert (refused.status_code, refused.json().get("accepted")) in ((200, False), (422, None))
            _asks_badly(server, viewer, text)
        assert server.stop() == 0
        lines = server.log.split("\n")
        assert lines.pop() == ""
    read = [json.loads(line) for line in lines]
    assert all({"time", "level", "logger", "message"} <= set(line) for line in read)
    assert all(line["logger"].startswith(("milepost", "uvicorn")) for line in read)
    assert all(line.isascii() and line.isprintable() for line in lines)
    failed = [line for line in read if line["message"] == "STEP_FAILED"]
    assert [line["taskId"] for line in failed] == [f"k{number}" for number in range(len(TEXTS))]
    assert all("forged" not in line for line in read), "a text has become a field"


def _asks_badly(server: Program, viewer: str, text: str) -> None:
    """The same text where a proxy or a browser would put it."""
    with server.client(viewer) as http:
        raw = bytes(byte for byte in text.encode() if byte >= 0x20 and byte != 0x7F)
        headers = [(b"user-agent", raw), (b"traceparent", raw), (b"x-request-id", raw), (b"last-event-id", raw)]
        answer = http.get("/api/tasks", params={"q": text}, headers=headers)
        assert answer.status_code in (200, 400), answer.text
        assert not any("forged" in value for value in answer.headers.values())
        missing = http.get("/api/tasks/" + quote(text, safe=""))
        assert missing.status_code == 404
        assert not any("forged" in value for value in missing.headers.values())


@pytest.mark.accepts("a merged progress value becomes visible within its limit even if its replica dies")
def test_progress_that_was_merged_before_a_kill_shows_after_it(tmp_path: Path) -> None:
    with program(tmp_path) as server:
        context, viewer = created(server, server.credential("api", "report,coordinate"), "k"), server.session("u1")
        assert told(server, context, 1, "STEP_PROGRESS", progress={"current": 500, "total": 1_000}).json()["accepted"]
        merged = told(server, context, 2, "STEP_PROGRESS", progress={"current": 501, "total": 1_000})
        assert merged.json()["merged"] is True
        server.kill()
        server.start()
        began = time.monotonic()
        shown: Any = None
        with server.client(viewer) as http:
            # The generic type's limit is two seconds; the rest is what a busy machine may take.
            while shown != 501 and time.monotonic() - began < 10:
                shown = http.get("/api/tasks/k").json()["steps"][0]["progress"]["current"]
        assert shown == 501


@pytest.mark.accepts("from an eventId to its version and outbox row")
@pytest.mark.accepts("commit-to-visible measured")
def test_an_event_is_found_by_its_id_in_log_timeline_and_stream_and_its_way_is_timed(tmp_path: Path) -> None:
    with program(tmp_path) as server:
        secret, viewer = server.credential("api", "report,coordinate"), server.session("u1")
        context = created(server, secret, "k")
        before = httpx.get(f"{server.url}/api/tasks", headers={"authorization": f"Bearer {viewer}"}).json()
        version = told(server, context, 1, "STEP_COMPLETED", traceId="trace-7").json()["taskVersion"]
        with server.client(viewer) as http:
            timeline = http.get("/api/tasks/k/events").json()["items"]
            with http.stream("GET", "/api/tasks/k/stream", headers={"last-event-id": before["streamCursor"]}) as pushed:
                data = next(line for line in pushed.iter_lines() if line.startswith("data:") and "k.1" in line)
        with server.client(secret) as http:
            metrics = http.get("/metrics")
        server.stop()
        (line,) = [read for read in map(json.loads, server.log.splitlines()) if read.get("eventId") == "k.1"]
    assert (str(line["taskVersion"]), line["traceId"]) == (version, "trace-7")
    assert [item["taskVersion"] for item in timeline if item["eventId"] == "k.1"] == [version]
    message = json.loads(data.removeprefix("data:"))
    assert (message["version"], message["triggerEvent"]["eventId"]) == (version, "k.1")
    assert int(message["position"]) > int(before["streamCursor"].rpartition(":")[2])
    assert metrics.status_code == 200
    assert "state_commit_to_publish_seconds_count 2.0" in metrics.text
    assert "task_sync_lag_seconds_count" in metrics.text
