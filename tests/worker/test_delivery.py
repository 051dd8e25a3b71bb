from typing import Any

import msgspec
import pytest

from milepost.ports.http import Reply, Unreachable
from milepost.worker.delivery import Send
from tests.worker.conftest import Bench, accepted, context, problem, results


def types(events: list[dict[str, Any]]) -> list[str]:
    return [event["eventType"] for event in events]


def test_the_first_request_of_an_execution_asks_for_a_source_of_its_own(bench: Bench):
    bench.put(bench.open(), "STEP_STARTED")
    send = bench.next()
    assert (send.kind, send.request.path) == ("TOKEN", "/internal/v1/tasks/k/steps/parse/token")
    assert msgspec.json.decode(send.request.body or b"") == {"stepAttempt": 1, "newSource": True}
    assert send.request.headers["authorization"] == "Bearer secret"


def test_a_single_fact_carries_its_token_its_sequence_and_its_age(bench: Bench):
    bench.put(bench.open(), "STEP_STARTED")
    bench.source(epoch=4)
    bench.now += 2.5
    send = bench.next()
    event = msgspec.json.decode(send.request.body or b"")
    assert send.request.headers["authorization"] == "Bearer token-4"
    assert send.request.headers["idempotency-key"] == event["eventId"]
    assert (event["sourceEpoch"], event["sourceSeq"], event["ageMs"]) == (4, "1", 2500)
    assert event["occurredAt"] == "2023-11-14T22:13:20.000Z"


def test_what_waits_goes_out_in_one_batch_in_the_order_of_each_stream(bench: Bench):
    one, two = bench.open(), bench.open(context("store"))
    for stream in (one, two):
        bench.put(stream, "STEP_STARTED")
        bench.put(stream, "STEP_COMPLETED", durationMs=1)
    bench.source()
    bench.source()
    events = bench.exchange(accepted())
    assert [(event["stepId"], event["sourceSeq"]) for event in events] == [
        ("parse", "1"),
        ("parse", "2"),
        ("store", "1"),
        ("store", "2"),
    ]
    assert {event["executionToken"] for event in events} == {"token-2"}
    assert bench.delivery.waiting == 0


def test_one_bad_fact_goes_to_the_dead_list_and_its_neighbours_go_on(bench: Bench):
    # B19: the server refuses one of a hundred for good.
    stream = bench.open()
    for page in range(101):
        bench.put(stream, "STEP_PROGRESS", progress={"current": page})
    bench.source()
    bad = "51"
    events = []
    while bench.delivery.waiting:
        events += bench.exchange(
            lambda event: problem(422, "PROGRESS_INVALID") if event["sourceSeq"] == bad else accepted()
        )
    assert len(events) == 101
    assert [(dead.code, dead.step_id) for dead in bench.delivery.dead] == [("PROGRESS_INVALID", "parse")]


def test_a_batch_that_is_refused_as_such_shrinks_until_the_bad_fact_is_found(bench: Bench):
    stream = bench.open()
    for page in range(5):
        bench.put(stream, "STEP_PROGRESS", progress={"current": page})
    bench.source()
    for _ in range(20):
        if not bench.delivery.waiting:
            break
        send = bench.next()
        if send.kind == "BATCH":
            bench.answer(send, problem(400, "JSON_INVALID"))
            continue
        event = msgspec.json.decode(send.request.body or b"")
        bench.answer(send, problem(422, "FIELD_INVALID") if event["sourceSeq"] == "3" else accepted())
    assert bench.delivery.waiting == 0
    assert len(bench.delivery.dead) == 1


@pytest.mark.parametrize(
    "reply",
    [
        Unreachable("refused"),
        Reply(500, b"<html>oops</html>"),
        Reply(200, b"<html>please log in</html>"),
        problem(503, "UNAVAILABLE"),
        problem(429, "RATE_LIMITED"),
        Reply(408),
    ],
)
@pytest.mark.accepts("a retry after an outage is the same event, not a conflict")
def test_trouble_holds_the_whole_destination_for_1_3_9_seconds_and_loses_nothing(bench: Bench, reply):
    stream = bench.open()
    bench.put(stream, "STEP_COMPLETED")
    bench.source()
    waits = []
    for _ in range(3):
        bench.answer(bench.next(), reply)
        bench.put(bench.open(context("other")), "STEP_STARTED")
        waits.append(bench.wait())
        bench.now += waits[-1]
    assert waits == [1.0, 3.0, 9.0]
    first = bench.sent[1].sendings[0].item
    assert first is not None
    assert all(send.sendings[0].item is first for send in bench.sent[1:] if send.sendings)


def test_retry_after_is_kept(bench: Bench):
    bench.put(bench.open(), "STEP_STARTED")
    bench.source()
    bench.answer(bench.next(), problem(429, "RATE_LIMITED", retry_after=40))
    assert bench.wait() == 40.0


