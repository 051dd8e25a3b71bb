"""Who may what: every route by its right, every tenant for itself, every token for what it is bound to."""

import re
from typing import Any

import pytest
from msgspec.structs import replace

from milepost.api.routes import SERVICE_ROUTES, VIEWER_ROUTES
from milepost.ports.access import Right
from milepost.tokens.execution import ExecutionTokens
from milepost.tokens.keys import KeyRing, SigningKey
from tests.parts.reports import Reported, create
from tests.parts.stand import Stand

EVENTS = "/internal/v1/task-events"
PLAN = "/internal/v1/tasks"
BODY = {"tenantId": "t1", "ownerId": "u1", "taskType": "T", "title": "x"}
NEEDS: dict[str, tuple[Right, ...]] = {
    f"POST {PLAN}": ("coordinate",),
    f"GET {PLAN}": ("coordinate",),
    f"GET {PLAN}/{{task_id}}": ("report", "coordinate"),
    f"PUT {PLAN}/{{task_id}}/attempts/{{number}}": ("coordinate",),
    f"PUT {PLAN}/{{task_id}}/steps/{{step_id}}/attempts/{{number}}": ("coordinate",),
    f"POST {PLAN}/{{task_id}}/steps/{{step_id}}/token": ("report", "coordinate"),
    f"POST {PLAN}/{{task_id}}:requestCancel": ("coordinate",),
    f"POST {EVENTS}": ("report", "coordinate"),
    f"POST {EVENTS}:batch": ("report",),
    "POST /internal/v1/user-sessions": ("sessions",),
    "DELETE /internal/v1/user-sessions/{session_id}": ("sessions",),
}
RIGHTS: tuple[Right, ...] = ("report", "coordinate", "sessions", "definitions", "broadcast", "providers", "policy")
TASK_FACT = {
    "eventId": "end",
    "taskId": "x1",
    "taskType": "T",
    "taskAttempt": 1,
    "eventType": "TASK_COMPLETED",
    "occurredAt": "2027-01-15T08:00:00Z",
}
BODIES: dict[str, Any] = {f"POST {EVENTS}": TASK_FACT, f"POST {EVENTS}:batch": {"events": []}}


def fitting(path: str) -> str:
    return re.sub(r"\{\w+\}", "1", path)


@pytest.mark.accepts("each route needs its own right, no credential mints a role above its own")
async def test_every_route_of_services_needs_its_own_right(service: Stand) -> None:
    named = {f"{endpoint.method} {endpoint.path}" for endpoint in SERVICE_ROUTES}
    assert set(NEEDS) <= named
    secrets = {right: await service.credential(f"p-{right}", right) for right in RIGHTS}
    for route, enough in NEEDS.items():
        method, path = route.split()
        for right, secret in secrets.items():
            headers = {"authorization": f"Bearer {secret}"}
            answer = await service.http.request(method, fitting(path), headers=headers, json=BODIES.get(route, {}))
            told = (route, right, answer.status_code, answer.text[:200])
            assert (answer.json()["code"] == "FORBIDDEN" if answer.status_code == 403 else False) is (
                right not in enough
            ), told


@pytest.mark.accepts("connection identity from a verified login")
async def test_without_a_valid_secret_every_route_asks_for_one(service: Stand) -> None:
    member, worker = await service.session("u1"), await service.credential("p1", *RIGHTS)
    for endpoint in (*SERVICE_ROUTES, *VIEWER_ROUTES):
        if endpoint.who == "anyone" or endpoint.path == EVENTS:
            continue
        wrong_kind = member if endpoint.who == "service" else worker
        for header in (
            None,
            "",
            "Bearer",
            "Bearer ",
            "Basic eDp5",
            "Bearer mpc_x",
            f"Bearer {wrong_kind}",
            "Bearer é",
            f"Bearer {worker[:-1]}x",
        ):
            headers = [] if header is None else [(b"authorization", header.encode("latin-1"))]
            body = BODIES.get(f"{endpoint.method} {endpoint.path}", {})
            answer = await service.http.request(endpoint.method, fitting(endpoint.path), headers=headers, json=body)
            assert (answer.status_code, answer.json()["code"]) == (401, "UNAUTHENTICATED"), (endpoint.path, header)
            assert answer.headers["www-authenticate"] == "Bearer"


async def test_a_revoked_credential_is_out_within_two_seconds(service: Stand) -> None:
    secret = await service.credential("api", "coordinate")
    assert (await service.post(PLAN, secret, BODY)).status_code == 201
    await service.storage.access.revoke_credential(secret.split("_")[1], service.clock.now())
    service.clock.pass_ms(2_000)
    assert (await service.post(PLAN, secret, BODY)).json()["code"] == "UNAUTHENTICATED"


