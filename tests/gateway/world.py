"""A real database, a real feed and a real server, driven commit by commit."""

import asyncio
import shutil
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import uvicorn
from msgspec.structs import replace
from starlette.applications import Starlette
from starlette.middleware.cors import CORSMiddleware

from milepost.definitions.compiling import compiled
from milepost.definitions.documents import Document
from milepost.definitions.generic import generic
from milepost.domain.creation import StepDraft, TaskDraft, create
from milepost.domain.decide import decide
from milepost.domain.events import Event, StreamEntry
from milepost.domain.facts import Fact
from milepost.domain.lifecycle import MERGEABLE
from milepost.domain.outcomes import Accepted
from milepost.domain.rules import TaskRules
from milepost.domain.state import TaskKey, TaskState
from milepost.domain.trace import service_event
from milepost.domain.values import Data, Progress
from milepost.gateway.feed import Feed
from milepost.gateway.limits import QuietMetrics, StreamLimits
from milepost.gateway.routes import stream_routes
from milepost.ports.definitions import Published
from milepost.ports.storage import Transaction, Wanted, Writes
from milepost.ports.stream import Committed, Logged
from milepost.storage.schema import upgrade
from milepost.storage.sqlite.store import SqliteStorage, open_sqlite
from milepost.usecases.identity import Viewer
from milepost.usecases.rulebook import Rulebook
from milepost.wire.problems import Rejection

RULES = generic("JOB")
FRIEND = "https://friend.test"
T0 = 1_800_000_000_000


class TestClock:
    __test__ = False

    def __init__(self) -> None:
        self.ms = T0

    def now(self) -> int:
        return self.ms


class People:
    """Sessions by token: what an identity provider would say, without its database."""

    def __init__(self, clock: TestClock) -> None:
        self.clock = clock
        self.known: dict[str, Viewer] = {}
        self.tickets: dict[str, str] = {}

    def add(
        self,
        user: str,
        *projects: str,
        tenant: str = "t",
        roles: frozenset[Any] = frozenset({"member"}),
        ttl: int = 3_600_000,
    ) -> str:
        token = f"{tenant}.{user}.{len(self.known)}"
        self.known[token] = Viewer(f"session-{token}", tenant, user, frozenset(projects), roles, self.clock.ms + ttl)
        return token

    async def viewer(self, token: str | None) -> Viewer:
        person = self.known.get(token or "")
        if person is None or person.expires_at <= self.clock.ms:
            raise Rejection("UNAUTHENTICATED", "Sign in.")
        return person

    async def by_ticket(self, ticket: str) -> Viewer:
        return await self.viewer(self.tickets.pop(ticket, None))

    async def again(self, viewer: Viewer) -> Viewer:
        token = next((token for token, known in self.known.items() if known.session_id == viewer.session_id), None)
        return await self.viewer(token)


class Counts(QuietMetrics):
    """What the feed said of itself."""

    def __init__(self) -> None:
        self.by: dict[str, int] = {}

    def add(self, name: str, number: int = 1) -> None:
        self.by[name] = self.by.get(name, 0) + number

    def opened(self) -> None:
        self.add("opened")

    def ended(self, reason: str) -> None:
        self.add(f"ended {reason}")

    def encoded(self, kind: str) -> None:
        self.add(f"encoded {kind}")

    def sent(self, messages: int) -> None:
        self.add("sent", messages)

    def collapsed(self, messages: int) -> None:
        self.add("collapsed", messages)

    def replayed(self, messages: int) -> None:
        self.add("replayed", messages)

    def reset(self, reason: str) -> None:
        self.add(f"reset {reason}")

    def caught_up(self, entries: int, *, from_log: bool) -> None:
        self.add("from log" if from_log else "from commit", entries)


DEFINITION = {
    "taskType": "JOB",
    "version": 1,
    "summarySchema": "job.summary.v1",
    "projections": {"USER_SUMMARY": ["/pages", "/text"], "TASK_DETAIL": ["/pages", "/text"]},
    "schemas": [
        {
            "name": "job.summary.v1",
            "schema": {
                "type": "object",
                "properties": {"pages": {"type": "integer"}, "text": {"type": "string"}, "secret": {"type": "integer"}},
            },
        }
    ],
}


