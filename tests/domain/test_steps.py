"""Facts of one step: who may say them, in which order they count, and what a missing one changes."""

from typing import Any

import pytest
from msgspec.structs import replace

from milepost.domain.outcomes import Accepted, Refused, Repeated, Stale
from milepost.domain.values import Data, Progress, StructuredError
from tests.domain.story import Story, accepted, plan, refused


@pytest.mark.parametrize(
    "said,pointer",
    [
        ({"task_type": "OTHER"}, "/taskType"),
        ({"operation_code": "OP.b"}, "/operationCode"),
        ({"operation_code": None}, "/operationCode"),
        ({"producer_id": "b-worker"}, "/producerId"),
        ({"producer_id": "boss"}, "/producerId"),
        ({"source_epoch": 2}, "/sourceEpoch"),
    ],
)
def test_a_fact_that_is_not_what_was_registered_is_refused(said: dict[str, Any], pointer: str) -> None:
    story = Story("a", "b")
    decision = story.say("STEP_STARTED", **said)
    assert isinstance(decision, Refused)
    assert (decision.code, decision.pointer) == ("CONTEXT_MISMATCH", pointer)


@pytest.mark.parametrize("said", [{"task_attempt": 2}, {"step_attempt": 2}, {"step_id": "z"}])
def test_a_fact_of_an_attempt_beyond_this_database_is_unknown_not_wrong(said: dict[str, Any]) -> None:
    story = Story()
    assert refused(story.tell(replace(story.fact("STEP_STARTED"), **said))) == "ATTEMPT_UNKNOWN"


def test_every_accepted_fact_makes_one_version_of_the_task_and_one_of_its_step() -> None:
    story = Story("a", "b")
    for step_id in ("a", "b", "a", "b"):
        story.now += 5_000
        event = accepted(story.say("STEP_PROGRESS", step_id))
        assert (event.task_version, event.step_version) == (story.task.version, story.steps[step_id].version)
    assert [event.task_version for event in story.events] == [1, 2, 3, 4, 5]
    assert (story.steps["a"].version, story.steps["b"].version) == (3, 3)


def test_a_step_that_moves_takes_its_pending_task_to_running() -> None:
    for event_type in ("STEP_STARTED", "STEP_PROGRESS", "STEP_COMPLETED", "STEP_FAILED"):
        story = Story()
        event = accepted(story.say(event_type))
        assert (story.task.lifecycle, story.task.business_status) == ("RUNNING", "RUNNING")
        assert event.lifecycle == "RUNNING"
        assert story.task.started_at == story.steps["a"].started_at is not None


def test_an_end_that_overtakes_its_start_is_accepted_and_marked() -> None:
    story = Story()
    story.now += 9_000
    started = story.fact("STEP_STARTED")
    event = accepted(story.say("STEP_COMPLETED", duration_ms=4_000))
    step = story.steps["a"]
    assert (event.gap, event.derived) == (True, True)
    assert (step.started_at, step.started_derived) == (story.now - 4_000, True)
    assert story.tell(started) == Stale("TERMINAL")


def test_progress_on_a_pending_step_implies_its_start() -> None:
    story = Story()
    story.now += 9_000
    started = story.fact("STEP_STARTED")
    event = accepted(story.say("STEP_PROGRESS", age_ms=500))
    assert (event.gap, event.derived) == (True, True)
    assert (story.steps["a"].lifecycle, story.steps["a"].started_at) == ("RUNNING", story.now - 500)
    assert story.tell(started) == Stale("OLD_SEQUENCE")


def test_a_start_that_came_in_order_leaves_no_mark() -> None:
    story = Story()
    event = accepted(story.say("STEP_STARTED"))
    assert (event.gap, event.derived, story.steps["a"].started_derived) == (False, False, False)


def test_a_missing_sequence_is_marked_not_waited_for() -> None:
    story = Story()
    story.say("STEP_STARTED")
    story.fact("STEP_PROGRESS")
    story.now += 5_000
    event = accepted(story.say("STEP_PROGRESS", progress=Progress(1, 2)))
    assert (event.gap, event.derived) == (True, False)
    assert accepted(story.say("STEP_COMPLETED")).gap is False


def test_the_first_accepted_start_stands() -> None:
    story = Story()
    story.say("STEP_STARTED")
    first = story.steps["a"].started_at
    story.now += 4_000
    accepted(story.say("STEP_STARTED"))
    assert story.steps["a"].started_at == first


@pytest.mark.accepts("old attempt, sequence, version never cover the new")
def test_an_older_sequence_is_stale_and_a_taken_one_is_a_conflict() -> None:
    story = Story()
    one, two, three = (story.fact("STEP_STARTED") for _ in range(3))
    story.tell(two)
    assert story.tell(one) == Stale("OLD_SEQUENCE")
    assert refused(story.tell(one, seq_owner="somebody-else")) == "SOURCE_SEQ_CONFLICT"
    assert story.tell(two, seq_owner=two.event_id) == Stale("ALREADY_DECIDED")
    accepted(story.tell(three))


@pytest.mark.parametrize("owner", [None, "somebody-else"])
def test_an_end_is_never_late_by_its_sequence_alone(owner: str | None) -> None:
    story = Story()
    end = story.fact("STEP_COMPLETED")
    for _ in range(3):
        story.say("STEP_STARTED")
    accepted(story.tell(end, owner))
    assert story.steps["a"].source_seq == 4


