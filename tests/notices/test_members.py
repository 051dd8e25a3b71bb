"""Who may see a project: one rule for lists, details and streams, and a word to whoever gains or loses it."""

import asyncio
import json

import pytest

from milepost.gateway.viewer import Interest
from milepost.usecases.members import SetMembers
from milepost.wire.problems import Rejection
from tests.gateway.browser import Refused
from tests.notices.lit import Lit


async def seen_by(service: Lit, token: str) -> tuple[list[str], int, int]:
    """What a person's list holds, and the answers to the detail of k1 and to the stream of project p."""
    items = (await service.on.get("/api/tasks", token)).json()["items"]
    detail = (await service.on.get("/api/tasks/k1", token)).status_code
    try:
        one = await service.watch(token, "/api/projects/p/stream")
        one.cut()
        stream = 200
    except Refused as refused:
        stream = refused.status
    return [item["id"] for item in items], detail, stream


async def test_claims_count_until_a_project_has_members_and_then_its_members_alone(service: Lit):
    await service.create(projectId="p")
    mia, tom = await service.on.session("mia", "p"), await service.on.session("tom")
    assert await seen_by(service, mia) == (["k1"], 200, 200)
    assert await seen_by(service, tom) == ([], 404, 404)
    answer = await service.members("p", "tom")
    assert (answer["userIds"], answer["granted"], answer["revoked"]) == (["tom"], ["tom"], ["mia"])
    assert await seen_by(service, mia) == ([], 404, 404)
    assert await seen_by(service, tom) == (["k1"], 200, 200)
    await service.members("p")
    assert await seen_by(service, mia) == ([], 404, 404), "a project without members is not open again"
    assert await seen_by(service, tom) == ([], 404, 404)


async def test_the_same_members_again_tell_nobody_anything(service: Lit):
    await service.members("p", "mia")
    before = await service.on.storage.stream_log.tops(["t1"])
    answer = await service.members("p", "mia")
    assert (answer["granted"], answer["revoked"]) == ([], [])
    assert await service.on.storage.stream_log.tops(["t1"]) == before


async def test_whoever_loses_a_project_is_told_and_its_streams_end(service: Lit):
    step = await service.create(projectId="p")
    await service.members("p", "mia", "tom")
    token = await service.on.session("mia")
    personal = await service.watch(token)
    project = await service.watch(token, "/api/projects/p/stream")
    detail = await service.watch(token, "/api/tasks/k1/stream")
    other = await service.watch(await service.on.session("tom"))
    await service.members("p", "tom")
    for ended in (project, detail):
        seen = await ended.until_closed()
        assert [one.event for one in seen] == ["access.revoked"]
        assert json.loads(seen[0].data)["projectId"] == "p"
        assert ended.ended
    assert (await personal.message())["kind"] == "access.revoked"
    await step.report("STEP_STARTED")
    await service.create("mine", ownerId="mia")
    assert (await personal.message())["taskId"] == "mine", "nothing of the lost project comes any more"
    assert (await other.message())["taskId"] == "k1", "the others go on and learn nothing of it"
    personal.cut()
    other.cut()


async def test_the_owner_keeps_the_own_task_though_the_project_is_lost(service: Lit):
    step = await service.create(projectId="p", ownerId="mia")
    await service.members("p", "mia")
    token = await service.on.session("mia")
    detail = await service.watch(token, "/api/tasks/k1/stream")
    await service.members("p")
    await step.report("STEP_STARTED")
    assert (await detail.message())["version"] == "2"
    detail.cut()


async def test_whoever_gains_a_project_is_told_and_gets_what_follows(service: Lit):
    step = await service.create(projectId="p")
    one = await service.watch(await service.on.session("tom"))
    await service.members("p", "tom")
    granted = await one.message()
    assert (granted["kind"], granted["projectId"], granted["replayed"]) == ("access.granted", "p", False)
    await step.report("STEP_STARTED")
    told = await one.message()
    assert (told["taskId"], told["task"]["summaryData"]) == ("k1", None)
    one.cut()


