"""Runs the service: everything started in order, everything ended in the opposite one, whatever a signal interrupts."""

import asyncio
import gc
import logging
import signal
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Final

from starlette.types import Receive, Scope, Send

from milepost.bootstrap.databases import Database, open_database
from milepost.bootstrap.listening import HttpServer, address_of, bind
from milepost.bootstrap.parts import Parts, assemble
from milepost.bootstrap.refusals import Misconfigured
from milepost.bootstrap.signing import open_ring
from milepost.clock import Clock, SystemClock
from milepost.roles.loop import Loop
from milepost.settings.sections import Settings
from milepost.telemetry.joins import JoinLog
from milepost.telemetry.metrics import CONTENT_TYPE, Metrics

ROLES: Final = ("all", "api", "gateway", "reconciler")
_ANSWERS: Final = 30 * 86_400_000
_LATER: Final = ("relay", "dispatcher", "inbox", "poller")
_THRESHOLDS: Final = (50_000, 50, 1_000)
Opening = Callable[[Settings, Clock], AbstractAsyncContextManager[Database]]
_log = logging.getLogger(__name__)


def check(settings: Settings) -> None:
    """Refuses what this version cannot do, so that nobody relies on it. Raises `Misconfigured`."""
    for role in settings.server.roles:
        if role not in ROLES:
            why = "is not part of this version" if role in _LATER else "is unknown"
            raise Misconfigured(f"server.roles: {role} {why}; there are {', '.join(ROLES)}")
    if not {"all", "api"} & set(settings.server.roles):
        raise Misconfigured("server.roles: one process serves an SQLite file, and it needs all or api")
    if settings.retention.answers < _ANSWERS:
        raise Misconfigured(f"retention.answers: {settings.retention.answers} is below the least of 30 days")
    absent = {
        "auth.oidc.issuer": bool(settings.auth.oidc.issuer),
        "wakeup.url": bool(settings.wakeup.url),
        "targets": bool(settings.targets),
    }
    for key, is_set in absent.items():
        if is_set:
            raise Misconfigured(f"{key}: is set, but is not part of this version")


def serve(
    settings: Settings, joins: JoinLog | None, tell: Callable[[str], None], *, opened: Opening = open_database
) -> None:
    """Serves until SIGTERM or SIGINT; `tell` is given the address once it listens. Raises `CannotStart`.

    `opened` opens the database; tests put one in that dies.
    """
    import uvloop

    check(settings)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(settings, joins, tell, opened))


async def _serve(settings: Settings, joins: JoinLog | None, tell: Callable[[str], None], opened: Opening) -> None:
    said = settings.server
    listener = bind(said.host, said.port)
    async with AsyncExitStack() as stack:
        stack.callback(listener.close)
        parts = await stack.enter_async_context(_running(settings, joins, opened))
        address = address_of(listener, said.host)
        server = HttpServer(
            parts.app, listener, grace=said.grace.seconds, on_listening=lambda: _listening(address, tell)
        )
        servers = [server, *_metrics_server(settings, parts.metrics)]
        ends = Ending(parts, servers, said.grace.seconds)
        ends.listen()
        await asyncio.gather(*(each.run_until_stopped() for each in servers))
        await ends.drained()
    _log.info("stopped")


def _listening(address: str, tell: Callable[[str], None]) -> None:
    # What is there now stays: the collector need not look at it again and again while events come in.
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
    tell(address)


@asynccontextmanager
async def _running(settings: Settings, joins: JoinLog | None, opened: Opening) -> AsyncGenerator[Parts]:
    """The parts, started; ended when the block is left: loops first, then what was taken in is committed."""
    ring = open_ring(settings)
    clock = SystemClock()
    async with opened(settings, clock) as database:
        parts = assemble(settings, database, ring, clock, joins)
        parts.writer.start()
        parts.beats.start()
        await parts.feed.start()
        try:
            async with _loops(parts.loops):
                yield parts
        finally:
            await parts.feed.stop()
            await parts.writer.close()
            await parts.beats.close()


@asynccontextmanager
async def _loops(loops: Sequence[Loop]) -> AsyncGenerator[None]:
    stop = asyncio.Event()
    tasks = [asyncio.create_task(loop.run(stop), name=loop.name) for loop in loops]
    try:
        yield
    finally:
        stop.set()
        await asyncio.gather(*tasks)


class Ending:
    """What a signal begins: no new connections, viewers told to come back, running requests finished."""

    def __init__(self, parts: Parts, servers: Sequence[HttpServer], grace: float) -> None:
        self._parts = parts
        self._servers = servers
        self._grace = grace
        self._draining: asyncio.Task[None] | None = None

    def listen(self) -> None:
        """Has SIGTERM and SIGINT end the service; the second one at once."""
        for name in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(name, self._begin, name)

    def _begin(self, name: signal.Signals) -> None:
        _log.info("ending after %s", name.name)
        for server in self._servers:
            server.stop()
        if self._draining is None:
            self._draining = asyncio.create_task(self._parts.feed.drain(self._grace))

    async def drained(self) -> None:
        """Waits until the streams are closed."""
        if self._draining is not None:
            await self._draining


def _metrics_server(settings: Settings, metrics: Metrics) -> list[HttpServer]:
    port = settings.server.metrics
    if not isinstance(port, int):
        return []

    async def app(scope: Scope, _: Receive, send: Send) -> None:
        found = scope["type"] == "http" and scope["path"] == "/metrics"
        headers = [(b"content-type", (CONTENT_TYPE if found else "text/plain").encode())]
        await send({"type": "http.response.start", "status": 200 if found else 404, "headers": headers})
        await send({"type": "http.response.body", "body": metrics.exposition() if found else b"not found\n"})

    return [HttpServer(app, bind("127.0.0.1", port), grace=1, on_listening=lambda: None)]
