"""What a route is: how it is called, by whom, what it takes and gives. The OpenAPI document is made from this."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from milepost.api.services import Services

Handler = Callable[[Request, Services], Awaitable[Response]]
Who = Literal["service", "execution", "viewer", "anyone", "insider"]


class Query(Struct, frozen=True):
    """One parameter of a query."""

    name: str
    says: str
    kind: Literal["string", "integer"] = "string"


class Endpoint(Struct, frozen=True):
    """One route. `answers` maps a status to the type of its body, a tuple of types, or None where there is none."""

    method: Literal["GET", "POST", "PUT", "DELETE"]
    path: str
    handler: Handler | None
    says: str
    who: Who
    answers: Mapping[int, Any]
    body: Any = None
    codes: tuple[str, ...] = ()
    query: tuple[Query, ...] = ()
    once: bool = False
    """Whether it takes an Idempotency-Key."""
