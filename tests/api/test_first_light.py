"""One task, three services, one total order."""

from tests.parts.reports import Reported, create
from tests.parts.stand import Stand


async def test_three_services_report_and_the_task_ends_as_its_coordinator_says(service: Stand) -> None:
    coordinator = await service.credential("api", "report", "coordinate")
    viewer = await service.session("u1")
    made = await create(
        service, coordinator, ("01_prepare", "DOC.PREPARE", "prepare"), ("02_parse", "DOC.PARSE", "parser")
    )
    task_id = made["task"]["id"]
    prepare, parse = (Reported(service, context) for context in made["contexts"])
    versions = [
        (await prepare.report("STEP_STARTED"))["taskVersion"],
        (await parse.report("STEP_STARTED"))["taskVersion"],
        (await prepare.report("STEP_COMPLETED", durationMs=12))["taskVersion"],
        (await parse.report("STEP_COMPLETED", durationMs=40))["taskVersion"],
    ]
    assert versions == ["2", "3", "4", "5"]
    end = {
        "eventId": "end-1",
        "taskId": task_id,
        "taskType": "DOCUMENT_PROCESS",
        "taskAttempt": 1,
        "producerId": "api",
        "eventType": "TASK_COMPLETED",
        "occurredAt": "2027-01-15T08:00:01Z",
    }
    answer = await service.post("/internal/v1/task-events", coordinator, end)
    assert answer.status_code == 200, answer.text
    assert answer.json()["lifecycleStatus"] == "SUCCEEDED"
    shown = (await service.get(f"/api/tasks/{task_id}", viewer)).json()
    assert shown["task"]["lifecycleStatus"] == "SUCCEEDED"
    assert shown["task"]["progress"]["percent"] == 100
    assert [step["durationMs"] for step in shown["steps"]] == [12, 40]
    listed = (await service.get("/api/tasks", viewer)).json()
    assert [item["id"] for item in listed["items"]] == [task_id]
    timeline = (await service.get(f"/api/tasks/{task_id}/events", viewer)).json()
    assert [item["taskVersion"] for item in timeline["items"]] == ["1", "2", "3", "4", "5", "6"]
    positions = [entry.position for committed in service.heard.committed for entry in committed.entries]
    assert positions == [1, 2, 3, 4, 5, 6]


async def test_a_credential_says_by_itself_who_reports_a_task_fact(service: Stand) -> None:
    coordinator = await service.credential("api", "report", "coordinate")
    other = await service.credential("other", "report", "coordinate")
    made = await create(service, coordinator, ("01_prepare", "DOC.PREPARE", "prepare"))
    end = {
        "eventId": "end-1",
        "taskId": made["task"]["id"],
        "taskType": "DOCUMENT_PROCESS",
        "taskAttempt": 1,
        "eventType": "TASK_COMPLETED",
        "occurredAt": "2027-01-15T08:00:01Z",
    }
    assert (await service.post("/internal/v1/task-events", other, end)).json()["code"] == "CONTEXT_MISMATCH"
    answer = await service.post("/internal/v1/task-events", coordinator, end)
    assert answer.json()["lifecycleStatus"] == "SUCCEEDED"
