"""Work that one process does at a time, wherever it is started: it is claimed, done under a lease, and given back."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from msgspec import Struct

from milepost.ports.claims import Claim, Claims
from milepost.roles.loop import Step


class Turn:
    """One claim while it is worked under."""

    def __init__(self, claims: Claims, claim: Claim, lease_ms: int) -> None:
        self._claims = claims
        self._lease_ms = lease_ms
        self.claim = claim
        self.fenced = False

    async def still(self) -> bool:
        """Whether the work is still this process's; prolongs the lease. False for good once it is not."""
        renewed = None if self.fenced else await self._claims.renew(self.claim, self._lease_ms)
        if renewed is None:
            self.fenced = True
            return False
        self.claim = renewed
        return True


Taken: TypeAlias = Callable[[Turn], Awaitable[bool]]
"""Does one portion of claimed work; True where more is waiting."""


class Terms(Struct, frozen=True):
    """How long a lease lasts unless it is renewed, and how long the work rests when nothing more is waiting (ms)."""

    lease_ms: int
    rest_ms: int


def in_turn(
    claims: Claims, work: str, holder: str, terms: Terms, portion: Taken, fenced: Callable[[str], None]
) -> Step:
    """A step for a loop that does nothing while another process holds the work; `fenced` counts every lost lease."""

    async def step() -> bool:
        claim = await claims.take(work, holder, terms.lease_ms)
        if claim is None:
            return False
        turn = Turn(claims, claim, terms.lease_ms)
        try:
            more = await portion(turn)
        except BaseException:
            await claims.release(turn.claim)
            raise
        kept = not turn.fenced and await claims.complete(turn.claim, 0 if more else terms.rest_ms)
        if not kept:
            fenced(work)
        return more and kept

    return step
