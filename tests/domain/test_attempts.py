"""A retry is a new attempt, opened by number."""

from typing import Any

import pytest

from milepost.domain.attempts import new_source
from milepost.domain.outcomes import Accepted, Refused, Stale, Unchanged
from milepost.domain.values import Progress, StructuredError
from tests.domain.story import Story, accepted, plan, refused


def failed() -> Story:
    """Step `a` succeeded, `b` failed, `c` was cancelled, then the task failed and the request to cancel stands."""
    story = Story("a", "b", "c")
    story.say("STEP_COMPLETED", "a")
    story.say("STEP_PROGRESS", "b", progress=Progress(5, 10), message="half")
    story.say("STEP_FAILED", "b", error=StructuredError("SYSTEM", "X"))
    story.say("STEP_CANCELLED", "c")
    story.cancel()
    story.say("TASK_FAILED", failed_step_id="b")
    story.now += 60_000
    return story


def test_a_new_task_attempt_starts_afresh_and_keeps_what_identifies_the_task() -> None:
    story = failed()
    before = story.task
    event = accepted(story.open_task(2))
    task = story.task
    assert (task.attempt, task.version, task.lifecycle, task.business_status) == (
        2,
        before.version + 1,
        "PENDING",
        "PENDING",
    )
    assert (task.started_at, task.finished_at, task.failure, task.run_duration_ms, task.total_duration_ms) == (
        None,
    ) * 5
    assert (task.cancel_requested_at, task.cancel_requested_by, task.health) == (None, None, "HEALTHY")
    assert (task.created_at, task.opened_at) == (before.created_at, story.now)
    assert (event.event_type, event.producer_id, event.task_attempt) == ("TASK_ATTEMPT_OPENED", "milepost", 2)
    assert event.public.reason is None


def test_it_reopens_what_did_not_succeed_and_counts_the_rest_as_done() -> None:
    story = failed()
    kept = story.steps["a"]
    story.open_task(2)
    assert story.steps["a"] == kept
    for step_id in ("b", "c"):
        step = story.steps[step_id]
        assert (step.attempt, step.task_attempt, step.lifecycle, step.source_epoch, step.source_seq) == (
            2,
            2,
            "PENDING",
            1,
            0,
        )
        assert (step.progress, step.message, step.error, step.started_at, step.finished_at) == (None,) * 5
    assert [(step.step_id, step.current, step.lifecycle) for step in story.old] == [
        ("b", False, "FAILED"),
        ("c", False, "CANCELLED"),
    ]
    assert (story.task.steps_done, story.task.percent) == (1, 33)


def test_it_reopens_the_steps_it_names_and_a_kept_failure_counts_as_done() -> None:
    story = failed()
    story.open_task(2, reopen=("a", "c"))
    assert {step_id: step.attempt for step_id, step in story.steps.items()} == {"a": 2, "b": 1, "c": 2}
    assert story.task.steps_done == 1


def test_a_step_that_has_not_ended_is_reopened_even_where_it_is_not_named() -> None:
    story = Story("a", "b")
    story.say("STEP_STARTED", "b")
    story.open_task(2, reopen=("a",), abandon=True)
    assert story.steps["b"].attempt == 2


def test_a_step_that_is_none_of_the_tasks_cannot_be_reopened() -> None:
    story = failed()
    decision = story.open_task(2, reopen=("a", "z"))
    assert isinstance(decision, Refused)
    assert (decision.code, decision.pointer) == ("FIELD_INVALID", "/steps/1")


def test_a_kept_step_is_done_with_and_its_late_facts_are_superseded() -> None:
    story = failed()
    late = story.fact("STEP_PROGRESS", "a")
    story.open_task(2)
    assert story.tell(late) == Stale("ATTEMPT_SUPERSEDED")


@pytest.mark.accepts("old attempt, sequence, version never cover the new")
def test_facts_of_an_older_attempt_change_nothing_not_even_its_end() -> None:
    story = Story()
    story.say("STEP_STARTED")
    late = [story.fact(event_type) for event_type in ("STEP_PROGRESS", "STEP_COMPLETED", "STEP_FAILED")]
    story.open_step(2, abandon=True)
    before = story.state
    for fact in late:
        assert story.tell(fact) == Stale("ATTEMPT_SUPERSEDED")
    assert story.state == before


