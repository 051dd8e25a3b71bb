"""Removes what is no longer needed, in portions so small that nobody waits for one."""

from typing import NamedTuple, Protocol


class AnswerPlace(NamedTuple):
    """Where a walk over remembered answers goes on: behind this one."""

    created_at: int
    tenant_id: str
    event_id: str


class Swept(NamedTuple):
    """How many rows one portion removed, and where to go on; None at the end of the walk."""

    removed: int
    next: AnswerPlace | None


class Retention(Protocol):
    """Each method is one portion in a transaction of its own; times are UTC ms. All raise `Unavailable`."""

    async def trim_stream(self, tenant_id: str, before: int, limit: int) -> int:
        """Removes up to `limit` of a tenant's oldest entries committed before `before`; how many.

        Only from the low end: the stream's floor moves in the same transaction, to the newest removed position.
        """
        ...

    async def forget_answers(self, after: AnswerPlace | None, before: int, limit: int) -> Swept:
        """Looks at up to `limit` remembered answers and removes those whose task ended before `before`."""
        ...

    async def drop_codes(self, before: int, limit: int) -> int:
        """Removes one-time codes that expired before `before`; how many."""
        ...

    async def drop_sessions(self, before: int, limit: int) -> int:
        """Removes user sessions that expired before `before`; how many."""
        ...

    async def drop_spans(self, before: int, limit: int) -> int:
        """Removes what is known of listening before `before`; how many spans."""
        ...
