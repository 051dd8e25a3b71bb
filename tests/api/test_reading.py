"""What people read: lists and their cursors, one task and its tag, the timeline, what is newer than what is known."""

from typing import Any

import pytest

from tests.parts.reports import Reported, create
from tests.parts.stand import Stand

PLAN = "/internal/v1/tasks"


async def api(service: Stand) -> str:
    return await service.credential("api", "report", "coordinate")


async def listed(service: Stand, viewer: str, query: str = "") -> list[str]:
    answer = await service.get(f"/api/tasks{query}", viewer)
    assert answer.status_code == 200, answer.text
    return [item["id"] for item in answer.json()["items"]]


async def fill(service: Stand, coordinator: str, count: int, **more: Any) -> list[str]:
    """Tasks made one after another; two share each instant. Their ids, oldest first."""
    names: list[str] = []
    for number in range(count):
        await create(service, coordinator, ("a", "OP", "p1"), taskId=f"k{number:02}", title=f"title {number}", **more)
        names.append(f"k{number:02}")
        if number % 2:
            service.clock.pass_ms(1)
    return names


async def test_a_list_is_newest_first_and_paged_without_loss(service: Stand) -> None:
    coordinator, viewer = await api(service), await service.session("u1")
    names = await fill(service, coordinator, 9)
    assert await listed(service, viewer) == names[::-1]
    for limit in (1, 2, 4, 9, 200):
        seen: list[str] = []
        cursor, streams = "", set[str]()
        while True:
            page = (await service.get(f"/api/tasks?limit={limit}{cursor}", viewer)).json()
            assert len(page["items"]) <= limit
            seen += [item["id"] for item in page["items"]]
            streams.add(page["streamCursor"])
            if page["nextCursor"] is None:
                break
            cursor = f"&cursor={page['nextCursor']}"
        assert seen == names[::-1]
        assert len(streams) == 1


async def test_later_pages_keep_the_first_pages_stream_cursor_and_miss_nothing_older(service: Stand) -> None:
    coordinator, viewer = await api(service), await service.session("u1")
    names = await fill(service, coordinator, 4)
    first = (await service.get("/api/tasks?limit=2", viewer)).json()
    await create(service, coordinator, taskId="newer")
    await service.post(f"/api/tasks/{names[0]}:requestCancel", viewer)
    second = (await service.get(f"/api/tasks?limit=2&cursor={first['nextCursor']}", viewer)).json()
    assert [item["id"] for item in second["items"]] == names[1::-1]
    assert second["streamCursor"] == first["streamCursor"]
    changed = (await service.get(f"/api/tasks?changedAfter={first['streamCursor']}", viewer)).json()
    assert [item["id"] for item in changed["items"]] == ["newer", names[0]]


async def test_a_list_is_narrowed_by_each_of_its_filters(service: Stand) -> None:
    coordinator = await api(service)
    viewer = await service.session("u1", "pr")
    made = await create(service, coordinator, ("a", "OP", "p1"), taskId="one", title="Größe_100%.PDF", projectId="pr")
    service.clock.pass_ms(10_000)
    await create(service, coordinator, taskId="two", taskType="OTHER", title="zwei")
    await create(service, coordinator, taskId="three", ownerId="u2", projectId="pr", title="drei")
    await Reported(service, made["contexts"][0]).report("STEP_STARTED")
    for query, names in (
        ("?lifecycleStatus=RUNNING", ["one"]),
        ("?lifecycleStatus=PENDING", ["two", "three"]),
        ("?lifecycleStatus=SUCCEEDED", []),
        ("?taskType=OTHER", ["two"]),
        ("?taskType=other", []),
        ("?projectId=pr", ["one", "three"]),
        ("?projectId=pr&lifecycleStatus=PENDING", ["three"]),
        ("?projectId=zz", []),
        ("?q=GR%C3%96SSE", ["one"]),
        ("?q=100%25", ["one"]),
        ("?q=0%25.", ["one"]),
        ("?q=_", ["one"]),
        ("?q=%25", ["one"]),
        ("?q=THREE", ["three"]),
        ("?q=", ["one", "two", "three"]),
        ("?updatedAfter=2027-01-15T08:00:05Z", ["one", "two", "three"]),
        ("?updatedAfter=2027-01-15T09:00:10%2B01:00", []),
        ("?updatedAfter=2099-01-01T00:00:00Z", []),
    ):
        assert sorted(await listed(service, viewer, query)) == sorted(names), query


