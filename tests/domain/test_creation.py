"""A task comes into being with its steps, its first version and its first event, or not at all."""

from msgspec.structs import replace

from milepost.domain.creation import TaskDraft, create
from milepost.domain.outcomes import Accepted, Refused
from milepost.domain.values import Data
from tests.domain.story import NOW, RULES, plan

DRAFT = TaskDraft("t1", "k1", "u1", "T", "A task", (plan("a"), plan("b", "WAIT_FOR_USER", 2.5)), "p1", "shop")


def made(draft: TaskDraft) -> Accepted:
    change = create(draft, "boss", RULES, "created", NOW)
    assert isinstance(change, Accepted)
    return change


def test_a_new_task_is_pending_in_version_one_with_its_event() -> None:
    change = made(replace(DRAFT, summary=Data("s", 1)))
    task, event = change.task, change.event
    assert (task.version, task.attempt, task.lifecycle, task.business_status, task.health) == (
        1, 1, "PENDING", "PENDING", "HEALTHY",
    )  # fmt: skip
    assert (task.coordinator_id, task.owner_id, task.project_id, task.product) == ("boss", "u1", "p1", "shop")
    assert (task.created_at, task.opened_at, task.started_at, task.summary) == (NOW, NOW, None, Data("s", 1))
    assert event is not None
    assert (event.event_id, event.event_type, event.task_version, event.producer_id) == (
        "created", "TASK_CREATED", 1, "milepost",
    )  # fmt: skip


def test_its_steps_keep_the_order_and_the_terms_of_the_template() -> None:
    first, second = made(DRAFT).steps
    assert [(step.step_id, step.ordinal, step.attempt, step.task_attempt) for step in (first, second)] == [
        ("a", 0, 1, 1),
        ("b", 1, 1, 1),
    ]
    assert (second.weight, second.on_failure, second.operation_code, second.producer_id) == (
        2.5, "WAIT_FOR_USER", "OP.b", "b-worker",
    )  # fmt: skip
    assert (second.source_epoch, second.source_seq, second.version, second.lifecycle) == (1, 0, 1, "PENDING")


def test_two_steps_of_one_name_are_refused_at_the_second() -> None:
    change = create(replace(DRAFT, steps=(plan("a"), plan("b"), plan("a"))), "boss", RULES, "created", NOW)
    assert isinstance(change, Refused)
    assert (change.code, change.pointer) == ("FIELD_INVALID", "/steps/2/stepId")


def test_a_task_may_begin_without_steps() -> None:
    task = made(replace(DRAFT, steps=())).task
    assert (task.percent, task.steps_total) == (None, 0)
