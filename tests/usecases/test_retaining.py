"""What is old is removed in portions, and whoever comes for it later is told."""

import pytest

from milepost.usecases.retaining import Keeping, Sweeper
from tests.parts.stand import Stand
from tests.usecases.works import create, done, report, table

DAY = 86_400_000


def sweeper(service: Stand) -> Sweeper:
    storage = service.storage
    return Sweeper(storage.retention, storage.access, service.clock, Keeping())


@pytest.mark.accepts("short history → snapshot")
async def test_entries_are_removed_after_the_window_and_older_cursors_expire(service: Stand) -> None:
    await done(service, create(), report("STEP_STARTED", "e1", 1))
    service.clock.pass_ms(3 * DAY)
    await done(service, report("STEP_COMPLETED", "e2", 2))
    assert (await sweeper(service).sweep()).stream == 0
    service.clock.pass_ms(1)
    assert (await sweeper(service).sweep()).stream == 2
    epoch = await service.storage.epoch()
    token = await service.session("u1")
    old = await service.get(f"/api/tasks?changedAfter={epoch}:1", token)
    assert (old.status_code, old.json()["code"]) == (410, "CURSOR_EXPIRED")
    kept = await service.get(f"/api/tasks?changedAfter={epoch}:2", token)
    assert (kept.status_code, [item["id"] for item in kept.json()["items"]]) == (200, ["k1"])


async def test_answers_are_kept_for_thirty_days_after_the_tasks_end(service: Stand) -> None:
    await done(service, create(), report("STEP_STARTED", "e1", 1), create("t1", "k2"))
    service.clock.pass_ms(40 * DAY)
    await done(service, report("TASK_COMPLETED", "end"), report("STEP_STARTED", "e2", 1, task_id="k2"))
    service.clock.pass_ms(30 * DAY)
    assert (await sweeper(service).sweep()).answers == 0
    service.clock.pass_ms(1)
    assert (await sweeper(service).sweep()).answers == 2
    assert table(service, "task_event_dedup", "event_id") == [("e2",)]


async def test_a_repeat_whose_answer_is_forgotten_can_change_nothing(service: Stand) -> None:
    await done(service, create(), report("STEP_STARTED", "e1", 1), report("STEP_COMPLETED", "e2", 2))
    await done(service, report("TASK_COMPLETED", "end"))
    service.clock.pass_ms(31 * DAY)
    assert (await sweeper(service).sweep()).answers == 3
    before = table(service, "task", "version, lifecycle, health")
    start, end = await done(service, report("STEP_STARTED", "e1", 1), report("STEP_COMPLETED", "e2", 2))
    assert (start.accepted, start.stale) == (False, True)
    assert (end.accepted, end.duplicate) == (False, True)
    assert table(service, "task", "version, lifecycle, health") == before


async def test_a_sweep_goes_on_in_small_portions_until_nothing_is_left(service: Stand) -> None:
    for number in range(5):
        await done(service, create("t1", f"k{number}"), report("TASK_COMPLETED", f"e{number}", task_id=f"k{number}"))
    service.clock.pass_ms(31 * DAY)
    sweep = sweeper(service)
    portions = [await sweep.sweep(portion=4) for _ in range(4)]
    assert [(one.stream, one.answers, one.more) for one in portions] == [
        (4, 4, True),
        (4, 1, True),
        (2, 0, False),
        (0, 0, False),
    ]


async def test_expired_sessions_go_with_the_sweep(service: Stand) -> None:
    token = await service.session("u1")
    assert (await service.get("/api/tasks", token)).status_code == 200
    service.clock.pass_ms(400 * DAY)
    assert (await sweeper(service).sweep()).sessions == 1
    assert (await service.get("/api/tasks", token)).status_code == 401
