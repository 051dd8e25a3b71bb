"""B17: a producer restarts without its memory and counts from 1 again."""

from typing import Any

import pytest

from tests.field_cases.cases import Case
from tests.parts.reports import Reported


async def fifty(case: Case) -> None:
    await case.a.report("STEP_STARTED")
    for number in range(2, 51):
        case.stand.clock.pass_ms(3_000)
        answer = await case.a.report("STEP_PROGRESS", progress={"current": number, "total": 100})
        assert answer["accepted"] is True


async def restarted(case: Case) -> Reported:
    """The same producer after it lost its file: it asks for a new source, as a reporter does that does not know."""
    path = f"/internal/v1/tasks/{case.task_id}/steps/a/token"
    context: dict[str, Any] = (await case.stand.post(path, case.worker, {"newSource": True})).json()
    return Reported(case.stand, context)


@pytest.mark.accepts("a redelivered worker fences its predecessor and its end is never lost")
async def test_a_new_source_starts_again_at_one_and_the_old_one_is_fenced(case: Case) -> None:
    await fifty(case)
    again = await restarted(case)
    assert again.context["sourceEpoch"] == 2
    assert (await again.report("STEP_PROGRESS", progress={"current": 70, "total": 100}))["accepted"] is True
    old = await case.a.report("STEP_PROGRESS", progress={"current": 99, "total": 100})
    assert (old["stale"], old["reason"], old["directives"]["fenced"]) == (True, "SOURCE_FENCED", True)
    assert (await again.report("STEP_COMPLETED"))["accepted"] is True
    step = await case.step()
    assert (step["lifecycleStatus"], step["progress"]["current"]) == ("SUCCEEDED", 70)
    late = await case.a.report("STEP_FAILED", error={"category": "SYSTEM", "code": "X"})
    assert (late["accepted"], late["reason"]) == (False, "SOURCE_FENCED")
    assert (await case.step())["lifecycleStatus"] == "SUCCEEDED"
    await case.is_sound()


async def test_the_same_place_of_a_source_under_another_event_is_a_conflict_and_never_silent(case: Case) -> None:
    started = case.a.event("STEP_STARTED")
    assert (await case.a.send(started))["accepted"] is True
    again = await case.a.send(started)
    assert (again["status_code"], again["duplicate"]) == (200, True)
    other = await case.a.send({**started, "eventId": "other", "eventType": "STEP_PROGRESS", "message": "x"})
    assert (other["status_code"], other["code"]) == (409, "SOURCE_SEQ_CONFLICT")
    await case.is_sound()


@pytest.mark.accepts("old attempt, sequence, version never cover the new")
async def test_facts_out_of_order_end_as_if_they_had_come_in_order_and_a_gap_is_marked(case: Case) -> None:
    events = [case.a.event("STEP_STARTED")]
    events += [case.a.event("STEP_PROGRESS", progress={"current": 10 * number, "total": 50}) for number in range(2, 5)]
    events.append(case.a.event("STEP_COMPLETED"))
    for place in (0, 1, 4, 2, 3):
        case.stand.clock.pass_ms(3_000)
        answer = await case.a.send(events[place])
        assert answer["status_code"] == 200
        assert answer["stale"] is (place in (2, 3))
    assert (await case.step())["lifecycleStatus"] == "SUCCEEDED"
    ends = [item for item in await case.log() if item["eventType"] == "STEP_COMPLETED"]
    assert [item["gap"] for item in ends] == [True]
    await case.is_sound()
