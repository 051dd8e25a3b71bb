"""A correction from every state to every end it may lead to."""

import pytest
from msgspec.structs import replace

from milepost.domain.correcting import Correction, correct
from milepost.domain.lifecycle import ENDS, End
from milepost.domain.outcomes import Accepted, Unchanged
from tests.domain.story import NOW, RULES, Story, accepted, refused

FIRSTS = ("", "TASK_STARTED", "TASK_COMPLETED", "TASK_FAILED", "TASK_CANCELLED")
TIMED = replace(
    RULES,
    enabled=RULES.enabled | {"TIMED_OUT"},
    default_status={**RULES.default_status, "TIMED_OUT": "TIMED_OUT"},
)


def story(first: str) -> Story:
    told = Story("a", rules=TIMED)
    told.say("STEP_STARTED")
    told.change("a", health="STALE")
    told.task = replace(told.task, health="STALE")
    if first:
        told.say(first)
    told.now += 60_000
    return told


def said(to: End, version: int) -> Correction:
    return Correction(to, None, "why", version, "op", "corrected")


@pytest.mark.parametrize("first", FIRSTS)
@pytest.mark.parametrize("to", sorted(ENDS))
def test_a_correction_leads_from_any_state_to_any_other_end_in_one_version(first: str, to: End) -> None:
    told = story(first)
    before = told.task
    decision = told.apply(correct(told.state, said(to, before.version), TIMED, told.now))
    after = told.task
    if before.lifecycle == to:
        assert decision == Unchanged(before)
        return
    event = accepted(decision)
    assert (after.version, after.lifecycle, after.business_status) == (before.version + 1, to, to)
    assert (event.event_type, event.task_version, event.lifecycle) == ("TASK_CORRECTED", after.version, to)
    assert (event.public.reason, event.private.operator) == ("why", "op")
    assert (after.failure is not None) == (to in ("FAILED", "TIMED_OUT"))
    assert (after.health, after.current_step) == ("HEALTHY", None)
    assert after.started_at is not None
    assert after.finished_at == (before.finished_at or told.now)
    assert after.total_duration_ms == (before.total_duration_ms if before.ended else told.now - NOW)
    assert (after.percent or 0) >= (before.percent or 0)
    assert told.steps["a"].lifecycle == "RUNNING"


@pytest.mark.parametrize("first", FIRSTS)
def test_after_a_correction_no_ordinary_fact_leaves_the_end(first: str) -> None:
    told = story(first)
    to: End = "FAILED" if told.task.lifecycle != "FAILED" else "SUCCEEDED"
    assert isinstance(told.apply(correct(told.state, said(to, told.task.version), TIMED, told.now)), Accepted)
    end = told.task
    for event_type in ("TASK_STARTED", "TASK_COMPLETED", "TASK_FAILED", "TASK_CANCELLED", "STEP_PROGRESS"):
        told.say(event_type)
    assert told.task == end
    again = correct(told.state, said("CANCELLED", end.version - 1), TIMED, told.now)
    assert refused(again) == "VERSION_CONFLICT"
