"""Positions: gapless, per tenant, in commit order."""

import asyncio
import itertools
import random

import pytest

from milepost.domain.state import TaskKey
from milepost.ports.storage import Transaction, Writes
from milepost.testing.storage_suite import samples
from milepost.testing.storage_suite.fixture import OnSite
from milepost.testing.storage_suite.site import TENANT, Site, Store, broken, locked, write


class PositionSuite(OnSite):
    """Who sees p + 1 sees p."""

    async def test_entries_of_several_tenants_are_numbered_each_in_its_stream_and_in_order(self, store: Store) -> None:
        for tenant in ("b", "a"):
            await store.access.add_tenant(tenant, 0)
        tenants = ["b", "a", "b", TENANT, "b", "a"]
        entries = [samples.an_entry(f"task-{index}", tenant_id=one) for index, one in enumerate(tenants)]
        assert await write(store, Writes(entries=entries)) == {"a": 1, "b": 1, TENANT: 1}
        assert await write(store, Writes(entries=entries)) == {"a": 3, "b": 4, TENANT: 2}
        found = await store.stream_log.entries("b", 0, 99, 99)
        assert [one.position for one in found] == [1, 2, 3, 4, 5, 6]
        assert [one.entry.task_id for one in found] == ["task-0", "task-2", "task-4"] * 2

    async def test_a_task_knows_the_position_of_its_newest_entry(self, store: Store) -> None:
        one, two = samples.a_task("one"), samples.a_task("two", last_position=77)
        writes = Writes(
            new_tasks=[one, two], entries=[samples.an_entry("one"), samples.an_entry("x"), samples.an_entry("one")]
        )
        await write(store, writes)
        states = await locked(store, one.key, two.key)
        assert (states[one.key].task.last_position, states[two.key].task.last_position) == (3, 77)
        await write(store, Writes(tasks=[states[one.key].task], entries=[samples.an_entry("one", 2)]))
        assert (await locked(store, one.key))[one.key].task.last_position == 4

    async def test_writing_no_entry_takes_no_position(self, store: Store) -> None:
        assert await write(store, Writes(new_tasks=[samples.a_task()])) == {}
        assert await write(store, Writes(entries=[samples.an_entry()])) == {TENANT: 1}

    async def test_a_rollback_gives_its_numbers_back(self, store: Store) -> None:
        await write(store, Writes(entries=[samples.an_entry()]))
        with pytest.raises(ZeroDivisionError):
            await store.transaction(lambda transaction: broken(transaction, Writes(entries=[samples.an_entry()] * 5)))
        assert await write(store, Writes(entries=[samples.an_entry()])) == {TENANT: 2}

    async def test_versions_and_positions_have_no_hole_whoever_writes_and_rolls_back(
        self, store: Store, site: Site
    ) -> None:
        await store.access.add_tenant("other", 0)
        tasks = [
            samples.bare(f"task-{number}", tenant_id=TENANT if number % 2 else "other", version=0)
            for number in range(4)
        ]
        await write(store, Writes(new_tasks=tasks))
        second = site.open()
        try:
            chance = random.Random(7)
            moves = [
                _move(one, tasks[number % 4].key, fails=chance.random() < 0.3)
                for one, number in zip(itertools.cycle((store, second)), range(80))
            ]
            kept = sum(await asyncio.gather(*moves))
        finally:
            await second.close()
        windows = (await store.stream_log.tops([TENANT, "other"])).windows
        assert sum(window.top for window in windows.values()) == kept
        for tenant, window in windows.items():
            found = await store.stream_log.entries(tenant, 0, window.top, 999)
            assert [one.position for one in found] == list(range(1, window.top + 1))
        states = await locked(store, *(task.key for task in tasks))
        assert sum(state.task.version for state in states.values()) == kept


async def _move(store: Store, key: TaskKey, *, fails: bool) -> int:
    async def work(transaction: Transaction) -> None:
        task = (await transaction.lock([key]))[key].task
        moved = samples.bare(task.task_id, tenant_id=task.tenant_id, version=task.version + 1)
        event = samples.an_event(task.task_id, moved.version, tenant_id=task.tenant_id)
        entry = samples.an_entry(task.task_id, moved.version, tenant_id=task.tenant_id)
        await transaction.write(Writes(tasks=[moved], events=[event], entries=[entry]))
        if fails:
            raise ZeroDivisionError

    try:
        await store.transaction(work)
    except ZeroDivisionError:
        return 0
    return 1
