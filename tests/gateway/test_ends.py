"""How streams end: expiry, revocation, draining, caps, and viewers that do not read."""

import asyncio
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from milepost.gateway.limits import StreamLimits
from milepost.ports.storage import Unavailable
from tests.gateway.browser import Browser, Refused
from tests.gateway.world import until, world

QUICK = StreamLimits(heartbeat_seconds=0.16, poll_seconds=0.2, linger_seconds=0.5)


async def test_the_end_of_a_session_ends_its_stream_and_sends_nothing_more(tmp_path: Path):
    async with world(tmp_path, limits=QUICK) as w:
        short = await Browser.open(w.port, "/api/stream", w.people.add("ann", ttl=10_000))
        long = await Browser.open(w.port, "/api/stream", w.people.add("ann", ttl=100_000))
        await short.message()
        await long.message()
        w.clock.ms += 10_000
        assert await short.until_closed(15) == []
        assert short.ended
        await w.book.create("a", "ann")
        assert (await long.message())["taskId"] == "a"
        assert w.counts.by["ended expired"] == 1
        long.cut()


async def test_a_revoked_session_ends_all_its_streams_at_once_and_no_other(tmp_path: Path):
    async with world(tmp_path) as w:
        await w.book.create("a", "ann")
        token, other = w.people.add("ann"), w.people.add("ann")
        mine = [await Browser.open(w.port, path, token) for path in ("/api/stream", "/api/tasks/a/stream")]
        theirs = await Browser.open(w.port, "/api/stream", other)
        for one in (*mine, theirs):
            await one.message()
        w.feed.revoke(f"session-{token}")
        for one in mine:
            assert await one.until_closed(15) == []
            assert one.ended
        await w.book.fact("a", "STEP_STARTED")
        assert (await theirs.message())["taskId"] == "a"
        theirs.cut()


async def test_draining_tells_everybody_when_to_come_back_and_lets_nobody_in(tmp_path: Path):
    async with world(tmp_path) as w:
        token = w.people.add("ann")
        streams = [await Browser.open(w.port, "/api/stream", token) for _ in range(20)]
        for one in streams:
            await one.message()
            one.parser.retry = None
        await w.book.create("last", "ann")
        began = time.monotonic()
        reading = [asyncio.create_task(one.until_closed()) for one in streams]
        await w.feed.drain()
        assert time.monotonic() - began < 4
        for seen in await asyncio.gather(*reading):
            assert [s.event for s in seen] == ["task.summary"]
        assert all(one.ended for one in streams)
        assert len({one.parser.retry for one in streams}) > 5
        with pytest.raises(Refused) as refused:
            await Browser.open(w.port, "/api/stream", token)
        assert (refused.value.status, refused.value.body["code"]) == (503, "UNAVAILABLE")
        assert int(refused.value.headers["retry-after"]) >= 1
        assert w.counts.by["ended drained"] == 20


async def test_a_drain_with_nobody_there_is_over_at_once(tmp_path: Path):
    async with world(tmp_path, serve=False) as w:
        async with asyncio.timeout(1):
            await w.feed.drain()


@pytest.mark.accepts("subscription limit enforced by the server")
async def test_caps_of_user_and_tenant_answer_429_and_a_place_is_free_again(tmp_path: Path):
    limits = StreamLimits(per_user=2, per_tenant=3)
    async with world(tmp_path, limits=limits) as w:
        ann, bob = w.people.add("ann"), w.people.add("bob")
        open_ = [await Browser.open(w.port, "/api/stream", ann) for _ in range(2)]
        with pytest.raises(Refused) as refused:
            await Browser.open(w.port, "/api/stream", ann)
        assert (refused.value.status, refused.value.body["code"]) == (429, "RATE_LIMITED")
        assert int(refused.value.headers["retry-after"]) >= 1
        open_.append(await Browser.open(w.port, "/api/stream", bob))
        with pytest.raises(Refused):
            await Browser.open(w.port, "/api/stream", bob)
        open_[0].cut()
        await until(lambda: w.counts.by.get("ended gone") == 1)
        open_.append(await Browser.open(w.port, "/api/stream", ann))
        for one in open_:
            one.cut()


