"""Tickets: one stream each, for viewers that can send neither a header nor a cookie. They hold for thirty seconds."""

from typing import Final

import msgspec
from msgspec import Struct

from milepost.clock import Clock
from milepost.ports.access import Access, OnceCode
from milepost.tokens import secrets

TICKET_MS: Final = 30_000


class Ticket(Struct, frozen=True):
    """A ticket's text, shown once, and until when it opens a stream, in UTC ms."""

    text: str
    expires_at: int


async def make_ticket(access: Access, clock: Clock, session_id: str) -> Ticket:
    """A ticket for the session's owner; it stands for the session and ends with it."""
    secret = secrets.make("mpt")
    expires = clock.now() + TICKET_MS
    await access.add_code(OnceCode("ticket", secret.hash, msgspec.json.encode(session_id), expires))
    return Ticket(secret.text, expires)


async def take_ticket(access: Access, clock: Clock, text: str) -> str | None:
    """The session a ticket stands for; the ticket is used up. None where it was used, has expired or never was."""
    secret = secrets.parse(text, "mpt")
    body = await access.take_code("ticket", secret.hash, clock.now()) if secret else None
    return None if body is None else msgspec.json.decode(body, type=str)