def test_what_a_batch_puts_off_waits_as_long_as_its_answer_says_and_the_rest_is_delivered(bench: Bench):
    first, second = bench.open(context("a")), bench.open(context("b"))
    for stream in (first, second):
        bench.put(stream, "STEP_STARTED")
        bench.source()
    send = bench.next()
    assert send.kind == "BATCH"
    told = results(accepted(), problem(429, "RATE_LIMITED"))
    bench.answer(send, Reply(200, told.body, {"retry-after": "40"}))
    assert bench.wait() == 40.0
    bench.now += 40
    started = [event["stepId"] for event in bench.exchange(accepted()) if event["eventType"] == "STEP_STARTED"]
    assert started == ["b"]


@pytest.mark.accepts("a retry after an outage is the same event, not a conflict")
def test_an_expired_token_is_renewed_and_the_same_event_sent_again(bench: Bench):
    bench.put(bench.open(), "STEP_STARTED")
    bench.source(epoch=2)
    before = bench.exchange(problem(401, "TOKEN_EXPIRED"))
    send = bench.next()
    assert msgspec.json.decode(send.request.body or b"") == {"stepAttempt": 1}
    bench.answer(send, Reply(200, msgspec.json.encode({"executionToken": "fresh", "sourceEpoch": 2})))
    again = bench.next()
    assert again.request.headers["authorization"] == "Bearer fresh"
    assert msgspec.json.decode(again.request.body or b"") == before[0]


def test_a_renewed_token_never_lifts_facts_into_a_newer_source(bench: Bench):
    bench.put(bench.open(), "STEP_STARTED")
    bench.source(epoch=2)
    bench.exchange(problem(401, "TOKEN_EXPIRED"))
    bench.answer(bench.next(), Reply(200, msgspec.json.encode({"executionToken": "fresh", "sourceEpoch": 3})))
    again = msgspec.json.decode(bench.next().request.body or b"")
    assert again["sourceEpoch"] == 2, "another process has taken the step over: this one's facts stay fenced"


@pytest.mark.parametrize(
    "status, code",
    [(404, "TASK_UNKNOWN"), (404, "ATTEMPT_UNKNOWN"), (401, "TOKEN_INVALID"), (401, "UNAUTHENTICATED")],
)
def test_an_unknown_task_or_token_is_kept_and_tried_again_slowly(bench: Bench, status: int, code: str):
    # B08: the facts of a task that is not there yet arrive once it is.
    stream = bench.open()
    bench.put(stream, "STEP_COMPLETED")
    bench.source()
    waits = []
    for _ in range(4):
        bench.exchange(problem(status, code))
        waits.append(bench.wait())
        bench.now += waits[-1]
    assert waits == [1.0, 2.0, 5.0, 15.0]
    bench.exchange(accepted())
    assert bench.delivery.waiting == 0
    assert not bench.delivery.dead


def test_a_task_that_is_not_there_yet_holds_only_its_own_stream(bench: Bench):
    bench.put(bench.open(context(task_id="later")), "STEP_STARTED")
    bench.answer(bench.next(), problem(404, "TASK_UNKNOWN"))
    bench.put(bench.open(), "STEP_STARTED")
    bench.source()
    assert bench.exchange(accepted())[0]["taskId"] == "k"


def test_a_proxys_page_never_kills_a_fact(bench: Bench):
    bench.put(bench.open(), "STEP_STARTED")
    bench.source()
    bench.answer(bench.next(), Reply(403, b"<html>forbidden</html>"))
    assert bench.delivery.waiting == 1
    assert not bench.delivery.dead


def test_a_deleted_task_ends_its_stream(bench: Bench):
    stream = bench.open()
    bench.put(stream, "STEP_STARTED")
    bench.put(stream, "STEP_COMPLETED")
    bench.source()
    bench.exchange(problem(410, "TASK_DELETED"))
    assert (bench.delivery.waiting, len(bench.delivery.dead)) == (0, 2)
    assert bench.wait() is None


@pytest.mark.accepts("a refused payload never loses the end")
def test_an_end_refused_for_its_content_goes_out_again_bare(bench: Bench):
    stream = bench.open()
    error = {"category": "DEPENDENCY", "code": "NO_DISK", "userMessage": "x", "retryable": True}
    bench.put(stream, "STEP_FAILED", durationMs=7, error=error, data={"schema": "x", "value": 1}, message="m")
    bench.source()
    refused = bench.exchange(problem(422, "SCHEMA_UNKNOWN", "/data/schema"))[0]
    bare = bench.exchange(problem(422, "FIELD_INVALID", "/error/code"))[0]
    barest = bench.exchange(accepted())[0]
    assert bare["eventId"] != refused["eventId"]
    assert (bare["sourceSeq"], bare["durationMs"]) == ("2", 7)
    assert bare["error"] == {"category": "DEPENDENCY", "code": "NO_DISK"}
    assert not {"data", "message"} & bare.keys()
    assert barest["error"] == {"category": "SYSTEM", "code": "DATA_REFUSED"}
    assert [dead.code for dead in bench.delivery.dead] == ["SCHEMA_UNKNOWN", "FIELD_INVALID"]
    assert bench.delivery.waiting == 0


