"""Verdicts on silence: health moves, a lifecycle never does, and nothing is said twice."""

import pytest

from milepost.domain.health import look_at
from milepost.domain.lifecycle import Lifecycle
from milepost.domain.listening import Listening, Span
from milepost.domain.outcomes import Unchanged
from milepost.domain.watching import (
    Seen,
    Verdict,
    cancel_is_overdue,
    cancel_unanswered,
    pronounce,
    storm,
    verdict_on,
)
from tests.domain.story import NOW, Story, accepted, plan

LIMIT = 60_000


def always(now: int) -> Listening:
    return Listening((Span(0, now),))


def verdict(story: Story, step_id: str = "a") -> Verdict | None:
    return verdict_on(story.task, story.steps[step_id], always(story.now), story.now)


def said(story: Story, expected: Verdict | None, step_id: str = "a") -> None:
    """One scan that comes to this verdict and pronounces it."""
    assert verdict(story, step_id) == expected
    if expected is not None:
        seen = Seen.of(story.steps[step_id])
        story.apply(pronounce(story.state, seen, expected, f"h{story.task.version}", story.now))


def silent(ms: int = LIMIT) -> Story:
    story = Story("a", "b")
    story.say("STEP_STARTED")
    story.now += ms
    return story


def beats(story: Story, step_id: str = "a") -> None:
    story.change(step_id, last_seen_at=story.now)


def test_a_step_that_is_silent_for_its_limit_turns_stale_in_one_version_and_runs_on() -> None:
    story = silent(LIMIT - 1)
    said(story, None)
    story.now += 1
    before = story.task
    said(story, "SILENT")
    step = story.steps["a"]
    assert (step.health, step.lifecycle, story.task.health, story.task.lifecycle) == (
        "STALE",
        "RUNNING",
        "STALE",
        "RUNNING",
    )
    assert (story.task.version, story.last.event_type) == (before.version + 1, "STEP_HEALTH_CHANGED")
    assert (story.last.producer_id, story.last.public.reason, story.last.step_id) == ("milepost", "SILENT", "a")
    assert story.last.step_version == step.version
    assert story.task.business_status == before.business_status


def test_a_step_that_never_beat_is_judged_by_its_start() -> None:
    story = silent()
    story.change("a", last_seen_at=None)
    assert verdict(story) == "SILENT"


def test_steps_that_wait_or_have_ended_are_not_watched() -> None:
    story = silent(10 * LIMIT)
    assert verdict(story, "b") is None
    story.say("STEP_COMPLETED")
    assert verdict(story) is None


@pytest.mark.parametrize("end", ["TASK_COMPLETED", "TASK_FAILED", "TASK_CANCELLED"])
def test_steps_of_an_ended_task_are_not_watched(end: str) -> None:
    story = silent(10 * LIMIT)
    seen = Seen.of(story.steps["a"])
    story.say(end)
    assert verdict(story) is None
    assert isinstance(pronounce(story.state, seen, "SILENT", "h", story.now), Unchanged)


def test_a_stale_step_is_told_of_once_more_after_three_limits_and_then_no_more() -> None:
    story = silent()
    said(story, "SILENT")
    story.now += 2 * LIMIT - 1
    said(story, None)
    story.now += 1
    said(story, "STALE_LONG")
    assert story.last.public.reason == "STALE_LONG"
    story.now += 1_000 * LIMIT
    said(story, None)
    assert look_at(story.steps["a"]) is None


def test_a_heartbeat_makes_a_stale_step_healthy_with_the_next_look() -> None:
    story = silent()
    said(story, "SILENT")
    story.now += 5
    beats(story)
    assert (story.steps["a"].health, look_at(story.steps["a"])) == ("STALE", story.now)
    said(story, "HEARD")
    assert (story.steps["a"].health, story.task.health, story.last.public.reason) == ("HEALTHY", "HEALTHY", "HEARD")
    said(story, None)


