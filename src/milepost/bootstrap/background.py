"""The loops beside the requests: what a process runs again and again, by its roles."""

import os
import socket
from typing import Final
from uuid import uuid4

from milepost.bootstrap.databases import Database
from milepost.clock import Clock
from milepost.roles.flusher import EVERY, flushing
from milepost.roles.loop import Loop, Step
from milepost.roles.reconciler import STAMP_EVERY, sweeping, watching
from milepost.roles.turn import Terms, in_turn
from milepost.settings.sections import Settings
from milepost.telemetry.metrics import Metrics
from milepost.usecases.batching import Batcher
from milepost.usecases.commit import Work
from milepost.usecases.listening import Stamper
from milepost.usecases.retaining import Keeping, Removed, Sweeper
from milepost.usecases.rulebook import Rulebook
from milepost.usecases.watching import Guard, Health, Scanned

_LEASE_MS: Final = 60_000


def background(
    settings: Settings, database: Database, clock: Clock, metrics: Metrics, writer: Batcher[Work], rulebook: Rulebook
) -> tuple[Loop, ...]:
    """The loops of this process. One that takes in reports stamps that it does; reconcilers take turns."""
    runs = set(settings.server.roles)
    holder = f"{socket.gethostname()}.{os.getpid()}.{uuid4().hex[:8]}"
    loops: list[Loop] = []
    if runs & {"all", "api"}:
        stamper = Stamper(database.liveness, uuid4().hex)
        loops.append(Loop("liveness", _stamping(stamper), STAMP_EVERY, counted=metrics.step_done))
    if runs & {"all", "reconciler"}:
        step = flushing(
            database.reading,
            writer,
            rulebook,
            clock,
            longest_ms=settings.progress.max_interval,
            found=metrics.ingest.flushed,
        )
        loops.append(Loop("flusher", step, EVERY, counted=metrics.step_done))
        health = _health(settings, database, metrics, writer, holder)
        loops.append(Loop("health", health, settings.health.scan_every.seconds, counted=metrics.step_done))
        sweep = _retention(settings, database, clock, metrics, holder)
        loops.append(Loop("retention", sweep, settings.retention.every.seconds, counted=metrics.step_done))
    return tuple(loops)


def _stamping(stamper: Stamper) -> Step:
    async def step() -> bool:
        await stamper.stamp()
        return False

    return step


def _health(settings: Settings, database: Database, metrics: Metrics, writer: Batcher[Work], holder: str) -> Step:
    said = settings.health
    guard = Guard(said.storm_percent, said.storm_least)
    health = Health(database.watching, database.liveness, writer, lambda kind: f"{kind}.{uuid4().hex}", guard)

    def found(scanned: Scanned) -> None:
        verdicts = {
            "stale": scanned.silent,
            "stale_long": scanned.long,
            "healthy": scanned.heard,
            "cancel_unanswered": scanned.unanswered,
        }
        metrics.reconciler.scanned(scanned.outcome, verdicts, scanned.storm)

    terms = Terms(_LEASE_MS, _rest(said.scan_every))
    return in_turn(database.claims, "health", holder, terms, watching(health, found), metrics.reconciler.fenced)


def _retention(settings: Settings, database: Database, clock: Clock, metrics: Metrics, holder: str) -> Step:
    keeping = Keeping(settings.stream.window, settings.retention.answers)
    sweeper = Sweeper(database.retention, database.access, clock, keeping)

    def found(removed: Removed) -> None:
        metrics.reconciler.removed(
            {
                "stream": removed.stream,
                "answers": removed.answers,
                "codes": removed.codes,
                "sessions": removed.sessions,
                "spans": removed.spans,
            }
        )

    terms = Terms(_LEASE_MS, _rest(settings.retention.every))
    return in_turn(database.claims, "retention", holder, terms, sweeping(sweeper, found), metrics.reconciler.fenced)


def _rest(every_ms: int) -> int:
    # A little shorter than the pause of the loops, so that the holder itself does not come too early every other time.
    return every_ms * 9 // 10
