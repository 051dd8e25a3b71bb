"""The whole service in this process, over a real SQLite file: real routes, real commits, a clock that tests move."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from milepost.api.app import build_app
from milepost.api.beacons import beacon_rates
from milepost.api.services import Options, Services
from milepost.domain.facts import Heartbeat
from milepost.ports.access import Credential, Right
from milepost.ports.stream import Announcer, Committed
from milepost.storage import schema
from milepost.storage.sqlite.store import SqliteStorage, open_sqlite
from milepost.tokens import secrets
from milepost.tokens.execution import ExecutionTokens
from milepost.tokens.keys import KeyRing, SigningKey
from milepost.usecases import sessions
from milepost.usecases.batching import Batcher
from milepost.usecases.commit import Work, commit
from milepost.usecases.heartbeats import beat
from milepost.usecases.identity import Identities
from milepost.usecases.notifying import Centre
from milepost.usecases.rates import Rates
from milepost.usecases.rulebook import Rulebook
from milepost.usecases.telling import Teller
from milepost.usecases.viewing import Views
from milepost.wire.commands import Beacon
from tests.parts.clocks import SetClock
from tests.parts.contract import keeps_the_contract

TENANT = "t1"


class Heard:
    """Keeps what was announced after each commit, and passes it on to `feed` where a test sets one."""

    def __init__(self) -> None:
        self.committed: list[Committed] = []
        self.feed: Announcer | None = None

    def announce(self, committed: Committed) -> None:
        self.committed.append(committed)
        if self.feed is not None:
            self.feed.announce(committed)


class Stand:
    """A running service and the ways a test talks to it."""

    def __init__(
        self, services: Services, storage: SqliteStorage, clock: SetClock, heard: Heard, ended: list[str], path: Path
    ) -> None:
        self.services = services
        self.storage = storage
        self.clock = clock
        self.heard = heard
        self.path = path
        self.ended = ended
        self.http = self.browser()

    def browser(self) -> httpx.AsyncClient:
        """A client with cookies of its own. Every answer it gets is held against the contract."""
        transport = httpx.ASGITransport(app=build_app(self.services))
        hooks = {"response": [keeps_the_contract]}
        return httpx.AsyncClient(transport=transport, base_url="http://milepost.test", event_hooks=hooks)

    async def credential(self, producer: str, *rights: Right, tenant: str | None = TENANT) -> str:
        """A new credential's secret; rights default to `report`."""
        if tenant is not None:
            await self.storage.access.add_tenant(tenant, self.clock.now())
        secret = secrets.make("mpc")
        granted = frozenset[Right](rights or ("report",))
        await self.storage.access.add_credential(
            Credential(secret.id, secret.hash, producer, tenant, granted, "member", self.clock.now())
        )
        return secret.text

    async def session(
        self, user: str, *projects: str, tenant: str = TENANT, roles: tuple[str, ...] = ("member",)
    ) -> str:
        """A new session's bearer."""
        grant = sessions.Grant(tenant, user, frozenset(projects), frozenset(roles))  # type: ignore[arg-type]
        return (await sessions.mint(self.storage.access, self.clock, grant)).token

    async def post(self, path: str, token: str, body: Any = None, **headers: str) -> httpx.Response:
        return await self.http.post(path, json=body, headers=_headers(token, headers))

    async def put(self, path: str, token: str, body: Any = None) -> httpx.Response:
        return await self.http.put(path, json=body, headers=_headers(token, {}))

    async def get(self, path: str, token: str, **headers: str) -> httpx.Response:
        return await self.http.get(path, headers=_headers(token, headers))


def _headers(token: str, more: dict[str, str]) -> dict[str, str]:
    return {"authorization": f"Bearer {token}", **{name.replace("_", "-"): value for name, value in more.items()}}


@cache
def _migrated() -> bytes:
    """An empty database with today's tables: migrating takes longer than most tests."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "milepost.db")
        schema.upgrade(f"sqlite:///{path}")
        return path.read_bytes()


@asynccontextmanager
async def stand(
    folder: Path,
    clock: SetClock | None = None,
    options: Options | None = None,
    metrics: Callable[[], bytes] | None = None,
    rates: Rates | None = None,
    seen: Callable[[Beacon], None] | None = None,
    lock_timeout: float = 2.0,
) -> AsyncIterator[Stand]:
    """A service over `<folder>/milepost.db`, with tenant `t1`."""
    time = clock or SetClock()
    path = folder / "milepost.db"
    if not path.exists():
        path.write_bytes(_migrated())
    storage = open_sqlite(path, time, lock_timeout=lock_timeout)
    heard = Heard()
    ended: list[str] = []
    rulebook = Rulebook(definitions=storage.definitions)
    writer: Batcher[Work] = Batcher(storage, commit, heard)
    beats: Batcher[Heartbeat] = Batcher(storage, beat)
    services = Services(
        storage=storage,
        reading=storage.reading,
        access=storage.access,
        operating=storage.operating,
        definitions=storage.definitions,
        clock=time,
        identities=Identities(storage.access, time),
        tokens=ExecutionTokens(KeyRing(SigningKey("k1", b"k" * 32))),
        rulebook=rulebook,
        commit=writer,
        beats=beats,
        views=Views(storage, storage.reading, rulebook, time),
        rates=rates or Rates(),
        beacons=beacon_rates(),
        seen=seen or (lambda _beacon: None),
        centre=Centre(storage.notices, time),
        tell=Teller(storage, heard),
        options=options or Options(),
        ended=ended.append,
        metrics=metrics,
    )
    writer.start()
    beats.start()
    await storage.access.add_tenant(TENANT, time.now())
    running = Stand(services, storage, time, heard, ended, path)
    try:
        yield running
    finally:
        await running.http.aclose()
        await writer.close()
        await beats.close()
        await storage.close()
