"""From commit to viewer, and what an idle viewer costs.

500 people look at their own list by SSE; 500 events a second are reported, evenly spread, whatever the answers take
(open loop). Every task belongs to one of the people and to a project of ten, of whom one other looks on: each event
goes to two viewers. The time is from the commit (the message's `committedAt`) to the arrival in the client's process;
both clocks are this machine's. Aim: p99 at most 50 ms. Then 2,000 silent viewers are opened; aim: at most 20 KiB each.
"""

import asyncio
import json
import random
import resource
import time
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Any, cast

import uvloop

from bench import _traffic
from bench._server import CORE, Server, percentile, pin, server

VIEWERS = 500
RATE = 500
SECONDS = 12
IDLE = 2_000


class Arrivals:
    """Messages with the time they came, in ms; tells when as many as were expected are there."""

    def __init__(self, expected: int = 0) -> None:
        self.seen: list[tuple[float, bytes]] = []
        self.complete = asyncio.Event()
        self._expected = expected

    def add(self, at: float, block: bytes) -> None:
        self.seen.append((at, block))
        if len(self.seen) >= self._expected:
            self.complete.set()


class Viewer(asyncio.Protocol):
    """An event stream that notes when each message came; it parses only what it needs."""

    def __init__(self, request: bytes, ready: "asyncio.Future[None]", arrivals: Arrivals) -> None:
        self._request = request
        self._ready = ready
        self._arrivals = arrivals
        self._rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        cast("asyncio.Transport", transport).write(self._request)

    def data_received(self, data: bytes) -> None:
        at = time.time() * 1000
        self._rest += data
        *blocks, self._rest = self._rest.split(b"\n\n")
        for block in blocks:
            if not self._ready.done() and b"event: hello" in block:
                self._ready.set_result(None)
            elif b"event: task.summary" in block:
                self._arrivals.add(at, block)


def _stream(port: int, token: str) -> bytes:
    return f"GET /api/stream HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nauthorization: Bearer {token}\r\n\r\n".encode()


async def _open(port: int, tokens: list[str], arrivals: Arrivals) -> None:
    loop = asyncio.get_running_loop()
    ends: list[asyncio.Future[None]] = []
    for token in tokens:
        ready: asyncio.Future[None] = loop.create_future()
        ends.append(ready)
        await loop.create_connection(partial(Viewer, _stream(port, token), ready, arrivals), "127.0.0.1", port)
    await asyncio.wait_for(asyncio.gather(*ends), 30)


class Reporter(asyncio.Protocol):
    """A keep-alive connection that only writes; the answers are counted, not awaited."""

    def __init__(self, answered: list[int]) -> None:
        self._answered = answered

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._answered.append(data.count(b'"accepted":true'))


async def _report(port: int, requests: list[bytes], answered: list[int]) -> None:
    loop = asyncio.get_running_loop()
    lanes = [(await loop.create_connection(partial(Reporter, answered), "127.0.0.1", port))[1] for _ in range(64)]
    started = loop.time()
    for index, request in enumerate(requests):
        due = started + index / RATE
        if due > loop.time():
            await asyncio.sleep(due - loop.time())
        lanes[index % 64].transport.write(request)


def main() -> None:
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with server(**CORE, MILEPOST_REALTIME__PER_USER="10000") as running:
        pin(0, running.process.pid)
        pin(1)
        _delivery(running)
    with server(MILEPOST_REALTIME__PER_USER="10000") as running:
        _idle(running)


def _delivery(running: Server) -> None:
    contexts = _tasks(running)
    tokens = _sessions(running, VIEWERS)
    random.seed(1)
    flat = [(c, e) for seq in range(_traffic.EVENTS) for c in contexts for e in [_traffic.events(c)[seq]]]
    requests = [_traffic.single(running.port, context, event) for context, event in flat[: RATE * SECONDS]]
    arrivals = Arrivals(2 * len(requests))
    answered: list[int] = []

    async def run() -> None:
        await _open(running.port, tokens, arrivals)
        await _report(running.port, requests, answered)
        with suppress(TimeoutError):  # fewer come where messages of one task were merged into one
            await asyncio.wait_for(arrivals.complete.wait(), 5)

    cpu = running.cpu_seconds()
    uvloop.run(run())
    spent = running.cpu_seconds() - cpu
    seen = arrivals.seen
    if sum(answered) != len(requests):
        raise RuntimeError(f"{sum(answered)} of {len(requests)} reports were accepted")
    late = [at - _committed(block) for at, block in seen]
    p50, p99 = percentile(late, 0.5), percentile(late, 0.99)
    print(f"{RATE} events/s, {VIEWERS} viewers, 2 each: commit to viewer p50 {p50:.1f} ms, p99 {p99:.1f} ms (aim 50)")
    print(f"    {len(seen)} messages for {len(requests)} events in {SECONDS} s, {spent / SECONDS:.0%} of a core")
    _whole(seen, len(requests))


def _whole(seen: list[tuple[float, bytes]], events: int) -> None:
    """Everybody ended with the newest version: what was collapsed is newer than what it replaced."""
    newest: dict[str, int] = {}
    for _, block in seen:
        message = _message(block)
        newest[message["taskId"]] = max(newest.get(message["taskId"], 0), int(message["version"]))
    if sum(newest.values()) - len(newest) < events:
        raise RuntimeError(f"viewers learned of {sum(newest.values()) - len(newest)} versions, {events} were made")


def _message(block: bytes) -> Any:
    line = next(line for line in block.split(b"\n") if line.startswith(b"data: "))
    return json.loads(line[6:])


def _committed(block: bytes) -> float:
    start = block.index(b'"committedAt":"') + 15
    return datetime.fromisoformat(block[start : start + 24].decode()).timestamp() * 1000


def _tasks(running: Server) -> list[dict[str, Any]]:
    made = running.cli("credentials", "create", "--producer", "bench", "--tenant", "t1", "--can", "coordinate")
    contexts: list[dict[str, Any]] = []
    for number in range(VIEWERS):
        body = {
            "tenantId": "t1",
            "ownerId": f"u{number}",
            "projectId": f"p{number}",
            "taskType": "DOCUMENT_PROCESS",
            "title": f"Quarterly report {number}",
            "steps": [
                {"stepId": f"0{step}_parse", "operationCode": "DOCUMENT.PARSE", "producerId": "parser"}
                for step in range(_traffic.STEPS)
            ],
        }
        contexts.extend(running.post("/internal/v1/tasks", made["secret"], body)["contexts"])
    return contexts


def _sessions(running: Server, count: int) -> list[str]:
    made = running.cli("credentials", "create", "--producer", "host", "--tenant", "t1", "--can", "sessions")
    tokens: list[str] = []
    for number in range(count):
        body = {"userId": f"u{number}", "projectIds": [f"p{(number + 1) % count}"]}
        tokens.append(running.post("/internal/v1/user-sessions", made["secret"], body)["token"])
    return tokens


def _idle(running: Server) -> None:
    tokens = _sessions(running, 1)

    async def run() -> None:
        await _open(running.port, tokens * 200, Arrivals())
        before = running.rss_kib()
        await _open(running.port, tokens * IDLE, Arrivals())
        await asyncio.sleep(1)
        print(f"an idle viewer costs {(running.rss_kib() - before) / IDLE:.1f} KiB (aim 20), {IDLE} of them")

    uvloop.run(run())
