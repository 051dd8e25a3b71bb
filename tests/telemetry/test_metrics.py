from milepost.telemetry.metrics import Metrics


def samples(metrics: Metrics) -> dict[str, float]:
    lines = metrics.exposition().decode().splitlines()
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if not line.startswith("#")}


def test_events_are_counted_by_what_became_of_them():
    metrics = Metrics("1.2.3")
    metrics.ingest.event("accepted")
    metrics.ingest.event("accepted")
    metrics.ingest.event("stale", "OLD_SEQUENCE")
    held = samples(metrics)
    assert held['milepost_ingest_events_total{code="",outcome="accepted"}'] == 2
    assert held['milepost_ingest_events_total{code="OLD_SEQUENCE",outcome="stale"}'] == 1


def test_the_times_of_the_specification_have_its_names():
    metrics = Metrics("1")
    metrics.ingest.sync_lag.observe(0.2)
    metrics.ingest.publish_seconds.observe(0.002)
    metrics.ingest.committed(7, 0.004)
    held = samples(metrics)
    assert held["task_sync_lag_seconds_count"] == 1
    assert held["state_commit_to_publish_seconds_count"] == 1
    assert held["milepost_commit_batch_events_sum"] == 7
    assert held["milepost_commit_seconds_count"] == 1


def test_background_work_is_counted():
    metrics = Metrics("1")
    metrics.ingest.flushed(3)
    metrics.ingest.flushed(0)
    metrics.step_done("flusher", "done")
    held = samples(metrics)
    assert held["milepost_flushed_progress_total"] == 3
    assert held["milepost_pending_progress"] == 0
    assert held['milepost_role_steps_total{outcome="done",role="flusher"}'] == 1


def test_streams_are_counted():
    metrics = Metrics("1")
    stream = metrics.stream
    stream.opened()
    stream.opened()
    stream.ended("slow")
    stream.refused("RATE_LIMITED")
    stream.encoded("task.summary")
    stream.sent(3)
    stream.collapsed(2)
    stream.replayed(5)
    stream.reset("FLOOR")
    stream.caught_up(4, from_log=True)
    stream.caught_up(1, from_log=False)
    held = samples(metrics)
    assert held["milepost_stream_connections"] == 1
    assert held['milepost_stream_ended_total{reason="slow"}'] == 1
    assert held['milepost_stream_resets_total{reason="FLOOR"}'] == 1
    assert held["milepost_stream_messages_total"] == 3
    assert held["milepost_stream_collapsed_total"] == 2
    assert held["milepost_stream_replays_total"] == 1
    assert held["milepost_stream_replayed_total"] == 5
    assert held['milepost_stream_entries_total{source="log"}'] == 4


def test_requests_are_counted_by_route_and_timed():
    metrics = Metrics("1")
    for status in (200, 200, 404):
        metrics.http.answered("GET", "/api/tasks/{taskId}", status, 0.003)
    held = samples(metrics)
    assert held['milepost_http_requests_total{method="GET",route="/api/tasks/{taskId}",status="200"}'] == 2
    assert held['milepost_http_request_seconds_count{route="/api/tasks/{taskId}"}'] == 3


def test_two_sets_of_metrics_do_not_share_anything():
    first, second = Metrics("1"), Metrics("1")
    first.stream.opened()
    assert samples(second)["milepost_stream_connections"] == 0


def test_the_build_is_named():
    assert samples(Metrics("1.2.3"))['milepost_build_info{version="1.2.3"}'] == 1
