"""The published contract is the one the code has."""

import json
import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from milepost.api.openapi import document
from milepost.api.routes import DOCUMENTED
from milepost.wire.problems import STATUS
from tests.parts.contract import operation_of, validator
from tests.parts.stand import Stand

ROOT = Path(__file__).parent.parent.parent


def test_the_checked_in_contract_is_what_the_code_makes() -> None:
    kept = json.loads((ROOT / "schema" / "openapi.json").read_text(encoding="utf-8"))
    assert kept == json.loads(json.dumps(document())), "run `make schema` and look at what changed"


def test_every_schema_of_the_contract_is_a_valid_schema() -> None:
    for schema in document()["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)


def test_every_reference_of_the_contract_leads_somewhere() -> None:
    names = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(document())))
    assert names
    assert names <= set(document()["components"]["schemas"])


def test_every_code_a_route_documents_is_in_the_table_of_codes() -> None:
    for path, methods in document()["paths"].items():
        for method, operation in methods.items():
            for status, answer in operation["responses"].items():
                if int(status) >= 400:
                    told = answer["description"].split(", ")
                    assert {STATUS.get(code) for code in told} == {int(status)}, f"{method} {path} {told}"


def test_operation_ids_are_unique() -> None:
    ids = [operation["operationId"] for methods in document()["paths"].values() for operation in methods.values()]
    assert len(ids) == len(set(ids))


@pytest.mark.accepts("projections obey their whitelist")
@pytest.mark.accepts("no secret in a browser")
def test_no_view_in_the_contract_has_a_place_for_what_must_stay_on_the_server() -> None:
    shapes = document()["components"]["schemas"]
    told = ("TaskView", "StepView", "ErrorView", "TimelineItem", "TriggerEvent", "FailureView", "EvidenceView")
    for name in told:
        named = json.dumps(shapes[name]["properties"]).lower()
        for secret in ("diagnostics", "executionlog", "traceid", "payloadhash", "retrycount"):
            assert secret not in named, f"{name} {secret}"


@pytest.mark.parametrize("endpoint", DOCUMENTED, ids=lambda endpoint: f"{endpoint.method} {endpoint.path}")
def test_a_documented_route_is_found_by_the_path_it_documents(endpoint: object) -> None:
    path = re.sub(r"\{\w+\}", "x1", endpoint.path)  # type: ignore[attr-defined]
    found = operation_of(endpoint.method, path)  # type: ignore[attr-defined]
    assert found is not None
    assert found["summary"] == endpoint.says  # type: ignore[attr-defined]


def test_the_check_of_answers_tells_a_wrong_shape_apart() -> None:
    problem = validator("#/components/schemas/Problem")
    good = {"type": "urn:x", "title": "t", "status": 404, "code": "NOT_FOUND", "detail": "d"}
    assert not list(problem.iter_errors(good))
    assert list(problem.iter_errors({**good, "status": "404"}))


async def test_the_served_contract_is_the_same_and_needs_a_credential(service: Stand) -> None:
    credential = await service.credential("p1")
    served = await service.get("/openapi.json", credential)
    assert served.json() == json.loads(json.dumps(document()))
    assert (await service.http.get("/openapi.json")).status_code == 401
    assert (await service.http.get("/docs")).status_code == 401
    page = await service.get("/docs", credential)
    assert page.headers["content-type"].startswith("text/html")
