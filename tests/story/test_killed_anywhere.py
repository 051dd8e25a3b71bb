"""Sixteen reporters and four viewers, while the service is killed inside every phase of a commit and at random.

What was acknowledged is there exactly once, nothing is half done, merged progress shows, and every viewer converges.
`MILEPOST_ROUNDS=100` makes it long; the suite runs each point once and two kills at random.
"""

import asyncio
import os
import random
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from milepost.client import AsyncClient, Tempo
from milepost.testing.mortal import POINTS
from tests.parts.program import Program, program

REPORTERS = 16
VIEWERS = 4
ROUNDS = int(os.environ.get("MILEPOST_ROUNDS", "7"))
PAGES = 6
TEMPO = Tempo(first=0.05, longest=0.5)


@pytest.mark.accepts("concurrent reports get distinct consecutive versions")
@pytest.mark.accepts("state, event, version, dedup, outbox in one transaction")
@pytest.mark.accepts("an ambiguous commit is settled, never guessed")
async def test_whatever_the_moment_of_the_kill_nothing_acknowledged_is_lost_and_viewers_converge(tmp_path: Path):
    with program(tmp_path) as server:
        reporters = [Reporter(server, number) for number in range(REPORTERS)]
        coordinator = server.credential("api", "report,coordinate")
        tokens = [server.session(f"u{number}") for number in range(VIEWERS)]
        viewers = [Viewer(server, token) for token in tokens]
        stop = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            looking = [group.create_task(viewer.look()) for viewer in viewers]
            working = [group.create_task(reporter.work(coordinator, stop)) for reporter in reporters]
            await asyncio.to_thread(_killings, server, random.Random(7))
            stop.set()
            await asyncio.gather(*working)
            await _all_agree(server, viewers)
            for look in looking:
                look.cancel()
        server.stop()
        _judge_the_file(tmp_path / "milepost.db", reporters)
        assert not [fall for viewer in viewers for fall in viewer.falls]


def _killings(server: Program, chance: random.Random) -> None:
    server.stop()
    for number in range(ROUNDS):
        if number < len(POINTS) or chance.random() < 0.7:
            server.start(mortal=f"{POINTS[number % len(POINTS)]}:{chance.randint(1, 30)}")
            assert not server.outlived(60), "the point was never reached: nothing was reported"
        else:
            server.start()
            server.outlived(chance.uniform(0.1, 1.0))
        server.kill()
    server.start()


class Reporter:
    """Makes tasks and works on them, each report sent until it is answered; remembers what was acknowledged."""

    def __init__(self, server: Program, number: int) -> None:
        self.acknowledged: list[dict[str, Any]] = []
        self._server = server
        self._number = number
        self._made = 0

    async def work(self, coordinator: str, stop: asyncio.Event) -> None:
        async with httpx.AsyncClient(base_url=self._server.url, timeout=10) as http:
            while not stop.is_set():
                self._made += 1
                await self._one_task(http, coordinator)

    async def _one_task(self, http: httpx.AsyncClient, coordinator: str) -> None:
        body = {
            "tenantId": "t1",
            "taskId": f"r{self._number}.{self._made}",
            "ownerId": f"u{self._number % VIEWERS}",
            "taskType": "DOCUMENT_PROCESS",
            "title": f"book {self._made} of {self._number}",
            "steps": [{"stepId": "parse", "operationCode": "DOC.PARSE", "producerId": "parser"}],
        }
        made = await _send(http, "/internal/v1/tasks", coordinator, body, {"idempotency-key": body["taskId"]})
        context = made["contexts"][0]
        kinds = ["STEP_STARTED", *["STEP_PROGRESS"] * PAGES, "STEP_COMPLETED"]
        for seq, kind in enumerate(kinds, 1):
            event = {name: context[name] for name in _BOUND}
            event |= {"eventId": f"{body['taskId']}.{seq}", "eventType": kind, "sourceSeq": seq}
            event |= {"occurredAt": "2027-01-15T08:00:00.123Z"}
            if kind == "STEP_PROGRESS":
                event["progress"] = {"current": seq - 1, "total": PAGES}
            answer = await _send(http, "/internal/v1/task-events", context["executionToken"], event)
            assert answer["accepted"], answer
            self.acknowledged.append({**answer, "eventId": event["eventId"]})


