"""The reporter without its sockets: what to send next, and what an answer means. Time and chance are arguments.

A driver asks `next`, carries the request, and tells `answered` or `failed`; one request is under way at a time. Trouble
with the way there holds the whole destination, trouble with one stream holds that stream, and a refusal holds nothing:
what the service will never take goes to the dead list and the rest goes on.
"""

import logging
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from milepost.ports.http import Outcome, Reply, Request, Unreachable
from milepost.worker import replies, requests
from milepost.worker.answers import CONTENT, Judged, judge, judge_result, problem_of, retry_after
from milepost.worker.backoff import Chance, probe_after, slow_after
from milepost.worker.context import Context
from milepost.worker.outbox import Dead, Item
from milepost.worker.requests import Sending
from milepost.worker.stream import Stream

log = logging.getLogger("milepost.worker")

BATCH = 100
BATCH_BYTES = 1 << 20
DEAD_KEPT = 1_000


class Limits(Struct, frozen=True):
    """How often and how much. Seconds; `waiting` counts reports."""

    heartbeat: float = 10.0
    progress: float = 0.5
    waiting: int = 10_000


class Send(Struct, frozen=True):
    """A request to carry now; `sendings` are the facts in it, none when it fetches a token for `stream`."""

    kind: Literal["SINGLE", "BATCH", "TOKEN"]
    request: Request
    sendings: tuple[Sending, ...] = ()
    stream: Stream | None = None


class Wait(Struct, frozen=True):
    """Nothing to send before `until` (monotonic seconds); None: not before something is reported."""

    until: float | None


