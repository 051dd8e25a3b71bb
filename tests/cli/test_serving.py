import json
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.parts.lines import Lines
from tests.parts.program import Program, free_port, program

TASK = {
    "tenantId": "t1",
    "ownerId": "alice",
    "taskType": "DOCUMENT_PROCESS",
    "title": "contract.pdf",
    "steps": [{"stepId": "01", "operationCode": "DOC.PARSE", "producerId": "parser"}],
}


def create(server: Program, secret: str, key: str = "k1", **fields: str) -> dict:
    with server.client(secret) as client:
        answer = client.post("/internal/v1/tasks", json=TASK | fields, headers={"idempotency-key": key})
    assert answer.status_code in (200, 201), answer.text
    return answer.json()


def event(context: dict, number: int, **says: object) -> dict:
    bound = ("taskId", "taskType", "taskAttempt", "stepId", "operationCode", "stepAttempt", "producerId")
    at = {"eventId": f"e{number}", "sourceSeq": number, "occurredAt": "2026-11-29T19:00:00.000Z"}
    return {name: context[name] for name in bound} | at | says


def test_it_tells_its_address_in_one_line_once_it_listens_and_ends_with_0(tmp_path: Path):
    command = [sys.executable, "-m", "milepost", "serve", "--port", "0"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    line = process.stdout.readline()
    found = re.fullmatch(r"Milepost listens on (http://127\.0\.0\.1:[1-9][0-9]+)\n", line)
    assert found, line
    assert httpx.get(f"{found[1]}/healthz").status_code == 200
    assert httpx.get(f"{found[1]}/readyz").json()["status"] == "ready"
    assert "server" not in httpx.get(f"{found[1]}/healthz").headers
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (0, "")
    assert [json.loads(line)["level"] for line in err.splitlines()] == ["info", "info"]


def test_ctrl_c_ends_it_gracefully_too(tmp_path: Path):
    with program(tmp_path) as server:
        assert server._end(signal.SIGINT) == 0


def test_what_was_acknowledged_survives_a_kill_and_its_epoch_with_it(tmp_path: Path):
    with program(tmp_path) as server:
        secret, token = server.credential("api", "coordinate"), server.session("alice")
        made = create(server, secret)
        server.kill()
        server.start()
        with server.client(token) as client:
            found = client.get(f"/api/tasks/{made['task']['id']}").json()
        assert found["task"]["version"] == "1"
        assert create(server, secret)["task"]["id"] == made["task"]["id"]
        context = made["contexts"][0]
        with server.client(context["executionToken"]) as client:
            answer = client.post("/internal/v1/task-events", json=event(context, 1, eventType="STEP_STARTED"))
        assert answer.status_code == 200, "the key that signs tokens was kept"
        with server.client(token) as client:
            assert client.get(f"/api/tasks/{made['task']['id']}").json()["epoch"] == found["epoch"]


def test_a_request_that_has_begun_is_answered_before_it_ends(tmp_path: Path):
    with program(tmp_path) as server:
        secret = server.credential("api", "coordinate")
        body = json.dumps(TASK).encode()
        head = (
            f"POST /internal/v1/tasks HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {secret}\r\n"
            f"Idempotency-Key: k\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
            "Expect: 100-continue\r\n\r\n"
        )
        with socket.create_connection(("127.0.0.1", server.port), timeout=20) as talk:
            talk.sendall(head.encode())
            assert b"100 Continue" in talk.recv(1000), "it waits for the body"
            assert server._process is not None
            server._process.send_signal(signal.SIGTERM)
            _until_refused(server.port)
            talk.sendall(body)
            answer = talk.recv(4000)
        assert answer.startswith(b"HTTP/1.1 201"), answer
        assert server._process.wait(20) == 0


def _until_refused(port: int) -> None:
    """Waits until nobody new is let in; a connection tells as soon as it is."""
    for _ in range(2000):
        with socket.socket() as probe:
            probe.settimeout(1)
            if probe.connect_ex(("127.0.0.1", port)):
                return
    raise AssertionError("it still takes connections")


def test_open_streams_are_told_to_come_back_and_do_not_hold_up_the_end(tmp_path: Path):
    with program(tmp_path, MILEPOST_SERVER__GRACE="30s") as server:
        server.credential("api")
        token = server.session("alice")
        with server.client(token) as client, client.stream("GET", "/api/stream") as stream:
            lines = stream.iter_lines()
            assert next(line for line in lines if line.startswith("event: hello"))
            assert server._process is not None
            server._process.send_signal(signal.SIGTERM)
            rest = list(lines)
        assert any(line.startswith("retry:") for line in rest), rest
        assert server._process.wait(20) == 0


def test_a_port_that_is_taken_stops_the_start_with_one_line(tmp_path: Path):
    with program(tmp_path) as server:
        done = server.run("serve", "--port", str(server.port))
    assert done.returncode == 3
    assert done.stderr == f"milepost: cannot listen on 127.0.0.1:{server.port}: Address already in use\n"
    assert done.stdout == ""


@pytest.mark.parametrize(
    "options,settings,says",
    [
        (["--role", "relay"], {}, "server.roles: relay is not part of this version"),
        (["--role", "king"], {}, "server.roles: king is unknown"),
        (["--role", "gateway"], {}, "needs all or api"),
        (["--host", "no.such.host.invalid"], {}, "is no address of this machine"),
        ([], {"MILEPOST_KEYS__CURRENT": "k1:hush"}, "keys: the signing key k1 has 3 bytes"),
        ([], {"MILEPOST_DATABASE__URL": "mysql://u:hush@h/d"}, "keys.current: no signing key is set"),
        ([], {"MILEPOST_WAKEUP__URL": "redis://u:hush@h"}, "wakeup.url: is set, but is not part of this version"),
        ([], {"MILEPOST_AUTH__OIDC__ISSUER": "https://id"}, "auth.oidc.issuer: is set, but"),
    ],
)
def test_what_cannot_be_served_stops_the_start_with_one_line(milepost, options, settings, says):
    done = milepost("serve", "--port", "0", *options, **settings)
    assert (done.code, done.out) == (2, "")
    assert says in done.err
    assert "hush" not in done.err
    assert len(done.err.splitlines()) == 1


def test_every_committed_fact_has_its_line_in_the_log_and_no_secret_is_there(tmp_path: Path):
    with program(tmp_path) as server:
        secret, token = server.credential("api", "coordinate"), server.session("alice")
        made = create(server, secret)
        context = made["contexts"][0]
        failed = event(
            context,
            1,
            eventType="STEP_FAILED",
            traceId="trace-7",
            error={"category": "SYSTEM", "code": "DISK_FULL", "userMessage": "private words"},
        )
        with server.client(context["executionToken"]) as client:
            assert client.post("/internal/v1/task-events", json=failed).status_code == 200
        with server.client(token) as client:
            client.get("/api/tasks")
            with client.stream("GET", f"/api/stream?ticket={token}"):
                pass
        server.stop()
        lines = [json.loads(line) for line in server.log.splitlines()]
        (line,) = [line for line in lines if line.get("eventId") == "e1"]
        assert (
            line.items()
            >= {
                "logger": "milepost.commit",
                "message": "STEP_FAILED",
                "traceId": "trace-7",
                "taskId": made["task"]["id"],
                "taskType": "DOCUMENT_PROCESS",
                "stepId": "01",
                "operationCode": "DOC.PARSE",
                "attempt": 1,
                "sourceSeq": 1,
                "taskVersion": 2,
                "errorCode": "DISK_FULL",
            }.items()
        )
        for hidden in (secret[20:], token[20:], context["executionToken"], "private words"):
            assert hidden not in server.log


def test_metrics_need_a_credential_unless_they_are_open(tmp_path: Path):
    with program(tmp_path) as server:
        assert httpx.get(f"{server.url}/metrics").status_code == 401
        with server.client(server.credential("prometheus")) as client:
            create(server, server.credential("api", "coordinate"))
            answer = client.get("/metrics")
        assert answer.status_code == 200
        assert "milepost_commit_seconds_count 1.0" in answer.text
        assert 'milepost_http_requests_total{method="POST",route="/internal/v1/tasks",status="201"} 1.0' in answer.text


def test_metrics_may_have_a_port_of_their_own(tmp_path: Path):
    port = free_port()
    with program(tmp_path, MILEPOST_SERVER__METRICS=str(port)) as server:
        assert "milepost_build_info" in httpx.get(f"http://127.0.0.1:{port}/metrics").text
        assert httpx.get(f"http://127.0.0.1:{port}/api/tasks").status_code == 404
        with server.client(server.credential("prometheus")) as client:
            assert client.get("/metrics").status_code == 404
        assert server.stop() == 0


def test_merged_progress_is_shown_within_its_limit(tmp_path: Path):
    with program(tmp_path) as server:
        secret, token = server.credential("api", "coordinate"), server.session("alice")
        made = create(server, secret)
        context = made["contexts"][0]
        with server.client(token) as client, client.stream("GET", "/api/stream") as stream:
            told = Lines(stream.iter_lines())
            told.until(lambda line: line == "event: hello")
            with server.client(context["executionToken"]) as reporter:
                for number, current in ((1, 10), (2, 11)):
                    says = event(
                        context, number, eventType="STEP_PROGRESS", progress={"current": current, "total": 100}
                    )
                    answer = reporter.post("/internal/v1/task-events", json=says).json()
            assert answer["merged"]
            told.until(lambda line: line.startswith("data:") and '"percent":11' in line, 5)