async def test_refusals_after_joining_give_their_place_back(tmp_path: Path):
    limits = StreamLimits(per_user=1)
    async with world(tmp_path, limits=limits) as w:
        token = w.people.add("ann")
        for _ in range(3):
            with pytest.raises(Refused) as refused:
                await Browser.open(w.port, "/api/tasks/none/stream", token)
            assert refused.value.status == 404
        one = await Browser.open(w.port, "/api/stream", token)
        await one.message()
        one.cut()


async def test_a_client_that_is_gone_is_noticed_without_a_message(tmp_path: Path):
    async with world(tmp_path) as w:
        streams = [await Browser.open(w.port, "/api/stream", w.people.add("ann")) for _ in range(10)]
        for one in streams:
            await one.message()
            one.cut()
        await until(lambda: w.counts.by.get("ended gone") == 10)
        assert not w.feed._tails


async def test_thirty_open_streams_hold_no_reader_of_the_database(tmp_path: Path):
    """B40: all readers together would not be enough for thirty streams if each held one."""
    async with world(tmp_path) as w:
        await w.book.create("a", "ann")
        token = w.people.add("ann")
        streams = [
            await Browser.open(w.port, path, token)
            for path in ("/api/stream", "/api/tasks/a/stream")
            for _ in range(15)
        ]
        for one in streams:
            await one.message()
        began = time.monotonic()
        await asyncio.gather(*(w.storage.stream_log.tops(["t"]) for _ in range(8)))
        assert time.monotonic() - began < 5
        for one in streams[:15]:
            one.cut()
        await until(lambda: w.counts.by.get("ended gone") == 15)
        await w.book.fact("a", "STEP_STARTED")
        for one in streams[15:]:
            assert (await one.message())["kind"] == "task.detail"
            one.cut()


async def test_a_viewer_that_never_reads_is_closed_with_bounded_memory_and_disturbs_nobody(tmp_path: Path):
    limits = StreamLimits(queue_bytes=64 * 1024, linger_seconds=0.3, poll_seconds=0.2)
    async with world(tmp_path, limits=limits) as w:
        token = w.people.add("ann")
        stuck = await Browser.open(w.port, "/api/stream", token, small=True)
        reader = await Browser.open(w.port, "/api/stream", token)
        await stuck.message()
        await reader.message()
        stuck.reader._transport.pause_reading()  # pyright: ignore[reportAttributeAccessIssue]
        largest = 0
        for n in range(200):
            await w.book.create(f"a{n}", "ann", title="x" * 280, summary={"text": "y" * 1_000})
            largest = max(largest, *(len(v.queue) and v.queue.size for v in w.feed._register.everybody()))
        assert largest <= limits.queue_bytes
        await until(lambda: w.counts.by.get("ended slow") == 1)
        assert [(await reader.message())["taskId"] for _ in range(200)] == [f"a{n}" for n in range(200)]
        reader.cut()
        stuck.cut()


async def test_a_slow_viewer_is_closed_and_resumes_where_it_was_without_a_hole(tmp_path: Path):
    limits = StreamLimits(queue_bytes=16 * 1024, linger_seconds=5, poll_seconds=0.2)
    async with world(tmp_path, limits=limits) as w:
        token = w.people.add("ann")
        one = await Browser.open(w.port, "/api/stream", token, small=True)
        await one.message()
        for n in range(300):
            await w.book.create(f"a{n}", "ann", title="x" * 280)
        seen = [s.last_id for s in await one.until_closed(30)]
        assert w.counts.by["ended slow"] == 1
        assert len(seen) < 300
        again = await Browser.open(w.port, "/api/stream", token, last_id=one.last_id)
        assert (await again.message())["resumed"] is True
        seen += [(await again.message())["@id"] for _ in range(300 - len(seen))]
        epoch = await w.storage.epoch()
        assert seen == [f"{epoch}:{n}" for n in range(1, 301)]
        again.cut()


