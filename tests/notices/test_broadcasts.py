"""What is told to many: to a project, to a tenant, to everyone online."""

import json
from typing import Any

import pytest

from milepost.wire.numbers import instant
from tests.gateway.browser import Browser
from tests.notices.lit import Lit

PATH = "/internal/v1/broadcasts"


async def say(service: Lit, token: str, body: dict[str, Any], key: str | None = None) -> Any:
    return await service.on.post(PATH, token, body, **({"idempotency_key": key} if key else {}))


async def nothing_but(service: Lit, one: Browser, owner: str) -> list[dict[str, Any]]:
    """What came before a task of this owner, who creates it now."""
    await service.create(f"mark.{owner}", ownerId=owner)
    seen: list[dict[str, Any]] = []
    while (message := await one.message()).get("taskId") != f"mark.{owner}":
        seen.append(message)
    return seen


@pytest.mark.accepts("broadcasts carry no task detail")
async def test_a_broadcast_reaches_its_audience_and_nobody_else(service: Lit):
    await service.members("p", "mia")
    mia = await service.watch(await service.on.session("mia"))
    tom = await service.watch(await service.on.session("tom"))
    await say(service, service.host, {"audience": "project", "projectId": "p", "title": "Thaw", "message": "Mind it."})
    made = (await say(service, service.host, {"audience": "tenant", "title": "Pause", "level": "WARNING"})).json()
    to_mia = await nothing_but(service, mia, "mia")
    to_tom = await nothing_but(service, tom, "tom")
    assert [message["kind"] for message in to_mia] == ["broadcast.project", "broadcast.tenant"]
    assert [message["kind"] for message in to_tom] == ["broadcast.tenant"]
    assert (to_mia[0]["projectId"], to_mia[0]["title"], to_mia[0]["message"]) == ("p", "Thaw", "Mind it.")
    assert (to_tom[0]["id"], to_tom[0]["level"]) == (made["id"], "WARNING")
    for message in (*to_mia, *to_tom):
        assert not {"task", "steps", "triggerEvent", "notice"} & message.keys()
    mia.cut()
    tom.cut()


async def test_a_broadcast_missed_while_away_comes_with_the_replay(service: Lit):
    token = await service.on.session("tom")
    away = await service.watch(token)
    away.cut()
    await say(service, service.host, {"audience": "tenant", "title": "Pause"})
    again = await service.watch(token, last_id=away.last_id)
    message = await again.message()
    assert (message["kind"], message["replayed"]) == ("broadcast.tenant", True)
    again.cut()


async def test_a_broadcast_to_everyone_is_pushed_live_and_told_to_newcomers_while_it_holds(service: Lit):
    everywhere = await service.on.credential("house", "broadcast", tenant=None)
    await service.on.storage.access.add_tenant("t2", 0)
    here = await service.watch(await service.on.session("mia"))
    there = await service.watch(await service.on.session("tom", tenant="t2"))
    place = here.last_id
    until = instant(service.on.clock.now() + 60_000)
    body = {"audience": "system", "title": "Maintenance at noon", "validUntil": until, "id": "noon"}
    assert (await say(service, everywhere, body)).status_code == 201
    for one in (here, there):
        message = await one.message()
        assert (message["kind"], message["id"], message["validUntil"]) == ("broadcast.system", "noon", until)
        assert "position" not in message
    assert here.last_id == place, "it has no position, so it moves no cursor"
    later = await service.watch(await service.on.session("late"))
    assert (await later.message())["id"] == "noon"
    service.on.clock.pass_ms(60_001)
    gone = await service.watch(await service.on.session("later"))
    assert await nothing_but(service, gone, "later") == []
    for one in (here, there, later, gone):
        one.cut()


async def test_the_same_key_says_it_once_and_another_body_is_refused(service: Lit):
    body = {"audience": "tenant", "title": "Pause"}
    first = await say(service, service.host, body, "k1")
    again = await say(service, service.host, body, "k1")
    other = await say(service, service.host, {**body, "title": "Other"}, "k1")
    assert (first.status_code, again.status_code, first.json()) == (201, 200, again.json())
    assert (other.status_code, other.json()["code"]) == (409, "IDEMPOTENCY_KEY_CONFLICT")
    assert len(await service.on.storage.stream_log.entries("t1", 0, 9, 9)) == 1


async def test_a_key_is_kept_for_thirty_days(service: Lit):
    body = {"audience": "tenant", "title": "Pause"}
    await say(service, service.host, body, "k1")
    service.on.clock.pass_ms(30 * 86_400_000)
    await say(service, service.host, body)
    assert (await say(service, service.host, body, "k1")).status_code == 200
    service.on.clock.pass_ms(1)
    await say(service, service.host, body)
    assert (await say(service, service.host, body, "k1")).status_code == 201


async def test_the_same_id_to_everyone_is_one_broadcast(service: Lit):
    everywhere = await service.on.credential("house", "broadcast", tenant=None)
    for title in ("first", "second"):
        await say(service, everywhere, {"audience": "system", "title": title, "id": "b1"})
    (held,) = await service.on.storage.notices.in_force(service.on.clock.now())
    assert held.title == "first"


@pytest.mark.parametrize(
    "body, status",
    [
        ({"audience": "system", "title": "x"}, 403),
        ({"audience": "project", "title": "x"}, 422),
        ({"audience": "tenant", "title": "x", "projectId": "p"}, 422),
        ({"audience": "tenant", "title": ""}, 422),
        ({"audience": "tenant", "title": "x", "validUntil": "2020-01-01T00:00:00.000Z"}, 422),
        ({"audience": "tenant", "title": "x", "validUntil": "noon"}, 422),
    ],
)
async def test_what_may_not_be_said_is_refused(service: Lit, body: dict[str, Any], status: int):
    assert (await say(service, service.host, body)).status_code == status


async def test_broadcasting_needs_its_right(service: Lit):
    assert (await say(service, service.parser, {"audience": "tenant", "title": "x"})).status_code == 403


async def test_hostile_text_stays_text_in_its_frame(service: Lit):
    one = await service.watch(await service.on.session("tom"))
    text = "a\r\nid: 9\r\n\r\nevent: x\u2028\x00<script>"
    await say(service, service.host, {"audience": "tenant", "title": text})
    seen = await one.next()
    assert seen.event == "broadcast.tenant"
    assert json.loads(seen.data)["title"] == text.replace("\x00", "\ufffd")
    one.cut()
