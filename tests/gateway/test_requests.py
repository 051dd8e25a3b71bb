from typing import Any

import pytest

from milepost.gateway.requests import UNREADABLE, place, token
from milepost.wire.problems import Rejection


def scope(*headers: tuple[bytes, bytes], query: bytes = b"") -> dict[str, Any]:
    return {"headers": list(headers), "query_string": query}


def test_the_bearer_wins_over_the_cookie():
    cookie = (b"cookie", b"a=b; milepost_session=from-cookie; c=d")
    assert token(scope(cookie)) == "from-cookie"
    assert token(scope((b"authorization", b"Bearer from-header"), cookie)) == "from-header"
    assert token(scope((b"authorization", b"bearer from-header"))) == "from-header"
    assert token(scope((b"authorization", b"Basic eA=="), cookie)) == "from-cookie"
    assert token(scope((b"cookie", b"xmilepost_session=no"))) is None
    assert token(scope()) is None


def test_last_event_id_wins_over_after():
    assert place(scope((b"last-event-id", b"e1:7"), query=b"after=e1:3")) == ("e1", 7)
    assert place(scope(query=b"after=e1%3A3")) == ("e1", 3)
    assert place(scope((b"last-event-id", b""), query=b"after=e1:3")) == ("e1", 3)
    assert place(scope(query=b"other=1")) is None


@pytest.mark.parametrize(
    "bad", [b"", b"7", b"e1:", b"e1:-1", b"e1:07", b"e1:1%0A", b"e1:9999999999999999999999", b":7"]
)
def test_a_cursor_in_the_query_that_is_none_is_refused_with_its_place(bad: bytes):
    with pytest.raises(Rejection) as refused:
        place(scope(query=b"after=" + bad))
    assert refused.value.code == "FIELD_INVALID"
    assert refused.value.errors[0].pointer == "/after"


@pytest.mark.parametrize("bad", [b"7", b"e1:", b"\xff\xfe", b"e1:7 ", b"e1:7\xe2\x80\xa8"])
def test_a_last_event_id_that_is_none_asks_for_a_snapshot(bad: bytes):
    assert place(scope((b"last-event-id", bad))) == UNREADABLE


def test_a_query_of_a_thousand_fields_is_refused():
    with pytest.raises(Rejection):
        place(scope(query=b"&".join(b"after=e1:1" for _ in range(1000))))
