"""The way of one document: prepare, then parse and outline side by side, then store. The coordinator decides it all.

Milepost only learns of it: it starts nothing, and no success of a task is ever concluded from its steps.
"""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct

from milepost.demo.crew import Worker, WorkerDied
from milepost.demo.inventory import Inventory
from milepost.demo.jobs import Done, Job, Work
from milepost.worker import AsyncCoordinator, AsyncTask, Refused, Result, StepError, StepPlan

PREPARER, PARSER, STORER = "document-preparer", "document-parser", "document-store"
PREPARE, PARSE, OUTLINE, STORE = "01_prepare", "02_parse", "03_outline", "04_store"
DEATHS = 3

STEPS = (
    StepPlan(step_id=PREPARE, operation="DOCUMENT.PREPARE", producer=PREPARER, weight=1),
    StepPlan(step_id=PARSE, operation="DOCUMENT.PARSE", producer=PARSER, weight=6, on_failure="RETRY_THEN_FAIL_TASK"),
    StepPlan(
        step_id=OUTLINE, operation="DOCUMENT.OUTLINE", producer=PREPARER, weight=1, on_failure="CONTINUE_WITH_WARNING"
    ),
    StepPlan(step_id=STORE, operation="DOCUMENT.STORE", producer=STORER, weight=2),
)


class StepEnded(Exception):
    """A step failed for good."""

    def __init__(self, step_id: str, error: StepError) -> None:
        super().__init__(step_id)
        self.step_id = step_id
        self.error = error


class Cancelled(Exception):
    """Somebody asked for this task to be cancelled, and its work has stopped."""


class Story(Struct, frozen=True):
    """What happens to a document besides its work: `kill_at` ends the parser at that page, once."""

    kill_at: int = 0


class Pipeline:
    """Takes documents through their steps, several at a time; each worker does one job after another."""

    def __init__(
        self,
        coordinator: AsyncCoordinator,
        workers: Mapping[str, Worker],
        *,
        tenant: str,
        owner: str,
        project: str,
        pause: float,
        say: Callable[[str], None],
    ) -> None:
        self._coordinator = coordinator
        self._workers = workers
        self._tenant = tenant
        self._owner = owner
        self._project = project
        self._pause = pause
        self._say = say

    async def take(self, document: Path, story: Story) -> None:
        """One document, from its task's creation to its end."""
        task = await self._coordinator.create(
            tenant=self._tenant,
            owner=self._owner,
            project=self._project,
            type="DOCUMENT_PROCESS",
            title=document.name,
            steps=STEPS,
        )
        try:
            stored = await Way(self, task, document, story).walk()
            result = Result(id=task.id, title=f"{stored.pages} pages, {stored.words:,} words", media_type="text/plain")
            await task.complete(result=result)
        except StepEnded as ended:
            await task.fail(ended.error, step_id=ended.step_id)
        except Cancelled:
            await task.cancelled()

    def worker(self, producer: str) -> Worker:
        """The worker of a producer."""
        return self._workers[producer]

    @property
    def pause(self) -> float:
        """Seconds of rest after each page."""
        return self._pause

    def say(self, line: str) -> None:
        """Tells whoever watches the terminal."""
        self._say(line)


class Way:
    """One document on its way."""

    def __init__(self, pipeline: Pipeline, task: AsyncTask, document: Path, story: Story) -> None:
        self._pipeline = pipeline
        self._task = task
        self._document = document
        self._kill_at = story.kill_at
        self._inventory: Inventory | None = None

    async def walk(self) -> Done:
        """All steps; what the last one gave. Raises `StepEnded` or `Cancelled`."""
        prepared = await self._step(PREPARE, "prepare", PREPARER)
        self._inventory = prepared.inventory
        parsing, outlining = asyncio.create_task(self._parse()), asyncio.create_task(self._outline())
        try:
            # Both come to their end, whatever the other one's was: a step that was begun is never left alone.
            await asyncio.wait([parsing, outlining])
        finally:
            parsing.cancel()
            outlining.cancel()
            await asyncio.gather(parsing, outlining, return_exceptions=True)
        parsed = parsing.result()
        outlining.result()
        return await self._step(STORE, "store", STORER, text=parsed.text)

    async def _parse(self) -> Done:
        try:
            return await self._step(PARSE, "parse", PARSER)
        except StepEnded as ended:
            self._pipeline.say(f"{self._document.name}: {ended.error.code}, tried once more in a new attempt")
            await self._reopen(PARSE)
            return await self._step(PARSE, "parse", PARSER)

    async def _outline(self) -> None:
        try:
            await self._step(OUTLINE, "outline", PREPARER)
        except StepEnded:
            return  # Its failure only warns, and was reported.

    async def _step(self, step_id: str, work: Work, producer: str, *, text: str | None = None) -> Done:
        worker = self._pipeline.worker(producer)
        for _ in range(DEATHS):
            async with worker.turn:
                await self._check()
                job = Job(
                    work=work,
                    context=self._task.contexts[step_id],
                    document=str(self._document),
                    pause=self._pipeline.pause,
                    inventory=self._inventory,
                    text=text,
                )
                try:
                    word = await worker.do(job, lambda page, total: self._at_page(worker, work, page))
                except WorkerDied:
                    # Nobody is left to end the old attempt, so it is given up and the step begins anew.
                    await self._reopen(step_id, abandon=True)
                    continue
            if word.kind == "CANCELLED":
                raise Cancelled
            if word.done is None:
                raise StepEnded(step_id, word.error or StepError("UNKNOWN", "UNKNOWN"))
            return word.done
        raise StepEnded(step_id, StepError("SYSTEM", "WORKER_DIED", "The worker died again and again."))

    async def _reopen(self, step_id: str, *, abandon: bool = False) -> None:
        try:
            await self._task.open_step_attempt(step_id, abandon=abandon)
        except Refused as refused:
            if refused.code == "CANCEL_PENDING":
                raise Cancelled from None
            raise

    async def _check(self) -> None:
        if (await self._task.state()).cancel_requested:
            raise Cancelled

    def _at_page(self, worker: Worker, work: Work, page: int) -> None:
        if work == "parse" and page == self._kill_at:
            self._kill_at = 0
            self._pipeline.say(f"{self._document.name}: the parser is killed with -9 at page {page}")
            worker.kill()
