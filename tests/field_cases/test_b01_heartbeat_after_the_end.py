"""B01: a heartbeat that arrives after the end turns success into failure."""

from typing import Any

import pytest

from tests.field_cases.cases import Case
from tests.parts.health import LIMIT, Watch


def beat(case: Case) -> dict[str, Any]:
    event = case.a.event("STEP_HEARTBEAT")
    return {name: value for name, value in event.items() if name not in ("eventId", "sourceSeq", "occurredAt")}


async def finished(case: Case) -> dict[str, Any]:
    await case.a.report("STEP_STARTED")
    await case.a.report("STEP_COMPLETED", durationMs=10)
    return await case.step()


async def test_a_heartbeat_after_the_end_leaves_the_end_as_it_is(case: Case) -> None:
    before = await finished(case)
    version = await case.version()
    answer = await case.stand.post("/internal/v1/task-events", case.a.context["executionToken"], beat(case))
    assert (answer.status_code, answer.json()["accepted"], answer.json()["reason"]) == (200, False, "TERMINAL")
    watch = Watch(case.stand)
    await watch.listen(3 * LIMIT)
    assert (await watch.scan()).silent == 0
    after = await case.step()
    assert (after["lifecycleStatus"], after["health"]) == ("SUCCEEDED", "HEALTHY")
    assert {key: value for key, value in after.items() if key != "asOf"} == {
        key: value for key, value in before.items() if key != "asOf"
    }
    assert await case.version() == version
    await case.is_sound()


@pytest.mark.parametrize(
    "event_type,more,status",
    [
        ("STEP_PROGRESS", {"progress": {"current": 40, "total": 100}}, 200),
        ("STEP_FAILED", {"error": {"category": "SYSTEM", "code": "SIGTERM"}}, 409),
    ],
)
@pytest.mark.accepts("terminal never returns to running")
async def test_late_facts_after_the_end_are_kept_as_evidence_and_change_nothing(
    case: Case, event_type: str, more: dict[str, Any], status: int
) -> None:
    await finished(case)
    version = await case.version()
    assert (await case.a.report(event_type, **more))["status_code"] == status
    watch = Watch(case.stand)
    await watch.listen(3 * LIMIT)
    await watch.scan()
    after = await case.step()
    assert (after["lifecycleStatus"], after["health"], await case.version()) == ("SUCCEEDED", "HEALTHY", version)
    await case.is_sound()
