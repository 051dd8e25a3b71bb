import base64
import hashlib
import hmac
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from milepost.tokens.execution import MAX_TOKEN, Claims, ExecutionTokens, TokenExpired, TokenInvalid
from milepost.tokens.keys import KeyRing, SigningKey

OLD = SigningKey("old", b"o" * 32)
NEW = SigningKey("new", b"n" * 32)
NOW = 1_800_000_000_000
CLAIMS = Claims(
    tenant_id="t1",
    task_id="task-1",
    task_type="DOCUMENT_PROCESS",
    task_attempt=1,
    step_id="02_parse",
    operation_code="DOCUMENT.PARSE",
    step_attempt=2,
    producer_id="document-parser",
    source_epoch=1,
    event_types=("STEP_STARTED", "STEP_PROGRESS"),
    definition_version=1,
    iat=NOW // 1000,
    exp=NOW // 1000 + 900,
)


def b64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def jwt(header: object, payload: object, key: bytes = NEW.secret) -> str:
    """A token as any other implementation would make it."""
    signed = f"{b64(json.dumps(header).encode())}.{b64(json.dumps(payload).encode())}"
    return f"{signed}.{b64(hmac.new(key, signed.encode(), hashlib.sha256).digest())}"


HEADER = {"typ": "JWT", "alg": "HS256", "kid": "new"}


def payload(token: str) -> dict:
    text = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))


@pytest.fixture
def tokens() -> ExecutionTokens:
    return ExecutionTokens(KeyRing(NEW, [OLD]))


def test_a_token_carries_its_claims(tokens):
    assert tokens.verify(tokens.sign(CLAIMS), NOW) == CLAIMS


def test_a_token_is_a_plain_jwt_that_others_can_read_and_make(tokens):
    token = tokens.sign(CLAIMS)
    assert jwt({"alg": "HS256", "kid": "new", "typ": "JWT"}, payload(token)).count(".") == 2
    assert payload(token)["stepId"] == "02_parse"
    assert tokens.verify(jwt(HEADER, payload(token)), NOW) == CLAIMS


def test_tokens_of_the_previous_key_verify_and_new_ones_are_signed_by_the_current(tokens):
    before = ExecutionTokens(KeyRing(OLD)).sign(CLAIMS)
    assert tokens.verify(before, NOW) == CLAIMS
    after = ExecutionTokens(KeyRing(NEW))
    assert after.verify(tokens.sign(CLAIMS), NOW) == CLAIMS
    with pytest.raises(TokenInvalid):
        after.verify(before, NOW)


def test_a_token_ends_with_its_last_second_even_when_it_is_remembered(tokens):
    token = tokens.sign(CLAIMS)
    assert tokens.verify(token, CLAIMS.exp * 1000 - 1) == CLAIMS
    for _ in range(2):
        with pytest.raises(TokenExpired):
            tokens.verify(token, CLAIMS.exp * 1000)


def test_a_forged_token_is_invalid_even_when_it_is_expired_too(tokens):
    forged = jwt(HEADER, payload(tokens.sign(replace(CLAIMS, exp=1))), b"x" * 32)
    with pytest.raises(TokenInvalid):
        tokens.verify(forged, NOW)


@pytest.mark.parametrize(
    "header",
    [
        {"typ": "JWT", "alg": "none", "kid": "new"},
        {"typ": "JWT", "alg": "HS512", "kid": "new"},
        {"typ": "JWT", "alg": "RS256", "kid": "new"},
        {"typ": "JWT", "alg": "HS256"},
        {"typ": "JWT", "alg": "HS256", "kid": "other"},
        {"typ": "JWT", "alg": "HS256", "kid": "new", "crit": ["exp"]},
        {"typ": "JWE", "alg": "HS256", "kid": "new"},
        {"alg": "HS256", "kid": ["new"]},
        [],
        None,
    ],
)
def test_only_one_algorithm_and_known_keys_are_taken(tokens, header):
    with pytest.raises(TokenInvalid):
        tokens.verify(jwt(header, payload(tokens.sign(CLAIMS))), NOW)


@pytest.mark.parametrize("change", [{"taskId": 1}, {"exp": "soon"}, {"exp": None}, {"eventTypes": "ALL"}, {"more": 1}])
def test_claims_of_another_shape_are_invalid_although_genuine(tokens, change):
    with pytest.raises(TokenInvalid):
        tokens.verify(jwt(HEADER, payload(tokens.sign(CLAIMS)) | change), NOW)


def test_every_single_changed_character_makes_a_token_invalid(tokens):
    token = tokens.sign(CLAIMS)
    for place, character in enumerate(token):
        other = "A" if character != "A" else "B"
        with pytest.raises(TokenInvalid):
            tokens.verify(token[:place] + other + token[place + 1 :], NOW)


def test_another_spelling_of_the_same_signature_is_invalid(tokens):
    token = tokens.sign(CLAIMS)
    for spelled in (token + "=", token + "\n", " " + token, token.rstrip("="[:1]) + "=="):
        with pytest.raises(TokenInvalid):
            tokens.verify(spelled, NOW)


@given(st.text(max_size=300) | st.from_regex(r"[A-Za-z0-9_-]{0,60}(\.[A-Za-z0-9_-]{0,60}){0,4}", fullmatch=True))
def test_any_other_text_is_invalid_and_never_an_accident(text):
    with pytest.raises(TokenInvalid):
        ExecutionTokens(KeyRing(NEW)).verify(text, NOW)


def test_an_endless_token_is_not_looked_at(tokens):
    long = jwt(HEADER, payload(tokens.sign(CLAIMS)) | {"stepId": "x" * MAX_TOKEN})
    with pytest.raises(TokenInvalid):
        tokens.verify(long, NOW)


def test_what_is_remembered_is_bounded_and_forgetting_changes_nothing():
    tokens = ExecutionTokens(KeyRing(NEW), remember=2)
    made = [tokens.sign(replace(CLAIMS, step_attempt=attempt)) for attempt in range(5)]
    for _ in range(2):
        assert [tokens.verify(token, NOW).step_attempt for token in made] == [0, 1, 2, 3, 4]
    assert len(tokens._known) == 2
