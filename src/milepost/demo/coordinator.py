"""The coordinator process: starts the workers and takes the documents through, round after round.

Start: `python -m milepost.demo.coordinator`, with what it must know as the first line of its input. It ends when its
input ends or on SIGTERM, and takes its workers along.
"""

import asyncio
import signal
import sys
from contextlib import suppress

import msgspec
from msgspec import Struct

from milepost.demo.crew import Worker
from milepost.demo.inventory import documents
from milepost.demo.pipeline import PARSER, PREPARER, STORER, Pipeline, Story
from milepost.demo.worker import Setup
from milepost.worker import AsyncCoordinator

COORDINATOR = "document-coordinator"

KILLED = "a-book-of-milestones.pdf"
CANCELLED = "notes-of-a-long-walk.txt"
# The order makes every part of the story overlap with another one.
ORDER = (
    KILLED,
    "valley-survey-damaged.pdf",
    "words-of-the-road.html",
    "gradients.csv",
    CANCELLED,
    "how-to-read-a-milestone.md",
    "valley-survey.pdf",
)


class Plan(Struct, frozen=True):
    """What the coordinator must know. `secrets` by producer; `pause` and `stagger` in seconds."""

    url: str
    tenant: str
    owner: str
    project: str
    secrets: dict[str, str]
    folder: str
    pause: float
    stagger: float
    once: bool


async def rounds(plan: Plan) -> None:
    """Takes all documents through, once or until cancelled."""
    async with AsyncCoordinator(plan.url, credential=plan.secrets[COORDINATOR], producer=COORDINATOR) as coordinator:
        workers = {
            name: Worker(name, Setup(plan.url, plan.secrets[name], plan.folder), _say)
            for name in (PREPARER, PARSER, STORER)
        }
        try:
            await asyncio.gather(*(worker.start() for worker in workers.values()))
            pipeline = Pipeline(
                coordinator,
                workers,
                tenant=plan.tenant,
                owner=plan.owner,
                project=plan.project,
                pause=plan.pause,
                say=_say,
            )
            while True:
                await _round(pipeline, plan)
                if plan.once:
                    return
                _say("all documents are through; the next round begins in a moment")
                await asyncio.sleep(20 * plan.stagger)
        finally:
            await asyncio.gather(*(worker.stop() for worker in workers.values()))


async def _round(pipeline: Pipeline, plan: Plan) -> None:
    folder = {path.name: path for path in documents()}
    async with asyncio.TaskGroup() as group:
        for name in ORDER:
            story = Story(kill_at=6) if name == KILLED else Story()
            group.create_task(pipeline.take(folder[name], story))
            await asyncio.sleep(plan.stagger)


async def _main() -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    plan = msgspec.json.decode(await reader.readline(), type=Plan)
    work = asyncio.create_task(rounds(plan))
    parent = asyncio.create_task(reader.read())  # Returns when whoever started us is gone.
    loop.add_signal_handler(signal.SIGTERM, work.cancel)
    await asyncio.wait([work, parent], return_when=asyncio.FIRST_COMPLETED)
    parent.cancel()
    work.cancel()
    with suppress(asyncio.CancelledError):
        await work


def _say(line: str) -> None:
    print(f"· {line}", flush=True)


if __name__ == "__main__":
    asyncio.run(_main())
