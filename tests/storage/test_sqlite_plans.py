"""No query of a list, a replay or a lookup reads more than it shows: plans, as SQLite explains them."""

import re
import sqlite3
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from milepost.domain.state import TaskKey
from milepost.ports.notices import ReadMark
from milepost.ports.reading import Filters, Scope
from milepost.ports.retention import AnswerPlace
from milepost.ports.storage import EventKey, ResultKey, SeqKey, StepKey, Wanted, Writes
from milepost.ports.watching import Place
from milepost.storage.access import SqlAccess
from milepost.storage.notices import SqlNotices
from milepost.storage.reading import SqlReading
from milepost.storage.retention import SqlRetention
from milepost.storage.sqlite.session import SqliteSession
from milepost.storage.sqlite.stepping import finish
from milepost.storage.sqlite.transaction import SqliteTransaction
from milepost.storage.stream_log import SqlStreamLog
from milepost.storage.watching import SqlWatching
from milepost.testing.storage_suite import samples
from milepost.testing.storage_suite.site import TENANT
from tests.parts.clocks import SetClock

KEY = TaskKey(TENANT, "task-1")
OWN = Scope(TENANT, "owner")
MEMBER = Scope(TENANT, "owner", frozenset({"project", "p2", "p3"}))
ADMIN = Scope(TENANT, "owner", everything=True)
PAGE = 50


class Explained(sqlite3.Connection):
    """Explains every statement before it runs it."""

    plans: list[str]

    def execute(self, sql: str, parameters: Any = ()) -> sqlite3.Cursor:
        if re.match(r"\s*(SELECT|WITH|UPDATE|INSERT|DELETE)", sql):
            steps = super().execute(f"EXPLAIN QUERY PLAN {sql}", parameters)
            self.plans += [f"{row[3]}" for row in steps]
        return super().execute(sql, parameters)


