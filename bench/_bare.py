"""The limit to compare with: the same rows written by a bare loop in one process, no HTTP, no token, no server.

Per event it decodes the JSON, hashes it, reads the task, its steps and the answer of the event id, and writes what a
report leaves behind: task, step, event, answer, stream position and entry, in the same file with the same tables.
"""

import hashlib
import json
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

COMMITTED = 1_800_000_000_000


def run(database: Path, bodies: list[bytes], size: int) -> float:
    """Events a second, `size` events a transaction."""
    connection = sqlite3.connect(database, isolation_level=None, cached_statements=300)
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "cache_size=-32768"):
        connection.execute(f"PRAGMA {pragma}").fetchall()
    columns = {name: _columns(connection, name) for name in ("task", "task_step", "task_event_log", "stream_log")}
    started = time.perf_counter()
    for chunk in _chunks(bodies, size):
        connection.execute("BEGIN IMMEDIATE")
        _write(connection, [msgspec.json.decode(body) for body in chunk], chunk, columns)
        connection.execute("COMMIT")
    took = time.perf_counter() - started
    connection.close()
    return len(bodies) / took


def _chunks(items: list[bytes], size: int) -> Iterator[list[bytes]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]


def _write(
    connection: sqlite3.Connection, events: list[Any], bodies: list[bytes], columns: dict[str, list[str]]
) -> None:
    tasks: dict[str, int] = {}
    steps: list[tuple[Any, ...]] = []
    log: list[tuple[Any, ...]] = []
    answers: list[tuple[Any, ...]] = []
    for event, body in zip(events, bodies, strict=True):
        key = event["taskId"]
        if key not in tasks:
            row = connection.execute("SELECT * FROM task WHERE tenant_id='t1' AND task_id=?", (key,)).fetchone()
            tasks[key] = row[columns["task"].index("version")]
            connection.execute(
                "SELECT * FROM task_step WHERE tenant_id='t1' AND task_id=? AND \"current\"=1", (key,)
            ).fetchall()
        connection.execute(
            "SELECT payload_hash, answer FROM task_event_dedup WHERE tenant_id='t1' AND event_id=?", (event["eventId"],)
        ).fetchone()
        tasks[key] += 1
        answer = {"accepted": True, "taskId": key, "stepId": event["stepId"], "taskVersion": str(tasks[key])}
        answers.append(("t1", event["eventId"], hashlib.sha256(body).digest(), msgspec.json.encode(answer), COMMITTED))
        progress = msgspec.json.encode(event["progress"]).decode()
        steps.append((progress, event["message"], int(event["sourceSeq"]), key, event["stepId"]))
        log.append(_row(columns["task_event_log"], event, tasks[key]))
    many = connection.executemany
    many(
        "UPDATE task_step SET progress=?, message=?, source_seq=?, version=version+1, lifecycle='RUNNING',"
        " last_seen_at=1800000000000, updated_at=1800000000000"
        " WHERE tenant_id='t1' AND task_id=? AND step_id=? AND attempt=1",
        steps,
    )
    many(f"INSERT INTO task_event_log VALUES ({','.join('?' * len(columns['task_event_log']))})", log)
    many(
        "INSERT INTO task_event_dedup (tenant_id, event_id, payload_hash, answer, created_at) VALUES (?,?,?,?,?)",
        answers,
    )
    (top,) = connection.execute(
        "UPDATE stream SET top = top + ? WHERE tenant_id='t1' RETURNING top", (len(events),)
    ).fetchone()
    entries = [_entry(columns["stream_log"], row, top - len(events) + index + 1) for index, row in enumerate(events)]
    many(f"INSERT INTO stream_log VALUES ({','.join('?' * len(columns['stream_log']))})", entries)
    many(
        "UPDATE task SET version=?, last_position=?, percent=50, lifecycle='RUNNING', updated_at=1800000000000"
        " WHERE tenant_id='t1' AND task_id=?",
        [(version, top, key) for key, version in tasks.items()],
    )


def _row(columns: list[str], event: Any, version: int) -> tuple[Any, ...]:
    public = json.dumps({"progress": event["progress"], "message": event["message"]})
    known: dict[str, Any] = {
        "tenant_id": "t1",
        "task_id": event["taskId"],
        "task_version": version,
        "event_id": event["eventId"],
        "event_type": event["eventType"],
        "step_id": event["stepId"],
        "operation_code": event["operationCode"],
        "producer_id": event["producerId"],
        "lifecycle": "RUNNING",
        "business_status": "RUNNING",
        "health": "HEALTHY",
        "step_lifecycle": "RUNNING",
        "step_business_status": "RUNNING",
        "public": public,
        "private": "{}",
        "source_seq": int(event["sourceSeq"]),
    }
    numbers = {"gap", "derived"}
    return tuple(known.get(name, 0 if name in numbers else 1) for name in columns)


def _entry(columns: list[str], event: Any, position: int) -> tuple[Any, ...]:
    known: dict[str, Any] = {
        "tenant_id": "t1",
        "position": position,
        "kind": "task",
        "task_id": event["taskId"],
        "task_version": position,
        "audience_user": "u1",
        "audience_project": "p1",
        "mergeable": 1,
        "body": None,
        "committed_at": COMMITTED,
    }
    return tuple(known[name] for name in columns)
