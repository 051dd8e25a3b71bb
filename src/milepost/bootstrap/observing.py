"""What a commit tells metrics and logs."""

import logging
from collections.abc import Iterator

from milepost.clock import Clock
from milepost.domain.events import Event
from milepost.domain.state import Task
from milepost.ports.stream import Committed
from milepost.telemetry.joins import JoinLine, JoinLog
from milepost.telemetry.metrics import IngestMetrics
from milepost.usecases.batching import Batch
from milepost.wire.answers import ReportAnswer
from milepost.wire.numbers import instant
from milepost.wire.problems import Rejection

_log = logging.getLogger(__name__)


class CommitObserver:
    """Is told of every commit after it: counts and times it, and writes the join lines in one go."""

    def __init__(self, metrics: IngestMetrics, joins: JoinLog | None, clock: Clock) -> None:
        self._metrics = metrics
        self._joins = joins
        self._clock = clock

    def __call__(self, batch: Batch) -> None:
        """Observes one commit; never raises, since what was committed has to be answered."""
        try:
            self._observe(batch)
        except Exception:
            _log.exception("a commit could not be counted")

    def _observe(self, batch: Batch) -> None:
        self._metrics.committed(batch.size, batch.seconds)
        for outcome in batch.outcomes:
            self._count(outcome)
        for committed in batch.committed:
            self._time(committed, self._clock.now())
        if self._joins is not None:
            self._joins.write([line for committed in batch.committed for line in _lines(committed)])

    def _count(self, outcome: object) -> None:
        if isinstance(outcome, Rejection):
            self._metrics.event("refused", outcome.code)
        elif isinstance(outcome, ReportAnswer):
            if outcome.stale:
                self._metrics.event("stale", outcome.reason or "")
            elif outcome.duplicate:
                self._metrics.event("duplicate")
            else:
                self._metrics.event("merged" if outcome.merged else "accepted")

    def _time(self, committed: Committed, now: int) -> None:
        for event in committed.events.values():
            if event.public.clock is not None:
                self._metrics.suspect_clocks.inc()
            elif event.age_ms is not None:
                since = event.committed_at - event.received_at + event.age_ms
                self._metrics.sync_lag.observe(max(0, since) / 1000)
        if committed.entries:
            self._metrics.publish_seconds.observe(max(0, now - committed.entries[-1].entry.committed_at) / 1000)


def _lines(committed: Committed) -> Iterator[JoinLine]:
    for event in committed.events.values():
        state = committed.states.get(event.task_id)
        yield join_line(event, state.task if state else None)


def join_line(event: Event, task: Task | None) -> JoinLine:
    """The identifiers of one event and of its task."""
    return JoinLine(
        time=instant(event.committed_at),
        level="info",
        message=event.event_type,
        tenant_id=event.tenant_id,
        task_id=event.task_id,
        event_id=event.event_id,
        task_type=task.task_type if task else None,
        step_id=event.step_id,
        operation_code=event.operation_code,
        producer_id=event.producer_id,
        data_schema=event.data_schema,
        attempt=event.task_attempt if event.step_attempt is None else event.step_attempt,
        source_epoch=event.source_epoch,
        source_seq=event.source_seq,
        task_version=event.task_version,
        lifecycle_status=event.step_lifecycle or event.lifecycle,
        error_code=event.error_code,
        trace_id=event.private.trace_id,
    )