_BOUND = ("taskId", "taskType", "taskAttempt", "stepId", "operationCode", "stepAttempt", "producerId", "sourceEpoch")


async def _send(
    http: httpx.AsyncClient, path: str, token: str, body: Any, headers: dict[str, str] | None = None
) -> dict[str, Any]:
    for _ in range(2_000):
        try:
            bearer = {"authorization": f"Bearer {token}", **(headers or {})}
            response = await http.post(path, json=body, headers=bearer)
        except httpx.TransportError:
            await asyncio.sleep(0.05)  # the service is away: what a reporter does is to try again
            continue
        assert response.status_code in (200, 201), response.text
        return response.json()
    raise AssertionError("the service did not come back")


class Viewer:
    """Looks on, and notes if the version of a task ever falls within one epoch."""

    def __init__(self, server: Program, token: str) -> None:
        self.falls: list[str] = []
        self.seen: dict[str, int] = {}
        self._server = server
        self._token = token

    async def look(self) -> None:
        async with self.client() as client, client.live() as live:
            async for change in live:
                for task in live.store.tasks() if change.kind == "SNAPSHOT" else [change.task]:
                    if task is not None:
                        self._note(task.id, int(task.version))

    def _note(self, task_id: str, version: int) -> None:
        before = self.seen.get(task_id, 0)
        if version < before:
            self.falls.append(f"{task_id}: {before} to {version}")
        self.seen[task_id] = version

    @asynccontextmanager
    async def client(self) -> AsyncIterator[AsyncClient]:
        async with AsyncClient(self._server.url, token=self._token, tempo=TEMPO) as client:
            yield client


async def _all_agree(server: Program, viewers: list[Viewer]) -> None:
    """Every viewer holds, of what a fresh list shows, exactly these versions."""
    for viewer in viewers:
        async with viewer.client() as client:
            fresh = {task.id: int(task.version) for task in (await client.tasks(limit=50)).items}
        assert fresh
        for _ in range(400):
            if all(viewer.seen.get(task_id) == version for task_id, version in fresh.items()):
                break
            await asyncio.sleep(0.05)
        assert {task_id: viewer.seen.get(task_id) for task_id in fresh} == fresh


def _judge_the_file(path: Path, reporters: list[Reporter]) -> None:
    with sqlite3.connect(path) as database:
        logged = dict(database.execute("SELECT event_id, task_version FROM task_event_log"))
        versions = dict(database.execute("SELECT task_id, version FROM task"))
        counts = dict(database.execute("SELECT task_id, count(*) FROM task_event_log GROUP BY task_id"))
        top, entries = database.execute("SELECT max(position), count(*) FROM stream_log").fetchone()
        (kept,) = database.execute("SELECT top FROM stream WHERE tenant_id = 't1'").fetchone()
        answered = {row[0] for row in database.execute("SELECT event_id FROM task_event_dedup")}
        waiting = database.execute("SELECT count(*) FROM task_step WHERE pending IS NOT NULL").fetchone()[0]
    acknowledged = [answer for reporter in reporters for answer in reporter.acknowledged]
    assert len(acknowledged) > REPORTERS * (PAGES + 2)
    assert {answer["eventId"] for answer in acknowledged} <= answered, "an acknowledged event is lost"
    versioned = {answer["eventId"]: int(answer["taskVersion"]) for answer in acknowledged if not answer.get("merged")}
    assert {event: logged.get(event) for event in versioned} == versioned, "each once, at the version it was told"
    assert counts == versions, "versions without a gap, one event each"
    assert top == entries == kept == sum(versions.values()), "positions without a gap, one entry each"
    assert waiting == 0, "every step has ended, so no merged progress may still be waiting"
