"""Execution tokens: compact JWTs (RFC 7519, HS256) that bind a reporter to one attempt of one step.

Only this service reads them, so one algorithm, one header shape and a known `kid` are all that is taken.
"""

import binascii
import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Final, Literal, TypeVar

import msgspec
from msgspec import Struct

from milepost.tokens.keys import KeyRing, SigningKey

MAX_TOKEN: Final = 4096
"""The longest token that is looked at, in characters."""

_REMEMBERED: Final = 20_000
T = TypeVar("T")


class TokenInvalid(Exception):
    """A token this service did not make, or not in this form."""


class TokenExpired(Exception):
    """A genuine token whose time is over: its holder fetches a new one and sends the same event again."""


class Claims(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """What a token is bound to. `iat` and `exp` are whole seconds since 1970, as JWT has them."""

    tenant_id: str
    task_id: str
    task_type: str
    task_attempt: int
    step_id: str
    operation_code: str
    step_attempt: int
    producer_id: str
    source_epoch: int
    event_types: tuple[str, ...]
    definition_version: int
    iat: int
    exp: int
    definition_id: str | None = None


class _Header(Struct, frozen=True, forbid_unknown_fields=True):
    alg: Literal["HS256"]
    kid: str
    typ: Literal["JWT"] = "JWT"


_claims = msgspec.json.Decoder(Claims)
_header = msgspec.json.Decoder(_Header)


class ExecutionTokens:
    """Signs and verifies with the keys of one ring. Remembers what it verified, so a repeated token costs a look-up."""

    def __init__(self, ring: KeyRing, *, remember: int = _REMEMBERED) -> None:
        self._ring = ring
        self._prefix = _encode(msgspec.json.encode(_Header("HS256", ring.current.kid))) + b"."
        self._known: dict[str, Claims] = {}
        self._remember = remember

    def sign(self, claims: Claims) -> str:
        """A token for these claims, under the current key."""
        signed = self._prefix + _encode(msgspec.json.encode(claims))
        return (signed + b"." + _signature(self._ring.current, signed)).decode()

    def verify(self, token: str, now: int) -> Claims:
        """The claims of a genuine token that is good at `now` (UTC ms). Raises `TokenInvalid` or `TokenExpired`."""
        claims = self._known.get(token) or self._learn(token)
        if claims.exp * 1000 <= now:
            raise TokenExpired
        return claims

    def _learn(self, token: str) -> Claims:
        claims = self._open(token)
        if len(self._known) >= self._remember:
            self._known.pop(next(iter(self._known)))
        self._known[token] = claims
        return claims

    def _open(self, token: str) -> Claims:
        if len(token) > MAX_TOKEN or not token.isascii():
            raise TokenInvalid
        signed, _, signature = token.encode().rpartition(b".")
        header, _, payload = signed.partition(b".")
        key = self._ring.find(_decode(_header, header).kid)
        # Comparing the encoded form also refuses other spellings of the same signature.
        if key is None or not hmac.compare_digest(_signature(key, signed), signature):
            raise TokenInvalid
        return _decode(_claims, payload)


def _signature(key: SigningKey, signed: bytes) -> bytes:
    return _encode(hmac.digest(key.secret, signed, "sha256"))


def _encode(raw: bytes) -> bytes:
    return urlsafe_b64encode(raw).rstrip(b"=")


def _decode(decoder: msgspec.json.Decoder[T], text: bytes) -> T:
    try:
        return decoder.decode(urlsafe_b64decode(text + b"=" * (-len(text) % 4)))
    except (binascii.Error, ValueError):
        raise TokenInvalid from None
