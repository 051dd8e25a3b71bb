"""Bodies as they come over a real connection: in pieces, without a length, with a wrong one, too large."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.parts.program import Program, program

EVENTS = "/internal/v1/task-events"
PLAN = "/internal/v1/tasks"
BODY = b'{"tenantId":"t1","ownerId":"u1","taskType":"T","title":"x"}'


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Program, str]]:
    folder: Path = tmp_path_factory.mktemp("bodies")
    with program(folder) as running:
        yield running, running.credential("api", "report,coordinate")


def spoken(
    server: tuple[Program, str], head: str, *pieces: bytes, path: str = PLAN, hang_up: bool = False
) -> tuple[int, dict[str, Any]]:
    """Sends a request as it is and returns status and body of the answer."""
    running, secret = server
    start = f"POST {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {secret}\r\nconnection: close\r\n{head}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", running.port), timeout=10) as connection:
        try:
            connection.sendall(start.encode("latin-1"))
            for piece in pieces:
                connection.sendall(piece)
            if hang_up:
                connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # it may have answered and hung up before everything was sent
        received = b""
        try:
            while piece := connection.recv(65_536):
                received += piece
        except ConnectionResetError:
            pass
    told, _, body = received.partition(b"\r\n\r\n")
    status = int(told.split()[1]) if told else 0
    try:
        return status, json.loads(body)
    except ValueError:
        return status, {}


def chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def test_a_body_in_chunks_without_a_length_is_read(server: tuple[Program, str]) -> None:
    pieces = [chunk(BODY[at : at + 7]) for at in range(0, len(BODY), 7)]
    status, answer = spoken(server, "transfer-encoding: chunked", *pieces, b"0\r\n\r\n")
    assert (status, answer["task"]["title"]) == (201, "x")


@pytest.mark.parametrize(
    "path, limit", [(PLAN, 256 * 1024), (EVENTS, 256 * 1024), (f"{EVENTS}:batch", 4 * 1024 * 1024)]
)
def test_a_body_in_chunks_is_cut_off_at_the_limit(server: tuple[Program, str], path: str, limit: int) -> None:
    pieces = [chunk(b" " * 65_536) for _ in range(limit // 65_536 + 1)]
    status, answer = spoken(server, "transfer-encoding: chunked", *pieces, b"0\r\n\r\n", path=path)
    assert (status, answer["code"]) == (413, "TOO_LARGE")


@pytest.mark.parametrize("path", [PLAN, EVENTS, f"{EVENTS}:batch"])
def test_a_length_above_the_limit_is_refused_before_the_body_comes(server: tuple[Program, str], path: str) -> None:
    status, answer = spoken(server, f"content-length: {5 * 1024 * 1024}", b"{", path=path)
    assert (status, answer["code"]) == (413, "TOO_LARGE")


def test_a_body_shorter_than_its_length_creates_nothing(server: tuple[Program, str]) -> None:
    running, secret = server
    body = BODY[:-1] + b',"taskId":"short"}'
    spoken(server, f"content-length: {len(body) + 10}", body, hang_up=True)
    spoken(server, "transfer-encoding: chunked", chunk(body), hang_up=True)
    with running.client(secret) as client:
        assert client.get(f"{PLAN}/short").status_code == 404


def test_what_lies_beyond_a_length_is_no_part_of_the_body(server: tuple[Program, str]) -> None:
    status, _ = spoken(server, f"content-length: {len(BODY)}", BODY + b'GARBAGE{"x":1}')
    assert status == 201


@pytest.mark.parametrize("length", ["-1", "x", "1e3", "+5", "5, 6", "9" * 40, "0x10", ""])
def test_a_length_that_is_no_number_is_never_a_fault_of_the_server(server: tuple[Program, str], length: str) -> None:
    status, _ = spoken(server, f"content-length: {length}", BODY)
    assert status in (0, 201, 400, 413)


def test_no_body_at_all_is_no_json(server: tuple[Program, str]) -> None:
    for path in (PLAN, EVENTS, f"{EVENTS}:batch"):
        for head in ("content-length: 0", "x-nothing: 1"):
            status, answer = spoken(server, head, path=path)
            assert (status, answer["code"]) == (400, "JSON_INVALID"), path


def test_a_body_of_another_encoding_is_no_json(server: tuple[Program, str]) -> None:
    for body in (BODY.decode().encode("utf-16"), b"\xef\xbb\xbf" + BODY, b"\x1f\x8b\x08\x00" + BODY, BODY + b"\x00"):
        status, answer = spoken(server, f"content-length: {len(body)}\r\ncontent-encoding: gzip", body)
        assert (status, answer["code"]) == (400, "JSON_INVALID")


def test_a_very_long_path_is_never_a_fault_of_the_server(server: tuple[Program, str]) -> None:
    for path in (f"{PLAN}/{'k' * 50_000}/steps/a/token", "/" + "%00" * 10_000, "/" + "a/" * 20_000):
        status, _ = spoken(server, f"content-length: {len(BODY)}", BODY, path=path)
        assert status in (0, 400, 404, 414, 431), path[:50]


def test_the_server_is_well_after_all_this(server: tuple[Program, str]) -> None:
    running, secret = server
    with running.client(secret) as client:
        assert client.get("/readyz").status_code == 200
        assert client.get("/api/tasks").status_code == 401
    assert "Traceback" not in running.log
