"""Every error a person or a program is told: `application/problem+json` (RFC 9457) with a stable `code`."""

from typing import Final

import msgspec
from msgspec import Struct

MEDIA_TYPE: Final = "application/problem+json"

_KINDS: Final[dict[int, tuple[str, str]]] = {
    400: ("The request could not be read", "JSON_INVALID IDEMPOTENCY_KEY_MISMATCH"),
    401: ("Not authenticated", "UNAUTHENTICATED TOKEN_EXPIRED TOKEN_INVALID"),
    403: ("Not allowed", "FORBIDDEN CONTEXT_MISMATCH"),
    404: ("Not found", "NOT_FOUND TASK_UNKNOWN ATTEMPT_UNKNOWN"),
    405: ("Method not allowed", "METHOD_NOT_ALLOWED"),
    409: (
        "In conflict with the current state",
        "EVENT_ID_CONFLICT SOURCE_SEQ_CONFLICT CONFLICTING_TERMINAL ILLEGAL_TRANSITION IDEMPOTENCY_KEY_CONFLICT "
        "TASK_ID_TAKEN ATTEMPT_SUPERSEDED ATTEMPT_NOT_NEXT ATTEMPT_UNFINISHED CANCEL_PENDING TASK_FINISHED "
        "TASK_UNFINISHED VERSION_CONFLICT DETAIL_SUBSCRIPTION_LIMIT",
    ),
    410: ("Gone", "TASK_DELETED CURSOR_EXPIRED"),
    413: ("Too large", "TOO_LARGE"),
    422: (
        "A value is not valid",
        "FIELD_INVALID ID_INVALID DUPLICATE_KEY NUMBER_OUT_OF_RANGE PROGRESS_INVALID EVENT_TYPE_UNKNOWN "
        "OPERATION_UNKNOWN TASK_TYPE_UNKNOWN BUSINESS_STATUS_UNKNOWN SCHEMA_UNKNOWN DATA_INVALID DEFINITION_INVALID",
    ),
    429: ("Too many requests", "RATE_LIMITED"),
    500: ("Internal error", "INTERNAL"),
    503: ("Unavailable", "UNAVAILABLE"),
}

STATUS: Final[dict[str, int]] = {code: status for status, (_, codes) in _KINDS.items() for code in codes.split()}
"""The HTTP status of every code."""


class FieldError(Struct, frozen=True):
    """What is wrong with one place of a body; `pointer` is a JSON Pointer (RFC 6901)."""

    pointer: str
    code: str
    detail: str


class Problem(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """The body of every error answer."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    errors: tuple[FieldError, ...] = ()
    lifecycle_status: str | None = None
    business_status: str | None = None


class Rejection(Exception):
    """A request that is answered with a problem. `retry_after` in seconds goes into the header of that name."""

    def __init__(
        self,
        code: str,
        detail: str,
        errors: tuple[FieldError, ...] = (),
        *,
        retry_after: int | None = None,
        lifecycle_status: str | None = None,
        business_status: str | None = None,
    ) -> None:
        super().__init__(code, detail)
        self.code = code
        self.detail = detail
        self.errors = errors
        self.retry_after = retry_after
        self.lifecycle_status = lifecycle_status
        self.business_status = business_status

    @classmethod
    def at(cls, pointer: str, code: str, detail: str) -> "Rejection":
        """A rejection of one place of a body."""
        return cls(code, detail, (FieldError(pointer, code, detail),))

    @property
    def problem(self) -> Problem:
        """The body of the answer."""
        status = status_of(self.code)
        return Problem(
            type=f"urn:milepost:problem:{self.code}",
            title=_KINDS[status][0],
            status=status,
            code=self.code,
            detail=self.detail,
            errors=self.errors,
            lifecycle_status=self.lifecycle_status,
            business_status=self.business_status,
        )


def status_of(code: str) -> int:
    """The HTTP status of a code; 500 for one that is not in the table."""
    return STATUS.get(code, 500)


def problem_json(rejection: Rejection) -> bytes:
    """The problem of a rejection as JSON."""
    return msgspec.json.encode(rejection.problem)
