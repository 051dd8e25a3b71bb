"""Commands are idempotent: by a key, by a number, or by what they find done already."""

from typing import Any

import pytest

from milepost.domain.state import TaskKey
from milepost.ports.storage import ResultKey
from milepost.usecases.sourcing import refreshed
from milepost.wire.answers import Context
from milepost.wire.problems import Rejection
from tests.parts.stand import Stand
from tests.usecases.works import BOOK, cancel, create, done, new_source, one, open_attempt, report, rows, table


def code(outcome: Any) -> str:
    assert isinstance(outcome, Rejection), outcome
    return outcome.code


@pytest.mark.parametrize("together", [True, False])
async def test_a_creation_repeated_under_its_key_makes_one_task(service: Stand, together: bool) -> None:
    works = [create("t1", "k1", key="once"), create("t1", "another-id", key="once")]
    if together:
        first, again = await done(service, *works)
    else:
        first, again = [await one(service, work) for work in works]
    assert (first.new, again.new) == (True, False)
    assert again.opened == first.opened
    assert [context.execution_token for context in again.opened.contexts] == ["", "", ""]
    assert table(service, "task", "task_id") == [("k1",)]


async def test_a_creation_repeated_later_tells_the_first_facts(service: Stand) -> None:
    first = await one(service, create("t1", "k1", key="once"))
    await done(service, report("STEP_STARTED", "e1", 1), report("TASK_COMPLETED", "e2"))
    again = await one(service, create("t1", "k1", key="once"))
    assert again.opened == first.opened


@pytest.mark.parametrize("together", [True, False])
async def test_a_key_with_another_body_is_a_conflict(service: Stand, together: bool) -> None:
    works = [create("t1", "k1", key="once"), create("t1", "k2", key="once", title="Another")]
    outcomes = await done(service, *works) if together else [await one(service, work) for work in works]
    assert code(outcomes[1]) == "IDEMPOTENCY_KEY_CONFLICT"
    assert table(service, "task", "task_id") == [("k1",)]
    assert code(await one(service, cancel(key="once"))) == "IDEMPOTENCY_KEY_CONFLICT"


async def test_a_key_belongs_to_its_tenant(service: Stand) -> None:
    await service.storage.access.add_tenant("t2", 0)
    outcomes = await done(service, create("t1", "k1", key="once"), create("t2", "k1", key="once"))
    assert [outcome.new for outcome in outcomes] == [True, True]


async def test_a_task_id_is_taken_once(service: Stand) -> None:
    _, same, other_key = await done(service, create(), create(), create(key="once"))
    assert [code(same), code(other_key)] == ["TASK_ID_TAKEN"] * 2


async def test_a_creation_is_whole_or_not_there(service: Stand) -> None:
    await one(service, create(key="once"))
    left = rows(service.path, "t1")
    assert {name: len(lines) for name, lines in left.items()} == {
        "task": 1,
        "task_step": 3,
        "task_event_log": 1,
        "task_event_evidence": 0,
        "task_event_dedup": 0,
        "command_result": 1,
        "stream": 1,
        "stream_log": 1,
    }
    found = await service.storage.reading.result(ResultKey("t1", "credential-1", "once"))
    assert found is not None
    assert found.task_id == "k1"


async def test_a_request_to_cancel_is_made_once_under_its_key_and_without(service: Stand) -> None:
    _, first, again, other = await done(service, create(), cancel(key="c"), cancel(key="c"), cancel())
    assert (first.accepted, first.task_version) == (True, "2")
    assert again == first
    assert (other.accepted, other.task_version) == (True, "2")
    assert len(table(service, "task_event_log", "event_id")) == 2


async def test_a_request_after_the_end_is_not_accepted_and_says_how_it_ended(service: Stand) -> None:
    _, _, answer = await done(service, create(), report("TASK_COMPLETED", "end"), cancel())
    assert (answer.accepted, answer.lifecycle_status, answer.task_version) == (False, "SUCCEEDED", "2")


async def test_a_repeated_request_gets_the_first_answer_even_after_the_end(service: Stand) -> None:
    _, first, _, again = await done(
        service, create(), cancel(key="c"), report("TASK_CANCELLED", "end"), cancel(key="c")
    )
    assert again == first


async def test_nothing_is_commanded_of_a_task_nobody_knows(service: Stand) -> None:
    works = [cancel(), open_attempt(2), open_attempt(2, "a"), new_source(), report("STEP_STARTED", "e", 1)]
    assert [code(outcome) for outcome in await done(service, *works)] == ["TASK_UNKNOWN"] * 5