def test_only_the_newest_progress_goes_out_and_not_too_often(bench: Bench):
    stream = bench.open()
    bench.put(stream, "STEP_STARTED")
    bench.source()
    bench.exchange(accepted())
    seen = []
    for page in range(1000):
        stream.progress({"progress": {"current": page}}, 0, bench.now)
        bench.now += 0.01
        action = bench.delivery.next(bench.now, 0)
        if isinstance(action, Send):
            bench.answer(action, accepted())
            seen += [sending.item.says["progress"]["current"] for sending in action.sendings if sending.item]
    assert 18 <= len(seen) <= 21
    assert seen == sorted(seen)


def test_progress_that_waits_goes_out_before_the_end(bench: Bench):
    stream = bench.open()
    bench.put(stream, "STEP_STARTED")
    stream.progress({"progress": {"current": 1}}, 0, bench.now)
    stream.progress({"progress": {"current": 17}}, 0, bench.now)
    bench.put(stream, "STEP_FAILED")
    bench.source()
    events = bench.exchange(accepted())
    assert types(events) == ["STEP_STARTED", "STEP_PROGRESS", "STEP_FAILED"]
    assert events[1]["progress"]["current"] == 17


def test_a_quiet_step_beats_until_it_ends_and_beats_are_never_kept(bench: Bench):
    stream = bench.open()
    bench.put(stream, "STEP_STARTED")
    bench.source()
    bench.exchange(accepted())
    assert bench.wait() == 10.0
    bench.now += 10
    beat = bench.exchange(problem(503, "UNAVAILABLE"))[0]
    assert beat["eventType"] == "STEP_HEARTBEAT"
    assert not {"eventId", "sourceSeq"} & beat.keys()
    assert bench.delivery.waiting == 0
    bench.now += 20
    bench.put(stream, "STEP_COMPLETED")
    bench.exchange(accepted())
    assert bench.wait() is None


def test_directives_of_any_answer_reach_the_work(bench: Bench):
    stream = bench.open()
    bench.put(stream, "STEP_STARTED")
    bench.source()
    bench.exchange(accepted(cancelRequested=True))
    assert stream.directives.cancel_requested
    bench.now += 10
    bench.exchange(accepted(fenced=True))
    assert stream.directives.fenced


def test_too_much_gives_up_progress_and_never_an_end():
    bench = Bench(waiting=10)
    streams = [bench.open(context(f"s{n}")) for n in range(8)]
    for stream in streams:
        bench.put(stream, "STEP_STARTED")
        bench.put(stream, "STEP_PROGRESS", progress={"current": 1})
        bench.put(stream, "STEP_COMPLETED")
    kept = [item.event_type for stream in streams for item in stream.outbox.heads(99)]
    assert kept.count("STEP_COMPLETED") == 8
    assert kept.count("STEP_PROGRESS") == 0
    assert bench.delivery.dropped >= 8


def test_facts_of_a_superseded_attempt_still_go_out_to_be_judged(bench: Bench):
    bench.put(bench.open(), "STEP_COMPLETED")
    bench.answer(bench.next(), problem(409, "ATTEMPT_SUPERSEDED"))
    send = bench.next()
    assert send.request.headers["authorization"] == "Bearer token-1"


def test_a_batch_holds_one_tenant(bench: Bench):
    bench.put(bench.open(), "STEP_STARTED")
    bench.put(bench.open(context(tenant_id="t2")), "STEP_STARTED")
    bench.source()
    bench.source()
    tenants = [bench.next().request.headers["milepost-tenant"]]
    bench.answer(bench.sent[-1], accepted())
    tenants.append(bench.next().request.headers["milepost-tenant"])
    assert sorted(tenants) == ["t1", "t2"]


def test_one_later_result_of_a_batch_keeps_only_that_fact(bench: Bench):
    stream = bench.open()
    bench.put(stream, "STEP_STARTED")
    bench.put(stream, "STEP_COMPLETED")
    bench.source()
    send = bench.next()
    bench.answer(send, results(problem(503, "UNAVAILABLE"), accepted()))
    assert [item.event_type for item in stream.outbox.heads(9)] == ["STEP_STARTED"]
