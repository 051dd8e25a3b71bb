"""B23: two ids that differ only by case, accent, trailing space or emoji are one row."""

import json
from urllib.parse import quote

from tests.field_cases.cases import Case

PLAN = "/internal/v1/tasks"
BODY = {"tenantId": "t1", "ownerId": "u1", "taskType": "T", "title": "x"}
DISTINCT = [
    "abc",
    "ABC",
    "Abc",
    "abc.",
    "abc-",
    "abc~",
    "abc~20",
    "abc~e0",
    "~abc",
    "00abc",
    "0abc",
    "abc~7c",
    "abc~7C",
]
REFUSED = [
    "abc ",
    " abc",
    "àbc",
    "a\u0300bc",
    "😀",
    "🚀",
    "abc\n",
    "abc\t",
    "ａｂｃ",
    "abc/",
    "abc:1",
    "a|b",
    "abс",
    "",
    "a\u200bbc",
]


async def test_ids_that_differ_in_any_byte_are_different_tasks(case: Case) -> None:
    for task_id in DISTINCT:
        answer = await case.stand.post(
            PLAN, case.coordinator, {**BODY, "taskId": task_id, "title": f"title of {task_id}"}
        )
        assert answer.status_code == 201, task_id
    for task_id in DISTINCT:
        found = (await case.stand.get(f"/api/tasks/{task_id}", case.viewer)).json()["task"]
        assert (found["id"], found["title"]) == (task_id, f"title of {task_id}")
    body = {"taskIds": [*DISTINCT, "aBC"]}
    found = (await case.stand.post("/api/tasks/status:batchGet", case.viewer, body)).json()
    assert sorted(item["id"] for item in found["items"]) == sorted(DISTINCT)
    assert found["gone"] == ["aBC"]


async def test_what_is_outside_the_charset_is_refused_at_the_edge_in_every_place(case: Case) -> None:
    for text in REFUSED:
        for name in ("taskId", "tenantId", "ownerId", "projectId", "product", "taskType"):
            answer = await case.stand.post(PLAN, case.coordinator, {**BODY, name: text})
            assert (answer.status_code, answer.json()["code"]) == (422, "ID_INVALID"), (name, text)
            assert answer.json()["errors"][0]["pointer"] == f"/{name}"
        for name in ("stepId", "operationCode", "producerId"):
            step = {"stepId": "s", "operationCode": "O", "producerId": "p", name: text}
            answer = await case.stand.post(PLAN, case.coordinator, {**BODY, "steps": [step]})
            assert (answer.status_code, answer.json()["code"]) == (422, "ID_INVALID"), (name, text)
            assert answer.json()["errors"][0]["pointer"] == f"/steps/0/{name}"
        answer = await case.a.send({**case.a.event("STEP_STARTED"), "eventId": text})
        assert (answer["status_code"], answer["code"]) == (422, "ID_INVALID"), text
    assert await case.version() == 1


async def test_event_ids_that_differ_by_case_are_two_events(case: Case) -> None:
    for number, event_id in enumerate(["Evt-A", "evt-a", "EVT-A", "evt-a.", "evt-a~"]):
        answer = await case.a.report("STEP_PROGRESS", eventId=event_id, stage=f"s{number}")
        assert (answer["accepted"], answer["duplicate"]) == (True, False), event_id
    assert await case.version() == 6
    await case.is_sound()


async def test_a_producer_of_another_case_is_another_producer(case: Case) -> None:
    answer = await case.a.send({**case.a.event("STEP_STARTED"), "producerId": "P1"})
    assert (answer["status_code"], answer["code"]) == (403, "CONTEXT_MISMATCH")
    assert answer["errors"][0]["pointer"] == "/producerId"
    other = await case.stand.credential("P1", "report")
    item = json.dumps({"events": [{**case.untokened(case.a, "STEP_STARTED"), "producerId": "P1"}]})
    answer = await case.raw(item, other, "/internal/v1/task-events:batch")
    assert answer.json()["results"][0]["code"] == "CONTEXT_MISMATCH"
    fresh = await case.stand.post(f"{PLAN}/{case.task_id}/steps/a/token", other)
    assert (fresh.status_code, fresh.json()["code"]) == (403, "CONTEXT_MISMATCH")


