"""What a definition adds to the decision: wording with its own moves, operations with their own limits, policies."""

import pytest
from msgspec.structs import replace

from milepost.domain.creation import StepDraft, TaskDraft, create
from milepost.domain.outcomes import Accepted, Merged, Refused, Repeated
from milepost.domain.policies import consequence
from milepost.domain.rules import BusinessStatus, OperationRules, TaskRules
from milepost.domain.values import Progress, StructuredError
from tests.domain.story import RULES, Story, accepted, refused

BOTH = frozenset({"task", "step"})


def status(code: str, lifecycle: str, *origins: str, scope: str = "task step", enabled: bool = True) -> BusinessStatus:
    allowed = frozenset(origins) if origins else None
    return BusinessStatus(code, lifecycle, frozenset(scope.split()), allowed, enabled)  # type: ignore[arg-type]


def operation(code: str, **more: object) -> OperationRules:
    return OperationRules(code, 10_000, 60_000, **more)  # type: ignore[arg-type]


STATUSES = (
    status("READING", "RUNNING"),
    status("CHECKING", "RUNNING", "READING"),
    status("QUEUED", "PENDING", scope="task"),
    status("UNREADABLE", "FAILED", "READING"),
    status("FILED", "SUCCEEDED", "CHECKING"),
    status("STEP_ONLY", "RUNNING", scope="step"),
    status("GONE", "RUNNING", enabled=False),
)
DEFINED = replace(
    RULES,
    version=4,
    definition_id="d4",
    statuses={**RULES.statuses, **{one.code: one for one in STATUSES}},
    any_operation=False,
    operations={
        one.code: one
        for one in (
            operation("OP.a"),
            operation("OP.b", failure_policy="RETRY_THEN_FAIL_TASK", max_attempts=2, weight=3),
            operation("OP.quiet", events=frozenset({"STEP_COMPLETED", "STEP_FAILED"})),
            operation("OP.bound", producer="only-*"),
            operation("OP.old", enabled=False),
        )
    },
)
TIMED = replace(
    DEFINED,
    enabled=DEFINED.enabled | {"TIMED_OUT"},
    statuses={**DEFINED.statuses, "TIMED_OUT": status("TIMED_OUT", "TIMED_OUT")},
    default_status={**DEFINED.default_status, "TIMED_OUT": "TIMED_OUT"},
)


def made(*plans: StepDraft, rules: TaskRules = DEFINED) -> Accepted | Refused:
    return create(TaskDraft("t1", "k1", "u1", "T", "A task", plans), "boss", rules, "created", 1)


def test_a_task_is_bound_to_the_definition_it_was_made_under():
    change = made(StepDraft("a", "OP.a", "x"))
    assert isinstance(change, Accepted)
    assert (change.task.definition_id, change.task.definition_version) == ("d4", 4)


def test_weight_and_policy_are_the_operations_unless_the_coordinator_says_so():
    change = made(StepDraft("b", "OP.b", "x"), StepDraft("c", "OP.b", "x", 7, "RETRY_THEN_FAIL_TASK"))
    assert isinstance(change, Accepted)
    assert [(step.weight, step.on_failure) for step in change.steps] == [
        (3, "RETRY_THEN_FAIL_TASK"),
        (7, "RETRY_THEN_FAIL_TASK"),
    ]


def test_an_operation_without_a_policy_takes_the_steps_own():
    change = made(StepDraft("a", "OP.a", "x"), StepDraft("c", "OP.a", "x", None, "WAIT_FOR_USER"))
    assert isinstance(change, Accepted)
    assert [(step.weight, step.on_failure) for step in change.steps] == [(1, "FAIL_TASK"), (1, "WAIT_FOR_USER")]


@pytest.mark.parametrize(
    "plan,code,pointer",
    [
        (StepDraft("s", "OP.unknown", "x"), "OPERATION_UNKNOWN", "/steps/1/operationCode"),
        (StepDraft("s", "OP.old", "x"), "OPERATION_UNKNOWN", "/steps/1/operationCode"),
        (StepDraft("s", "OP.bound", "x"), "CONTEXT_MISMATCH", "/steps/1/producerId"),
        (StepDraft("s", "OP.b", "x", None, "FAIL_TASK"), "FIELD_INVALID", "/steps/1/onFailure"),
    ],
)
def test_a_step_that_the_definition_does_not_allow_makes_no_task(plan: StepDraft, code: str, pointer: str):
    found = made(StepDraft("a", "OP.a", "x"), plan)
    assert isinstance(found, Refused)
    assert (found.code, found.pointer) == (code, pointer)
    assert isinstance(made(StepDraft("s", "OP.bound", "only-me")), Accepted)


