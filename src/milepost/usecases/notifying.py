"""The notification centre: what is kept for a person, what that person has read, and wants to be told of."""

import msgspec
from msgspec import Struct

from milepost.clock import Clock
from milepost.domain.events import StreamEntry
from milepost.domain.notices import Preferences
from milepost.ports.notices import Notices, ReadMark
from milepost.ports.storage import Transaction, Wanted, Writes
from milepost.usecases.telling import Done, told
from milepost.wire.notifications import MarkedRead, MarkRead, NotificationList, ReadBody, notification_view
from milepost.wire.numbers import cursor, instant, parse_cursor
from milepost.wire.problems import Rejection


class Marking(Struct, frozen=True):
    """The command: these notifications of one user were read. Doing it again marks none and tells nobody."""

    tenant_id: str
    user_id: str
    ids: tuple[str, ...] | None
    up_to: str | None

    @classmethod
    def of(cls, tenant_id: str, user_id: str, body: MarkRead) -> "Marking":
        """The command a body asks for. Raises `Rejection` FIELD_INVALID unless it says exactly one thing."""
        if (body.ids is None) == (body.up_to is None):
            raise Rejection.at("/ids", "FIELD_INVALID", "Give either ids or upTo.")
        if body.up_to is not None and parse_cursor(body.up_to) is None:
            raise Rejection.at("/upTo", "FIELD_INVALID", "A cursor has the form epoch:position.")
        return cls(tenant_id, user_id, body.ids, body.up_to)

    async def __call__(self, tx: Transaction) -> Done[MarkedRead]:
        """Raises `Rejection` CURSOR_EXPIRED for a cursor of another epoch, whose positions mean nothing here."""
        known = await tx.read(Wanted())
        epoch, place = parse_cursor(self.up_to or "") or (known.epoch, None)
        if epoch != known.epoch:
            raise Rejection("CURSOR_EXPIRED", "The database has begun another epoch; read the list again.")
        mark = ReadMark(self.tenant_id, self.user_id, known.now, self.ids or (), place)
        marked = await tx.mark_read(mark)
        if not marked:
            return MarkedRead(0), None
        body = msgspec.json.encode(ReadBody(self.ids, self.up_to)).decode()
        entry = StreamEntry(self.tenant_id, "notice.read", known.now, audience_user=self.user_id, body=body)
        first = await tx.write(Writes(entries=[entry]))
        return MarkedRead(marked), told(self.tenant_id, known.epoch, first, [entry])


class Centre:
    """Reads the notification centre for its owner."""

    def __init__(self, notices: Notices, clock: Clock) -> None:
        self._notices = notices
        self._clock = clock

    async def page(
        self, tenant_id: str, user_id: str, *, unread: bool, after: str | None, limit: int
    ) -> NotificationList:
        """One page, newest first. Raises `Rejection` FIELD_INVALID for what is no cursor of this list."""
        place = None if after is None else parse_cursor(after)
        if after is not None and place is None:
            raise Rejection.at("/query/cursor", "FIELD_INVALID", "Not a cursor of this list.")
        before = place[1] if place else None
        page = await self._notices.page(tenant_id, user_id, unread=unread, before=before, limit=limit)
        return NotificationList(
            items=tuple(notification_view(kept) for kept in page.items),
            next_cursor=cursor(page.epoch, page.items[-1].position) if page.more else None,
            unread_count=page.unread,
            as_of=instant(self._clock.now()),
            epoch=page.epoch,
            stream_cursor=cursor(page.epoch, page.cursor),
        )

    async def preferences(self, tenant_id: str, user_id: str) -> Preferences:
        """What a person wants to be told of."""
        return await self._notices.preferences(tenant_id, user_id)

    async def prefer(self, tenant_id: str, user_id: str, preferences: Preferences) -> None:
        """Replaces it."""
        await self._notices.prefer(tenant_id, user_id, preferences, self._clock.now())
