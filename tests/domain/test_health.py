"""Health is about the executor; it never writes a lifecycle, and a bare sign of life never makes a version."""

from typing import Any

import pytest

from milepost.domain.facts import Heartbeat
from milepost.domain.heartbeats import judge
from milepost.domain.outcomes import Refused, Stale
from milepost.domain.steps import health_of
from tests.domain.story import Story, plan


def beat(**more: Any) -> Heartbeat:
    said: dict[str, Any] = {
        "tenant_id": "t1",
        "task_id": "k1",
        "task_attempt": 1,
        "step_id": "a",
        "step_attempt": 1,
        "operation_code": "OP.a",
        "producer_id": "a-worker",
        "source_epoch": 1,
    }
    return Heartbeat(**{**said, **more})


@pytest.mark.parametrize(
    "a,b,health",
    [
        ("STARTED", "STARTED", "HEALTHY"),
        ("FAILED", "STARTED", "DEGRADED"),
        ("CANCELLED", "STARTED", "HEALTHY"),
        ("STARTED", "FAILED", "HEALTHY"),
    ],
)
def test_a_task_is_degraded_while_a_warning_stands(a: str, b: str, health: str) -> None:
    story = Story(plan("a", "CONTINUE_WITH_WARNING"), "b")
    story.say(f"STEP_{a}", "a")
    story.say(f"STEP_{b}", "b")
    assert story.task.health == health


@pytest.mark.accepts("STALE is never FAILED")
def test_a_stale_running_step_outweighs_a_warning_and_an_ended_one_weighs_nothing() -> None:
    story = Story(plan("a", "CONTINUE_WITH_WARNING"), "b")
    story.say("STEP_FAILED", "a")
    story.say("STEP_STARTED", "b")
    story.change("b", health="STALE")
    assert health_of(story.steps, 1) == "STALE"
    story.change("b", lifecycle="SUCCEEDED")
    assert health_of(story.steps, 1) == "DEGRADED"


def test_any_accepted_fact_makes_a_stale_step_healthy() -> None:
    story = Story()
    story.say("STEP_STARTED")
    story.change("a", health="STALE")
    story.say("STEP_PROGRESS")
    assert (story.steps["a"].health, story.task.health) == ("HEALTHY", "HEALTHY")


def test_a_sign_of_life_counts_from_pending_to_the_end() -> None:
    story = Story()
    assert judge(story.state, beat()) is None
    story.say("STEP_STARTED")
    assert judge(story.state, beat()) is None
    story.say("STEP_COMPLETED")
    assert judge(story.state, beat()) == Stale("TERMINAL")


def test_a_sign_of_life_after_the_tasks_end_counts_for_nothing() -> None:
    story = Story()
    story.say("TASK_CANCELLED")
    assert judge(story.state, beat()) == Stale("TERMINAL")


def test_a_sign_of_life_of_an_older_attempt_or_source_counts_for_nothing() -> None:
    story = Story()
    story.new_source()
    assert judge(story.state, beat()) == Stale("SOURCE_FENCED")
    assert judge(story.state, beat(source_epoch=2)) is None
    story.open_step(2, abandon=True)
    assert judge(story.state, beat()) == Stale("ATTEMPT_SUPERSEDED")


@pytest.mark.parametrize(
    "said,code",
    [
        ({"producer_id": "b-worker"}, "CONTEXT_MISMATCH"),
        ({"operation_code": "OP.b"}, "CONTEXT_MISMATCH"),
        ({"source_epoch": 2}, "CONTEXT_MISMATCH"),
        ({"step_attempt": 2}, "ATTEMPT_UNKNOWN"),
        ({"task_attempt": 2}, "ATTEMPT_UNKNOWN"),
        ({"step_id": "z"}, "ATTEMPT_UNKNOWN"),
    ],
)
def test_a_foreign_sign_of_life_is_refused(said: dict[str, Any], code: str) -> None:
    verdict = judge(Story().state, beat(**said))
    assert isinstance(verdict, Refused)
    assert verdict.code == code


def test_a_genuine_token_vouches_for_a_newer_source() -> None:
    assert judge(Story().state, beat(source_epoch=2, genuine_token=True)) is None
