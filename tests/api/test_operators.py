"""What operators see and settle: conflicts, the audit log, credentials, counts; and what nobody else may."""

from typing import Any

import pytest

from tests.api.test_deleting import Task, made
from tests.parts.stand import Stand

READS = ("/admin/v1/conflicts", "/admin/v1/audit", "/admin/v1/credentials", "/admin/v1/stats")


async def op(service: Stand, tenant: str = "t1") -> str:
    await service.storage.access.add_tenant(tenant, service.clock.now())
    return await service.session("op-1", tenant=tenant, roles=("operator",))


async def contradicted(service: Stand, boss: str | None = None) -> Task:
    task = await made(service, boss)
    await task.end("TASK_COMPLETED")
    said = {
        "eventId": f"{task.id}.late",
        "taskId": task.id,
        "taskType": "DOCUMENT_PROCESS",
        "taskAttempt": 1,
        "eventType": "TASK_FAILED",
        "error": {"category": "SYSTEM", "code": "OUT_OF_MEMORY", "userMessage": "No.", "diagnosticsRef": "secret"},
        "occurredAt": "2027-01-15T08:00:00Z",
    }
    for _ in range(2):
        assert (await service.post("/internal/v1/task-events", task.boss, said)).status_code == 409
    return task


async def test_a_contradicting_terminal_is_listed_once_until_an_operator_settles_it(service: Stand) -> None:
    task = await contradicted(service)
    token = await op(service)
    [found] = (await service.get("/admin/v1/conflicts", token)).json()["items"]
    assert (found["eventId"], found["taskId"], found["eventType"]) == (f"{task.id}.late", task.id, "TASK_FAILED")
    assert (found["lifecycleStatus"], found["state"], found["note"]) == ("SUCCEEDED", "OPEN", None)
    assert found["error"]["code"] == "OUT_OF_MEMORY"
    assert "secret" not in str(found)
    path = f"/admin/v1/conflicts/{task.id}.late:resolve"
    first = (await service.post(path, token, {"note": "The result is there."})).json()
    assert (first["state"], first["resolvedBy"], first["note"]) == ("RESOLVED", "op-1", "The result is there.")
    again = (await service.post(path, token, {"note": "Something else."})).json()
    assert again == first
    assert (await service.get("/admin/v1/conflicts", token)).json()["items"] == []
    assert (await service.get("/admin/v1/conflicts?state=resolved", token)).json()["items"] == [first]
    viewer = await service.session("u1")
    shown = (await service.get(f"/api/tasks/{task.id}", viewer)).json()["task"]
    assert (shown["lifecycleStatus"], shown["version"]) == ("SUCCEEDED", "2")
    entries = (await service.get("/admin/v1/audit", token)).json()["items"]
    settled = [entry for entry in entries if entry["action"] == "conflict.resolved"]
    assert [entry["detail"]["note"] for entry in settled] == ["The result is there."]


async def test_the_same_fact_again_does_not_open_a_settled_conflict(service: Stand) -> None:
    task = await contradicted(service)
    token = await op(service)
    await service.post(f"/admin/v1/conflicts/{task.id}.late:resolve", token, {"note": "Seen."})
    late = {
        "eventId": f"{task.id}.late",
        "taskId": task.id,
        "taskType": "DOCUMENT_PROCESS",
        "taskAttempt": 1,
        "eventType": "TASK_FAILED",
        "occurredAt": "2027-01-15T08:00:00Z",
    }
    assert (await service.post("/internal/v1/task-events", task.boss, late)).status_code == 409
    assert (await service.get("/admin/v1/conflicts", token)).json()["items"] == []


async def test_lists_are_paged_newest_first_and_lose_nothing_inside_one_millisecond(service: Stand) -> None:
    boss = await service.credential("api", "report", "coordinate")
    tasks = [await contradicted(service, boss) for _ in range(5)]
    token = await op(service)
    seen: list[str] = []
    query = "?limit=2"
    while query:
        page = (await service.get(f"/admin/v1/conflicts{query}", token)).json()
        seen += [item["taskId"] for item in page["items"]]
        query = f"?limit=2&cursor={page['nextCursor']}" if page["nextCursor"] else ""
    assert sorted(seen) == sorted(task.id for task in tasks)
    first = (await service.get("/admin/v1/audit?limit=1", token)).json()
    assert first["items"][0]["action"] == "conflicts.read"
    second = (await service.get(f"/admin/v1/audit?limit=1&cursor={first['nextCursor']}", token)).json()
    assert int(second["items"][0]["id"]) < int(first["items"][0]["id"])