def test_any_accepted_fact_clears_the_silence_in_its_own_version() -> None:
    story = silent()
    said(story, "SILENT")
    version = story.task.version
    accepted(story.say("STEP_PROGRESS"))
    assert (story.task.version, story.task.health, story.steps["a"].silent_since) == (version + 1, "HEALTHY", None)
    said(story, None)


def test_the_end_of_a_stale_step_is_an_end_like_any_other() -> None:
    story = silent()
    said(story, "SILENT")
    accepted(story.say("STEP_COMPLETED"))
    assert (story.steps["a"].lifecycle, story.steps["a"].health, story.task.health) == (
        "SUCCEEDED",
        "HEALTHY",
        "HEALTHY",
    )


def test_the_next_attempt_of_a_stale_step_begins_afresh() -> None:
    story = silent()
    said(story, "SILENT")
    story.open_step(2, abandon=True)
    step = story.steps["a"]
    assert (step.health, step.silent_since, step.escalated, step.calm_at, step.patience_ms) == (
        "HEALTHY",
        None,
        False,
        None,
        LIMIT,
    )


@pytest.mark.parametrize(
    "moved",
    [
        lambda story: story.say("STEP_PROGRESS"),
        lambda story: story.say("STEP_COMPLETED"),
        lambda story: story.say("STEP_FAILED"),
        lambda story: story.say("TASK_COMPLETED"),
        lambda story: story.open_step(2, abandon=True),
        lambda story: story.open_task(2, abandon=True),
        lambda story: story.change("a", last_seen_at=story.now),
    ],
    ids=["progress", "end", "failure", "task end", "step attempt", "task attempt", "heartbeat"],
)
def test_a_verdict_on_what_has_moved_since_changes_nothing(moved) -> None:
    story = silent()
    seen = Seen.of(story.steps["a"])
    moved(story)
    assert isinstance(pronounce(story.state, seen, "SILENT", "h", story.now), Unchanged)


def test_a_verdict_that_another_node_gave_already_changes_nothing() -> None:
    story = silent()
    seen = Seen.of(story.steps["a"])
    said(story, "SILENT")
    assert isinstance(pronounce(story.state, seen, "SILENT", "h", story.now), Unchanged)
    story.now += 2 * LIMIT
    seen = Seen.of(story.steps["a"])
    said(story, "STALE_LONG")
    assert isinstance(pronounce(story.state, seen, "STALE_LONG", "h", story.now), Unchanged)


def episode(story: Story, ms: int) -> None:
    """Silence until it is told of after `ms`, then a sign of life."""
    story.now += ms - 1
    said(story, None)
    story.now += 1
    said(story, "SILENT")
    story.now += 1
    beats(story)
    said(story, "HEARD")


def test_a_step_that_flaps_is_given_ever_more_patience_up_to_a_bound() -> None:
    story = silent(0)
    for limits in (1, 2, 4, 8, 8):
        episode(story, limits * LIMIT)


def test_a_step_that_was_calm_for_long_is_judged_by_its_own_limit_again() -> None:
    story = silent(0)
    episode(story, LIMIT)
    assert look_at(story.steps["a"]) == story.now + 2 * LIMIT
    story.now += 10 * LIMIT
    beats(story)
    episode(story, LIMIT)
    episode(story, 2 * LIMIT)


def test_after_our_own_silence_nobody_is_judged_for_one_limit() -> None:
    story = silent(5 * LIMIT)
    back = story.now
    for ms, expected in ((0, None), (LIMIT - 1, None), (LIMIT, "SILENT")):
        listening = Listening((Span(0, NOW), Span(back, back + ms)))
        assert verdict_on(story.task, story.steps["a"], listening, back + ms) == expected
    assert verdict_on(story.task, story.steps["a"], Listening((Span(0, NOW),)), back) is None
    assert verdict_on(story.task, story.steps["a"], Listening(), back) is None


def test_our_own_silence_does_not_count_towards_the_escalation() -> None:
    story = silent()
    said(story, "SILENT")
    heard = story.now
    story.now += 20 * LIMIT
    listening = Listening((Span(0, heard), Span(story.now - LIMIT, story.now)))
    assert verdict_on(story.task, story.steps["a"], listening, story.now) is None
    story.now += LIMIT
    listening = Listening((Span(0, heard), Span(story.now - 2 * LIMIT, story.now)))
    assert verdict_on(story.task, story.steps["a"], listening, story.now) == "STALE_LONG"


