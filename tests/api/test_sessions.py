"""Signing in and out: a ceiling for roles, a link once, a cookie no page can read, no foreign site."""

import sqlite3
from contextlib import closing
from typing import Any

import httpx
import pytest

from milepost.ports.access import ROLES, Credential, Right, Role
from milepost.tokens import secrets
from milepost.usecases import sessions
from tests.parts.reports import create
from tests.parts.stand import Stand, stand

MINT = "/internal/v1/user-sessions"


async def host(service: Stand, roles_up_to: Role = "member") -> str:
    """A credential that mints sessions up to this role."""
    secret = secrets.make("mpc")
    rights = frozenset[Right]({"sessions"})
    made = Credential(secret.id, secret.hash, "host", "t1", rights, roles_up_to, service.clock.now())
    await service.storage.access.add_credential(made)
    return secret.text


async def link(service: Stand, user: str = "u1") -> str:
    return await sessions.make_link_code(service.storage.access, service.clock, sessions.Grant("t1", user))


def cookie(answer: httpx.Response) -> dict[str, Any]:
    parts = [part.strip() for part in answer.headers["set-cookie"].split(";")]
    return {name.lower(): value for name, _, value in (part.partition("=") for part in parts)}


async def test_a_minted_session_is_that_user_until_its_end(service: Stand) -> None:
    secret = await host(service)
    body = {"userId": "u1", "projectIds": ["pr"], "ttlSeconds": 60}
    made = await service.post(MINT, secret, body)
    assert made.status_code == 201
    token = made.json()["token"]
    assert token.startswith("mps_")
    assert made.json()["expiresAt"] == "2027-01-15T08:01:00.000Z"
    seen = (await service.get("/api/session", token)).json()
    assert seen == {
        "tenantId": "t1",
        "userId": "u1",
        "projectIds": ["pr"],
        "roles": ["member"],
        "expiresAt": "2027-01-15T08:01:00.000Z",
    }
    service.clock.pass_ms(60_000)
    assert (await service.get("/api/session", token)).status_code == 401


@pytest.mark.accepts("each route needs its own right, no credential mints a role above its own")
async def test_no_role_above_the_ceiling_is_minted(service: Stand) -> None:
    for index, ceiling in enumerate(ROLES):
        secret = await host(service, ceiling)
        for wanted, role in enumerate(ROLES):
            answer = await service.post(MINT, secret, {"userId": "u1", "roles": ["member", role]})
            assert answer.status_code == (201 if wanted <= index else 403), (ceiling, role)


async def test_a_session_that_cannot_be_meant_is_refused_with_its_place(service: Stand) -> None:
    secret = await host(service, "operator")
    for more, pointer in (
        ({"userId": "a@b"}, "/userId"),
        ({"roles": ["root"]}, "/roles/0"),
        ({"ttlSeconds": 0}, "/ttlSeconds"),
        ({"ttlSeconds": 86_401}, "/ttlSeconds"),
        ({"ttlSeconds": 1.5}, "/ttlSeconds"),
        ({"projectIds": ["p q"]}, "/projectIds/0"),
        ({"admin": True}, "/admin"),
    ):
        answer = await service.post(MINT, secret, {"userId": "u1", **more})
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, pointer)


async def test_minting_and_ending_are_audited_without_the_secret(service: Stand) -> None:
    secret = await host(service)
    made = (await service.post(MINT, secret, {"userId": "u1"})).json()
    await service.http.delete(f"{MINT}/{made['sessionId']}", headers={"authorization": f"Bearer {secret}"})
    with closing(sqlite3.connect(service.path)) as connection:
        rows = connection.execute("SELECT actor, action, subject, detail FROM audit_log ORDER BY audit_id").fetchall()
    assert [(actor, action, subject) for actor, action, subject, _ in rows] == [
        ("host", "session.minted", made["sessionId"]),
        ("host", "session.revoked", made["sessionId"]),
    ]
    assert made["token"] not in str(rows)


async def test_an_ended_session_is_out_at_once_and_its_streams_are_told(service: Stand) -> None:
    secret = await host(service)
    made = (await service.post(MINT, secret, {"userId": "u1"})).json()
    assert (await service.get("/api/session", made["token"])).status_code == 200
    headers = {"authorization": f"Bearer {secret}"}
    for session_id in (made["sessionId"], made["sessionId"], "nothing"):
        assert (await service.http.delete(f"{MINT}/{session_id}", headers=headers)).status_code == 204
    assert (await service.get("/api/session", made["token"])).status_code == 401
    assert service.ended[0] == made["sessionId"]
    foreign = await service.credential("host", "sessions", tenant="t2")
    other = (await service.post(MINT, secret, {"userId": "u1"})).json()
    await service.http.delete(f"{MINT}/{other['sessionId']}", headers={"authorization": f"Bearer {foreign}"})
    assert (await service.get("/api/session", other["token"])).status_code == 200


