"""What a conversation over HTTP is made of, as values: cores build requests and judge replies, drivers carry them."""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field

Method = Literal["GET", "POST", "PUT", "DELETE"]


class Request(Struct, frozen=True):
    """One request. `path` begins with `/` and holds the query; header names are lower case."""

    method: Method
    path: str
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


class Reply(Struct, frozen=True):
    """One complete reply; header names are lower case."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


class Unreachable(Struct, frozen=True):
    """No reply: refused, cut, too slow. Whether the request was carried out is unknown."""

    reason: str


Outcome = Reply | Unreachable
