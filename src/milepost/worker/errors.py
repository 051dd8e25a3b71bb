"""Turns exceptions into structured errors, by a table anybody can read.

An exception's own text is never sent: it may hold paths, addresses, keys or another service's answer. Who wants people
to read something raises `StepFailed`, or names its exceptions in `Reporter(errors={...})`.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

import httpx
from msgspec import Struct

from milepost.domain.values import ErrorCategory
from milepost.worker.texts import clean, clean_or_none


class StepError(Struct, frozen=True):
    """Why an attempt failed: `code` is for machines and stable, `user_message` is for people."""

    category: ErrorCategory
    code: str
    user_message: str | None = None
    retryable: bool = False
    diagnostics_ref: str | None = None

    def body(self) -> dict[str, Any]:
        """The error on the wire."""
        said = {
            "category": self.category,
            "code": clean(self.code, 128),
            "retryable": self.retryable,
            "userMessage": clean_or_none(self.user_message),
            "diagnosticsRef": clean_or_none(self.diagnostics_ref),
        }
        return {key: value for key, value in said.items() if value is not None}


class StepFailed(Exception):
    """Raised by work that knows what to tell people: the step ends as failed with exactly this error."""

    def __init__(
        self, category: ErrorCategory, code: str, user_message: str | None = None, *, retryable: bool = False
    ) -> None:
        super().__init__(f"{category} {code}")
        self.error = StepError(category, code, user_message, retryable)


class StepCancelled(Exception):
    """Raised by work that stops because it was asked to: the step ends as cancelled."""


ErrorRule = StepError | Callable[[BaseException], StepError]

# The first line that fits the exception counts; subclasses fit too.
MAPPING: tuple[tuple[type[BaseException], StepError], ...] = (
    (httpx.TimeoutException, StepError("TIMEOUT", "TIMEOUT", retryable=True)),
    (TimeoutError, StepError("TIMEOUT", "TIMEOUT", retryable=True)),
    (httpx.TransportError, StepError("DEPENDENCY", "CONNECTION_FAILED", retryable=True)),
    (ConnectionError, StepError("DEPENDENCY", "CONNECTION_FAILED", retryable=True)),
    (httpx.HTTPStatusError, StepError("DEPENDENCY", "DEPENDENCY_ANSWERED_BADLY", retryable=True)),
    (UnicodeError, StepError("BUSINESS_INPUT", "TEXT_UNREADABLE")),
    (FileNotFoundError, StepError("BUSINESS_INPUT", "FILE_NOT_FOUND")),
    (MemoryError, StepError("SYSTEM", "OUT_OF_MEMORY", retryable=True)),
    (OSError, StepError("SYSTEM", "IO_FAILED", retryable=True)),
    (KeyboardInterrupt, StepError("SYSTEM", "INTERRUPTED", retryable=True)),
    (SystemExit, StepError("SYSTEM", "INTERRUPTED", retryable=True)),
)


def structured(raised: BaseException, rules: Mapping[type[BaseException], ErrorRule] | None = None) -> StepError:
    """The structured error of an exception: `StepFailed`'s own, the caller's rules, the table, else UNKNOWN.

    An exception nobody named keeps its class as the code: `PdfReadError` becomes `PDF_READ_ERROR`.
    """
    if isinstance(raised, StepFailed):
        return raised.error
    for kind, rule in (rules or {}).items():
        if isinstance(raised, kind):
            return rule if isinstance(rule, StepError) else rule(raised)
    for kind, error in MAPPING:
        if isinstance(raised, kind):
            return error
    return StepError("UNKNOWN", _shouted(type(raised).__name__))


def _shouted(name: str) -> str:
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return re.sub(r"[^A-Z0-9]+", "_", words.upper()).strip("_") or "UNKNOWN"
