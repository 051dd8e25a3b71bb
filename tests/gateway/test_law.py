"""Stale snapshot + later messages = fresh snapshot: through the real stream, cut and slowed at random."""

import asyncio
import itertools
import json
import random
from pathlib import Path
from typing import Any

import msgspec
import pytest

from milepost.domain.rules import TaskRules
from milepost.domain.state import Task, TaskKey
from milepost.gateway.limits import StreamLimits
from milepost.ports.reading import Filters, Scope
from milepost.usecases.rulebook import Rulebook
from milepost.wire.views import Projection, step_view, task_view
from tests.gateway.browser import Browser, Closed, Refused
from tests.gateway.store import Store, steady
from tests.gateway.world import World, world

USERS = ("ann", "bob", "cat")
PROJECTS = ("p", "q", None)
LIMITS = StreamLimits(queue_bytes=12_000, max_replay=60, poll_seconds=0.1, heartbeat_seconds=0.4, linger_seconds=3)


class Watcher:
    """One viewer who connects, is cut, dawdles, resumes, and takes a snapshot when it owes one."""

    def __init__(self, w: World, rng: random.Random, user: str, projects: tuple[str, ...], path: str, task: str | None):
        self.w, self.rng, self.user, self.projects, self.path, self.task = w, rng, user, projects, path, task
        self.token = w.people.add(user, *projects)
        self.store = Store()
        self.last_id: str | None = None
        self.gone = False
        self.slow = rng.random() < 0.5
        self.connections = 0
        self.closed = 0

    async def run(self, quiet: asyncio.Event) -> None:
        while not self.gone and not self.arrived(quiet):
            self.connections += 1
            try:
                one = await Browser.open(self.w.port, self.path, self.token, last_id=self.last_id, small=self.slow)
            except Refused:
                # The only thing a watcher may lose is its task.
                self.gone = self.task is not None
                continue
            await self._read(one, quiet)

    async def _read(self, one: Browser, quiet: asyncio.Event) -> None:
        left = self.rng.randrange(1, 60)
        try:
            while not self.gone and not self.arrived(quiet) and (left or quiet.is_set()):
                left -= 1
                await self._step(one)
                self.last_id = one.last_id or self.last_id
        except Closed:
            self.closed += 1
        finally:
            one.cut()

    def arrived(self, quiet: asyncio.Event) -> bool:
        return quiet.is_set() and self.last_id == f"{self.store.epoch}:{self.w.book.top}"

    async def _step(self, one: Browser) -> None:
        # Only what was read has moved the last event id, as in a browser; what is left unread is lost with the cut.
        for seen in await one.chunk():
            message = json.loads(seen.data)
            self.store.receive(message)
            self.gone = self.gone or (self.task is not None and message["kind"] == "task.removed")
        if self.slow and self.rng.random() < 0.2:
            # A browser that is busy: what is sent meanwhile fills the kernel's buffers, the transport's and the queue.
            await asyncio.sleep(self.rng.random() * 0.5)
        if self.store.owes:
            self.store.load(await self.snapshot())

    async def _rules(self, task: Task) -> TaskRules:
        book = Rulebook(definitions=self.w.storage.definitions)
        await book.load((task,))
        return book.of(task)

    def _projection(self, task: Task) -> Projection:
        return "USER_SUMMARY" if task.owner_id == self.user else "PROJECT_BROADCAST"

    async def snapshot(self) -> dict[str, Any]:
        reading = self.w.storage.reading
        now = self.w.clock.now()
        if self.task is not None:
            found = await reading.snapshot(TaskKey("t", self.task))
            assert found is not None
            rules = await self._rules(found.task)
            view = msgspec.to_builtins(task_view(found.task, now, rules, projection="TASK_DETAIL"))
            view["steps"] = msgspec.to_builtins([step_view(step, now, rules) for step in found.steps])
            tasks = [] if found.task.deleted_at else [view]
            return {"epoch": found.epoch, "cursor": f"{found.epoch}:{found.cursor}", "tasks": tasks}
        owner = self.user if self.path == "/api/stream" else ""
        page = await reading.page(Scope("t", owner, frozenset(self.projects)), Filters(), None, 1_000)
        tasks = [
            msgspec.to_builtins(task_view(task, now, await self._rules(task), projection=self._projection(task)))
            for task in page.tasks
        ]
        return {"epoch": page.epoch, "cursor": f"{page.epoch}:{page.cursor}", "tasks": tasks}


