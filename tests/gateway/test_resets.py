"""When a stream cannot go on from where a viewer was: each reason, and what the viewer is told."""

import asyncio
import json
from pathlib import Path

import pytest
from sqlalchemy import text

from milepost.gateway.limits import StreamLimits
from milepost.storage.session import Session
from tests.gateway.baskets import ANN, Gated, joined, swap
from tests.gateway.browser import Browser
from tests.gateway.world import World, until, world


async def run(w: World, statement: str) -> None:
    async def work(session: Session) -> None:
        await session.run(text(statement), {})

    await w.storage.write(work)


@pytest.mark.accepts("short history → snapshot")
async def test_each_reason_for_a_reset_at_joining(tmp_path: Path):
    limits = StreamLimits(max_replay=5, poll_seconds=0.2)
    async with world(tmp_path, limits=limits) as w:
        epoch = await w.storage.epoch()
        for n in range(10):
            await w.book.create(f"a{n}", "ann")
        await run(w, "DELETE FROM stream_log WHERE position <= 3")
        await run(w, "UPDATE stream SET floor = 3")
        token = w.people.add("ann")
        for last_id, reason in (
            (f"{epoch}:4", "BEHIND"),
            (f"{epoch}:2", "FLOOR"),
            (f"{epoch}:11", "FUTURE"),
            (f"{epoch}:999999999999999999", "FUTURE"),
            (f"{epoch}:9999999999999999999", "EPOCH"),
            ("other:9", "EPOCH"),
            ("nonsense", "EPOCH"),
        ):
            one = await Browser.open(w.port, "/api/stream", token, last_id=last_id)
            hello, reset = await one.message(), await one.message()
            assert (hello["kind"], hello["resumed"], hello["@id"]) == ("hello", False, f"{epoch}:10")
            assert (reset["kind"], reset["reason"], reset["@id"]) == ("reset", reason, f"{epoch}:10"), last_id
            assert reset["cursor"] == f"{epoch}:10"
            one.cut()
        assert await w.storage.epoch() == epoch
        for last_id in (f"{epoch}:5", f"{epoch}:10"):
            one = await Browser.open(w.port, "/api/stream", token, last_id=last_id)
            assert (await one.message())["resumed"] is True
            one.cut()


async def test_the_floor_itself_can_still_be_resumed(tmp_path: Path):
    async with world(tmp_path) as w:
        epoch = await w.storage.epoch()
        for n in range(4):
            await w.book.create(f"a{n}", "ann")
        await run(w, "DELETE FROM stream_log WHERE position <= 2")
        await run(w, "UPDATE stream SET floor = 2")
        one = await Browser.open(w.port, "/api/stream", w.people.add("ann"), last_id=f"{epoch}:2")
        assert (await one.message())["resumed"] is True
        assert (await one.message())["position"] == "3"
        one.cut()


async def test_a_new_epoch_resets_every_viewer_of_every_tenant(tmp_path: Path):
    async with world(tmp_path, tenants=("t", "u")) as w:
        old = await w.storage.epoch()
        await w.book.create("a", "ann")
        await w.book.create("b", "bob", tenant="u")
        ann = await Browser.open(w.port, "/api/stream", w.people.add("ann"))
        bob = await Browser.open(w.port, "/api/tasks/b/stream", w.people.add("bob", tenant="u"))
        await ann.message()
        await bob.message()
        new = await w.storage.renew_epoch(old)
        assert new != old
        for one in (ann, bob):
            reset = await one.message()
            assert (reset["kind"], reset["reason"], reset["epoch"], reset["@id"]) == ("reset", "EPOCH", new, f"{new}:1")
        await w.book.create("c", "ann")
        assert (await ann.message())["@id"] == f"{new}:2"
        ann.cut()
        bob.cut()


async def test_a_commit_of_another_epoch_is_noticed_at_once(tmp_path: Path):
    limits = StreamLimits(poll_seconds=60)
    async with world(tmp_path, limits=limits) as w:
        ann = await Browser.open(w.port, "/api/stream", w.people.add("ann"))
        await ann.message()
        new = await w.storage.renew_epoch(await w.storage.epoch())
        await w.book.create("a", "ann")
        reset = await ann.message(20)
        assert (reset["reason"], reset["epoch"]) == ("EPOCH", new)
        ann.cut()


async def test_a_top_below_what_was_handed_on_begins_a_new_epoch_for_all(tmp_path: Path):
    """A database restored under a running process: its positions run again, and viewers must not trust theirs."""
    async with world(tmp_path, tenants=("t", "u")) as w:
        old = await w.storage.epoch()
        for n in range(5):
            await w.book.create(f"a{n}", "ann")
        await w.book.create("b", "bob", tenant="u")
        ann = await Browser.open(w.port, "/api/stream", w.people.add("ann"))
        bob = await Browser.open(w.port, "/api/stream", w.people.add("bob", tenant="u"))
        await ann.message()
        await bob.message()
        await run(w, "UPDATE stream SET top = 2 WHERE tenant_id = 't'")
        first, second = await ann.message(), await bob.message()
        new = await w.storage.epoch()
        assert new != old
        assert [first["kind"], first["@id"]] == ["reset", f"{new}:2"]
        assert [second["kind"], second["@id"]] == ["reset", f"{new}:1"]
        await run(w, "DELETE FROM stream_log WHERE position > 2")
        await w.book.create("new", "ann")
        assert (await ann.message())["@id"] == f"{new}:3"
        late = await Browser.open(w.port, "/api/stream", w.people.add("ann"), last_id=f"{old}:5")
        await late.message()
        assert (await late.message())["reason"] == "EPOCH"
        for one in (ann, bob, late):
            one.cut()