@pytest.mark.accepts("A's sequence never judges B's")
def test_one_sources_sequence_never_judges_anothers() -> None:
    story = Story("a", "b")
    accepted(story.say("STEP_STARTED", "a", source_seq=1))
    accepted(story.say("STEP_COMPLETED", "a", source_seq=2))
    accepted(story.say("STEP_STARTED", "b", source_seq=1))
    assert story.last.gap is False


def test_an_older_source_is_fenced_even_with_its_end() -> None:
    story = Story()
    story.say("STEP_STARTED")
    old = [story.fact(event_type) for event_type in ("STEP_PROGRESS", "STEP_COMPLETED", "STEP_FAILED")]
    before = story.state
    story.new_source()
    assert story.task == before.task
    for fact in old:
        assert story.tell(fact) == Stale("SOURCE_FENCED")
    again = story.fact("STEP_STARTED")
    assert (again.source_epoch, again.source_seq) == (2, 1)
    assert accepted(story.tell(again)).gap is False


def test_only_a_genuine_token_brings_a_newer_source_after_a_restore() -> None:
    story = Story()
    for _ in range(5):
        story.say("STEP_STARTED")
    assert refused(story.say("STEP_PROGRESS", source_epoch=4, source_seq=1)) == "CONTEXT_MISMATCH"
    event = accepted(story.say("STEP_STARTED", source_epoch=4, source_seq=1, genuine_token=True))
    assert (story.steps["a"].source_epoch, story.steps["a"].source_seq) == (4, 1)
    assert (event.source_epoch, event.source_seq) == (4, 1)


def test_a_repeated_end_keeps_the_first_data() -> None:
    story = Story()
    story.say("STEP_COMPLETED", data=Data("d", {"pages": 3}), message="done")
    before = story.state
    assert story.say("STEP_COMPLETED", data=Data("d", {"pages": 4}), message="done again") == Repeated()
    assert story.state == before


def test_an_end_stores_what_it_says() -> None:
    story = Story()
    story.say("STEP_STARTED")
    error = StructuredError("DEPENDENCY", "PDF_BROKEN", True, "The file is damaged.", "log-7")
    event = accepted(story.say("STEP_FAILED", error=error, duration_ms=1_200, message="page 3"))
    step = story.steps["a"]
    assert (step.error, step.duration_ms, step.duration_source, step.message) == (error, 1_200, "MONOTONIC", "page 3")
    assert (event.error_code, event.private.diagnostics_ref) == ("PDF_BROKEN", "log-7")
    assert step.business_status == "FAILED"


def test_a_success_carries_no_error() -> None:
    story = Story()
    story.say("STEP_COMPLETED", error=StructuredError("SYSTEM", "X"))
    assert story.steps["a"].error is None


@pytest.mark.parametrize(
    "status,code",
    [("SUCCEEDED", None), ("FAILED", "FIELD_INVALID"), ("WAITING_USER_ACTION", "BUSINESS_STATUS_UNKNOWN"),
     ("NO_SUCH", "BUSINESS_STATUS_UNKNOWN")],
)  # fmt: skip
@pytest.mark.accepts("unregistered business status refused")
def test_a_step_carries_step_codes_of_the_state_it_reaches(status: str, code: str | None) -> None:
    story = Story()
    decision = story.say("STEP_COMPLETED", business_status=status)
    if code is None:
        assert isinstance(decision, Accepted)
        assert story.steps["a"].business_status == status
    else:
        assert isinstance(decision, Refused)
        assert (decision.code, decision.pointer) == (code, "/businessStatus")


def test_people_are_told_of_the_first_running_step_of_the_template() -> None:
    story = Story("a", "b", "c")
    assert story.task.current_step is None
    story.say("STEP_STARTED", "c")
    story.say("STEP_STARTED", "b")
    assert story.task.current_step == "b"
    story.say("STEP_COMPLETED", "b")
    assert story.task.current_step == "c"


def test_a_failed_step_leaves_the_end_to_the_coordinator_whatever_the_policy() -> None:
    for policy in ("FAIL_TASK", "RETRY_THEN_FAIL_TASK", "CONTINUE_WITH_WARNING", "WAIT_FOR_USER"):
        story = Story(plan("a", policy))
        story.say("STEP_FAILED")
        assert story.task.lifecycle == "RUNNING"
        waits = policy == "WAIT_FOR_USER"
        assert story.task.business_status == ("WAITING_USER_ACTION" if waits else "RUNNING")
        assert story.task.health == ("DEGRADED" if policy == "CONTINUE_WITH_WARNING" else "HEALTHY")


def test_a_waiting_task_stays_so_while_other_steps_go_on() -> None:
    story = Story(plan("a", "WAIT_FOR_USER"), "b")
    story.say("STEP_FAILED")
    story.say("STEP_COMPLETED", "b")
    assert story.task.business_status == "WAITING_USER_ACTION"


def test_the_facts_of_an_event_are_its_own() -> None:
    story = Story()
    event = accepted(
        story.say("STEP_STARTED", trace_id="tr", execution_log_url="https://x", retry_count=2, occurred_at=5, age_ms=7)
    )
    assert (event.producer_id, event.operation_code, event.step_id) == ("a-worker", "OP.a", "a")
    assert (event.task_attempt, event.step_attempt, event.source_epoch, event.source_seq) == (1, 1, 1, 1)
    assert (event.occurred_at, event.age_ms, event.received_at, event.committed_at) == (5, 7, story.now, story.now)
    assert (event.private.trace_id, event.private.execution_log_url, event.private.retry_count) == (
        "tr",
        "https://x",
        2,
    )
    assert event.public.message is None
