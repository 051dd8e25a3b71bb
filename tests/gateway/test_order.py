"""The tail: position order, each entry once, no entry skipped, whatever wakes it and whatever does not."""

import asyncio
from pathlib import Path

import pytest

from milepost.gateway.limits import StreamLimits
from milepost.gateway.viewer import Interest
from milepost.ports.storage import Unavailable
from milepost.storage.sqlite.store import open_sqlite
from tests.gateway.baskets import ANN, Basket, Gated, joined, swap
from tests.gateway.browser import Browser
from tests.gateway.world import Book, world


async def test_a_commit_that_follows_on_is_handed_on_at_once_and_without_a_read(tmp_path: Path):
    async with world(tmp_path, serve=False) as w:
        basket = await joined(w)
        for n in range(5):
            await w.book.create(f"a{n}", "ann")
            assert basket.positions[-1] == n + 1
        assert w.counts.by["from commit"] == 5
        assert "from log" not in w.counts.by


async def test_a_wake_up_that_comes_too_early_too_late_or_twice_changes_nothing(tmp_path: Path):
    async with world(tmp_path, serve=False) as w:
        basket = await joined(w)
        w.book.announce = False
        first = await w.book.create("a", "ann")
        second = await w.book.create("b", "ann")
        third = await w.book.create("c", "ann")
        w.feed.announce(second)
        assert await basket.until(3) == [1, 2, 3]
        for again in (third, first, second):
            w.feed.announce(again)
        w.book.announce = True
        await w.book.create("d", "ann")
        assert await basket.until(4) == [1, 2, 3, 4]


async def test_a_lost_wake_up_costs_no_more_than_the_timer(tmp_path: Path):
    limits = StreamLimits(poll_seconds=0.3)
    async with world(tmp_path, limits=limits, serve=False) as w:
        basket = await joined(w)
        w.book.announce = False
        loop = asyncio.get_running_loop()
        await w.book.create("a", "ann")
        began = loop.time()
        await basket.until(1)
        assert loop.time() - began < 0.3 + 2
        assert w.counts.by["from log"] == 1


@pytest.mark.accepts("cursor never skips a late commit")
async def test_the_cursor_never_skips_a_late_commit_of_another_writer(tmp_path: Path):
    """B30: two processes write into one stream; only one of them wakes this feed."""
    async with world(tmp_path, serve=True) as w:
        other = open_sqlite(w.path, w.clock)
        stranger = Book(other, w.clock)
        token = w.people.add("ann")
        live = await Browser.open(w.port, "/api/stream", token)
        await live.message()

        async def write(book: Book, name: str) -> None:
            for n in range(40):
                await book.create(f"{name}{n}", "ann")

        await asyncio.gather(write(w.book, "a"), write(stranger, "b"), write(w.book, "c"))
        epoch = await w.storage.epoch()
        seen = [await live.message() for _ in range(120)]
        assert [m["@id"] for m in seen] == [f"{epoch}:{n}" for n in range(1, 121)]
        resumed = await Browser.open(w.port, "/api/stream", token, last_id=f"{epoch}:57")
        await resumed.message()
        assert [(await resumed.message())["position"] for _ in range(63)] == [str(n) for n in range(58, 121)]
        live.cut()
        resumed.cut()
        await other.close()


async def test_numbers_of_a_commit_that_was_rolled_back_leave_no_hole(tmp_path: Path):
    async with world(tmp_path, serve=False) as w:
        basket = await joined(w)
        await w.book.create("a", "ann")

        def breaks(_: object) -> None:
            raise RuntimeError("rolled back")

        for _ in range(20):
            with pytest.raises(RuntimeError):
                await w.book.commit("t", [("b", breaks)])
        await w.book.create("c", "ann")
        assert await basket.until(2) == [1, 2]


async def test_a_viewer_that_joins_in_the_middle_of_a_read_gets_everything_above_its_own_r(tmp_path: Path):
    async with world(tmp_path, serve=False) as w:
        ann = await joined(w)
        w.book.announce = False
        bob = Interest("t", "bob", "s2", 2**60, personal=True)
        baskets: list[Basket] = []
        for n in range(60):
            await w.book.create(f"a{n}", "ann")
            await w.book.create(f"b{n}", "bob")
            w.feed.nudge()
            if n % 5 == 0:
                baskets.append(await joined(w, bob))
        await ann.until(60)
        for basket in baskets:
            mine = [p for p in range(2, 121, 2) if p > basket.viewer.joined]
            assert await basket.until(len(mine)) == mine


async def test_entries_cost_their_audience_and_nobody_else(tmp_path: Path):
    async with world(tmp_path, serve=False) as w:
        for n in range(200):
            await joined(w, Interest("t", f"u{n}", f"s{n}", 2**60, personal=True))
        await joined(w, Interest("t", "u7", "again", 2**60, personal=True))
        await w.book.create("a", "u7", "nobody-looks")
        await w.book.create("b", "nobody", "nobody-looks")
        assert w.counts.by["encoded task.summary"] == 1
        assert w.counts.by["sent"] == 2


async def test_a_tail_stops_with_its_last_listener_and_goes_on_where_the_log_is(tmp_path: Path):
    async with world(tmp_path, serve=False) as w:
        first = await joined(w)
        await w.book.create("a", "ann")
        w.feed.leave(first.viewer)
        assert not w.feed._tails
        await w.book.create("b", "ann")
        second = await joined(w)
        assert second.viewer.joined == 2
        await w.book.create("c", "ann")
        assert await second.until(1) == [3]
        assert first.positions == [1]