async def test_an_expired_session_is_out_at_once(service: Stand) -> None:
    member = await service.session("u1")
    service.clock.pass_ms(3_600_000 - 1)
    assert (await service.get("/api/tasks", member)).status_code == 200
    service.clock.pass_ms(1)
    assert (await service.get("/api/tasks", member)).json()["code"] == "UNAUTHENTICATED"


async def test_a_credential_of_one_tenant_meets_nothing_of_another(service: Stand) -> None:
    mine = await service.credential("api", "report", "coordinate")
    foreign = await service.credential("api", "report", "coordinate", "sessions", tenant="t2")
    made = await create(service, mine, ("a", "OP", "p1"), taskId="k1")
    for answer in (
        await service.get(f"{PLAN}/k1", foreign),
        await service.put(f"{PLAN}/k1/attempts/2", foreign, {"abandon": True}),
        await service.put(f"{PLAN}/k1/steps/a/attempts/2", foreign, {"abandon": True}),
        await service.post(f"{PLAN}/k1/steps/a/token", foreign),
        await service.post(f"{PLAN}/k1/steps/a/token", foreign, {"newSource": True}),
        await service.post(f"{PLAN}/k1:requestCancel", foreign),
        await service.post(EVENTS, foreign, {**TASK_FACT, "taskId": "k1", "taskType": "DOCUMENT_PROCESS"}),
    ):
        assert (answer.status_code, answer.json()["code"]) == (404, "TASK_UNKNOWN"), answer.request.url
    for tenant in ("t1", "t3"):
        answer = await service.get(f"{PLAN}/k1", foreign, milepost_tenant=tenant)
        assert (answer.status_code, answer.json()["code"]) == (403, "FORBIDDEN")
    item = {
        **Reported(service, made["contexts"][0]).event("STEP_STARTED"),
        "executionToken": made["contexts"][0]["executionToken"],
    }
    answer = (await service.post(f"{EVENTS}:batch", foreign, {"events": [item]})).json()["results"][0]
    assert (answer["status"], answer["code"]) == (403, "CONTEXT_MISMATCH")
    session = await service.post("/internal/v1/user-sessions", foreign, {"userId": "u1", "tenantId": "t1"})
    assert (session.status_code, session.json()["code"]) == (403, "FORBIDDEN")
    viewer = await service.session("u1", tenant="t2")
    assert (await service.get("/api/tasks/k1", viewer)).json()["code"] == "NOT_FOUND"
    assert (await service.get("/api/tasks", viewer)).json()["items"] == []


async def test_a_credential_of_all_tenants_names_one_with_every_request(service: Stand) -> None:
    secret = await service.credential("api", "report", "coordinate", "sessions", tenant=None)
    assert (await service.post(PLAN, secret, {**BODY, "taskId": "k1"})).status_code == 201
    assert (await service.get(f"{PLAN}/k1", secret, milepost_tenant="t1")).status_code == 200
    assert (await service.get(f"{PLAN}/k1", secret, milepost_tenant="t2")).json()["code"] == "TASK_UNKNOWN"
    for tenant in (None, "a b", "é"):
        headers = {} if tenant is None else {"milepost-tenant": tenant.encode("latin-1")}
        for method, path, body in (
            ("GET", f"{PLAN}/k1", None),
            ("POST", EVENTS, TASK_FACT),
            ("POST", f"{EVENTS}:batch", {"events": []}),
        ):
            sent = {"authorization": f"Bearer {secret}", **headers}
            answer = await service.http.request(method, path, headers=sent, json=body)
            assert answer.status_code == 422, (path, tenant)
            assert answer.json()["errors"][0]["pointer"] == "/headers/Milepost-Tenant"
    crossed = await service.post(PLAN, secret, BODY, milepost_tenant="t2")
    assert (crossed.status_code, crossed.json()["errors"][0]["pointer"]) == (422, "/tenantId")
    missing = await service.post(PLAN, secret, {**BODY, "tenantId": "nowhere"})
    assert (missing.status_code, missing.json()["errors"][0]["pointer"]) == (404, "/tenantId")
    minted = await service.post("/internal/v1/user-sessions", secret, {"userId": "u1", "tenantId": "t1"})
    assert minted.status_code == 201