async def test_a_query_that_cannot_be_meant_is_refused_with_its_place(service: Stand) -> None:
    viewer = await service.session("u1")
    epoch = (await service.get("/api/tasks", viewer)).json()["epoch"]
    for name, values in (
        ("limit", ["0", "201", "-1", "x", "1.0", "", "%C2%B2", "9" * 30, "1e1", "+1"]),
        ("lifecycleStatus", ["running", "", "DONE", "RUNNING%0A"]),
        ("updatedAfter", ["yesterday", "2027-01-15", "2027-01-15T08:00:00", "", "0", "2027-01-15T08:00:00+01:00"]),
        (
            "cursor",
            ["", "x", "1|k|e", f"%C2%B2|k|{epoch}:1", f"1|k%00|{epoch}:1", f"1|k|{epoch}:1|", "|||", f"-1|k|{epoch}:1"],
        ),
        (
            "changedAfter",
            ["", "x", "1", f"{epoch}:", f"{epoch}:-1", f"{epoch}:{'9' * 19}", f"{epoch}:%C2%B2", f"{epoch}:1%0A"],
        ),
        ("q", ["x" * 301]),
    ):
        for value in values:
            answer = await service.get(f"/api/tasks?{name}={value}", viewer)
            assert answer.status_code == 422, (name, value)
            assert answer.json()["errors"][0]["pointer"] == f"/query/{name}", (name, value)


async def test_a_list_cursor_of_another_epoch_has_expired(service: Stand) -> None:
    coordinator, viewer = await api(service), await service.session("u1")
    await fill(service, coordinator, 3)
    page = (await service.get("/api/tasks?limit=1", viewer)).json()
    changed = f"/api/tasks?changedAfter={page['streamCursor']}"
    assert (await service.get(changed, viewer)).status_code == 200
    await service.storage.renew_epoch(page["epoch"])
    for path in (f"/api/tasks?limit=1&cursor={page['nextCursor']}", changed):
        answer = await service.get(path, viewer)
        assert (answer.status_code, answer.json()["code"]) == (410, "CURSOR_EXPIRED")
        assert answer.headers["milepost-epoch"] != page["epoch"]


async def test_changes_come_by_ascending_position_and_end_where_nothing_is_new(service: Stand) -> None:
    coordinator, viewer = await api(service), await service.session("u1")
    names = await fill(service, coordinator, 5)
    start = (await service.get("/api/tasks", viewer)).json()
    epoch, _, top = start["streamCursor"].partition(":")
    for name in (names[3], names[1], names[3]):
        await service.put(
            f"{PLAN}/{name}/steps/a/attempts/{2 if name == names[1] else 9}", coordinator, {"abandon": True}
        )
    await service.post(f"/api/tasks/{names[3]}:requestCancel", viewer)
    page = (await service.get(f"/api/tasks?changedAfter={start['streamCursor']}", viewer)).json()
    assert [item["id"] for item in page["items"]] == [names[1], names[3]]
    assert page["more"] is False
    assert page["removed"] == []
    again = (await service.get(f"/api/tasks?changedAfter={page['nextCursor']}", viewer)).json()
    assert (again["items"], again["nextCursor"]) == ([], page["nextCursor"])
    whole = (await service.get(f"/api/tasks?changedAfter={epoch}:0&limit=2", viewer)).json()
    assert [item["id"] for item in whole["items"]] == [names[0], names[2]]
    assert whole["more"] is True
    future = await service.get(f"/api/tasks?changedAfter={epoch}:{int(top) + 100}", viewer)
    assert (future.status_code, future.json()["code"]) == (410, "CURSOR_EXPIRED")
    foreign = await service.get(f"/api/tasks?changedAfter=x{epoch[1:]}:0", viewer)
    assert foreign.json()["code"] == "CURSOR_EXPIRED"
    huge = await service.get(f"/api/tasks?changedAfter={epoch}:{'9' * 18}", viewer)
    assert huge.json()["code"] == "CURSOR_EXPIRED"


