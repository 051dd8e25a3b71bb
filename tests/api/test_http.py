"""What holds for every answer: the epoch, problems for errors, methods, pages' headers, health, and what broke."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from milepost.api.app import build_app
from milepost.api.routes import EVERY
from milepost.api.services import Options
from milepost.ports.storage import Unavailable
from milepost.storage.access import SqlAccess
from milepost.usecases.identity import Identities
from tests.api.test_rights import fitting
from tests.parts.reports import Reported, create
from tests.parts.stand import Stand, stand

EVENTS = "/internal/v1/task-events"


async def test_every_answer_names_the_epoch_and_every_error_is_a_problem(service: Stand) -> None:
    epoch = await service.storage.epoch()
    for method, path in (
        ("GET", "/"),
        ("GET", "/healthz"),
        ("GET", "/readyz"),
        ("GET", "/metrics"),
        ("GET", "/nowhere"),
        ("GET", "/api/tasks"),
        ("GET", "/api/tasks/"),
        ("GET", "//api/tasks"),
        ("PATCH", "/api/tasks"),
        ("GET", EVENTS),
        ("DELETE", f"{EVENTS}:batch"),
        ("POST", EVENTS),
        ("POST", f"{EVENTS}:batch"),
        ("POST", f"{EVENTS}/"),
        ("OPTIONS", "/api/tasks"),
        ("TRACE", "/api/tasks"),
        ("GET", "/" + "x" * 20_000),
        ("GET", "/api/tasks/%00%ff%0a"),
    ):
        answer = await service.http.request(method, path)
        assert answer.headers["milepost-epoch"] == epoch, path
        if answer.status_code >= 400:
            assert answer.headers["content-type"] == "application/problem+json", path


async def test_another_method_is_told_which_ones_there_are(service: Stand) -> None:
    for endpoint in EVERY:
        answer = await service.http.request("PATCH", fitting(endpoint.path))
        assert (answer.status_code, answer.json()["code"]) == (405, "METHOD_NOT_ALLOWED"), endpoint.path
        assert answer.headers["allow"], endpoint.path


async def test_a_head_is_a_get_without_its_body(service: Stand) -> None:
    answer = await service.http.head("/healthz")
    assert answer.status_code == 200


async def test_health_says_it_lives_and_readiness_that_it_can_serve(service: Stand) -> None:
    assert (await service.http.get("/healthz")).json() == {"status": "ok"}
    ready = await service.http.get("/readyz")
    assert ready.json() == {"status": "ready", "epoch": await service.storage.epoch()}


async def test_pages_run_no_foreign_script_and_stand_in_no_foreign_frame(service: Stand) -> None:
    page = await service.http.get("/")
    assert page.status_code == 200
    policy = page.headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert page.headers["x-content-type-options"] == "nosniff"
    assert page.headers["referrer-policy"] == "no-referrer"
    assert "<script>" not in page.text
    for name in (
        "..%2f__init__.py",
        "%2e%2e/x.js",
        "nothing.js",
        "index.php",
        ".js",
        "a%00.js",
        "..%5cx.js",
        "x" * 5_000 + ".js",
    ):
        assert (await service.http.get(f"/assets/{name}")).status_code == 404, name


async def test_metrics_are_for_services_and_operators(tmp_path: Path) -> None:
    async with stand(tmp_path, metrics=lambda: b"up 1\n") as service:
        assert (await service.http.get("/metrics")).status_code == 401
        assert (await service.get("/metrics", await service.session("u1"))).json()["code"] == "FORBIDDEN"
        assert (await service.get("/metrics", await service.session("u1", roles=("admin",)))).status_code == 403
        for token in (await service.credential("p1"), await service.session("u1", roles=("operator",))):
            answer = await service.get("/metrics", token)
            assert (answer.status_code, answer.text) == (200, "up 1\n")
            assert answer.headers["content-type"].startswith("text/plain")


async def test_only_configured_origins_read_answers(tmp_path: Path) -> None:
    async with stand(tmp_path, options=Options(allowed_origins=("https://app.test",))) as service:
        token = await service.session("u1")
        asked = {"access-control-request-method": "GET", "access-control-request-headers": "authorization"}
        for origin, allowed in (("https://app.test", "https://app.test"), ("https://evil.test", None)):
            answer = await service.get("/api/tasks", token, origin=origin)
            assert answer.headers.get("access-control-allow-origin") == allowed
            before = await service.http.options("/api/tasks", headers={"origin": origin, **asked})
            assert before.headers.get("access-control-allow-origin") == allowed
            assert (before.status_code == 200) is (allowed is not None)
        assert (
            "milepost-epoch"
            in (await service.get("/api/tasks", token, origin="https://app.test"))
            .headers["access-control-expose-headers"]
            .lower()
        )


async def test_without_configured_origins_no_answer_is_for_another_site(service: Stand) -> None:
    answer = await service.get("/api/tasks", await service.session("u1"), origin="https://evil.test")
    assert not [name for name in answer.headers if name.startswith("access-control")]


async def test_while_another_process_holds_the_database_a_report_is_asked_to_come_again(tmp_path: Path) -> None:
    async with stand(tmp_path, lock_timeout=0.05) as service:
        coordinator = await service.credential("api", "report", "coordinate")
        made = await create(service, coordinator, ("a", "OP", "p1"))
        step = Reported(service, made["contexts"][0])
        event = step.event("STEP_STARTED")
        item = {**event, "executionToken": step.context["executionToken"]}
        body = {"tenantId": "t1", "ownerId": "u1", "taskType": "T", "title": "x"}
        with closing(sqlite3.connect(service.path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            for answer in (
                await service.post(EVENTS, step.context["executionToken"], event),
                await service.post("/internal/v1/tasks", coordinator, body),
            ):
                assert (answer.status_code, answer.json()["code"]) == (503, "UNAVAILABLE")
                assert int(answer.headers["retry-after"]) >= 1
            (result,) = (await service.post(f"{EVENTS}:batch", coordinator, {"events": [item]})).json()["results"]
            assert (result["status"], result["code"]) == (503, "UNAVAILABLE")
            other.execute("ROLLBACK")
        assert (await step.send(event))["accepted"] is True
        assert (await step.send(event))["duplicate"] is True


class Away(SqlAccess):
    """Identities while the database cannot be reached."""

    async def credential(self, credential_id: str) -> Any:
        raise Unavailable

    async def session(self, session_id: str) -> Any:
        raise Unavailable

    async def tenants(self) -> Any:
        raise Unavailable


async def test_where_not_even_the_caller_can_be_looked_up_every_route_says_come_again(service: Stand) -> None:
    worker, person = await service.credential("p1"), await service.session("u1")
    away = Away(service.storage, service.clock)
    services = msgspec.structs.replace(service.services, access=away, identities=Identities(away, service.clock))
    lost = Stand(services, service.storage, service.clock, service.heard, [], service.path)
    for answer in (
        await lost.post(EVENTS, worker, {}),
        await lost.post(f"{EVENTS}:batch", worker, {"events": []}),
        await lost.post("/internal/v1/tasks", worker, {}),
        await lost.get("/api/tasks", person),
        await lost.http.get("/readyz"),
    ):
        assert (answer.status_code, answer.json()["code"]) == (503, "UNAVAILABLE"), answer.request.url
        assert answer.headers["retry-after"]
    assert (await lost.http.get("/healthz")).status_code == 200


async def test_what_breaks_is_a_problem_too_and_tells_nothing_of_the_inside(
    service: Stand, caplog: pytest.LogCaptureFixture
) -> None:
    coordinator, viewer = await service.credential("api", "report", "coordinate"), await service.session("u1")
    made = await create(service, coordinator, ("a", "OP", "p1"), ("b", "OP", "p1"), taskId="k1")
    a, b = (Reported(service, context) for context in made["contexts"])
    with closing(sqlite3.connect(service.path)) as other:
        other.execute("DROP TABLE task_event_log")
    transport = httpx.ASGITransport(app=build_app(service.services))
    async with httpx.AsyncClient(transport=transport, base_url="http://milepost.test") as client:
        reader = {"authorization": f"Bearer {viewer}"}
        worker = {"authorization": f"Bearer {a.context['executionToken']}"}
        items = [{**step.event("STEP_STARTED"), "executionToken": step.context["executionToken"]} for step in (a, b)]
        beat = {name: value for name, value in items[0].items() if name not in ("eventId", "sourceSeq", "occurredAt")}
        items.append({**beat, "eventType": "STEP_HEARTBEAT"})
        secret = {"authorization": f"Bearer {coordinator}"}
        batch = await client.post(f"{EVENTS}:batch", headers=secret, json={"events": items})
        assert [(one["status"], one.get("code")) for one in batch.json()["results"]] == [
            (500, "INTERNAL"),
            (500, "INTERNAL"),
            (200, None),
        ]
        for answer in (
            await client.get("/api/tasks/k1/events", headers=reader),
            await client.post(EVENTS, headers=worker, json=a.event("STEP_STARTED")),
        ):
            assert answer.status_code == 500
            assert answer.headers["content-type"] == "application/problem+json"
            assert answer.headers["milepost-epoch"]
            assert answer.json()["code"] == "INTERNAL"
            assert "task_event_log" not in answer.text
    assert "task_event_log" in caplog.text
