import pytest

from milepost.telemetry.redaction import scrub, suspicious
from milepost.tokens import secrets
from milepost.tokens.execution import Claims, ExecutionTokens
from milepost.tokens.keys import KeyRing, new_key, parse_key

CLAIMS = Claims("t1", "task", "T", 1, "s", "OP", 1, "p", 1, ("STEP_STARTED",), 1, 1, 2)
KEY = new_key("k1")
TOKEN = ExecutionTokens(KeyRing(parse_key(KEY))).sign(CLAIMS)
OPAQUE = {kind: secrets.make(kind) for kind in ("mpc", "mps", "mpl", "mpt")}


@pytest.mark.parametrize("kind", OPAQUE)
@pytest.mark.parametrize("around", ["{}", "Bearer {}", "http://h/#code={}", "/s?ticket={}&x=1", '{{"secret":"{}"}}'])
def test_a_secret_never_shows_although_its_id_may(kind, around):
    secret = OPAQUE[kind]
    shown = scrub(around.format(secret.text))
    assert secret.text[-40:] not in shown
    assert "(hidden)" in shown


def test_a_cut_secret_does_not_show_either():
    text = OPAQUE["mpc"].text
    assert text[21:35] not in scrub(text[:35])


@pytest.mark.parametrize("around", ["{}", "Authorization: Bearer {}", "token={}", "[{}]"])
def test_an_execution_token_never_shows(around):
    shown = scrub(around.format(TOKEN))
    assert not any(part in shown for part in TOKEN.split("."))


def test_a_signing_key_never_shows():
    assert scrub(f"with {KEY}, then") == "with k1:(hidden), then"


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://me:hush@db:5432/x",
        "redis://:hush@h",
        "Authorization: Basic aHVzaDpodXNo-hush",
        "authorization: bearer hush-hush",
        "https://h/cb?access_token=hush&state=1",
        "https://h/?x=1&password=hush",
    ],
)
def test_other_credentials_never_show(text):
    assert "hush" not in scrub(text)


@pytest.mark.parametrize(
    "text",
    [
        "GET /api/tasks/task-1/stream 200",
        "http://127.0.0.1:8700/api/tasks?cursor=abc&limit=5",
        "t1/task-1 02_parse#1 STEP_PROGRESS v12 seq 3",
        "a3f0:1234567",
        "the step failed: PARSE_ERROR at page 3",
        'File "/srv/app/src/milepost/usecases/commit.py", line 12, in commit',
    ],
)
def test_what_is_no_secret_stays_readable(text):
    assert scrub(text) == text
    assert not suspicious(text.encode())


@pytest.mark.parametrize("secret", [TOKEN, KEY, *(made.text for made in OPAQUE.values())])
def test_the_quick_look_finds_every_secret_of_ours(secret):
    assert suspicious(f'{{"traceId":"{secret}"}}'.encode())
