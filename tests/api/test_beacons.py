"""Beacons: what viewers measured, validated and capped; it is counted and decides nothing."""

from pathlib import Path
from typing import Any

import pytest

from milepost.telemetry.metrics import Metrics
from milepost.wire.commands import Beacon
from tests.parts.stand import Stand, stand


async def beacon(service: Stand, body: Any, token: str | None = None) -> Any:
    return await service.post("/api/beacons", token or await service.session("u1"), body)


@pytest.mark.accepts("commit-to-visible measured")
async def test_measurements_of_a_viewer_are_taken_in(tmp_path: Path) -> None:
    heard: list[Beacon] = []
    async with stand(tmp_path, seen=heard.append) as service:
        answer = await beacon(service, {"commitToVisibleMs": [12, 340], "counters": {"reconnects": 2}})
        assert (answer.status_code, answer.content) == (204, b"")
        assert (heard[0].commit_to_visible_ms, heard[0].counters.reconnects) == ((12, 340), 2)


def test_measurements_become_metrics() -> None:
    metrics = Metrics("test")
    metrics.clients.seen([12, 340], {"reconnects": 2, "resets": 0})
    text = metrics.exposition().decode()
    assert "state_commit_to_visible_seconds_count 2.0" in text
    assert 'milepost_client_events_total{event="reconnects"} 2.0' in text


@pytest.mark.parametrize(
    "body",
    [
        {"commitToVisibleMs": [1] * 101},
        {"commitToVisibleMs": [-1]},
        {"commitToVisibleMs": [86_400_001]},
        {"commitToVisibleMs": ["1"]},
        {"counters": {"reconnects": 1_001}},
        {"counters": {"anything": 1}},
        {"events": []},
    ],
)
async def test_what_cannot_have_been_measured_is_refused(service: Stand, body: Any) -> None:
    answer = await beacon(service, body)
    assert (answer.status_code, answer.json()["code"]) == (422, "FIELD_INVALID")


async def test_a_session_that_sends_too_many_is_put_off_and_nobody_sends_without_one(service: Stand) -> None:
    token, other = await service.session("u1"), await service.session("u2")
    for _ in range(10):
        assert (await beacon(service, {}, token)).status_code == 204
    refused = await beacon(service, {}, token)
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
    assert (await beacon(service, {}, other)).status_code == 204
    assert (await service.http.post("/api/beacons", json={})).status_code == 401
