"""Opaque secrets: how they are made, recognised and compared. Only their SHA-256 is ever stored.

A secret has 256 bits of chance, so a plain hash needs neither salt nor stretching.
"""

import hashlib
import hmac
import re
import secrets as chance
from typing import Final, Literal

from msgspec import Struct

_SHAPE: Final = re.compile(r"(mp[cslt])_([a-z0-9]{16})_([A-Za-z0-9_-]{43})")


class Secret(Struct, frozen=True):
    """A secret somebody presented or that was just made. Its text never shows in a representation."""

    id: str
    text: str

    def __repr__(self) -> str:
        return f"Secret({self.id})"

    @property
    def hash(self) -> bytes:
        """The SHA-256 that is stored."""
        return hashlib.sha256(self.text.encode()).digest()

    def matches(self, stored: bytes) -> bool:
        """Whether this is the secret whose hash was stored, compared in constant time."""
        return hmac.compare_digest(self.hash, stored)


def make(kind: Literal["mpc", "mps", "mpl", "mpt"]) -> Secret:
    """A new secret: `mpc` a service credential, `mps` a user session, `mpl` a link's code, `mpt` a stream ticket."""
    id_ = chance.token_hex(8)
    return Secret(id_, f"{kind}_{id_}_{chance.token_urlsafe(32)}")


def parse(text: str, kind: Literal["mpc", "mps", "mpl", "mpt"]) -> Secret | None:
    """The secret in a text somebody sent, or None where it does not have the shape of this kind."""
    found = _SHAPE.fullmatch(text) if len(text) <= 128 else None
    return Secret(found[2], text) if found and found[1] == kind else None
