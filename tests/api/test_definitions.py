"""Definitions over HTTP: published once, in force for what is made from then on, shown by whitelist."""

import json
from typing import Any

import pytest

from tests.parts.documents import document
from tests.parts.publishing import publish, published
from tests.parts.reports import Reported, create
from tests.parts.stand import Stand

PARSE = ("02_parse", "DOCUMENT.PARSE", "document-parser")
INDEX = ("03_index", "DOCUMENT.INDEX", "indexer")
PARSED = {"schema": "document.parsed.v1", "value": {"pages": 3, "customer": {"name": "Ann", "mail": "ann@example.org"}}}


async def made(service: Stand, *steps: tuple[str, str, str], **more: Any) -> tuple[dict[str, Any], list[Reported], str]:
    """A task under the full document: its answer, its reporters and its coordinator's secret."""
    boss = await service.credential("boss", "coordinate", "report")
    task = await create(service, boss, *(steps or (PARSE, INDEX)), **more)
    return task, [Reported(service, context) for context in task["contexts"]], boss


def fact(task: dict[str, Any], event_type: str, event_id: str, **more: Any) -> dict[str, Any]:
    told = {"taskId": task["task"]["id"], "taskType": "DOCUMENT_PROCESS", "taskAttempt": 1, "producerId": "boss"}
    return {**told, "eventType": event_type, "eventId": event_id, "occurredAt": "2027-01-15T08:00:00Z", **more}


async def detail(service: Stand, task: dict[str, Any], user: str = "u1") -> dict[str, Any]:
    response = await service.get(f"/api/tasks/{task['task']['id']}", await service.session(user))
    assert response.status_code == 200, response.text
    return response.json()


async def test_a_document_is_published_once_and_again_answers_the_same(service: Stand):
    first = await publish(service, document())
    again = await publish(service, dict(reversed(list(document().items()))))
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["published"] == again.json()["published"]
    assert (first.json()["changes"], first.json()["warnings"]) == ([], [])
    told = first.json()["published"]
    assert (told["tenantId"], told["product"], told["version"], told["publishedBy"]) == ("t1", None, 1, "publisher")


async def test_a_faulty_document_is_refused_with_every_fault_and_its_place(service: Stand):
    response = await publish(service, document(taskTipe="x", version="1", progressMode="FAST"))
    assert (response.status_code, response.json()["code"]) == (422, "DEFINITION_INVALID")
    assert {error["pointer"] for error in response.json()["errors"]} == {"/taskTipe", "/version", "/progressMode"}
    assert "did you mean taskType?" in response.text
    assert (await service.get("/internal/v1/definitions", await service.credential("p", "definitions"))).json() == {
        "items": []
    }


@pytest.mark.parametrize("body", [[], "x", 1])
async def test_what_is_no_document_is_refused(service: Stand, body: Any):
    assert (await publish(service, body)).status_code == 422


async def test_a_published_version_never_changes_and_the_next_must_be_higher(service: Stand):
    await published(service, document(version=5))
    for version in (5, 4):
        response = await publish(service, document(version=version, displayName="Another"))
        assert (response.status_code, response.json()["code"]) == (409, "VERSION_CONFLICT")
    answer = await published(service, document(version=7, displayName="Another"))
    assert [change["what"] for change in answer["changes"]] == ["displayName changed"]


async def test_a_schema_keeps_its_meaning_under_its_name(service: Stand):
    await published(service, document())
    said = document(version=2)
    said["schemas"][0]["schema"]["required"] = ["pages", "checksum"]
    response = await publish(service, said)
    assert (response.status_code, response.json()["code"]) == (422, "DEFINITION_INVALID")
    (error,) = response.json()["errors"]
    assert error["pointer"] == "/schemas/0/schema/required"
    said["schemas"][0]["name"] = "document.parsed.v3"
    said["operations"][0]["allowedDataSchemas"]["STEP_COMPLETED"] = ["document.parsed.v2", "document.parsed.v3"]
    assert (await publish(service, said)).status_code == 201


