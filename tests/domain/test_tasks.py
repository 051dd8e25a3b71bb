"""Facts of a whole task: the coordinator's alone."""

from typing import Any

import pytest
from msgspec.structs import replace

from milepost.domain.lifecycle import TASK_FACTS
from milepost.domain.outcomes import Refused, Stale
from milepost.domain.rules import BusinessStatus
from milepost.domain.values import Data, Failure, ResultRef, StructuredError
from tests.domain.story import RULES, Story, accepted, plan, refused

REVIEWED = replace(
    RULES,
    statuses={**RULES.statuses, "IN_REVIEW": BusinessStatus("IN_REVIEW", "RUNNING", frozenset({"task"}))},
)


@pytest.mark.parametrize("event_type", sorted(TASK_FACTS))
@pytest.mark.parametrize(
    "said,pointer", [({"producer_id": "a-worker"}, "/producerId"), ({"task_type": "OTHER"}, "/taskType")]
)
def test_task_facts_are_the_coordinators(event_type: str, said: dict[str, Any], pointer: str) -> None:
    decision = Story().say(event_type, **said)
    assert isinstance(decision, Refused)
    assert (decision.code, decision.pointer) == ("CONTEXT_MISMATCH", pointer)


def test_task_facts_of_other_attempts_change_nothing() -> None:
    story = Story()
    story.say("TASK_FAILED")
    story.open_task(2)
    before = story.state
    assert story.say("TASK_COMPLETED", task_attempt=1) == Stale("ATTEMPT_SUPERSEDED")
    assert refused(story.say("TASK_COMPLETED", task_attempt=3)) == "ATTEMPT_UNKNOWN"
    assert story.state == before


@pytest.mark.accepts("unregistered business status refused")
def test_a_status_change_stays_inside_the_lifecycle() -> None:
    story = Story(rules=REVIEWED)
    assert refused(story.say("TASK_STATUS_CHANGED", business_status="IN_REVIEW")) == "ILLEGAL_TRANSITION"
    story.say("TASK_STARTED")
    accepted(story.say("TASK_STATUS_CHANGED", business_status="IN_REVIEW"))
    assert (story.task.lifecycle, story.task.business_status) == ("RUNNING", "IN_REVIEW")
    assert refused(story.say("TASK_STATUS_CHANGED", business_status="SUCCEEDED")) == "ILLEGAL_TRANSITION"
    assert refused(story.say("TASK_STATUS_CHANGED", business_status="NO_SUCH")) == "BUSINESS_STATUS_UNKNOWN"
    assert refused(story.say("TASK_STATUS_CHANGED")) == "FIELD_INVALID"


def test_a_status_of_a_pending_task_does_not_start_it() -> None:
    story = Story()
    accepted(story.say("TASK_STATUS_CHANGED", business_status="PENDING"))
    assert (story.task.lifecycle, story.task.started_at) == ("PENDING", None)


def test_what_steps_and_a_second_start_say_leaves_the_coordinators_status() -> None:
    story = Story("a", "b", rules=REVIEWED)
    story.say("TASK_STARTED", business_status="IN_REVIEW")
    story.say("STEP_STARTED")
    story.say("TASK_STARTED")
    story.say("STEP_FAILED")
    story.open_step(2)
    assert story.task.business_status == "IN_REVIEW"


@pytest.mark.parametrize("status,code", [("FAILED", "FIELD_INVALID"), ("NO_SUCH", "BUSINESS_STATUS_UNKNOWN")])
@pytest.mark.accepts("unregistered business status refused")
def test_an_end_carries_a_status_of_that_end(status: str, code: str) -> None:
    assert refused(Story().say("TASK_COMPLETED", business_status=status)) == code


def test_a_failure_says_what_and_where_in_words_for_its_owner() -> None:
    story = Story("a", "b")
    error = StructuredError("TIMEOUT", "TOO_SLOW", False, "It took too long.", "log-9")
    story.say("TASK_FAILED", error=error, failed_step_id="b")
    assert story.task.failure == Failure("TOO_SLOW", "It took too long.", "b")
    assert (story.last.error_code, story.last.public.failed_step_id) == ("TOO_SLOW", "b")


def test_a_failure_without_an_error_still_has_a_code() -> None:
    story = Story()
    story.say("TASK_FAILED")
    assert story.task.failure == Failure("UNKNOWN")


def test_a_failed_step_that_is_none_of_the_tasks_is_refused() -> None:
    assert refused(Story().say("TASK_FAILED", failed_step_id="z")) == "FIELD_INVALID"


def test_data_replaces_the_summary_and_a_result_stays_until_another_comes() -> None:
    story = Story()
    story.say("TASK_STARTED", data=Data("s", 1), result_ref=ResultRef("r1"))
    story.say("TASK_STATUS_CHANGED", business_status="RUNNING", data=Data("s", 2))
    story.say("TASK_COMPLETED")
    assert (story.task.summary, story.task.result_ref) == (Data("s", 2), ResultRef("r1"))


def test_without_sequences_the_order_of_arrival_stands() -> None:
    story = Story(rules=REVIEWED)
    story.say("TASK_STARTED")
    story.say("TASK_STATUS_CHANGED", business_status="IN_REVIEW")
    accepted(story.say("TASK_STATUS_CHANGED", business_status="RUNNING"))
    assert (story.task.business_status, story.task.source_seq) == ("RUNNING", None)


def test_an_older_status_change_is_stale_and_an_older_start_or_end_is_not() -> None:
    story = Story(rules=REVIEWED)
    story.say("TASK_STATUS_CHANGED", business_status="PENDING", source_seq=5)
    assert story.say("TASK_STATUS_CHANGED", business_status="PENDING", source_seq=4) == Stale("OLD_SEQUENCE")
    accepted(story.say("TASK_STARTED", source_seq=3))
    assert story.task.source_seq == 5
    accepted(story.say("TASK_COMPLETED", source_seq=2))
    assert story.task.source_seq == 5


def test_a_taken_sequence_is_a_conflict_except_for_an_end() -> None:
    story = Story()
    fact = story.fact("TASK_STARTED", source_seq=1)
    assert refused(story.tell(fact, "somebody-else")) == "SOURCE_SEQ_CONFLICT"
    assert story.tell(fact, fact.event_id) == Stale("ALREADY_DECIDED")
    accepted(story.tell(story.fact("TASK_COMPLETED", source_seq=1), "somebody-else"))


def test_a_status_change_after_the_end_is_stale() -> None:
    story = Story()
    story.say("TASK_COMPLETED")
    assert story.say("TASK_STATUS_CHANGED", business_status="SUCCEEDED") == Stale("TERMINAL")
    assert story.say("TASK_STARTED") == Stale("TERMINAL")


def test_an_event_of_a_task_names_no_step() -> None:
    event = accepted(Story().say("TASK_STARTED", step_id="a", source_seq=1))
    assert (event.step_id, event.step_version, event.source_epoch, event.source_seq) == (None, None, None, 1)


def test_an_end_clears_stale_and_keeps_a_standing_warning() -> None:
    story = Story(plan("a", "CONTINUE_WITH_WARNING"), "b")
    story.say("STEP_FAILED")
    story.say("STEP_STARTED", "b")
    story.change("b", health="STALE")
    story.say("TASK_STARTED")
    story.say("TASK_COMPLETED")
    assert story.task.health == "DEGRADED"
    calm = Story()
    calm.say("STEP_STARTED")
    calm.change("a", health="STALE")
    calm.say("TASK_FAILED")
    assert calm.task.health == "HEALTHY"
