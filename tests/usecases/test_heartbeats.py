"""Signs of life are stored in batches and leave nothing else behind."""

from typing import Any

from milepost.domain.facts import Heartbeat
from milepost.usecases.heartbeats import beat
from milepost.wire.answers import Directives
from tests.parts.stand import Stand
from tests.usecases.works import cancel, create, done, new_source, report, rows, table


def alive(step_id: str = "a", **more: Any) -> Heartbeat:
    said: dict[str, Any] = {"source_epoch": 1, **more}
    return Heartbeat("t1", said.pop("task_id", "k1"), 1, step_id, 1, f"OP.{step_id}", f"{step_id}-worker", **said)


async def beats(service: Stand, *said: Heartbeat) -> list[Any]:
    outcomes, told = await service.storage.transaction(lambda tx: beat(tx, said))
    assert told == []
    return outcomes


async def test_a_sign_of_life_moves_the_rows_last_sign_and_nothing_else(service: Stand) -> None:
    await done(service, create(), report("STEP_STARTED", "e1", 1))
    before = rows(service.path, "t1")
    service.clock.pass_ms(5_000)
    answer, other = await beats(service, alive("a"), alive("b"))
    after = rows(service.path, "t1")
    assert (answer.accepted, answer.task_version, answer.directives) == (True, "2", Directives())
    assert other.step.lifecycle_status == "PENDING"
    seen = dict(table(service, "task_step", "step_id, last_seen_at"))
    assert seen == {"a": service.clock.now(), "b": service.clock.now(), "c": None}
    assert {name for name in before if before[name] != after[name]} == {"task_step"}


async def test_a_sign_of_life_tells_of_a_request_to_cancel(service: Stand) -> None:
    await done(service, create(), cancel())
    (answer,) = await beats(service, alive())
    assert answer.directives == Directives(cancel_requested=True)


async def test_one_that_counts_for_nothing_leaves_liveness_and_evidence_alone(service: Stand) -> None:
    await done(service, create(), new_source("a"), report("STEP_COMPLETED", "e1", 1, step_id="b"))
    before = rows(service.path, "t1")
    service.clock.pass_ms(5_000)
    fenced, ended, foreign, unknown, forged = await beats(
        service, alive("a"), alive("b"), alive("z"), alive(task_id="nobody"), alive("c", source_epoch=4)
    )
    assert (fenced.stale, fenced.reason, fenced.directives.fenced) == (True, "SOURCE_FENCED", True)
    assert (ended.stale, ended.reason) == (True, "TERMINAL")
    assert [foreign.code, unknown.code, forged.code] == ["ATTEMPT_UNKNOWN", "TASK_UNKNOWN", "CONTEXT_MISMATCH"]
    assert rows(service.path, "t1") == before


async def test_a_late_sign_of_life_never_takes_time_back(service: Stand) -> None:
    await one_started(service)
    service.clock.pass_ms(-4_000)
    await beats(service, alive())
    assert dict(table(service, "task_step", "step_id, last_seen_at"))["a"] == service.clock.now() + 4_000


async def one_started(service: Stand) -> None:
    await done(service, create(), report("STEP_STARTED", "e1", 1))
