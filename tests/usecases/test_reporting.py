"""What is answered to a report, and what is remembered of it."""

import sqlite3
from typing import Any

import pytest

from milepost.domain.values import Progress
from milepost.wire.answers import Directives
from milepost.wire.problems import Rejection
from tests.parts.stand import Stand
from tests.usecases.works import cancel, create, done, fact, new_source, one, open_attempt, report, rows, table


def forget(service: Stand, event_id: str) -> None:
    """Removes what was remembered of an event, as retention does in the end."""
    with sqlite3.connect(service.path) as connection:
        assert connection.execute("DELETE FROM task_event_dedup WHERE event_id = ?", (event_id,)).rowcount == 1
    connection.close()


def evidence(service: Stand) -> set[tuple[str, str]]:
    return set(table(service, "task_event_evidence", "reason, event_id"))


async def test_an_accepted_fact_answers_with_the_state_it_led_to(service: Stand) -> None:
    service.clock.pass_ms(123)
    made, answer = await done(service, create(), report("STEP_STARTED", "e1", 1))
    assert made.new
    assert (answer.accepted, answer.duplicate, answer.stale, answer.merged, answer.reason) == (
        True,
        False,
        False,
        False,
        None,
    )
    assert (answer.task_id, answer.step_id, answer.task_version, answer.step_version) == ("k1", "a", "2", "2")
    assert (answer.lifecycle_status, answer.business_status) == ("RUNNING", "RUNNING")
    assert (answer.step.lifecycle_status, answer.step.business_status) == ("RUNNING", "RUNNING")
    assert answer.committed_at == "2027-01-15T08:00:00.123Z"
    assert answer.directives == Directives()


async def test_merged_progress_answers_with_the_current_version_and_writes_no_event(service: Stand) -> None:
    facts = [report("STEP_PROGRESS", f"e{n}", n, progress=Progress(n, 100)) for n in (1, 2, 3)]
    _, first, second, third = await done(service, create(), *facts)
    assert (first.merged, first.task_version) == (False, "2")
    assert [(one.accepted, one.merged, one.task_version) for one in (second, third)] == [(True, True, "2")] * 2
    assert len(table(service, "task_event_log", "event_id")) == len(table(service, "stream_log", "position")) == 2
    assert {event for (event,) in table(service, "task_event_dedup", "event_id")} == {"e1", "e2", "e3"}


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.accepts("retry of an eventId changes nothing")
async def test_the_same_event_again_gets_its_first_answer_and_changes_nothing(service: Stand, together: bool) -> None:
    works = [
        create(),
        report("STEP_STARTED", "e1", 1),
        report("STEP_COMPLETED", "e2", 2),
        report("STEP_STARTED", "e1", 1),
    ]
    if together:
        _, first, _, again = await done(service, *works)
    else:
        _, first, _, again = [await one(service, work) for work in works]
    assert (again.duplicate, again.accepted, again.task_version, again.step.lifecycle_status) == (
        True,
        True,
        "2",
        "RUNNING",
    )
    assert (first.duplicate, first.committed_at) == (False, again.committed_at)
    assert len(table(service, "task_event_log", "event_id")) == 3


@pytest.mark.accepts("same eventId with other content refused")
async def test_an_event_id_with_other_content_is_a_conflict_and_keeps_the_first(service: Stand) -> None:
    await done(service, create(), report("STEP_STARTED", "e1", 1))
    before = rows(service.path, "t1")
    answer = await one(service, report("STEP_STARTED", "e1", 1, message="other"))
    assert isinstance(answer, Rejection)
    assert answer.code == "EVENT_ID_CONFLICT"
    assert rows(service.path, "t1") == before


async def test_refusals_are_not_remembered(service: Stand) -> None:
    early = await one(service, report("STEP_STARTED", "e1", 1))
    assert early.code == "TASK_UNKNOWN"
    late = (await done(service, create(), report("STEP_STARTED", "e1", 1)))[1]
    assert (late.accepted, late.duplicate) == (True, False)


async def test_a_taken_sequence_is_a_conflict_whether_or_not_its_owner_is_in_the_batch(service: Stand) -> None:
    facts = [report("STEP_STARTED", "e1", 1), report("STEP_STARTED", "e2", 1)]
    _, _, together = await done(service, create(), *facts)
    later = await one(service, report("STEP_PROGRESS", "e3", 1))
    assert [together.code, later.code] == ["SOURCE_SEQ_CONFLICT"] * 2
    assert evidence(service) == set()


async def test_a_sequence_of_merged_progress_is_old_for_another_event(service: Stand) -> None:
    facts = [report("STEP_PROGRESS", f"e{n}", n, progress=Progress(1, 9)) for n in (1, 2)]
    *_, answer = await done(service, create(), *facts, report("STEP_PROGRESS", "e9", 2))
    assert (answer.stale, answer.reason) == (True, "OLD_SEQUENCE")


async def test_a_retry_after_its_memory_is_gone_can_change_nothing(service: Stand) -> None:
    await done(service, create(), report("STEP_STARTED", "e1", 1), report("STEP_PROGRESS", "e2", 2))
    forget(service, "e1")
    before = rows(service.path, "t1")["task"]
    again = await one(service, report("STEP_STARTED", "e1", 1))
    assert (again.accepted, again.stale, again.reason) == (False, True, "ALREADY_DECIDED")
    assert rows(service.path, "t1")["task"] == before
    assert evidence(service) == {("ALREADY_DECIDED", "e1")}


