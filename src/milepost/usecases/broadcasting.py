"""Tells something to many: a project, a tenant, everyone. One entry or row each, however many listen."""

from datetime import datetime
from typing import Final

import msgspec
from msgspec import Struct

from milepost.domain.events import StreamEntry
from milepost.ports.notices import Broadcast
from milepost.ports.storage import CommandResult, Known, Transaction, Wanted, Writes
from milepost.usecases.idempotency import Once
from milepost.usecases.telling import Done, told
from milepost.wire.notifications import BroadcastBody, BroadcastMade, CreateBroadcast
from milepost.wire.numbers import instant, milliseconds
from milepost.wire.problems import Rejection
from milepost.wire.texts import clean

DAY_MS: Final = 86_400_000
KEPT_MS: Final = 30 * DAY_MS
"""How long the result under an idempotency key is kept."""
LONGEST_MS: Final = 366 * DAY_MS
EVERYONE: Final = ""
"""Stands for the tenant in the key of a broadcast to everyone; no tenant has this id."""


class Made(Struct, frozen=True):
    """A broadcast that was made now (`new`) or by an earlier request under the same key."""

    answer: BroadcastMade
    new: bool


class Announce(Struct, frozen=True):
    """The command. `broadcast_id` was chosen once, so that a run again says the same."""

    tenant_id: str
    once: Once
    body: CreateBroadcast
    broadcast_id: str
    valid_until: int | None

    @classmethod
    def of(cls, tenant_id: str, once: Once, body: CreateBroadcast, made_id: str, now: int) -> "Announce":
        """The command a body asks for. Raises `Rejection` FIELD_INVALID."""
        if (body.audience == "project") != (body.project_id is not None):
            raise Rejection.at(
                "/projectId", "FIELD_INVALID", "A project is named by broadcasts to one, and only by them."
            )
        until = None if body.valid_until is None else _moment(body.valid_until)
        if until is not None and not now < until <= now + LONGEST_MS:
            raise Rejection.at("/validUntil", "FIELD_INVALID", "It holds from now on, for a year at most.")
        return cls(tenant_id, once, body, body.id or made_id, until)

    async def __call__(self, tx: Transaction) -> Done[Made]:
        """Raises `Rejection` IDEMPOTENCY_KEY_CONFLICT."""
        known = await tx.read(Wanted(results=(self.once.key,) if self.once.key else ()))
        before = self._before(known)
        if before is not None:
            return Made(before, new=False), None
        until = self.valid_until if self.valid_until is not None else known.now + DAY_MS
        await tx.forget_results(self.tenant_id, known.now - KEPT_MS)
        entries = [] if self.body.audience == "system" else [self._entry(until, known.now)]
        answer = BroadcastMade(self.broadcast_id, instant(until), instant(known.now))
        writes = Writes(
            entries=entries, broadcasts=self._row(until, known.now), results=self._result(answer, known.now)
        )
        first = await tx.write(writes)
        return Made(answer, new=True), told(self.tenant_id, known.epoch, first, entries)

    def _before(self, known: Known) -> BroadcastMade | None:
        found = known.results.get(self.once.key) if self.once.key else None
        if found is None:
            return None
        if found.body_hash != self.once.body_hash:
            raise Rejection("IDEMPOTENCY_KEY_CONFLICT", "This key was used with another body.")
        return msgspec.json.decode(found.answer, type=BroadcastMade)

    def _result(self, answer: BroadcastMade, now: int) -> list[CommandResult]:
        if self.once.key is None:
            return []
        return [CommandResult(*self.once.key, self.once.body_hash, "", msgspec.json.encode(answer), now)]

    def _entry(self, until: int, now: int) -> StreamEntry:
        said = BroadcastBody(
            self.broadcast_id, self.body.level, clean(self.body.title), clean(self.body.message), instant(until)
        )
        body = msgspec.json.encode(said).decode()
        return StreamEntry(self.tenant_id, "broadcast", now, audience_project=self.body.project_id, body=body)

    def _row(self, until: int, now: int) -> list[Broadcast]:
        if self.body.audience != "system":
            return []
        said = self.body
        return [Broadcast(self.broadcast_id, said.level, clean(said.title), clean(said.message), until, now)]


def _moment(text: str) -> int:
    try:
        return milliseconds(datetime.fromisoformat(text))
    except (ValueError, TypeError):
        raise Rejection.at("/validUntil", "FIELD_INVALID", "An instant is RFC 3339 with an offset.") from None
