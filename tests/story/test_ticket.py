"""A ticket opens one stream for somebody who can send neither a header nor a cookie, once and not for long."""

from collections.abc import Iterator

import httpx
import pytest

from tests.parts.program import Program, program


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    with program(tmp_path_factory.mktemp("tickets")) as running:
        running.credential("api")
        yield running


def ticket(server: Program, token: str) -> str:
    with server.client(token) as client:
        answer = client.post("/api/realtime/tickets")
    assert answer.status_code == 201, answer.text
    assert answer.headers["cache-control"] == "no-store"
    return str(answer.json()["ticket"])


def opened(server: Program, given: str) -> tuple[int, str]:
    with (
        httpx.Client(base_url=server.url, timeout=10) as nobody,
        nobody.stream("GET", f"/api/stream?ticket={given}") as stream,
    ):
        return stream.status_code, next(stream.iter_lines())


def test_a_ticket_opens_one_stream_and_no_second_one(server: Program) -> None:
    given = ticket(server, server.session("u1"))
    status, line = opened(server, given)
    assert status == 200
    assert line.partition(":")[0] in ("event", "retry", "id")
    assert opened(server, given)[0] == 401


def test_what_is_no_ticket_opens_nothing_and_a_ticket_is_no_bearer(server: Program) -> None:
    token = server.session("u1")
    for wrong in ("", "x", "mpt_x_y", token):
        assert opened(server, wrong)[0] == 401
    with server.client(ticket(server, token)) as client:
        assert client.get("/api/tasks").status_code == 401


def test_a_ticket_ends_with_its_session(server: Program) -> None:
    token = server.session("u1")
    given = ticket(server, token)
    with server.client(token) as client:
        assert client.delete("/api/session").status_code == 204
    assert opened(server, given)[0] == 401