async def test_a_forgotten_end_is_a_repeated_end(service: Stand) -> None:
    await done(service, create(), report("STEP_COMPLETED", "e1", 1))
    forget(service, "e1")
    again = await one(service, report("STEP_COMPLETED", "e1", 1))
    assert (again.accepted, again.duplicate, again.task_version) == (False, True, "2")


async def test_a_forgotten_task_fact_is_known_by_its_sequence(service: Stand) -> None:
    await done(service, create(), report("TASK_STARTED", "e1", 1))
    forget(service, "e1")
    assert (await one(service, report("TASK_STARTED", "e1", 1))).reason == "ALREADY_DECIDED"
    assert (await one(service, report("TASK_STARTED", "e2", 1))).code == "SOURCE_SEQ_CONFLICT"


async def test_whatever_changes_nothing_is_kept_as_evidence_once(service: Stand) -> None:
    await done(
        service,
        create(),
        report("STEP_PROGRESS", "late", 1),
        report("STEP_STARTED", "s2", 3),
        report("STEP_STARTED", "old", 2),
        new_source(),
        report("STEP_PROGRESS", "fenced", 4),
        report("STEP_COMPLETED", "end", 1, source_epoch=2),
        report("STEP_COMPLETED", "again", 2, source_epoch=2),
        report("STEP_STARTED", "after", 3, source_epoch=2),
        report("STEP_FAILED", "contradicts", 4, source_epoch=2),
        report("STEP_FAILED", "contradicts", 4, source_epoch=2),
        open_attempt(2, "b"),
        report("STEP_COMPLETED", "superseded", 1, step_id="b"),
    )
    assert evidence(service) == {
        ("OLD_SEQUENCE", "old"),
        ("SOURCE_FENCED", "fenced"),
        ("TERMINAL_REPEATED", "again"),
        ("TERMINAL", "after"),
        ("CONFLICTING_TERMINAL", "contradicts"),
        ("ATTEMPT_SUPERSEDED", "superseded"),
    }
    contradicts = await one(service, report("STEP_FAILED", "contradicts", 4, source_epoch=2))
    assert (contradicts.code, contradicts.lifecycle_status) == ("CONFLICTING_TERMINAL", "RUNNING")
    assert len(evidence(service)) == 6


async def test_evidence_holds_the_state_it_met(service: Stand) -> None:
    await done(service, create(), report("STEP_COMPLETED", "e1", 1), report("STEP_STARTED", "e2", 2, message="hello"))
    columns = "reason, task_version, lifecycle, step_lifecycle, source_epoch, source_seq, payload"
    assert table(service, "task_event_evidence", columns) == [
        ("TERMINAL", 2, "RUNNING", "SUCCEEDED", 1, 2, '{"message":"hello"}')
    ]


async def test_directives_say_what_holds_now_even_on_a_repeat(service: Stand) -> None:
    first = report("STEP_STARTED", "e1", 1)

    async def told() -> Directives:
        return (await one(service, first)).directives

    await one(service, create())
    assert await told() == Directives()
    await one(service, cancel())
    assert await told() == Directives(cancel_requested=True)
    await one(service, new_source())
    assert await told() == Directives(cancel_requested=True, fenced=True)
    await one(service, open_attempt(2, "a", override_cancel=True))
    assert await told() == Directives(attempt_superseded=True)
    await one(service, cancel(event_id="cancel-2"))
    assert await told() == Directives(cancel_requested=True, attempt_superseded=True)
    await one(service, report("TASK_CANCELLED", "end"))
    assert await told() == Directives(attempt_superseded=True)


@pytest.mark.parametrize("table_name", ["task", "task_step"])
async def test_what_a_deleted_task_is_told_is_gone(service: Stand, table_name: str) -> None:
    await one(service, create())
    with sqlite3.connect(service.path) as connection:
        connection.execute("UPDATE task SET deleted_at = 5")
    connection.close()
    before = rows(service.path, "t1")[table_name]
    works: list[Any] = [report("STEP_STARTED", "e1", 1), cancel(), open_attempt(2), new_source()]
    assert [answer.code for answer in await done(service, *works)] == ["TASK_DELETED"] * 4
    assert rows(service.path, "t1")[table_name] == before


async def test_one_tenants_event_ids_are_nothing_to_another(service: Stand) -> None:
    await service.storage.access.add_tenant("t2", 0)
    await done(service, create("t1"), create("t2"), report("STEP_STARTED", "e1", 1))
    answer = await one(service, report("STEP_STARTED", "e1", 1, tenant_id="t2"))
    assert (answer.accepted, answer.duplicate, answer.task_version) == (True, False, "2")
    unknown = await one(service, report("STEP_STARTED", "e1", 1, tenant_id="t3"))
    assert unknown.code == "TASK_UNKNOWN"


@pytest.mark.accepts("a retry after an outage is the same event, not a conflict")
async def test_the_hash_of_what_was_said_leaves_its_delivery_out(service: Stand) -> None:
    said = fact("STEP_STARTED", "e1", 1)
    late = fact(
        "STEP_STARTED", "e1", 1, age_ms=5, retry_count=3, trace_id="x", execution_log_url="https://x", tenant_id="t2"
    )
    assert said.payload_hash == late.payload_hash
    assert said.payload_hash != fact("STEP_STARTED", "e1", 2).payload_hash
