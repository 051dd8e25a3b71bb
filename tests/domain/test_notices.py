from typing import Any

import pytest
from msgspec.structs import replace

from milepost.domain import watching
from milepost.domain.events import PublicFacts
from milepost.domain.lifecycle import WAITING_USER_ACTION, FailurePolicy
from milepost.domain.notices import CANCEL_UNANSWERED, RULES, Notice, Seen, for_members, kept, lasts, notice_of
from milepost.domain.trace import service_event
from milepost.domain.values import ResultRef, StructuredError
from milepost.domain.watching import Verdict, cancel_unanswered, pronounce
from tests.domain.story import Story, accepted, plan

BROKEN = StructuredError("DEPENDENCY", "UPSTREAM", user_message="The page could not be read.")


def seen(story: Story, step: str | None = "a") -> Seen:
    return Seen(story.task, story.steps.get(step or ""))


def told(story: Story, event_type: str, step: str = "a", **more: Any) -> Notice | None:
    """Says it and returns the notice of what was accepted."""
    about = None if event_type.startswith("TASK_") else step
    before = seen(story, about)
    event = accepted(story.say(event_type, step, **more))
    return notice_of("e1", event, before, seen(story, about))


def told_by_service(story: Story, event_type: str, step: str | None = None, reason: str | None = None, **to: Any):
    """What another part of the service makes of a task: a version with this event."""
    before = seen(story, step)
    if step is not None:
        story.change(step, **to)
    else:
        story.task = replace(story.task, **to)
    story.task = replace(story.task, version=story.task.version + 1)
    event = service_event(
        "h1", event_type, story.task, seen(story, step).step, story.now, public=PublicFacts(reason=reason)
    )
    return notice_of("e1", event, before, seen(story, step))


@pytest.mark.parametrize(
    "policy, retryable, kind, level",
    [
        ("FAIL_TASK", False, "step.failed", "ERROR"),
        ("RETRY_THEN_FAIL_TASK", True, "step.retrying", "WARNING"),
        ("RETRY_THEN_FAIL_TASK", False, "step.failed", "ERROR"),
        ("CONTINUE_WITH_WARNING", False, "step.warning", "WARNING"),
        ("WAIT_FOR_USER", False, "action.required", "WARNING"),
    ],
)
def test_a_failed_step_is_told_as_its_policy_means_it(policy: FailurePolicy, retryable: bool, kind: str, level: str):
    story = Story(plan("a", policy))
    story.say("STEP_STARTED")
    notice = told(story, "STEP_FAILED", error=replace(BROKEN, retryable=retryable))
    assert notice is not None
    assert (notice.type, notice.level, notice.retryable) == (kind, level, retryable)
    assert (notice.operation_code, notice.error_code) == ("OP.a", "UPSTREAM")
    assert (notice.title, notice.message) == ("A task", "The page could not be read.")
    assert notice.requires_action == (kind == "action.required")


def test_the_id_names_epoch_task_version_and_type():
    story = Story()
    notice = told(story, "STEP_FAILED", error=BROKEN)
    assert notice is not None
    assert notice.id == f"e1:k1:{story.task.version}:step.failed"


def test_a_failed_task_names_the_operation_and_the_error_of_the_coordinator():
    story = Story()
    story.say("STEP_FAILED", error=BROKEN)
    before = seen(story, "a")
    event = accepted(story.say("TASK_FAILED", error=BROKEN, failed_step_id="a"))
    notice = notice_of("e1", event, before, seen(story, "a"))
    assert notice is not None
    assert (notice.type, notice.level, notice.error_code) == ("task.failed", "ERROR", "UPSTREAM")
    assert (notice.operation_code, notice.message) == ("OP.a", "The page could not be read.")


@pytest.mark.parametrize(
    "event, kind",
    [("TASK_COMPLETED", "task.succeeded"), ("TASK_FAILED", "task.failed"), ("TASK_CANCELLED", "task.cancelled")],
)
def test_each_end_of_a_task_is_told_once_and_kept(event: str, kind: str):
    story = Story()
    notice = told(story, event)
    assert notice is not None
    assert (notice.type, lasts(notice), notice.message) == (kind, True, RULES[notice.type].words)


def test_success_with_a_result_offers_to_open_it():
    notice = told(Story(), "TASK_COMPLETED", result_ref=ResultRef("r1"))
    assert notice is not None
    assert notice.actions == ("OPEN_RESULT",)


def test_a_step_that_ends_after_its_task_gives_no_notice():
    story = Story("a", "b")
    story.say("TASK_CANCELLED")
    assert told(story, "STEP_FAILED", error=BROKEN) is None
    assert told(story, "STEP_COMPLETED", "b") is None


