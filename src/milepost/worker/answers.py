"""What an answer means for the fact that was sent: delivered, later, renew the token, or never."""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct

from milepost.ports.http import Reply

Verdict = Literal["DELIVERED", "LATER", "RENEW", "SLOWLY", "GONE", "REFUSED"]

CONTENT = frozenset({413, 422})
"""A refusal for what the fact says, not for who says it: an end is then sent again without its content."""


class Directives(Struct, frozen=True, rename="camel"):
    """What the service asks of the work, renewed by every answer."""

    cancel_requested: bool = False
    fenced: bool = False
    attempt_superseded: bool = False


class Judged(Struct, frozen=True):
    """The meaning of one answer. `retry_after` in seconds."""

    verdict: Verdict
    status: int
    code: str = ""
    detail: str = ""
    pointers: tuple[str, ...] = ()
    retry_after: float | None = None
    directives: Directives | None = None


class _Answer(Struct, rename="camel"):
    accepted: bool
    directives: Directives | None = None


class _FieldError(Struct):
    pointer: str = ""


class Problem(Struct):
    """The part of `application/problem+json` that decides."""

    code: str
    detail: str = ""
    errors: tuple[_FieldError, ...] = ()


def problem_of(body: bytes) -> Problem | None:
    """The problem in a body, or None: then some other program answered (a proxy, a page of errors)."""
    try:
        return msgspec.json.decode(body, type=Problem)
    except msgspec.DecodeError:
        return None


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds of a `Retry-After` header, at most an hour; None where there is no such number."""
    text = headers.get("retry-after", "")
    return min(float(text), 3600.0) if text.isascii() and text.isdigit() else None


def judge(reply: Reply) -> Judged:
    """The meaning of a reply to one fact."""
    wait = retry_after(reply.headers)
    if reply.status < 300:
        try:
            said = msgspec.json.decode(reply.body, type=_Answer)
        except msgspec.DecodeError:
            # A success that is not ours (a captive portal, a proxy's page) has delivered nothing.
            return Judged("LATER", reply.status, "NOT_OUR_ANSWER", retry_after=wait)
        return Judged("DELIVERED", reply.status, directives=said.directives)
    problem = problem_of(reply.body)
    verdict = _verdict(reply.status, problem)
    if problem is None:
        return Judged(verdict, reply.status, f"HTTP_{reply.status}", retry_after=wait)
    pointers = tuple(error.pointer for error in problem.errors)
    return Judged(verdict, reply.status, problem.code, problem.detail, pointers, wait)


def judge_result(result: Mapping[str, Any], headers: Mapping[str, str]) -> Judged:
    """The meaning of one result of the batch route, which looks like an answer or a problem with its `status`.

    `headers` are those of the whole answer: its `Retry-After` is meant for the results that were put off.
    """
    status = result.get("status")
    return judge(Reply(status if isinstance(status, int) else 502, msgspec.json.encode(result), headers))


def _verdict(status: int, problem: Problem | None) -> Verdict:
    if status >= 500 or status in (408, 425, 429):
        return "LATER"
    if problem is None or status < 400:
        return "SLOWLY"
    if status == 401:
        return "RENEW" if problem.code == "TOKEN_EXPIRED" else "SLOWLY"
    if status == 404:
        return "SLOWLY"
    return "GONE" if status == 410 else "REFUSED"
