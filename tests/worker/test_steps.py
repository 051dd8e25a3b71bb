import asyncio
import inspect
import logging
import math

import msgspec
import pytest

from milepost import worker
from milepost.worker.context import Context
from milepost.worker.errors import MAPPING, StepCancelled, StepError, StepFailed, structured
from milepost.worker.step import Execution
from milepost.worker.texts import clean
from tests.worker.conftest import context


class PdfReadError(Exception):
    pass


@pytest.mark.parametrize(
    "raised, expected",
    [
        (TimeoutError("x"), ("TIMEOUT", "TIMEOUT", True)),
        (ConnectionResetError("10.0.0.7"), ("DEPENDENCY", "CONNECTION_FAILED", True)),
        (UnicodeDecodeError("utf-8", b"", 0, 1, "bad"), ("BUSINESS_INPUT", "TEXT_UNREADABLE", False)),
        (OSError(28, "No space left"), ("SYSTEM", "IO_FAILED", True)),
        (PdfReadError("/secret/path"), ("UNKNOWN", "PDF_READ_ERROR", False)),
        (StepFailed("QUOTA", "NO_CREDIT", "Buy more", retryable=True), ("QUOTA", "NO_CREDIT", True)),
    ],
)
def test_exceptions_become_structured_errors_by_the_table(raised, expected):
    error = structured(raised)
    assert (error.category, error.code, error.retryable) == expected


def test_the_text_of_an_unnamed_exception_is_never_told():
    assert structured(PdfReadError("password=hunter2")).user_message is None


def test_the_callers_rules_come_before_the_table():
    rules = {
        PdfReadError: StepError("BUSINESS_INPUT", "BROKEN_PDF"),
        OSError: lambda e: StepError("QUOTA", str(e.errno)),
    }
    assert structured(PdfReadError(), rules).code == "BROKEN_PDF"
    assert structured(OSError(28, "x"), rules).code == "28"


def test_no_line_of_the_table_is_hidden_by_an_earlier_one():
    hidden = [
        (late, early)
        for index, (late, _) in enumerate(MAPPING)
        for early, _ in MAPPING[:index]
        if issubclass(late, early)
    ]
    assert hidden == []


@pytest.mark.parametrize("current", [math.nan, math.inf, -1, True, "50", 2**60])
def test_progress_that_is_no_number_is_left_out_and_never_raises(current, caplog):
    # B12: what a division by zero made upstream must not reach the wire, nor end the work.
    with caplog.at_level(logging.WARNING):
        assert Execution(0, {}).progress(current, 10, "page") is None
    assert "no number" in caplog.text


@pytest.mark.parametrize("text", ["a\x00b", "\ud83d", "a\udc80b", "\ufffe", "é" * 500_000, "a" + "\u0301" * 5_000])
def test_any_text_of_an_error_can_be_sent(text: str):
    # B21, B22
    report = Execution(0, {}).end("STEP_FAILED", 1, StepError("SYSTEM", text or "X", text))
    assert report is not None
    encoded = msgspec.json.encode(report.says)
    assert len(encoded) < 20_000
    assert b"\\u0000" not in encoded


def test_a_cut_text_says_so():
    assert clean("x" * 3000).endswith("[truncated]")
    assert len(clean("x" * 3000)) == 2000


@pytest.mark.parametrize("value", [object(), {1: object()}, "x" * 70_000, {"s": "\ud800"}])
def test_data_that_cannot_be_sent_never_costs_the_end(value):
    execution = Execution(0, {})
    execution.data("x.v1", value)
    report = execution.end("STEP_COMPLETED", 1)
    assert report is not None
    assert "data" not in report.says


def test_the_first_end_stands():
    execution = Execution(10.0, {})
    first = execution.end("STEP_FAILED", 12.5, StepError("SYSTEM", "X"))
    assert first is not None
    assert first.says["durationMs"] == 2500
    assert execution.left(None, 13) is None


@pytest.mark.parametrize("raised", [StepCancelled(), asyncio.CancelledError()])
def test_a_cancelled_block_ends_as_cancelled(raised):
    report = Execution(0, {}).left(raised, 1)
    assert report is not None
    assert report.event_type == "STEP_CANCELLED"


def test_a_context_travels_as_json_and_hides_its_token_in_logs():
    at = context()
    assert Context.from_json(at.to_json()) == at
    assert "token-1" not in repr(at)
    assert Context.from_json(at.to_json()[:-1] + ',"allowedEventTypes":[]}') == at


@pytest.mark.parametrize(
    "sync, awaited",
    [
        (worker.Reporter, worker.AsyncReporter),
        (worker.Step, worker.AsyncStep),
        (worker.Coordinator, worker.AsyncCoordinator),
        (worker.Task, worker.AsyncTask),
    ],
)
def test_sync_and_async_have_the_same_names_and_arguments(sync, awaited):
    def shape(kind):
        members = inspect.getmembers(kind, lambda member: inspect.isfunction(member) or isinstance(member, property))
        return {
            name: list(inspect.signature(member).parameters) if inspect.isfunction(member) else "property"
            for name, member in members
            if not name.startswith("_") and name not in {"open", "hand_in", "settled", "close_at_exit"}
        }

    assert shape(sync) == shape(awaited)
