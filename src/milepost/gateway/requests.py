"""What a request for a stream says: who asks, and where to go on from."""

from urllib.parse import parse_qs

from starlette.types import Scope, Send

from milepost.gateway.replay import Cursor
from milepost.usecases.identity import SESSION_COOKIE
from milepost.wire.numbers import parse_cursor
from milepost.wire.problems import MEDIA_TYPE, Rejection, problem_json, status_of

UNREADABLE: Cursor = ("", 0)
"""A cursor of no epoch: a viewer that held one which cannot be read is told to take a snapshot."""


def token(scope: Scope) -> str | None:
    """The bearer, else the session's cookie, else None."""
    authorization = _header(scope, b"authorization")
    if authorization is not None:
        scheme, _, rest = authorization.partition(" ")
        if scheme.lower() == "bearer" and rest:
            return rest.strip()
    for part in (_header(scope, b"cookie") or "").split(";"):
        name, _, value = part.strip().partition("=")
        if name == SESSION_COOKIE:
            return value
    return None


def place(scope: Scope) -> Cursor | None:
    """Where the viewer wants to go on from; None for one that starts.

    `Last-Event-ID` wins over `?after=`. A browser sends that header by itself and gives its stream up for good on any
    refusal, so one that is no cursor asks for a snapshot; `?after=` was written by a program, so there it raises
    `Rejection` FIELD_INVALID.
    """
    last = _header(scope, b"last-event-id")
    if last:
        return parse_cursor(last) or UNREADABLE
    given = _query(scope, "after")
    if given is None:
        return None
    found = parse_cursor(given)
    if found is None:
        raise Rejection.at("/after", "FIELD_INVALID", "A cursor is an epoch, a colon and a position.")
    return found


def ticket(scope: Scope) -> str | None:
    """The one-time ticket of `?ticket=`; None where there is none."""
    return _query(scope, "ticket")


def _query(scope: Scope, name: str) -> str | None:
    """The last value under this name; an empty one where the query cannot be read."""
    query = scope.get("query_string", b"").decode("latin-1")
    try:
        given = parse_qs(query, keep_blank_values=True, max_num_fields=20).get(name)
    except ValueError:
        return ""
    return None if given is None else given[-1]


async def refuse(send: Send, rejection: Rejection) -> None:
    """Answers with the problem."""
    body = problem_json(rejection)
    status = status_of(rejection.code)
    headers = [(b"content-type", MEDIA_TYPE.encode()), (b"content-length", str(len(body)).encode())]
    headers.append((b"cache-control", b"no-store"))
    if rejection.retry_after is not None:
        headers.append((b"retry-after", str(rejection.retry_after).encode()))
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _header(scope: Scope, name: bytes) -> str | None:
    for key, value in scope["headers"]:
        if key == name:
            return value.decode("latin-1")
    return None
