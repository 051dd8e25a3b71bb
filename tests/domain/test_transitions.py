"""The state machine, cell by cell: what every fact does in every state."""

import pytest
from msgspec.structs import replace

from milepost.domain.lifecycle import ENDS, REPORTABLE, STEP_LEADS_TO, TASK_LEADS_TO, ends, transitions
from milepost.domain.outcomes import Accepted, Decision, Refused, Repeated, Stale
from milepost.domain.rules import TaskRules
from tests.domain.story import RULES, Story, accepted, refused

TIMES_OUT = replace(
    RULES,
    enabled=RULES.enabled | {"TIMED_OUT"},
    default_status={**RULES.default_status, "TIMED_OUT": "FAILED"},
)
ENDINGS = {
    "SUCCEEDED": "COMPLETED",
    "FAILED": "FAILED",
    "CANCELLED": "CANCELLED",
    "TIMED_OUT": "TIMED_OUT",
}


def expected(lifecycle: str, event_type: str) -> str:
    to = STEP_LEADS_TO.get(event_type) or TASK_LEADS_TO[event_type]
    if lifecycle not in ENDS:
        return f"to {to}"
    if to not in ENDS:
        return "TERMINAL"
    return "repeated" if to == lifecycle else "CONFLICTING_TERMINAL"


def told(decision: Decision, lifecycle: str) -> str:
    if isinstance(decision, Accepted):
        return f"to {lifecycle}"
    if isinstance(decision, Stale):
        return decision.reason
    if isinstance(decision, Refused):
        return decision.code
    assert isinstance(decision, Repeated)
    return "repeated"


def in_state(scope: str, lifecycle: str, rules: TaskRules) -> Story:
    story = Story("a", rules=rules)
    if lifecycle == "RUNNING":
        story.say(f"{scope}_STARTED")
    elif lifecycle != "PENDING":
        story.say(f"{scope}_{ENDINGS[lifecycle]}")
    return story


@pytest.mark.parametrize("lifecycle", ["PENDING", "RUNNING", *sorted(ENDS)])
@pytest.mark.parametrize("event_type", sorted(STEP_LEADS_TO))
def test_a_step_fact_does_in_each_state_what_the_table_says(lifecycle: str, event_type: str) -> None:
    story = in_state("STEP", lifecycle, TIMES_OUT)
    story.now += 10_000
    before = story.state
    decision = story.say(event_type)
    assert told(decision, story.steps["a"].lifecycle) == expected(lifecycle, event_type)
    if not isinstance(decision, Accepted):
        assert story.state == before


@pytest.mark.parametrize("lifecycle", ["PENDING", "RUNNING", *sorted(ENDS)])
@pytest.mark.parametrize("event_type", sorted(TASK_LEADS_TO))
@pytest.mark.accepts("terminal never returns to running")
def test_a_task_fact_does_in_each_state_what_the_table_says(lifecycle: str, event_type: str) -> None:
    story = in_state("TASK", lifecycle, TIMES_OUT)
    before = story.state
    decision = story.say(event_type)
    assert told(decision, story.task.lifecycle) == expected(lifecycle, event_type)
    if not isinstance(decision, Accepted):
        assert story.state == before


@pytest.mark.parametrize("event_type", ["STEP_TIMED_OUT", "TASK_TIMED_OUT"])
def test_a_state_the_type_does_not_enable_is_illegal(event_type: str) -> None:
    assert refused(Story().say(event_type)) == "ILLEGAL_TRANSITION"


@pytest.mark.parametrize("ended", ["COMPLETED", "FAILED", "CANCELLED"])
def test_a_contradicting_end_is_kept_for_reconciliation_and_the_first_stands(ended: str) -> None:
    story = Story()
    story.say("STEP_COMPLETED" if ended != "COMPLETED" else "STEP_FAILED")
    decision = story.say(f"STEP_{ended}")
    assert isinstance(decision, Refused)
    assert (decision.code, decision.evidence) == ("CONFLICTING_TERMINAL", "CONFLICTING_TERMINAL")


def test_the_printed_transitions_are_exactly_those_that_are_accepted() -> None:
    facts = STEP_LEADS_TO | TASK_LEADS_TO
    made: set[tuple[str, str, str]] = set()
    for event_type in facts:
        scope = event_type.partition("_")[0]
        for lifecycle in ("PENDING", "RUNNING", *ENDS):
            story = in_state(scope, lifecycle, TIMES_OUT)
            story.now += 10_000
            if isinstance(story.say(event_type), Accepted):
                to = story.steps["a"].lifecycle if scope == "STEP" else story.task.lifecycle
                made.add((lifecycle, event_type, to))
    assert sorted(made) == transitions()


def test_what_ends_is_what_leads_to_a_terminal_state() -> None:
    assert {event for event in REPORTABLE if ends(event)} == {
        f"{scope}_{end}" for scope in ("STEP", "TASK") for end in ENDINGS.values()
    }


def test_a_deleted_task_takes_no_facts() -> None:
    story = Story()
    story.task = replace(story.task, deleted_at=story.now)
    assert refused(story.say("STEP_STARTED")) == "TASK_DELETED"
    assert refused(story.say("TASK_COMPLETED")) == "TASK_DELETED"


def test_success_is_never_inferred_from_steps() -> None:
    story = Story("a", "b")
    story.say("STEP_COMPLETED", "a")
    accepted(story.say("STEP_COMPLETED", "b"))
    assert (story.task.lifecycle, story.task.percent, story.task.finished_at) == ("RUNNING", 99, None)


def test_after_the_end_of_a_task_a_late_end_completes_the_step_record_only() -> None:
    story = Story("a", "b")
    story.say("STEP_STARTED")
    story.say("TASK_CANCELLED")
    ended = story.task
    story.now += 60_000
    late = accepted(story.say("STEP_FAILED"))
    assert story.steps["a"].lifecycle == "FAILED"
    assert story.task == replace(ended, version=ended.version + 1)
    assert (late.lifecycle, late.step_lifecycle) == ("CANCELLED", "FAILED")
    assert story.say("STEP_STARTED", "b") == Stale("TERMINAL")
    assert story.say("STEP_PROGRESS", "b") == Stale("TERMINAL")
