"""The streams as a client sees them: what comes first, what carries which id, who is told what."""

import asyncio
import json
from pathlib import Path

import pytest

from milepost.domain.values import Progress
from milepost.gateway.limits import StreamLimits
from tests.gateway.browser import Browser, Refused
from tests.gateway.test_framing import HOSTILE
from tests.gateway.world import FRIEND, world


async def test_hello_comes_first_and_says_where_the_stream_goes_on(tmp_path: Path):
    async with world(tmp_path) as w:
        epoch = await w.storage.epoch()
        await w.book.create("t1", "ann")
        one = await Browser.open(w.port, "/api/stream", w.people.add("ann"))
        hello = await one.message()
        assert hello["kind"] == "hello"
        assert (hello["resumed"], hello["cursor"], hello["@id"]) == (False, f"{epoch}:1", f"{epoch}:1")
        assert 1_000 <= (one.parser.retry or 0) <= 4_000
        assert one.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert one.headers["cache-control"] == "no-cache, no-transform"
        assert one.headers["x-accel-buffering"] == "no"
        await w.book.create("t2", "ann")
        live = await one.message()
        assert (live["kind"], live["taskId"], live["@id"], live["replayed"]) == (
            "task.summary",
            "t2",
            f"{epoch}:2",
            False,
        )
        one.cut()


async def test_a_viewer_that_resumes_is_sent_what_it_missed_and_then_what_is_live(tmp_path: Path):
    async with world(tmp_path) as w:
        epoch = await w.storage.epoch()
        await w.book.create("a", "ann")
        await w.book.create("b", "ann")
        await w.book.fact("a", "STEP_STARTED")
        one = await Browser.open(w.port, "/api/stream", w.people.add("ann"), last_id=f"{epoch}:1")
        hello = await one.message()
        assert (hello["resumed"], hello["cursor"], hello["@id"]) == (True, f"{epoch}:1", f"{epoch}:1")
        replayed = [await one.message(), await one.message()]
        assert [(m["taskId"], m["position"], m["replayed"]) for m in replayed] == [("b", "2", True), ("a", "3", True)]
        await w.book.progress("a", 10)
        live = await one.message()
        assert (live["taskId"], live["version"], live["@id"], live["replayed"]) == ("a", "3", f"{epoch}:4", False)
        one.cut()


async def test_last_event_id_wins_over_after_and_after_alone_resumes(tmp_path: Path):
    async with world(tmp_path) as w:
        epoch = await w.storage.epoch()
        for name in "abc":
            await w.book.create(name, "ann")
        token = w.people.add("ann")
        both = await Browser.open(w.port, f"/api/stream?after={epoch}:1", token, last_id=f"{epoch}:2")
        assert (await both.message())["cursor"] == f"{epoch}:2"
        assert (await both.message())["taskId"] == "c"
        alone = await Browser.open(w.port, f"/api/stream?after={epoch}:1", token, cookie=True)
        assert (await alone.message())["cursor"] == f"{epoch}:1"
        assert (await alone.message())["taskId"] == "b"
        both.cut()
        alone.cut()


async def test_mergeable_entries_of_one_task_collapse_into_their_last_in_a_replay(tmp_path: Path):
    async with world(tmp_path) as w:
        epoch = await w.storage.epoch()
        await w.book.create("a", "ann")
        await w.book.create("b", "ann")
        await w.book.fact("a", "STEP_STARTED")
        for current in (10, 20, 30):
            await w.book.progress("a", current)
        one = await Browser.open(w.port, "/api/stream", w.people.add("ann"), last_id=f"{epoch}:0")
        await one.message()
        seen = [await one.message() for _ in range(4)]
        assert [(m["taskId"], m["position"]) for m in seen] == [("a", "1"), ("b", "2"), ("a", "3"), ("a", "6")]
        assert {m["version"] for m in seen if m["taskId"] == "a"} == {"5"}
        one.cut()


async def test_an_owner_who_is_also_a_member_gets_each_entry_once_in_the_widest_projection(tmp_path: Path):
    async with world(tmp_path) as w:
        ann = await Browser.open(w.port, "/api/stream", w.people.add("ann", "p"))
        bob = await Browser.open(w.port, "/api/stream", w.people.add("bob", "p"))
        cat = await Browser.open(w.port, "/api/stream", w.people.add("cat", "q"))
        project = await Browser.open(w.port, "/api/projects/p/stream", w.people.add("ann", "p"))
        for one in (ann, bob, cat, project):
            await one.message()
        await w.book.create("a", "ann", "p", summary={"pages": 3, "secret": 1})
        await w.book.create("end", "cat", "q")
        assert (await ann.message())["task"]["summaryData"] == {"schema": "job.summary.v1", "value": {"pages": 3}}
        assert (await bob.message())["task"]["summaryData"] is None
        assert (await project.message())["task"]["summaryData"] is not None
        assert (await cat.message())["taskId"] == "end"
        place = f"{await w.storage.epoch()}:2"
        for one in (ann, bob, project):
            await one.until_id(place)
            assert one.waiting == []
            one.cut()
        assert w.counts.by["encoded task.summary"] == 3
        cat.cut()


