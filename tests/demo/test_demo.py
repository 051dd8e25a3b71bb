"""The demonstration as a newcomer starts it."""

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from milepost.client import Client

COMMAND = [sys.executable, "-m", "milepost", "demo"]


def environment(tmp_path: Path) -> dict[str, str]:
    return os.environ | {"TMPDIR": str(tmp_path)}


def left_behind(tmp_path: Path) -> list[str]:
    """Command lines of processes that still work for a demonstration in this folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if str(tmp_path).encode() in (entry / "environ").read_bytes():
                found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return found


def test_one_round_tells_the_whole_story_and_leaves_nothing(tmp_path: Path):
    done = subprocess.run(
        [*COMMAND, "--fast", "--once"],
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    ends = dict(re.findall(r"[✓✗⊘] (\S+) +(SUCCEEDED|FAILED|CANCELLED)", done.stdout))
    assert ends.pop("notes-of-a-long-walk.txt") in {"CANCELLED", "SUCCEEDED"}  # who asks may come too late
    assert ends == {
        "a-book-of-milestones.pdf": "SUCCEEDED",
        "gradients.csv": "SUCCEEDED",
        "how-to-read-a-milestone.md": "SUCCEEDED",
        "valley-survey-damaged.pdf": "FAILED",
        "valley-survey.pdf": "SUCCEEDED",
        "words-of-the-road.html": "SUCCEEDED",
    }
    assert "the parser is killed with -9 at page 6" in done.stdout
    assert "document-parser ended with -9 and is started again" in done.stdout
    assert "somebody asks for it to be cancelled" in done.stdout
    assert re.search(r"gradients.csv +SUCCEEDED +100 % \[DEGRADED\]", done.stdout)
    assert re.search(r"damaged.pdf +FAILED .* PDF_DAMAGED in 02_parse", done.stdout)
    assert "Traceback" not in done.stdout + done.stderr
    assert "Warning" not in done.stderr
    assert left_behind(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("signals", [[signal.SIGINT], [signal.SIGTERM, signal.SIGINT]])
def test_ctrl_c_in_the_middle_ends_every_process_and_removes_the_data(tmp_path: Path, signals: list[signal.Signals]):
    process = subprocess.Popen(
        COMMAND, env=environment(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    said: list[str] = []
    assert process.stdout is not None
    for line in process.stdout:
        said.append(line)
        if "RUNNING     10 %" in line:
            break
    assert len(left_behind(tmp_path)) >= 6  # itself, the server, the coordinator, three workers
    for number in signals:
        process.send_signal(number)
    rest, _ = process.communicate(timeout=25)
    assert process.returncode == 0, "".join(said) + rest
    assert "Traceback" not in rest
    assert left_behind(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_the_story_is_in_the_data_for_anybody_to_read(tmp_path: Path):
    process = subprocess.Popen(
        [*COMMAND, "--fast"], env=environment(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert process.stdout is not None
        said = ""
        while "all documents are through" not in said:
            line = process.stdout.readline()
            assert line, said
            said += line
        found = re.search(r"MILEPOST_URL=(\S+) MILEPOST_TOKEN=(\S+) ", said)
        link = re.search(r"(http\S+)/#code=(\S+)", said)
        assert found is not None
        assert link is not None
        with Client(found[1], token=found[2]) as client:
            judge(client)
        assert httpx.post(f"{link[1]}/api/session", json={"code": link[2]}, trust_env=False).status_code == 201
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=25)


def judge(client: Client) -> None:
    tasks = {task.title: client.task(task.id, all_attempts=True) for task in client.tasks().items}
    book = [step for step in tasks["a-book-of-milestones.pdf"].steps if step.id == "02_parse"]
    assert sorted((step.attempt, step.lifecycle_status) for step in book) == [(1, "RUNNING"), (2, "SUCCEEDED")]
    broken = [step for step in tasks["valley-survey-damaged.pdf"].steps if step.id == "02_parse"]
    assert sorted((step.attempt, step.error and step.error.code) for step in broken) == [
        (1, "PDF_DAMAGED"),
        (2, "PDF_DAMAGED"),
    ]
    table = tasks["gradients.csv"]
    assert (table.task.lifecycle_status, table.task.health) == ("SUCCEEDED", "DEGRADED")
    outline = next(step for step in table.steps if step.id == "03_outline")
    assert outline.error is not None
    assert outline.error.code == "NO_HEADINGS"
    survey = next(step for step in tasks["valley-survey.pdf"].steps if step.id == "02_parse")
    assert survey.message == "5 pages, 461 words"
    producers = {step.producer_id for shown in tasks.values() for step in shown.steps}
    assert producers == {"document-preparer", "document-parser", "document-store"}
    for shown in tasks.values():
        line = [int(item.task_version) for item in client.timeline(shown.task.id)]
        assert line == list(range(1, len(line) + 1))


def test_a_port_that_is_taken_is_said_in_a_line(tmp_path: Path):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        done = subprocess.run(
            [*COMMAND, "--port", str(port)],
            env=environment(tmp_path),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 3
    assert done.stderr.startswith("milepost demo: the server ended")
    assert list(tmp_path.iterdir()) == []