def test_ordinary_progress_a_start_and_a_new_attempt_give_no_notice():
    story = Story()
    assert told(story, "STEP_STARTED") is None
    story.now += 5_000
    assert told(story, "STEP_PROGRESS") is None
    story.say("STEP_FAILED", error=BROKEN)
    before = seen(story)
    assert notice_of("e1", accepted(story.open_step(2)), before, seen(story)) is None
    assert notice_of("e1", story.events[0], None, seen(story)) is None


def test_silence_is_a_warning_and_never_an_error_and_is_escalated_once_it_lasts():
    story = Story()
    story.say("STEP_STARTED")
    first = told_by_service(story, "STEP_HEALTH_CHANGED", "a", health="STALE")
    second = told_by_service(story, "STEP_HEALTH_CHANGED", "a", health="STALE")
    back = told_by_service(story, "STEP_HEALTH_CHANGED", "a", health="HEALTHY")
    assert first is not None
    assert second is not None
    assert (first.type, first.level, lasts(first)) == ("step.stale", "WARNING", False)
    assert (second.type, second.level, lasts(second)) == ("step.stale.long", "WARNING", True)
    assert back is None


def test_a_request_to_cancel_that_nobody_answers_is_told():
    story = Story()
    notice = told_by_service(story, "TASK_HEALTH_CHANGED", reason=CANCEL_UNANSWERED, health="DEGRADED")
    assert notice is not None
    assert (notice.type, lasts(notice)) == ("cancel.unanswered", True)
    assert told_by_service(story, "TASK_HEALTH_CHANGED", reason="WARNING", health="DEGRADED") is None


def test_a_task_that_begins_to_wait_for_somebody_asks_for_action_once():
    story = Story()
    first = told_by_service(story, "TASK_STATUS_CHANGED", business_status=WAITING_USER_ACTION)
    again = told_by_service(story, "TASK_STATUS_CHANGED", business_status=WAITING_USER_ACTION)
    assert first is not None
    assert (first.type, first.requires_action, first.actions, again) == ("action.required", True, ("DECIDE",), None)


def test_a_correction_to_another_end_is_told_and_to_the_same_is_not():
    story = Story()
    story.say("TASK_FAILED")
    assert told_by_service(story, "TASK_CORRECTED", lifecycle="FAILED") is None
    notice = told_by_service(story, "TASK_CORRECTED", lifecycle="SUCCEEDED")
    assert notice is not None
    assert notice.type == "task.succeeded"


def test_members_of_the_project_learn_of_trouble_in_our_own_words_only():
    story = Story(plan("a", "WAIT_FOR_USER"))
    notice = told(story, "STEP_FAILED", error=BROKEN)
    assert notice is not None
    narrow = for_members(notice)
    assert narrow is not None
    assert narrow.message == RULES["action.required"].words
    assert (narrow.requires_action, narrow.actions, narrow.id) == (False, (), notice.id)
    done = told(Story(), "TASK_COMPLETED")
    assert done is not None
    assert for_members(done) is None


def test_a_kept_notice_is_a_row_of_the_owner():
    story = Story()
    notice = told(story, "TASK_COMPLETED")
    assert notice is not None
    row = kept(notice, story.task, 7)
    assert (row.tenant_id, row.user_id, row.notice_id, row.created_at, row.read_at) == ("t1", "u1", notice.id, 7, None)


def test_a_removal_gives_no_notice():
    story = Story()
    story.say("TASK_COMPLETED")
    assert told_by_service(story, "TASK_REMOVED", deleted_at=9) is None


def test_the_verdicts_of_the_health_reconciler_are_told_as_what_they_are():
    story = Story()
    story.say("STEP_STARTED")

    def pronounced(verdict: Verdict) -> Notice | None:
        before = seen(story)
        change = pronounce(story.state, watching.Seen.of(story.steps["a"]), verdict, f"h.{verdict}", story.now)
        return notice_of("e1", accepted(story.apply(change)), before, seen(story))

    verdicts: tuple[Verdict, ...] = ("SILENT", "STALE_LONG", "HEARD")
    told_of = [pronounced(verdict) for verdict in verdicts]
    assert [notice.type if notice else None for notice in told_of] == ["step.stale", "step.stale.long", None]


def test_the_reconcilers_word_on_an_unanswered_request_is_the_one_that_is_told():
    story = Story()
    story.cancel()
    before = seen(story, None)
    asked = story.task.cancel_requested_at or 0
    story.now += 10**9
    event = accepted(story.apply(cancel_unanswered(story.state, asked, "h1", story.now)))
    notice = notice_of("e1", event, before, seen(story, None))
    assert notice is not None
    assert notice.type == "cancel.unanswered"