async def two_steps(service: Stand) -> tuple[str, Reported, Reported]:
    coordinator = await service.credential("api", "report", "coordinate")
    made = await create(service, coordinator, ("a", "OP.A", "p1"), ("b", "OP.B", "p2"), taskId="k1")
    a, b = (Reported(service, context) for context in made["contexts"])
    return coordinator, a, b


async def test_a_token_that_is_over_is_told_apart_from_one_that_is_not_ours(service: Stand) -> None:
    coordinator, a, _ = await two_steps(service)
    event = a.event("STEP_STARTED")
    genuine = a.context["executionToken"]
    claims = service.services.tokens.verify(genuine, service.clock.now())
    foreign = ExecutionTokens(KeyRing(SigningKey("k1", b"x" * 32))).sign(claims)
    unknown = ExecutionTokens(KeyRing(SigningKey("k9", b"k" * 32))).sign(claims)
    head, body, mark = genuine.split(".")
    for token in (
        foreign,
        unknown,
        f"{head}.{body}.",
        f"{head}.{body}",
        "x",
        "a.b.c",
        "é.é.é",
        genuine + "x",
        "x" * 10_000,
    ):
        headers = [(b"authorization", f"Bearer {token}".encode("latin-1"))]
        answer = await service.http.post(EVENTS, json=event, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (401, "TOKEN_INVALID"), token[:80]
    assert mark
    service.clock.pass_ms(15 * 60 * 1000)
    answer = await service.post(EVENTS, genuine, event)
    assert (answer.status_code, answer.json()["code"]) == (401, "TOKEN_EXPIRED")
    fresh = (await service.post(f"{PLAN}/k1/steps/a/token", coordinator)).json()["executionToken"]
    assert (await service.post(EVENTS, fresh, event)).json()["accepted"] is True


async def test_a_report_without_any_bearer_is_asked_for_one(service: Stand) -> None:
    _, a, _ = await two_steps(service)
    for headers in ({}, {"authorization": "Basic eDp5"}):
        answer = await service.http.post(EVENTS, json=a.event("STEP_STARTED"), headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (401, "UNAUTHENTICATED")


async def test_a_session_reports_nothing(service: Stand) -> None:
    _, a, _ = await two_steps(service)
    answer = await service.post(EVENTS, await service.session("u1"), a.event("STEP_STARTED"))
    assert (answer.status_code, answer.json()["code"]) == (401, "TOKEN_INVALID")


@pytest.mark.accepts("token, step and body disagreeing refused")
async def test_a_token_binds_every_field_it_names(service: Stand) -> None:
    _, a, b = await two_steps(service)
    event = a.event("STEP_STARTED")
    for name, value in (
        ("taskId", "k2"),
        ("stepId", "b"),
        ("taskType", "OTHER"),
        ("taskAttempt", 2),
        ("stepAttempt", 2),
        ("operationCode", "OP.B"),
        ("producerId", "p2"),
    ):
        answer = await a.send({**event, name: value})
        assert (answer["status_code"], answer["code"]) == (403, "CONTEXT_MISMATCH"), name
        assert answer["errors"][0]["pointer"] == f"/{name}"
    crossed = await service.post(EVENTS, b.context["executionToken"], event)
    assert (crossed.status_code, crossed.json()["errors"][0]["pointer"]) == (403, "/stepId")
    assert (await a.send(event))["accepted"] is True


async def test_a_token_that_allows_less_allows_no_more(service: Stand) -> None:
    _, a, _ = await two_steps(service)
    claims = service.services.tokens.verify(a.context["executionToken"], service.clock.now())
    narrow = service.services.tokens.sign(replace(claims, event_types=("STEP_STARTED",)))
    answer = await service.post(EVENTS, narrow, a.event("STEP_COMPLETED", durationMs=1))
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (403, "/eventType")


async def test_a_step_fact_under_a_bare_credential_is_refused_and_a_task_fact_under_a_token_too(service: Stand) -> None:
    coordinator, a, _ = await two_steps(service)
    producer = await service.credential("p1", "report")
    for secret in (coordinator, producer):
        answer = await service.post(EVENTS, secret, a.event("STEP_STARTED"))
        assert (answer.status_code, answer.json()["code"]) == (401, "TOKEN_INVALID")
    fact = {**TASK_FACT, "taskId": "k1", "taskType": "DOCUMENT_PROCESS", "producerId": "p1"}
    answer = await service.post(EVENTS, a.context["executionToken"], fact)
    assert (answer.status_code, answer.json()["code"]) == (403, "CONTEXT_MISMATCH")


async def test_only_the_coordinator_of_a_task_reports_its_end(service: Stand) -> None:
    coordinator, _, _ = await two_steps(service)
    other = await service.credential("other", "report", "coordinate")
    fact = {**TASK_FACT, "taskId": "k1", "taskType": "DOCUMENT_PROCESS"}
    for said in (fact, {**fact, "producerId": "other"}, {**fact, "producerId": "api"}):
        answer = await service.post(EVENTS, other, said)
        assert (answer.status_code, answer.json()["code"]) == (403, "CONTEXT_MISMATCH")
    for path, body in (
        (f"{PLAN}/k1/attempts/2", {"abandon": True}),
        (f"{PLAN}/k1/steps/a/attempts/2", {"abandon": True}),
    ):
        answer = await service.put(path, other, body)
        assert (answer.status_code, answer.json()["code"]) == (403, "CONTEXT_MISMATCH")
    assert (await service.post(EVENTS, coordinator, fact)).json()["lifecycleStatus"] == "SUCCEEDED"


async def test_a_producer_reads_its_own_steps_and_the_coordinator_all(service: Stand) -> None:
    coordinator, _, _ = await two_steps(service)
    producer, stranger = await service.credential("p1", "report"), await service.credential("p3", "report")
    seen = {
        name: [step["id"] for step in (await service.get(f"{PLAN}/k1", secret)).json()["steps"]]
        for name, secret in (("api", coordinator), ("p1", producer))
    }
    assert seen == {"api": ["a", "b"], "p1": ["a"]}
    assert (await service.get(f"{PLAN}/k1", stranger)).json()["code"] == "CONTEXT_MISMATCH"


@pytest.mark.parametrize("new_source", [False, True])
async def test_a_fresh_token_goes_to_the_producer_and_the_coordinator_alone(service: Stand, new_source: bool) -> None:
    coordinator, _, _ = await two_steps(service)
    for producer, status in (("p1", 200), ("p2", 403), ("p3", 403)):
        secret = await service.credential(producer, "report")
        answer = await service.post(f"{PLAN}/k1/steps/a/token", secret, {"newSource": new_source})
        assert answer.status_code == status, producer
    assert (await service.post(f"{PLAN}/k1/steps/a/token", coordinator, {"newSource": new_source})).status_code == 200


async def test_batch_items_without_a_token_are_their_producers_alone_and_name_their_source(service: Stand) -> None:
    _, a, b = await two_steps(service)
    producer = await service.credential("p1", "report")
    own, foreign = a.event("STEP_STARTED"), b.event("STEP_STARTED")
    sent = [
        own,
        {**own, "sourceEpoch": 1},
        {**foreign, "sourceEpoch": 1},
        {**foreign, "executionToken": b.context["executionToken"]},
    ]
    answer = (await service.post(f"{EVENTS}:batch", producer, {"events": sent})).json()["results"]
    assert [item["status"] for item in answer] == [422, 200, 403, 200]
    assert answer[0]["errors"][0]["pointer"] == "/sourceEpoch"
    assert answer[2]["errors"][0]["pointer"] == "/producerId"


@pytest.mark.accepts("no foreign tenant channel")
async def test_viewers_see_their_own_tasks_their_projects_and_administrators_the_tenants(service: Stand) -> None:
    coordinator = await service.credential("api", "report", "coordinate")
    for task_id, owner, project in (("own", "u1", None), ("shared", "u2", "pr"), ("hidden", "u2", None)):
        await create(service, coordinator, taskId=task_id, ownerId=owner, projectId=project)
    seen = {
        "member": (await service.session("u1"), {"own"}),
        "in project": (await service.session("u1", "pr"), {"own", "shared"}),
        "admin": (await service.session("x", roles=("admin",)), {"own", "shared", "hidden"}),
        "operator": (await service.session("x", roles=("operator",)), {"own", "shared", "hidden"}),
        "other tenant's admin": (await service.session("x", tenant="t1", roles=()), set[str]()),
    }
    for name, (session, tasks) in seen.items():
        listed = {item["id"] for item in (await service.get("/api/tasks", session)).json()["items"]}
        assert listed == tasks, name
        for task_id in ("own", "shared", "hidden"):
            status = 200 if task_id in tasks else 404
            assert (await service.get(f"/api/tasks/{task_id}", session)).status_code == status, (name, task_id)
            assert (await service.get(f"/api/tasks/{task_id}/events", session)).status_code == status
        got = (
            await service.post("/api/tasks/status:batchGet", session, {"taskIds": ["own", "shared", "hidden"]})
        ).json()
        assert {item["id"] for item in got["items"]} == tasks
        assert set(got["gone"]) == {"own", "shared", "hidden"} - tasks
