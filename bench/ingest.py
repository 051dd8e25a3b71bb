"""How many reports a second the server commits on SQLite, beside bare loops on the same file in the same run.

Server and client each have a core of their own where there are two. Every event makes a version (merging is off), with
all checks on: token, bindings, hash, duplicates, sequence. The bare loops write the same rows without a server: one
event a commit, and batches of the size the server reached. Aims: singly at least 0.4, the batch route at least 0.6 of
the batched loop.
"""

import json
import sqlite3
import urllib.request
from typing import Any

from bench import _bare, _load, _traffic
from bench._server import CORE, Server, percentile, pin, server

TASKS = 900
CONNECTIONS = 64
BATCH_CONNECTIONS = 4
BATCH = 100


def main() -> None:
    with server(**CORE) as running:
        pin(0, running.process.pid)
        pin(1)
        secret, contexts = _traffic.setup(running, TASKS)
        third = len(contexts) // 3 // _traffic.STEPS * _traffic.STEPS
        singles, reached = _singles(running, contexts[:third], secret)
        batched = _batches(running, secret, contexts[third : 2 * third])
        _check(running)
        running.stop()
        limit = _limits(running, contexts[2 * third :], reached)
    print(f"singly / batched loop      {singles / limit:.2f}   (aim 0.40)")
    print(f"batch route / batched loop {batched / limit:.2f}   (aim 0.60)")


def _check(running: Server) -> None:
    """What was measured is true: gapless positions, one event a version, one answer an event."""
    with sqlite3.connect(running.database) as connection:
        (versions,) = connection.execute("SELECT sum(version) FROM task").fetchone()
        (events,) = connection.execute("SELECT count(*) FROM task_event_log").fetchone()
        top, entries = connection.execute("SELECT max(position), count(*) FROM stream_log").fetchone()
    if not versions == events == top == entries:
        raise RuntimeError(f"{versions} versions, {events} events, {entries} entries up to {top}")


def _limits(running: Server, contexts: list[dict[str, Any]], reached: int) -> float:
    bodies = [json.dumps(event).encode() for seq in range(10) for c in contexts for event in [_traffic.events(c)[seq]]]
    single = _bare.run(running.database, bodies[: len(bodies) // 4], 1)
    batched = _bare.run(running.database, bodies[len(bodies) // 4 :], reached)
    print(f"bare loop, one a commit       {single:8.0f} events/s")
    print(f"bare loop, {reached} a commit       {batched:8.0f} events/s")
    return batched


def _commits(running: Server, secret: str) -> tuple[float, float]:
    """The number of commits and of the events in them so far, by the server's own metrics."""
    request = urllib.request.Request(running.url + "/metrics", headers={"authorization": f"Bearer {secret}"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    found = {line.split(" ")[0]: float(line.rsplit(" ", 1)[1]) for line in lines if line and line[0] != "#"}
    return found["milepost_commit_batch_events_count"], found["milepost_commit_batch_events_sum"]


def _singles(running: Server, contexts: list[dict[str, Any]], secret: str) -> tuple[float, int]:
    lanes: list[list[bytes]] = [[] for _ in range(CONNECTIONS)]
    for index, context in enumerate(contexts):
        for event in _traffic.events(context):
            lanes[index % CONNECTIONS].append(_traffic.single(running.port, context, event))
    before = _commits(running, secret)
    cpu = running.cpu_seconds()
    took, seen = _load.closed_loop(running.port, lanes)
    after = _commits(running, secret)
    rate = len(seen) / took
    size = max(1, round((after[1] - before[1]) / max(1, after[0] - before[0])))
    spent = (running.cpu_seconds() - cpu) / len(seen) * 1e6
    p50, p99 = (percentile(seen, share) * 1000 for share in (0.5, 0.99))
    print(f"one a request, {CONNECTIONS} connections   {rate:8.0f} events/s   p50 {p50:5.1f} ms   p99 {p99:5.1f} ms")
    print(f"    {size} events a commit, {spent:.0f} us of server CPU an event")
    return rate, size


def _batches(running: Server, secret: str, contexts: list[dict[str, Any]]) -> float:
    waves = [
        [(context, event) for context in contexts for event in [_traffic.events(context)[seq]]] for seq in range(10)
    ]
    items = [item for wave in waves for item in wave]
    requests = [
        _traffic.batch(running.port, secret, items[start : start + BATCH]) for start in range(0, len(items), BATCH)
    ]
    lanes = [requests[lane::BATCH_CONNECTIONS] for lane in range(BATCH_CONNECTIONS)]
    cpu = running.cpu_seconds()
    took, seen = _load.closed_loop(running.port, lanes)
    rate = len(items) / took
    spent = (running.cpu_seconds() - cpu) / len(items) * 1e6
    p50, p99 = (percentile(seen, share) * 1000 for share in (0.5, 0.99))
    name = f"batch route, {BATCH} a request, {BATCH_CONNECTIONS} conns"
    print(f"{name} {rate:8.0f} events/s   p50 {p50:5.1f} ms   p99 {p99:5.1f} ms")
    print(f"    {spent:.0f} us of server CPU an event")
    return rate