class Delivery:
    """Everything a reporter has to deliver to one service. Not safe for threads by itself: its driver holds a lock."""

    def __init__(self, credential: str, limits: Limits, *, chance: Chance, new_id: Callable[[], str]) -> None:
        self.dead: deque[Dead] = deque(maxlen=DEAD_KEPT)
        self.dropped = 0
        self.on_dead: Callable[[Dead], None] | None = None
        self._credential = credential
        self._limits = limits
        self._chance = chance
        self._new_id = new_id
        self._streams: dict[int, Stream] = {}
        self._hold_until = 0.0
        self._failures = 0
        self._batch = BATCH

    # What the work reports

    def open(self, context: Context, now: float) -> Stream:
        """A stream for one execution of a step attempt."""
        stream = Stream(context, progress_every=self._limits.progress, new_id=self._new_id)
        stream.last_sign = now
        self._streams[id(stream)] = stream
        return stream

    def put(self, stream: Stream, event_type: str, says: dict[str, Any], wall: int, now: float) -> Item:
        """Takes a report. When too many wait, progress goes first; ends are always taken."""
        item = stream.put(event_type, says, wall, now)
        if self.waiting > self._limits.waiting:
            self._make_room(stream, item)
        return item

    @property
    def waiting(self) -> int:
        """How many reports wait to be delivered."""
        return sum(len(stream.outbox) for stream in self._streams.values())

    @property
    def trouble(self) -> bool:
        """Whether the destination did not take the last request."""
        return self._failures > 0

    # What the driver does

    def next(self, now: float, wall: int) -> Send | Wait:
        """The next request, or how long there is none."""
        if now < self._hold_until:
            return Wait(self._hold_until)
        ready: list[Stream] = []
        later: list[float] = []
        for stream in self._streams.values():
            due = stream.due(self._limits.heartbeat)
            if due is None:
                continue
            if due <= now:
                ready.append(stream)
            else:
                later.append(due)
        if not ready:
            return Wait(min(later, default=None))
        for stream in ready:
            if stream.wants != "NOTHING":
                asked = requests.token(stream.context, self._credential, new_source=stream.wants == "SOURCE")
                return Send("TOKEN", asked, stream=stream)
        return self._facts(ready, now, wall)

    def answered(self, send: Send, outcome: Outcome, now: float) -> None:
        """Takes in what became of a request."""
        if isinstance(outcome, Unreachable):
            self._hold(now, None, outcome.reason)
        elif send.kind == "TOKEN":
            self._token(send, outcome, now)
        elif send.kind == "SINGLE":
            self._settle(send.sendings, (judge(outcome),), now)
        else:
            self._batch_answered(send, outcome, now)

    # Choosing

    def _facts(self, ready: Sequence[Stream], now: float, wall: int) -> Send:
        tenant_id = ready[0].context.tenant_id
        chosen: list[Sending] = []
        for stream in ready:
            if stream.context.tenant_id != tenant_id or len(chosen) >= self._batch:
                continue
            stream.ripen(now)
            heads = stream.outbox.heads(self._batch - len(chosen))
            chosen += [Sending(stream, item, wall) for item in heads] or [Sending(stream, None, wall)]
            # Whoever was served goes to the end, so that no stream waits for a busy one.
            self._streams[id(stream)] = self._streams.pop(id(stream))
        sent = _bounded(chosen)
        for sending in sent:
            sending.stream.last_sign = now
            if sending.item is not None:
                sending.item.sent = True
        if len(sent) == 1:
            return Send("SINGLE", requests.single(sent[0], now), sent)
        return Send("BATCH", requests.batch(sent, self._credential, now), sent)

    # Judging

    def _batch_answered(self, send: Send, reply: Reply, now: float) -> None:
        results = replies.results(reply)
        if len(results) == len(send.sendings):
            self._settle(send.sendings, tuple(judge_result(result, reply.headers) for result in results), now)
            return
        problem = problem_of(reply.body)
        if 400 <= reply.status < 500 and reply.status not in (401, 408, 425, 429) and problem is not None:
            # The batch as such was refused, so one of its facts spoils it: the smaller it is, the sooner it is found.
            self._batch = max(1, self._batch // 4)
            return
        self._hold(now, retry_after(reply.headers), problem.code if problem else f"HTTP {reply.status}")

    def _settle(self, sendings: Sequence[Sending], verdicts: Sequence[Judged], now: float) -> None:
        later = [judged for judged in verdicts if judged.verdict == "LATER"]
        if later:
            longest = max((judged.retry_after or 0.0 for judged in later), default=0.0)
            self._hold(now, longest or None, later[0].code)
        elif self._failures:
            self._failures = 0
            log.info("reports are taken again")
        else:
            self._batch = min(BATCH, self._batch + 1)
        for sending, judged in zip(sendings, verdicts, strict=True):
            self._settle_one(sending, judged, now)

    def _settle_one(self, sending: Sending, judged: Judged, now: float) -> None:
        stream, item = sending.stream, sending.item
        if judged.directives is not None:
            stream.directives = judged.directives
        if judged.verdict == "DELIVERED":
            stream.slow_tries = stream.renewals = 0
            if item is not None:
                self._done(stream, item)
        elif judged.verdict == "RENEW":
            self._renew(stream, now)
        elif judged.verdict == "SLOWLY":
            self._slowly(stream, judged, now)
        elif judged.verdict == "GONE":
            self._bury_all(stream, judged)
        elif judged.verdict == "REFUSED" and item is not None:
            self._refused(stream, item, judged)

    def _token(self, send: Send, reply: Reply, now: float) -> None:
        stream = send.stream
        if stream is None:
            return
        fresh = replies.fresh(reply)
        if fresh is not None:
            # A plain renewal keeps the source its facts were made under: a newer one may have fenced it meanwhile.
            epoch = fresh.source_epoch if stream.wants == "SOURCE" else stream.context.source_epoch
            stream.context = replace(stream.context, execution_token=fresh.execution_token, source_epoch=epoch)
            stream.wants = "NOTHING"
            return
        problem = problem_of(reply.body)
        if reply.status == 410:
            self._bury_all(
                stream, Judged("GONE", 410, problem.code if problem else "", problem.detail if problem else "")
            )
        elif problem is not None and reply.status in (403, 409, 422):
            # No new source for us: the facts go out under the token at hand, and the service says what they are worth.
            if stream.wants == "SOURCE":
                stream.wants = "NOTHING"
            else:
                self._slowly(stream, Judged("SLOWLY", reply.status, problem.code, problem.detail), now)
        elif problem is not None and reply.status in (401, 404):
            self._slowly(stream, Judged("SLOWLY", reply.status, problem.code, problem.detail), now)
        else:
            self._hold(now, retry_after(reply.headers), problem.code if problem else f"HTTP {reply.status}")

    # What follows

    def _hold(self, now: float, asked: float | None, why: str) -> None:
        self._failures += 1
        pause = probe_after(self._failures, self._chance)
        self._hold_until = now + max(asked or 0.0, pause)
        if self._failures in (1, 4):
            log.warning("reports are not taken (%s); %d wait, next try in %.0f s", why, self.waiting, pause)

    def _renew(self, stream: Stream, now: float) -> None:
        if stream.wants == "NOTHING":
            stream.wants = "TOKEN"
            stream.renewals += 1
        if stream.renewals > 2:
            stream.hold_until = now + slow_after(stream.renewals, self._chance)

    def _slowly(self, stream: Stream, judged: Judged, now: float) -> None:
        if now < stream.hold_until:
            return
        stream.slow_tries += 1
        stream.hold_until = now + slow_after(stream.slow_tries, self._chance)
        if stream.slow_tries in (1, 4):
            log.warning("reports of %s are kept: %s %s", stream.context, judged.code, judged.detail)

    def _refused(self, stream: Stream, item: Item, judged: Judged) -> None:
        if item.ends and judged.status in CONTENT and item.bare < 2:
            stream.outbox.replace(item, stream.bare(item, judged.pointers))
            self._bury(stream, item, judged)
            return
        self._done(stream, item)
        self._bury(stream, item, judged)

    def _bury_all(self, stream: Stream, judged: Judged) -> None:
        stream.closed = True
        for item in stream.outbox.heads(len(stream.outbox)):
            self._done(stream, item)
            self._bury(stream, item, judged)
        self._streams.pop(id(stream), None)

    def _bury(self, stream: Stream, item: Item, judged: Judged) -> None:
        at = stream.context
        dead = Dead(at.task_id, at.step_id, item.event_id, item.event_type, judged.code, judged.detail)
        self.dead.append(dead)
        log.error("a report was refused for good: %s of %s: %s %s", item.event_type, at, dead.code, dead.detail)
        if self.on_dead is not None:
            self.on_dead(dead)

    def _done(self, stream: Stream, item: Item) -> None:
        stream.outbox.remove(item)
        if item.settled is not None:
            item.settled()
        if stream.closed and not len(stream.outbox):
            self._streams.pop(id(stream), None)

    def _make_room(self, stream: Stream, item: Item) -> None:
        for other in (*self._streams.values(), stream):
            oldest = other.outbox.droppable()
            if oldest is not None:
                other.outbox.remove(oldest)
                break
        else:
            if item.ends:
                return
            stream.outbox.remove(item)
        self.dropped += 1
        if self.dropped == 1:
            log.warning("too many reports wait: progress is dropped, ends are kept")


def _bounded(chosen: Sequence[Sending]) -> tuple[Sending, ...]:
    size = 0
    for index, sending in enumerate(chosen):
        size += 1_000 + (len(msgspec.json.encode(sending.item.says)) if sending.item else 0)
        if size > BATCH_BYTES and index:
            return tuple(chosen[:index])
    return tuple(chosen)