def test_a_request_to_cancel_that_nobody_answers_degrades_the_task_once() -> None:
    story = silent(0)
    story.cancel()
    asked = story.now
    story.now += LIMIT - 1
    assert not cancel_is_overdue(story.task, always(story.now), story.now)
    story.now += 1
    assert cancel_is_overdue(story.task, always(story.now), story.now)
    story.apply(cancel_unanswered(story.state, asked, "h", story.now))
    assert (story.task.health, story.task.lifecycle, story.task.cancel_requested_at) == ("DEGRADED", "RUNNING", asked)
    assert (story.last.event_type, story.last.public.reason) == ("TASK_HEALTH_CHANGED", "CANCEL_UNANSWERED")
    assert not cancel_is_overdue(story.task, always(story.now), story.now)
    assert isinstance(cancel_unanswered(story.state, asked, "h2", story.now), Unchanged)


def test_the_warning_of_an_unanswered_cancel_stands_until_the_end() -> None:
    story = silent(0)
    story.cancel()
    story.now += LIMIT
    story.apply(cancel_unanswered(story.state, story.now - LIMIT, "h", story.now))
    story.say("STEP_PROGRESS")
    assert story.task.health == "DEGRADED"
    story.say("TASK_CANCELLED")
    assert (story.task.lifecycle, story.task.health) == ("CANCELLED", "HEALTHY")


@pytest.mark.parametrize("end,lifecycle", [("TASK_CANCELLED", "CANCELLED"), ("TASK_COMPLETED", "SUCCEEDED")])
def test_an_answered_request_to_cancel_is_not_told_of(end: str, lifecycle: Lifecycle) -> None:
    story = silent(0)
    story.cancel()
    asked = story.now
    story.now += LIMIT
    story.say(end)
    assert not cancel_is_overdue(story.task, always(story.now), story.now)
    assert isinstance(cancel_unanswered(story.state, asked, "h", story.now), Unchanged)
    assert story.task.lifecycle == lifecycle


def test_an_overridden_request_to_cancel_is_forgotten_with_its_warning() -> None:
    story = silent(0)
    story.cancel()
    asked = story.now
    story.now += LIMIT
    story.apply(cancel_unanswered(story.state, asked, "h", story.now))
    story.open_step(2, abandon=True, override_cancel=True)
    assert (story.task.health, story.task.cancel_unanswered_at) == ("HEALTHY", None)
    assert isinstance(cancel_unanswered(story.state, asked, "h2", story.now), Unchanged)


def test_a_stale_step_outweighs_an_unanswered_cancel() -> None:
    story = silent()
    said(story, "SILENT")
    story.cancel()
    story.now += LIMIT
    story.apply(cancel_unanswered(story.state, story.now - LIMIT, "h", story.now))
    assert story.task.health == "STALE"
    story.say("STEP_PROGRESS")
    assert story.task.health == "DEGRADED"


def test_a_lasting_warning_is_still_seen_after_a_silence() -> None:
    story = Story(plan("a", "CONTINUE_WITH_WARNING"), "b")
    story.say("STEP_FAILED", "a")
    story.say("STEP_STARTED", "b")
    story.now += LIMIT
    said(story, "SILENT", "b")
    assert story.task.health == "STALE"
    story.now += 1
    beats(story, "b")
    said(story, "HEARD", "b")
    assert story.task.health == "DEGRADED"


@pytest.mark.parametrize(
    "turning,watched,expected",
    [(20, 100, False), (21, 100, True), (9, 9, False), (10, 10, True), (10, 50, False), (11, 50, True), (0, 0, False)],
)
def test_a_storm_is_more_than_a_fifth_of_all_and_more_than_a_few(turning: int, watched: int, expected: bool) -> None:
    assert storm(turning, watched, percent=20, least=10) is expected