async def test_a_detail_stream_has_the_steps_and_the_event_live_and_replayed(tmp_path: Path):
    async with world(tmp_path) as w:
        epoch = await w.storage.epoch()
        await w.book.create("a", "ann", steps=2)
        await w.book.create("b", "ann", steps=2)
        token = w.people.add("ann")
        one = await Browser.open(w.port, "/api/tasks/a/stream", token)
        await one.message()
        await w.book.fact("b", "STEP_STARTED")
        await w.book.fact("a", "STEP_STARTED")
        w.book.announce = False
        await w.book.fact("a", "STEP_COMPLETED", duration_ms=77)
        live = [await one.message(), await one.message()]
        assert [m["kind"] for m in live] == ["task.detail"] * 2
        assert [s["id"] for s in live[0]["steps"]] == ["s0", "s1"]
        assert [m["triggerEvent"]["eventType"] for m in live] == ["STEP_STARTED", "STEP_COMPLETED"]
        again = await Browser.open(w.port, "/api/tasks/a/stream", token, last_id=f"{epoch}:1")
        await again.message()
        replayed = [await again.message(), await again.message()]
        assert [m["triggerEvent"]["eventType"] for m in replayed] == ["STEP_STARTED", "STEP_COMPLETED"]
        assert replayed[1]["triggerEvent"]["durationMs"] == 77
        assert {m["version"] for m in replayed} == {"3"}
        one.cut()
        again.cut()


async def test_a_removal_reaches_list_and_detail_and_nothing_of_the_task_after_it(tmp_path: Path):
    async with world(tmp_path) as w:
        epoch = await w.storage.epoch()
        await w.book.create("a", "ann", "p")
        token = w.people.add("ann")
        streams = [
            await Browser.open(w.port, "/api/stream", token),
            await Browser.open(w.port, "/api/tasks/a/stream", token),
            await Browser.open(w.port, "/api/projects/p/stream", w.people.add("bob", "p")),
        ]
        for one in streams:
            await one.message()
        await w.book.remove("a")
        for one in streams:
            gone = await one.message()
            assert (gone["kind"], gone["taskId"], gone["version"], gone["@id"]) == (
                "task.removed",
                "a",
                "2",
                f"{epoch}:2",
            )
            one.cut()
        late = await Browser.open(w.port, "/api/stream", token, last_id=f"{epoch}:0")
        await late.message()
        gone = await late.message()
        assert (gone["kind"], gone["replayed"]) == ("task.removed", True)
        late.cut()
        with pytest.raises(Refused) as refused:
            await Browser.open(w.port, "/api/tasks/a/stream", token)
        assert refused.value.body["code"] == "NOT_FOUND"


@pytest.mark.accepts("connection identity from a verified login")
@pytest.mark.accepts("no foreign tenant channel")
async def test_what_a_viewer_may_not_see_is_not_found_or_not_theirs(tmp_path: Path):
    async with world(tmp_path, tenants=("t", "other")) as w:
        await w.book.create("a", "ann", "p")
        denied = [
            ("/api/tasks/a/stream", w.people.add("bob", "q"), 404, "NOT_FOUND"),
            ("/api/tasks/a/stream", w.people.add("ann", "p", tenant="other"), 404, "NOT_FOUND"),
            ("/api/tasks/%00%0a/stream", w.people.add("ann"), 404, "NOT_FOUND"),
            ("/api/projects/p/stream", w.people.add("bob", "q"), 404, "NOT_FOUND"),
            ("/api/stream", None, 401, "UNAUTHENTICATED"),
            ("/api/stream", "no-such-token", 401, "UNAUTHENTICATED"),
            ("/api/stream?after=nonsense", w.people.add("ann"), 422, "FIELD_INVALID"),
        ]
        for path, token, status, code in denied:
            with pytest.raises(Refused) as refused:
                await Browser.open(w.port, path, token)
            assert (refused.value.status, refused.value.body["code"]) == (status, code)
            assert refused.value.headers["content-type"] == "application/problem+json"
        for token in (w.people.add("bob", "p"), w.people.add("root", roles=frozenset({"admin"}))):
            one = await Browser.open(w.port, "/api/tasks/a/stream", token)
            await one.message()
            await w.book.fact("a", "STEP_STARTED") if token.startswith("t.bob") else await w.book.progress("a", 5)
            assert (await one.message())["taskId"] == "a"
            one.cut()


