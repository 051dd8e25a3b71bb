import json

import msgspec
import pytest

from milepost.gateway import framing
from milepost.gateway.message import Message
from tests.gateway.sse import Parser, Seen

HOSTILE = [
    "x\n\nevent: task\ndata: {}",
    "x\r\rid: other:9\rdata: {}",
    "x\r\n\r\ndata: {}\r\n\r\n",
    "nul \0 in the middle",
    "line \u2028 paragraph \u2029 next \u0085 vt \x0b fs \x1c gs \x1d rs \x1e ff \x0c",
    "\ufeffbom first",
    '"}\n\n: comment',
    "retry: 1\n\nid:\n\n",
    "漢字 \U0001f600",
]


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.accepts("no injection by title, message, id or header into page, SSE frame, log or CSV")
def test_any_text_travels_in_exactly_one_event_and_arrives_intact(text: str):
    parser = Parser()
    frame = Message("task.summary", msgspec.json.encode({"title": text}), "e1", 7).sse
    seen = parser.feed(frame)
    assert [(s.event, s.last_id) for s in seen] == [("task.summary", "e1:7")]
    assert json.loads(seen[0].data) == {"title": text}
    assert parser.retry is None


@pytest.mark.parametrize("text", HOSTILE)
def test_a_frame_may_be_cut_at_any_byte(text: str):
    frame = framing.event("task.detail", msgspec.json.encode({"title": text}), "e1:7") * 2
    for cut in range(len(frame)):
        parser = Parser()
        seen = parser.feed(frame[:cut]) + parser.feed(frame[cut:])
        assert seen == [Seen("task.detail", seen[0].data, "e1:7")] * 2


def test_a_heartbeat_moves_the_last_id_and_makes_no_event():
    parser = Parser()
    parser.feed(framing.event("hello", b"{}", "e:1"))
    assert parser.feed(framing.moved("e:9")) == []
    assert (parser.last_id, parser.comments) == ("e:9", 1)
    assert parser.feed(framing.COMMENT) == []
    assert parser.last_id == "e:9"


def test_what_has_no_position_has_no_id_and_leaves_the_last_one():
    parser = Parser()
    parser.feed(framing.event("hello", b"{}", "e:1"))
    assert b"id:" not in framing.event("broadcast.system", b"{}", None)
    assert parser.feed(framing.event("broadcast.system", b"{}", None))[0].last_id == "e:1"


def test_retry_is_a_whole_number_of_milliseconds():
    parser = Parser()
    assert parser.feed(framing.retry(1234)) == []
    assert parser.retry == 1234