async def test_a_loss_while_away_is_told_on_return_and_nothing_of_the_project(service: Lit):
    step = await service.create(projectId="p")
    await service.members("p", "mia")
    token = await service.on.session("mia")
    one = await service.watch(token)
    one.cut()
    await step.report("STEP_STARTED")
    await service.members("p")
    await step.report("STEP_COMPLETED")
    await service.create("mine", ownerId="mia")
    again = await service.watch(token, last_id=one.last_id)
    kinds = [await again.message() for _ in range(2)]
    assert [(m["kind"], m.get("taskId"), m["replayed"]) for m in kinds] == [
        ("access.revoked", None, True),
        ("task.summary", "mine", True),
    ]
    again.cut()


@pytest.mark.parametrize("gained", [True, False])
async def test_a_change_between_joining_and_reading_the_rights_is_not_lost(service: Lit, gained: bool):
    """The rights are read while the stream goes on: what the stream said meanwhile is newer and is applied to them."""
    await service.members("p", *([] if gained else ["mia"]))
    old = frozenset[str]() if gained else frozenset({"p"})
    interest = Interest("t1", "mia", "s", 2**60, personal=True, project_ids=old)
    service.feed.admit(interest)
    viewer = await service.feed.join(interest, None)
    change = SetMembers("t1", "p", frozenset({"mia"} if gained else set()))
    await service.on.services.tell(change)
    service.feed.settle(viewer, interest)  # as read just before the change
    assert viewer.interest.project_ids == (frozenset({"p"}) if gained else frozenset())
    service.feed.leave(viewer)


async def test_a_stream_of_one_project_does_not_open_when_the_project_is_lost_meanwhile(service: Lit):
    await service.members("p", "mia")
    interest = Interest("t1", "mia", "s", 2**60, project_ids=frozenset({"p"}))
    service.feed.admit(interest)
    viewer = await service.feed.join(interest, None)
    await service.on.services.tell(SetMembers("t1", "p", frozenset()))
    with pytest.raises(Rejection):
        service.feed.settle(viewer, interest)
    service.feed.leave(viewer)


async def test_a_project_gained_before_the_rights_were_read_misses_nothing(service: Lit):
    """The first look said no, the second yes: what came in between by the old filter is read again by the new one."""
    step = await service.create(projectId="p")
    start = await service.watch(await service.on.session("mia"))
    interest = Interest("t1", "mia", "s", 2**60, personal=True)
    epoch, position = start.last_id.split(":")
    await service.members("p", "mia")
    service.feed.admit(interest)
    viewer = await service.feed.join(interest, (epoch, int(position)))
    await step.report("STEP_STARTED")
    service.feed.settle(viewer, Interest("t1", "mia", "s", 2**60, personal=True, project_ids=frozenset({"p"})))
    replay = await service.feed.replay(viewer, (epoch, int(position)))
    kinds = [message.kind async for chunk in replay.chunks() for message in chunk]
    assert kinds == ["access.granted", "task.summary"]
    service.feed.leave(viewer)
    start.cut()


async def test_members_need_their_right_and_stay_in_their_tenant(service: Lit):
    path = "/internal/v1/projects/p/members"
    assert (await service.on.put(path, service.parser, {"userIds": []})).status_code == 403
    other = await service.on.credential("host2", "sessions", tenant="t2")
    await service.on.put(path, other, {"userIds": ["mia"]})
    await service.create(projectId="p")
    assert await seen_by(service, await service.on.session("mia", "p")) == (["k1"], 200, 200)


async def test_changes_at_once_leave_one_list_and_one_word_for_each_change(service: Lit):
    await asyncio.gather(*(service.members("p", *users) for users in (["a"], ["a", "b"], ["b"], [])))
    entries = await service.on.storage.stream_log.entries("t1", 0, 99, 99)
    held: set[str] = set()
    for logged in entries:
        user = logged.entry.audience_user or ""
        assert (user in held) is (logged.entry.kind == "access.revoked")
        held ^= {user}
    final = await service.on.storage.access.projects_of("t1", "a", ())
    assert ("p" in final) is ("a" in held)