@pytest.mark.parametrize("query", ["conflicts?cursor=x", "conflicts?state=shut", "audit?cursor=-1", "audit?limit=0"])
async def test_a_query_that_cannot_be_meant_is_refused(service: Stand, query: str) -> None:
    answer = await service.get(f"/admin/v1/{query}", await op(service))
    assert (answer.status_code, answer.json()["code"]) == (422, "FIELD_INVALID")


async def test_operators_see_their_own_tenant_only(service: Stand) -> None:
    task = await contradicted(service)
    token = await op(service, "t2")
    await service.credential("shared", tenant=None)
    assert (await service.get("/admin/v1/conflicts?state=all", token)).json()["items"] == []
    assert (await service.get("/admin/v1/stats", token)).json()["tasks"] == {}
    names = [one["producerId"] for one in (await service.get("/admin/v1/credentials", token)).json()["items"]]
    assert names == ["shared"]
    answer = await service.post(f"/admin/v1/conflicts/{task.id}.late:resolve", token, {"note": "x"})
    assert (answer.status_code, answer.json()["code"]) == (404, "NOT_FOUND")


async def test_credentials_are_shown_without_secrets_and_counts_without_deleted_tasks(service: Stand) -> None:
    task = await contradicted(service)
    await made(service, task.boss)
    gone = await made(service, task.boss)
    await gone.end()
    await gone.delete()
    token = await op(service)
    answer = await service.get("/admin/v1/credentials", token)
    [credential] = answer.json()["items"]
    assert (credential["producerId"], credential["rights"]) == ("api", ["coordinate", "report"])
    assert task.boss not in answer.text
    assert set(credential) == {
        "credentialId",
        "producerId",
        "tenantId",
        "rights",
        "rolesUpTo",
        "createdAt",
        "revokedAt",
    }
    stats = (await service.get("/admin/v1/stats", token)).json()
    assert (stats["tasks"], stats["unfinished"], stats["openConflicts"]) == (
        {"PENDING": 1, "SUCCEEDED": 1},
        {"HEALTHY": 1},
        1,
    )


@pytest.mark.parametrize("path", READS)
async def test_every_read_of_an_operator_is_audited_and_nobody_else_may(service: Stand, path: str) -> None:
    for role in ("member", "admin"):
        answer = await service.get(path, await service.session("u1", roles=(role,)))
        assert (answer.status_code, answer.json()["code"]) == (403, "FORBIDDEN")
    credential = await service.credential("api", "report", "coordinate", "sessions")
    assert (await service.get(path, credential)).status_code == 401
    token = await op(service)
    assert (await service.get(path, token)).status_code == 200
    entries: list[dict[str, Any]] = (await service.get("/admin/v1/audit", token)).json()["items"]
    assert [(entry["actor"], entry["action"]) for entry in entries] == [("op-1", path.rpartition("/")[2] + ".read")]


async def test_all_sessions_of_a_user_end_at_once_in_the_callers_tenant_only(service: Stand) -> None:
    host = await service.credential("host", "sessions")
    mine = [await service.session("u1") for _ in range(3)]
    other = await service.session("u2")
    await service.storage.access.add_tenant("t2", service.clock.now())
    foreign = await service.session("u1", tenant="t2")
    for token in mine:
        assert (await service.get("/api/session", token)).status_code == 200
    answer = await service.post("/internal/v1/users/u1:revokeSessions", host)
    assert (answer.status_code, answer.json()) == (200, {"revoked": 3})
    assert [(await service.get("/api/session", token)).status_code for token in (*mine, other, foreign)] == [
        401,
        401,
        401,
        200,
        200,
    ]
    assert len(service.ended) == 3
    assert (await service.post("/internal/v1/users/u1:revokeSessions", host)).json() == {"revoked": 0}
    plain = await service.credential("p1", "report", "coordinate")
    assert (await service.post("/internal/v1/users/u1:revokeSessions", plain)).status_code == 403
