"""B12: NaN and Infinity get in, and break the page."""

import json
from typing import Any

import pytest

from tests.field_cases.cases import Case

PROGRESS_INVALID = [
    "NaN", "Infinity", "-Infinity", "1e999", "1e400", "9" * 5000, "-1e400", "-5", "-1e-9", '"50"', '"NaN"', "true",
    "false", "null", "[]", "{}", '""',
]  # fmt: skip
OUT_OF_RANGE = ["9007199254740992", "1e300", "1" + "0" * 400, "1e16"]
TAKEN = [
    ("-0", 0), ("-0.0", 0), ("0", 0), ("1E1", 10), ("100.0000001", 100), ("1e-9", 1e-9), ("1e-400", 0),
    ("5e-324", 5e-324), ("100", 100), ("99.5", 99.5), ("9007199254740991", 100),
]  # fmt: skip
NOT_JSON = ["+1", "01", "0x10", ".5", "5.", "1_000", "nan", "Nan", "inf", "--1", "1e", "０"]


def spelled(case: Case, current: str, total: str = "100") -> str:
    """The next progress event with a number spelled as it is."""
    event = case.a.event("STEP_PROGRESS", progress={"current": "@current", "total": "@total"})
    return json.dumps(event).replace('"@current"', current).replace('"@total"', total)


async def numbers_are_sound(case: Case) -> None:
    """Every stored number of the task is finite, and its percentage whole."""
    found = await case.shown()
    task = found["task"]
    assert task["progress"] is None or (
        isinstance(task["progress"]["percent"], int) and 0 <= task["progress"]["percent"] <= 99
    )
    for step in found["steps"]:
        progress = step["progress"]
        assert progress is None or 0 <= progress["current"] <= (progress["total"] or 2**53)
        assert step["elapsedMs"] is None or step["elapsedMs"] >= 0
    await case.is_sound()


@pytest.mark.parametrize("place", ["current", "total"])
async def test_progress_that_is_no_amount_is_refused_with_its_place(case: Case, place: str) -> None:
    for text in PROGRESS_INVALID:
        if (text, place) == ("null", "total"):
            continue  # a total may be unknown
        answer = await case.raw(spelled(case, text) if place == "current" else spelled(case, "1", text))
        assert (answer.status_code, answer.json()["code"]) == (422, "PROGRESS_INVALID"), text
        assert answer.json()["errors"][0]["pointer"] == f"/progress/{place}", text
    assert await case.version() == 1


async def test_an_amount_that_cannot_be_kept_is_out_of_range(case: Case) -> None:
    for text in OUT_OF_RANGE:
        answer = await case.raw(spelled(case, text))
        assert (answer.status_code, answer.json()["code"]) == (422, "NUMBER_OUT_OF_RANGE"), text
        assert answer.json()["errors"][0]["pointer"] == "/progress/current", text
    assert await case.version() == 1


@pytest.mark.parametrize("text, kept", TAKEN)
async def test_an_odd_amount_is_taken_as_the_finite_number_it_is(case: Case, text: str, kept: float) -> None:
    answer = await case.raw(spelled(case, text))
    assert answer.status_code == 200, answer.text
    assert (await case.step())["progress"]["current"] == kept
    await numbers_are_sound(case)


async def test_a_number_that_json_does_not_know_is_no_json(case: Case) -> None:
    for text in NOT_JSON:
        answer = await case.raw(spelled(case, text))
        assert (answer.status_code, answer.json()["code"]) == (400, "JSON_INVALID"), text
    assert await case.version() == 1


@pytest.mark.parametrize(
    "current, total", [("0", "0"), ("5", "0"), ("7", "3"), ("1e-9", "1e-9"), ("1", "5e-324"), ("3", "null")]
)
async def test_no_ratio_leaves_the_range_of_a_percentage(case: Case, current: str, total: str) -> None:
    assert (await case.raw(spelled(case, current, total))).status_code == 200
    await numbers_are_sound(case)
    case.stand.clock.pass_ms(5_000)
    assert (await case.raw(spelled(case, "1", "100"))).status_code == 200
    await numbers_are_sound(case)


@pytest.mark.parametrize("text", ["NaN", "1e999", "-5", '"50"', "true", "9" * 5000], ids=lambda text: text[:10])
async def test_one_odd_number_leaves_its_neighbours_in_the_batch_alone(case: Case, text: str) -> None:
    before, after = case.untokened(case.b, "STEP_STARTED"), case.untokened(case.b, "STEP_COMPLETED", durationMs=3)
    odd = json.dumps({**json.loads(spelled(case, "1")), "sourceEpoch": 1}).replace('"current": 1', f'"current": {text}')
    results = await case.batch(before, odd, after)
    assert [result["status"] for result in results] == [200, 422, 200]
    assert results[1]["errors"][0]["pointer"] == "/progress/current"
    assert (await case.step("b"))["lifecycleStatus"] == "SUCCEEDED"
    assert (await case.step("a"))["lifecycleStatus"] == "PENDING"
    await numbers_are_sound(case)


OTHERS: list[tuple[dict[str, Any], str]] = [
    ({"durationMs": float("nan")}, "/durationMs"),
    ({"durationMs": 1e999}, "/durationMs"),
    ({"durationMs": 2**53}, "/durationMs"),
    ({"durationMs": -1}, "/durationMs"),
    ({"durationMs": 1.5}, "/durationMs"),
    ({"durationMs": True}, "/durationMs"),
    ({"ageMs": float("inf")}, "/ageMs"),
    ({"retryCount": -1}, "/retryCount"),
    ({"sourceSeq": float("nan")}, "/sourceSeq"),
    ({"sourceSeq": 1e300}, "/sourceSeq"),
    ({"resultRef": {"id": "r", "size": 1e400}}, "/resultRef/size"),
    ({"data": {"schema": "S", "value": {"list": [1, {"deep": float("nan")}]}}}, "/data/value/list/1/deep"),
]


async def test_no_other_number_gets_in_either(case: Case) -> None:
    for more, pointer in OTHERS:
        answer = await case.raw(json.dumps(case.a.event("STEP_COMPLETED", **more)))
        assert answer.status_code == 422, more
        assert answer.json()["errors"][0]["pointer"] == pointer, more
    assert await case.version() == 1


async def test_the_weight_of_a_step_is_a_finite_number_above_nothing(case: Case) -> None:
    for text in ("NaN", "-1", "0", "1e999", "true", '"1"', "1e300", "-0.0"):
        step = '{"stepId":"s","operationCode":"OP","producerId":"p1","weight":' + text + "}"
        body = '{"tenantId":"t1","ownerId":"u1","taskType":"T","title":"x","steps":[' + step + "]}"
        answer = await case.raw(body, case.coordinator, "/internal/v1/tasks")
        assert answer.status_code == 422, text
        assert answer.json()["errors"][0]["pointer"] == "/steps/0/weight", text


async def test_ages_and_durations_of_any_size_never_move_a_time_out_of_the_task(case: Case) -> None:
    answer = await case.a.report("STEP_COMPLETED", ageMs=2**53 - 1, durationMs=2**53 - 1)
    assert answer["status_code"] == 200
    found = await case.step()
    assert found["durationMs"] == 2**53 - 1
    assert found["startedAt"] == found["finishedAt"] == "2027-01-15T08:00:00.000Z"
    await numbers_are_sound(case)
