"""An execution context: what a worker must hold to report on one attempt of one step."""

from typing import Any

import msgspec
from msgspec import Struct


class Context(Struct, frozen=True, kw_only=True, rename="camel"):
    """One step attempt with its execution token. A value: it may travel to another process as JSON.

    Whoever holds it may report on this attempt until the token expires, so treat it as a secret.
    """

    tenant_id: str
    task_id: str
    task_type: str
    task_attempt: int
    step_id: str
    operation_code: str
    step_attempt: int
    producer_id: str
    execution_token: str
    source_epoch: int = 1
    heartbeat_interval_ms: int = 10_000

    def to_json(self) -> str:
        """The context as one line of JSON."""
        return msgspec.json.encode(self).decode()

    @classmethod
    def from_json(cls, text: str | bytes) -> "Context":
        """Reads what `to_json` wrote, and the contexts of the service. Raises `ValueError` for anything else."""
        return msgspec.json.decode(text, type=cls)

    @classmethod
    def of(cls, body: Any) -> "Context":
        """The same from JSON that was parsed already. Raises `ValueError`."""
        return msgspec.convert(body, type=cls)

    def __repr__(self) -> str:
        # The token is a secret and must not reach a log by way of a repr.
        return f"Context({self.task_id}/{self.step_id}, attempt {self.step_attempt}, {self.producer_id})"
