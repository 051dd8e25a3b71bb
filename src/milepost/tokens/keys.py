"""Signing keys: how they are written, made, kept beside an embedded database, and looked up by their id."""

import base64
import binascii
import os
import re
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

_KID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_SHORTEST: Final = 32
_LONGEST: Final = 1024


class KeyInvalid(Exception):
    """A signing key that cannot be used; one line that says why, never the key."""


class SigningKey(Struct, frozen=True):
    """One HMAC key and its id. No representation shows the key."""

    kid: str
    secret: bytes

    def __repr__(self) -> str:
        return f"SigningKey({self.kid})"


class KeyRing:
    """The key that signs, and every key that verifies, by id."""

    def __init__(self, current: SigningKey, previous: Sequence[SigningKey] = ()) -> None:
        self.current = current
        self._keys = {key.kid: key for key in (*previous, current)}
        if len(self._keys) != len(previous) + 1:
            raise KeyInvalid("two signing keys have the same kid; give the new one another name")

    def find(self, kid: str) -> SigningKey | None:
        """The key of this id, or None."""
        return self._keys.get(kid)

    def __repr__(self) -> str:
        return f"KeyRing({', '.join(self._keys)})"


def parse_key(text: str) -> SigningKey:
    """A key written as `kid:base64` of 32 bytes or more. Raises `KeyInvalid`."""
    kid, separator, encoded = text.strip().partition(":")
    if not separator or not _KID.fullmatch(kid):
        raise KeyInvalid("a signing key is written kid:base64; the kid is 1 to 64 of A-Z a-z 0-9 . _ -")
    try:
        secret = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise KeyInvalid(f"the signing key {kid} is not base64") from None
    if not _SHORTEST <= len(secret) <= _LONGEST:
        raise KeyInvalid(f"the signing key {kid} has {len(secret)} bytes; at least {_SHORTEST} are needed")
    return SigningKey(kid, secret)


def new_key(kid: str | None = None) -> str:
    """A fresh random key of 32 bytes, as `kid:base64`."""
    return f"{kid or 'k' + secrets.token_hex(4)}:{base64.b64encode(secrets.token_bytes(_SHORTEST)).decode()}"


def load_or_make(file: Path) -> SigningKey:
    """The key kept in this file; a fresh one (mode 0600) where there is none. Safe among processes that start at once.

    Raises `KeyInvalid` for a file that holds no key, `OSError` where it can be neither read nor made.
    """
    if not file.exists():
        _publish(file, new_key() + "\n")
    with file.open("rb") as opened:
        held = opened.read(4 * _LONGEST)
    try:
        return parse_key(held.decode("ascii"))
    except UnicodeDecodeError:
        raise KeyInvalid(f"{file} holds no signing key") from None
    except KeyInvalid as error:
        raise KeyInvalid(f"{file}: {error}") from None


def _publish(file: Path, text: str) -> None:
    """Writes a file that appears whole or not at all, unless another process was first."""
    draft = file.with_name(f"{file.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with open(descriptor, "w", encoding="ascii") as opened:  # noqa: PTH123  the descriptor carries the mode
            opened.write(text)
            opened.flush()
            os.fsync(opened.fileno())
        # A link, unlike a rename, fails where the name is taken: the first process wins and all read its key.
        os.link(draft, file)
        _sync(file.parent)
    except FileExistsError:
        pass
    finally:
        draft.unlink(missing_ok=True)


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
