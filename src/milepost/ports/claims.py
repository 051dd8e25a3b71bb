"""Claims: a named piece of work is held by one at a time, for as long as its lease lasts by the database's clock.

A claim carries a fencing token that only grows. Whoever lets a lease run out has lost it: its token renews, completes
and releases nothing any more, even where nobody has taken the work over.
"""

from typing import Protocol

from msgspec import Struct


class Claim(Struct, frozen=True):
    """One holder's hold on a piece of work. `expires_at` in UTC ms by the database's clock."""

    work: str
    holder: str
    token: int
    expires_at: int


class Claims(Protocol):
    """Each method is a transaction of its own, committed before it answers: no task lock is ever taken inside one."""

    async def take(self, work: str, holder: str, lease_ms: int) -> Claim | None:
        """The work with a new token; None while another lease lasts or the work rests. Raises `Unavailable`."""
        ...

    async def renew(self, claim: Claim, lease_ms: int) -> Claim | None:
        """The same claim, lasting `lease_ms` from now; None where it is no longer this holder's."""
        ...

    async def complete(self, claim: Claim, rest_ms: int) -> bool:
        """Gives the work back, done: nobody takes it for `rest_ms`. False where it is no longer this holder's."""
        ...

    async def release(self, claim: Claim) -> bool:
        """Gives the work back, undone: whoever comes next may take it at once. False as above."""
        ...