async def work(w: World, rng: random.Random, commits: int) -> None:
    """Facts at random; some wake-ups are lost, some commits carry several facts."""
    live: dict[str, bool] = {}
    for n in range(commits):
        w.book.announce = rng.random() < 0.8
        going = [task for task, started in live.items() if started]
        what = rng.random()
        if what < 0.15 or not live:
            name = f"x{w.book.top}-{n}"
            owner = rng.choice(USERS)
            summary = {"text": "z" * rng.randrange(6_000)}
            await w.book.create(name, owner, rng.choice(PROJECTS), steps=2, title="y" * 200, summary=summary)
            live[name] = False
        elif what < 0.3 or not going:
            task = rng.choice(list(live))
            if not live[task]:
                await w.book.fact(task, "STEP_STARTED")
                live[task] = True
        elif what < 0.4 and len(live) > 6:
            task = rng.choice(list(live))
            await w.book.remove(task)
            del live[task]
        else:
            tasks = [rng.choice(going) for _ in range(rng.randrange(1, 5))]
            await w.book.advance(tasks)
        if rng.random() < 0.3:
            await asyncio.sleep(rng.random() * 0.01)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.accepts("a viewer cut anywhere and resumed ends equal to a fresh snapshot")
async def test_whoever_is_cut_slowed_and_filtered_ends_equal_to_a_fresh_snapshot(tmp_path: Path, seed: int):
    rng = random.Random(seed)
    async with world(tmp_path, limits=LIMITS) as w:
        for task, owner, project in (("one", "ann", "p"), ("two", "bob", None)):
            await w.book.create(task, owner, project, steps=3)
        watchers = [
            Watcher(w, rng, user, projects, "/api/stream", None)
            for user in USERS
            for projects in ((), ("p",), ("p", "q"))
        ]
        watchers.append(Watcher(w, rng, "bob", ("p",), "/api/projects/p/stream", None))
        watchers.append(Watcher(w, rng, "ann", (), "/api/tasks/one/stream", "one"))
        watchers.append(Watcher(w, rng, "bob", (), "/api/tasks/two/stream", "two"))
        quiet = asyncio.Event()
        running = [asyncio.create_task(watcher.run(quiet)) for watcher in watchers]
        await work(w, rng, 220)
        if seed % 2:
            w.book.announce = True
            await w.storage.renew_epoch(await w.storage.epoch())
            await work(w, rng, 40)
        quiet.set()
        for watcher in watchers:
            watcher.token = w.people.add(watcher.user, *watcher.projects)
        async with asyncio.timeout(60):
            await asyncio.gather(*running)
        assert sum(watcher.connections for watcher in watchers) > 2 * len(watchers)
        for watcher in watchers:
            fresh = Store()
            fresh.load(await watcher.snapshot())
            assert watcher.store.tasks() == fresh.tasks(), (watcher.user, watcher.projects, watcher.path)
            assert_never_falls(watcher.store)
        assert {"collapsed", "replayed", "from log", "from commit", "ended slow"} <= set(w.counts.by)


def assert_never_falls(store: Store) -> None:
    for task_id, recorded in store.recorded.items():
        for (epoch, version), (next_epoch, next_version) in itertools.pairwise(recorded):
            assert next_epoch != epoch or next_version > version, task_id
        epochs = [epoch for epoch, _ in itertools.groupby(epoch for epoch, _ in recorded)]
        assert len(epochs) == len(set(epochs)), task_id


def test_the_comparison_sees_a_difference():
    one, other = Store(), Store()
    task = {"id": "a", "version": "1", "title": "x", "asOf": "now"}
    one.load({"epoch": "e", "cursor": "e:1", "tasks": [task]})
    other.load({"epoch": "e", "cursor": "e:1", "tasks": [{**task, "asOf": "later"}]})
    assert one.tasks() == other.tasks() == [steady(task)]
    other.receive(
        {
            "kind": "task.summary",
            "epoch": "e",
            "position": "2",
            "taskId": "a",
            "version": "2",
            "task": {**task, "version": "2"},
        }
    )
    assert one.tasks() != other.tasks()
