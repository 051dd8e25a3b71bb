"""The worked example: three services report on one task while the server is killed in the middle."""

import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.parts.program import Program, program

BOUND = ("taskId", "taskType", "taskAttempt", "stepId", "operationCode", "stepAttempt", "producerId", "sourceEpoch")
SERVICES = (
    ("01_prepare", "DOC.PREPARE", "prepare"),
    ("02_parse", "DOC.PARSE", "parser"),
    ("03_store", "DOC.STORE", "store"),
)
PAGES = 40


def test_three_services_one_total_order_and_the_viewer_ends_right_though_the_server_is_killed(tmp_path: Path) -> None:
    with program(tmp_path, MILEPOST_PROGRESS__MIN_PERCENT="0", MILEPOST_PROGRESS__MIN_INTERVAL="0ms") as server:
        coordinator = server.credential("api", "report,coordinate")
        viewer = server.session("u1")
        made = _create(server, coordinator)
        task_id = made["task"]["id"]
        answers: dict[str, list[dict[str, Any]]] = {}
        workers = [threading.Thread(target=_work, args=(server, context, answers)) for context in made["contexts"]]
        for worker in workers:
            worker.start()
        _until(lambda: sum(map(len, answers.values())) >= PAGES)
        server.kill()
        server.start()
        for worker in workers:
            worker.join(60)
        end = _event(made["contexts"][0], "TASK_COMPLETED", "end", None)
        for name in ("stepId", "operationCode", "stepAttempt", "sourceEpoch"):
            del end[name]
        told = _send(server, coordinator, {**end, "producerId": "api"})
        _judge(server, viewer, task_id, answers, told)


def _judge(
    server: Program, viewer: str, task_id: str, answers: dict[str, list[dict[str, Any]]], told: dict[str, Any]
) -> None:
    assert told["lifecycleStatus"] == "SUCCEEDED"
    total = 3 * (PAGES + 2)
    assert sum(map(len, answers.values())) == total
    versions = sorted(int(answer["taskVersion"]) for mine in answers.values() for answer in mine)
    assert versions == list(range(2, total + 2)), "every accepted fact has a version of its own, without a gap"
    with server.client(viewer) as client:
        shown = client.get(f"/api/tasks/{task_id}").json()
        line = _timeline(client, task_id)
    assert [int(item["taskVersion"]) for item in line] == list(range(1, total + 3))
    assert shown["task"]["lifecycleStatus"] == "SUCCEEDED"
    assert shown["task"]["version"] == str(total + 2)
    assert [step["lifecycleStatus"] for step in shown["steps"]] == ["SUCCEEDED"] * 3
    for step, _, _ in SERVICES:
        assert [int(item["stepVersion"]) for item in line if item["stepId"] == step] == list(range(2, PAGES + 4))


def _timeline(client: httpx.Client, task_id: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    after = "0"
    while after is not None:
        page = client.get(f"/api/tasks/{task_id}/events", params={"afterTaskVersion": after, "limit": "50"}).json()
        items += page["items"]
        after = page["nextAfterTaskVersion"]
    return items


@pytest.mark.accepts("A's sequence never judges B's")
def test_the_second_event_of_one_service_never_makes_the_first_of_another_stale(tmp_path: Path) -> None:
    with program(tmp_path) as server:
        made = _create(server, server.credential("api", "report,coordinate"))
        first, second, _ = made["contexts"]
        for seq, kind in ((1, "STEP_STARTED"), (2, "STEP_COMPLETED")):
            _send(server, first["executionToken"], _event(first, kind, f"a{seq}", seq))
        answer = _send(server, second["executionToken"], _event(second, "STEP_STARTED", "b1", 1))
        assert (answer["accepted"], answer["stale"], answer["taskVersion"]) == (True, False, "4")


def _create(server: Program, coordinator: str) -> dict[str, Any]:
    body = {
        "tenantId": "t1",
        "ownerId": "u1",
        "taskType": "DOCUMENT_PROCESS",
        "title": "contract.pdf",
        "steps": [{"stepId": step, "operationCode": code, "producerId": who} for step, code, who in SERVICES],
    }
    with server.client(coordinator) as client:
        response = client.post("/internal/v1/tasks", json=body)
    assert response.status_code == 201, response.text
    return response.json()


def _work(server: Program, context: dict[str, Any], answers: dict[str, list[dict[str, Any]]]) -> None:
    """Reports a whole step, sending each event until it is answered."""
    step = context["stepId"]
    mine = answers.setdefault(step, [])
    kinds = ["STEP_STARTED", *["STEP_PROGRESS"] * PAGES, "STEP_COMPLETED"]
    for seq, kind in enumerate(kinds, 1):
        event = _event(context, kind, f"{step}.{seq}", seq)
        if kind == "STEP_PROGRESS":
            event["progress"] = {"current": seq - 1, "total": PAGES, "unit": "page"}
        answer = _send(server, context["executionToken"], event)
        # What was committed just before the kill is answered as a duplicate of itself: one change, one version.
        assert answer["accepted"], answer
        mine.append(answer)


def _event(context: dict[str, Any], kind: str, event_id: str, seq: int | None) -> dict[str, Any]:
    said = {**{name: context[name] for name in BOUND}, "eventId": event_id, "eventType": kind}
    return {**said, "sourceSeq": seq, "occurredAt": "2027-01-15T08:00:00.123Z"}


def _send(server: Program, token: str, event: dict[str, Any]) -> dict[str, Any]:
    headers = {"authorization": f"Bearer {token}"}
    for _ in range(600):
        try:
            response = httpx.post(f"{server.url}/internal/v1/task-events", json=event, headers=headers, timeout=10)
        except httpx.TransportError:
            time.sleep(0.05)  # the server is away: what a reporter does is to try again
            continue
        assert response.status_code == 200, response.text
        return response.json()
    raise AssertionError("the server did not come back")


def _until(reached: Any) -> None:
    for _ in range(3_000):
        if reached():
            return
        time.sleep(0.01)
    raise AssertionError("the workers made no progress")