@pytest.mark.accepts("projections obey their whitelist")
async def test_a_project_sees_a_task_without_its_result_and_its_owner_with_it(service: Stand) -> None:
    coordinator = await api(service)
    await create(service, coordinator, taskId="k1", projectId="pr")
    said = {
        "eventId": "end",
        "taskId": "k1",
        "taskType": "DOCUMENT_PROCESS",
        "taskAttempt": 1,
        "eventType": "TASK_FAILED",
        "occurredAt": "2027-01-15T08:00:00Z",
        "resultRef": {"id": "r1", "title": "t", "mediaType": "text/plain", "size": 3},
        "error": {"category": "SYSTEM", "code": "E", "userMessage": "words", "diagnosticsRef": "s3cret"},
        "traceId": "s3cret",
        "executionLogUrl": "https://s3cret",
    }
    assert (await service.post("/internal/v1/task-events", coordinator, said)).status_code == 200
    owner, member = await service.session("u1"), await service.session("u2", "pr")
    paths = ("/api/tasks", "/api/tasks/k1", "/api/tasks/k1/events")
    for viewer in (owner, member):
        for path in paths:
            assert "s3cret" not in (await service.get(path, viewer)).text
    (wide,), (narrow,) = [(await service.get("/api/tasks", viewer)).json()["items"] for viewer in (owner, member)]
    assert wide["resultRef"]["id"] == "r1"
    assert wide["failure"]["userMessage"] == "words"
    assert (narrow["resultRef"], narrow["failure"]["userMessage"]) == (None, None)
    body = {"taskIds": ["k1"]}
    (got,) = (await service.post("/api/tasks/status:batchGet", member, body)).json()["items"]
    assert got["resultRef"] is None


async def test_a_tag_spares_what_is_known_and_no_more(service: Stand) -> None:
    coordinator, viewer = await api(service), await service.session("u1")
    made = await create(service, coordinator, ("a", "OP", "p1"), taskId="k1")
    first = await service.get("/api/tasks/k1", viewer)
    tag = first.headers["etag"]
    epoch = first.json()["epoch"]
    assert tag.startswith(f'W/"{epoch}-1-')
    for known in (tag, f'"x", {tag}', tag.removeprefix("W/"), "*", f'W/"a",{tag} , "b"'):
        spared = await service.get("/api/tasks/k1", viewer, if_none_match=known)
        assert (spared.status_code, spared.content) == (304, b"")
        assert spared.headers["etag"] == tag
    for known in ('"x"', "", tag[:-2], tag.replace("-1-", "-2-")):
        assert (await service.get("/api/tasks/k1", viewer, if_none_match=known)).status_code == 200
    assert (await service.get("/api/tasks/k1?attempts=all", viewer, if_none_match=tag)).status_code == 200
    await Reported(service, made["contexts"][0]).report("STEP_STARTED")
    assert (await service.get("/api/tasks/k1", viewer, if_none_match=tag)).status_code == 200
    foreign = await service.get("/api/tasks/k1", await service.session("u9"), if_none_match="*")
    assert foreign.status_code == 404
    newer = (await service.get("/api/tasks/k1", viewer)).headers["etag"]
    await service.storage.renew_epoch(epoch)
    assert (await service.get("/api/tasks/k1", viewer, if_none_match=newer)).headers["etag"] != newer


async def test_superseded_attempts_are_shown_where_they_are_asked_for(service: Stand) -> None:
    coordinator, viewer = await api(service), await service.session("u1")
    made = await create(service, coordinator, ("a", "OP", "p1"), ("b", "OP", "p1"), taskId="k1")
    await Reported(service, made["contexts"][0]).report("STEP_FAILED", error={"category": "SYSTEM", "code": "E"})
    await service.put(f"{PLAN}/k1/steps/a/attempts/2", coordinator, {})
    shown = (await service.get("/api/tasks/k1", viewer)).json()["steps"]
    assert [(step["id"], step["attempt"]) for step in shown] == [("a", 2), ("b", 1)]
    every = (await service.get("/api/tasks/k1?attempts=all", viewer)).json()["steps"]
    assert [(step["id"], step["attempt"]) for step in every] == [("a", 2), ("a", 1), ("b", 1)]
    assert every[1]["error"]["code"] == "E"


