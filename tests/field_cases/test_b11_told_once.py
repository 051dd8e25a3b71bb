"""B11: the same silent task is told of again with every scan; flapping."""

import asyncio

from tests.field_cases.cases import Case
from tests.field_cases.test_b01_heartbeat_after_the_end import beat
from tests.parts.health import LIMIT, Watch


async def changes(case: Case) -> list[str]:
    """The reasons of all changes of health so far."""
    items = [item for item in await case.log() if item["eventType"] == "STEP_HEALTH_CHANGED"]
    return [item["reason"] for item in items]


async def test_ten_scans_of_three_nodes_tell_of_one_silence_once(case: Case) -> None:
    await case.a.report("STEP_STARTED")
    nodes = [Watch(case.stand) for _ in range(3)]
    await nodes[0].listen(LIMIT)
    for _ in range(10):
        await asyncio.gather(*(node.scan() for node in nodes))
    assert await changes(case) == ["SILENT"]
    await nodes[0].listen(2 * LIMIT)
    for _ in range(10):
        await asyncio.gather(*(node.scan() for node in nodes))
    assert await changes(case) == ["SILENT", "STALE_LONG"]
    await case.is_sound()


async def test_a_worker_that_beats_just_above_its_limit_is_told_of_less_and_less(case: Case) -> None:
    await case.a.report("STEP_STARTED")
    watch = Watch(case.stand)
    for _ in range(12):
        await watch.listen(LIMIT + 5_000)
        await watch.scan()
        answer = await case.stand.post("/internal/v1/task-events", case.a.context["executionToken"], beat(case))
        if answer.status_code == 401:
            renewed = await case.stand.post(
                f"/internal/v1/tasks/{case.task_id}/steps/a/token", case.worker, {"stepAttempt": 1}
            )
            case.a.context["executionToken"] = renewed.json()["executionToken"]
            await case.stand.post("/internal/v1/task-events", case.a.context["executionToken"], beat(case))
        await watch.listen(1_000)
        await watch.scan()
    reasons = await changes(case)
    assert reasons.count("SILENT") == reasons.count("HEARD") <= 2
    await case.is_sound()
