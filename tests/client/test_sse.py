import pytest

from milepost.client.sse import LIMIT, Parser, ServerEvent, TooLong


def read(*portions: bytes) -> list[ServerEvent]:
    parser = Parser()
    return [event for portion in portions for event in parser.feed(portion)]


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_every_legal_line_end_is_read(end: bytes):
    stream = end.join([b"event: task.summary", b"id: e:7", b"data: {", b"data: }", b"", b""])
    # What follows tells a lone CR from the first half of a CRLF.
    assert read(stream + b":")[0] == ServerEvent("task.summary", "{\n}", "e:7")


def test_any_cut_between_bytes_gives_the_same_events():
    stream = "\ufeffretry: 1500\r\n\r\nevent: a\r\nid: e:1\r\ndata: é\u2028🚀\r\n\r\n:\r\nid: e:2\r\n\r\n".encode()
    whole = read(stream, b"x")
    assert read(*(stream[at : at + 1] for at in range(len(stream))), b"x") == whole
    assert [event for event in whole if event.data] == [ServerEvent("a", "é\u2028🚀", "e:1")]
    assert whole[-1] == ServerEvent("message", "", "e:2")


@pytest.mark.parametrize("mark", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e"])
def test_what_python_calls_a_line_end_ends_no_line_here(mark: str):
    # B42
    assert read(f"data: a{mark}b\n\n".encode())[0].data == f"a{mark}b"


def test_a_comment_is_a_sign_of_life_and_keeps_the_id():
    assert read(b"id: e:1\ndata: x\n\n:\n\n") == [ServerEvent("message", "x", "e:1"), ServerEvent("message", "", "e:1")]


def test_an_id_with_nul_is_ignored():
    assert read(b"id: e:1\ndata: x\n\nid: e\x00:2\ndata: y\n\n")[1].id == "e:1"


def test_the_servers_pause_is_noted():
    parser = Parser()
    list(parser.feed(b"retry: 1500\n\nretry: soon\n\n"))
    assert parser.retry_ms == 1500


@pytest.mark.parametrize("line", [b"data: ", b"", b":"])
def test_a_line_without_an_end_is_cut_off(line: bytes):
    with pytest.raises(TooLong):
        read(line, *([b"x" * (LIMIT // 4)] * 5))


def test_an_event_of_many_lines_is_bounded_too():
    with pytest.raises(TooLong):
        read(*([b"data: " + b"x" * 1000 + b"\n"] * (LIMIT // 1000)))
