"""Whatever comes in whatever order: what the specification promises holds after every single step.

A script is a list of small numbers that a world of coordinators, workers, zombies and people reads as actions. Every
example runs in two tenants of a real database: once one work at a time, with every promise checked after each, and once
in random batches, which must leave the same rows and give the same answers.
"""

import re
from collections.abc import Callable
from itertools import count
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from milepost.domain.facts import Fact
from milepost.domain.lifecycle import ENDS, STATUS_CHANGED, STEP_FACTS, ends
from milepost.domain.state import Step, TaskKey
from milepost.domain.values import Progress
from milepost.ports.reading import Snapshot
from milepost.usecases.commit import Work
from milepost.usecases.reporting import Report
from milepost.wire.answers import Context, ReportAnswer, TaskOpened
from milepost.wire.problems import Rejection
from tests.parts.stand import Stand
from tests.usecases.works import BOOK, cancel, create, done, fact, flush, new_source, one, open_attempt, rows

TASKS = ("k1", "k2")
STARTS, MOVES, ENDINGS = ["STEP_STARTED"], ["STEP_PROGRESS"], ["STEP_COMPLETED", "STEP_FAILED", "STEP_CANCELLED"]
SAID = 3 * STARTS + 12 * MOVES + ENDINGS
TASK_SAID = 3 * ["TASK_STARTED"] + 3 * [STATUS_CHANGED] + ["TASK_COMPLETED", "TASK_FAILED", "TASK_CANCELLED"]
tenants = (f"tenant-{number}" for number in count())

Make = Callable[[str], Work]
Source = tuple[str, str, int, int]
"""Whose sequence it is: task, step, step attempt, source epoch."""


