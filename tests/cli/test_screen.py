import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import msgspec
import pytest

from milepost.cli.output import width
from milepost.cli.screen import Canvas, clock, draw_list, draw_task
from milepost.wire.views import StepView, TaskView
from tests.cli.test_reading import Known
from tests.parts.program import program

TASK = msgspec.convert(
    {
        "id": "contract-7",
        "tenantId": "t1",
        "ownerId": "alice",
        "projectId": None,
        "product": None,
        "taskType": "DOCUMENT_PROCESS",
        "title": "contract.pdf",
        "lifecycleStatus": "RUNNING",
        "businessStatus": "RUNNING",
        "health": "HEALTHY",
        "attempt": 1,
        "version": "3",
        "statusDefinitionVersion": 1,
        "operationDefinitionVersion": 1,
        "progress": {"mode": "WEIGHTED", "percent": 42, "current": 0, "total": 1, "stage": None},
        "currentStep": "02_parse",
        "summaryData": None,
        "resultRef": None,
        "failure": None,
        "cancelRequestedAt": None,
        "createdAt": "2026-11-29T19:00:00.000Z",
        "startedAt": "2026-11-29T19:00:00.000Z",
        "finishedAt": None,
        "updatedAt": "2026-11-29T19:00:00.000Z",
        "queueDurationMs": 1,
        "runDurationMs": None,
        "totalDurationMs": None,
        "elapsedMs": 5,
        "asOf": "2026-11-29T19:00:00.000Z",
    },
    TaskView,
)
STEP = msgspec.convert(
    {
        "id": "02_parse",
        "operationCode": "DOC.PARSE",
        "producerId": "parser",
        "attempt": 2,
        "version": "3",
        "lifecycleStatus": "FAILED",
        "businessStatus": "FAILED",
        "health": "HEALTHY",
        "lastSeenAt": None,
        "progress": {"current": 3, "total": 4, "unit": "page"},
        "stage": None,
        "message": None,
        "data": None,
        "error": {"category": "SYSTEM", "code": "DISK_FULL", "retryable": True, "userMessage": "no room"},
        "startedAt": "2026-11-29T19:00:00.000Z",
        "finishedAt": "2026-11-29T19:00:00.000Z",
        "durationMs": 5,
        "durationSource": None,
        "elapsedMs": 5,
        "asOf": "2026-11-29T19:00:00.000Z",
    },
    StepView,
)


def drawn(columns: int = 100, rows: int = 30, colours: bool = False, **says: object) -> list[str]:
    task = msgspec.structs.replace(TASK, **says)
    return draw_list(Canvas(columns, rows, colours), "head", [task], lambda _: 65_000)


def test_a_task_is_one_line_with_everything_that_matters():
    line = drawn()[1]
    for part in ("▸ contract.pdf", "RUNNING", "42%", "1:05", "02_parse"):
        assert part in line


@pytest.mark.parametrize("columns", [20, 40, 60, 80, 100, 200])
@pytest.mark.parametrize("title", ["contract.pdf", "漢字" * 60, "a\x1b[2J\nb", "e\u0301" * 300, ""])
def test_no_line_is_wider_than_the_terminal_or_steers_it(columns, title):
    lines = drawn(columns, title=title) + draw_task(
        Canvas(columns, 30, False), "head" * 50, msgspec.structs.replace(TASK, title=title), [STEP], lambda _: None
    )
    assert max(width(line) for line in lines) <= columns
    assert all(line.isprintable() for line in lines)


@pytest.mark.parametrize("rows", [1, 3, 10, 24])
def test_the_table_never_has_more_lines_than_the_terminal_and_says_what_is_missing(rows):
    lines = draw_list(Canvas(80, rows, False), "head", [TASK] * 50, lambda _: None)
    assert len(lines) <= max(rows, 2)
    assert "more" in lines[-1]


def test_a_status_this_program_does_not_know_is_shown_as_it_is_and_not_as_success():
    line = drawn(lifecycle_status="ARCHIVED", business_status="ARCHIVED", colours=True)[1]
    assert "? contract.pdf" in line
    assert "ARCHIVED" in line
    assert "\x1b[32m" not in line


def test_a_step_says_how_far_it_came_and_why_it_failed():
    lines = draw_task(Canvas(140, 30, False), "head", TASK, [STEP], lambda _: 5)
    assert "✗   02_parse #2" in lines[-1]
    assert "75%" in lines[-1]
    assert "3/4 page DISK_FULL: no room" in lines[-1]


def test_trouble_is_named():
    assert "STALE" in drawn(health="STALE")[1]
    assert "cancel requested" in drawn(cancel_requested_at="2026-11-29T19:00:00.000Z")[1]


@pytest.mark.parametrize(
    "ms,says", [(None, ""), (400, "0.4s"), (59_900, "59.9s"), (125_000, "2:05"), (3_725_000, "1:02:05")]
)
def test_lengths_of_time_are_read_at_a_glance(ms, says):
    assert clock(ms) == says


class Terminal:
    """A terminal with a program in it."""

    def __init__(self, command: list[str], environ: dict[str, str]) -> None:
        self._master, slave = pty.openpty()
        self.resize(100, 20)
        self.process = subprocess.Popen(
            command, env={**os.environ, **environ}, stdin=slave, stdout=slave, stderr=slave, start_new_session=True
        )
        os.close(slave)
        self.text = ""

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def until(self, pattern: str, seconds: float = 20.0) -> None:
        """Reads until the pattern was written since the last call."""
        start, end = len(self.text), time.monotonic() + seconds
        while not re.search(pattern, self.text[start:], re.DOTALL):
            ready, _, _ = select.select([self._master], [], [], max(0, end - time.monotonic()))
            assert ready, f"{pattern} was not written: {self.text[start:][-2000:]!r}"
            self.text += os.read(self._master, 65_536).decode()

    def rest(self) -> str:
        start = len(self.text)
        try:
            while True:
                self.text += os.read(self._master, 65_536).decode()
        except OSError:
            return self.text[start:]

    def close(self) -> None:
        os.close(self._master)


def test_on_a_terminal_it_redraws_follows_a_new_size_and_leaves_the_terminal_as_it_was(tmp_path: Path):
    with program(tmp_path) as server:
        known = Known(server)
        terminal = Terminal([sys.executable, "-m", "milepost", "watch"], known.environ)
        terminal.until(r"\x1b\[\?1049h\x1b\[\?25l")
        terminal.until(r"live  1 tasks.*RUNNING")
        known.report(2, eventType="STEP_PROGRESS", stage="pages", progress={"current": 1, "total": 4})
        terminal.until(r" 25%")
        terminal.resize(50, 6)
        os.kill(terminal.process.pid, signal.SIGWINCH)
        terminal.until(r"\x1b\[H\x1b\[7m[^\n]{50}\x1b\[0m\x1b\[K\r\n")
        server.kill()
        terminal.until("reconnecting")
        server.start()
        terminal.until("live")
        terminal.process.send_signal(signal.SIGINT)
        assert terminal.process.wait(20) == 0
        rest = terminal.rest()
        terminal.close()
    assert "\x1b[?25h\x1b[?1049l" in rest
    assert "Traceback" not in terminal.text
    assert "▸ contrac…" in rest.rpartition("\x1b[?1049l")[2], "the last state stays on the screen"
