"""Instants are the server's, durations the producer's; neither is made from the other's clock."""

from typing import Any

import pytest

from tests.domain.story import NOW, Story, accepted


@pytest.mark.parametrize(
    "age,started",
    [(None, NOW + 5_000), (0, NOW + 5_000), (1_500, NOW + 3_500), (5_000, NOW), (9_000_000, NOW)],
)
@pytest.mark.parametrize("event_type", ["STEP_STARTED", "TASK_STARTED"])
def test_a_start_lies_its_age_before_its_arrival_never_before_the_opening(
    event_type: str, age: int | None, started: int
) -> None:
    story = Story()
    story.now += 5_000
    story.say(event_type, age_ms=age)
    assert story.task.started_at == started
    if event_type == "STEP_STARTED":
        assert story.steps["a"].started_at == started


def test_a_start_never_lies_after_the_decision() -> None:
    story = Story()
    fact = story.fact("STEP_STARTED", received_at=story.now + 500)
    story.tell(fact)
    assert (story.steps["a"].started_at, story.task.started_at) == (story.now, story.now)


def test_an_attempts_start_never_lies_before_its_own_opening() -> None:
    story = Story()
    story.say("STEP_FAILED")
    story.now += 60_000
    story.open_step(2)
    story.now += 100
    story.say("STEP_STARTED", age_ms=50_000)
    assert story.steps["a"].started_at == story.now - 100


@pytest.mark.parametrize(
    "said,started",
    [
        ({"duration_ms": 3_000}, NOW + 7_000),
        ({"duration_ms": 3_000, "age_ms": 2_000}, NOW + 5_000),
        ({"duration_ms": 99_000}, NOW),
        ({}, NOW + 10_000),
    ],
)
@pytest.mark.parametrize("event_type", ["STEP_COMPLETED", "STEP_FAILED", "TASK_COMPLETED", "TASK_FAILED"])
def test_a_start_nobody_told_is_derived_from_the_end_and_the_duration(
    event_type: str, said: dict[str, Any], started: int
) -> None:
    story = Story()
    story.now += 10_000
    assert accepted(story.say(event_type, **said)).derived is True
    assert story.task.started_at == started


def test_a_tasks_end_after_a_start_derives_nothing() -> None:
    story = Story()
    assert accepted(story.say("TASK_STARTED")).derived is False
    assert accepted(story.say("TASK_COMPLETED", duration_ms=77)).derived is False
    assert story.task.started_at == NOW


@pytest.mark.accepts("monotonic durations never overwritten")
def test_a_reported_duration_is_never_overwritten_by_a_difference_of_clocks() -> None:
    story = Story()
    story.say("STEP_STARTED")
    story.now += 10_000
    story.say("STEP_COMPLETED", duration_ms=123)
    step = story.steps["a"]
    assert (step.duration_ms, step.duration_source) == (123, "MONOTONIC")
    assert (step.started_at, step.finished_at) == (NOW, NOW + 10_000)


def test_without_a_reported_duration_there_is_none() -> None:
    story = Story()
    story.say("STEP_STARTED")
    story.now += 10_000
    story.say("STEP_COMPLETED", duration_source="MONOTONIC")
    assert (story.steps["a"].duration_ms, story.steps["a"].duration_source) == (None, None)


def test_an_estimate_says_that_it_is_one() -> None:
    story = Story()
    story.say("STEP_COMPLETED", duration_ms=5, duration_source="WALL_CLOCK_ESTIMATE")
    assert story.steps["a"].duration_source == "WALL_CLOCK_ESTIMATE"


def test_the_producers_wall_clock_is_kept_and_never_calculated_with() -> None:
    story = Story()
    event = accepted(story.say("STEP_STARTED", occurred_at=12))
    assert event.occurred_at == 12
    assert story.steps["a"].started_at == NOW


def test_an_end_lies_between_the_start_and_now() -> None:
    story = Story()
    story.now += 1_000
    story.say("STEP_STARTED")
    story.now += 1_000
    story.say("STEP_COMPLETED", age_ms=50_000)
    assert story.steps["a"].finished_at == NOW + 1_000
    story.say("TASK_COMPLETED", received_at=story.now + 9_000)
    assert story.task.finished_at == story.now


def test_a_tasks_durations_are_its_coordinators_and_the_whole() -> None:
    story = Story()
    story.now += 2_000
    story.say("STEP_STARTED")
    story.now += 3_000
    story.say("TASK_COMPLETED", duration_ms=2_900, age_ms=400)
    assert (story.task.run_duration_ms, story.task.total_duration_ms) == (2_900, 5_000)
    assert (story.task.started_at, story.task.finished_at) == (NOW + 2_000, NOW + 4_600)


def test_a_total_duration_counts_from_the_creation_through_all_attempts() -> None:
    story = Story()
    story.say("TASK_FAILED")
    story.now += 8_000
    story.open_task(2)
    story.say("TASK_COMPLETED")
    assert story.task.total_duration_ms == 8_000


def test_an_accepted_fact_is_a_sign_of_life_that_never_goes_back() -> None:
    story = Story()
    story.say("STEP_STARTED")
    assert story.steps["a"].last_seen_at == NOW
    story.now -= 5_000
    story.say("STEP_PROGRESS")
    story.say("STEP_PROGRESS")
    assert story.steps["a"].last_seen_at == NOW
