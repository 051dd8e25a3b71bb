"""Holds every answer of a test against the published contract, so that each test of a route is a contract test too."""

import json
import re
from functools import cache
from typing import Any

import httpx
from jsonschema import Draft202012Validator, FormatChecker
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from milepost.api.openapi import document

PROBLEM = "#/components/schemas/Problem"
_ROOT = "urn:milepost"
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


async def keeps_the_contract(response: httpx.Response) -> None:
    """Fails where an answer has a status, a type or a shape that the contract does not name."""
    kind = response.headers.get("content-type", "").partition(";")[0]
    if kind == "text/event-stream":
        return
    await response.aread()
    request = response.request
    told = f"{request.method} {request.url.path} -> {response.status_code} {response.text[:500]}"
    assert re.fullmatch("[A-Za-z0-9]{1,32}", response.headers.get("milepost-epoch", "")), told
    assert response.status_code < 500 or response.status_code == 503, told
    if request.method == "OPTIONS":
        return  # what a browser asks beforehand; it reads the head alone
    if response.status_code >= 400:
        assert kind == "application/problem+json", told
        _check(PROBLEM, response, told)
        assert response.json()["status"] == response.status_code, told
    operation = operation_of(request.method, request.url.path)
    if operation is None or response.status_code == 405:
        return
    assert str(response.status_code) in operation["responses"], f"not in the contract: {told}"
    documented = operation["responses"][str(response.status_code)]
    if response.status_code >= 400:
        assert response.json()["code"] in documented["description"].split(", "), f"not in the contract: {told}"
    for name in documented.get("content", {}):
        assert kind == name, told
        _check(_pointer(operation, response.status_code, name), response, told)


@cache
def operation_of(method: str, path: str) -> dict[str, Any] | None:
    """The operation that the contract has for this request, with its place under `at`."""
    for template in sorted(document()["paths"], key=lambda text: text.count("{")):
        pattern = re.sub(r"\\{\w+\\}", "[^/]+", re.escape(template))
        found = document()["paths"][template].get(method.lower())
        if found is not None and re.fullmatch(pattern, path):
            place = template.replace("~", "~0").replace("/", "~1")
            return {**found, "at": f"#/paths/{place}/{method.lower()}"}
    return None


@cache
def validator(pointer: str) -> Draft202012Validator:
    """A validator for one schema of the document."""
    resource = Resource.from_contents(document(), default_specification=DRAFT202012)
    registry: Registry[Any] = Registry().with_resource(_ROOT, resource)
    formats = FormatChecker(())
    formats.checks("date-time")(lambda text: bool(_INSTANT.fullmatch(str(text))))
    return Draft202012Validator({"$ref": _ROOT + pointer}, registry=registry, format_checker=formats)


def _pointer(operation: dict[str, Any], status: int, kind: str) -> str:
    return f"{operation['at']}/responses/{status}/content/{kind.replace('/', '~1')}/schema"


def _check(pointer: str, response: httpx.Response, told: str) -> None:
    wrong = [f"{error.json_path}: {error.message[:200]}" for error in validator(pointer).iter_errors(strict(response))]
    assert not wrong, f"{told}\n{wrong}"


def strict(response: httpx.Response) -> Any:
    """The body of an answer, read by a parser that takes no NaN and no key twice."""
    return json.loads(response.content.decode("utf-8"), parse_constant=_never, object_pairs_hook=_once)


def _never(text: str) -> Any:
    raise AssertionError(f"{text} is no JSON")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    assert len(found) == len(pairs), pairs
    return found
