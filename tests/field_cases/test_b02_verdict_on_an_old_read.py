"""B02: the reaper decides on an old read and speaks over a task that just finished."""

import pytest

from tests.field_cases.cases import Case
from tests.parts.health import LIMIT, Watch


@pytest.mark.accepts("terminal never returns to running")
async def test_an_end_between_the_scans_read_and_its_commit_stands(case: Case) -> None:
    await case.a.report("STEP_STARTED")
    watch = Watch(case.stand)
    await watch.listen(2 * LIMIT)

    async def meanwhile() -> bool:
        await case.a.report("STEP_COMPLETED", durationMs=10)
        return True

    scanned = await watch.health.scan(meanwhile)
    assert scanned.silent == 0
    assert [item["eventType"] for item in await case.log()][-1] == "STEP_COMPLETED"
    step = await case.step()
    assert (step["lifecycleStatus"], step["health"]) == ("SUCCEEDED", "HEALTHY")
    await case.is_sound()


@pytest.mark.accepts("old attempt, sequence, version never cover the new")
async def test_a_new_attempt_between_the_scans_read_and_its_commit_is_not_judged_by_the_old_one(case: Case) -> None:
    await case.a.report("STEP_STARTED")
    watch = Watch(case.stand)
    await watch.listen(2 * LIMIT)

    async def meanwhile() -> bool:
        path = f"/internal/v1/tasks/{case.task_id}/steps/a/attempts/2"
        assert (await case.stand.put(path, case.coordinator, {"abandon": True})).status_code in (200, 201)
        return True

    assert (await watch.health.scan(meanwhile)).silent == 0
    assert (await case.step())["health"] == "HEALTHY"
    await case.is_sound()
