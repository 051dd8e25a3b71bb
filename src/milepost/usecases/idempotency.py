"""Idempotent commands: the same key and body again answer the same facts; another body under the key is refused."""

import hashlib
from typing import Any, Final

import msgspec
from msgspec import Struct

from milepost.ports.storage import CommandResult, ResultKey
from milepost.usecases.ledger import Ledger
from milepost.wire.problems import Rejection

_canonical: Final = msgspec.json.Encoder(order="sorted").encode


class Caller(Struct, frozen=True):
    """Who sends a command: `identity` is the credential's id, or `user:…` for a person, and `name` goes into events."""

    identity: str
    name: str


class Once(Struct, frozen=True):
    """A command's idempotency key, where it has one, and the hash of its body."""

    key: ResultKey | None
    body_hash: bytes

    @classmethod
    def of(cls, tenant_id: str, caller: Caller, key: str | None, body: Any) -> "Once":
        """The key in the scope of this tenant and caller, with the hash of a body of one of the wire's types."""
        scoped = None if key is None else ResultKey(tenant_id, caller.identity, key)
        return cls(scoped, hashlib.sha256(_canonical(body)).digest())

    def before(self, ledger: Ledger) -> CommandResult | Rejection | None:
        """What the command answered the first time, the refusal of another body, or None where it is new."""
        found = ledger.result(self.key) if self.key else None
        if found is not None and found.body_hash != self.body_hash:
            return Rejection("IDEMPOTENCY_KEY_CONFLICT", "This key was used with another body.")
        return found

    def keep(self, ledger: Ledger, task_id: str, answer: Any) -> None:
        """Remembers the answer under the key, if there is one."""
        if self.key is not None:
            encoded = msgspec.json.encode(answer)
            ledger.keep(CommandResult(*self.key, self.body_hash, task_id, encoded, ledger.now))
