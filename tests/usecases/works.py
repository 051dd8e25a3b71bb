"""Works as requests would make them, and a look at the rows they leave behind."""

import sqlite3
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from milepost.definitions.generic import generic
from milepost.domain.attempts import Opening
from milepost.domain.creation import StepDraft, TaskDraft
from milepost.domain.facts import Fact
from milepost.domain.lifecycle import STEP_FACTS
from milepost.domain.state import TaskKey
from milepost.usecases.cancelling import RequestCancel
from milepost.usecases.commit import Work, commit
from milepost.usecases.creating import CreateTask
from milepost.usecases.flushing import Flush
from milepost.usecases.idempotency import Caller, Once
from milepost.usecases.opening import OpenAttempt
from milepost.usecases.reporting import Report
from milepost.usecases.rulebook import Rulebook
from milepost.usecases.sourcing import NewSource
from milepost.wire.events import digest
from tests.parts.stand import Stand

NOW = 1_800_000_000_000
BOOK = Rulebook()
BOSS = Caller("credential-1", "boss")
TABLES = (
    "task",
    "task_step",
    "task_event_log",
    "task_event_evidence",
    "task_event_dedup",
    "command_result",
    "stream",
    "stream_log",
)


def fact(event_type: str, event_id: str, seq: int | None = None, **more: Any) -> Fact:
    """A fact of step `a` of task `k1` in attempt 1, or of its coordinator, with the hash its body would have."""
    said = Fact(
        event_id=event_id,
        tenant_id="t1",
        task_id="k1",
        task_type="T",
        task_attempt=1,
        producer_id="boss",
        event_type=event_type,
        occurred_at=NOW,
        received_at=NOW,
        payload_hash=b"",
        source_seq=seq,
    )
    if event_type in STEP_FACTS:
        step_id = more.pop("step_id", "a")
        said = replace(
            said,
            step_id=step_id,
            producer_id=f"{step_id}-worker",
            operation_code=f"OP.{step_id}",
            step_attempt=1,
            source_epoch=1,
            genuine_token=True,
        )
    said = replace(said, **more)
    return replace(said, payload_hash=digest(said, said.source_epoch))


def report(event_type: str, event_id: str, seq: int | None = None, **more: Any) -> Report:
    return Report(fact(event_type, event_id, seq, **more), BOOK)


def create(
    tenant: str = "t1", task_id: str = "k1", *steps: StepDraft, key: str | None = None, title: str = "A task"
) -> CreateTask:
    """Creates a task; its steps default to a, b and c."""
    plans = steps or tuple(StepDraft(step, f"OP.{step}", f"{step}-worker") for step in ("a", "b", "c"))
    draft = TaskDraft(tenant, task_id, "u1", "T", title, plans)
    # The body is what the caller sent: where the service chose the id, it is not a part of it.
    return CreateTask(draft, BOSS, Once.of(tenant, BOSS, key, (title, len(plans))), f"created.{task_id}", generic("T"))


def open_attempt(number: int, step_id: str | None = None, task: tuple[str, str] = ("t1", "k1"), **more: Any) -> Work:
    said = {"abandon": True, **more}
    coordinator = said.pop("coordinator", "boss")
    wish = Opening(number, f"open.{task[1]}.{step_id}.{number}", **said)
    return OpenAttempt(TaskKey(*task), step_id, wish, coordinator, BOOK)


def new_source(step_id: str = "a", task: tuple[str, str] = ("t1", "k1"), attempt: int | None = None) -> Work:
    return NewSource(TaskKey(*task), step_id, attempt, f"{step_id}-worker", BOOK)


def cancel(task: tuple[str, str] = ("t1", "k1"), key: str | None = None, event_id: str = "cancel") -> Work:
    return RequestCancel(TaskKey(*task), BOSS, Once.of(task[0], BOSS, key, ("cancel", task[1])), event_id)


def flush(step_id: str = "a", task: tuple[str, str] = ("t1", "k1")) -> Work:
    return Flush(TaskKey(*task), step_id, BOOK)


async def done(service: Stand, *works: Work) -> list[Any]:
    """The outcomes of works committed as one batch; rejections are values here."""
    outcomes, told = await service.storage.transaction(lambda tx: commit(tx, works))
    service.heard.committed.extend(told)
    return outcomes


async def one(service: Stand, work: Work) -> Any:
    return (await done(service, work))[0]


def rows(path: Path, tenant: str) -> dict[str, list[tuple[Any, ...]]]:
    """All that a tenant has in the database, in the order of its keys, without the tenant's name."""
    with sqlite3.connect(path) as connection:
        found = {
            table: sorted(connection.execute(f"SELECT * FROM {table} WHERE tenant_id = ?", (tenant,)), key=repr)
            for table in TABLES
        }
    connection.close()
    return {table: [row[1:] for row in lines] for table, lines in found.items()}


def table(service: Stand, name: str, columns: str, tenant: str = "t1") -> list[tuple[Any, ...]]:
    """Some columns of a tenant's rows in one table."""
    connection = sqlite3.connect(service.path)
    try:
        return connection.execute(f"SELECT {columns} FROM {name} WHERE tenant_id = ?", (tenant,)).fetchall()
    finally:
        connection.close()