@pytest.mark.parametrize(
    "number,said,code",
    [
        (1, {}, None),
        (0, {}, "ATTEMPT_SUPERSEDED"),
        (3, {}, "ATTEMPT_NOT_NEXT"),
        (2, {}, "ATTEMPT_UNFINISHED"),
        (2, {"abandon": True}, "CANCEL_PENDING"),
        (2, {"abandon": True, "override_cancel": True}, "opens"),
    ],
)
@pytest.mark.parametrize("scope", ["task", "step"])
def test_an_attempt_is_opened_by_its_number(scope: str, number: int, said: dict[str, Any], code: str | None) -> None:
    story = Story()
    story.say("STEP_STARTED")
    story.cancel()
    before = story.state
    decision = story.open_task(number, **said) if scope == "task" else story.open_step(number, **said)
    if code == "opens":
        event = accepted(decision)
        assert event.public.reason == "ABANDONED CANCEL_OVERRIDDEN"
        assert (story.task.cancel_requested_at, story.task.cancel_requested_by) == (None, None)
        return
    assert story.state == before
    if code is None:
        assert decision == Unchanged(story.task)
    else:
        assert refused(decision) == code


def test_giving_up_an_unfinished_attempt_is_recorded() -> None:
    story = Story()
    assert accepted(story.open_task(2, abandon=True)).public.reason == "ABANDONED"
    assert accepted(story.open_step(3, abandon=True)).public.reason == "ABANDONED"


def test_a_step_attempt_opens_only_while_the_task_is_unfinished() -> None:
    story = failed()
    assert refused(story.open_step(2, "b")) == "TASK_FINISHED"
    assert story.open_step(1, "b") == Unchanged(story.task)
    assert refused(story.open_step(1, "z")) == "NOT_FOUND"


def test_a_step_attempt_counts_on_through_the_whole_task() -> None:
    story = Story("a", "b")
    for number in (2, 3):
        story.say("STEP_FAILED", "a")
        event = accepted(story.open_step(number))
        assert (event.event_type, event.producer_id, event.step_attempt) == ("STEP_ATTEMPT_OPENED", "milepost", number)
    story.say("TASK_FAILED")
    story.open_task(2)
    assert (story.steps["a"].attempt, story.steps["b"].attempt, story.steps["a"].task_attempt) == (4, 2, 2)


def test_versions_of_a_step_go_on_through_its_attempts() -> None:
    story = Story()
    story.say("STEP_STARTED")
    story.say("STEP_FAILED")
    story.open_step(2)
    accepted(story.say("STEP_STARTED"))
    assert story.steps["a"].version == 5


def test_a_retry_ends_the_wait_for_the_user_unless_another_step_waits() -> None:
    story = Story(plan("a", "WAIT_FOR_USER"), plan("b", "WAIT_FOR_USER"))
    story.say("STEP_FAILED", "a")
    story.say("STEP_FAILED", "b")
    story.open_step(2, "a")
    assert story.task.business_status == "WAITING_USER_ACTION"
    story.open_step(2, "b")
    assert story.task.business_status == "RUNNING"


def test_a_retry_takes_its_warning_back() -> None:
    story = Story(plan("a", "CONTINUE_WITH_WARNING"), "b")
    story.say("STEP_FAILED")
    assert (story.task.health, story.task.steps_done) == ("DEGRADED", 1)
    story.open_step(2)
    assert (story.task.health, story.task.steps_done, story.task.percent) == ("HEALTHY", 0, 0)


def test_a_warning_of_an_earlier_task_attempt_no_longer_stands() -> None:
    story = Story(plan("a", "CONTINUE_WITH_WARNING"), "b")
    story.say("STEP_FAILED")
    story.say("TASK_FAILED")
    assert story.task.health == "DEGRADED"
    story.open_task(2, reopen=("b",))
    assert (story.task.health, story.steps["a"].lifecycle) == ("HEALTHY", "FAILED")


def test_a_retried_step_is_no_longer_the_one_people_are_told_about() -> None:
    story = Story("a", "b")
    story.say("STEP_STARTED", "a")
    story.say("STEP_STARTED", "b")
    story.open_step(2, "a", abandon=True)
    assert story.task.current_step == "b"


def test_a_new_source_fences_without_a_version() -> None:
    story = Story()
    story.say("STEP_STARTED")
    before = story.task
    change = story.new_source()
    assert isinstance(change, Accepted)
    assert (change.event, story.task) == (None, before)
    assert (story.steps["a"].source_epoch, story.steps["a"].source_seq) == (2, 0)
    story.open_step(2, abandon=True)
    assert story.steps["a"].source_epoch == 1


@pytest.mark.parametrize("attempt,code", [(1, "ATTEMPT_SUPERSEDED"), (3, "ATTEMPT_UNKNOWN")])
def test_only_the_newest_attempt_takes_a_new_source(attempt: int, code: str) -> None:
    story = Story()
    story.open_step(2, abandon=True)
    assert refused(new_source(story.state, "a", attempt)) == code
    assert refused(new_source(story.state, "z", attempt)) == "NOT_FOUND"
