"""Random requests made from the published contract: whatever is sent, the answer is one that the contract names.

Each answer is held against the contract by the client itself; here only the requests are made up: bodies that fit their
schema, bodies that nearly do, and parameters of every kind.
"""

import json
from pathlib import Path
from random import Random
from typing import Any

from milepost.api.openapi import document
from tests.parts.reports import Reported, create
from tests.parts.stand import Stand, stand

ROUNDS = 30
WORDS = [
    "", "a", "k1", "s1", "p1", "api", "t1", "u1", "T", "OP", "DOCUMENT_PROCESS", "STEP_STARTED", "TASK_COMPLETED",
    "x" * 129, "a b", "a\n", "\x00", "\ud83d", "é", "e\u0301", "😀" * 400, "2027-01-15T08:00:00.123Z",
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59-14:00", "1", "-1", "01", "9" * 30, "mpc_x", "null", "../..", "%2e", "=1+1", "<script>",
]  # fmt: skip
NUMBERS: list[Any] = [0, 1, -1, 2, 1.5, 1e300, 2**53, 2**63, 10**400, float("nan"), float("inf"), 1e-400, -0.0]
ODD: list[Any] = [None, True, False, [], {}, [[]], {"": {}}, *NUMBERS, *WORDS]


class Maker:
    """Makes values from schemas; now and then something else."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self._shapes = document()["components"]["schemas"]

    def value(self, schema: dict[str, Any], depth: int = 0) -> Any:
        chance = self._chance
        if chance.random() < 0.06:
            return chance.choice(ODD)
        if "$ref" in schema:
            return self.value(self._shapes[schema["$ref"].rpartition("/")[2]], depth)
        if "anyOf" in schema:
            return self.value(chance.choice(schema["anyOf"]), depth)
        if "enum" in schema:
            return chance.choice(schema["enum"])
        kind = schema.get("type")
        if kind == "object":
            return self._object(schema, depth)
        if kind == "array":
            items = schema.get("items")
            return [self.value(items, depth + 1) for _ in range(chance.randrange(3))] if items and depth < 4 else []
        if kind in ("integer", "number"):
            return chance.choice([schema.get("minimum", 1), 1, 2, *NUMBERS])
        return {"boolean": chance.random() < 0.5, "null": None}.get(str(kind), chance.choice(WORDS))

    def _object(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        needed = set(schema.get("required", ()))
        found = {
            name: self.value(inner, depth + 1)
            for name, inner in schema.get("properties", {}).items()
            if name in needed or self._chance.random() < 0.4
        }
        if self._chance.random() < 0.05:
            found[self._chance.choice(WORDS)] = self._chance.choice(ODD)
        return found

    def text(self, value: Any) -> bytes:
        """The value as JSON; now and then cut, doubled or followed by rubbish."""
        text = json.dumps(value).encode()
        fate = self._chance.random()
        if fate < 0.03:
            return text[: self._chance.randrange(len(text) + 1)]
        if fate < 0.05:
            return text + self._chance.choice([b"x", b"\x00", b"{}", b" "])
        if fate < 0.07 and text.startswith(b"{") and len(text) > 2:
            return b"{" + text[1:-1] + b"," + text[1:]
        return text.replace(b"a", bytes([self._chance.randrange(256)]), 1) if fate < 0.09 else text


async def requests(service: Stand, chance: Random, tokens: list[str], overrides: dict[str, list[Any]]) -> int:
    """One request to every operation of the contract; how many were let in."""
    maker, let_in = Maker(chance), 0
    for path, methods in document()["paths"].items():
        for method, operation in methods.items():
            if "stream" in path or path.startswith("/api/session"):
                continue
            where, headers, query = path, {"authorization": f"Bearer {chance.choice(tokens)}"}, {}
            for item in operation["parameters"]:
                word = chance.choice(["k1", "a", "1", "2", *WORDS])
                text = word.encode("utf-8", "replace").decode()
                if item["in"] == "path":
                    where = where.replace(f"{{{item['name']}}}", _quoted(text) or "a")
                elif item["in"] == "query" and chance.random() < 0.4:
                    query[item["name"]] = text
                elif item["in"] == "header" and chance.random() < 0.3 and text.isascii() and text.isprintable():
                    headers[item["name"]] = text
            content = None
            if "requestBody" in operation:
                made = maker.value(operation["requestBody"]["content"]["application/json"]["schema"])
                if isinstance(made, dict):
                    fixed = {name: chance.choice(values) for name, values in overrides.items() if name in made}
                    made = {**made, **(fixed if chance.random() < 0.7 else {})}
                content = maker.text(made)
            answer = await service.http.request(method.upper(), where, headers=headers, params=query, content=content)
            let_in += answer.status_code < 400
    return let_in


def _quoted(text: str) -> str:
    from urllib.parse import quote

    return quote(text, safe="")


async def test_no_request_made_from_the_contract_leaves_it(tmp_path: Path) -> None:
    async with stand(tmp_path) as service:
        coordinator = await service.credential("api", "report", "coordinate", "sessions")
        made = await create(service, coordinator, ("a", "OP", "p1"), taskId="k1")
        step = Reported(service, made["contexts"][0])
        tokens = [
            coordinator,
            await service.credential("p1", "report"),
            await service.credential("x", "report", "coordinate", tenant=None),
            step.context["executionToken"],
            await service.session("u1"),
            await service.session("boss", roles=("operator",)),
            "rubbish",
        ]
        bound = {name: [value, "k1"] for name, value in step.event("STEP_PROGRESS").items() if name != "eventType"}
        overrides = {**bound, "tenantId": ["t1"], "occurredAt": ["2027-01-15T08:00:00Z"], "eventId": ["e1", "e2", "e3"]}
        chance = Random(20270115)
        let_in = 0
        for _ in range(ROUNDS):
            let_in += await requests(service, chance, tokens, overrides)
            service.clock.pass_ms(chance.choice([0, 1, 2_000]))
        assert let_in > ROUNDS
        found = (await service.get("/api/tasks/k1", tokens[5])).json()
        log = (await service.get("/api/tasks/k1/events?limit=500", tokens[5])).json()["items"]
        assert [int(item["taskVersion"]) for item in log] == list(range(1, int(found["task"]["version"]) + 1))
