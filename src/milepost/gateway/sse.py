"""Server-sent events as a thin skin: raw ASGI, one writer a stream, and nothing but the viewer while it is idle.

The request's own task waits for the client to go away. Writing is done by a task that lives only while there is
something to write; everything that waits goes out in one piece.
"""

import asyncio
import logging
from typing import NamedTuple, cast

from starlette.types import Message as AsgiMessage
from starlette.types import Receive, Send

from milepost.gateway import framing
from milepost.gateway.feed import Feed
from milepost.gateway.message import Message
from milepost.gateway.replay import Replay
from milepost.gateway.viewer import Viewer
from milepost.ports.storage import Unavailable

_log = logging.getLogger(__name__)
_END: AsgiMessage = {"type": "http.response.body", "body": b"", "more_body": False}


class Opening(NamedTuple):
    """What a stream needs only at its beginning: what it sends first, and the list of the request's headers."""

    replay: Replay
    head: object


class SseStream:
    """The outlet of one viewer: an open HTTP response."""

    __slots__ = ("_aborted", "_beat", "_feed", "_main", "_opening", "_send", "_writer", "viewer")

    def __init__(self, feed: Feed, viewer: Viewer, opening: Opening, send: Send) -> None:
        self._feed = feed
        self.viewer = viewer
        self._opening: Opening | None = opening
        self._send = send
        self._main: asyncio.Task[None] | None = None
        self._writer: asyncio.Task[None] | None = None
        self._beat = b""
        self._aborted = False

    @property
    def busy(self) -> bool:
        """Whether something is being written at this moment."""
        return self._writer is not None

    def ready(self) -> None:
        """Writes what waits, in a task of its own while there is something."""
        if self._writer is None:
            self._writer = asyncio.get_running_loop().create_task(self._write())

    def ended(self) -> None:
        """Gives a client that does not read a little time; it would hold its place for ever otherwise."""
        asyncio.get_running_loop().call_later(self._feed.limits.linger_seconds, self._abort)

    def beat(self, place: str | None) -> None:
        """Writes a heartbeat."""
        self._beat = framing.moved(place) if place else framing.COMMENT
        self.ready()

    async def run(self, receive: Receive) -> None:
        """Sends the beginning, goes live, and returns when the client is gone or the stream has ended."""
        self._main = asyncio.current_task()
        self.viewer.outlet = self
        try:
            await self._begin()
            while (await receive())["type"] != "http.disconnect":
                pass
        except asyncio.CancelledError:
            if not self._aborted or self._main is None:
                raise
            self._main.uncancel()
        except OSError:
            pass
        except Unavailable:
            # In the middle of a replay: the client resumes behind what it was sent.
            self.viewer.finish("unavailable")
            await self._send(_END)
        finally:
            self._main = None
            if self._writer is not None:
                self._writer.cancel()

    async def _begin(self) -> None:
        # Held by nobody but this frame, so that an idle stream does not keep what it was sent first.
        opening, self._opening = self._opening, None
        assert opening is not None  # noqa: S101 (a stream runs once)
        replay = opening.replay
        await self._send({"type": "http.response.start", "status": 200, "headers": list(framing.HEADERS)})
        # A browser's head is some kilobytes, and the server would keep it as long as the stream lasts.
        if isinstance(opening.head, list):
            cast("list[object]", opening.head).clear()
        await self._body(framing.retry(self._feed.limits.retry()) + _frames(replay.opening))
        async for messages in replay.chunks():
            await self._body(_frames(messages))
            self.viewer.stalled = 0
        self.viewer.go_live()

    async def _write(self) -> None:
        try:
            while chunk := self._take():
                await self._body(chunk)
                self.viewer.stalled = 0
            if self.viewer.end == "drained":
                await self._body(framing.retry(self._feed.limits.retry()))
            if self.viewer.end is not None:
                await self._send(_END)
        except OSError:
            # The server says so where a client is gone; its request's task hears of it by itself.
            return
        except Exception:
            _log.exception("A stream could not be written.")
            self._abort()
        finally:
            self._writer = None

    def _take(self) -> bytes:
        beat, self._beat = self._beat, b""
        return _frames(self.viewer.queue.take()) + beat

    async def _body(self, chunk: bytes) -> None:
        await self._send({"type": "http.response.body", "body": chunk, "more_body": True})

    def _abort(self) -> None:
        if self._main is not None:
            self._aborted = True
            self._main.cancel()


def _frames(messages: tuple[Message, ...]) -> bytes:
    return b"".join([message.sse for message in messages])
