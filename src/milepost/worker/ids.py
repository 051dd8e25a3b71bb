"""Brings foreign identifiers in (mail addresses, run ids with colons) by the one reversible rule of the service."""

from milepost.wire.ids import escaped, readable
from milepost.wire.problems import Rejection


def ours(foreign: str, what: str) -> str:
    """A foreign identifier as one of ours. Raises `ValueError` if it is empty or too long."""
    try:
        return escaped(foreign)
    except Rejection as rejection:
        raise ValueError(f"{what}: {rejection.detail}") from None


def theirs(identifier: str) -> str:
    """The identifier as its owner wrote it."""
    return readable(identifier)