class World:
    """Acts in one tenant, remembers what was sent, and checks each step against the state before it."""

    def __init__(self, service: Stand, tenant: str) -> None:
        self.service = service
        self.tenant = tenant
        self.works: list[Make | int] = []
        self.outcomes: list[Any] = []
        self.facts: list[Fact] = []
        self.first: dict[str, ReportAnswer] = {}
        self.contexts: list[Context] = []
        self.next_seq: dict[Source, int] = {}
        self.taken: dict[Source, int] = {}
        self.seen: dict[str, Snapshot] = {}
        self.left: dict[str, list[Any]] = {}
        self._ids = count(1)

    async def begin(self) -> None:
        for task_id in TASKS:
            made = await self.do(lambda tenant, task_id=task_id: create(tenant, task_id))
            self.learn(made.opened)

    async def act(self, kind: int, a: int, b: int, c: int) -> None:
        """One action, as four small numbers say it."""
        task_id, step_id = TASKS[a % len(TASKS)], "abc"[b % 3]
        if kind < 20:
            await self.tell(self.said(kind, a, b, c))
        elif kind < 23:
            await self.open(task_id, None if kind == 22 and a % 3 == 0 else step_id, b + c)
        elif kind == 23:
            await self.do(lambda tenant: cancel((tenant, task_id), event_id=f"cancel.{b}.{c}"))
        elif kind == 24:
            self.learn(await self.do(lambda tenant: new_source(step_id, (tenant, task_id))))
        elif kind == 25:
            await self.do(lambda tenant: flush(step_id, (tenant, task_id)))
        else:
            self.works.append(ms := (50, 300, 500, 1_000, 2_000, 60_000)[a % 6])
            self.service.clock.pass_ms(ms)

    def said(self, kind: int, a: int, b: int, c: int) -> Fact:
        """Something new, something that was said before, or other words under an old name."""
        if kind < 15 or not self.facts:
            return self.step_fact(a, b, c)
        if kind < 17:
            return self.task_fact(TASKS[a % len(TASKS)], b, c)
        if kind < 19:
            return self.facts[-1 - a % len(self.facts)]
        told = self.facts[-1 - a % min(6, len(self.facts))]
        return replace(told, message="other content", payload_hash=b"x" * 32)

    def learn(self, outcome: Any) -> None:
        """Workers get the contexts that a command opened."""
        if isinstance(outcome, TaskOpened):
            self.contexts.extend(outcome.contexts)
        elif isinstance(outcome, Context):
            self.contexts.append(outcome)

    async def open(self, task_id: str, step_id: str | None, flavour: int) -> None:
        found = self.seen[task_id]
        current = found.task.attempt if step_id is None else _step(found, step_id).attempt
        number = current + (1, 1, 1, 1, 0, 2)[flavour % 6]
        willing = flavour % 4 != 0
        self.learn(
            await self.do(
                lambda tenant: open_attempt(
                    number, step_id, (tenant, task_id), abandon=willing, override_cancel=willing
                )
            )
        )

    def step_fact(self, a: int, b: int, c: int) -> Fact:
        # Mostly the newest contexts speak, but the old ones never quite die.
        context = self.contexts[-1 - (a % len(self.contexts) if a % 3 == 0 else a % min(6, len(self.contexts)))]
        source = (context.task_id, context.step_id, context.step_attempt, context.source_epoch)
        seq = self.next_seq.get(source, 1) + (0, 0, 0, 0, 1, -1, -2)[c % 7]
        self.next_seq[source] = max(self.next_seq.get(source, 1), seq + 1)
        return fact(
            SAID[b % len(SAID)],
            f"e{next(self._ids)}",
            max(1, seq),
            task_id=context.task_id,
            step_id=context.step_id,
            task_attempt=context.task_attempt,
            step_attempt=context.step_attempt,
            source_epoch=context.source_epoch,
            received_at=self.service.clock.now(),
            progress=Progress(c * 7 % 120, 100) if c % 4 else None,
            stage=f"stage {b}" if c % 9 == 0 else None,
            duration_ms=a * 50,
        )

    def task_fact(self, task_id: str, b: int, c: int) -> Fact:
        said = TASK_SAID[b % len(TASK_SAID)]
        return fact(
            said,
            f"e{next(self._ids)}",
            c if c % 2 else None,
            task_id=task_id,
            task_attempt=self.seen[task_id].task.attempt + (0, 0, 0, 0, 0, -1, 1)[c % 7],
            received_at=self.service.clock.now(),
            business_status=self.seen[task_id].task.business_status if said == STATUS_CHANGED else None,
        )

    async def tell(self, told: Fact) -> None:
        """Sends a fact and holds the answer against the state it met."""
        before = self.seen[told.task_id]
        answer = await self.do(lambda tenant: Report(replace(told, tenant_id=tenant), BOOK))
        after = self.seen[told.task_id]
        self.facts.append(told)
        if told.event_id in self.first and not isinstance(answer, Rejection):
            self.check_repeat(told, answer, before, after)
        elif isinstance(answer, Rejection):
            assert _rows(after) == _rows(before)
            if answer.code == "CONFLICTING_TERMINAL":
                assert ("CONFLICTING_TERMINAL", told.event_id) in await self.evidence(told.task_id)
        else:
            self.first[told.event_id] = answer
            await self.check_first(told, answer, before, after)

    def check_repeat(self, told: Fact, answer: ReportAnswer, before: Snapshot, after: Snapshot) -> None:
        assert answer.duplicate
        assert replace(answer, duplicate=False, directives=None) == replace(
            self.first[told.event_id], duplicate=False, directives=None
        )
        assert _rows(after) == _rows(before)

    async def check_first(self, told: Fact, answer: ReportAnswer, before: Snapshot, after: Snapshot) -> None:
        assert answer.task_version == str(after.task.version)
        if answer.accepted:
            self.check_accepted(told, answer, before)
            assert after.task.version == before.task.version + (not answer.merged)
            assert answer.committed_at[:4] == "2027"
            return
        assert answer.stale != answer.duplicate
        assert _rows(after) == _rows(before)
        assert (answer.reason or "TERMINAL_REPEATED", told.event_id) in await self.evidence(told.task_id)
        if answer.reason == "OLD_SEQUENCE" and told.event_type in STEP_FACTS:
            # Only this very source can have made its own sequence old.
            assert (told.source_seq or 0) <= self.taken[_source(told)]

    def check_accepted(self, told: Fact, answer: ReportAnswer, before: Snapshot) -> None:
        assert told.task_attempt == before.task.attempt
        if told.event_type not in STEP_FACTS:
            assert before.task.lifecycle not in ENDS
            return
        step = _step(before, told.step_id or "")
        assert (told.step_attempt, told.source_epoch) == (step.attempt, step.source_epoch)
        assert step.lifecycle not in ENDS
        assert before.task.lifecycle not in ENDS or ends(told.event_type)
        seq, taken = told.source_seq or 0, self.taken.get(_source(told), 0)
        assert ends(told.event_type) or seq > taken
        self.taken[_source(told)] = max(seq, taken)

    async def do(self, make: Make) -> Any:
        """Commits one work by itself and checks what must hold for every task, whoever did what."""
        self.works.append(make)
        outcome = await one(self.service, make(self.tenant))
        self.outcomes.append(outcome)
        for task_id in TASKS:
            found = await self.service.storage.reading.snapshot(self.key(task_id), all_attempts=True)
            if found is not None:
                _check_moves(self.seen.get(task_id, found), found)
                self.seen[task_id] = found
        return outcome

    def key(self, task_id: str) -> TaskKey:
        return TaskKey(self.tenant, task_id)

    async def evidence(self, task_id: str) -> set[tuple[str, str]]:
        found = await self.service.storage.reading.evidence(self.key(task_id), 1_000)
        return {(one.reason, one.event_id) for one in found}


def _source(told: Fact) -> Source:
    return (told.task_id, told.step_id or "", told.step_attempt or 0, told.source_epoch or 0)


def _step(found: Snapshot, step_id: str) -> Step:
    return next(step for step in found.steps if step.step_id == step_id and step.current)


def _rows(found: Snapshot) -> tuple[Any, ...]:
    return found.task, found.steps


