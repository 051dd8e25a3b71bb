import io
import json
import logging

import pytest

from milepost.bootstrap.observing import CommitObserver
from milepost.telemetry.joins import JoinLog
from milepost.telemetry.metrics import Metrics
from milepost.usecases.batching import Batch
from milepost.wire.problems import Rejection
from tests.parts.clocks import SetClock
from tests.parts.stand import stand


def samples(metrics: Metrics) -> dict[str, float]:
    lines = metrics.exposition().decode().splitlines()
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if not line.startswith("#")}


async def test_what_a_commit_of_the_service_left_is_counted_timed_and_logged(tmp_path):
    metrics, out = Metrics("1"), io.BytesIO()
    async with stand(tmp_path) as service:
        secret = await service.credential("api", "coordinate")
        task = {"tenantId": "t1", "ownerId": "u", "taskType": "T", "title": "x", "steps": []}
        made = await service.post("/internal/v1/tasks", secret, task, idempotency_key="k")
        assert made.status_code == 201, made.text
        observer = CommitObserver(metrics.ingest, JoinLog(out), service.clock)
        observer(Batch(1, 0.004, (made.json(),), tuple(service.heard.committed)))
    line = json.loads(out.getvalue())
    assert (line["message"], line["taskVersion"], line["taskType"]) == ("TASK_CREATED", 1, "T")
    held = samples(metrics)
    assert held["milepost_commit_seconds_count"] == 1
    assert held["state_commit_to_publish_seconds_count"] == 1


def test_refusals_are_counted_by_their_code():
    metrics = Metrics("1")
    observer = CommitObserver(metrics.ingest, None, SetClock())
    observer(Batch(2, 0.1, (Rejection("TASK_UNKNOWN", "no"), Rejection("TASK_UNKNOWN", "no")), ()))
    assert samples(metrics)['milepost_ingest_events_total{code="TASK_UNKNOWN",outcome="refused"}'] == 2


def test_trouble_in_counting_never_reaches_the_commit(caplog: pytest.LogCaptureFixture):
    observer = CommitObserver(Metrics("1").ingest, None, SetClock())
    with caplog.at_level(logging.ERROR):
        observer(Batch(1, 0.1, (), ("nonsense",)))  # type: ignore[arg-type]
    assert "could not be counted" in caplog.text
