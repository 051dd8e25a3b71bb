"""Several real processes on one database."""

import asyncio
import pickle
import sys
from asyncio.subprocess import PIPE, Process

from milepost.ports.storage import Writes
from milepost.testing.storage_child import Orders
from milepost.testing.storage_suite import samples
from milepost.testing.storage_suite.fixture import OnSite
from milepost.testing.storage_suite.site import TENANT, Site, Store, locked, write

WRITERS = 8
TIMES = 100


class ProcessSuite(OnSite):
    """Nobody's lock is an error, nobody's death is a hole."""

    async def test_many_processes_that_read_then_write_never_meet_a_lock_error(self, store: Store, site: Site) -> None:
        shared = samples.bare("shared", version=0)
        own = [samples.bare(f"task-{number}", version=0) for number in range(WRITERS)]
        await write(store, Writes(new_tasks=[shared, *own]))
        children = [await _start(Orders(site, (shared.key, task.key), TIMES)) for task in own]
        ends = await asyncio.gather(*(child.communicate() for child in children))
        assert [errors.decode() for _, errors in ends] == [""] * WRITERS
        assert [child.returncode for child in children] == [0] * WRITERS
        states = await locked(store, shared.key, *(task.key for task in own))
        assert states[shared.key].task.version == WRITERS * TIMES // 2
        assert {states[task.key].task.version for task in own} == {TIMES // 2}
        assert (await store.stream_log.tops([TENANT])).windows[TENANT].top == WRITERS * TIMES

    async def test_a_reader_meets_no_hole_while_writers_sleep_roll_back_and_are_killed(
        self, store: Store, site: Site
    ) -> None:
        tasks = [samples.bare(f"task-{number}", version=0) for number in range(3)]
        await write(store, Writes(new_tasks=tasks))
        seen: list[tuple[int, str | None, int | None]] = []
        follower = asyncio.create_task(_follow(store, seen))
        for round_ in range(3):
            children = [await _start(Orders(site, (task.key,), 10_000, fails=0.3, sleep=0.004)) for task in tasks[:2]]
            await asyncio.gather(*(_commits(child, 15 + round_) for child in children))
            for child in children:
                child.kill()
                await child.wait()
        await store.transaction(lambda transaction: transaction.write(Writes(entries=[samples.an_entry("end", 1)])))
        await asyncio.wait_for(follower, 10)
        assert [position for position, _, _ in seen] == list(range(1, len(seen) + 1))
        assert len(seen) > 90
        states = await locked(store, *(task.key for task in tasks))
        for task in tasks:
            versions = [version for _, task_id, version in seen if task_id == task.task_id]
            assert versions == list(range(1, states[task.key].task.version + 1))


async def _follow(store: Store, seen: list[tuple[int, str | None, int | None]]) -> None:
    place = 0
    while not (seen and seen[-1][1] == "end"):
        for one in await store.stream_log.entries(TENANT, place, 2**62, 100):
            seen.append((one.position, one.entry.task_id, one.entry.task_version))
            place = one.position


async def _start(orders: Orders) -> Process:
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "milepost.testing.storage_child", stdin=PIPE, stdout=PIPE, stderr=PIPE
    )
    assert child.stdin is not None
    child.stdin.write(pickle.dumps(orders))
    child.stdin.close()
    return child


async def _commits(child: Process, times: int) -> None:
    assert child.stdout is not None
    for _ in range(times):
        assert await child.stdout.readline() == b"committed\n"
