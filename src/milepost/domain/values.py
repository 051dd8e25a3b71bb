"""Small frozen values shared by facts and by the state they lead to.

All instants are integer milliseconds since 1970-01-01 UTC; all durations are integer milliseconds.
"""

from typing import Any, Literal, TypeAlias

from msgspec import Struct

ErrorCategory: TypeAlias = Literal["BUSINESS_INPUT", "DEPENDENCY", "TIMEOUT", "QUOTA", "SYSTEM", "CANCELLED", "UNKNOWN"]
DurationSource: TypeAlias = Literal["MONOTONIC", "WALL_CLOCK_ESTIMATE"]
Number: TypeAlias = int | float


class Progress(Struct, frozen=True, omit_defaults=True):
    """How far one step is: `current` of `total` units; a total may be unknown."""

    current: Number
    total: Number | None = None
    unit: str | None = None

    @property
    def fraction(self) -> float:
        """The share that is done, 0 to 1; 0 where no total is known."""
        return min(1.0, self.current / self.total) if self.total else 0.0


class Data(Struct, frozen=True):
    """A typed payload: the name of its schema and the value that was validated against it."""

    schema: str
    value: Any


class StructuredError(Struct, frozen=True, omit_defaults=True):
    """Why an attempt failed. `diagnostics_ref` never reaches a browser."""

    category: ErrorCategory
    code: str
    retryable: bool = False
    user_message: str | None = None
    diagnostics_ref: str | None = None


class Failure(Struct, frozen=True, omit_defaults=True):
    """Why a task failed, in the words its owner may read."""

    code: str
    user_message: str | None = None
    step_id: str | None = None


class ResultRef(Struct, frozen=True, omit_defaults=True):
    """A reference to a result that lives elsewhere; `size` in bytes. Never an address."""

    id: str
    title: str | None = None
    media_type: str | None = None
    size: int | None = None
