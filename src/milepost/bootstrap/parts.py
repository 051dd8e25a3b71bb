"""Puts the parts of the service together, as the settings say. Starts nothing."""

from importlib.metadata import version

from msgspec import Struct
from msgspec.structs import asdict
from starlette.types import ASGIApp

from milepost.api.app import build_app
from milepost.api.beacons import beacon_rates
from milepost.api.services import Options, Services
from milepost.bootstrap.background import background
from milepost.bootstrap.databases import Database
from milepost.bootstrap.observing import CommitObserver
from milepost.clock import Clock
from milepost.domain.facts import Heartbeat
from milepost.domain.rules import ProgressRules
from milepost.gateway.feed import Feed
from milepost.gateway.limits import StreamLimits
from milepost.gateway.routes import stream_routes
from milepost.roles.loop import Loop
from milepost.settings.sections import Settings
from milepost.telemetry.joins import JoinLog
from milepost.telemetry.metrics import Metrics
from milepost.tokens.execution import ExecutionTokens
from milepost.tokens.keys import KeyRing
from milepost.usecases.batching import Batcher
from milepost.usecases.commit import Work, commit
from milepost.usecases.heartbeats import beat
from milepost.usecases.identity import Identities
from milepost.usecases.notifying import Centre
from milepost.usecases.rates import Rates
from milepost.usecases.rulebook import Rulebook
from milepost.usecases.telling import Teller
from milepost.usecases.viewing import Views


class Parts(Struct, frozen=True):
    """Everything that has to be started and ended, and the application that is served meanwhile."""

    app: ASGIApp
    feed: Feed
    writer: Batcher[Work]
    beats: Batcher[Heartbeat]
    loops: tuple[Loop, ...]
    metrics: Metrics


def assemble(settings: Settings, database: Database, ring: KeyRing, clock: Clock, joins: JoinLog | None) -> Parts:
    """The parts of one service over an open database."""
    metrics = Metrics(version("milepost"))
    said = settings.progress
    rules = ProgressRules(said.min_percent, said.min_interval, said.max_interval)
    rulebook = Rulebook(rules, required=settings.definitions.required, definitions=database.definitions)
    feed = _feed(settings, database, clock, metrics, rulebook)
    observer = CommitObserver(metrics.ingest, joins, clock)
    writer: Batcher[Work] = Batcher(database.storage, commit, feed, observe=observer)
    beats: Batcher[Heartbeat] = Batcher(database.storage, beat)
    services = Services(
        storage=database.storage,
        reading=database.reading,
        access=database.access,
        operating=database.operating,
        definitions=database.definitions,
        clock=clock,
        identities=Identities(database.access, clock),
        tokens=ExecutionTokens(ring),
        rulebook=rulebook,
        commit=writer,
        beats=beats,
        views=Views(database.storage, database.reading, rulebook, clock),
        rates=Rates(settings.ingest.rate, settings.ingest.burst),
        beacons=beacon_rates(),
        seen=lambda said: metrics.clients.seen(said.commit_to_visible_ms, asdict(said.counters)),
        centre=Centre(database.notices, clock),
        tell=Teller(database.storage, feed),
        options=_options(settings),
        observe=lambda route, method, status, seconds: metrics.http.answered(method, route, status, seconds),
        ended=feed.revoke,
        metrics=None if isinstance(settings.server.metrics, int) else metrics.exposition,
    )
    runs = set(settings.server.roles)
    streams = stream_routes(feed, services.identities) if runs & {"all", "gateway"} else []
    loops = background(settings, database, clock, metrics, writer, rulebook)
    return Parts(build_app(services, streams), feed, writer, beats, loops, metrics)


def _feed(settings: Settings, database: Database, clock: Clock, metrics: Metrics, rulebook: Rulebook) -> Feed:
    said = settings.realtime
    limits = StreamLimits(
        per_user=said.per_user,
        per_tenant=said.per_tenant,
        max_replay=settings.stream.max_replay,
        max_message=said.max_message,
        queue_bytes=said.queue,
        heartbeat_seconds=said.heartbeat.seconds,
    )
    return Feed(
        database.storage,
        database.log,
        database.reading,
        clock,
        limits,
        metrics.stream,
        rulebook,
        notices=database.notices,
    )


def _options(settings: Settings) -> Options:
    return Options(
        allowed_origins=settings.api.allowed_origins,
        secure_cookies=settings.server.public_url.startswith("https://"),
        token_ttl_ms=settings.ingest.token_ttl,
        metrics_open=settings.server.metrics == "open",
        docs_open=settings.server.docs == "open",
        refuse_suspect_clocks=settings.ingest.refuse_suspect_clocks,
    )
