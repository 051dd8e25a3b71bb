"""The bodies of successful replies, read without trust: what is not in the expected form is no reply."""

from typing import Any

import msgspec
from msgspec import Struct

from milepost.ports.http import Reply


class Fresh(Struct, frozen=True, rename="camel"):
    """A fresh token and the source epoch that the service has for the attempt now."""

    execution_token: str
    source_epoch: int = 1


class _Results(Struct):
    results: list[dict[str, Any]]


def results(reply: Reply) -> list[dict[str, Any]]:
    """The results of a batch, one for each fact; none where the reply is no answer to a batch."""
    if reply.status != 200:
        return []
    try:
        return msgspec.json.decode(reply.body, type=_Results).results
    except msgspec.DecodeError:
        return []


def fresh(reply: Reply) -> Fresh | None:
    """The fresh token, or None where the reply holds none."""
    if reply.status >= 300:
        return None
    try:
        return msgspec.json.decode(reply.body, type=Fresh)
    except msgspec.DecodeError:
        return None