@pytest.mark.parametrize("title", HOSTILE)
@pytest.mark.accepts("no injection by title, message, id or header into page, SSE frame, log or CSV")
async def test_hostile_titles_make_exactly_one_event_each_and_arrive_intact(tmp_path: Path, title: str):
    async with world(tmp_path) as w:
        epoch = await w.storage.epoch()
        token = w.people.add("ann")
        one = await Browser.open(w.port, "/api/stream", token)
        await one.message()
        await w.book.create("a", "ann", title=title)
        await w.book.create("b", "ann", title="next")
        live = [await one.message(), await one.message()]
        again = await Browser.open(w.port, "/api/stream", token, last_id=f"{epoch}:0")
        await again.message()
        for seen in (live, [await again.message(), await again.message()]):
            assert [(m["task"]["title"], m["@id"]) for m in seen] == [(title, f"{epoch}:1"), ("next", f"{epoch}:2")]
        one.cut()
        again.cut()


async def test_a_detail_above_the_limit_goes_without_its_steps(tmp_path: Path):
    limits = StreamLimits(max_message=4_000, poll_seconds=0.2)
    async with world(tmp_path, limits=limits) as w:
        await w.book.create("a", "ann", steps=40)
        one = await Browser.open(w.port, "/api/tasks/a/stream", w.people.add("ann"))
        await one.message()
        await w.book.fact("a", "STEP_STARTED")
        large = await one.message()
        assert (large["steps"], large["refetch"], large["version"]) == (None, True, "2")
        one.cut()


async def test_a_heartbeat_moves_the_cursor_of_a_viewer_whom_nothing_concerned(tmp_path: Path):
    limits = StreamLimits(heartbeat_seconds=0.16, poll_seconds=0.2)
    async with world(tmp_path, limits=limits) as w:
        epoch = await w.storage.epoch()
        one = await Browser.open(w.port, "/api/stream", w.people.add("ann"))
        await one.message()
        for n in range(5):
            await w.book.create(f"b{n}", "bob")
        await one.until_id(f"{epoch}:5", 15)
        assert one.waiting == []
        before = one.parser.comments
        async with asyncio.timeout(15):
            while one.parser.comments == before:
                assert await one.chunk() == []
        assert one.last_id == f"{epoch}:5"
        one.cut()


async def test_a_heartbeat_also_moves_a_viewer_that_resumed_and_had_missed_nothing_of_its_own(tmp_path: Path):
    limits = StreamLimits(heartbeat_seconds=0.16, poll_seconds=0.2)
    async with world(tmp_path, limits=limits) as w:
        epoch = await w.storage.epoch()
        for n in range(5):
            await w.book.create(f"b{n}", "bob")
        one = await Browser.open(w.port, "/api/stream", w.people.add("ann"), last_id=f"{epoch}:1")
        await one.message()
        await one.until_id(f"{epoch}:5", 15)
        one.cut()


async def test_several_facts_of_one_commit_collapse_where_they_may(tmp_path: Path):
    async with world(tmp_path) as w:
        await w.book.create("a", "ann")
        one = await Browser.open(w.port, "/api/stream", w.people.add("ann"))
        await one.message()
        says = w.book.says
        await w.book.commit(
            "t",
            [
                ("a", says("a", "STEP_STARTED")),
                ("a", says("a", "STEP_PROGRESS", progress=Progress(1, 100))),
                ("a", says("a", "STEP_PROGRESS", progress=Progress(50, 100))),
            ],
        )
        await w.book.create("end", "ann")
        seen = [await one.message() for _ in range(3)]
        assert [(m["taskId"], m["position"], m["version"]) for m in seen] == [
            ("a", "2", "4"),
            ("a", "4", "4"),
            ("end", "5", "1"),
        ]
        one.cut()


async def test_a_head_request_gets_the_headers_and_no_stream(tmp_path: Path):
    async with world(tmp_path) as w:
        one = await Browser.open(w.port, "/api/stream", w.people.add("ann"), method="HEAD")
        assert one.headers["content-type"].startswith("text/event-stream")
        one.cut()
        assert json.dumps(w.counts.by)


async def test_a_page_of_an_allowed_origin_may_read_its_stream(tmp_path: Path):
    async with world(tmp_path) as w:
        token = w.people.add("ann")
        friend = await Browser.open(w.port, "/api/stream", token, origin=FRIEND)
        assert friend.headers["access-control-allow-origin"] == FRIEND
        assert friend.headers["content-type"].startswith("text/event-stream")
        await friend.message()
        stranger = await Browser.open(w.port, "/api/stream", token, origin="https://stranger.test")
        assert "access-control-allow-origin" not in stranger.headers
        plain = await Browser.open(w.port, "/api/stream", token)
        assert "access-control-allow-origin" not in plain.headers
        for one in (friend, stranger, plain):
            one.cut()
