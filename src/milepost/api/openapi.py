"""The OpenAPI 3.1 document, made from the table of routes and the types of `wire`; nothing in it is written twice."""

import re
from functools import cache
from typing import Any, Final, cast

import msgspec

from milepost.api.endpoints import Endpoint
from milepost.api.routes import DOCUMENTED
from milepost.wire.answers import ReportResult
from milepost.wire.messages import Message
from milepost.wire.problems import MEDIA_TYPE, Problem, status_of

_REFS: Final = "#/components/schemas/{name}"
_CALLED: Final = ("UNAUTHENTICATED", "FORBIDDEN", "UNAVAILABLE")
_ADDRESSED: Final = ("FIELD_INVALID", "ID_INVALID")
_WITH_BODY: Final = (*_ADDRESSED, "JSON_INVALID", "TOO_LARGE", "DUPLICATE_KEY", "NUMBER_OUT_OF_RANGE")
_STREAMS: Final = (
    ("/api/stream", "Everything that concerns the signed-in person."),
    ("/api/tasks/{task_id}/stream", "One task in detail."),
    ("/api/projects/{project_id}/stream", "The tasks of one project."),
)


@cache
def document() -> dict[str, Any]:
    """The whole document; the same for every process of this version."""
    types = _types()
    schemas, components = msgspec.json.schema_components(types, ref_template=_REFS)
    by_type = dict(zip(map(str, types), schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in DOCUMENTED:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint, by_type)
    for path, says in _STREAMS:
        paths[path] = {"get": _stream(path, says, by_type)}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Milepost",
            "version": "1",
            "description": "One reliable, recoverable status for every asynchronous task.",
        },
        "paths": paths,
        "components": {"schemas": components, "securitySchemes": _SECURITY},
    }


_SECURITY: Final = {
    "service": {"type": "http", "scheme": "bearer", "description": "A service credential (`mpc_…`)."},
    "execution": {"type": "http", "scheme": "bearer", "description": "The execution token of a step attempt."},
    "session": {"type": "http", "scheme": "bearer", "description": "A user session (`mps_…`)."},
    "cookie": {"type": "apiKey", "in": "cookie", "name": "milepost_session"},
}
_WHO: Final[dict[str, list[dict[str, list[str]]]]] = {
    "service": [{"service": []}],
    "execution": [{"execution": []}, {"service": []}],
    "viewer": [{"session": []}, {"cookie": []}],
    "insider": [{"service": []}, {"session": []}],
    "anyone": [],
}


def _types() -> list[Any]:
    found: list[Any] = [Problem, Message, ReportResult]
    for endpoint in DOCUMENTED:
        for kind in (endpoint.body, *endpoint.answers.values()):
            found.extend(_alternatives(kind))
    return list({str(kind): kind for kind in found}.values())


def _alternatives(kind: Any) -> tuple[Any, ...]:
    if kind is None:
        return ()
    return cast("tuple[Any, ...]", kind) if isinstance(kind, tuple) else (kind,)


def _shape(kind: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    choices = [schemas[str(one)] for one in _alternatives(kind)]
    return choices[0] if len(choices) == 1 else {"anyOf": choices}


def _operation(endpoint: Endpoint, schemas: dict[str, Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": f"{endpoint.method.lower()}{_camel(endpoint.path)}",
        "summary": endpoint.says,
        "security": _WHO[endpoint.who],
        "parameters": _parameters(endpoint),
        "responses": _responses(endpoint, schemas),
    }
    if endpoint.body is not None:
        content = {"application/json": {"schema": _shape(endpoint.body, schemas)}}
        operation["requestBody"] = {"required": True, "content": content}
    return operation


def _parameters(endpoint: Endpoint) -> list[dict[str, Any]]:
    found = [_parameter("path", name, "string") for name in re.findall(r"{(\w+)}", endpoint.path)]
    found += [_parameter("query", item.name, item.kind, item.says) for item in endpoint.query]
    if endpoint.once:
        found.append(_parameter("header", "Idempotency-Key", "string", "The same key again answers the same facts."))
    return found


def _parameter(place: str, name: str, kind: str, says: str = "") -> dict[str, Any]:
    parameter = {"in": place, "name": name, "required": place == "path", "schema": {"type": kind}}
    return {**parameter, "description": says} if says else parameter


def _responses(endpoint: Endpoint, schemas: dict[str, Any]) -> dict[str, Any]:
    responses: dict[str, Any] = {}
    for status, kind in endpoint.answers.items():
        responses[str(status)] = {"description": "Success."}
        if kind is not None:
            responses[str(status)]["content"] = {"application/json": {"schema": _shape(kind, schemas)}}
    codes = _codes(endpoint)
    for status in sorted({status_of(code) for code in codes}):
        named = ", ".join(sorted({code for code in codes if status_of(code) == status}))
        content = {MEDIA_TYPE: {"schema": schemas[str(Problem)]}}
        responses[str(status)] = {"description": named, "content": content}
    return responses


def _codes(endpoint: Endpoint) -> set[str]:
    """Its own codes, and those that follow from how it is called."""
    codes = set(endpoint.codes)
    if endpoint.who != "anyone":
        codes.update(_CALLED)
    if endpoint.who in ("service", "execution") or endpoint.query or endpoint.once:
        codes.update(_ADDRESSED)
    if endpoint.body is not None:
        codes.update(_WITH_BODY)
    if "{" in endpoint.path:
        codes.add("NOT_FOUND")
    return codes


def _stream(path: str, says: str, schemas: dict[str, Any]) -> dict[str, Any]:
    return {
        "operationId": f"get{_camel(path)}",
        "summary": f"{says} Server-sent events; resumes by Last-Event-ID or `after`.",
        "security": _WHO["viewer"],
        "parameters": [
            *(_parameter("path", name, "string") for name in re.findall(r"{(\w+)}", path)),
            _parameter("query", "after", "string", "The cursor to resume from."),
            _parameter("query", "ticket", "string", "A one-time ticket instead of a bearer or cookie."),
            _parameter("header", "Last-Event-ID", "string", "The same, as browsers send it; it wins."),
        ],
        "responses": {
            "200": {
                "description": "`event:` is the kind, `id:` the cursor, `data:` a message.",
                "content": {"text/event-stream": {"schema": schemas[str(Message)]}},
            }
        },
    }


def _camel(path: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in re.split(r"[^A-Za-z0-9]+", path) if word)
