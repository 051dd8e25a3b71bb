"""The one way in: every command and every fact is committed by the same five phases, on a batch.

A single request is a batch of one, so committing many together is no second path. Phases: lock, read, decide in memory,
write, number the stream. Storage may run this function again from its first line; it keeps nothing between runs.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from milepost.domain.state import TaskKey, TaskState
from milepost.ports.storage import Transaction, Wanted
from milepost.ports.stream import Committed
from milepost.usecases.ledger import Ledger


class Work(Protocol):
    """One command or fact. It is stateless: deciding it twice on the same ledger state gives the same outcome."""

    @property
    def key(self) -> TaskKey:
        """The task it is about."""
        ...

    def wanted(self, state: TaskState | None) -> Wanted:
        """What its decision depends on besides the task's rows; `state` is the task as it was locked."""
        ...

    def decide(self, ledger: Ledger) -> object:
        """Decides and records the effects on the ledger; the answer, or a `Rejection` as a value."""
        ...


async def commit(tx: Transaction, works: Sequence[Work]) -> tuple[list[object], list[Committed]]:
    """Decides `works` in order and writes what they leave behind: one outcome each, and what readers may be told."""
    held = await tx.lock(sorted({work.key for work in works}))
    known = await tx.read(_wanted(works, held))
    ledger = Ledger(held, known)
    outcomes = [work.decide(ledger) for work in works]
    first = await tx.write(ledger.writes())
    return outcomes, ledger.committed(first)


def _wanted(works: Sequence[Work], held: Mapping[TaskKey, TaskState]) -> Wanted:
    parts = [work.wanted(held.get(work.key)) for work in works]
    return Wanted(
        events=sorted({key for part in parts for key in part.events}),
        sequences=sorted({key for part in parts for key in part.sequences}, key=repr),
        results=sorted({key for part in parts for key in part.results}),
        definitions=sorted({one for part in parts for one in part.definitions}),
    )
