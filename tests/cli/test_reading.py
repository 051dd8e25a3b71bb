import csv
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.test_serving import create, event
from tests.parts.lines import Lines
from tests.parts.program import Program, free_port, program


class Known:
    """A server with one task whose step failed, and somebody who may see it."""

    def __init__(self, server: Program) -> None:
        self.server = server
        self.secret = server.credential("api", "coordinate")
        self.token = server.session("alice")
        self.made = create(server, self.secret, title="contract\x1b[2J.pdf", taskId="contract-7")
        self.context = self.made["contexts"][0]
        self.report(1, eventType="STEP_STARTED")
        self.environ = {"MILEPOST_URL": server.url, "MILEPOST_TOKEN": self.token}

    def report(self, number: int, **says: object) -> None:
        with self.server.client(self.context["executionToken"]) as client:
            answer = client.post("/internal/v1/task-events", json=event(self.context, number, **says))
        assert answer.status_code == 200, answer.text


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Known]:
    with program(tmp_path_factory.mktemp("known")) as server:
        yield Known(server)


def test_tasks_are_listed_for_people_programs_and_tables(milepost, known):
    text = milepost("tasks", "list", **known.environ)
    assert (text.code, text.err) == (0, "")
    assert text.out.splitlines()[1].startswith("contract-7  DOCUMENT_PROCESS  RUNNING")
    assert "\x1b" not in text.out
    (item,) = milepost("tasks", "list", "--json", **known.environ).json["items"]
    assert (item["id"], item["lifecycleStatus"]) == ("contract-7", "RUNNING")
    (row,) = csv.DictReader(io.StringIO(milepost("tasks", "list", "--csv", **known.environ).out))
    assert (row["id"], row["status"]) == ("contract-7", "RUNNING")


def test_lists_can_be_narrowed(milepost, known):
    for options, found in (
        (["--status", "running"], 1),
        (["--status", "FAILED"], 0),
        (["--type", "DOCUMENT_PROCESS"], 1),
        (["--type", "OTHER"], 0),
        (["--text", "contract"], 1),
        (["--project", "p1"], 0),
    ):
        listed = milepost("tasks", "list", *options, "--json", **known.environ)
        assert len(listed.json["items"]) == found, options


def test_a_long_list_is_read_page_by_page(milepost, known):
    for number in range(5):
        create(known.server, known.secret, f"many-{number}", ownerId="bob", taskId=f"many-{number}")
    environ = known.environ | {"MILEPOST_TOKEN": known.server.session("bob")}
    listed = milepost("tasks", "list", "--limit", "3", "--json", **environ).json["items"]
    assert [item["id"] for item in listed] == ["many-4", "many-3", "many-2"]


def test_a_task_is_shown_with_its_steps(milepost, known):
    shown = milepost("tasks", "show", "contract-7", **known.environ)
    assert shown.code == 0
    assert "status    RUNNING" in shown.out
    assert "DOC.PARSE" in shown.out
    told = milepost("tasks", "show", "contract-7", "--json", **known.environ).json
    assert told["steps"][0]["lifecycleStatus"] == "RUNNING"


def test_the_timeline_is_every_version_in_order(milepost, known):
    told = milepost("tasks", "events", "contract-7", "--json", **known.environ).json["items"]
    assert [item["taskVersion"] for item in told][:2] == ["1", "2"]
    rows = list(csv.DictReader(io.StringIO(milepost("tasks", "events", "contract-7", "--csv", **known.environ).out)))
    assert [row["event"] for row in rows][:2] == ["TASK_CREATED", "STEP_STARTED"]
    later = milepost("tasks", "events", "contract-7", "--after", "1", "--json", **known.environ).json["items"]
    assert [item["taskVersion"] for item in later] == [item["taskVersion"] for item in told][1:]