async def test_publishing_takes_the_right_and_is_audited(service: Stand):
    secret = await service.credential("someone", "report", "coordinate")
    response = await service.put("/internal/v1/definitions", secret, document())
    assert (response.status_code, response.json()["code"]) == (403, "FORBIDDEN")
    assert (await service.get("/internal/v1/definitions", secret)).status_code == 403
    told = await published(service, document())
    operator = await service.session("root", roles=("operator",))
    items = (await service.get("/admin/v1/audit", operator)).json()["items"]
    (entry,) = [item for item in items if item["action"] == "definition.published"]
    assert (entry["actor"], entry["subject"]) == ("publisher", "DOCUMENT_PROCESS")
    assert entry["detail"]["definitionId"] == told["published"]["definitionId"]


async def test_a_tenant_sees_its_own_and_the_default_definitions_and_never_those_of_others(service: Stand):
    await published(service, document(taskType="EVERYWHERE"), tenant=None)
    await published(service, document(taskType="OWN"))
    await published(service, document(taskType="FOREIGN"), tenant="t2")
    secret = await service.credential("p", "definitions")
    items = (await service.get("/internal/v1/definitions", secret)).json()["items"]
    assert [(item["taskType"], item["tenantId"]) for item in items] == [("EVERYWHERE", None), ("OWN", "t1")]
    assert all(item["document"] is None for item in items)
    (one,) = (await service.get("/internal/v1/definitions?taskType=OWN&version=1", secret)).json()["items"]
    assert one["document"] == document(taskType="OWN")


@pytest.mark.accepts("new definitions never change old tasks")
async def test_a_task_is_made_under_the_newest_enabled_version_and_never_drifts(service: Stand):
    before, _, _ = await made(service, taskType="LATER")
    await published(service, document(taskType="LATER", version=1))
    first, reporters, _ = await made(service, taskType="LATER")
    second = document(taskType="LATER", version=2)
    second["operations"][0]["allowedEventTypes"] = ["STEP_COMPLETED", "STEP_FAILED"]
    await published(service, second)
    await published(service, document(taskType="LATER", version=3, enabled=False))
    newer, newest, _ = await made(service, taskType="LATER")
    versions = [task["task"]["statusDefinitionVersion"] for task in (before, first, newer)]
    assert versions == [1, 1, 2]
    assert [task["task"]["operationDefinitionVersion"] for task in (before, first, newer)] == versions
    assert (await reporters[0].report("STEP_STARTED", businessStatus="READING"))["status_code"] == 200
    refused = await newest[0].report("STEP_STARTED", eventId="n1")
    assert (refused["status_code"], refused["code"]) == (403, "CONTEXT_MISMATCH")
    generic = await Reported(service, before["contexts"][0]).report(
        "STEP_STARTED", businessStatus="READING", eventId="g1"
    )
    assert (generic["status_code"], generic["code"]) == (422, "BUSINESS_STATUS_UNKNOWN")


async def test_a_creation_may_name_a_version_that_is_there(service: Stand):
    await published(service, document(version=1))
    await published(service, document(version=2))
    task, _, boss = await made(service, operationDefinitionVersion=1)
    assert task["task"]["statusDefinitionVersion"] == 1
    body = {"tenantId": "t1", "ownerId": "u1", "taskType": "DOCUMENT_PROCESS", "title": "x"}
    for more in ({"statusDefinitionVersion": 3}, {"statusDefinitionVersion": 1, "operationDefinitionVersion": 2}):
        response = await service.post("/internal/v1/tasks", boss, body | more)
        assert (response.status_code, response.json()["code"]) == (422, "FIELD_INVALID")


async def test_a_line_of_its_own_takes_over_where_it_begins(service: Stand):
    await published(service, document(version=1), tenant=None)
    task, _, _ = await made(service)
    response = await publish(service, document(version=1))
    assert (response.status_code, response.json()["code"]) == (409, "VERSION_CONFLICT")
    await published(service, document(version=2, displayName="Of our own"))
    await published(service, document(version=3, product="shop"))
    await published(service, document(version=2, displayName="Everybody's second"), tenant=None)
    own, _, _ = await made(service)
    shop, _, _ = await made(service, product="shop")
    assert [one["task"]["statusDefinitionVersion"] for one in (task, own, shop)] == [1, 2, 3]
    ann = await service.session("u1")
    for version, name in ((1, "Document"), (2, "Of our own")):
        shown = await service.get(f"/api/definitions/DOCUMENT_PROCESS?version={version}", ann)
        assert shown.json()["displayName"]["default"] == name