class Book:
    """Commits facts of one database as a use case would. `announce` is off where a test loses the wake-ups."""

    def __init__(self, storage: SqliteStorage, clock: TestClock) -> None:
        self.storage = storage
        self.clock = clock
        self.feed: Feed | None = None
        self.announce = True
        self.top = 0
        self._made = 0
        self._current: dict[str, int] = {}

    async def create(
        self,
        task: str,
        owner: str,
        project: str | None = None,
        *,
        tenant: str = "t",
        steps: int = 1,
        title: str = "x",
        summary: Any = None,
    ) -> Committed:
        draft = TaskDraft(
            tenant,
            task,
            owner,
            "JOB",
            title,
            tuple(StepDraft(f"s{n}", "OP", "worker") for n in range(steps)),
            project,
            summary=None if summary is None else Data("job.summary.v1", summary),
        )
        rules = RULES if summary is None else await self._defined()

        def work(_: TaskState | None) -> Accepted:
            made = create(draft, "coordinator", rules, self._id(), self.clock.ms)
            assert isinstance(made, Accepted)
            return made

        return await self.commit(tenant, [(task, work)])

    async def _defined(self) -> TaskRules:
        """The rules of a published definition, which shows two fields of the summary and keeps the rest back."""
        heading = Published("", "", "JOB", 1, "job-1", True, "somebody", 0)
        await self.storage.definitions.publish(heading, msgspec.json.encode(DEFINITION), 0)
        return compiled(msgspec.convert(DEFINITION, Document), heading.definition_id)

    async def fact(
        self, task: str, event_type: str, *, tenant: str = "t", step: str | None = "s0", **facts: Any
    ) -> Committed:
        return await self.commit(tenant, [(task, self.says(task, event_type, tenant=tenant, step=step, **facts))])

    async def progress(self, task: str, current: int, *, tenant: str = "t") -> Committed:
        return await self.fact(task, "STEP_PROGRESS", tenant=tenant, progress=Progress(current, 1_000))

    async def advance(self, tasks: Sequence[str], *, tenant: str = "t") -> Committed:
        """A little more progress of each, in one commit; a task may be named several times."""
        works: list[tuple[str, Any]] = []
        for task in tasks:
            self._current[task] = self._current.get(task, 0) + 1
            progress = Progress(self._current[task], 10_000)
            works.append((task, self.says(task, "STEP_PROGRESS", tenant=tenant, progress=progress)))
        return await self.commit(tenant, works)

    async def remove(self, task: str, *, tenant: str = "t") -> Committed:
        def work(state: TaskState | None) -> Accepted:
            assert state is not None
            now = self.clock.ms
            gone = replace(state.task, version=state.task.version + 1, deleted_at=now, updated_at=now)
            return Accepted(gone, (), service_event(self._id(), "TASK_REMOVED", gone, None, now, "milepost"))

        return await self.commit(tenant, [(task, work)])

    def says(self, task: str, event_type: str, *, tenant: str = "t", step: str | None = "s0", **facts: Any) -> Any:
        def work(state: TaskState | None) -> Accepted:
            assert state is not None
            # Progress becomes a version of its own only where some time has passed.
            self.clock.ms += 2_500
            now = self.clock.ms
            row = state.steps[step] if step and event_type.startswith("STEP") else None
            fact = Fact(
                self._id(),
                tenant,
                task,
                "JOB",
                state.task.attempt,
                "worker" if row else "coordinator",
                event_type,
                now,
                now,
                b"",
                step_id=row.step_id if row else None,
                operation_code=row.operation_code if row else None,
                step_attempt=row.attempt if row else None,
                source_seq=row.source_seq + 1 if row else None,
                **facts,
            )
            decided = decide(state, fact, RULES, now)
            assert isinstance(decided, Accepted), decided
            return decided

        return work

    async def commit(self, tenant: str, works: Sequence[tuple[str, Any]]) -> Committed:
        """One transaction with these works, in order; several may concern one task."""
        committed = await self.storage.transaction(lambda tx: self._run(tx, tenant, works))
        self.top = max(self.top, committed.entries[-1].position)
        if self.announce and self.feed is not None:
            self.feed.announce(committed)
        return committed

    async def _run(self, tx: Transaction, tenant: str, works: Sequence[tuple[str, Any]]) -> Committed:
        states = dict(await tx.lock([TaskKey(tenant, task) for task, _ in works]))
        before = set(states)
        known = await tx.read(Wanted())
        entries: list[StreamEntry] = []
        events: dict[tuple[str, int], Event] = {}
        for task, work in works:
            key = TaskKey(tenant, task)
            state = states.get(key)
            made: Accepted = work(state)
            steps = dict(state.steps) if state else {}
            steps.update({step.step_id: step for step in made.steps if step.current})
            states[key] = TaskState(made.task, steps)
            assert made.event is not None
            events[(task, made.event.task_version)] = made.event
            entries.append(_entry(made))
        first = (await tx.write(_writes(states, before, list(events.values()), entries)))[tenant]
        logged = tuple(Logged(first + index, entry) for index, entry in enumerate(entries))
        return Committed(tenant, known.epoch, logged, {key.task_id: state for key, state in states.items()}, events)

    def _id(self) -> str:
        self._made += 1
        return f"ev-{id(self):x}-{self._made}"