def test_a_request_to_cancel_is_noted_and_refused_after_the_end(milepost, known):
    create(known.server, known.secret, "cancel", taskId="to-cancel")
    assert milepost("tasks", "cancel", "to-cancel", "--json", **known.environ).json["accepted"] is True
    with known.server.client(known.secret) as client:
        end = {
            "eventId": "end",
            "taskId": "to-cancel",
            "taskType": "DOCUMENT_PROCESS",
            "taskAttempt": 1,
            "producerId": "api",
            "eventType": "TASK_CANCELLED",
            "occurredAt": "2026-11-29T19:00:00.000Z",
        }
        assert client.post("/internal/v1/task-events", json=end).status_code == 200
    done = milepost("tasks", "cancel", "to-cancel", **known.environ)
    assert (done.code, done.err) == (1, "milepost: to-cancel has ended already: CANCELLED\n")


@pytest.mark.parametrize(
    "command,environ,code,says",
    [
        (["tasks", "list"], {"MILEPOST_TOKEN": ""}, 2, "no session token"),
        (["tasks", "list"], {"MILEPOST_TOKEN": "nonsense"}, 2, "the session token is not taken"),
        (["tasks", "list"], {"MILEPOST_TOKEN": "a\nb"}, 2, "not a session token"),
        (["tasks", "list"], {"MILEPOST_URL": "localhost"}, 2, "--url: expected"),
        (["tasks", "list", "--json", "--csv"], {}, 2, "either --json or --csv"),
        (["tasks", "show", "nothing"], {}, 1, "No such task"),
        (["tasks", "cancel", "nothing"], {}, 1, "No such task"),
        (["watch", "nothing"], {}, 1, "no such task"),
        (["watch"], {"MILEPOST_TOKEN": "nonsense"}, 2, "the session token is not taken"),
        (["tasks", "list"], {"MILEPOST_URL": f"http://127.0.0.1:{free_port()}"}, 3, "127.0.0.1"),
    ],
)
def test_what_cannot_be_read_is_told_in_one_line(milepost, known, command, environ, code, says):
    done = milepost(*command, **(known.environ | environ))
    assert (done.code, done.out) == (code, "")
    assert says in done.err
    assert len(done.err.splitlines()) == 1


def started(known: Known, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "milepost", "watch", *arguments],
        env={**os.environ, **known.environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def follow(known: Known, *arguments: str) -> tuple[subprocess.Popen[str], Lines]:
    process = started(known, *arguments)
    assert process.stdout is not None
    return process, Lines(process.stdout)


def test_watching_through_a_pipe_is_a_json_line_per_message_and_survives_a_restart(tmp_path: Path):
    with program(tmp_path) as server:
        known = Known(server)
        process, lines = follow(known)
        first = json.loads(lines.until(lambda _: True))
        assert (first["kind"], [item["id"] for item in first["items"]]) == ("snapshot", ["contract-7"])
        known.report(2, eventType="STEP_PROGRESS", stage="pages", progress={"current": 1, "total": 4})
        told = json.loads(lines.until(lambda line: '"task.summary"' in line))
        assert (told["version"], told["task"]["progress"]["percent"]) == ("3", 25)
        server.kill()
        server.start()
        known.report(3, eventType="STEP_COMPLETED", durationMs=5)
        told = json.loads(lines.until(lambda line: '"version":"4"' in line))
        assert told["task"]["lifecycleStatus"] == "RUNNING"
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()
        process.stderr.close()


def test_watching_one_task_shows_its_steps(known):
    process, lines = follow(known, "contract-7")
    first = json.loads(lines.until(lambda _: True))
    assert (first["kind"], first["steps"][0]["id"]) == ("snapshot", "01")
    known.report(20, eventType="STEP_PROGRESS", stage="next", progress={"current": 3, "total": 4})
    told = json.loads(lines.until(lambda line: '"task.detail"' in line))
    assert told["steps"][0]["progress"]["current"] == 3
    process.terminate()
    assert process.wait(20) == 0
    assert process.stderr is not None
    process.stderr.close()


def test_a_reader_of_the_watched_that_had_enough_ends_it_quietly(known):
    process = started(known)
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline()
    process.stdout.close()
    create(known.server, known.secret, "enough", taskId="enough")
    assert process.wait(20) == 0
    assert process.stderr.read() in ("", "milepost: live\n")
    process.stderr.close()