async def test_a_restore_is_noticed_though_nobody_listened_while_it_happened(tmp_path: Path):
    async with world(tmp_path) as w:
        old = await w.storage.epoch()
        for n in range(5):
            await w.book.create(f"a{n}", "ann")
        token = w.people.add("ann")
        one = await Browser.open(w.port, "/api/stream", token)
        await one.message()
        one.cut()
        await until(lambda: not w.feed._tails)
        await run(w, "UPDATE stream SET top = 2")
        back = await Browser.open(w.port, "/api/stream", token)
        assert (await back.message())["epoch"] != old
        back.cut()


async def test_a_look_that_began_before_a_hand_over_raises_no_alarm(tmp_path: Path):
    """The answer of a slow look is older than what was handed on meanwhile; that is no restore."""
    limits = StreamLimits(poll_seconds=60)
    async with world(tmp_path, limits=limits, serve=False) as w:
        log = Gated(w.storage.stream_log, "tops")
        await swap(w, log=log)
        basket = await joined(w)
        epoch = await w.storage.epoch()
        log.reached.clear()
        log.gate.clear()
        look = asyncio.create_task(w.feed.look())
        await log.reached.wait()
        await w.book.create("a", "ann")
        log.gate.set()
        await look
        assert await w.storage.epoch() == epoch
        assert basket.kinds == ["task.summary"]


@pytest.mark.parametrize("after", [0, 3])
async def test_entries_lost_to_retention_before_they_were_handed_on_reset_the_viewers(tmp_path: Path, after: int):
    limits = StreamLimits(poll_seconds=60)
    async with world(tmp_path, limits=limits) as w:
        w.book.announce = False
        epoch = await w.storage.epoch()
        one = await Browser.open(w.port, "/api/stream", w.people.add("ann"))
        await one.message()
        for n in range(5):
            await w.book.create(f"a{n}", "ann")
        await run(w, f"DELETE FROM stream_log WHERE position <= {after}")
        await run(w, f"UPDATE stream SET floor = {after}")
        await w.feed.look()
        if after:
            reset = await one.message()
            assert (reset["kind"], reset["reason"], reset["@id"]) == ("reset", "FLOOR", f"{epoch}:{after}")
        assert [(await one.message())["position"] for _ in range(after, 5)] == [str(n) for n in range(after + 1, 6)]
        one.cut()


@pytest.mark.accepts("short history → snapshot")
async def test_entries_lost_to_retention_while_a_viewer_reads_them_reset_it(tmp_path: Path):
    limits = StreamLimits(poll_seconds=60)
    async with world(tmp_path, limits=limits) as w:
        log = Gated(w.storage.stream_log, "entries")
        await swap(w, log=log)
        epoch = await w.storage.epoch()
        for n in range(5):
            await w.book.create(f"a{n}", "ann")
        w.feed.admit(ANN)
        viewer = await w.feed.join(ANN, (epoch, 1))
        log.gate.clear()
        planning = asyncio.create_task(w.feed.replay(viewer, (epoch, 1)))
        await log.reached.wait()
        await run(w, "UPDATE stream SET floor = 3")
        log.gate.set()
        opening = (await planning).opening
        assert [message.kind for message in opening] == ["hello", "reset"]
        assert json.loads(opening[1].body)["reason"] == "FLOOR"


async def test_an_epoch_that_ends_while_a_viewer_joins_is_told_once_and_after_the_hello(tmp_path: Path):
    limits = StreamLimits(poll_seconds=60)
    async with world(tmp_path, limits=limits) as w:
        log = Gated(w.storage.stream_log, "entries")
        await swap(w, log=log)
        old = await w.storage.epoch()
        for n in range(5):
            await w.book.create(f"a{n}", "ann")
        w.feed.admit(ANN)
        viewer = await w.feed.join(ANN, (old, 1))
        log.gate.clear()
        planning = asyncio.create_task(w.feed.replay(viewer, (old, 1)))
        await log.reached.wait()
        new = await w.storage.renew_epoch(old)
        await w.book.create("b", "ann")
        log.gate.set()
        replay = await planning
        assert [(message.kind, message.place) for message in replay.opening] == [("hello", f"{new}:6")]
        assert json.loads(replay.opening[0].body)["resumed"] is False
        assert [chunk async for chunk in replay.chunks()] == []
        viewer.go_live()
        assert [(message.kind, message.place) for message in viewer.queue.take()] == [("reset", f"{new}:6")]