def test_a_step_goes_through_its_own_wording_and_keeps_it_while_nothing_else_is_said():
    story = Story("a", rules=DEFINED)
    story.say("STEP_STARTED", business_status="READING")
    story.say("STEP_PROGRESS", progress=Progress(1, 10))
    assert story.steps["a"].business_status == "READING"
    story.now += 5_000
    story.say("STEP_PROGRESS", business_status="CHECKING")
    assert story.steps["a"].business_status == "CHECKING"
    story.say("STEP_COMPLETED")
    assert story.steps["a"].business_status == "SUCCEEDED"


def test_a_move_that_is_not_registered_is_illegal_and_staying_is_not():
    story = Story("a", rules=DEFINED)
    assert refused(story.say("STEP_STARTED", business_status="CHECKING")) == "ILLEGAL_TRANSITION"
    assert story.steps["a"].lifecycle == "PENDING"
    story.say("STEP_STARTED", business_status="READING")
    for _ in range(2):
        story.now += 5_000
        accepted(story.say("STEP_PROGRESS", business_status="CHECKING"))
    story.now += 5_000
    assert accepted(story.say("STEP_PROGRESS", business_status="READING"))


def test_a_merged_status_is_the_one_the_next_move_starts_from():
    story = Story("a", rules=DEFINED)
    story.say("STEP_STARTED", business_status="READING")
    story.say("STEP_PROGRESS", progress=Progress(1, 100))
    assert isinstance(story.say("STEP_PROGRESS", business_status="CHECKING", progress=Progress(2, 100)), Merged)
    assert isinstance(story.say("STEP_PROGRESS", business_status="CHECKING", progress=Progress(3, 100)), Merged)
    story.flush()
    assert story.steps["a"].business_status == "CHECKING"


@pytest.mark.parametrize("code", ["NEVER_HEARD", "QUEUED", "GONE"])
@pytest.mark.accepts("unregistered business status refused")
def test_a_code_that_is_unknown_of_another_scope_or_disabled_is_refused(code: str):
    story = Story("a", rules=DEFINED)
    assert refused(story.say("STEP_STARTED", business_status=code)) == "BUSINESS_STATUS_UNKNOWN"


@pytest.mark.parametrize("code", ["NEVER_HEARD", "STEP_ONLY", "GONE"])
def test_the_same_holds_for_tasks(code: str):
    story = Story("a", rules=DEFINED)
    story.say("TASK_STARTED")
    assert refused(story.say("TASK_STATUS_CHANGED", business_status=code)) == "BUSINESS_STATUS_UNKNOWN"


def test_a_task_moves_along_its_registered_wording_only():
    story = Story("a", rules=DEFINED)
    story.say("TASK_STATUS_CHANGED", business_status="QUEUED")
    assert (story.task.lifecycle, story.task.business_status) == ("PENDING", "QUEUED")
    assert refused(story.say("TASK_STATUS_CHANGED", business_status="READING")) == "ILLEGAL_TRANSITION"
    story.say("TASK_STARTED", business_status="READING")
    assert refused(story.say("TASK_STATUS_CHANGED", business_status="FILED")) == "ILLEGAL_TRANSITION"
    story.say("TASK_STATUS_CHANGED", business_status="CHECKING")
    story.say("STEP_STARTED")
    assert story.task.business_status == "CHECKING"


def test_a_true_end_ignores_where_it_comes_from():
    story = Story("a", rules=DEFINED)
    accepted(story.say("STEP_FAILED", business_status="UNREADABLE"))
    accepted(story.say("TASK_COMPLETED", business_status="FILED"))
    assert (story.task.lifecycle, story.task.business_status) == ("SUCCEEDED", "FILED")


def test_an_operation_reports_only_its_own_event_types():
    story = Story(StepDraft("q", "OP.quiet", "x"), rules=DEFINED)
    assert refused(story.say("STEP_STARTED", "q")) == "CONTEXT_MISMATCH"
    assert refused(story.say("STEP_CANCELLED", "q")) == "CONTEXT_MISMATCH"
    accepted(story.say("STEP_COMPLETED", "q"))


