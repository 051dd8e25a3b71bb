"""Group commit over a real database."""

import asyncio
import logging
import sqlite3
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest

from milepost.domain.state import TaskKey, TaskState
from milepost.ports.storage import Transaction, Unavailable, UnknownTenant, Wanted
from milepost.storage.sqlite.store import SqliteStorage, open_sqlite
from milepost.usecases.batching import BATCH, Batch, Batcher
from milepost.usecases.commit import Work, commit
from milepost.usecases.ledger import Ledger
from milepost.wire.problems import Rejection
from tests.parts.stand import Heard, Stand
from tests.usecases.works import create, report, table

T = TypeVar("T")


class Broken:
    """A work with a mistake in it."""

    key = TaskKey("t1", "k1")

    def wanted(self, state: TaskState | None) -> Wanted:
        return Wanted()

    def decide(self, ledger: Ledger) -> object:
        raise ZeroDivisionError


class Counting:
    """Keeps the size of every batch."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def __call__(self, batch: Batch) -> None:
        self.sizes.append(batch.size)


class Tried:
    """Counts the transactions that were asked for."""

    def __init__(self, storage: SqliteStorage) -> None:
        self._storage = storage
        self.times = 0

    async def transaction(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        self.times += 1
        return await self._storage.transaction(work)

    async def epoch(self) -> str:
        return await self._storage.epoch()

    async def renew_epoch(self, seen: str) -> str:
        return await self._storage.renew_epoch(seen)


def batcher(service: Stand, **more: Any) -> Batcher[Work]:
    made: Batcher[Work] = Batcher(service.storage, commit, **more)
    made.start()
    return made


def tasks(count: int) -> list[Work]:
    return [create("t1", f"k{number}") for number in range(1, count + 1)]


def task_ids(service: Stand) -> set[str]:
    return {task_id for (task_id,) in table(service, "task", "task_id")}


async def test_a_broken_item_never_fails_its_neighbours(service: Stand) -> None:
    writer = batcher(service)
    first, broken, second = (writer.submit(work) for work in (*tasks(1), Broken(), create("t1", "k2")))
    assert not isinstance(await first, Rejection)
    assert not isinstance(await second, Rejection)
    with pytest.raises(ZeroDivisionError):
        await broken
    await writer.close()
    assert task_ids(service) == {"k1", "k2"}


async def test_an_item_the_database_refuses_never_fails_its_neighbours(service: Stand) -> None:
    writer = batcher(service)
    good, homeless = writer.submit(create("t1", "k1")), writer.submit(create("nowhere", "k2"))
    assert not isinstance(await good, Rejection)
    with pytest.raises(UnknownTenant):
        await homeless
    await writer.close()
    assert table(service, "stream", "top") == [(1,)]


async def test_a_refused_item_is_an_answer_and_not_a_failure(service: Stand) -> None:
    counting = Counting()
    writer = batcher(service, observe=counting)
    refused, made = writer.submit(report("STEP_STARTED", "e1", 1)), writer.submit(create())
    assert isinstance(await refused, Rejection)
    assert not isinstance(await made, Rejection)
    assert counting.sizes == [2]
    with pytest.raises(Rejection) as raised:
        await writer(report("STEP_STARTED", "e1", 1, task_id="nobody"))
    assert raised.value.code == "TASK_UNKNOWN"
    await writer.close()


async def test_without_a_database_all_fail_at_once_and_the_next_succeed(service: Stand) -> None:
    storage = open_sqlite(service.path, service.clock, lock_timeout=0.01, readers=1)
    tried = Tried(storage)
    writer: Batcher[Work] = Batcher(tried, commit)
    writer.start()
    holder = sqlite3.connect(service.path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    results = await asyncio.gather(*map(writer.submit, tasks(3)), return_exceptions=True)
    assert [type(result) for result in results] == [Unavailable] * 3
    assert tried.times == 1
    holder.execute("ROLLBACK")
    holder.close()
    assert await asyncio.gather(*map(writer.submit, tasks(3)))
    assert tried.times == 2
    await writer.close()
    await storage.close()


async def test_what_comes_while_nothing_runs_is_done_at_once_and_the_rest_together(service: Stand) -> None:
    counting = Counting()
    writer = batcher(service, observe=counting)
    first, *others = tasks(11)
    alone = writer.submit(first)
    await asyncio.sleep(0)  # the writer has taken it and waits for the database
    await asyncio.sleep(0)
    await asyncio.gather(alone, *map(writer.submit, others))
    assert counting.sizes == [1, 10]
    await writer.close()


async def test_a_batch_has_a_limit_and_keeps_the_order_of_arrival(service: Stand) -> None:
    counting, heard = Counting(), Heard()
    writer = batcher(service, observe=counting, announcer=heard)
    await asyncio.gather(*map(writer.submit, tasks(BATCH + 2)))
    assert counting.sizes == [BATCH, 2]
    entries = [logged for committed in heard.committed for logged in committed.entries]
    assert [logged.position for logged in entries] == list(range(1, BATCH + 3))
    assert [logged.entry.task_id for logged in entries] == [f"k{number}" for number in range(1, BATCH + 3)]
    await writer.close()


async def test_closing_finishes_what_waits_and_takes_nothing_more(service: Stand) -> None:
    writer = batcher(service)
    waiting = [writer.submit(work) for work in tasks(3)]
    await writer.close()
    assert all(future.done() and future.result() for future in waiting)
    with pytest.raises(Unavailable):
        await writer.submit(create("t1", "k9"))
    assert task_ids(service) == {"k1", "k2", "k3"}


async def test_an_idle_writer_closes(service: Stand) -> None:
    writer = batcher(service, writers=3)
    await asyncio.sleep(0)
    await asyncio.wait_for(writer.close(), 5)


async def test_a_caller_that_goes_away_breaks_nobody_and_its_commit_stands(service: Stand) -> None:
    writer = batcher(service)
    gone, stays = (asyncio.ensure_future(writer(work)) for work in tasks(2))
    await asyncio.sleep(0)
    gone.cancel()
    assert await stays
    await writer.close()
    assert gone.cancelled()
    assert task_ids(service) == {"k1", "k2"}


async def test_trouble_in_those_who_are_told_changes_no_answer_and_stops_no_writer(
    service: Stand, caplog: pytest.LogCaptureFixture
) -> None:
    def observe(batch: Batch) -> None:
        raise ZeroDivisionError

    writer = batcher(service, observe=observe)
    with caplog.at_level(logging.ERROR):
        assert await writer(create("t1", "k1"))
        assert await writer(create("t1", "k2"))
    await writer.close()
    assert [record.name for record in caplog.records] == ["milepost.usecases.batching"] * 2


async def test_several_writers_share_the_work_and_positions_stay_gapless(service: Stand) -> None:
    heard = Heard()
    writer = batcher(service, writers=4, announcer=heard)
    await asyncio.gather(*(writer(work) for work in tasks(50)))
    await writer.close()
    positions = [logged.position for committed in heard.committed for logged in committed.entries]
    assert positions == list(range(1, 51))


@pytest.mark.accepts("concurrent reports get distinct consecutive versions")
async def test_two_services_that_report_at_once_get_consecutive_versions(service: Stand) -> None:
    writer = batcher(service)
    await writer(create())
    facts = [report("STEP_STARTED", f"{step}1", 1, step_id=step) for step in "abc"]
    answers: list[Any] = await asyncio.gather(*map(writer, facts))
    assert [answer.task_version for answer in answers] == ["2", "3", "4"]
    await writer.close()


async def test_concurrent_duplicates_make_one_change(service: Stand) -> None:
    writer = batcher(service)
    await writer(create())
    answers: list[Any] = await asyncio.gather(*(writer(report("STEP_STARTED", "e1", 1)) for _ in range(20)))
    assert [answer.duplicate for answer in answers] == [False] + [True] * 19
    assert {answer.task_version for answer in answers} == {"2"}
    assert len(table(service, "task_event_log", "event_id")) == 2
    await writer.close()
