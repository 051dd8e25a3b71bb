"""The ASGI application: hot routes first, every answer with the epoch, every error as a problem."""

import logging
import time
from collections.abc import Awaitable, Sequence
from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from milepost.api.endpoints import Endpoint
from milepost.api.http import AWAY, BROKEN, problem_response
from milepost.api.reports import Reports
from milepost.api.routes import EVERY
from milepost.api.services import Services
from milepost.ports.storage import Unavailable
from milepost.wire.problems import Rejection

EPOCH_HEADER: Final = b"milepost-epoch"
_log = logging.getLogger("milepost.api")
_EXPOSED: Final = ("ETag", "Retry-After", "Milepost-Epoch")


def build_app(services: Services, streams: Sequence[BaseRoute] = ()) -> ASGIApp:
    """The application over these services; `streams` are the gateway's routes."""
    plain = [_route(endpoint, services) for endpoint in EVERY if endpoint.handler is not None]
    inner = Starlette(routes=[*streams, *plain], exception_handlers=_PROBLEMS)
    inner.router.redirect_slashes = False
    app: ASGIApp = _StreamsFirst(streams, inner)
    if services.options.allowed_origins:
        app = CORSMiddleware(
            app,
            allow_origins=services.options.allowed_origins,
            allow_methods=("GET", "POST", "PUT", "DELETE"),
            allow_headers=("Authorization", "Content-Type", "Idempotency-Key", "If-None-Match", "Last-Event-ID"),
            expose_headers=_EXPOSED,
            allow_credentials=True,
        )
    return _Entrance(app, services)


class _Entrance:
    """Sends the hot routes their own way, marks every answer with the epoch, and turns what broke into a problem."""

    def __init__(self, app: ASGIApp, services: Services) -> None:
        self._app = app
        self._services = services
        reports = Reports(services)
        self._hot: dict[str, ASGIApp] = {
            "/internal/v1/task-events": reports.one,
            "/internal/v1/task-events:batch": reports.batch,
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = _Answer(send, (await self._services.storage.epoch()).encode())
        started = time.perf_counter()
        hot = self._hot.get(scope["path"])
        if hot is not None and scope["method"] != "POST":
            hot = _only_post
        try:
            await (hot or self._app)(scope, receive, answer)
        except Exception:
            _log.exception("request failed", extra={"method": scope["method"], "path": scope["path"]})
            if not answer.status:
                await problem_response(BROKEN)(scope, receive, answer)
        if answer.streams:
            return  # how long somebody looked on is no latency
        route = scope["path"] if hot else str(getattr(scope.get("route"), "path", "unmatched"))
        self._services.observe(route, scope["method"], answer.status, time.perf_counter() - started)


class _StreamsFirst:
    """Takes streams past the layers around plain requests: each of them would be kept as long as a stream lasts."""

    def __init__(self, streams: Sequence[BaseRoute], rest: ASGIApp) -> None:
        self._streams = [route for route in streams if isinstance(route, Route)]
        self._rest = rest

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        for route in self._streams:
            match, found = route.matches(scope)
            if match is Match.FULL:
                scope.update(found, route=route)
                return route.app(scope, receive, send)
        return self._rest(scope, receive, send)


class _Answer:
    """A `send` that adds the epoch to the head of an answer and keeps its status and whether it is a stream."""

    __slots__ = ("_epoch", "_send", "status", "streams")

    def __init__(self, send: Send, epoch: bytes) -> None:
        self._send = send
        self._epoch = epoch
        self.status = 0
        self.streams = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = int(message["status"])
            self.streams = any(value.startswith(b"text/event-stream") for _, value in message.get("headers", ()))
            message["headers"] = [*message.get("headers", ()), (EPOCH_HEADER, self._epoch)]
        await self._send(message)


def _route(endpoint: Endpoint, services: Services) -> Route:
    handler = endpoint.handler
    assert handler is not None  # noqa: S101 (only such endpoints are routed here)

    async def answer(request: Request) -> Response:
        return await handler(request, services)

    return Route(endpoint.path, answer, methods=[endpoint.method])


async def _only_post(scope: Scope, receive: Receive, send: Send) -> None:
    await problem_response(_METHOD, {"allow": "POST"})(scope, receive, send)


def _problem(_request: Request, error: Exception) -> Response:
    if isinstance(error, Rejection):
        return problem_response(error)
    if isinstance(error, Unavailable):
        return problem_response(AWAY)
    if isinstance(error, HTTPException):
        return problem_response(_METHOD if error.status_code == 405 else _NOWHERE, error.headers)
    return problem_response(BROKEN)


_METHOD: Final = Rejection("METHOD_NOT_ALLOWED", "This path does not take this method.")
_NOWHERE: Final = Rejection("NOT_FOUND", "Nothing is here.")
_PROBLEMS: Final = dict.fromkeys((Rejection, Unavailable, HTTPException, Exception), _problem)
