"""The writer thread waits for locks so that the event loop does not, and runs nothing that would wait for others."""

import asyncio
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from milepost.ports.storage import Transaction, Unavailable, Wanted, Writes
from milepost.storage.sqlite.connection import Fault
from milepost.storage.sqlite.store import SqliteStorage
from milepost.testing.sqlite_site import SqliteSite
from milepost.testing.storage_suite import samples
from milepost.testing.storage_suite.site import TENANT, known, locked, write


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.fixture
async def store(site: SqliteSite):
    async with SqliteSite(site.path, lock_timeout=0.2).open() as store:
        await store.access.add_tenant(TENANT, 0)
        yield store


@pytest.fixture
def intruder(site: SqliteSite) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(site.path, isolation_level=None, check_same_thread=False)
    yield connection
    connection.close()


async def test_work_that_suspends_is_refused_at_once_and_leaves_nothing(store: SqliteStorage):
    async def work(transaction: Transaction) -> None:
        await transaction.write(Writes(new_tasks=[samples.a_task()]))
        await asyncio.sleep(0)

    with pytest.raises(RuntimeError, match="nothing but its own statements"):
        await store.transaction(work)
    assert await locked(store, samples.a_task().key) == {}


async def test_the_writer_goes_on_after_work_that_failed(store: SqliteStorage):
    async def work(transaction: Transaction) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await store.transaction(work)
    assert await write(store, Writes(entries=[samples.an_entry()])) == {TENANT: 1}


async def test_the_event_loop_runs_on_while_the_write_lock_is_elsewhere(
    store: SqliteStorage, intruder: sqlite3.Connection
):
    intruder.execute("BEGIN IMMEDIATE")
    waiting = asyncio.ensure_future(write(store, Writes(entries=[samples.an_entry()])))
    for _ in range(50):
        await store.stream_log.tops([TENANT])
    assert not waiting.done()
    intruder.execute("ROLLBACK")
    assert await waiting == {TENANT: 1}


async def test_a_lock_that_is_not_had_in_time_is_unavailable_and_nothing_is_done(
    store: SqliteStorage, intruder: sqlite3.Connection
):
    intruder.execute("BEGIN IMMEDIATE")
    with pytest.raises(Unavailable, match="locked"):
        await write(store, Writes(entries=[samples.an_entry()]))
    intruder.execute("ROLLBACK")
    assert await write(store, Writes(entries=[samples.an_entry()])) == {TENANT: 1}


async def test_a_full_disk_is_unavailable_and_nothing_is_done(store: SqliteStorage):
    def limit(pages: int) -> None:
        store._writer_connection.execute(f"PRAGMA max_page_count={pages}")

    limit(1)
    with pytest.raises(Unavailable, match="full"):
        await write(store, Writes(entries=[samples.an_entry(f"task-{number}") for number in range(5_000)]))
    limit(1_000_000)
    assert await store.stream_log.entries(TENANT, 0, 9, 9) == ()
    assert await write(store, Writes(entries=[samples.an_entry()])) == {TENANT: 1}


async def test_a_witness_that_cannot_be_written_stops_nobody(
    store: SqliteStorage, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    (tmp_path / "milepost.db.epoch.new").mkdir()
    await write(store, Writes(entries=[samples.an_entry()]))
    store._record_at = 0.0
    assert await write(store, Writes(entries=[samples.an_entry()])) == {TENANT: 2}
    assert await write(store, Writes(entries=[samples.an_entry()])) == {TENANT: 3}
    assert "milepost.db.epoch could not be rewritten" in caplog.text


async def test_a_key_that_another_transaction_took_in_between_is_seen_when_run_again(
    store: SqliteStorage, site: SqliteSite
):
    """Cannot happen under the one write lock; so the work itself plays the other transaction, once."""
    runs = 0

    async def work(transaction: Transaction) -> int:
        nonlocal runs
        runs += 1
        if runs == 1:
            await transaction.write(Writes(new_tasks=[samples.a_task()]))
        await transaction.write(Writes(new_tasks=[samples.a_task()]))
        return runs

    assert await store.transaction(work) == 2


async def test_a_key_that_is_taken_every_time_is_a_fault_and_not_an_endless_loop(store: SqliteStorage):
    await write(store, Writes(new_tasks=[samples.a_task()]))
    with pytest.raises(Fault, match="UNIQUE"):
        await write(store, Writes(new_tasks=[samples.a_task()]))


async def test_commands_are_served_in_the_order_they_came(store: SqliteStorage):
    order: list[int] = []

    async def work(transaction: Transaction, number: int) -> None:
        order.append(number)

    await asyncio.gather(*(store.transaction(lambda one, n=number: work(one, n)) for number in range(50)))
    assert order == list(range(50))


async def test_answers_arrive_in_commit_order(store: SqliteStorage):
    order: list[int] = []

    async def one() -> None:
        first = await write(store, Writes(entries=[samples.an_entry()]))
        order.append(first[TENANT])

    await asyncio.gather(*(one() for _ in range(50)))
    assert order == list(range(1, 51))


async def test_a_caller_who_gave_up_before_his_turn_is_skipped(store: SqliteStorage):
    started, release = threading.Event(), threading.Event()

    async def hold(transaction: Transaction) -> None:
        started.set()
        release.wait(5)

    holding = asyncio.ensure_future(store.transaction(hold))
    await asyncio.to_thread(started.wait, 5)
    given_up = asyncio.ensure_future(write(store, Writes(entries=[samples.an_entry()])))
    await asyncio.sleep(0)
    given_up.cancel()
    release.set()
    await holding
    assert await write(store, Writes(entries=[samples.an_entry()])) == {TENANT: 1}


async def test_closing_finishes_what_was_asked_before_and_refuses_what_comes_after(site: SqliteSite):
    store = site.open()
    await store.access.add_tenant(TENANT, 0)
    asked = [asyncio.ensure_future(write(store, Writes(entries=[samples.an_entry()]))) for _ in range(20)]
    await asyncio.sleep(0)
    await store.close()
    await store.close()
    assert [await one for one in asked] == [{TENANT: position} for position in range(1, 21)]
    with pytest.raises(Unavailable, match="closed"):
        await known(store, Wanted())
    with pytest.raises(Unavailable, match="closed"):
        await store.stream_log.tops([TENANT])


async def test_closing_leaves_one_file_and_its_witness(site: SqliteSite, tmp_path: Path):
    store = site.open()
    await store.access.add_tenant(TENANT, 0)
    await store.close()
    assert files(tmp_path) == {"milepost.db", "milepost.db.epoch"}


async def test_a_view_cannot_write(store: SqliteStorage):
    async def work(session: object) -> None:
        store._reader_connections[0].execute("DELETE FROM stream")

    with pytest.raises((Fault, Unavailable), match="readonly"):
        await store.read(work)


async def test_a_view_stands_still_while_others_commit(store: SqliteStorage):
    """A snapshot's cursor may never be newer than its content: both come from one view."""
    from milepost.storage import queries
    from milepost.storage.session import Session

    began, release = threading.Event(), threading.Event()

    async def work(session: Session) -> list[object]:
        before = await session.rows(queries.TOP, {"tenant": TENANT})
        began.set()
        release.wait(5)
        return [before, await session.rows(queries.TOP, {"tenant": TENANT})]

    reading = asyncio.ensure_future(store.read(work))
    await asyncio.to_thread(began.wait, 5)
    await write(store, Writes(entries=[samples.an_entry()]))
    release.set()
    before, after = await reading
    assert before == after == [(0, 0)]
