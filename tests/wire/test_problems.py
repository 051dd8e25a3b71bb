"""Every code has its status, and every problem has the shape of RFC 9457."""

import msgspec
import pytest

from milepost.domain.outcomes import RefusalCode
from milepost.wire.problems import STATUS, Rejection, problem_json, status_of

PUBLISHED = {
    400: "JSON_INVALID IDEMPOTENCY_KEY_MISMATCH",
    401: "UNAUTHENTICATED TOKEN_EXPIRED TOKEN_INVALID",
    403: "FORBIDDEN CONTEXT_MISMATCH",
    404: "NOT_FOUND TASK_UNKNOWN ATTEMPT_UNKNOWN",
    409: "EVENT_ID_CONFLICT SOURCE_SEQ_CONFLICT CONFLICTING_TERMINAL ILLEGAL_TRANSITION IDEMPOTENCY_KEY_CONFLICT "
    "TASK_ID_TAKEN ATTEMPT_SUPERSEDED ATTEMPT_NOT_NEXT ATTEMPT_UNFINISHED CANCEL_PENDING TASK_FINISHED "
    "TASK_UNFINISHED VERSION_CONFLICT DETAIL_SUBSCRIPTION_LIMIT",
    410: "TASK_DELETED CURSOR_EXPIRED",
    413: "TOO_LARGE",
    422: "FIELD_INVALID ID_INVALID DUPLICATE_KEY NUMBER_OUT_OF_RANGE PROGRESS_INVALID EVENT_TYPE_UNKNOWN "
    "OPERATION_UNKNOWN TASK_TYPE_UNKNOWN BUSINESS_STATUS_UNKNOWN SCHEMA_UNKNOWN DATA_INVALID DEFINITION_INVALID",
    429: "RATE_LIMITED",
    503: "UNAVAILABLE",
}
EVERY = [(code, status) for status, codes in PUBLISHED.items() for code in codes.split()]


@pytest.mark.parametrize("code, status", EVERY)
def test_every_published_code_has_its_status(code: str, status: int) -> None:
    assert status_of(code) == status
    problem = msgspec.json.decode(problem_json(Rejection.at("/a/b", code, "Words.")))
    assert problem["status"] == status
    assert problem["code"] == code
    assert problem["type"].endswith(code)
    assert problem["title"]
    assert problem["errors"] == [{"pointer": "/a/b", "code": code, "detail": "Words."}]


def test_codes_beyond_the_published_ones_are_about_http_alone() -> None:
    assert set(STATUS) - {code for code, _ in EVERY} == {"METHOD_NOT_ALLOWED", "INTERNAL"}


def test_every_refusal_of_a_decision_has_a_status() -> None:
    for code in RefusalCode.__args__:
        assert 400 <= status_of(code) < 500, code


def test_a_problem_without_a_place_names_none() -> None:
    assert "errors" not in msgspec.json.decode(problem_json(Rejection("NOT_FOUND", "Nothing.")))