async def test_steps_that_differ_by_case_are_two_steps_and_equal_ones_are_refused(case: Case) -> None:
    steps = [{"stepId": name, "operationCode": "O", "producerId": "p"} for name in ("s", "S")]
    made = await case.stand.post(PLAN, case.coordinator, {**BODY, "steps": steps})
    assert [step["id"] for step in made.json()["steps"]] == ["s", "S"]
    answer = await case.stand.post(PLAN, case.coordinator, {**BODY, "steps": [*steps, steps[0]]})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/steps/2/stepId")


async def test_tenants_that_differ_by_case_never_meet(case: Case) -> None:
    secrets = {
        name: await case.stand.credential("api", "report", "coordinate", tenant=name) for name in ("acme", "ACME")
    }
    viewers = {name: await case.stand.session("u1", tenant=name) for name in ("acme", "ACME")}
    body = {**BODY, "taskId": "same"}
    for name, secret in secrets.items():
        answer = await case.stand.post(PLAN, secret, {**body, "tenantId": name, "title": name}, idempotency_key="k")
        assert answer.status_code == 201, answer.text
        other = "ACME" if name == "acme" else "acme"
        crossed = await case.stand.post(PLAN, secret, {**body, "tenantId": other})
        assert (crossed.status_code, crossed.json()["code"]) == (403, "FORBIDDEN")
    for name, viewer in viewers.items():
        assert (await case.stand.get("/api/tasks/same", viewer)).json()["task"]["title"] == name
        listed = (await case.stand.get("/api/tasks", viewer)).json()["items"]
        assert [item["tenantId"] for item in listed] == [name]
    fact = {
        "eventId": "e1",
        "taskId": "same",
        "taskType": "T",
        "taskAttempt": 1,
        "producerId": "api",
        "eventType": "TASK_COMPLETED",
        "occurredAt": "2027-01-15T08:00:00Z",
    }
    for secret in secrets.values():
        answer = (await case.stand.post("/internal/v1/task-events", secret, fact)).json()
        assert (answer["accepted"], answer["duplicate"]) == (True, False)


async def test_owners_and_projects_that_differ_by_case_see_their_own(case: Case) -> None:
    await case.stand.post(PLAN, case.coordinator, {**BODY, "taskId": "up", "ownerId": "U1", "projectId": "P"})
    await case.stand.post(PLAN, case.coordinator, {**BODY, "taskId": "low", "ownerId": "u9", "projectId": "p"})
    for session, seen in (
        (await case.stand.session("U1"), ["up"]),
        (await case.stand.session("x", "p"), ["low"]),
        (await case.stand.session("x", "P"), ["up"]),
        (await case.stand.session("X"), []),
    ):
        listed = (await case.stand.get("/api/tasks", session)).json()["items"]
        assert [item["id"] for item in listed] == seen


async def test_a_path_with_what_is_no_id_leads_nowhere(case: Case) -> None:
    for text in (*REFUSED[:-2], "a\x00b", "..", "%", "a%00", "K" * 129, "K" * 10_000):
        path = quote(text, safe="") or "%20"
        for where in (f"/api/tasks/{path}", f"/api/tasks/{path}/events"):
            assert (await case.stand.get(where, case.viewer)).status_code == 404, text
        for where in (f"{PLAN}/{path}", f"{PLAN}/{case.task_id}/steps/{path}/token"):
            post = where.endswith("token")
            answer = await (
                case.stand.post(where, case.coordinator) if post else case.stand.get(where, case.coordinator)
            )
            assert answer.status_code == 404, (where, text)


async def test_a_filter_with_what_is_no_id_is_refused_with_its_place(case: Case) -> None:
    for name in ("taskType", "projectId"):
        for text in REFUSED:
            answer = await case.stand.get(f"/api/tasks?{name}={quote(text, safe='')}", case.viewer)
            assert (answer.status_code, answer.json()["code"]) == (422, "ID_INVALID"), (name, text)
            assert answer.json()["errors"][0]["pointer"] == f"/query/{name}"