async def test_an_attempt_opened_again_by_its_number_answers_the_same_contexts(service: Stand) -> None:
    await done(service, create(), report("STEP_COMPLETED", "e1", 1), report("TASK_FAILED", "e2"))
    first = await one(service, open_attempt(2))
    before = rows(service.path, "t1")
    again = await one(service, open_attempt(2))
    assert again == first
    assert rows(service.path, "t1") == before
    assert [(context.step_id, context.step_attempt, context.task_attempt) for context in first.contexts] == [
        ("b", 2, 2),
        ("c", 2, 2),
    ]
    assert [(step.id, step.attempt) for step in first.steps] == [("a", 1), ("b", 2), ("c", 2)]
    assert code(await one(service, open_attempt(1))) == "ATTEMPT_SUPERSEDED"
    assert code(await one(service, open_attempt(4))) == "ATTEMPT_NOT_NEXT"


async def test_the_first_attempts_contexts_can_be_had_again(service: Stand) -> None:
    made, again = await done(service, create(), open_attempt(1))
    assert again.contexts == made.opened.contexts


async def test_a_step_attempt_opens_one_context(service: Stand) -> None:
    _, first, again = await done(service, create(), open_attempt(2, "b"), open_attempt(2, "b"))
    assert again == first
    assert [(context.step_id, context.step_attempt, context.source_epoch) for context in first.contexts] == [
        ("b", 2, 1)
    ]
    assert sorted(table(service, "task_step", 'step_id, attempt, "current"')) == [
        ("a", 1, 1),
        ("b", 1, 0),
        ("b", 2, 1),
        ("c", 1, 1),
    ]


async def test_only_the_tasks_coordinator_opens_attempts(service: Stand) -> None:
    _, task, step = await done(
        service, create(), open_attempt(2, coordinator="other"), open_attempt(2, "a", coordinator="other")
    )
    assert [code(task), code(step)] == ["CONTEXT_MISMATCH"] * 2


async def test_a_new_source_fences_the_older_and_begins_its_own_sequence(service: Stand) -> None:
    _, _, context, fenced, fresh = await done(
        service,
        create(),
        report("STEP_STARTED", "e1", 1),
        new_source(),
        report("STEP_COMPLETED", "e2", 2),
        report("STEP_STARTED", "e3", 1, source_epoch=2),
    )
    assert isinstance(context, Context)
    assert (context.source_epoch, context.step_attempt, context.execution_token) == (2, 1, "")
    assert (fenced.reason, fenced.directives.fenced) == ("SOURCE_FENCED", True)
    assert (fresh.accepted, fresh.task_version) == (True, "3")
    assert len(table(service, "stream_log", "position")) == 3


@pytest.mark.parametrize("step_id,attempt,expected", [("a", 2, "ATTEMPT_UNKNOWN"), ("z", None, "NOT_FOUND")])
async def test_a_new_source_needs_an_attempt_that_is_there(
    service: Stand, step_id: str, attempt: int | None, expected: str
) -> None:
    assert code((await done(service, create(), new_source(step_id, attempt=attempt)))[1]) == expected


async def test_an_older_attempt_takes_no_new_source(service: Stand) -> None:
    outcomes = await done(service, create(), open_attempt(2, "a"), new_source("a", attempt=1))
    assert code(outcomes[2]) == "ATTEMPT_SUPERSEDED"


async def context(
    service: Stand, step_id: str = "a", attempt: int | None = None, producer: str = "a-worker"
) -> Context:
    return await refreshed(service.storage.reading, TaskKey("t1", "k1"), step_id, attempt, producer, BOOK)


async def test_a_plain_refresh_keeps_the_source_and_serves_old_and_finished_attempts(service: Stand) -> None:
    await done(service, create(), new_source(), open_attempt(2, "a"), report("TASK_CANCELLED", "end"))
    assert (await context(service)).step_attempt == 2
    old = await context(service, attempt=1)
    assert (old.step_attempt, old.source_epoch, old.task_attempt) == (1, 2, 1)
    assert await context(service, producer="boss") == await context(service)


@pytest.mark.parametrize(
    "said,expected",
    [
        ({"producer": "b-worker"}, "CONTEXT_MISMATCH"),
        ({"step_id": "z"}, "NOT_FOUND"),
        ({"attempt": 7}, "ATTEMPT_UNKNOWN"),
    ],
)
async def test_a_context_is_for_the_steps_producer_and_the_coordinator(
    service: Stand, said: dict[str, Any], expected: str
) -> None:
    await one(service, create())
    with pytest.raises(Rejection) as raised:
        await context(service, **said)
    assert raised.value.code == expected


async def test_a_context_of_an_unknown_task_is_refused(service: Stand) -> None:
    with pytest.raises(Rejection) as raised:
        await context(service)
    assert raised.value.code == "TASK_UNKNOWN"
