"""The commands of operators against the real program, and tables that are safe to open."""

import csv
import io
from collections.abc import Iterator
from typing import Any

import pytest

from milepost.cli.output import print_csv
from tests.cli.test_serving import create
from tests.parts.program import Program, program

END = {"taskType": "DOCUMENT_PROCESS", "taskAttempt": 1, "occurredAt": "2027-01-15T08:00:00Z"}


class Known:
    """A server with a task that succeeded and was then said to have failed, and an operator."""

    def __init__(self, server: Program) -> None:
        self.server = server
        self.secret = server.credential("api", "report,coordinate")
        create(server, self.secret, title="=1+1", taskId="contract-7")
        assert self.report("TASK_COMPLETED", "e1") == 200
        assert self.report("TASK_FAILED", "e2") == 409
        made = server.json("session", "create", "--tenant", "t1", "--user", "op-1", "--role", "operator", "--json")
        self.environ = {"MILEPOST_URL": server.url, "MILEPOST_TOKEN": made["token"]}
        self.member = {"MILEPOST_URL": server.url, "MILEPOST_TOKEN": server.session("alice")}

    def report(self, event_type: str, event_id: str) -> int:
        body = {**END, "taskId": "contract-7", "eventType": event_type, "eventId": event_id}
        with self.server.client(self.secret) as client:
            return client.post("/internal/v1/task-events", json=body).status_code


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Known]:
    with program(tmp_path_factory.mktemp("operators")) as server:
        yield Known(server)


def test_conflicts_are_listed_and_settled(milepost, known):
    text = milepost("conflicts", "list", **known.environ)
    assert (text.code, text.err) == (0, "")
    assert text.out.splitlines()[1].startswith("e2     contract-7")
    (item,) = milepost("conflicts", "list", "--json", **known.environ).json["items"]
    assert (item["eventType"], item["lifecycleStatus"], item["state"]) == ("TASK_FAILED", "SUCCEEDED", "OPEN")
    done = milepost("conflicts", "resolve", "e2", "--note", "it ran twice", **known.environ)
    assert done.code == 0
    assert done.out.startswith("e2: resolved by op-1 at ")
    assert len(milepost("conflicts", "list", **known.environ).out.splitlines()) == 1
    assert milepost("conflicts", "list", "--state", "all", "--json", **known.environ).json["items"][0]["note"] == (
        "it ran twice"
    )
    unknown = milepost("conflicts", "resolve", "e3", "--note", "x", **known.environ)
    assert (unknown.code, unknown.out) == (1, "")


def test_a_task_is_corrected_on_the_version_that_was_seen_and_by_operators_only(milepost, known):
    asked = ("tasks", "correct", "contract-7", "--to", "failed", "--reason", "empty file", "--expected-version")
    late = milepost(*asked, "1", **known.environ)
    assert (late.code, late.err) == (1, "milepost: VERSION_CONFLICT: The task is at version 2.\n")
    other = milepost(*asked, "2", **known.member)
    assert (other.code, other.err) == (1, "milepost: This is for operators.\n")
    done = milepost(*asked, "2", **known.environ)
    assert (done.code, done.out) == (0, "contract-7: SUCCEEDED -> FAILED, version 3\n")


def test_a_title_that_looks_like_a_formula_is_a_text_in_the_table(milepost, known):
    (row,) = csv.DictReader(io.StringIO(milepost("tasks", "list", "--csv", **known.environ).out))
    assert row["title"] == "'=1+1"


@pytest.mark.parametrize(
    "cell, shown",
    [
        ("=cmd|'/C calc'!A0", "'=cmd|'/C calc'!A0"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@x", "'@x"),
        ("  =1", "'  =1"),
        ("\uff1d1", "'\uff1d1"),
        ("\t=1", "\ufffd=1"),
        ("\r=1", "\ufffd=1"),
        ("a\n2026-01-01 INFO forged", "a\ufffd2026-01-01 INFO forged"),
        ("\x1b[2J", "\ufffd[2J"),
        ('"><svg onload=x>', '"><svg onload=x>'),
        (-1, "-1"),
        (-2.5, "-2.5"),
        (7, "7"),
        ("40%", "40%"),
        (None, ""),
    ],
)
def test_cells_compute_nothing_and_break_no_line_while_numbers_stay_numbers(
    capfd: pytest.CaptureFixture[str], cell: Any, shown: str
) -> None:
    print_csv(("id", "cell"), [("k", cell)])
    out = capfd.readouterr().out
    assert len(out.splitlines()) == 2
    assert list(csv.reader(io.StringIO(out)))[1] == ["k", shown]
