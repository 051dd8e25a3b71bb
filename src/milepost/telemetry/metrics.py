"""Everything that is counted and timed, in a Prometheus registry of its own. Hot paths use bound children."""

from collections.abc import Iterable, Mapping
from typing import Final, Literal

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Info,
    disable_created_metrics,
    generate_latest,
)

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

_QUICK: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
_LONG: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0, 300.0, 1800.0, 7200.0)
_BATCH: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)

Outcome = Literal["accepted", "merged", "duplicate", "stale", "refused", "unavailable"]
"""What became of a reported event."""


class Metrics:
    """The registry and its families. Rooms are handed the part they need."""

    def __init__(self, version: str) -> None:
        disable_created_metrics()
        self.registry = CollectorRegistry(auto_describe=False)
        self.ingest = IngestMetrics(self.registry)
        self.stream = StreamMeter(self.registry)
        self.http = HttpMetrics(self.registry)
        self.clients = ClientMetrics(self.registry)
        self.reconciler = ReconcilerMetrics(self.registry)
        self._roles = Counter(
            "milepost_role_steps", "Steps of background roles.", ("role", "outcome"), registry=self.registry
        )
        Info("milepost_build", "The program that runs.", registry=self.registry).info({"version": version})

    def step_done(self, role: str, outcome: str) -> None:
        """Counts one step of a background role."""
        self._roles.labels(role, outcome).inc()

    def exposition(self) -> bytes:
        """Everything in the Prometheus text format; its media type is `CONTENT_TYPE`."""
        return generate_latest(self.registry)


class IngestMetrics:
    """Reports and commits."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._events = Counter(
            "milepost_ingest_events", "Reported events by what became of them.", ("outcome", "code"), registry=registry
        )
        self.sync_lag = Histogram(
            "task_sync_lag_seconds", "From a fact to its commit.", buckets=_LONG, registry=registry
        )
        self.suspect_clocks = Counter(
            "milepost_suspect_clocks", "Facts whose producer's clock cannot be right.", registry=registry
        )
        self.commit_seconds = Histogram(
            "milepost_commit_seconds", "From the start of a commit to its answers.", buckets=_QUICK, registry=registry
        )
        self.batch_events = Histogram(
            "milepost_commit_batch_events", "Reports in one commit.", buckets=_BATCH, registry=registry
        )
        self.publish_seconds = Histogram(
            "state_commit_to_publish_seconds",
            "From a commit to its hand-on to viewers.",
            buckets=_QUICK,
            registry=registry,
        )
        self._pending = Gauge(
            "milepost_pending_progress",
            "Steps whose merged progress was due to be shown at the last look.",
            registry=registry,
        )
        self._flushed = Counter("milepost_flushed_progress", "Merged progress that was shown.", registry=registry)
        self._bound = {name: self._events.labels(name, "") for name in ("accepted", "merged", "duplicate")}

    def event(self, outcome: Outcome, code: str = "") -> None:
        """Counts one reported event; `code` is the reason of a stale or refused one."""
        bound = None if code else self._bound.get(outcome)
        (bound or self._events.labels(outcome, code)).inc()

    def flushed(self, steps: int) -> None:
        """Notes how many steps the flusher found due, and showed."""
        self._pending.set(steps)
        self._flushed.inc(steps)

    def committed(self, events: int, seconds: float) -> None:
        """Times one commit and the number of reports in it."""
        self.batch_events.observe(events)
        self.commit_seconds.observe(seconds)


class ClientMetrics:
    """What viewers say about themselves; anybody's word, so never a reason to do anything."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._visible = Histogram(
            "state_commit_to_visible_seconds",
            "From a commit to its being visible, as viewers measured it.",
            buckets=_LONG,
            registry=registry,
        )
        self._events = Counter(
            "milepost_client_events", "What viewers' connections went through.", ("event",), registry=registry
        )

    def seen(self, milliseconds: Iterable[int], counters: Mapping[str, int]) -> None:
        """Takes in one viewer's measurements."""
        for one in milliseconds:
            self._visible.observe(one / 1000)
        for event, count in counters.items():
            self._events.labels(event).inc(count)