@pytest.mark.accepts("timeline resumes from afterTaskVersion and says when history is gone")
async def test_the_timeline_is_paged_by_version(service: Stand) -> None:
    coordinator, viewer = await api(service), await service.session("u1")
    made = await create(service, coordinator, ("a", "OP", "p1"), taskId="k1")
    step = Reported(service, made["contexts"][0])
    for number in range(6):
        await step.report("STEP_PROGRESS", stage=f"s{number}")
    seen: list[str] = []
    after = "0"
    while True:
        page = (await service.get(f"/api/tasks/k1/events?limit=3&afterTaskVersion={after}", viewer)).json()
        seen += [item["taskVersion"] for item in page["items"]]
        if page["nextAfterTaskVersion"] is None:
            break
        after = page["nextAfterTaskVersion"]
    assert seen == [str(number) for number in range(1, 8)]
    beyond = (await service.get("/api/tasks/k1/events?afterTaskVersion=99", viewer)).json()
    assert beyond == {"items": [], "nextAfterTaskVersion": None}
    for query in ("afterTaskVersion=-1", "afterTaskVersion=x", f"afterTaskVersion={2**53}", "limit=0", "limit=501"):
        answer = await service.get(f"/api/tasks/k1/events?{query}", viewer)
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, f"/query/{query.partition('=')[0]}")


async def test_a_batch_of_tasks_gives_what_is_newer_and_says_what_is_gone(service: Stand) -> None:
    coordinator, viewer = await api(service), await service.session("u1")
    names = await fill(service, coordinator, 3)
    await create(service, coordinator, taskId="foreign", ownerId="u2")
    await service.post(f"/api/tasks/{names[0]}:requestCancel", viewer)
    path = "/api/tasks/status:batchGet"
    whole = (await service.post(path, viewer, {"taskIds": [*names, "foreign", "nowhere", names[0]]})).json()
    epoch = whole["epoch"]
    assert sorted(item["id"] for item in whole["items"]) == names
    assert whole["gone"] == ["foreign", "nowhere"]
    assert whole["details"] == []
    for known, given_epoch, newer in (
        ({names[0]: "1", names[1]: "1", names[2]: "1"}, epoch, [names[0]]),
        ({names[0]: "2", names[1]: "1", names[2]: "1"}, epoch, []),
        ({names[0]: "3"}, epoch, names[1:]),
        ({names[0]: "2", names[1]: "1"}, "another", names),
        ({names[0]: "2", names[1]: "1"}, None, names),
    ):
        body = {"taskIds": names, "knownVersions": known, "epoch": given_epoch}
        got = (await service.post(path, viewer, body)).json()
        assert sorted(item["id"] for item in got["items"]) == newer, body
    detail = (await service.post(path, viewer, {"taskIds": names[:2], "view": "detail"})).json()
    assert detail["items"] == []
    assert [[step["id"] for step in one["steps"]] for one in detail["details"]] == [["a"], ["a"]]
    assert (await service.post(path, viewer, {"taskIds": []})).json()["gone"] == []
    for body, pointer in (
        ({"taskIds": [f"k{number}" for number in range(201)]}, "/taskIds"),
        ({"taskIds": ["a b"]}, "/taskIds/0"),
        ({"taskIds": names, "knownVersions": {names[0]: 1}}, "/knownVersions"),
        ({"taskIds": names, "knownVersions": {names[0]: "-1"}}, "/knownVersions"),
        ({"taskIds": names, "view": "all"}, "/view"),
    ):
        answer = await service.post(path, viewer, body)
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, pointer)
    many = {"taskIds": [f"k{number}" for number in range(200)]}
    assert len((await service.post(path, viewer, many)).json()["gone"]) == 200 - 0
