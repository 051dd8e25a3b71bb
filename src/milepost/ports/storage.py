"""What a database must do so that a decision is committed as one fact, or not at all.

A use case is a coroutine over a `Transaction`. Storage runs it, commits, and runs it again from its first line after a
deadlock, a serialization failure or a COMMIT that was never answered: the lock then waits for the old session's fate
and the remembered answers tell. Such a coroutine therefore reads everything from the transaction and changes nothing
else.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeVar

from msgspec import Struct, field

from milepost.domain.events import Event, Evidence, StreamEntry
from milepost.domain.facts import Fact
from milepost.domain.lifecycle import STEP_FACTS
from milepost.domain.notices import Notification
from milepost.domain.state import Step, Task, TaskKey, TaskState
from milepost.ports.access import AuditEntry, Membership
from milepost.ports.notices import Broadcast, ReadMark

T = TypeVar("T")


class EventKey(NamedTuple):
    """The key of a remembered answer."""

    tenant_id: str
    event_id: str


class SeqKey(NamedTuple):
    """One place in one source's sequence. Task facts have no step; their attempt is the task's, their epoch 0."""

    tenant_id: str
    task_id: str
    step_id: str | None
    attempt: int
    source_epoch: int
    source_seq: int

    @classmethod
    def of(cls, said: Fact | Event) -> "SeqKey | None":
        """The place a fact claims or an event took; None where it has no sequence."""
        if said.source_seq is None:
            return None
        if said.event_type not in STEP_FACTS:
            return cls(said.tenant_id, said.task_id, None, said.task_attempt, 0, said.source_seq)
        attempt, epoch = said.step_attempt or 0, said.source_epoch or 0
        return cls(said.tenant_id, said.task_id, said.step_id, attempt, epoch, said.source_seq)


class ResultKey(NamedTuple):
    """The key of a command's result: an idempotency key belongs to a tenant and a credential."""

    tenant_id: str
    credential_id: str
    idempotency_key: str


class StepKey(NamedTuple):
    """One attempt of one step."""

    tenant_id: str
    task_id: str
    step_id: str
    attempt: int


class Remembered(Struct, frozen=True):
    """The first answer given to an event id, as JSON, and the hash of what the event said."""

    tenant_id: str
    event_id: str
    payload_hash: bytes
    answer: bytes
    created_at: int


class CommandResult(Struct, frozen=True):
    """What a command answered the first time, as JSON without tokens, and the hash of its body."""

    tenant_id: str
    credential_id: str
    idempotency_key: str
    body_hash: bytes
    task_id: str
    answer: bytes
    created_at: int


class Wanted(Struct, frozen=True):
    """What a decision depends on besides the locked rows.

    Definitions are immutable, so `definitions` names only those this process has not met before.
    """

    events: Sequence[EventKey] = ()
    sequences: Sequence[SeqKey] = ()
    results: Sequence[ResultKey] = ()
    definitions: Sequence[str] = ()


class Known(Struct, frozen=True):
    """What phase 2 found. `now` is the database's clock in UTC ms, read once; it is the decision's only clock."""

    now: int
    epoch: str
    answers: Mapping[EventKey, Remembered]
    owners: Mapping[SeqKey, str]
    results: Mapping[ResultKey, CommandResult]
    definitions: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    """Documents by the id of their definition."""


class Writes(Struct):
    """Everything one batch leaves behind. `tasks` and `steps` hold final rows, each key once; `entries` are in order.

    `new_tasks` and `new_steps` are inserted, `tasks` and `steps` updated; a key is in one of the two lists only.
    """

    new_tasks: list[Task] = field(default_factory=list[Task])
    tasks: list[Task] = field(default_factory=list[Task])
    new_steps: list[Step] = field(default_factory=list[Step])
    steps: list[Step] = field(default_factory=list[Step])
    events: list[Event] = field(default_factory=list[Event])
    evidence: list[Evidence] = field(default_factory=list[Evidence])
    answers: list[Remembered] = field(default_factory=list[Remembered])
    results: list[CommandResult] = field(default_factory=list[CommandResult])
    entries: list[StreamEntry] = field(default_factory=list[StreamEntry])
    audits: list[AuditEntry] = field(default_factory=list[AuditEntry])
    notifications: list[Notification] = field(default_factory=list[Notification])
    """Each belongs to the entry of its task and version, and takes that entry's position."""
    memberships: list[Membership] = field(default_factory=list[Membership])
    broadcasts: list[Broadcast] = field(default_factory=list[Broadcast])


class Transaction(Protocol):
    """One open transaction, used in its phases: lock, read, (decide in memory), write."""

    async def lock(self, keys: Sequence[TaskKey]) -> dict[TaskKey, TaskState]:
        """Phase 1: locks the task rows in key order, then their current steps; what does not exist is absent."""
        ...

    async def look(self, keys: Sequence[TaskKey]) -> dict[TaskKey, TaskState]:
        """The same rows without a lock, for what writes no version."""
        ...

    async def read(self, wanted: Wanted) -> Known:
        """Phase 2: in statements of their own, after the lock, all that the decision depends on."""
        ...

    async def write(self, writes: Writes) -> dict[str, int]:
        """Phases 4 and 5: writes everything, numbers the entries last; the first new position of each tenant.

        Tenants are taken in sorted order. A task's `last_position` becomes that of its newest entry.
        """
        ...

    async def members(self, tenant_id: str, project_id: str) -> frozenset[str] | None:
        """Locks a project's members; None while sessions' claims decide about it."""
        ...

    async def claimants(self, tenant_id: str, project_id: str, now: int) -> frozenset[str]:
        """The users of sessions in force that claim a project."""
        ...

    async def mark_read(self, mark: ReadMark) -> int:
        """Marks a user's notifications; how many of them were unread."""
        ...

    async def forget_results(self, tenant_id: str, before: int) -> None:
        """Forgets the results of commands about no task that were given before this instant (UTC ms)."""
        ...

    async def touch(self, steps: Sequence[StepKey], now: int) -> None:
        """Records a sign of life of attempts that have not ended; moves nothing else and never goes back in time."""
        ...


class Storage(Protocol):
    """Runs use cases in transactions and knows which life of the database this is."""

    async def transaction(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        """Runs `work` and commits. Raises `Unavailable` if the database cannot be had in time; then nothing is done."""
        ...

    async def epoch(self) -> str:
        """The epoch of the database as this process knows it."""
        ...

    async def renew_epoch(self, seen: str) -> str:
        """Starts a new epoch unless another process has already replaced `seen`; the epoch that holds now."""
        ...


class Unavailable(Exception):
    """The database could not be reached or a lock not be had in time; the same request may be sent again."""


class UnknownTenant(LookupError):
    """Something was to be written into a stream that nobody made; its only argument is the tenant's id."""
