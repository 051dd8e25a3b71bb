"""One transaction, or nothing."""

import asyncio

import pytest

from milepost.domain.state import TaskKey
from milepost.ports.storage import EventKey, ResultKey, StepKey, Transaction, UnknownTenant, Wanted, Writes
from milepost.testing.storage_suite import samples
from milepost.testing.storage_suite.fixture import OnSite
from milepost.testing.storage_suite.site import TENANT, Site, Store, broken, known, locked, write

KEY = TaskKey(TENANT, "task-1")
STEP = StepKey(TENANT, "task-1", "02_parse", 1)


def everything() -> Writes:
    """One row for each list."""
    return Writes(
        new_tasks=[samples.a_task()],
        new_steps=[samples.a_step()],
        events=[samples.an_event()],
        evidence=[samples.an_evidence()],
        answers=[samples.an_answer()],
        results=[samples.a_result()],
        entries=[samples.an_entry()],
    )


class TransactionSuite(OnSite):
    """Atomicity, and what a transaction sees."""

    async def test_an_error_in_the_work_leaves_nothing(self, store: Store) -> None:
        with pytest.raises(ZeroDivisionError):
            await store.transaction(lambda transaction: broken(transaction, everything()))
        await _assert_nothing(store)

    async def test_an_error_after_one_of_two_writes_leaves_nothing(self, store: Store) -> None:
        async def work(transaction: Transaction) -> None:
            await transaction.write(everything())
            await broken(transaction, Writes(new_tasks=[samples.a_task("task-2")]))

        with pytest.raises(ZeroDivisionError):
            await store.transaction(work)
        await _assert_nothing(store)

    async def test_a_stream_that_nobody_made_is_a_clear_error_and_leaves_nothing(self, store: Store) -> None:
        writes = everything()
        writes.entries.append(samples.an_entry(tenant_id="nobody"))
        with pytest.raises(UnknownTenant, match="nobody"):
            await write(store, writes)
        await _assert_nothing(store)

    async def test_the_work_gives_its_answer_and_sees_what_it_wrote(self, store: Store) -> None:
        async def work(transaction: Transaction) -> str:
            await transaction.write(everything())
            return (await transaction.lock([KEY]))[KEY].task.title

        assert await store.transaction(work) == samples.a_task().title

    async def test_what_does_not_exist_is_absent(self, store: Store) -> None:
        await write(store, Writes(new_tasks=[samples.a_task()]))
        found = await locked(store, KEY, TaskKey(TENANT, "task-2"), TaskKey("other", "task-1"))
        assert set(found) == {KEY}
        assert found[KEY].steps == {}

    async def test_looking_finds_what_locking_finds(self, store: Store) -> None:
        await write(store, everything())
        assert await store.transaction(lambda transaction: transaction.look([KEY])) == await locked(store, KEY)

    async def test_only_the_current_attempt_of_a_step_is_locked(self, store: Store) -> None:
        new = samples.a_step(attempt=2)
        await write(store, Writes(new_tasks=[samples.a_task()], new_steps=[samples.a_step(current=False), new]))
        assert (await locked(store, KEY))[KEY].steps == {"02_parse": new}

    async def test_of_many_who_create_the_same_task_one_does(self, store: Store, site: Site) -> None:
        async def create(transaction: Transaction) -> bool:
            if await transaction.lock([KEY]):
                return False
            await transaction.read(Wanted())
            await transaction.write(everything())
            return True

        other = site.open()
        try:
            done = await asyncio.gather(*(one.transaction(create) for one in (store, other) * 5))
        finally:
            await other.close()
        assert sorted(done) == [False] * 9 + [True]

    async def test_keys_by_the_thousand_are_found_at_once(self, store: Store) -> None:
        ids = [f"task-{number}" for number in range(1_500)]
        await write(
            store,
            Writes(
                new_tasks=[samples.bare(one) for one in ids], new_steps=[samples.bare_step(task_id=one) for one in ids]
            ),
        )
        found = await locked(store, *(TaskKey(TENANT, one) for one in ids))
        assert len(found) == len(ids)
        assert all(len(state.steps) == 1 for state in found.values())
        events = [EventKey(TENANT, f"event-{number}") for number in range(5_000)]
        await write(store, Writes(answers=[samples.an_answer(key.event_id) for key in events]))
        assert set((await known(store, Wanted(events=events))).answers) == set(events)

    async def test_a_sign_of_life_moves_nothing_else_and_never_goes_back(self, store: Store) -> None:
        await write(store, Writes(new_tasks=[samples.a_task()], new_steps=[samples.bare_step()]))
        for now, seen in ((50, 50), (49, 50), (51, 51)):
            await store.transaction(lambda transaction, now=now: transaction.touch([STEP, STEP], now))
            assert (await locked(store, KEY))[KEY].steps == {"02_parse": samples.bare_step(last_seen_at=seen)}

    async def test_a_sign_of_life_of_an_attempt_that_has_ended_is_none(self, store: Store) -> None:
        ends = ["SUCCEEDED", "FAILED", "CANCELLED", "TIMED_OUT"]
        steps = [samples.bare_step(end, lifecycle=end) for end in ends]
        await write(store, Writes(new_tasks=[samples.a_task()], new_steps=steps))
        keys = [STEP._replace(step_id=end) for end in ends] + [STEP, STEP._replace(task_id="unknown")]
        await store.transaction(lambda transaction: transaction.touch(keys, 50))
        assert (await locked(store, KEY))[KEY].steps == dict(zip(ends, steps, strict=True))


async def _assert_nothing(store: Store) -> None:
    assert await store.reading.snapshot(KEY) is None
    assert (await store.reading.timeline(KEY, 0, 9)).events == ()
    assert await store.reading.evidence(KEY, 9) == ()
    assert await store.stream_log.entries(TENANT, 0, 9, 9) == ()
    assert (await store.stream_log.tops([TENANT])).windows[TENANT].top == 0
    wanted = Wanted(events=[EventKey(TENANT, "event-1")], results=[ResultKey(TENANT, "credential", "key-1")])
    found = await known(store, wanted)
    assert (found.answers, found.results) == ({}, {})
    assert (await locked(store, KEY)) == {}
