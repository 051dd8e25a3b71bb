"""B09: a killed worker leaves RUNNING for ever, and a row that never beat is never looked at."""

import pytest

from tests.field_cases.cases import Case
from tests.field_cases.test_b01_heartbeat_after_the_end import beat
from tests.parts.health import LIMIT, Watch


@pytest.mark.accepts("STALE is never FAILED")
async def test_a_worker_killed_before_its_first_heartbeat_is_stale_after_the_limit_and_never_failed(
    case: Case,
) -> None:
    await case.a.report("STEP_STARTED")
    watch = Watch(case.stand)
    await watch.listen(LIMIT - 1)
    await watch.scan()
    assert (await case.step())["health"] == "HEALTHY"
    await watch.listen(1)
    await watch.scan()
    shown = await case.shown()
    assert (shown["task"]["health"], shown["task"]["lifecycleStatus"]) == ("STALE", "RUNNING")
    await watch.listen(20 * LIMIT)
    await watch.scan()
    assert (await case.step())["lifecycleStatus"] == "RUNNING"
    await case.is_sound()


async def test_a_restarted_worker_clears_it_with_one_version(case: Case) -> None:
    await case.a.report("STEP_STARTED")
    watch = Watch(case.stand)
    await watch.listen(LIMIT)
    await watch.scan()
    version = await case.version()
    await watch.listen(1_000)
    answer = await case.stand.post("/internal/v1/task-events", case.a.context["executionToken"], beat(case))
    assert answer.json()["accepted"] is True
    assert (await case.version(), (await case.step())["health"]) == (version, "STALE")
    await watch.scan()
    await watch.scan()
    assert (await case.version(), (await case.step())["health"]) == (version + 1, "HEALTHY")
    await case.is_sound()