class OneConnection:
    """A database of one connection, for the shared statements."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._session = SqliteSession(connection)

    async def read(self, work: Callable[[SqliteSession], Awaitable[Any]]) -> Any:
        return await work(self._session)

    write = read


@pytest.fixture
def connection(empty_file: Path, tmp_path: Path) -> Iterator[Explained]:
    connection = sqlite3.connect(":memory:", factory=Explained, isolation_level=None)
    connection.plans = []
    source = sqlite3.connect(empty_file)
    source.backup(connection)
    source.close()
    connection.execute("INSERT INTO stream VALUES (?, 0, 0, 0)", (TENANT,))
    connection.execute("INSERT INTO database_epoch VALUES (1, 'e', 'e', 0)")
    tasks = [samples.a_task(f"task-{number}") for number in range(PAGE)]
    writes = Writes(new_tasks=tasks, entries=[samples.an_entry(task.task_id) for task in tasks])
    finish(SqliteTransaction(connection, lambda: 0).write(writes))
    connection.plans.clear()
    yield connection
    connection.close()


# Several branches are merged: each is cut to a page along its own index first, and what is sorted is that page.
BRANCHES = 6


def assert_cheap(connection: Explained, *, sorts: int = 0) -> None:
    assert connection.plans
    wrong = [
        step for step in connection.plans if re.match(r"SCAN (?!u$|\d+ CONSTANT ROW|CONSTANT|database_epoch)", step)
    ]
    wrong = [step for step in wrong if not re.match(r"SCAN (\(subquery-\d+\)|anon_\d+|\d+-ROW VALUES)", step)]
    assert wrong == []
    assert sum("USE TEMP B-TREE" in step for step in connection.plans) <= sorts, connection.plans


async def changes_everything(transaction: SqliteTransaction) -> None:
    states = await transaction.lock([KEY, TaskKey(TENANT, "task-2")])
    await transaction.read(
        Wanted(
            events=[EventKey(TENANT, f"e{number}") for number in range(5)],
            sequences=[SeqKey(TENANT, "task-1", step, 1, 1, number) for step in ("s", None) for number in range(5)],
            results=[ResultKey(TENANT, "c", f"k{number}") for number in range(5)],
        )
    )
    await transaction.write(
        Writes(
            tasks=[state.task for state in states.values()],
            new_steps=[samples.a_step()],
            events=[samples.an_event()],
            answers=[samples.an_answer()],
            evidence=[samples.an_evidence()],
            entries=[samples.an_entry()],
        )
    )
    await transaction.write(Writes(steps=[samples.a_step()], tasks=[samples.a_task(deleted_at=1)]))
    await transaction.touch([StepKey(TENANT, "task-1", "02_parse", 1)], 99)


def test_a_transaction_searches_by_key_and_scans_nothing(connection: Explained):
    finish(changes_everything(SqliteTransaction(connection, lambda: 0)))
    assert_cheap(connection)


FILTERS = [
    Filters(),
    Filters(lifecycle="FAILED", task_type="T", text="x", updated_after=1),
    Filters(project_id="project"),
]


@pytest.mark.parametrize("before", [None, (5, "task-5")])
@pytest.mark.parametrize("filters", FILTERS)
@pytest.mark.parametrize("scope", [OWN, ADMIN], ids=["own", "admin"])
def test_a_page_walks_along_an_index(
    connection: Explained, scope: Scope, filters: Filters, before: tuple[int, str] | None
):
    finish(SqlReading(OneConnection(connection)).page(scope, filters, before, PAGE))
    assert_cheap(connection)


@pytest.mark.parametrize("before", [None, (5, "task-5")])
def test_a_page_of_several_projects_sorts_no_more_than_a_page_of_each(
    connection: Explained, before: tuple[int, str] | None
):
    finish(SqlReading(OneConnection(connection)).page(MEMBER, Filters(), before, PAGE))
    assert_cheap(connection, sorts=BRANCHES)
    walks = [step for step in connection.plans if "listed_at" in step or "task_by_" in step]
    assert sum("task_by_owner" in step for step in walks) == 1
    assert sum("task_by_project" in step for step in walks) == 4


def test_a_deep_page_begins_where_the_last_one_ended(connection: Explained):
    finish(SqlReading(OneConnection(connection)).page(OWN, Filters(), (5, "task-5"), PAGE))
    assert any("task_by_owner (tenant_id=? AND owner_id=? AND listed_at<?)" in step for step in connection.plans)


@pytest.mark.parametrize("scope", [None, OWN, ADMIN], ids=["tail", "own", "admin"])
def test_a_replay_walks_along_an_index(connection: Explained, scope: Scope | None):
    finish(SqlStreamLog(OneConnection(connection)).entries(TENANT, 3, 99, PAGE, scope))
    assert_cheap(connection, sorts=2 if scope is OWN else 0)
    walks = [step for step in connection.plans if "stream_log" in step]
    assert all("position>? AND position<?" in step for step in walks), walks
    if scope is OWN:
        assert all("stream_log_by_user (tenant_id=? AND audience_user=?" in step for step in walks), walks


def test_a_replay_of_several_projects_walks_along_one_index_for_each(connection: Explained):
    finish(SqlStreamLog(OneConnection(connection)).entries(TENANT, 3, 99, PAGE, MEMBER))
    assert_cheap(connection, sorts=BRANCHES)
    walks = [step for step in connection.plans if "stream_log" in step and "SEARCH" in step]
    assert all("position>? AND position<?" in step for step in walks), walks
    assert sum("stream_log_by_project" in step for step in walks) == 4
    assert sum("stream_log_by_user" in step for step in walks) == 2


@pytest.mark.parametrize("scope", [OWN, MEMBER, ADMIN], ids=["own", "member", "admin"])
def test_changes_walk_along_an_index(connection: Explained, scope: Scope):
    finish(SqlReading(OneConnection(connection)).changes(scope, 3, PAGE))
    assert_cheap(connection, sorts=0 if scope is ADMIN else BRANCHES)


def test_single_tasks_timelines_and_waiting_steps_are_searched(connection: Explained):
    reading = SqlReading(OneConnection(connection))
    finish(reading.snapshot(KEY, all_attempts=True))
    finish(reading.snapshots(TENANT, [f"task-{number}" for number in range(PAGE)], steps=True))
    finish(reading.timeline(KEY, 3, PAGE))
    finish(reading.events_at([(KEY, number) for number in range(PAGE)]))
    finish(reading.evidence(KEY, PAGE))
    finish(reading.result(ResultKey(TENANT, "c", "k")))
    finish(reading.pending(5, PAGE))
    finish(SqlStreamLog(OneConnection(connection)).tops([TENANT, "b", "c"]))
    assert_cheap(connection)
    assert any("task_step_pending (pending_since<?)" in step for step in connection.plans)


@pytest.mark.parametrize("before", [None, 5])
def test_the_notification_centre_and_the_rule_of_membership_walk_along_indexes(
    connection: Explained, before: int | None
):
    centre, access = SqlNotices(OneConnection(connection)), SqlAccess(OneConnection(connection), SetClock())
    finish(centre.page(TENANT, "owner", unread=False, before=before, limit=PAGE))
    finish(centre.page(TENANT, "owner", unread=True, before=before, limit=PAGE))
    finish(access.projects_of(TENANT, "owner", {f"p{number}" for number in range(PAGE)}))
    transaction = SqliteTransaction(connection, lambda: 0)
    finish(transaction.mark_read(ReadMark(TENANT, "owner", 5, up_to=9)))
    finish(transaction.mark_read(ReadMark(TENANT, "owner", 5, ids=("a", "b"))))
    finish(transaction.members(TENANT, "p"))
    finish(transaction.claimants(TENANT, "p", 5))
    assert_cheap(connection)
    assert any("notification_unread" in step for step in connection.plans)


def test_a_scan_would_be_found(connection: Explained):
    """The check itself can fail."""
    connection.execute("SELECT * FROM task WHERE title = 'x' ORDER BY title")
    with pytest.raises(AssertionError):
        assert_cheap(connection)
    connection.plans.clear()
    connection.execute("SELECT * FROM task WHERE tenant_id = 't' ORDER BY title")
    with pytest.raises(AssertionError):
        assert_cheap(connection)


def test_the_health_scan_walks_along_what_is_due_however_many_tasks_there_are(connection: Explained):
    watching = SqlWatching(OneConnection(connection))
    finish(watching.due(99, None, PAGE))
    finish(watching.due(99, Place(5, StepKey(TENANT, "task-1", "s", 1)), PAGE))
    finish(watching.unanswered(99, PAGE))
    finish(watching.unwatch([StepKey(TENANT, "task-1", "s", 1)]))
    assert_cheap(connection)
    walks = [step for step in connection.plans if "task_step_look" in step]
    assert len(walks) == 2
    assert all("(look_at,tenant_id,task_id,step_id,attempt)>(?,?,?,?,?)" in step or "look_at" in step for step in walks)
    assert any("task_cancel_due (cancel_due_at<?)" in step for step in connection.plans)


def test_watched_steps_are_counted_in_the_index_alone(connection: Explained):
    finish(SqlWatching(OneConnection(connection)).watched())
    assert ["COVERING INDEX task_step_look" in step for step in connection.plans] == [True]


def test_retention_finds_what_is_old_along_indexes(connection: Explained):
    retention = SqlRetention(OneConnection(connection))
    entries = [samples.an_entry("task-1", number) for number in range(3)]
    finish(SqliteTransaction(connection, lambda: 0).write(Writes(entries=entries, answers=[samples.an_answer()])))
    connection.plans.clear()
    finish(retention.trim_stream(TENANT, 2**50, 2))
    finish(retention.forget_answers(AnswerPlace(1, TENANT, "e"), 2**50, 2))
    finish(retention.drop_codes(99, 2))
    finish(retention.drop_sessions(99, 2))
    assert_cheap(connection)
    for index in ("task_event_dedup_by_age", "used_once_expired", "user_session_expired"):
        assert any(index in step for step in connection.plans), index