class Moody:
    """The real log, out of reach while `down`."""

    def __init__(self, log: object) -> None:
        self._log = log
        self.down = False

    def __getattr__(self, name: str) -> object:
        if self.down:
            raise Unavailable
        return getattr(self._log, name)


@pytest.mark.accepts("outbox catches up after a pause without moving a client back")
async def test_a_tail_survives_an_outage_of_the_database_and_catches_up(tmp_path: Path):
    limits = StreamLimits(poll_seconds=0.05)
    async with world(tmp_path, limits=limits, serve=False) as w:
        log = Moody(w.storage.stream_log)
        await w.feed.stop()
        w.feed = type(w.feed)(w.storage, log, w.storage.reading, w.clock, limits, w.counts)  # pyright: ignore[reportArgumentType]
        await w.feed.start()
        w.book.announce = False
        basket = await joined(w)
        log.down = True
        for n in range(3):
            await w.book.create(f"a{n}", "ann")
        await asyncio.sleep(0.15)
        assert basket.positions == []
        log.down = False
        assert await basket.until(3) == [1, 2, 3]


async def test_a_heartbeat_says_where_the_tail_stands_once_and_only_when_it_moved(tmp_path: Path):
    limits = StreamLimits(heartbeat_seconds=3_600)
    async with world(tmp_path, limits=limits, serve=False) as w:
        basket = await joined(w)
        epoch = await w.storage.epoch()

        def round_() -> list[str | None]:
            basket.beats.clear()
            for _ in range(16):
                w.feed.tick()
            return list(basket.beats)

        assert round_() == [None]
        await w.book.create("b", "bob")
        await w.book.create("c", "bob")
        assert round_() == [f"{epoch}:2"]
        assert round_() == [None]
        await w.book.create("a", "ann")
        assert round_() == [None]


async def test_who_waits_for_a_tail_is_not_ended_with_it(tmp_path: Path):
    """The last listener may leave while another waits for the tail to reach its cursor."""
    limits = StreamLimits(poll_seconds=60)
    async with world(tmp_path, limits=limits, serve=False) as w:
        log = Gated(w.storage.stream_log, "entries")
        await swap(w, log=log)
        basket = await joined(w)
        w.book.announce = False
        for n in range(5):
            await w.book.create(f"a{n}", "ann")
        epoch = await w.storage.epoch()
        w.feed.admit(ANN)
        log.gate.clear()
        joining = asyncio.create_task(w.feed.join(ANN, (epoch, 5)))
        await log.reached.wait()
        w.feed.leave(basket.viewer)
        log.gate.set()
        viewer = await joining
        assert viewer.joined == 5
        assert (await w.feed.replay(viewer, (epoch, 5))).opening[0].kind == "hello"


@pytest.mark.accepts("outbox catches up after a pause without moving a client back")
async def test_a_payload_older_than_what_was_read_takes_nobody_back(tmp_path: Path):
    """A read saw version 3 with entry 1; the commits of versions 2 and 3 are announced only then."""
    limits = StreamLimits(poll_seconds=60)
    async with world(tmp_path, limits=limits, serve=False) as w:
        log = Gated(w.storage.stream_log, "entries")
        await swap(w, log=log)
        basket = await joined(w)
        w.book.announce = False
        log.gate.clear()
        await w.book.create("a", "ann")
        w.feed.nudge()
        await log.reached.wait()
        second = await w.book.fact("a", "STEP_STARTED")
        third = await w.book.fact("a", "STEP_COMPLETED")
        log.gate.set()
        assert await basket.until(1) == [1]
        w.feed.announce(second)
        w.feed.announce(third)
        assert await basket.until(3) == [1, 2, 3]
        assert basket.versions == ["3", "3", "3"]


async def test_an_entry_that_a_payload_brought_during_a_read_is_not_handed_on_again(tmp_path: Path):
    limits = StreamLimits(poll_seconds=60)
    async with world(tmp_path, limits=limits, serve=False) as w:
        log = Gated(w.storage.stream_log, "entries")
        await swap(w, log=log)
        basket = await joined(w)
        w.book.announce = False
        log.gate.clear()
        first = await w.book.create("a", "ann")
        await w.book.create("b", "ann")
        w.feed.nudge()
        await log.reached.wait()
        w.feed.announce(first)
        assert basket.positions == [1]
        log.gate.set()
        assert await basket.until(2) == [1, 2]
        assert basket.kinds == ["task.summary", "task.summary"]


async def test_what_a_read_loaded_suits_whoever_joined_while_it_loaded(tmp_path: Path):
    """States are loaded for the audience; who joins meanwhile, even for the detail, is part of it when R moves."""
    limits = StreamLimits(poll_seconds=60)
    async with world(tmp_path, limits=limits, serve=False) as w:
        reading = Gated(w.storage.reading, "snapshots")
        await swap(w, reading=reading)
        ann = await joined(w)
        w.book.announce = False
        reading.gate.clear()
        await w.book.create("a", "ann", steps=2)
        await w.book.create("b", "bob")
        w.feed.nudge()
        await reading.reached.wait()
        bob = await joined(w, Interest("t", "bob", "s2", 2**60, personal=True))
        detail = await joined(w, Interest("t", "ann", "s", 2**60, task_id="a"))
        assert (bob.viewer.joined, detail.viewer.joined) == (0, 0)
        reading.gate.set()
        assert await bob.until(1) == [2]
        assert await ann.until(1) == [1]
        assert await detail.until(1) == [1]
        assert len(detail.bodies[0]["steps"]) == 2
        assert detail.bodies[0]["triggerEvent"]["eventType"] == "TASK_CREATED"