class StreamMeter:
    """Live connections: the counters the gateway speaks to."""

    def __init__(self, registry: CollectorRegistry) -> None:
        def counter(name: str, says: str, *labels: str) -> Counter:
            return Counter(f"milepost_stream_{name}", says, labels, registry=registry)

        self._connections = Gauge("milepost_stream_connections", "Open streams.", registry=registry)
        self._opened = counter("opened", "Streams that were opened.")
        self._ended = counter("ended", "Streams that ended, by reason; slow: the viewer did not keep up.", "reason")
        self._refused = counter("refused", "Viewers that were turned away.", "code")
        self._encoded = counter("encoded", "Messages that were encoded, once for all their viewers.", "kind")
        self._sent = counter("messages", "Messages that were queued for viewers.")
        self._collapsed = counter("collapsed", "Messages that a newer one replaced before they were sent.")
        self._replays = counter("replays", "Streams that resumed.")
        self._replayed = counter("replayed", "Log entries that resuming viewers were sent.")
        self._resets = counter("resets", "Viewers that were told to take a snapshot.", "reason")
        self._entries = counter("entries", "Log entries that were handed on, by where they came from.", "source")
        self._log, self._commit = self._entries.labels("log"), self._entries.labels("commit")

    def opened(self) -> None:
        """A viewer was let in."""
        self._opened.inc()
        self._connections.inc()

    def ended(self, reason: str) -> None:
        """A viewer's stream is over."""
        self._connections.dec()
        self._ended.labels(reason).inc()

    def refused(self, code: str) -> None:
        """A viewer was turned away."""
        self._refused.labels(code).inc()

    def encoded(self, kind: str) -> None:
        """A message was encoded."""
        self._encoded.labels(kind).inc()

    def sent(self, messages: int) -> None:
        """Messages were queued."""
        self._sent.inc(messages)

    def collapsed(self, messages: int) -> None:
        """Messages were replaced by newer ones."""
        self._collapsed.inc(messages)

    def replayed(self, messages: int) -> None:
        """A viewer resumed."""
        self._replays.inc()
        self._replayed.inc(messages)

    def reset(self, reason: str) -> None:
        """A viewer was told to take a snapshot."""
        self._resets.labels(reason).inc()

    def caught_up(self, entries: int, *, from_log: bool) -> None:
        """Entries were handed on."""
        (self._log if from_log else self._commit).inc(entries)


class HttpMetrics:
    """Requests by route. A route is its pattern, never a path with ids in it."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._requests = Counter(
            "milepost_http_requests", "Answered requests.", ("method", "route", "status"), registry=registry
        )
        self._seconds = Histogram(
            "milepost_http_request_seconds", "Time to the answer.", ("route",), buckets=_QUICK, registry=registry
        )
        self._counters: dict[tuple[str, str, int], Counter] = {}
        self._timers: dict[str, Histogram] = {}

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Counts and times one request."""
        key = (method, route, status)
        counter = self._counters.get(key)
        if counter is None:
            counter = self._counters[key] = self._requests.labels(method, route, str(status))
        counter.inc()
        timer = self._timers.get(route)
        if timer is None:
            timer = self._timers[route] = self._seconds.labels(route)
        timer.observe(seconds)


class ReconcilerMetrics:
    """Verdicts on executors, leases that were lost, and what was removed."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._scans = Counter("milepost_health_scans", "Looks for silent steps.", ("outcome",), registry=registry)
        self._verdicts = Counter(
            "milepost_health_verdicts", "Versions made by the health reconciler.", ("verdict",), registry=registry
        )
        self._storm = Gauge(
            "milepost_health_storm_steps",
            "Steps that would have turned STALE at the last look, were they not too many at once; else 0.",
            registry=registry,
        )
        self._fenced = Counter(
            "milepost_claims_fenced", "Holders that had lost their lease.", ("work",), registry=registry
        )
        self._removed = Counter("milepost_retention_removed", "Removed rows.", ("kind",), registry=registry)

    def scanned(self, outcome: str, verdicts: Mapping[str, int], storm: int) -> None:
        """Counts one look and the versions it made, by verdict."""
        self._scans.labels(outcome).inc()
        for verdict, count in verdicts.items():
            self._verdicts.labels(verdict).inc(count)
        self._storm.set(storm)

    def fenced(self, work: str) -> None:
        """Counts a holder that was refused because its lease had run out."""
        self._fenced.labels(work).inc()

    def removed(self, kinds: Mapping[str, int]) -> None:
        """Counts removed rows by kind."""
        for kind, count in kinds.items():
            self._removed.labels(kind).inc(count)
