"""Requests in, answers out: bounded bodies, bearer tokens, JSON and problems."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive

from milepost.usecases.identity import SESSION_COOKIE
from milepost.wire.json import converted, normalised, parse
from milepost.wire.problems import MEDIA_TYPE, Rejection, problem_json, status_of

BODY: Final = 256 * 1024
BATCH_BODY: Final = 4 * 1024 * 1024

BROKEN: Final = Rejection("INTERNAL", "Something broke here; it has been logged.")
AWAY: Final = Rejection("UNAVAILABLE", "The database is not available; send the same request again.", retry_after=1)

_encode: Final = msgspec.json.Encoder().encode


def json_response(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A value of one of the wire's types as an answer."""
    return Response(_encode(value), status, headers, "application/json")


def problem_response(rejection: Rejection, headers: Mapping[str, str] | None = None) -> Response:
    """A rejection as `application/problem+json`."""
    more = {} if rejection.retry_after is None else {"retry-after": str(rejection.retry_after)}
    if status_of(rejection.code) == 401:
        more["www-authenticate"] = "Bearer"
    return Response(problem_json(rejection), status_of(rejection.code), {**more, **(headers or {})}, MEDIA_TYPE)


async def read_body(receive: Receive, declared: bytes | str | None, limit: int = BODY) -> bytes:
    """The whole body. Raises `Rejection` TOO_LARGE as soon as it is known to pass `limit` bytes, else JSON_INVALID."""
    if declared is not None and not _within(declared, limit):
        raise _too_large(limit)
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":  # what has come so far may be valid by chance
            raise Rejection("JSON_INVALID", "The body ended before it was complete.")
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > limit:
            raise _too_large(limit)
        if not message.get("more_body"):
            return parts[0] if len(parts) == 1 else b"".join(parts)


def _within(declared: bytes | str, limit: int) -> bool:
    return declared.isascii() and declared.isdigit() and len(declared) <= 19 and int(declared) <= limit


def _too_large(limit: int) -> Rejection:
    return Rejection("TOO_LARGE", f"The body is limited to {limit // 1024} KiB.")


async def read_json(request: Request, shape: type[Any], *, empty: Any = None) -> Any:
    """The body as one of the wire's types; `empty` stands for an absent body where that is allowed."""
    body = await read_body(request.receive, request.headers.get("content-length"))
    if not body and empty is not None:
        return empty
    return converted(normalised(parse(body)), shape)


def bearer(request: Request) -> str | None:
    """The token of the Authorization header, if there is one."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" and token else None


def viewer_token(request: Request) -> str | None:
    """The bearer or the cookie of a person."""
    return bearer(request) or request.cookies.get(SESSION_COOKIE)


def idempotency_key(request: Request) -> str | None:
    """The Idempotency-Key header. Raises `Rejection` FIELD_INVALID where it is no sensible key."""
    key = request.headers.get("idempotency-key")
    if key is not None and not (0 < len(key) <= 128 and key.isascii() and key.isprintable()):
        raise Rejection.at("/headers/Idempotency-Key", "FIELD_INVALID", "A key has 1 to 128 printable characters.")
    return key


def number(request: Request, name: str, default: int, least: int, most: int) -> int:
    """A whole number of the query. Raises `Rejection` FIELD_INVALID outside `least`…`most`."""
    text = request.query_params.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= 19 and least <= int(text) <= most):
        raise Rejection.at(f"/query/{name}", "FIELD_INVALID", f"{name} is a whole number from {least} to {most}.")
    return int(text)
