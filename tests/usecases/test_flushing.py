"""Merged progress becomes visible within two seconds, by whichever process looks first."""

import asyncio

import pytest

from milepost.domain.state import TaskKey
from milepost.domain.values import Progress
from milepost.usecases.flushing import flush_due
from tests.parts.stand import Stand
from tests.usecases.works import BOOK, create, done, flush, report, table


async def merged(service: Stand, task_id: str = "k1") -> None:
    facts = [
        report("STEP_PROGRESS", f"{task_id}.{n}", n, progress=Progress(n, 100), task_id=task_id) for n in (1, 2, 3)
    ]
    await done(service, create("t1", task_id), *facts)


async def due(service: Stand) -> int:
    return await flush_due(service.storage.reading, service.services.commit, BOOK, service.clock)


@pytest.mark.accepts("a merged progress value becomes visible within its limit even if its replica dies")
async def test_what_waits_is_flushed_before_its_limit_under_the_last_merged_event(service: Stand) -> None:
    await merged(service)
    service.clock.pass_ms(1_399)
    assert await due(service) == 0
    service.clock.pass_ms(1)
    assert await due(service) == 1
    assert await due(service) == 0
    events = table(service, "task_event_log", "task_version, event_id, event_type, source_seq")
    assert sorted(events)[1:] == [(2, "k1.1", "STEP_PROGRESS", 1), (3, "k1.3", "STEP_PROGRESS", 3)]
    found = await service.storage.reading.snapshot(TaskKey("t1", "k1"))
    assert found is not None
    assert (found.steps[0].progress, found.task.percent) == (Progress(3, 100), 1)


async def test_many_tasks_are_flushed_together(service: Stand) -> None:
    for task_id in ("k1", "k2", "k3"):
        await merged(service, task_id)
    service.clock.pass_ms(2_000)
    assert await due(service) == 3
    assert table(service, "task_step", "pending_since") == [(None,)] * 9


async def test_two_flushers_make_one_version(service: Stand) -> None:
    await merged(service)
    service.clock.pass_ms(2_000)
    await asyncio.gather(due(service), due(service))
    assert len(table(service, "task_event_log", "event_id")) == 3


async def test_a_flushed_sequence_is_taken_in_its_own_batch_too(service: Stand) -> None:
    await merged(service)
    flushed, answer = await done(service, flush(), report("STEP_PROGRESS", "other", 3))
    assert flushed is True
    assert answer.code == "SOURCE_SEQ_CONFLICT"


async def test_a_merged_event_sent_again_after_its_flush_changes_nothing(service: Stand) -> None:
    await merged(service)
    _, again = await done(service, flush(), report("STEP_PROGRESS", "k1.3", 3, progress=Progress(3, 100)))
    assert (again.duplicate, again.merged, again.task_version) == (True, True, "2")


async def test_what_ended_meanwhile_is_not_flushed(service: Stand) -> None:
    await merged(service)
    _, flushed = await done(service, report("STEP_COMPLETED", "end", 4), flush())
    assert flushed is False
    service.clock.pass_ms(9_000)
    assert await due(service) == 0