async def test_unknown_operations_and_producers_make_no_task(service: Stand):
    await published(service, document())
    boss = await service.credential("boss", "coordinate")
    body = {"tenantId": "t1", "ownerId": "u1", "taskType": "DOCUMENT_PROCESS", "title": "x"}
    for step, status, code, pointer in (
        (("s", "DOCUMENT.PARS", "document-x"), 422, "OPERATION_UNKNOWN", "/steps/0/operationCode"),
        (("s", "DOCUMENT.FAX", "document-x"), 422, "OPERATION_UNKNOWN", "/steps/0/operationCode"),
        (("s", "DOCUMENT.PARSE", "other"), 403, "CONTEXT_MISMATCH", "/steps/0/producerId"),
    ):
        plan = dict(zip(("stepId", "operationCode", "producerId"), step, strict=True))
        response = await service.post("/internal/v1/tasks", boss, body | {"steps": [plan]})
        assert (response.status_code, response.json()["code"]) == (status, code)
        assert response.json()["errors"][0]["pointer"] == pointer


async def test_a_context_carries_the_limits_and_event_types_of_its_operation(service: Stand):
    told = await published(service, document())
    task, _, _ = await made(service)
    parse, index = task["contexts"]
    assert parse["allowedEventTypes"] == [
        "STEP_STARTED",
        "STEP_PROGRESS",
        "STEP_COMPLETED",
        "STEP_FAILED",
        "STEP_TIMED_OUT",
        "STEP_HEARTBEAT",
    ]
    assert "STEP_CANCELLED" in index["allowedEventTypes"]
    assert (parse["heartbeatIntervalMs"], index["heartbeatIntervalMs"]) == (5_000, 10_000)
    assert parse["definitionId"] == told["published"]["definitionId"]


@pytest.mark.accepts("only registered schemas; an unknown one never touches state")
async def test_data_is_taken_only_under_a_registered_schema(service: Stand):
    await published(service, document())
    task, (parse, index), _ = await made(service)
    for reporter, event, data in (
        (parse, "STEP_COMPLETED", {"schema": "document.unheard.v1", "value": {}}),
        (parse, "STEP_COMPLETED", {"schema": "document.summary.v1", "value": {}}),
        (parse, "STEP_STARTED", PARSED),
        (index, "STEP_COMPLETED", PARSED),
    ):
        answer = await reporter.report(event, data=data)
        assert (answer["status_code"], answer["code"]) == (422, "SCHEMA_UNKNOWN")
        assert answer["errors"][0]["pointer"] == "/data/schema"
    shown = await detail(service, task)
    assert (shown["task"]["version"], shown["task"]["lifecycleStatus"]) == ("1", "PENDING")


@pytest.mark.accepts("only registered schemas; an unknown one never touches state")
async def test_invalid_data_is_refused_with_its_places_and_touches_nothing(service: Stand):
    await published(service, document())
    task, (parse, _), _ = await made(service)
    value = {"pages": 0, "customer": {"mail": "hunter2"}}
    answer = await parse.report("STEP_COMPLETED", data={"schema": "document.parsed.v1", "value": value})
    assert (answer["status_code"], answer["code"]) == (422, "DATA_INVALID")
    pointers = {error["pointer"] for error in answer["errors"]}
    assert pointers == {"/data/value/pages", "/data/value/customer/mail"}
    assert "hunter2" not in json.dumps(answer)
    large = {"schema": "document.parsed.v1", "value": {"pages": 1, "checksum": "x" * 5_000}}
    answer = await parse.report("STEP_COMPLETED", data=large)
    assert (answer["status_code"], answer["code"]) == (413, "TOO_LARGE")
    assert (await detail(service, task))["task"]["version"] == "1"
    bare = await parse.report("STEP_COMPLETED")
    assert bare["accepted"]


@pytest.mark.accepts("projections obey their whitelist")
async def test_nothing_that_is_sensitive_or_not_named_leaves_in_any_projection(service: Stand):
    await published(service, document())
    task, (parse, _), boss = await made(service)
    value = {"pages": 3, "checksum": "hunter1", "customer": {"name": "Ann", "mail": "hunter2@x.org"}, "more": "hunter3"}
    said = {"schema": "document.parsed.v1", "value": value | {"tables": [{"rows": 2, "name": "hunter4"}]}}
    assert (await parse.report("STEP_COMPLETED", data=said))["accepted"]
    expected = {"pages": 3, "customer": {"name": "Ann"}, "tables": [{"rows": 2}]}
    shown = await detail(service, task)
    assert shown["steps"][0]["data"] == {"schema": "document.parsed.v1", "value": expected}
    ann = await service.session("u1")
    line = await service.get(f"/api/tasks/{task['task']['id']}/events", ann)
    assert line.json()["items"][-1]["data"]["value"] == expected
    texts = [
        json.dumps(shown),
        line.text,
        (await service.get("/api/tasks", ann)).text,
        (await service.get(f"/internal/v1/tasks/{task['task']['id']}", boss)).text,
        (
            await service.post("/api/tasks/status:batchGet", ann, {"taskIds": [task["task"]["id"]], "view": "detail"})
        ).text,
    ]
    assert [text for text in texts if "hunter" in text] == []


