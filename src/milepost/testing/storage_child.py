"""A writer in a process of its own: read, write, sometimes fail, until it is done or killed.

Standard input is the pickled `Orders`; every commit writes a line.
"""

import asyncio
import pickle
import random
import sys
import time

from msgspec import Struct

from milepost.domain.state import TaskKey
from milepost.ports.storage import Transaction, Writes
from milepost.testing.storage_suite import samples
from milepost.testing.storage_suite.site import Site


class Orders(Struct, frozen=True):
    """What to do: move each of these tasks in turn, so many times. `sleep` in seconds before each commit."""

    site: Site
    keys: tuple[TaskKey, ...]
    times: int
    fails: float = 0.0
    sleep: float = 0.0


async def run(orders: Orders) -> None:
    """Does it; raises what storage raises."""
    store = orders.site.open()
    for number in range(orders.times):
        key = orders.keys[number % len(orders.keys)]
        try:
            await store.transaction(lambda transaction, key=key: _move(transaction, key, orders))
        except ZeroDivisionError:
            continue
        sys.stdout.write("committed\n")
        sys.stdout.flush()
    await store.close()


async def _move(transaction: Transaction, key: TaskKey, orders: Orders) -> None:
    task = (await transaction.lock([key]))[key].task
    moved = samples.bare(task.task_id, version=task.version + 1)
    event = samples.an_event(task.task_id, moved.version)
    entry = samples.an_entry(task.task_id, moved.version)
    await transaction.write(Writes(tasks=[moved], events=[event], entries=[entry]))
    if orders.sleep:
        # Between the stream row and the commit, where nobody else may get past: a blocking sleep on purpose.
        time.sleep(random.random() * orders.sleep)  # noqa: ASYNC251
    if random.random() < orders.fails:
        raise ZeroDivisionError


if __name__ == "__main__":
    # Only the suite starts this program, and what it sends is its own.
    asyncio.run(run(pickle.load(sys.stdin.buffer)))  # noqa: S301
