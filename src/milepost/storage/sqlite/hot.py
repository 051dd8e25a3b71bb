"""The statements of the hot path, written for SQLite.

Every statement takes many rows at once, in fixed sizes so that few texts are prepared: 64 events cost 191 us of CPU
each (every field set, three steps a task) where `executemany` took 216, and a busy event loop beside it made no
difference between the two. Fetching all rows as one JSON array, so that the driver gives up the interpreter's lock once
and not once a row, gained nothing either; nor did a shorter switch interval.

`(a, b) IN (VALUES …)` scans the whole table on SQLite 3.40. A `WITH` list joined by CROSS JOIN, which keeps the order
of its tables, searches it once per key.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from milepost.domain.lifecycle import ENDS
from milepost.storage.rows import AUDITED, EVENT, EVIDENCE, NOTIFICATION, REMEMBERED, RESULT, STEP, TASK, Row, Shape
from milepost.storage.tables import stream_log

SIZES = (256, 64, 16, 4, 1)
"""How many rows a statement may take; a batch is cut greedily."""

FIXED = {
    "task": frozenset({"tenant_id", "task_id", "owner_id", "project_id", "coordinator_id", "created_at"})
    | frozenset({"definition_id", "listed_at", "search"}),
    "task_step": frozenset({"tenant_id", "task_id", "step_id", "attempt", "ordinal", "weight", "on_failure"})
    | frozenset({"operation_code", "producer_id"}),
}
"""Columns that never change, or not here. What is not set moves none of the indexes over it."""

_ENDED = ", ".join(f"'{end}'" for end in sorted(ENDS))


def cut(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    """The rows in pieces of the sizes above."""
    start = 0
    for size in SIZES:
        while len(rows) - start >= size:
            yield rows[start : start + size]
            start += size


def flat(rows: Sequence[Row]) -> list[Any]:
    """All cells one after another."""
    return [cell for row in rows for cell in row]


def put(connection: sqlite3.Connection, text: "Statement", rows: Sequence[Row]) -> None:
    """Runs a change over all rows."""
    for piece in cut(rows):
        connection.execute(text(len(piece)), flat(piece))


def find(connection: sqlite3.Connection, text: "Statement", keys: Sequence[Row], *more: Any) -> list[Row]:
    """All rows of a search over these keys."""
    found: list[Row] = []
    for piece in cut(keys):
        found += connection.execute(text(len(piece)), [*flat(piece), *more]).fetchall()
    return found


class Statement:
    """A text with a place for a list of rows, filled in for each size once."""

    def __init__(self, template: str, width: int) -> None:
        self._template = template
        self._row = f"({', '.join('?' * width)})"
        self._sized = lru_cache(maxsize=len(SIZES))(self._fill)

    def _fill(self, size: int) -> str:
        return self._template.replace("{rows}", ", ".join([self._row] * size))

    def __call__(self, size: int) -> str:
        """The text for so many rows."""
        return self._sized(size)


def _insert(shape: Shape[Any], tail: str = "") -> Statement:
    columns = ", ".join(f'"{name}"' for name in shape.columns)
    return Statement(f'INSERT INTO "{shape.table.name}" ({columns}) VALUES {{rows}}{tail}', len(shape.columns))


def _update(shape: Shape[Any]) -> Statement:
    # The rows are there, since the transaction that read them still holds the write lock: this never inserts.
    keys = ", ".join(f'"{column.name}"' for column in shape.table.primary_key)
    moved = ", ".join(f'"{name}" = excluded."{name}"' for name in shape.columns if name not in FIXED[shape.table.name])
    return _insert(shape, f" ON CONFLICT ({keys}) DO UPDATE SET {moved}")


def _columns(shape: Shape[Any], alias: str) -> str:
    return ", ".join(f'{alias}."{name}"' for name in shape.columns[: shape.width])


INSERT_TASK = _insert(TASK)
UPDATE_TASK = _update(TASK)
UNLIST_TASK = "UPDATE task SET listed_at = NULL WHERE tenant_id = ? AND task_id = ?"
INSERT_STEP = _insert(STEP)
UPDATE_STEP = _update(STEP)
INSERT_EVENT = _insert(EVENT)
INSERT_EVIDENCE = _insert(EVIDENCE, " ON CONFLICT DO NOTHING")
INSERT_ANSWER = _insert(REMEMBERED)
INSERT_RESULT = _insert(RESULT)
INSERT_AUDIT = Statement(f"INSERT INTO audit_log ({', '.join(AUDITED)}) VALUES {{rows}}", len(AUDITED))
INSERT_NOTIFICATION = _insert(NOTIFICATION)
INSERT_ENTRY = Statement(
    f"INSERT INTO stream_log ({', '.join(stream_log.c.keys())}) VALUES {{rows}}", len(stream_log.c.keys())
)

NUMBER = "UPDATE stream SET top = top + ? WHERE tenant_id = ? RETURNING top"
EPOCH = "SELECT epoch FROM database_epoch"
SUM = "SELECT coalesce(sum(top), 0) FROM stream"

FIND_TASKS = Statement(
    f"WITH u (a, b) AS (VALUES {{rows}}) SELECT {_columns(TASK, 't')} FROM u"
    " CROSS JOIN task t ON t.tenant_id = u.a AND t.task_id = u.b",
    2,
)
FIND_STEPS = Statement(
    f"WITH u (a, b) AS (VALUES {{rows}}) SELECT {_columns(STEP, 's')} FROM u"
    ' CROSS JOIN task_step s ON s.tenant_id = u.a AND s.task_id = u.b WHERE s."current" = 1',
    2,
)
FIND_ANSWERS = Statement(
    f"WITH u (a, b) AS (VALUES {{rows}}) SELECT {_columns(REMEMBERED, 'd')} FROM u"
    " CROSS JOIN task_event_dedup d ON d.tenant_id = u.a AND d.event_id = u.b",
    2,
)
FIND_RESULTS = Statement(
    f"WITH u (a, b, c) AS (VALUES {{rows}}) SELECT {_columns(RESULT, 'r')} FROM u"
    " CROSS JOIN command_result r ON r.tenant_id = u.a AND r.credential_id = u.b AND r.idempotency_key = u.c",
    3,
)
FIND_DOCUMENTS = Statement(
    "WITH u (a) AS (VALUES {rows}) SELECT d.definition_id, d.document FROM u"
    " CROSS JOIN task_definition d ON d.definition_id = u.a",
    1,
)
FIND_STEP_SEQS = Statement(
    "WITH u (a, b, c, d, e, f) AS (VALUES {rows}) SELECT u.a, u.b, u.c, u.d, u.e, u.f, l.event_id FROM u"
    " CROSS JOIN task_event_log l ON l.tenant_id = u.a AND l.task_id = u.b AND l.step_id = u.c AND l.source_seq = u.f"
    " WHERE l.step_attempt = u.d AND l.source_epoch = u.e",
    6,
)
FIND_TASK_SEQS = Statement(
    "WITH u (a, b, c, d, e, f) AS (VALUES {rows}) SELECT u.a, u.b, u.c, u.d, u.e, u.f, l.event_id FROM u"
    " CROSS JOIN task_event_log l ON l.tenant_id = u.a AND l.task_id = u.b AND l.step_id IS NULL"
    " AND l.source_seq = u.f WHERE l.task_attempt = u.d",
    6,
)
TOUCH = Statement(
    "UPDATE task_step SET last_seen_at = ?1, look_at = CASE"
    " WHEN lifecycle <> 'RUNNING' OR \"current\" = 0 THEN NULL WHEN silent_since IS NOT NULL THEN ?1"
    " WHEN calm_at > ?1 THEN ?1 + patience_ms ELSE ?1 + stale_after_ms END"
    " WHERE rowid IN (WITH u (a, b, c, d) AS (VALUES {rows})"
    " SELECT s.rowid FROM u CROSS JOIN task_step s ON s.tenant_id = u.a AND s.task_id = u.b AND s.step_id = u.c"
    f" AND s.attempt = u.d WHERE s.lifecycle NOT IN ({_ENDED})"
    " AND (s.last_seen_at IS NULL OR s.last_seen_at < ?1))",
    4,
)