def _check_moves(old: Snapshot, new: Snapshot) -> None:
    before, after = old.task, new.task
    assert after.version in (before.version, before.version + 1)
    if after.version == before.version:
        assert after == before
    if after.attempt == before.attempt:
        assert before.lifecycle not in ENDS or after.lifecycle == before.lifecycle
        assert before.started_at is None or after.started_at == before.started_at
    assert (after.percent or 0) <= (100 if after.lifecycle == "SUCCEEDED" else 99)
    steps = {(step.step_id, step.attempt): step for step in new.steps}
    opened = len(steps) > len(old.steps)
    assert opened or (after.percent or 0) >= (before.percent or 0)
    for was in old.steps:
        _check_step(was, steps[was.step_id, was.attempt])
    for step in new.steps:
        _check_times(step)


def _check_step(was: Step, now: Step) -> None:
    assert now.version - was.version in (0, 1)
    assert was.lifecycle not in ENDS or replace(now, current=was.current, source_epoch=0, source_seq=0) == replace(
        was, source_epoch=0, source_seq=0
    )
    assert was.current or now == was
    if was.stage == now.stage and was.progress is not None:
        assert now.progress is not None
        assert now.progress.current >= was.progress.current
    assert was.started_at is None or now.started_at == was.started_at


def _check_times(step: Step) -> None:
    if step.started_at is not None:
        assert step.opened_at <= step.started_at
        assert step.finished_at is None or step.started_at <= step.finished_at
    assert (step.finished_at is not None) == (step.lifecycle in ENDS)
    assert step.pending is None or (step.lifecycle == "RUNNING" and step.current)


small = st.integers(0, 20)
scripts = st.lists(st.tuples(st.integers(0, 29), small, small, small), min_size=25, max_size=60)


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(script=scripts, cuts=st.lists(st.integers(1, 12), min_size=1, max_size=8))
async def test_every_promise_holds_after_every_step_and_batches_answer_as_their_items(
    shared: Stand, script: list[tuple[int, int, int, int]], cuts: list[int]
) -> None:
    singly, batched = await _tenant(shared), await _tenant(shared)
    start = shared.clock.now()
    world = World(shared, singly)
    await world.begin()
    for action in script:
        await world.act(*action)
    await _check_history(world)
    await _check_everything_again_changes_nothing(world)
    shared.clock.pass_ms(start - shared.clock.now())
    outcomes = await _in_batches(shared, batched, world.works, cuts)
    assert list(map(_plain, outcomes)) == list(map(_plain, world.outcomes[: len(outcomes)]))
    assert rows(shared.path, batched) == world.left


async def _tenant(service: Stand) -> str:
    tenant = next(tenants)
    await service.storage.access.add_tenant(tenant, 0)
    return tenant


async def _check_history(world: World) -> None:
    """Versions are 1…n, positions are 1…n, and each task's versions lie in the order of the positions."""
    entries = await world.service.storage.stream_log.entries(world.tenant, 0, 10_000, 10_000)
    assert [entry.position for entry in entries] == list(range(1, len(entries) + 1))
    for task_id in TASKS:
        found = world.seen[task_id]
        line = await world.service.storage.reading.timeline(world.key(task_id), 0, 10_000)
        versions = list(range(1, found.task.version + 1))
        assert [event.task_version for event in line.events] == versions
        assert [one.entry.task_version for one in entries if one.entry.task_id == task_id] == versions
        assert found.task.last_position == max(one.position for one in entries if one.entry.task_id == task_id)
        for step in found.steps:
            made = [
                event.step_version
                for event in line.events
                if (event.step_id, event.step_attempt) == (step.step_id, step.attempt)
            ]
            assert made == sorted({version for version in made if version is not None})


async def _check_everything_again_changes_nothing(world: World) -> None:
    world.left = rows(world.service.path, world.tenant)
    answered = [told for told in world.facts if told.event_id in world.first]
    for told in answered:
        answer = await one(world.service, Report(replace(told, tenant_id=world.tenant), BOOK))
        if isinstance(answer, Rejection):
            assert answer.code == "EVENT_ID_CONFLICT"
        else:
            assert answer.duplicate
            assert answer.task_version == world.first[told.event_id].task_version
    assert rows(world.service.path, world.tenant) == world.left


async def _in_batches(service: Stand, tenant: str, works: list[Make | int], cuts: list[int]) -> list[Any]:
    """Runs the same works in batches of the given sizes; time passes between two batches only."""
    outcomes: list[Any] = []
    batch: list[Work] = []
    size = 0
    for made in works:
        if isinstance(made, int) or len(batch) == cuts[size % len(cuts)]:
            outcomes += await done(service, *batch)
            batch, size = [], size + 1
        if isinstance(made, int):
            service.clock.pass_ms(made)
        else:
            batch.append(made(tenant))
    return outcomes + await done(service, *batch)


def _plain(outcome: Any) -> Any:
    """An outcome without the name of its tenant."""
    return outcome.problem if isinstance(outcome, Rejection) else re.sub(r"'tenant-\d+'", "", repr(outcome))
