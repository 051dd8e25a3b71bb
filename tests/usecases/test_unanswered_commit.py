"""A COMMIT whose answer was lost is settled by running the batch again: the memory of the first run tells.

The port promises that storage runs a use case again from its first line. Here the whole way is gone twice: the first
run commits, its answer is thrown away as a broken connection would, and the second run must find everything done.
"""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest
from msgspec.structs import replace

from milepost.domain.values import Progress
from milepost.ports.storage import Transaction
from milepost.storage.sqlite.store import SqliteStorage
from milepost.usecases.batching import Batcher
from milepost.usecases.commit import Work, commit
from milepost.usecases.creating import Created
from milepost.wire.answers import ReportAnswer, TaskOpened
from milepost.wire.problems import Rejection
from tests.parts.stand import Stand
from tests.usecases.works import cancel, create, done, flush, open_attempt, report, rows, table

T = TypeVar("T")


class AnswerLost:
    """A database whose every commit succeeds and whose first answer never arrives."""

    def __init__(self, storage: SqliteStorage) -> None:
        self._storage = storage
        self.lost: list[Any] = []

    async def transaction(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        self.lost.append(await self._storage.transaction(work))
        return await self._storage.transaction(work)

    async def epoch(self) -> str:
        return await self._storage.epoch()

    async def renew_epoch(self, seen: str) -> str:
        return await self._storage.renew_epoch(seen)


def progress(number: int) -> Work:
    return report("STEP_PROGRESS", f"p{number}", number, progress=Progress(number, 100))


BATCHES: dict[str, list[Work]] = {
    "facts": [
        report("STEP_STARTED", "e1", 4),
        report("STEP_PROGRESS", "e2", 5),
        report("STEP_STARTED", "late", 2),
        report("STEP_COMPLETED", "e3", 6),
        report("STEP_COMPLETED", "again", 7),
        report("STEP_FAILED", "contradicts", 8),
        report("TASK_COMPLETED", "end"),
    ],
    "merged": [progress(number) for number in range(4, 9)],
    "creation": [create("t1", "k2", key="once"), cancel(("t1", "k2"), key="c", event_id="c2")],
    "step attempt": [open_attempt(2, "b"), cancel(key="c")],
    "task attempt": [report("TASK_FAILED", "end"), open_attempt(2)],
}


async def unanswered(service: Stand, works: list[Work]) -> tuple[list[Any], list[Any]]:
    """What the lost answer said, and what was answered in the end."""
    database = AnswerLost(service.storage)
    writer: Batcher[Work] = Batcher(database, commit)
    writer.start()
    answered = [await future for future in [writer.submit(work) for work in works]]
    await writer.close()
    ((lost, _),) = database.lost
    return lost, answered


@pytest.mark.parametrize("name", sorted(BATCHES))
@pytest.mark.accepts("every command repeated answers the same")
@pytest.mark.accepts("an ambiguous commit is settled, never guessed")
async def test_running_again_answers_the_same_facts(service: Stand, name: str) -> None:
    await done(service, create(), *map(progress, (1, 2, 3)))
    lost, answered = await unanswered(service, BATCHES[name])
    assert list(map(_facts, answered)) == list(map(_facts, lost))
    assert all(answer.duplicate for answer in answered if isinstance(answer, ReportAnswer))


@pytest.mark.parametrize("name", sorted(BATCHES))
@pytest.mark.accepts("an ambiguous commit is settled, never guessed")
async def test_running_again_leaves_what_running_once_leaves(service: Stand, name: str) -> None:
    await done(service, create(), *map(progress, (1, 2, 3)))
    await done(service, *BATCHES[name])
    left = rows(service.path, "t1")
    await done(service, *BATCHES[name])
    assert rows(service.path, "t1") == left


async def test_progress_is_flushed_once(service: Stand) -> None:
    await done(service, create(), *map(progress, (1, 2, 3)))
    assert await unanswered(service, [flush()]) == ([True], [False])
    assert len(table(service, "task_event_log", "event_id")) == 3


def _facts(outcome: Any) -> Any:
    """What an outcome says about the work itself: the state beside it is that of its moment."""
    if isinstance(outcome, ReportAnswer):
        return replace(outcome, duplicate=False, directives=None)
    if isinstance(outcome, Rejection):
        return outcome.code
    if isinstance(outcome, TaskOpened):
        return outcome.contexts
    return outcome.opened if isinstance(outcome, Created) else outcome
