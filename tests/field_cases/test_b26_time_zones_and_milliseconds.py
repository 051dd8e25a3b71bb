"""B26: what was stored a moment ago lies outside its own window, and a zone moves instants by hours."""

import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.field_cases.cases import Case
from tests.parts.program import program

FINE = ["59.999600Z", "59.999999999Z", "59.9990001Z", "59.999Z"]


async def test_a_time_is_cut_to_the_millisecond_before_it_is_hashed_and_kept(case: Case) -> None:
    event = case.a.event("STEP_STARTED")
    answers = [await case.a.send({**event, "occurredAt": f"2027-01-15T08:00:{fine}"}) for fine in FINE]
    assert [answer["duplicate"] for answer in answers] == [False, True, True, True]
    assert (await case.log())[-1]["occurredAt"] == "2027-01-15T08:00:59.999Z"


@pytest.mark.parametrize("offset", ["+08:00", "-03:30", "+14:00", "-12:00", "+00:00"])
async def test_an_offset_moves_no_instant_and_makes_no_other_event(case: Case, offset: str) -> None:
    hours, minutes = int(offset[:3]), int(offset[0] + offset[4:])
    day, minute = divmod(8 * 60 + hours * 60 + minutes, 24 * 60)
    local = f"2027-01-{15 + day}T{minute // 60:02}:{minute % 60:02}:59.9996{offset}"
    event = case.a.event("STEP_STARTED", occurredAt="2027-01-15T08:00:59.999Z")
    first = await case.a.send(event)
    assert await case.a.send({**event, "occurredAt": local}) == {**first, "duplicate": True}


async def test_what_was_just_committed_lies_inside_its_own_window(case: Case) -> None:
    case.stand.clock.pass_ms(1)
    await case.a.report("STEP_STARTED")
    updated = (await case.shown())["task"]["updatedAt"]
    assert updated.endswith("Z")
    assert len(updated) == len("2027-01-15T08:00:59.999Z")
    for after, found in ((updated[:-1] + "000Z", False), (_earlier(updated), True)):
        listed = (await case.stand.get(f"/api/tasks?updatedAfter={after}", case.viewer)).json()["items"]
        assert bool(listed) is found, after


def _earlier(text: str) -> str:
    """One millisecond before an instant that is not at a second's edge."""
    thousandths = int(text[20:23])
    assert thousandths > 0
    return f"{text[:20]}{thousandths - 1:03}Z"


def test_the_zone_of_the_machine_changes_between_two_runs_and_nothing_else_does(tmp_path: Path) -> None:
    with program(tmp_path, TZ="Pacific/Kiritimati") as server:
        secret, viewer = server.credential("api", "report,coordinate"), server.session("u1")
        body = {"tenantId": "t1", "taskId": "k", "ownerId": "u1", "taskType": "T", "title": "x"}
        event = {"eventId": "e1", "taskId": "k", "taskType": "T", "taskAttempt": 1, "eventType": "TASK_STARTED"}
        event["occurredAt"] = "2027-01-15T08:00:59.9996Z"
        with server.client(secret) as http:
            assert http.post("/internal/v1/tasks", json=body).status_code == 201
            first = http.post("/internal/v1/task-events", json=event).json()
        before = _shown(server.client(viewer))
        server.stop()
        server.zone("America/Adak")
        server.start()
        with server.client(secret) as http:
            again = http.post("/internal/v1/task-events", json=event).json()
        assert (again["duplicate"], again["taskVersion"]) == (True, first["taskVersion"])
        after = _shown(server.client(viewer))
        for name in ("createdAt", "startedAt", "updatedAt"):
            assert after[name] == before[name]
        now = time.strftime("%Y-%m-%dT%H", time.gmtime())
        assert before["createdAt"][:10] <= now[:10]
        assert 0 <= after["elapsedMs"] < 600_000


def _shown(http: httpx.Client) -> dict[str, Any]:
    """The task, to a viewer whose session was made in the first zone."""
    with http:
        answer = http.get("/api/tasks/k")
    assert answer.status_code == 200, answer.text
    return answer.json()["task"]
