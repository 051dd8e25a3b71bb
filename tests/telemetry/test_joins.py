import io
import json
import timeit

from msgspec.structs import replace

from milepost.telemetry.joins import JoinLine, JoinLog

LINE = JoinLine(
    time="2026-11-29T19:20:00.123Z",
    level="info",
    message="STEP_PROGRESS",
    tenant_id="t1",
    task_id="task-1",
    event_id="e-1",
    task_type="DOCUMENT_PROCESS",
    step_id="02_parse",
    operation_code="DOCUMENT.PARSE",
    producer_id="document-parser",
    data_schema="pages/v1",
    attempt=1,
    source_epoch=1,
    source_seq=2,
    task_version=12,
    lifecycle_status="RUNNING",
    error_code="E",
    trace_id="trace-1",
)


class Writes(io.BytesIO):
    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def write(self, data) -> int:
        self.count += 1
        return super().write(data)


def test_a_line_joins_everything_that_identifies_a_fact():
    out = io.BytesIO()
    JoinLog(out).write([LINE])
    line = json.loads(out.getvalue())
    wanted = "traceId eventId taskId stepId taskType operationCode dataSchema attempt sourceSeq taskVersion errorCode"
    assert set(wanted.split()) <= set(line)
    assert (line["logger"], line["message"], line["taskVersion"]) == ("milepost.commit", "STEP_PROGRESS", 12)


def test_a_commit_is_one_write_with_one_line_for_each_fact():
    out = Writes()
    JoinLog(out).write([replace(LINE, task_version=version) for version in range(1, 101)])
    assert out.count == 1
    assert [json.loads(line)["taskVersion"] for line in out.getvalue().splitlines()] == list(range(1, 101))


def test_no_text_ends_a_line_early():
    awkward = "a\nb\u2028\u2029\x85\x0b 漢 🚀"
    out = io.BytesIO()
    JoinLog(out).write([replace(LINE, trace_id=awkward, error_code=awkward), LINE])
    lines = out.getvalue().decode().splitlines()
    assert len(lines) == 2
    assert json.loads(lines[0])["traceId"] == awkward


def test_a_secret_in_a_field_of_free_text_is_taken_out():
    out = io.BytesIO()
    JoinLog(out).write([replace(LINE, trace_id="mps_0123456789abcdef_" + "h" * 43)])
    assert b"hhhh" not in out.getvalue()
    assert json.loads(out.getvalue())["eventId"] == "e-1"


def test_people_get_a_sentence():
    out = io.BytesIO()
    JoinLog(out, plain=True).write([replace(LINE, error_code="\x1b[2J")])
    assert out.getvalue().startswith(b"19:20:00.123 info    t1/task-1 02_parse#1 STEP_PROGRESS v12 seq 2 by document-")
    assert b"\x1b" not in out.getvalue()


def test_trouble_in_writing_never_reaches_the_work():
    out = io.BytesIO()
    out.close()
    JoinLog(out).write([LINE])


def test_a_line_costs_microseconds():
    log, lines = JoinLog(io.BytesIO()), [LINE] * 100
    assert min(timeit.repeat(lambda: log.write(lines), number=1, repeat=20)) / 100 < 50e-6
