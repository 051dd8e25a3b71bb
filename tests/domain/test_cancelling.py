"""A request to cancel marks a task; only its coordinator ends it."""

import pytest

from milepost.domain.outcomes import Unchanged
from tests.domain.story import Story, accepted


def test_a_request_marks_the_task_and_leaves_its_lifecycle() -> None:
    story = Story()
    story.say("STEP_STARTED")
    story.now += 50
    event = accepted(story.cancel("u7"))
    assert (event.event_type, event.task_version, event.producer_id) == ("TASK_CANCEL_REQUESTED", 3, "u7")
    assert (story.task.lifecycle, story.task.cancel_requested_at, story.task.cancel_requested_by) == (
        "RUNNING", story.now, "u7",
    )  # fmt: skip


def test_the_first_request_stands() -> None:
    story = Story()
    story.cancel("u7")
    before = story.task
    story.now += 50
    assert story.cancel("u8") == Unchanged(before)


@pytest.mark.parametrize("end", ["COMPLETED", "FAILED", "CANCELLED"])
def test_whichever_end_the_coordinator_commits_first_stands(end: str) -> None:
    story = Story()
    story.cancel()
    accepted(story.say(f"TASK_{end}"))
    assert story.task.lifecycle == {"COMPLETED": "SUCCEEDED"}.get(end, end)


def test_a_request_after_the_end_changes_nothing() -> None:
    story = Story()
    story.say("TASK_COMPLETED")
    before = story.task
    assert story.cancel() == Unchanged(before)


def test_a_worker_may_go_on_while_a_request_stands() -> None:
    story = Story()
    story.cancel()
    accepted(story.say("STEP_STARTED"))
    accepted(story.say("STEP_CANCELLED"))
    assert story.task.lifecycle == "RUNNING"
