"""Claims, on every database: each is one row, changed only by whoever holds its newest token.

Where the database has FOR UPDATE SKIP LOCKED, a claim of one among many rows adds it to its search; a named piece of
work is a single row, for which a conditional update is the same on all.
"""

from typing import Any

from sqlalchemy import BindParameter, bindparam, insert, null, or_, select, update

from milepost.clock import Clock
from milepost.ports.claims import Claim
from milepost.storage.session import Database, Session
from milepost.storage.turn_tables import claim

_WORK: BindParameter[Any] = bindparam("of_work")
_NOW: BindParameter[Any] = bindparam("now")
_UNTIL: BindParameter[Any] = bindparam("until")

KNOWN = select(claim.c.token).where(claim.c.work == _WORK)
ADD = insert(claim).values(work=_WORK, token=bindparam("first"), available_at=_NOW)
TAKE = (
    update(claim)
    .values(token=claim.c.token + 1, holder=bindparam("by"), expires_at=_UNTIL)
    .where(
        claim.c.work == _WORK,
        claim.c.available_at <= _NOW,
        or_(claim.c.holder.is_(None), claim.c.expires_at <= _NOW),
    )
)
# A released claim has no holder: NULL equals nothing, so a token that was given back is refused like a foreign one.
_THEIRS = (
    claim.c.work == _WORK,
    claim.c.holder == bindparam("by"),
    claim.c.token == bindparam("of_token"),
    claim.c.expires_at > _NOW,
)
RENEW = update(claim).values(expires_at=_UNTIL).where(*_THEIRS)
GIVE_BACK = update(claim).values(holder=null(), expires_at=null(), available_at=bindparam("rested")).where(*_THEIRS)


class SqlClaims:
    """The port's claims; `clock` is the database's."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def take(self, work: str, holder: str, lease_ms: int) -> Claim | None:
        """The work with a new token, if it is free."""

        async def taken(session: Session) -> Claim | None:
            now = self._clock.now()
            values = {"of_work": work, "by": holder, "now": now, "until": now + lease_ms, "first": 0}
            if not await session.rows(KNOWN, values):
                await session.run(ADD, values)
            if await session.run(TAKE, values) != 1:
                return None
            ((token,),) = await session.rows(KNOWN, values)
            return Claim(work, holder, token, now + lease_ms)

        return await self._database.write(taken)

    async def renew(self, claim: Claim, lease_ms: int) -> Claim | None:
        """The same claim for longer, if it still holds."""

        async def renewed(session: Session) -> Claim | None:
            now = self._clock.now()
            values = {**_of(claim), "now": now, "until": now + lease_ms}
            if await session.run(RENEW, values) != 1:
                return None
            return Claim(claim.work, claim.holder, claim.token, now + lease_ms)

        return await self._database.write(renewed)

    async def complete(self, claim: Claim, rest_ms: int) -> bool:
        """Gives the work back to rest."""
        return await self._give_back(claim, rest_ms)

    async def release(self, claim: Claim) -> bool:
        """Gives the work back at once."""
        return await self._give_back(claim, 0)

    async def _give_back(self, claim: Claim, rest_ms: int) -> bool:
        async def given(session: Session) -> bool:
            now = self._clock.now()
            return await session.run(GIVE_BACK, {**_of(claim), "now": now, "rested": now + rest_ms}) == 1

        return await self._database.write(given)


def _of(claim: Claim) -> dict[str, Any]:
    return {"of_work": claim.work, "by": claim.holder, "of_token": claim.token}