@pytest.mark.accepts("projections obey their whitelist")
async def test_a_summary_is_shown_to_each_audience_by_its_own_whitelist(service: Stand):
    await published(service, document())
    task, _, boss = await made(
        service,
        projectId="p1",
        summaryData={"schema": "document.summary.v1", "value": {"pages": 1, "folder": "hunter"}},
    )
    data = {"schema": "document.summary.v1", "value": {"pages": 3, "language": "de", "folder": "hunter"}}
    answer = await service.post("/internal/v1/task-events", boss, fact(task, "TASK_STARTED", "e1", data=data))
    assert answer.json()["accepted"], answer.text
    assert (await detail(service, task))["task"]["summaryData"]["value"] == {"pages": 3, "language": "de"}
    (mine,) = (await service.get("/api/tasks", await service.session("u1"))).json()["items"]
    assert mine["summaryData"]["value"] == {"pages": 3}
    (theirs,) = (await service.get("/api/tasks", await service.session("u2", "p1"))).json()["items"]
    assert theirs["summaryData"] is None


async def test_the_data_of_a_creation_is_judged_too(service: Stand):
    await published(service, document())
    boss = await service.credential("boss", "coordinate")
    plan: dict[str, Any] = dict(zip(("stepId", "operationCode", "producerId"), PARSE, strict=True))
    body = {"tenantId": "t1", "ownerId": "u1", "taskType": "DOCUMENT_PROCESS", "title": "x"}
    wrong = {"schema": "document.wanted.v1", "value": {"pages": "many"}}
    response = await service.post("/internal/v1/tasks", boss, body | {"steps": [plan | {"data": wrong}]})
    assert (response.status_code, response.json()["errors"][0]["pointer"]) == (422, "/steps/0/data/value/pages")
    response = await service.post("/internal/v1/tasks", boss, body | {"summaryData": wrong})
    assert (response.status_code, response.json()["errors"][0]["pointer"]) == (422, "/summaryData/schema")
    right = {"schema": "document.wanted.v1", "value": {"pages": 3}}
    response = await service.post("/internal/v1/tasks", boss, body | {"steps": [plan | {"data": right}]})
    assert response.json()["steps"][0]["data"] == right
    task_id = response.json()["task"]["id"]
    more = {"steps": [plan | {"stepId": "04_again", "data": wrong}]}
    added = await service.post(f"/internal/v1/tasks/{task_id}/steps", boss, more)
    assert (added.status_code, added.json()["code"]) == (422, "DATA_INVALID")
    more["steps"][0]["data"] = right
    assert (await service.post(f"/internal/v1/tasks/{task_id}/steps", boss, more)).status_code == 201


async def test_a_batch_judges_each_item_with_and_without_a_token(service: Stand):
    await published(service, document())
    task, (parse, _), boss = await made(service, ("02_parse", "DOCUMENT.PARSE", "document-parser"), INDEX)
    worker = await service.credential("document-parser", "report")
    untokened = parse.event("STEP_COMPLETED", data=PARSED, sourceEpoch=1)
    wrong = untokened | {"eventId": "other", "data": {"schema": "document.parsed.v1", "value": {}}}
    token = parse.context["executionToken"]
    items = [wrong, wrong | {"executionToken": token}, untokened]
    results = (await service.post("/internal/v1/task-events:batch", worker, {"events": items})).json()["results"]
    assert [result["status"] for result in results] == [422, 422, 200]
    assert {result["code"] for result in results[:2]} == {"DATA_INVALID"}
    summary = {"schema": "document.parsed.v1", "value": {"pages": 1}}
    answer = await service.post("/internal/v1/task-events", boss, fact(task, "TASK_COMPLETED", "e9", data=summary))
    assert (answer.status_code, answer.json()["code"]) == (422, "SCHEMA_UNKNOWN")
    unknown = fact({"task": {"id": "nobody"}}, "TASK_COMPLETED", "e9", data=summary)
    assert (await service.post("/internal/v1/task-events", boss, unknown)).json()["code"] == "TASK_UNKNOWN"


