"""Health, metrics, the contract of the interface, and the console's files."""

import re
from importlib.resources import files
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from milepost.api.callers import viewer
from milepost.api.http import bearer, json_response
from milepost.api.services import Services
from milepost.wire.problems import Rejection

PAGE_HEADERS: Final = {
    "content-security-policy": "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
}
_NAME: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}")
_TYPES: Final = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
}


async def healthz(_request: Request, _services: Services) -> Response:
    """Whether the process lives: it answers."""
    return json_response({"status": "ok"})


async def readyz(_request: Request, services: Services) -> Response:
    """Whether it can serve: the database answers."""
    await services.access.tenants()
    return json_response({"status": "ready", "epoch": await services.storage.epoch()})


async def metrics(request: Request, services: Services) -> Response:
    """The metrics in Prometheus' text form, for a service credential or an operator."""
    if services.metrics is None:
        raise Rejection("NOT_FOUND", "Metrics are not served here.")
    if not services.options.metrics_open:
        await _insider(request, services)
    return Response(services.metrics(), media_type="text/plain; version=0.0.4; charset=utf-8")


async def _insider(request: Request, services: Services) -> None:
    token = bearer(request)
    if token is not None and token.startswith("mpc_"):
        await services.identities.service(token)
        return
    who = await viewer(request, services)
    if "operator" not in who.roles:
        raise Rejection("FORBIDDEN", "This is for operators.")


async def contract(request: Request, services: Services) -> Response:
    """The OpenAPI document."""
    from milepost.api.openapi import document

    if not services.options.docs_open:
        await _insider(request, services)
    return json_response(document())


async def docs(request: Request, services: Services) -> Response:
    """The same for people."""
    from milepost.api.docs import page as docs_page

    if not services.options.docs_open:
        await _insider(request, services)
    return Response(docs_page(), headers=PAGE_HEADERS, media_type="text/html; charset=utf-8")


async def page(_request: Request, _services: Services) -> Response:
    """The console's page."""
    return _asset("index.html")


async def asset(request: Request, _services: Services) -> Response:
    """One of the console's files."""
    return _asset(str(request.path_params["name"]))


def _asset(name: str) -> Response:
    kind = _TYPES.get(name.rpartition(".")[2])
    file = files("milepost.console") / "assets" / name
    if kind is None or not _NAME.fullmatch(name) or not file.is_file():
        raise Rejection("NOT_FOUND", "Nothing has this name.")
    return Response(file.read_bytes(), headers=PAGE_HEADERS, media_type=kind)
