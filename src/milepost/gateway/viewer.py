"""One viewer of one stream: what it is interested in, what waits for it, and the outlet that carries it away."""

from typing import Protocol

from msgspec import Struct

from milepost.gateway.limits import EndReason, StreamLimits, StreamMetrics
from milepost.gateway.message import Message
from milepost.gateway.queue import Queue


class Interest(Struct, frozen=True):
    """Whose messages a viewer gets: one's own tasks, those of projects, or one task with its steps."""

    tenant_id: str
    user_id: str
    session_id: str
    expires_at: int
    personal: bool = False
    project_ids: frozenset[str] = frozenset()
    task_id: str | None = None
    through: str | None = None
    """The project that alone gives the right to look at `task_id`; None for its owner and for administrators."""


class Outlet(Protocol):
    """The transport of one viewer. Its methods are called on the event loop and return at once."""

    def ready(self) -> None:
        """Something waits: write it, and the end if the viewer has ended."""
        ...

    def ended(self) -> None:
        """The viewer has ended: close in good order, and soon."""
        ...

    def beat(self, place: str | None) -> None:
        """Writes a heartbeat, with the place everything up to which was sent if that has moved on."""
        ...

    @property
    def busy(self) -> bool:
        """Whether something is being written at this moment."""
        ...


class Viewer:
    """Waits in its queue until its replay is done (`live`), then has its outlet called for everything that comes.

    `joined` is the R at which it joined its tail, `told` the position up to which it has been sent everything. `end`
    says why the stream is over, once it is; `interrupted` where its last reset stands: a replay is over then. `access`
    holds what the stream told of its projects since it joined, until its rights were read.
    """

    __slots__ = (
        "_limits",
        "_metrics",
        "access",
        "end",
        "interest",
        "interrupted",
        "joined",
        "live",
        "outlet",
        "queue",
        "slot",
        "stalled",
        "told",
    )

    def __init__(self, interest: Interest, limits: StreamLimits, metrics: StreamMetrics, joined: int) -> None:
        self.interest = interest
        self.access: dict[str, bool] | None = {}
        self.queue = Queue()
        self.outlet: Outlet | None = None
        self.live = False
        self.end: EndReason | None = None
        self.interrupted: int | None = None
        self.joined = joined
        self.told = joined
        self.slot = 0
        self.stalled = 0
        self._limits = limits
        self._metrics = metrics

    def put(self, message: Message) -> None:
        """Queues a message; ends the stream if there is no room, since the client can resume."""
        if self.end is not None:
            return
        replaced = self.queue.put(message, self._limits.queue_bytes)
        if replaced is None:
            self.finish("slow")
            return
        if message.place is not None:
            self.told = message.position
        if replaced:
            self._metrics.collapsed(replaced)
        self._wake()

    def restart(self, reset: Message) -> None:
        """Drops what waits, since its epoch is over, and says so."""
        self.queue.clear()
        self.interrupted = reset.position
        self.put(reset)

    def rebase(self, position: int) -> None:
        """Begins anew at this position, as if it had joined there."""
        self.queue.clear()
        self.joined = self.told = position

    def go_live(self) -> None:
        """The replay is done: what has come meanwhile goes out, and so does everything from now on."""
        self.live = True
        if len(self.queue) or self.end is not None:
            self._wake()

    def finish(self, reason: EndReason) -> None:
        """Ends the stream in good order; what waits is sent only if the viewer may still see it.

        Behind a replay that is cut short nothing may follow: its ids would take the client past what it missed.
        """
        if self.end is not None:
            return
        self.end = reason
        if reason != "drained" or not self.live:
            self.queue.clear()
        if self.outlet is not None:
            self.outlet.ended()
        self._wake()

    def dismiss(self, last: Message) -> None:
        """Ends the stream with one last message, since the viewer may not see what it is about any more."""
        if self.end is not None:
            return
        self.queue.clear()
        self.put(last)
        self.end = "revoked"
        if self.outlet is not None:
            self.outlet.ended()
        self._wake()

    def _wake(self) -> None:
        if self.live and self.outlet is not None:
            self.outlet.ready()
