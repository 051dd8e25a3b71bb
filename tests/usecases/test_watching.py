"""The health reconciler over a real database: who is silent is told of once, and nobody who is not."""

import asyncio
import sqlite3

import pytest

from milepost.domain.facts import Heartbeat
from milepost.domain.state import TaskKey
from milepost.domain.watching import Seen
from milepost.ports.reading import Snapshot
from milepost.usecases.heartbeats import beat
from milepost.usecases.watching import Guard, Pronounce, Scanned
from tests.parts.health import LIMIT, Watch
from tests.parts.stand import Stand
from tests.usecases.works import cancel, create, done, report, rows, table


@pytest.fixture
def watch(service: Stand) -> Watch:
    return Watch(service)


async def started(service: Stand, *task_ids: str) -> None:
    works = [(create("t1", one), report("STEP_STARTED", f"{one}.1", 1, task_id=one)) for one in task_ids or ("k1",)]
    await done(service, *(work for pair in works for work in pair))


async def beats(service: Stand, *task_ids: str) -> None:
    said = [Heartbeat("t1", one, 1, "a", 1, "OP.a", "a-worker", 1) for one in task_ids or ("k1",)]
    await service.storage.transaction(lambda tx: beat(tx, said))


async def found(service: Stand, task_id: str = "k1") -> Snapshot:
    snapshot = await service.storage.reading.snapshot(TaskKey("t1", task_id))
    assert snapshot is not None
    return snapshot


async def test_silence_and_a_sign_of_life_are_one_version_each(service: Stand, watch: Watch) -> None:
    await started(service)
    await watch.listen(LIMIT - 1)
    assert await watch.scan() == Scanned()
    await watch.listen(1)
    assert (await watch.scan()).silent == 1
    assert (await found(service)).task.health == "STALE"
    await watch.listen(5_000)
    await beats(service)
    assert (await found(service)).task.health == "STALE"
    assert (await watch.scan()).heard == 1
    assert (await found(service)).task.health == "HEALTHY"
    events = table(service, "task_event_log", "task_version, event_type, producer_id, health, lifecycle")
    assert sorted(events)[2:] == [
        (3, "STEP_HEALTH_CHANGED", "milepost", "STALE", "RUNNING"),
        (4, "STEP_HEALTH_CHANGED", "milepost", "HEALTHY", "RUNNING"),
    ]


async def test_a_verdict_reaches_viewers_like_any_other_version(service: Stand, watch: Watch) -> None:
    await started(service)
    await watch.listen(LIMIT)
    await watch.scan()
    assert [entry.entry.task_version for entry in service.heard.committed[-1].entries] == [3]
    top = (await found(service)).task
    assert (top.version, top.last_position) == (3, 3)


async def test_heartbeats_keep_a_step_from_being_looked_at(service: Stand, watch: Watch) -> None:
    await started(service)
    for _ in range(9):
        await watch.listen(10_000)
        await beats(service)
        assert await watch.scan() == Scanned()
    assert await service.storage.watching.due(service.clock.now() + LIMIT - 1, None, 9) == ()


async def test_steps_of_an_ended_task_are_taken_out_of_the_walk_for_good(service: Stand, watch: Watch) -> None:
    await started(service)
    await done(service, report("TASK_COMPLETED", "end"))
    await watch.listen(LIMIT)
    assert await service.storage.watching.watched() == 1
    before = await found(service)
    assert await watch.scan() == Scanned()
    assert await service.storage.watching.watched() == 0
    assert await found(service) == before


async def test_a_fact_between_the_scan_and_the_lock_wins(service: Stand, watch: Watch) -> None:
    await started(service)
    await watch.listen(LIMIT)
    before = rows(service.path, "t1")
    (seen,) = await service.storage.watching.due(service.clock.now(), None, 9)
    verdict = Pronounce(TaskKey("t1", "k1"), Seen.of(seen.step), "SILENT", "late")
    end, made = await done(service, report("STEP_COMPLETED", "end", 2), verdict)
    assert (end.accepted, made) == (True, False)
    after = rows(service.path, "t1")
    assert len(after["task_event_log"]) == len(before["task_event_log"]) + 1
    assert (await found(service)).steps[0].lifecycle == "SUCCEEDED"