def _entry(made: Accepted) -> StreamEntry:
    task, event = made.task, made.event
    assert event is not None
    removed = task.deleted_at is not None
    return StreamEntry(
        task.tenant_id,
        "task.removed" if removed else "task",
        event.committed_at,
        task.task_id,
        task.version,
        task.owner_id,
        task.project_id,
        event.event_type in MERGEABLE,
    )


def _writes(
    states: dict[TaskKey, TaskState], before: set[TaskKey], events: list[Event], entries: list[StreamEntry]
) -> Writes:
    writes = Writes(events=events, entries=entries)
    for key, state in states.items():
        (writes.tasks if key in before else writes.new_tasks).append(state.task)
        (writes.steps if key in before else writes.new_steps).extend(state.steps.values())
    return writes


class World:
    """Everything together; `port` is where the server listens."""

    def __init__(self, path: Path, limits: StreamLimits) -> None:
        self.path = path
        self.limits = limits
        self.clock = TestClock()
        self.people = People(self.clock)
        self.counts = Counts()
        self.port = 0
        self.server: uvicorn.Server | None = None

    async def open(self, tenants: Sequence[str]) -> None:
        await asyncio.to_thread(_make, self.path)
        self.storage = open_sqlite(self.path, self.clock)
        for tenant in tenants:
            await self.storage.access.add_tenant(tenant, T0)
        self.feed = self.new_feed()
        self.book = Book(self.storage, self.clock)
        self.book.feed = self.feed
        await self.feed.start()

    def new_feed(self) -> Feed:
        storage = self.storage
        book = Rulebook(definitions=storage.definitions)
        return Feed(storage, storage.stream_log, storage.reading, self.clock, self.limits, self.counts, book)

    async def serve(self) -> None:
        app = CORSMiddleware(Starlette(routes=stream_routes(self.feed, self.people)), allow_origins=[FRIEND])
        listening = socket.socket()
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Small kernel buffers, so that a viewer that does not read is felt soon.
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16_384)
        listening.bind(("127.0.0.1", 0))
        self.port = listening.getsockname()[1]
        config = uvicorn.Config(app, log_level="critical", lifespan="off", timeout_graceful_shutdown=2, ws="none")
        self.server = uvicorn.Server(config)
        self._serving = asyncio.create_task(self.server.serve([listening]))
        await until(lambda: self.server is not None and self.server.started)

    async def close(self) -> None:
        if self.server is not None:
            self.server.should_exit = True
            self.server.force_exit = True
            await self._serving
        await self.feed.stop()
        await self.storage.close()


def _make(path: Path) -> None:
    """An empty database, migrated once a run and copied from then on."""
    empty = path.parent.parent / "empty.db"
    if not empty.exists():
        upgrade(f"sqlite:///{empty}")
    shutil.copyfile(empty, path)


async def until(holds: Callable[[], bool], seconds: float = 15.0) -> None:
    """Waits for what the kernel or a server does, which have no event to wait for."""
    async with asyncio.timeout(seconds):
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0.005)


@asynccontextmanager
async def world(
    folder: Path, *, limits: StreamLimits | None = None, tenants: Sequence[str] = ("t",), serve: bool = True
) -> AsyncIterator[World]:
    made = World(folder / "milepost.db", limits or StreamLimits(poll_seconds=0.2, heartbeat_seconds=0.8))
    await made.open(tenants)
    try:
        if serve:
            await made.serve()
        yield made
    finally:
        await made.close()