async def test_a_viewer_that_stops_reading_in_a_quiet_stream_is_closed_by_its_heartbeats(tmp_path: Path):
    limits = StreamLimits(heartbeat_seconds=0.16, linger_seconds=0.2, queue_bytes=10_000_000)
    async with world(tmp_path, limits=limits) as w:
        one = await Browser.open(w.port, "/api/stream", w.people.add("ann"), small=True)
        await one.message()
        one.reader._transport.pause_reading()  # pyright: ignore[reportAttributeAccessIssue]
        for n in range(150):
            await w.book.create(f"a{n}", "ann", summary={"text": "y" * 2_000})
        await until(lambda: w.counts.by.get("ended slow") == 1)
        one.cut()


async def test_a_long_replay_is_read_as_fast_as_the_client_takes_it(tmp_path: Path):
    limits = StreamLimits(queue_bytes=16 * 1024, max_replay=1_000, poll_seconds=0.2)
    async with world(tmp_path, limits=limits) as w:
        epoch = await w.storage.epoch()
        for n in range(400):
            await w.book.create(f"a{n}", "ann", title="x" * 280)
        one = await Browser.open(w.port, "/api/stream", w.people.add("ann"), last_id=f"{epoch}:0", small=True)
        await one.message()
        await w.book.create("live", "ann")
        seen = [(await one.message())["@id"] for _ in range(401)]
        assert seen == [f"{epoch}:{n}" for n in range(1, 402)]
        one.cut()


async def test_a_drain_in_the_middle_of_a_replay_loses_nothing(tmp_path: Path):
    """What came live meanwhile must not follow a replay that was cut short: its ids are beyond what is missing."""
    limits = StreamLimits(max_replay=1_000, poll_seconds=0.2, linger_seconds=20)
    async with world(tmp_path, limits=limits) as w:
        epoch = await w.storage.epoch()
        for n in range(300):
            await w.book.create(f"a{n}", "ann", summary={"text": "y" * 3_000})
        token = w.people.add("ann")
        one = await Browser.open(w.port, "/api/stream", token, last_id=f"{epoch}:0", small=True)
        await one.message()
        first = await one.next()
        await w.book.create("live", "ann")
        draining = asyncio.create_task(w.feed.drain(15))
        seen = [first.last_id, *(s.last_id for s in await one.until_closed())]
        await draining
        assert len(seen) < 300
        assert seen == [f"{epoch}:{n}" for n in range(1, len(seen) + 1)]


async def test_a_client_stuck_in_its_replay_does_not_hold_its_place_for_ever(tmp_path: Path):
    limits = StreamLimits(heartbeat_seconds=0.16, linger_seconds=0.2, max_replay=1_000)
    async with world(tmp_path, limits=limits) as w:
        epoch = await w.storage.epoch()
        for n in range(200):
            await w.book.create(f"a{n}", "ann", summary={"text": "y" * 3_000})
        one = await Browser.open(w.port, "/api/stream", w.people.add("ann"), last_id=f"{epoch}:0", small=True)
        one.reader._transport.pause_reading()  # pyright: ignore[reportAttributeAccessIssue]
        await until(lambda: w.counts.by.get("ended slow") == 1)
        one.cut()


async def test_an_outage_in_the_middle_of_a_replay_ends_it_where_the_client_can_resume(tmp_path: Path):
    async with world(tmp_path) as w:
        epoch = await w.storage.epoch()
        for n in range(100):
            await w.book.create(f"a{n}", "ann")
        reading = w.storage.reading
        calls = 0

        class Failing:
            def __getattr__(self, name: str) -> object:
                nonlocal calls
                calls += name == "snapshots"
                if calls > 1:
                    raise Unavailable
                return getattr(reading, name)

        token = w.people.add("ann")
        w.feed._desk = replace(w.feed._desk, sources=replace(w.feed.sources, reading=Failing()))
        one = await Browser.open(w.port, "/api/stream", token, last_id=f"{epoch}:0")
        seen = [s.last_id for s in await one.until_closed()][1:]
        assert one.ended
        assert seen == [f"{epoch}:{n}" for n in range(1, len(seen) + 1)]
        assert 0 < len(seen) < 100
        assert w.counts.by["ended unavailable"] == 1