async def test_three_nodes_that_scan_at_once_make_one_version(service: Stand) -> None:
    await started(service)
    nodes = [Watch(service) for _ in range(3)]
    await nodes[0].listen(LIMIT)
    for _ in range(10):
        await asyncio.gather(*(node.scan() for node in nodes))
    assert (await found(service)).task.version == 3


async def test_a_scan_that_lost_its_lease_commits_nothing(service: Stand, watch: Watch) -> None:
    async def lost() -> bool:
        return False

    await started(service)
    await watch.listen(LIMIT)
    assert (await watch.health.scan(lost)).outcome == "fenced"
    assert (await found(service)).task.version == 2


async def test_without_a_stamp_nobody_is_judged(service: Stand, watch: Watch) -> None:
    await started(service)
    service.clock.pass_ms(100 * LIMIT)
    assert (await watch.scan()).outcome == "deaf"
    await watch.listen(LIMIT - 1)
    assert (await watch.scan()).silent == 0
    await watch.listen(1)
    assert (await watch.scan()).silent == 1


async def test_one_process_that_listened_is_enough(service: Stand, watch: Watch) -> None:
    await started(service)
    other = Watch(service)
    await watch.listen(LIMIT // 2)
    await other.listen(LIMIT // 2)
    assert (await watch.scan()).silent == 1


async def test_a_storm_turns_nobody_stale_and_is_told_of(service: Stand, watch: Watch) -> None:
    ids = [f"k{number}" for number in range(50)]
    await started(service, *ids)
    await watch.listen(LIMIT - 5_000)
    await beats(service, *ids[11:])
    await watch.listen(5_000)
    assert (await watch.scan()) == Scanned(storm=11, watched=50)
    await beats(service, ids[0])
    scanned = await watch.scan()
    assert (scanned.silent, scanned.storm) == (10, 0)


async def test_a_storm_holds_no_good_news_back(service: Stand) -> None:
    ids = [f"k{number}" for number in range(12)]
    await started(service, *ids)
    node = Watch(service, Guard(percent=100))
    await node.listen(LIMIT)
    assert (await node.scan()).silent == 12
    await node.listen(1_000)
    await beats(service, *ids)
    assert (await Watch(service).scan()).heard == 12


async def test_more_steps_than_a_page_are_all_looked_at(service: Stand) -> None:
    ids = [f"k{number}" for number in range(510)]
    for start in range(0, 510, 85):
        await started(service, *ids[start : start + 85])
    node = Watch(service, Guard(percent=100))
    await node.listen(LIMIT)
    assert (await node.scan()).silent == 510


async def test_an_unanswered_cancel_is_told_of_once_and_cancels_nothing(service: Stand, watch: Watch) -> None:
    await started(service)
    await done(service, cancel())
    for _ in range(12):
        await watch.listen(5_000)
        await beats(service)
    assert (await watch.scan()).unanswered == 1
    assert (await watch.scan()).unanswered == 0
    assert table(service, "notification", "type") == [("cancel.unanswered",)]
    task = (await found(service)).task
    assert (task.health, task.lifecycle, task.version) == ("DEGRADED", "RUNNING", 4)


async def test_a_cancel_is_not_overdue_while_nobody_could_answer(service: Stand, watch: Watch) -> None:
    await started(service)
    await done(service, cancel())
    service.clock.pass_ms(10 * LIMIT)
    await watch.listen(LIMIT - 1)
    await beats(service)
    assert (await watch.scan()).unanswered == 0


@pytest.mark.accepts("STALE is never FAILED")
async def test_stale_is_never_failed(service: Stand, watch: Watch) -> None:
    await started(service)
    await watch.listen(LIMIT)
    await watch.scan()
    await watch.listen(100 * LIMIT)
    assert (await watch.scan()).long == 1
    assert table(service, "notification", "type") == [("step.stale.long",)]
    await watch.listen(100 * LIMIT)
    assert await watch.scan() == Scanned()
    with sqlite3.connect(service.path) as connection:
        states = connection.execute("SELECT lifecycle, business_status FROM task").fetchall()
        steps = connection.execute("SELECT lifecycle FROM task_step ORDER BY step_id").fetchall()
    connection.close()
    assert states == [("RUNNING", "RUNNING")]
    assert steps == [("RUNNING",), ("PENDING",), ("PENDING",)]