async def test_the_same_event_with_data_again_is_a_duplicate(service: Stand):
    await published(service, document())
    _, (parse, _), _ = await made(service)
    event = parse.event("STEP_COMPLETED", data=PARSED)
    first, again = await parse.send(event), await parse.send(event)
    assert (first["accepted"], first["duplicate"], again["duplicate"]) == (True, False, True)
    assert first["taskVersion"] == again["taskVersion"]


async def test_the_roles_that_may_ask_for_a_cancel_are_the_task_types(service: Stand):
    await published(service, document(cancelRoles=["member"]))
    await published(service, document(taskType="STRICT", cancelRoles=[]))
    open_task, _, _ = await made(service, projectId="p1")
    strict, _, _ = await made(service, projectId="p1", taskType="STRICT")
    bob, root = await service.session("bob", "p1"), await service.session("root", roles=("admin",))
    path = "/api/tasks/{}:requestCancel"
    assert (await service.post(path.format(strict["task"]["id"]), bob)).status_code == 403
    assert (await service.post(path.format(strict["task"]["id"]), root)).status_code == 403
    assert (await service.post(path.format(open_task["task"]["id"]), root)).status_code == 403
    assert (await service.post(path.format(open_task["task"]["id"]), bob)).json()["accepted"]
    mine = await service.session("u1")
    assert (await service.post(path.format(strict["task"]["id"]), mine)).json()["accepted"]


async def test_viewers_read_how_a_type_is_worded(service: Stand):
    await published(service, document())
    response = await service.get("/api/definitions/DOCUMENT_PROCESS", await service.session("u1"))
    shown = response.json()
    assert (shown["version"], shown["displayName"]) == (1, {"key": "task.document", "default": "Document"})
    statuses = {status["code"]: status for status in shown["statuses"]}
    assert statuses["READING"] == {
        "code": "READING",
        "displayName": {"key": None, "default": "Reading"},
        "lifecycleStatus": "RUNNING",
        "terminal": False,
        "severity": "INFO",
        "sortOrder": 10,
        "scope": ["task", "step"],
        "color": "progress",
        "icon": "text-scan",
        "texts": {"hint": "reading.hint"},
        "enabled": True,
    }
    assert statuses["UNREADABLE"]["terminal"]
    assert statuses["UNREADABLE"]["color"] == statuses["FAILED"]["color"]
    assert {"PENDING", "SUCCEEDED", "TIMED_OUT", "WAITING_USER_ACTION"} <= statuses.keys()
    assert shown["operations"][0]["expectedDurationMs"] == 90_000
    assert "producerPattern" not in response.text
    assert "schemas" not in response.text


async def test_a_type_nobody_defined_is_worded_by_its_lifecycle(service: Stand):
    ann = await service.session("u1")
    shown = (await service.get("/api/definitions/UNHEARD", ann)).json()
    assert (shown["version"], shown["operations"]) == (1, [])
    assert [status["code"] for status in shown["statuses"]] == [
        "PENDING",
        "RUNNING",
        "WAITING_USER_ACTION",
        "SUCCEEDED",
        "FAILED",
        "CANCELLED",
    ]
    assert (await service.get("/api/definitions/UNHEARD?version=2", ann)).status_code == 404


@pytest.mark.accepts("new definitions never change old tasks")
async def test_the_wording_of_a_task_is_that_of_its_own_definition(service: Stand):
    before, _, _ = await made(service)
    await published(service, document())
    after, _, _ = await made(service)
    ann, bob = await service.session("u1"), await service.session("bob")
    path = "/api/definitions/DOCUMENT_PROCESS?taskId={}"
    old = (await service.get(path.format(before["task"]["id"]), ann)).json()
    new = (await service.get(path.format(after["task"]["id"]), ann)).json()
    assert "READING" not in {status["code"] for status in old["statuses"]}
    assert "READING" in {status["code"] for status in new["statuses"]}
    assert (await service.get(path.format(after["task"]["id"]), bob)).status_code == 404