def test_a_timeout_is_an_end_only_where_the_type_enables_it():
    story = Story("a", rules=DEFINED)
    assert refused(story.say("STEP_TIMED_OUT")) == "ILLEGAL_TRANSITION"
    assert refused(story.say("TASK_TIMED_OUT")) == "ILLEGAL_TRANSITION"
    timed = Story("a", rules=TIMED)
    accepted(timed.say("STEP_TIMED_OUT", error=StructuredError("TIMEOUT", "SLOW", user_message="Too slow.")))
    accepted(timed.say("TASK_TIMED_OUT", failed_step_id="a"))
    assert (timed.task.lifecycle, timed.task.business_status) == ("TIMED_OUT", "TIMED_OUT")
    assert timed.task.failure is not None
    assert (timed.task.failure.code, timed.task.failure.user_message) == ("SLOW", "Too slow.")
    assert timed.say("TASK_TIMED_OUT") == Repeated()
    assert refused(timed.say("TASK_FAILED")) == "CONFLICTING_TERMINAL"


def test_a_policy_asks_for_a_retry_while_attempts_remain_and_then_for_the_end():
    story = Story(StepDraft("b", "OP.b", "x"), rules=DEFINED)
    assert consequence(story.steps["b"], DEFINED) is None
    story.say("STEP_FAILED", "b", error=StructuredError("SYSTEM", "E", retryable=True))
    assert consequence(story.steps["b"], DEFINED) == "RETRY"
    assert story.task.lifecycle == "RUNNING"
    story.open_step(2, "b")
    story.say("STEP_FAILED", "b", error=StructuredError("SYSTEM", "E", retryable=True))
    assert consequence(story.steps["b"], DEFINED) == "FAIL_TASK"
    assert story.task.lifecycle == "RUNNING"


def test_what_cannot_be_retried_asks_for_the_end_at_once():
    story = Story(StepDraft("b", "OP.b", "x"), rules=DEFINED)
    story.say("STEP_FAILED", "b", error=StructuredError("BUSINESS_INPUT", "E", retryable=False))
    assert consequence(story.steps["b"], DEFINED) == "FAIL_TASK"


@pytest.mark.parametrize(
    "policy,asks", [("FAIL_TASK", "FAIL_TASK"), ("CONTINUE_WITH_WARNING", "WARN"), ("WAIT_FOR_USER", "WAIT_FOR_USER")]
)
def test_the_other_policies_ask_for_one_thing(policy: str, asks: str):
    story = Story(StepDraft("a", "OP.a", "x", None, policy), rules=DEFINED)  # type: ignore[arg-type]
    story.say("STEP_FAILED")
    assert consequence(story.steps["a"], DEFINED) == asks
    assert story.task.lifecycle == "RUNNING"
    assert story.task.business_status == ("WAITING_USER_ACTION" if policy == "WAIT_FOR_USER" else "RUNNING")


def test_the_policy_executor_fails_a_task_only_where_a_steps_policy_asks_for_it():
    story = Story(StepDraft("b", "OP.b", "x"), rules=DEFINED)
    by = {"producer_id": "executor", "by_policy": True}
    story.say("STEP_FAILED", "b", error=StructuredError("SYSTEM", "E", retryable=True))
    assert refused(story.say("TASK_FAILED", failed_step_id="b", **by)) == "CONTEXT_MISMATCH"
    story.open_step(2, "b")
    story.say("STEP_FAILED", "b")
    assert refused(story.say("TASK_FAILED", failed_step_id="b", producer_id="executor")) == "CONTEXT_MISMATCH"
    assert refused(story.say("TASK_CANCELLED", **by)) == "CONTEXT_MISMATCH"
    assert accepted(story.say("TASK_FAILED", failed_step_id="b", **by)).producer_id == "executor"
    assert story.task.lifecycle == "FAILED"


def test_a_retry_of_a_step_that_waits_for_the_user_takes_the_wording_back():
    story = Story(StepDraft("a", "OP.a", "x", None, "WAIT_FOR_USER"), rules=DEFINED)
    story.say("STEP_FAILED")
    story.open_step(2, "a")
    assert story.task.business_status == "RUNNING"


def test_a_task_of_stages_shows_the_stage_and_no_percentage():
    story = Story("a", rules=replace(DEFINED, mode="STAGES"))
    story.say("STEP_STARTED", stage="reading")
    story.say("STEP_PROGRESS", stage="writing", progress=Progress(5, 10))
    assert (story.task.stage, story.task.percent) == ("writing", None)


def test_a_task_of_steps_counts_ended_steps_and_no_share_of_a_running_one():
    story = Story("a", StepDraft("b", "OP.a", "x"), rules=replace(DEFINED, mode="STEPS"))
    story.say("STEP_PROGRESS", progress=Progress(9, 10))
    assert story.task.percent == 0
    story.say("STEP_COMPLETED")
    assert (story.task.percent, story.task.steps_done) == (50, 1)