@pytest.mark.accepts("connection identity from a verified login")
async def test_a_link_opens_one_session_once(service: Stand) -> None:
    code = await link(service)
    opened = await service.http.post("/api/session", json={"code": code})
    assert opened.status_code == 201
    assert opened.json()["userId"] == "u1"
    assert code not in opened.text
    for wrong in (code, code.upper(), "", "mpl_x", code + "x", code.replace("mpl", "mps"), "x" * 128):
        answer = await service.browser().post("/api/session", json={"code": wrong})
        assert (answer.status_code, answer.json()["code"]) == (401, "UNAUTHENTICATED"), wrong
    late = await link(service)
    service.clock.pass_ms(10 * 60 * 1000)
    assert (await service.http.post("/api/session", json={"code": late})).status_code == 401
    for body in ({}, {"code": 5}, {"code": "x" * 129}, {"code": code, "more": 1}, []):
        assert (await service.http.post("/api/session", json=body)).status_code == 422


@pytest.mark.accepts("no secret in a browser")
async def test_the_cookie_is_out_of_every_scripts_and_every_sites_reach(service: Stand) -> None:
    opened = await service.http.post("/api/session", json={"code": await link(service)})
    flags = cookie(opened)
    assert flags["milepost_session"].startswith("mps_")
    assert flags["samesite"] == "strict"
    assert {"httponly", "path", "max-age"} <= set(flags)
    assert flags["path"] == "/"
    assert 0 < int(flags["max-age"]) <= 3_600
    assert "secure" not in flags
    assert flags["milepost_session"] not in opened.text


async def test_over_tls_the_cookie_is_secure(tmp_path: Any) -> None:
    from milepost.api.services import Options

    async with stand(tmp_path, options=Options(secure_cookies=True)) as service:
        opened = await service.http.post("/api/session", json={"code": await link(service)})
        assert "secure" in cookie(opened)


async def test_a_cookie_reads_and_writes_from_its_own_site_alone(service: Stand) -> None:
    coordinator = await service.credential("api", "coordinate")
    await create(service, coordinator, taskId="k1")
    browser = service.browser()
    await browser.post("/api/session", json={"code": await link(service)})
    assert (await browser.get("/api/tasks")).status_code == 200
    path = "/api/tasks/k1:requestCancel"
    for origin in ("https://evil.test", "http://milepost.test.evil", "null", "http://milepost.test:81", "evil", ""):
        answer = await browser.post(path, headers={"origin": origin})
        assert (answer.status_code, answer.json()["code"]) == (403, "FORBIDDEN"), origin
        out = await browser.delete("/api/session", headers={"origin": origin})
        assert out.status_code == 403
    assert (await browser.post(path, headers={"origin": "http://milepost.test"})).json()["accepted"] is True
    bearer = await service.session("u1")
    assert (await service.post(path, bearer, origin="https://evil.test")).status_code == 200


async def test_no_foreign_page_signs_anybody_in(service: Stand) -> None:
    code = await link(service)
    answer = await service.http.post("/api/session", json={"code": code}, headers={"origin": "https://evil.test"})
    assert (answer.status_code, answer.json()["code"]) == (403, "FORBIDDEN")
    assert "set-cookie" not in answer.headers
    assert (await service.http.post("/api/session", json={"code": code})).status_code == 201


async def test_signing_out_ends_the_session_and_takes_the_cookie(service: Stand) -> None:
    browser = service.browser()
    await browser.post("/api/session", json={"code": await link(service)})
    token = browser.cookies["milepost_session"]
    out = await browser.delete("/api/session")
    assert out.status_code == 204
    assert "max-age=0" in out.headers["set-cookie"].lower()
    assert (await browser.get("/api/tasks")).status_code == 401
    assert (await service.get("/api/tasks", token)).status_code == 401
    assert len(service.ended) == 1
    assert (await browser.delete("/api/session")).status_code == 401


async def test_answers_about_people_are_kept_by_no_cache(service: Stand) -> None:
    answer = await service.get("/api/session", await service.session("u1"))
    assert answer.headers["cache-control"] == "no-store"
