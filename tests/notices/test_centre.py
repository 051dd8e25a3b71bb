"""The notification centre: what is kept, what was read, what somebody wants to be told of."""

import pytest

from tests.notices.lit import BROKEN, Lit


async def some(service: Lit, *ends: str, owner: str = "u1") -> None:
    for number, end in enumerate(ends):
        await service.create(f"{owner}.{number}", ownerId=owner)
        await service.ends(f"{owner}.{number}", end)


async def test_lasting_notices_are_listed_newest_first_in_pages_with_the_count_of_all(service: Lit):
    await some(service, *["TASK_COMPLETED"] * 5)
    token = await service.on.session("u1")
    page = await service.kept(token, "?limit=2")
    seen = [item["taskId"] for item in page["items"]]
    assert page["unreadCount"] == 5
    while page["nextCursor"] is not None:
        page = await service.kept(token, f"?limit=2&cursor={page['nextCursor']}")
        seen += [item["taskId"] for item in page["items"]]
    assert seen == [f"u1.{number}" for number in (4, 3, 2, 1, 0)]


async def test_passing_troubles_are_not_kept_and_escalations_and_ends_are(service: Lit):
    step = await service.create(policy="CONTINUE_WITH_WARNING")
    await step.report("STEP_FAILED", error=BROKEN)
    waits = await service.create("k2", policy="WAIT_FOR_USER")
    await waits.report("STEP_FAILED", error=BROKEN, eventId="w1")
    await service.ends("k1", "TASK_COMPLETED", resultRef={"id": "r1"})
    page = await service.kept(await service.on.session("u1"))
    assert [(item["type"], item["requiresAction"], item["actions"]) for item in page["items"]] == [
        ("task.succeeded", False, ["OPEN_RESULT"]),
        ("action.required", True, ["DECIDE"]),
    ]


async def test_notifications_are_their_owners_alone(service: Lit):
    await some(service, "TASK_COMPLETED")
    admin = await service.on.session("boss", roles=("operator",))
    assert (await service.kept(admin))["items"] == []
    ids = [item["id"] for item in (await service.kept(await service.on.session("u1")))["items"]]
    answer = await service.on.post("/api/notifications:markRead", admin, {"ids": ids})
    assert answer.json() == {"marked": 0}


async def test_what_one_device_marks_as_read_every_other_learns_once(service: Lit):
    await some(service, "TASK_COMPLETED", "TASK_FAILED", "TASK_CANCELLED")
    desk, phone = await service.on.session("u1"), await service.on.session("u1")
    other = await service.watch(phone)
    first = (await service.kept(desk))["items"][0]["id"]
    assert (await service.on.post("/api/notifications:markRead", desk, {"ids": [first]})).json() == {"marked": 1}
    message = await other.message()
    assert (message["kind"], message["ids"], message["upTo"]) == ("notice.read", [first], None)
    page = await service.kept(phone, "?unread=true")
    assert (page["unreadCount"], first in [item["id"] for item in page["items"]]) == (2, False)
    body = {"upTo": page["streamCursor"]}
    assert (await service.on.post("/api/notifications:markRead", phone, body)).json() == {"marked": 2}
    assert (await other.message())["upTo"] == page["streamCursor"]
    assert (await service.on.post("/api/notifications:markRead", phone, body)).json() == {"marked": 0}
    await some(service, "TASK_COMPLETED", owner="u9")
    await service.create("last")
    assert (await other.message())["taskId"] == "last", "marking again tells nobody"
    assert all(item["readAt"] for item in (await service.kept(desk))["items"])
    other.cut()


async def test_a_read_mark_missed_while_away_comes_with_the_replay(service: Lit):
    await some(service, "TASK_COMPLETED")
    token = await service.on.session("u1")
    away = await service.watch(token)
    away.cut()
    body = {"upTo": (await service.kept(token))["streamCursor"]}
    await service.on.post("/api/notifications:markRead", token, body)
    again = await service.watch(token, last_id=away.last_id)
    message = await again.message()
    assert (message["kind"], message["replayed"]) == ("notice.read", True)
    again.cut()


@pytest.mark.parametrize("body", [{}, {"ids": ["a"], "upTo": "e:1"}, {"upTo": "nonsense"}, {"ids": []}])
async def test_a_mark_that_says_nothing_or_two_things_is_refused(service: Lit, body: dict[str, object]):
    answer = await service.on.post("/api/notifications:markRead", await service.on.session("u1"), body)
    assert (answer.status_code, answer.json()["code"]) == (422, "FIELD_INVALID")


async def test_a_mark_by_a_cursor_of_another_epoch_marks_nothing(service: Lit):
    await some(service, "TASK_COMPLETED")
    token = await service.on.session("u1")
    answer = await service.on.post("/api/notifications:markRead", token, {"upTo": "otherepoch:99"})
    assert (answer.status_code, answer.json()["code"]) == (410, "CURSOR_EXPIRED")
    assert (await service.kept(token))["unreadCount"] == 1


async def test_preferences_filter_reading_and_counting_and_never_the_writing(service: Lit):
    await some(service, "TASK_COMPLETED", "TASK_FAILED")
    token = await service.on.session("u1")
    path = "/api/notification-preferences"
    assert (await service.on.get(path, token)).json() == {"minLevel": "INFO", "muted": []}
    for wished, left in (
        ({"minLevel": "ERROR"}, ["task.failed"]),
        ({"muted": ["task.failed"]}, ["task.succeeded"]),
        ({"minLevel": "ERROR", "muted": ["task.failed", "task.timed_out", "step.failed"]}, []),
        ({}, ["task.failed", "task.succeeded"]),
    ):
        told = await service.on.put(path, token, wished)
        assert told.json() == {"minLevel": "INFO", "muted": [], **wished} | {"muted": sorted(wished.get("muted", []))}
        page = await service.kept(token)
        assert ([item["type"] for item in page["items"]], page["unreadCount"]) == (left, len(left))
    refused = await service.on.put(path, token, {"muted": ["no.such"]})
    assert refused.status_code == 422
